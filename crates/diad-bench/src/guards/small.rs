//! Small tables and tables of two-valued columns, cut from the sets, against scikit-learn's IsolationForest.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anyhow::{Context, Result};
use clap::Args;
use diad::table::{FileSource, Table};
use serde::{Deserialize, Serialize};

use crate::data::{LABEL, labelled, load, mix};
use crate::evaluate::{accuracy, fit, score};
use crate::python::{PeerAnswer, Worker};
use crate::render::{Grid, number};
use crate::sets::Set;
use crate::stats::{mean, standard_error};
use crate::study::{Bench, Made, Page, Study};

/// Seeds where none are asked for: cuts of each set, each with other rows.
const SEEDS: u64 = 3;
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
pub struct Cut {
    name: &'static str,
    rows: usize,
    two_valued: bool,
}

/// Small tables.
#[derive(Debug, Args)]
pub struct Small {
    /// What stays between measurements.
    #[arg(skip)]
    kept: RefCell<State>,
}

/// Both methods on one cut.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SmallRun {
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
    #[serde(flatten)]
    made: Made,
}

/// A table to be cut.
#[derive(Debug)]
pub struct Case {
    set: Set,
    cut: Cut,
    seed: u64,
}

/// The script, and the set that is read.
#[derive(Debug, Default)]
pub struct State {
    worker: Option<Worker>,
    whole: Option<(&'static str, Table)>,
}

impl Study for Small {
    const NAME: &'static str = "small";
    type Case = Case;
    type Row = SmallRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        let seeds = bench.seeds(SEEDS);
        let of_set = |set| (0..seeds).flat_map(move |seed| CUTS.map(|cut| Case { set, cut, seed }));
        Ok(bench.sets(true)?.into_iter().flat_map(of_set).collect())
    }

    fn is_done(&self, Case { set, cut, seed }: &Case, run: &SmallRun, bench: &Bench) -> bool {
        run.cut == cut.name && run.set == set.name && run.seed == *seed && run.made.is_of(bench)
    }

    fn measure(&self, case: &Case, bench: &Bench) -> Result<Option<SmallRun>> {
        let state = &mut *self.kept.borrow_mut();
        if state.whole.as_ref().is_none_or(|(name, _)| *name != case.set.name) {
            let source = FileSource::new(bench.path(&case.set)?);
            state.whole = Some((case.set.name, load(&source, &labelled())?));
        }
        let (_, whole) = state.whole.as_ref().context("no set was read")?;
        let Some(table) = case.cut.of(whole, case.seed)? else { return Ok(None) };
        let worker = match &mut state.worker {
            Some(worker) => worker,
            none => none.insert(Worker::start(&bench.python()?, "peers.py", &[])?),
        };
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("table.csv");
        std::fs::write(&path, csv(&table))?;
        let request = serde_json::json!({ "method": METHOD, "table": path, "seed": case.seed });
        let forest = worker.figures(&request)?;
        forest.map(|forest| compare(case, &table, forest, bench)).transpose()
    }

    fn words(run: &SmallRun) -> String {
        let SmallRun { set, cut, seed, ours, forest, .. } = run;
        format!("{set}, {cut}, seed {seed}: ours {ours:.1}, forest {forest:.1}")
    }

    fn page(&self, mut runs: Vec<SmallRun>, bench: &Bench) -> Result<Page> {
        runs.retain(|run| run.made.is_of(bench));
        let text = format!(
            "# Small tables and two-valued columns\n\nROC-AUC in % of tables cut from the sets, ours against scikit-learn's \
             IsolationForest at its defaults on the same rows: means over the sets. Rows are drawn at random, a share of \
             anomalies as in the set, but at least {ANOMALIES}. The last line has only columns of two values, at most 20,000 rows, \
             from the sets that have at least {COLUMNS} such columns. Gain: ours less the forest's, with the standard error over the \
             sets. Single sets are in small.csv.\n\n{}",
            overview(&runs).markdown(1)
        );
        let command = bench.command(&format!("small --data DIR --seeds {}", bench.seeds(SEEDS)));
        Ok(Page::new(text, details(&runs), command, runs.into_iter().map(|run| run.made.commit)))
    }
}

/// Fits and scores a table, and puts the figures beside the forest's.
fn compare(case: &Case, table: &Table, forest: PeerAnswer, bench: &Bench) -> Result<SmallRun> {
    let params = bench.params.clone().seed(case.seed);
    let detector = fit(&params, table, &[LABEL])?;
    let (labels, scores) = score(&detector, table, LABEL)?;
    let [ours, ours_ap] = accuracy(&labels, &scores)?;
    Ok(SmallRun {
        cut: case.cut.name.into(),
        set: case.set.name.into(),
        seed: case.seed,
        rows: table.rows(),
        columns: detector.encoder().columns().len(),
        anomalies: labels.iter().filter(|&&label| label).count(),
        ours,
        ours_ap,
        forest: forest.auc,
        forest_ap: forest.ap,
        version: forest.version,
        made: bench.made(),
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
        let kept = |values: &[f64]| {
            let Some(second) = values.iter().find(|&&v| v != values[0]) else { return false };
            !self.two_valued || values.iter().all(|v| v == &values[0] || v == second)
        };
        columns.retain(|(name, values)| name == LABEL || kept(values));
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
