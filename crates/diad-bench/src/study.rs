//! What every benchmark has in common: cases to measure, rows that are stored as they come, and a page made of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use diad::Params;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::options::{Common, Preset, digest};
use crate::render::Grid;
use crate::runs::Store;
use crate::sets::{self, Set};
use crate::{environment, python, render};

/// One benchmark. Its fields are its own options, and what it keeps between measurements: a running script, a table that was read.
pub trait Study: Args {
    /// Names its files: `NAME.jsonl` and `NAME.md`, and as a rule `NAME.csv`.
    const NAME: &'static str;
    /// Names the table for programs, where it is another.
    const TABLE: &'static str = Self::NAME;
    /// Threads where none are asked for; all cores without a number.
    const THREADS: Option<usize> = None;
    /// What one measurement is of.
    type Case;
    /// What is stored of it.
    type Row: Serialize + DeserializeOwned;

    /// All cases, in the order in which they are measured.
    ///
    /// # Errors
    /// If a name asked for does not exist.
    fn cases(&self, bench: &Bench) -> Result<Vec<Self::Case>>;

    /// Whether the row is of that case and of these settings.
    fn is_done(&self, case: &Self::Case, row: &Self::Row, bench: &Bench) -> bool;

    /// Measures a case; nothing where there is nothing to store.
    ///
    /// # Errors
    /// If the data cannot be read or a method fails that must not.
    fn measure(&self, case: &Self::Case, bench: &Bench) -> Result<Option<Self::Row>>;

    /// A row in a few words, for the terminal.
    fn words(row: &Self::Row) -> String;

    /// The page and the table of all rows.
    ///
    /// # Errors
    /// If rows of another study cannot be read.
    fn page(&self, rows: Vec<Self::Row>, bench: &Bench) -> Result<Page>;

    /// The study whose file the row of a case is stored in.
    fn home(_case: &Self::Case) -> &'static str {
        Self::NAME
    }
}

/// What a study shows.
#[derive(Debug)]
pub struct Page {
    /// The text with its tables.
    pub text: String,
    /// The commands the figures come from.
    pub commands: Vec<String>,
    /// The commits of the runs.
    pub commits: Vec<String>,
    /// The table for programs.
    pub csv: Grid,
    /// The picture that the text shows, `NAME.svg`.
    pub picture: Option<String>,
}

impl Page {
    /// A page of runs that one command made, without a picture.
    pub fn new(text: String, csv: Grid, command: String, commits: impl IntoIterator<Item = String>) -> Self {
        Self { text, commands: vec![command], commits: commits.into_iter().collect(), csv, picture: None }
    }
}

/// The options of a study.
#[derive(Debug, Args)]
pub struct Options<S: Study> {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    study: S,
}

impl<S: Study> Options<S> {
    /// Measures what is missing, stores each row as it comes, and writes the page.
    ///
    /// # Errors
    /// If a measurement fails or a file cannot be written.
    pub fn run(&self) -> Result<()> {
        let bench = Bench::new(&self.common)?;
        if !self.common.render {
            self.common.settings.start_threads(S::THREADS)?;
            self.measure_missing(&bench)?;
        }
        let page = self.study.page(bench.rows(S::NAME)?, &bench)?;
        bench.write([S::NAME, S::TABLE], &page)
    }

    fn measure_missing(&self, bench: &Bench) -> Result<()> {
        let missing = missing(&self.study, bench)?;
        for (index, case) in missing.iter().enumerate() {
            let Some(row) = self.study.measure(case, bench)? else { continue };
            bench.store(S::home(case)).append(&row)?;
            eprintln!("{}/{} {}", index + 1, missing.len(), S::words(&row));
        }
        Ok(())
    }
}

/// The cases without a row, in order.
fn missing<S: Study>(study: &S, bench: &Bench) -> Result<Vec<S::Case>> {
    let mut cases = study.cases(bench)?;
    let mut homes: Vec<&str> = cases.iter().map(S::home).collect();
    homes.sort_unstable();
    homes.dedup();
    for home in homes {
        let done: Vec<S::Row> = bench.rows(home)?;
        cases.retain(|case| S::home(case) != home || !done.iter().any(|row| study.is_done(case, row, bench)));
    }
    Ok(cases)
}

/// What a measurement was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Made {
    /// Digest of all settings but the seed.
    pub settings: String,
    /// The commit the program was run at.
    pub commit: String,
}

impl Made {
    /// Whether it was made with the settings of now.
    pub fn is_of(&self, bench: &Bench) -> bool {
        self.settings == bench.settings
    }
}

/// What every measurement needs: the options, the settings and the files.
#[derive(Debug)]
pub struct Bench<'a> {
    /// The options.
    pub options: &'a Common,
    /// The settings of the fits.
    pub params: Params,
    /// Their digest.
    pub settings: String,
    /// The commit checked out.
    pub commit: String,
}

impl<'a> Bench<'a> {
    /// The settings that the options give.
    ///
    /// # Errors
    /// If a setting does not exist or a value does not fit.
    pub fn new(options: &'a Common) -> Result<Self> {
        let params = options.settings.params()?;
        Ok(Self { options, settings: digest(&params)?, params, commit: environment::commit() })
    }

    /// What is measured now is made with.
    pub fn made(&self) -> Made {
        Made { settings: self.settings.clone(), commit: self.commit.clone() }
    }

    /// The number of seeds: those asked for, or so many.
    pub fn seeds(&self, otherwise: u64) -> u64 {
        self.options.seeds.unwrap_or(otherwise)
    }

    /// The sets asked for.
    ///
    /// # Errors
    /// If a name is unknown.
    pub fn sets(&self, with_extra: bool) -> Result<Vec<Set>> {
        sets::select(&self.options.sets, with_extra)
    }

    /// The file of a set.
    ///
    /// # Errors
    /// If the data folder is not given.
    pub fn path(&self, set: &Set) -> Result<PathBuf> {
        Ok(set.path(&self.options.data()?))
    }

    /// The Python interpreter.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn python(&self) -> Result<PathBuf> {
        python::interpreter(self.options.python.as_deref())
    }

    /// The command with the settings, as a page shows it.
    pub fn command(&self, text: &str) -> String {
        format!("{text}{}", self.options.settings.command_line())
    }

    /// The stored rows of a study.
    ///
    /// # Errors
    /// If its file cannot be read.
    pub fn rows<R: Serialize + DeserializeOwned>(&self, study: &str) -> Result<Vec<R>> {
        self.store(study).load()
    }

    fn store<R: Serialize + DeserializeOwned>(&self, study: &str) -> Store<R> {
        Store::new(&self.options.out, &format!("{study}.jsonl"))
    }

    /// Writes `TABLE.csv`, the page `NAME.md` and its picture.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, [name, table]: [&str; 2], page: &Page) -> Result<()> {
        let Common { out, pages, settings, .. } = self.options;
        let commands: Vec<_> = page.commands.iter().map(String::as_str).collect();
        let origin = render::origin(&commands, page.commits.iter().map(String::as_str));
        let text = format!(
            "{}\n{}{origin}\n{}\n",
            page.text,
            notes(name, settings.preset)?,
            render::data_links([pages, out], name, table)
        );
        let files = [(pages, name, "md", Some(text)), (out, table, "csv", Some(page.csv.csv()))];
        for (folder, name, ending, text) in
            files.into_iter().chain([(pages, name, "svg", page.picture.clone())])
        {
            let Some(text) = text else { continue };
            fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
            let path = folder.join(format!("{name}.{ending}"));
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            eprintln!("wrote {}", path.display());
        }
        Ok(())
    }
}

/// What was written by hand about a page, from the folder `notes` of this crate.
fn notes(name: &str, preset: Preset) -> Result<String> {
    let prefix = if preset == Preset::Paper { "paper-" } else { "" };
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("notes").join(format!("{prefix}{name}.md"));
    if !path.exists() {
        return Ok(String::new());
    }
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(format!("## Notes\n\n{text}\n"))
}
