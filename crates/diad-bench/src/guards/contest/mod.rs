//! Time, memory and size against what a user would pick instead, on the same machine and threads in one run.

mod arrays;
mod plot;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use diad::Params;
use diad::explain::Explainer;
use diad::table::{FileSource, Selection, Table};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use super::growth::MadeUp;
use crate::data::{LABEL, labelled, load};
use crate::environment;
use crate::evaluate::fit;
use crate::python::script;
use crate::render::{self, Grid, NONE};
use crate::sets;
use crate::study::{Bench, Made, Page, Study};

/// The other methods, and the most rows that each is given: beyond, they take hours.
const METHODS: [(&str, usize); 10] = [
    ("IsolationForest", usize::MAX),
    ("isotree", usize::MAX),
    ("PyOD IForest", usize::MAX),
    ("PyOD ECOD", usize::MAX),
    ("PyOD COPOD", usize::MAX),
    ("PyOD HBOS", usize::MAX),
    ("PyOD KNN", 50_000),
    ("LOF", 50_000),
    ("OCSVM", 20_000),
    ("EBM", usize::MAX),
];
const OURS: &str = "DIAD";
/// The sets, and one that is made up: its name, rows and columns.
const SETS: [&str; 4] = ["mammography", "campaign", "census", "donors"];
const MADE_UP: (&str, usize, usize) = ("made up", 10_000_000, 10);
/// What the table for programs has of each.
const FIELDS: [&str; 11] = [
    "set",
    "rows",
    "columns",
    "method",
    "version",
    "found.fit_seconds",
    "found.rows_scored_per_second",
    "found.rows_explained_per_second",
    "found.peak_bytes",
    "found.model_bytes",
    "commit",
];
/// Rows that are explained.
const EXPLAINED: usize = 1000;

/// One method on one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    set: String,
    method: String,
    version: String,
    rows: usize,
    columns: usize,
    /// What was measured, unless it took too long.
    found: Option<Found>,
    load: Option<f64>,
    #[serde(flatten)]
    made: Made,
    cpu: String,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Found {
    fit_seconds: f64,
    /// Rows scored in a second, from memory.
    #[serde(rename = "rows_scored_per_second", alias = "scored")]
    scored: f64,
    /// Rows explained in a second.
    #[serde(rename = "rows_explained_per_second", alias = "explained")]
    explained: Option<f64>,
    model_bytes: usize,
    peak_bytes: Option<u64>,
}

/// Time, memory and size against other programs.
#[derive(Debug, Args)]
pub struct Contest {
    /// Seconds after which another method is stopped.
    #[arg(long, default_value_t = 300)]
    limit: u64,
    /// What stays between measurements.
    #[arg(skip)]
    kept: RefCell<Option<Prepared>>,
}

/// A table in memory and as files for the others.
#[derive(Debug)]
pub struct Prepared {
    set: &'static str,
    /// Dropped once ours is measured: the others must not want for memory.
    table: Option<Table>,
    rows: usize,
    columns: usize,
    labelled: bool,
    files: [PathBuf; 2],
    _folder: TempDir,
}

impl Study for Contest {
    const NAME: &'static str = "contest";
    const THREADS: Option<usize> = Some(2);
    type Case = (&'static str, &'static str, usize);
    type Row = Entry;

    fn cases(&self, bench: &Bench) -> Result<Vec<Self::Case>> {
        let sets = SETS.into_iter().chain([MADE_UP.0]).filter(|set| bench.options.wants(set));
        let methods = || std::iter::once((OURS, usize::MAX)).chain(METHODS);
        Ok(sets.flat_map(|set| methods().map(move |(method, most)| (set, method, most))).collect())
    }

    fn is_done(&self, (set, method, _): &Self::Case, entry: &Entry, bench: &Bench) -> bool {
        let current = *method != OURS || entry.made.is_of(bench);
        entry.set == *set && entry.method == *method && current
    }

    fn measure(&self, case: &Self::Case, bench: &Bench) -> Result<Option<Entry>> {
        let mut state = self.kept.borrow_mut();
        let (set, method, most) = *case;
        if state.as_ref().is_none_or(|prepared| prepared.set != set) {
            // The last table first makes room.
            *state = None;
            *state = Some(Prepared::new(set, bench)?);
        }
        let prepared = state.as_mut().context("no table was read")?;
        let table = prepared.table.take();
        if prepared.rows > most || (method == "EBM" && !prepared.labelled) {
            return Ok(None);
        }
        let load = environment::load();
        let (version, found) = if method == OURS {
            let table = table.context("ours comes first")?;
            (format!("diad {}", env!("CARGO_PKG_VERSION")), Some(ours(&bench.params, &table)?))
        } else {
            drop(table);
            let answer = theirs(&bench.python()?, method, &prepared.files, self.limit)?;
            answer.map_or((String::new(), None), |(version, found)| (version, Some(found)))
        };
        Ok(Some(Entry {
            set: set.into(),
            method: method.into(),
            version,
            rows: prepared.rows,
            columns: prepared.columns,
            found,
            load,
            made: bench.made(),
            cpu: environment::machine(),
        }))
    }

    fn words(entry: &Entry) -> String {
        format!("{}, {}: {:?}", entry.set, entry.method, entry.found)
    }

    fn page(&self, mut entries: Vec<Entry>, bench: &Bench) -> Result<Page> {
        entries.retain(|entry| entry.method != OURS || entry.made.is_of(bench));
        let (text, csv, picture) =
            (text(&entries, self.limit), Grid::of(&entries, &FIELDS)?, Some(plot::svg(&entries)?));
        let commits = entries.into_iter().map(|entry| entry.made.commit);
        Ok(Page { picture, ..Page::new(text, csv, bench.command("contest --data DIR"), commits) })
    }
}

impl Prepared {
    fn new(set: &'static str, bench: &Bench) -> Result<Self> {
        let (table, labels) = if set == MADE_UP.0 {
            let made_up = MadeUp { rows: MADE_UP.1, columns: MADE_UP.2 };
            (load(&made_up, &Selection::all())?, None)
        } else {
            let source = FileSource::new(bench.path(&sets::find(set)?)?);
            let all = load(&source, &labelled())?;
            let labels = all.column_named(LABEL).context("there is no label column")?.to_vec();
            (load(&source, &Selection::except(&[LABEL]))?, Some(labels))
        };
        let (rows, columns, folder) = (table.rows(), table.names().len(), tempfile::tempdir()?);
        let files = ["rows.npy", "labels.npy"].map(|file| folder.path().join(file));
        arrays::write_rows(&files[0], &table)?;
        arrays::write_labels(&files[1], labels.as_deref().unwrap_or(&vec![0.0; rows]))?;
        let labelled = labels.is_some();
        Ok(Self { set, table: Some(table), rows, columns, labelled, files, _folder: folder })
    }
}

fn ours(params: &Params, table: &Table) -> Result<Found> {
    environment::forget_peak_memory();
    let start = Instant::now();
    let detector = fit(params, table, &[])?;
    let fit_seconds = start.elapsed().as_secs_f64();
    let mut scores = vec![0.0; table.rows()];
    let few = detector.pick(table, &(0..EXPLAINED.min(table.rows())).collect::<Vec<_>>())?;
    detector.score_into(&few, &mut scores[..few.rows()])?;
    let start = Instant::now();
    detector.score_into(table, &mut scores)?;
    let scored = table.rows() as f64 / start.elapsed().as_secs_f64();
    let peak_bytes = environment::peak_memory();
    let explainer = Explainer::new(&detector);
    let start = Instant::now();
    explainer.contributions(&few)?;
    let explained = Some(few.rows() as f64 / start.elapsed().as_secs_f64());
    Ok(Found { fit_seconds, scored, explained, model_bytes: detector.to_bytes()?.len(), peak_bytes })
}

/// A method in a process of its own; nothing if it did not end well, of which the reason is on standard error.
fn theirs(python: &Path, method: &str, files: &[PathBuf; 2], limit: u64) -> Result<Option<(String, Found)>> {
    let output = Command::new(python)
        .arg(script("contest.py"))
        .arg(method)
        .args(files)
        .args(["--threads", &rayon::current_num_threads().to_string(), "--limit", &limit.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .with_context(|| format!("cannot start {}", python.display()))?;
    if !output.status.success() {
        return Ok(None);
    }
    #[derive(Deserialize)]
    struct Answer {
        version: String,
        #[serde(flatten)]
        found: Found,
    }
    let answer: Answer = serde_json::from_slice(&output.stdout).context("contest.py gave no figures")?;
    Ok(Some((answer.version, answer.found)))
}

fn text(entries: &[Entry], limit: u64) -> String {
    let mut page = format!(
        "# Against other programs\n\nFitting all rows of a table in memory, scoring them from memory, and explaining {EXPLAINED} of them, with \
         two threads. In brackets: ours against theirs, above 1 where ours is better. Size is that of our model file and of the others' \
         pickles; peak memory is the largest resident set of the process, with the table, and for the others with Python. KNN and LOF are \
         left out beyond 50,000 rows and OCSVM beyond 20,000; \"stopped\" took more than {limit} s or did not end well. The EBM learns from all \
         labels; the others have none.\n\n![Scoring and fitting against other programs](contest.svg)\n\n\
         In the picture: ma mammography, ca campaign, ce census, do donors, 10M made up.\n"
    );
    for set in SETS.into_iter().chain([MADE_UP.0]) {
        let entries: Vec<&Entry> = entries.iter().filter(|entry| entry.set == set).collect();
        let Some(us) = entries.iter().find(|entry| entry.method == OURS).and_then(|entry| entry.found) else {
            continue;
        };
        let (rows, columns) = (entries[0].rows, entries[0].columns);
        let grid = grid(&entries, us).markdown(1);
        page.push_str(&format!("\n## {set}: {rows} rows, {columns} columns\n\n{grid}"));
    }
    let loads = entries.iter().filter_map(|entry| entry.load).fold(0.0, f64::max);
    let machines = render::distinct(entries.iter().map(|entry| entry.cpu.as_str())).join("; ");
    page.push_str(&format!(
        "\nMeasured on {machines}; the load average before a measurement was at most {loads:.1}.\n"
    ));
    page
}

/// All methods on one set, beside ours.
fn grid(entries: &[&Entry], us: Found) -> Grid {
    let mut grid = Grid::new([
        "method",
        "fit, s",
        "rows scored a second",
        "rows explained a second",
        "peak, MiB",
        "size, kB",
    ]);
    for entry in entries {
        let Some(found) = entry.found else {
            grid.push([entry.method.as_str(), "stopped", NONE, NONE, NONE, NONE]);
            continue;
        };
        let against = |figure: String, ratio: f64| {
            if entry.method == OURS { figure } else { format!("{figure} ({ratio:.2})") }
        };
        let (mib, bytes) = (|bytes: u64| bytes as f64 / f64::from(1 << 20), found.model_bytes as f64);
        let explained = found.explained.zip(us.explained);
        let peak = found.peak_bytes.zip(us.peak_bytes);
        grid.push([
            entry.method.clone(),
            against(format!("{:.2}", found.fit_seconds), found.fit_seconds / us.fit_seconds),
            against(format!("{:.0}", found.scored), us.scored / found.scored),
            explained.map_or(NONE.into(), |(theirs, ours)| against(format!("{theirs:.0}"), ours / theirs)),
            peak.map_or(NONE.into(), |(theirs, ours)| {
                against(format!("{:.0}", mib(theirs)), theirs as f64 / ours as f64)
            }),
            against(format!("{:.0}", bytes / 1e3), bytes / us.model_bytes as f64),
        ]);
    }
    grid
}
