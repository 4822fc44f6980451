//! `diad demo`: trains on a built-in table and shows the results.

mod expenses;
mod review;
mod thyroid;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::ValueEnum;
use diad::encode::Roles;
use diad::table::printable;
use diad::{Detector, Params};

use crate::alerting::Rule;
use crate::input::Input;
use crate::output::{self, Pending, shown};
use crate::{fit, report, score};

/// Try it on a small built-in table
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  diad demo\n  diad demo thyroid\n  diad demo --dir my-folder")]
pub struct Args {
    /// The table
    #[arg(value_enum, default_value_t = Choice::Expenses)]
    table: Choice,
    /// The folder for the table, the model, the scores and the report
    #[arg(long, value_name = "DIR", default_value = "diad-demo")]
    dir: PathBuf,
    /// Training steps; fewer are quicker and less accurate
    #[arg(long, value_name = "N", default_value_t = Params::default().steps)]
    steps: usize,
}

#[derive(Clone, Copy, ValueEnum)]
enum Choice {
    /// Expenses of a company, made up, with odd ones planted: what is found, then what five labels change
    Expenses,
    /// Thyroid tests of 7,200 people, 534 of them labelled as not normal
    Thyroid,
}

pub fn run(args: &Args) -> Result<()> {
    let params = Params::default().with_steps(args.steps);
    params.validate()?;
    let demo = Demo { folder: &args.dir, params };
    match args.table {
        Choice::Expenses => review::run(&demo),
        Choice::Thyroid => thyroid::run(&demo),
    }
}

/// What was asked for.
struct Demo<'a> {
    folder: &'a Path,
    params: Params,
}

impl Demo<'_> {
    /// Says what the table is, then trains on it and writes the model and the scores.
    fn train(&self, files: &Files, introduction: &str, roles: &Roles) -> Result<Detector> {
        output::say(introduction)?;
        let detector = fit::train(&Input::new(&files.table)?, roles, &self.params)?;
        detector.save(&files.model)?;
        score::write_plain(&detector, &Input::new(&files.table)?, &files.scores)?;
        Ok(detector)
    }

    /// Says what was found, and what to try next, with the name the program was called by.
    fn end(&self, findings: &str) -> Result<()> {
        let program = std::env::args().next().map_or("diad".into(), |name| printable(&name));
        let (folder, page) = (shown(self.folder), shown(&self.folder.join(PAGE)));
        output::say(&format!(
            "{findings}The table, the model and the scores are in {folder}. Open the report in a browser to see why:\n\n  \
             {page}\n\nNext, with a table of your own:\n\n  \
             {program} fit yours.csv -o yours.diad\n  \
             {program} score yours.diad yours.csv -o scores.csv\n  \
             {program} report yours.diad yours.csv -o report.html\n"
        ))
    }
}

const PAGE: &str = "report.html";

/// The files of a demo.
struct Files {
    table: PathBuf,
    model: PathBuf,
    scores: PathBuf,
    page: PathBuf,
    /// What else is written, by the names asked for.
    others: Vec<PathBuf>,
}

impl Files {
    /// Writes the table. The files of an earlier demo are replaced, no others.
    fn new(demo: &Demo, name: &str, content: &[u8], others: &[&str]) -> Result<Self> {
        let folder = demo.folder;
        std::fs::create_dir_all(folder).map_err(|error| output::unwritable(folder, error))?;
        let names = [format!("{name}.csv"), format!("{name}.diad"), "scores.csv".into(), PAGE.into()];
        let names = names.into_iter().chain(others.iter().map(|&name| name.to_owned()));
        let paths: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
        if !holds(&paths[0], content)
            && let Some(other) = paths.iter().find(|path| path.exists())
        {
            bail!("{} already exists and is not from a demo; choose another folder with --dir", shown(other));
        }
        let mut paths =
            paths.iter().map(|path| output::check(path, &[])).collect::<Result<Vec<PathBuf>>>()?;
        let others = paths.split_off(4);
        let [table, model, scores, page] = <[PathBuf; 4]>::try_from(paths).unwrap_or_default();
        write(&table, content)?;
        Ok(Self { table, model, scores, page, others })
    }

    /// Writes the report.
    fn report(&self, detector: &Detector, label: Option<&str>, id: Option<&str>) -> Result<()> {
        let keep: &[String] = if id.is_some() { &["all".to_owned()] } else { &[] };
        let given = report::Given {
            model: &self.model,
            table: &self.table,
            label,
            id,
            rule: Rule::of(detector),
            keep,
            before: None,
            top: report::LISTED,
        };
        report::write(detector, &given, &self.page).map(|_| ())
    }
}

fn write(path: &Path, content: &[u8]) -> Result<()> {
    let mut pending = Pending::new(path)?;
    pending.file().write_all(content).map_err(|error| pending.unwritable(error))?;
    pending.commit()
}

/// Whether there is a file with just this content.
fn holds(path: &Path, content: &[u8]) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == content.len() as u64)
        && std::fs::read(path).is_ok_and(|found| found == content)
}
