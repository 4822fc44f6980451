//! Small tables and tables of two-valued columns, cut from the sets, against scikit-learn's IsolationForest.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use diad::table::{FileSource, Table};
use diad::{Params, metrics};
use serde::{Deserialize, Serialize};

use crate::data::{LABEL, labelled, load, mix};
use crate::environment;
use crate::options::{Folders, Settings, digest};
use crate::python::{Worker, interpreter};
use crate::render::{self, Grid, number};
use crate::runs::Store;
use crate::sets::{self, Set};
use crate::stats::{mean, standard_error};

/// What is cut from a set.
const CUTS: [Cut; 4] = [
    Cut { name: "150 rows", rows: 150, two_valued: false },
    Cut { name: "300 rows", rows: 300, two_valued: false },
    Cut { name: "900 rows", rows: 900, two_valued: false },
    Cut { name: "two-valued columns", rows: 20_000, two_valued: true },
];
/// A cut has at least so many anomalies, and so many columns of two values.
const ANOMALIES: usize = 5;
const COLUMNS: usize = 5;
const METHOD: &str = "IForest";

#[derive(Debug, Clone, Copy)]
struct Cut {
    name: &'static str,
    rows: usize,
    two_valued: bool,
}

/// The options of `diad-bench small`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    #[command(flatten)]
    settings: Settings,
    /// The Python interpreter; by default one is made in target/bench-venv.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Cuts of each set, each with other rows and another seed.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    sets: Vec<String>,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    render: bool,
}

/// Both methods on one cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SmallRun {
    cut: String,
    set: String,
    seed: u64,
    rows: usize,
    columns: usize,
    anomalies: usize,
    ours: f64,
    ours_ap: f64,
    forest: f64,
    forest_ap: f64,
    version: String,
    settings: String,
    commit: String,
}

/// Runs what is missing and writes `small.md` and `small.csv`.
///
/// # Errors
/// If a set cannot be read or fitted, the script fails, or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let params = options.settings.params()?;
    let settings = digest(&params)?;
    let store: Store<SmallRun> = Store::new(&options.folders.out, "small.jsonl");
    if !options.render {
        options.settings.start_threads(None)?;
        run_missing(options, &params, &settings, &store)?;
    }
    let runs: Vec<_> = store.load()?.into_iter().filter(|run| run.settings == settings).collect();
    let command = format!("small --data DIR --seeds {}{}", options.seeds, options.settings.command_line());
    let commits = runs.iter().map(|run| run.commit.as_str());
    let page = format!(
        "# Small tables and two-valued columns\n\nROC-AUC in % of tables cut from the sets, ours against scikit-learn's \
         IsolationForest at its defaults on the same rows: means over the sets. Rows are drawn at random, a share of \
         anomalies as in the set, but at least {ANOMALIES}. The last line has only columns of two values, at most 20,000 rows, \
         from the sets that have at least {COLUMNS} such columns. Gain: ours less the forest's, with the standard error over the \
         sets. Single sets are in small.csv.\n\n{}\n{}",
        overview(&runs).markdown(1),
        render::origin(&[&command], commits)
    );
    render::write(&options.folders.out, "small", &page, &details(&runs).csv())
}

fn run_missing(options: &Options, params: &Params, settings: &str, store: &Store<SmallRun>) -> Result<()> {
    let data = options.folders.data()?;
    let done = store.load()?;
    let folder = tempfile::tempdir()?;
    let python = interpreter(options.python.as_deref())?;
    let mut worker = Worker::start(&python, "peers.py", &[])?;
    let commit = environment::commit();
    for set in sets::select(&options.sets, true)? {
        let whole = load(&FileSource::new(set.path(&data)), &labelled())?;
        for seed in 0..options.seeds {
            for cut in CUTS {
                let is_done = |run: &SmallRun| {
                    run.cut == cut.name && run.set == set.name && run.seed == seed && run.settings == settings
                };
                if done.iter().any(is_done) {
                    continue;
                }
                let Some(table) = cut.of(&whole, seed)? else { continue };
                let path = folder.path().join(format!("{}-{}-{seed}.csv", set.name, cut.rows));
                std::fs::write(&path, csv(&table))?;
                let request = serde_json::json!({ "method": METHOD, "table": path, "seed": seed });
                let forest = worker.ask(&request.to_string())?;
                let number = |field: &str| {
                    forest[field].as_f64().with_context(|| format!("peers.py gives no {field} in {forest}"))
                };
                let params = params.clone().seed(seed);
                let run = compare(cut, &set, &table, &params, [number("auc")?, number("ap")?])?;
                let version = forest["version"].as_str().unwrap_or_default().to_string();
                let run = SmallRun { version, settings: settings.into(), commit: commit.clone(), ..run };
                eprintln!(
                    "{}, {}, seed {seed}: ours {:.1}, forest {:.1}",
                    set.name, cut.name, run.ours, run.forest
                );
                store.append(&run)?;
                std::fs::remove_file(&path)?;
            }
        }
    }
    Ok(())
}

/// Fits and scores a table, and puts the figures beside the forest's.
fn compare(cut: Cut, set: &Set, table: &Table, params: &Params, forest: [f64; 2]) -> Result<SmallRun> {
    let labels: Vec<bool> =
        table.column_named(LABEL).context("there is no label column")?.iter().map(|v| *v > 0.5).collect();
    let detector = params.fitting(table).ignore(LABEL).run()?;
    let columns = detector.encoder().columns().len();
    let scores = detector.score(table)?;
    Ok(SmallRun {
        cut: cut.name.into(),
        set: set.name.into(),
        seed: params.seed,
        rows: table.rows(),
        columns,
        anomalies: labels.iter().filter(|&&label| label).count(),
        ours: 100.0 * metrics::roc_auc(&labels, &scores).context("the labels are all alike")?,
        ours_ap: 100.0 * metrics::average_precision(&labels, &scores).context("there are no anomalies")?,
        forest: forest[0],
        forest_ap: forest[1],
        version: String::new(),
        settings: String::new(),
        commit: String::new(),
    })
}

impl Cut {
    /// The cut of a table, or nothing where it has too few rows or columns of that kind.
    fn of(&self, whole: &Table, seed: u64) -> Result<Option<Table>> {
        let labels = whole.column_named(LABEL).context("there is no label column")?;
        if !self.two_valued && whole.rows() <= self.rows {
            return Ok(None);
        }
        let rows = self.rows.min(whole.rows());
        let mut shuffled: Vec<usize> = (0..whole.rows()).collect();
        shuffled.sort_by_key(|&row| mix(mix(seed) ^ row as u64));
        let (anomalies, normal): (Vec<_>, Vec<_>) = shuffled.into_iter().partition(|&row| labels[row] > 0.5);
        let share = (rows as f64 * anomalies.len() as f64 / whole.rows() as f64).round() as usize;
        let wanted = share.max(ANOMALIES).min(anomalies.len());
        let normal = normal.iter().take(rows - wanted);
        let mut chosen: Vec<usize> = anomalies.iter().take(wanted).chain(normal).copied().collect();
        chosen.sort_unstable();
        let values =
            |column: usize| chosen.iter().map(|&row| whole.column(column)[row]).collect::<Vec<f64>>();
        let mut columns: Vec<(String, Vec<f64>)> =
            whole.names().iter().enumerate().map(|(index, name)| (name.clone(), values(index))).collect();
        let distinct = |values: &[f64]| {
            let second = values.iter().find(|&&v| v != values[0]);
            second.map_or(
                1,
                |second| {
                    if values.iter().all(|v| v == &values[0] || v == second) { 2 } else { 3 }
                },
            )
        };
        columns.retain(|(name, values)| {
            name == LABEL || if self.two_valued { distinct(values) == 2 } else { distinct(values) > 1 }
        });
        if columns.len() <= if self.two_valued { COLUMNS } else { 1 } {
            return Ok(None);
        }
        let (names, values) = columns.into_iter().unzip();
        Ok(Some(Table::new(names, values)?))
    }
}

fn csv(table: &Table) -> String {
    let mut grid = Grid::new(table.names());
    for row in 0..table.rows() {
        grid.push((0..table.names().len()).map(|column| table.column(column)[row]));
    }
    grid.csv()
}

/// The means of both methods over the seeds of each set.
fn by_set<'a>(runs: &'a [SmallRun], cut: &str) -> BTreeMap<&'a str, [f64; 4]> {
    let mut sets: BTreeMap<&str, Vec<[f64; 4]>> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.cut == cut) {
        sets.entry(&run.set).or_default().push([run.ours, run.forest, run.ours_ap, run.forest_ap]);
    }
    let average = |runs: Vec<[f64; 4]>| {
        std::array::from_fn(|field| {
            mean(&runs.iter().map(|run| run[field]).collect::<Vec<_>>()).unwrap_or(f64::NAN)
        })
    };
    sets.into_iter().map(|(set, runs)| (set, average(runs))).collect()
}

fn overview(runs: &[SmallRun]) -> Grid {
    let mut grid = Grid::new(["table", "sets", "ours", "forest", "gain", "ours, AP", "forest, AP"]);
    for cut in CUTS {
        let sets = by_set(runs, cut.name);
        if sets.is_empty() {
            continue;
        }
        let column = |field: usize| sets.values().map(|set| set[field]).collect::<Vec<_>>();
        let gains: Vec<f64> = sets.values().map(|set| set[0] - set[1]).collect();
        let average = |field| number(mean(&column(field)), 1);
        grid.push([
            cut.name.to_string(),
            sets.len().to_string(),
            average(0),
            average(1),
            format!("{} ± {}", number(mean(&gains), 1), number(standard_error(&gains), 1)),
            average(2),
            average(3),
        ]);
    }
    grid
}

fn details(runs: &[SmallRun]) -> Grid {
    let mut grid = Grid::new(["table", "set", "ours_auc", "forest_auc", "ours_ap", "forest_ap"]);
    for cut in CUTS {
        for (set, figures) in by_set(runs, cut.name) {
            let figures = figures.map(|figure| number(Some(figure), 3));
            grid.push([cut.name.to_string(), set.to_string()].into_iter().chain(figures));
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole() -> Table {
        let column = |f: fn(usize) -> f64| (0..1000).map(f).collect::<Vec<f64>>();
        let mut names = vec!["x".to_string(), LABEL.to_string()];
        let mut values = vec![column(|row| row as f64), column(|row| f64::from(u8::from(row % 100 == 0)))];
        for flag in 0..6 {
            names.push(format!("flag{flag}"));
            values.push((0..1000).map(|row| f64::from(u8::from(row % (flag + 2) == 0))).collect());
        }
        Table::new(names, values).expect("a table")
    }

    #[test]
    fn cuts_keep_the_share_of_anomalies_but_never_fewer_than_five() {
        let whole = whole();
        for (cut, rows, anomalies) in [(CUTS[0], 150, 5), (CUTS[2], 900, 9)] {
            let table = cut.of(&whole, 1).expect("a cut").expect("enough rows");
            let labels = table.column_named(LABEL).expect("labels");
            assert_eq!(table.rows(), rows);
            assert_eq!(labels.iter().filter(|&&label| label == 1.0).count(), anomalies);
            assert_eq!(cut.of(&whole, 1).expect("a cut"), Some(table));
        }
        assert!(Cut { rows: 1000, ..CUTS[0] }.of(&whole, 1).expect("a cut").is_none());
    }

    #[test]
    fn two_valued_cuts_have_no_other_columns() {
        let table = CUTS[3].of(&whole(), 1).expect("a cut").expect("enough columns");
        assert_eq!(table.names().len(), 7);
        assert!(table.column_named("x").is_none());
    }
}
