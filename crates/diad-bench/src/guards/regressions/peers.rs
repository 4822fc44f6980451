//! The figures of other detectors on the same tables: a CSV file that is measured once and kept.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::tables::{Group, Protocol, Task};
use crate::guards::peers::{SEEDS, STEADY, start};
use crate::python::PeerAnswer;
use crate::study::Bench;

/// The file, beside the results.
pub const FILE: &str = "peers.csv";
const HEADER: &str = "group,protocol,set,method,seed,auc,ap,version";
/// The methods as the page calls them and as `python/peers.py` does, those that matter most first.
pub const METHODS: [(&str, &str); 9] = [
    ("IForest", "IForest"),
    ("ECOD", "ECOD"),
    ("kNN", "KNN"),
    ("EIF", "isotree2"),
    ("SCiForest", "SCiForest"),
    ("FCF", "FCF"),
    ("COPOD", "COPOD"),
    ("HBOS", "HBOS"),
    ("PCA", "PCA"),
];

/// One fit of one method on one table.
#[derive(Debug, Clone, PartialEq)]
pub struct PeerFigure {
    /// The table.
    pub task: Task,
    /// The method.
    pub method: String,
    /// Its seed.
    pub seed: u64,
    /// ROC-AUC in %.
    pub auc: f64,
    /// Average precision in %.
    pub ap: f64,
    /// The package and its version.
    pub version: String,
}

impl PeerFigure {
    fn line(&self) -> String {
        let Self { task: Task { group, protocol, set }, method, seed, auc, ap, version } = self;
        let (group, protocol) = (group.name(), protocol.name());
        format!("{group},{protocol},{set},{method},{seed},{auc:.4},{ap:.4},{version}")
    }

    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.split(',').collect();
        let [group, protocol, set, method, seed, auc, ap, version] = cells[..] else { return None };
        let groups = [Group::Paper, Group::Extra, Group::Adbench, Group::Oddbench];
        let group = groups.into_iter().find(|known| known.name() == group)?;
        let protocol = [Protocol::All, Protocol::New].into_iter().find(|known| known.name() == protocol)?;
        Some(Self {
            task: Task { group, protocol, set: set.into() },
            method: method.into(),
            seed: seed.parse().ok()?,
            auc: auc.parse().ok()?,
            ap: ap.parse().ok()?,
            version: version.into(),
        })
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// All figures there are.
///
/// # Errors
/// If the file cannot be read or a line is malformed.
pub fn read(folder: &Path) -> Result<Vec<PeerFigure>> {
    let path = path(folder);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let figure = |line: &str| {
        PeerFigure::parse(line).with_context(|| format!("{} has a malformed line: {line}", path.display()))
    };
    text.lines().skip(1).map(figure).collect()
}

/// Measures what is missing, method by method, and adds each figure to the file as it comes.
///
/// # Errors
/// If the script cannot be started or ends, or the file cannot be written.
pub fn measure_missing(tasks: &[Task], bench: &Bench) -> Result<()> {
    let data = bench.options.data()?;
    let done = read(&bench.options.out)?;
    let jobs = missing(tasks, &done);
    if jobs.is_empty() {
        return Ok(());
    }
    let mut worker = start(bench)?;
    for (index, (task, name, method, seed)) in jobs.iter().enumerate() {
        let request = serde_json::json!({
            "method": method, "table": task.path(&data), "seed": seed, "protocol": task.protocol.name(),
        });
        let Some(PeerAnswer { auc, ap, version, .. }) = worker.figures(&request)? else { continue };
        let figure =
            PeerFigure { task: (*task).clone(), method: (*name).into(), seed: *seed, auc, ap, version };
        append(&bench.options.out, &figure)?;
        eprintln!("{}/{} {}", index + 1, jobs.len(), figure.line());
    }
    Ok(())
}

/// What there is no figure of, first seeds first. Methods without a random choice need one seed, others three; which
/// seeds they are does not matter.
fn missing<'a>(tasks: &'a [Task], done: &[PeerFigure]) -> Vec<(&'a Task, &'static str, &'static str, u64)> {
    let mut jobs = Vec::new();
    for (place, seed) in SEEDS.into_iter().enumerate() {
        for (name, method) in METHODS {
            let wanted = if STEADY.contains(&method) || method == "KNN" { 1 } else { SEEDS.len() };
            let of_method: Vec<_> = done.iter().filter(|figure| figure.method == name).collect();
            let seeds = |task: &&Task| of_method.iter().filter(|figure| figure.task == **task).count();
            let left = tasks.iter().filter(|task| place < wanted && seeds(task) <= place);
            jobs.extend(left.map(|task| (task, name, method, seed)));
        }
    }
    jobs
}

fn append(folder: &Path, figure: &PeerFigure) -> Result<()> {
    let path = path(folder);
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let head = if path.exists() { String::new() } else { format!("{HEADER}\n") };
    let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
    let line = format!("{head}{}\n", figure.line());
    file.write_all(line.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(method: &str, seed: u64) -> PeerFigure {
        let task = Task { group: Group::Oddbench, protocol: Protocol::New, set: "a".into() };
        let version = "pyod 2".into();
        PeerFigure { task, method: method.into(), seed, auc: 70.25, ap: 10.5, version }
    }

    #[test]
    fn figures_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let figures = [figure("IForest", 0), figure("ECOD", 0)];
        figures.iter().for_each(|figure| append(folder.path(), figure).expect("written"));
        assert_eq!(read(folder.path()).expect("read"), figures);
        assert!(read(&folder.path().join("none")).expect("no file is no figures").is_empty());
    }

    #[test]
    fn steady_methods_need_one_seed_and_others_three() {
        let tasks = [figure("IForest", 0).task];
        let jobs = missing(&tasks, &[figure("IForest", 0), figure("ECOD", 0)]);
        let of = |name: &str| jobs.iter().filter(|job| job.1 == name).map(|job| job.3).collect::<Vec<_>>();
        assert_eq!(of("IForest"), [1000, 2000]);
        assert!(of("ECOD").is_empty());
        assert_eq!(of("kNN"), [0]);
        assert_eq!(of("FCF"), SEEDS);
    }
}
