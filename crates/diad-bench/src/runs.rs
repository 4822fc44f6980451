//! The store of finished runs: one JSON object a line, appended as soon as a run ends, so that a
//! stopped benchmark loses nothing and resumes where it stopped.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One fit of DIAD on one set with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The data set.
    pub set: String,
    /// Columns of noise added.
    pub noise: usize,
    /// Seed of the fit, and of the noise.
    pub seed: u64,
    /// ROC-AUC in %.
    pub auc: f64,
    /// Average precision in %.
    pub ap: f64,
    /// Seconds of the training alone.
    pub fit_seconds: f64,
    /// Rows of the set.
    pub rows: usize,
    /// Features the model saw.
    pub features: usize,
    /// Digest of all settings but the seed.
    pub settings: String,
    /// The commit the program was run at.
    pub commit: String,
    /// The machine's CPU and threads.
    pub cpu: String,
}

impl Run {
    /// Whether it is the run of that set, noise and seed with those settings.
    pub fn is(&self, set: &str, noise: usize, seed: u64, settings: &str) -> bool {
        self.set == set && self.noise == noise && self.seed == seed && self.settings == settings
    }

    /// In a few words.
    pub fn words(&self) -> String {
        let noise = if self.noise > 0 { " with noise" } else { "" };
        let Self { set, seed, auc, ap, fit_seconds, .. } = self;
        format!("{set}{noise}, seed {seed}: AUC {auc:.2}, AP {ap:.2}, {fit_seconds:.1} s")
    }
}

/// A file of records, one JSON object a line.
#[derive(Debug)]
pub struct Store<R> {
    path: PathBuf,
    record: PhantomData<R>,
}

impl<R: Serialize + DeserializeOwned> Store<R> {
    /// The store in the file `name` of `folder`. Nothing is created yet.
    pub fn new(folder: &Path, name: &str) -> Self {
        Self { path: folder.join(name), record: PhantomData }
    }

    /// All records, oldest first. A last line cut short by a crash is left out.
    ///
    /// # Errors
    /// If the file cannot be read, or a line before the last is no record.
    pub fn load(&self) -> Result<Vec<R>> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.path.display())),
        };
        let lines = BufReader::new(file).lines().collect::<std::io::Result<Vec<_>>>()?;
        let mut records = Vec::with_capacity(lines.len());
        for (index, line) in lines.iter().enumerate() {
            match serde_json::from_str(line) {
                Ok(record) => records.push(record),
                Err(_) if index + 1 == lines.len() => {}
                Err(error) => {
                    let place = format!("line {} of {}", index + 1, self.path.display());
                    return Err(error).with_context(|| format!("{place} is not a run"));
                }
            }
        }
        Ok(records)
    }

    /// Appends a record at once.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&self, record: &R) -> Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        self.drop_cut_line()?;
        let mut line = serde_json::to_string(record)?;
        line.push('\n');
        let mut file = OpenOptions::new().create(true).append(true).open(&self.path)?;
        file.write_all(line.as_bytes()).with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Removes what a crash left after the last line end, so that the next record gets its own line.
    fn drop_cut_line(&self) -> Result<()> {
        let Ok(bytes) = fs::read(&self.path) else { return Ok(()) };
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |position| position + 1);
        if whole < bytes.len() {
            OpenOptions::new().write(true).open(&self.path)?.set_len(whole as u64)?;
        }
        Ok(())
    }
}

/// A run with made-up figures, for tests.
#[cfg(test)]
pub fn sample(set: &str, seed: u64, auc: f64) -> Run {
    Run {
        set: set.into(),
        noise: 0,
        seed,
        auc,
        ap: auc / 2.0,
        fit_seconds: 1.0,
        rows: 100,
        features: 5,
        settings: "s1".into(),
        commit: "c1".into(),
        cpu: "a CPU".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resumes_after_a_line_cut_short() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::<Run>::new(folder.path(), "runs.jsonl");
        assert!(store.load().expect("no file is no runs").is_empty());
        store.append(&sample("vowels", 0, 80.25)).expect("appended");
        let path = folder.path().join("runs.jsonl");
        let mut file = OpenOptions::new().append(true).open(&path).expect("opened");
        file.write_all(b"{\"set\":\"thy").expect("written");
        assert_eq!(store.load().expect("one whole run"), [sample("vowels", 0, 80.25)]);
        store.append(&sample("thyroid", 1, 84.0)).expect("appended");
        assert_eq!(store.load().expect("two runs"), [sample("vowels", 0, 80.25), sample("thyroid", 1, 84.0)]);
    }

    #[test]
    fn a_broken_line_in_the_middle_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("runs.jsonl"), "nonsense\n{}\n").expect("written");
        let error = Store::<Run>::new(folder.path(), "runs.jsonl").load().expect_err("line 1 is broken");
        assert!(error.to_string().contains("line 1"), "{error}");
    }

    #[test]
    fn a_run_is_done_only_with_the_same_settings_seed_and_noise() {
        let run = sample("vowels", 3, 80.0);
        assert!(run.is("vowels", 0, 3, "s1"));
        assert!(!run.is("vowels", 0, 3, "s2"));
        assert!(!run.is("vowels", 0, 2, "s1"));
        assert!(!run.is("vowels", 50, 3, "s1"));
        assert!(!run.is("thyroid", 0, 3, "s1"));
    }
}
