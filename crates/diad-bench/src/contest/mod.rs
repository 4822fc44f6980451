//! Time, memory and size against what a user would pick instead, on the same machine and threads in one run.

mod arrays;
mod plot;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use diad::Params;
use diad::explain::Explainer;
use diad::table::{Selection, Table};
use serde::{Deserialize, Serialize};

use crate::data::{LABEL, labelled, load};
use crate::environment;
use crate::growth::MadeUp;
use crate::options::{Folders, Settings, digest};
use crate::python::{interpreter, script};
use crate::render::{self, Grid, NONE};
use crate::runs::Store;
use crate::sets;

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
    settings: String,
    commit: String,
    cpu: String,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Found {
    fit_seconds: f64,
    /// Rows scored in a second, from memory.
    scored: f64,
    /// Rows explained in a second.
    explained: Option<f64>,
    model_bytes: usize,
    peak_bytes: Option<u64>,
}

/// The options of `diad-bench contest`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    settings: Settings,
    /// The Python interpreter; by default one is made in target/bench-venv.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    sets: Vec<String>,
    /// Seconds after which another method is stopped.
    #[arg(long, default_value_t = 300)]
    limit: u64,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    render: bool,
}

/// Measures what is missing and writes `contest.md`, `contest.csv` and `contest.svg`.
///
/// # Errors
/// If a set cannot be read, our own fit fails, or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let params = options.settings.params()?;
    let store: Store<Entry> = Store::new(&options.folders.out, "contest.jsonl");
    if !options.render {
        options.settings.start_threads(Some(2))?;
        let wanted = |name: &&str| options.sets.is_empty() || options.sets.iter().any(|set| set == name);
        for name in SETS.into_iter().chain([MADE_UP.0]).filter(wanted) {
            measure_set(options, &params, name, &store)?;
        }
    }
    let settings = digest(&params)?;
    let mut entries = store.load()?;
    entries.retain(|entry| entry.method != OURS || entry.settings == settings);
    plot::write(&options.folders.out, &entries)?;
    render::write(&options.folders.out, "contest", &markdown(&entries, options), &csv(&entries))
}

fn measure_set(options: &Options, params: &Params, name: &str, store: &Store<Entry>) -> Result<()> {
    let settings = digest(params)?;
    let done = store.load()?;
    let is_done = |method: &str| {
        done.iter().any(|entry| {
            entry.set == name && entry.method == method && (method != OURS || entry.settings == settings)
        })
    };
    if is_done(OURS) && METHODS.iter().all(|(method, _)| is_done(method)) {
        return Ok(());
    }
    let (table, labels) = if name == MADE_UP.0 {
        let made_up = MadeUp { rows: MADE_UP.1, columns: MADE_UP.2 };
        (load(&made_up, &Selection::all())?, None)
    } else {
        let source = diad::table::FileSource::new(sets::find(name)?.path(&options.folders.data()?));
        let all = load(&source, &labelled())?;
        let labels = all.column_named(LABEL).context("there is no label column")?.to_vec();
        (load(&source, &Selection::except(&[LABEL]))?, Some(labels))
    };
    let (rows, columns) = (table.rows(), table.names().len());
    let entry = |method: &str, version: String, found: Option<Found>, load: Option<f64>| Entry {
        set: name.into(),
        method: method.into(),
        version,
        rows,
        columns,
        found,
        load,
        settings: settings.clone(),
        commit: environment::commit(),
        cpu: environment::machine(),
    };
    let folder = tempfile::tempdir()?;
    let [values, truth] = ["rows.npy", "labels.npy"].map(|file| folder.path().join(file));
    arrays::write_rows(&values, &table)?;
    arrays::write_labels(&truth, labels.as_deref().unwrap_or(&vec![0.0; rows]))?;
    if !is_done(OURS) {
        let load = environment::load();
        let found = ours(params, &table)?;
        eprintln!("{name}, {OURS}: {found:?}");
        store.append(&entry(OURS, format!("diad {}", env!("CARGO_PKG_VERSION")), Some(found), load))?;
    }
    drop(table);
    let python = interpreter(options.python.as_deref())?;
    for (method, most) in METHODS {
        if is_done(method) || rows > most || (method == "EBM" && labels.is_none()) {
            continue;
        }
        let load = environment::load();
        let answer = theirs(&python, method, [&values, &truth], options.limit)?;
        eprintln!("{name}, {method}: {answer:?}");
        let (version, found) =
            answer.map_or((String::new(), None), |(version, found)| (version, Some(found)));
        store.append(&entry(method, version, found, load))?;
    }
    Ok(())
}

fn ours(params: &Params, table: &Table) -> Result<Found> {
    environment::forget_peak_memory();
    let start = Instant::now();
    let detector = params.fit(table)?;
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
fn theirs(python: &Path, method: &str, files: [&Path; 2], limit: u64) -> Result<Option<(String, Found)>> {
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

fn markdown(entries: &[Entry], options: &Options) -> String {
    let mut page = format!(
        "# Against other programs\n\nFitting all rows of a table in memory, scoring them from memory, and explaining {EXPLAINED} of them, with \
         two threads. In brackets: ours against theirs, above 1 where ours is better. Size is that of our model file and of the others' \
         pickles; peak memory is the largest resident set of the process, with the table, and for the others with Python. KNN and LOF are \
         left out beyond 50,000 rows and OCSVM beyond 20,000; \"stopped\" took more than {} s or did not end well. The EBM learns from all \
         labels; the others have none.\n\n![Scoring and fitting against other programs](contest.svg)\n\n\
         In the picture: ma mammography, ca campaign, ce census, do donors, 10M made up.\n",
        options.limit
    );
    for set in SETS.into_iter().chain([MADE_UP.0]) {
        let entries: Vec<&Entry> = entries.iter().filter(|entry| entry.set == set).collect();
        let Some(us) = entries.iter().find(|entry| entry.method == OURS).and_then(|entry| entry.found) else {
            continue;
        };
        let mut grid = Grid::new([
            "method",
            "fit, s",
            "rows scored a second",
            "rows explained a second",
            "peak, MiB",
            "size, kB",
        ]);
        for entry in &entries {
            let Some(found) = entry.found else {
                grid.push([entry.method.as_str(), "stopped", NONE, NONE, NONE, NONE]);
                continue;
            };
            let against = |figure: String, ratio: f64| {
                if entry.method == OURS { figure } else { format!("{figure} ({ratio:.2})") }
            };
            let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
            grid.push([
                entry.method.clone(),
                against(format!("{:.2}", found.fit_seconds), found.fit_seconds / us.fit_seconds),
                against(format!("{:.0}", found.scored), us.scored / found.scored),
                found
                    .explained
                    .zip(us.explained)
                    .map_or(NONE.into(), |(theirs, ours)| against(format!("{theirs:.0}"), ours / theirs)),
                found.peak_bytes.zip(us.peak_bytes).map_or(NONE.into(), |(theirs, ours)| {
                    against(format!("{:.0}", mib(theirs)), theirs as f64 / ours as f64)
                }),
                against(
                    format!("{:.0}", found.model_bytes as f64 / 1e3),
                    found.model_bytes as f64 / us.model_bytes as f64,
                ),
            ]);
        }
        let first = entries[0];
        page.push_str(&format!(
            "\n## {set}: {} rows, {} columns\n\n{}",
            first.rows,
            first.columns,
            grid.markdown(1)
        ));
    }
    let loads = entries.iter().filter_map(|entry| entry.load).fold(0.0, f64::max);
    let mut machines: Vec<&str> = entries.iter().map(|entry| entry.cpu.as_str()).collect();
    machines.sort_unstable();
    machines.dedup();
    page.push_str(&format!(
        "\nMeasured on {}; the load average before a measurement was at most {loads:.1}.\n\n",
        machines.join("; ")
    ));
    let command = format!("contest --data DIR{}", options.settings.command_line());
    page.push_str(&render::origin(&[&command], entries.iter().map(|entry| entry.commit.as_str())));
    page
}

fn csv(entries: &[Entry]) -> String {
    let mut grid = Grid::new([
        "set",
        "rows",
        "columns",
        "method",
        "version",
        "fit_seconds",
        "rows_scored_per_second",
        "rows_explained_per_second",
        "peak_bytes",
        "model_bytes",
        "commit",
    ]);
    for entry in entries {
        let figure = |figure: fn(&Found) -> Option<f64>| {
            entry.found.as_ref().and_then(figure).map_or(String::new(), |value| format!("{value:.3}"))
        };
        grid.push([
            entry.set.clone(),
            entry.rows.to_string(),
            entry.columns.to_string(),
            entry.method.clone(),
            entry.version.clone(),
            figure(|found| Some(found.fit_seconds)),
            figure(|found| Some(found.scored)),
            figure(|found| found.explained),
            figure(|found| found.peak_bytes.map(|bytes| bytes as f64)),
            figure(|found| Some(found.model_bytes as f64)),
            entry.commit.clone(),
        ]);
    }
    grid.csv()
}
