//! Made-up tables in which every oddity is known: is it found, and is the reason the right one?

mod oddities;
mod page;
pub mod random;
mod sheet;
mod specs;

use std::cell::RefCell;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use diad::explain::Explainer;
use diad::table::FileSource;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use self::oddities::{ODDITIES, Planted};
use self::random::Random;
use self::specs::{SPECS, Spec};
use crate::data::{LABEL, mix};
use crate::evaluate::{fit, score};
use crate::guards::peers::start;
use crate::options::known;
use crate::python::{PeerAnswer, Worker};
use crate::render::Grid;
use crate::study::{Bench, Made, Page, Study};

/// Rows of a table. There are fewer planted ones than the smaller share of the top.
const ROWS: usize = 5000;
/// The shares of all rows that are looked through.
const TOP: [f64; 2] = [0.005, 0.01];
/// Seeds where none are asked for.
const SEEDS: u64 = 10;
const OURS: &str = "ours";
/// The methods as the page calls them and as `python/peers.py` does.
const METHODS: [(&str, &str); 4] = [(OURS, ""), ("IForest", "IForest"), ("ECOD", "ECOD"), ("kNN", "KNN")];

/// Planted anomalies.
#[derive(Debug, Args)]
pub struct PlantedRows {
    /// Leave out the methods that need Python.
    #[arg(long)]
    no_peers: bool,
    /// What stays between measurements.
    #[arg(skip)]
    kept: RefCell<State>,
}

/// One method on one table.
#[derive(Debug)]
pub struct Case {
    spec: &'static Spec,
    seed: u64,
    method: (&'static str, &'static str),
}

/// How a method did on a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlantedRun {
    table: String,
    seed: u64,
    method: String,
    version: String,
    found: Vec<Found>,
    #[serde(flatten)]
    made: Made,
}

/// What became of a planted row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Found {
    oddity: String,
    /// Whether it is in each share of the top.
    top: [bool; 2],
    /// The place of the right reason among those of the row, from 1 on; only for ours.
    reason: Option<usize>,
}

/// The table that was made last, and the script of the other methods.
#[derive(Debug, Default)]
pub struct State {
    table: Option<Written>,
    worker: Option<Worker>,
}

/// A table as a file.
#[derive(Debug)]
struct Written {
    name: &'static str,
    seed: u64,
    path: PathBuf,
    /// The planted rows with their places in the file.
    planted: Vec<(usize, Planted)>,
    _folder: TempDir,
}

impl Written {
    fn new(spec: &'static Spec, seed: u64) -> Result<Self> {
        let (grid, planted) = table(spec, seed);
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("table.csv");
        std::fs::write(&path, grid.csv()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { name: spec.name, seed, path, planted, _folder: folder })
    }
}

/// A table with its labels, and where its planted rows are.
fn table(spec: &'static Spec, seed: u64) -> (Grid, Vec<(usize, Planted)>) {
    let place = SPECS.iter().position(|known| known.name == spec.name).unwrap_or(0);
    let mut random = Random::new(mix(seed) ^ place as u64);
    let odd: Vec<Planted> = ODDITIES.iter().flat_map(|oddity| oddity.plant(spec, &mut random)).collect();
    // One planted row in each stretch of the table.
    let stretch = ROWS / odd.len();
    let places = (0..odd.len()).map(|index| index * stretch + random.below(stretch)).collect::<Vec<_>>();
    let planted: Vec<(usize, Planted)> = places.into_iter().zip(odd).collect();
    let mut grid = Grid::new(spec.columns().into_iter().chain([LABEL]));
    let mut next = planted.iter().peekable();
    for row in 0..ROWS {
        let odd = next.next_if(|(place, _)| *place == row);
        let cells = odd.map_or_else(|| spec.row(&mut random).cells(), |(_, planted)| planted.row.cells());
        grid.push(cells.into_iter().chain([u8::from(odd.is_some()).to_string()]));
    }
    (grid, planted)
}

impl Study for PlantedRows {
    const NAME: &'static str = "planted";
    type Case = Case;
    type Row = PlantedRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Case>> {
        known("table", &bench.options.sets, &SPECS.iter().map(|spec| spec.name).collect::<Vec<_>>())?;
        let methods = || METHODS.into_iter().filter(|(name, _)| *name == OURS || !self.no_peers);
        let specs = || SPECS.iter().filter(|spec| bench.options.wants(spec.name));
        let of_seed =
            |seed| specs().flat_map(move |spec| methods().map(move |method| Case { spec, seed, method }));
        Ok((0..bench.seeds(SEEDS)).flat_map(of_seed).collect())
    }

    fn is_done(&self, case: &Case, run: &PlantedRun, bench: &Bench) -> bool {
        let current = run.method != OURS || run.made.is_of(bench);
        run.table == case.spec.name && run.seed == case.seed && run.method == case.method.0 && current
    }

    fn measure(&self, case: &Case, bench: &Bench) -> Result<Option<PlantedRun>> {
        let state = &mut *self.kept.borrow_mut();
        let Case { spec, seed, method: (name, method) } = *case;
        if state.table.as_ref().is_none_or(|table| (table.name, table.seed) != (spec.name, seed)) {
            state.table = Some(Written::new(spec, seed)?);
        }
        let table = state.table.as_ref().context("no table was made")?;
        let (version, found) = if name == OURS {
            (format!("diad {}", env!("CARGO_PKG_VERSION")), ours(table, seed, bench)?)
        } else {
            let worker = match &mut state.worker {
                Some(worker) => worker,
                none => none.insert(start(bench)?),
            };
            let request = serde_json::json!({
                "method": method, "table": table.path, "seed": seed, "scale": true, "top": TOP,
            });
            let Some(answer) = worker.figures::<PeerAnswer>(&request)? else { return Ok(None) };
            let inside =
                |row: usize| [0, 1].map(|share| answer.top.get(share).is_some_and(|top| top.contains(&row)));
            (answer.version.clone(), outcome(table, inside, |_| None))
        };
        Ok(Some(PlantedRun {
            table: spec.name.into(),
            seed,
            method: name.into(),
            version,
            found,
            made: bench.made(),
        }))
    }

    fn words(run: &PlantedRun) -> String {
        let count = |share: usize| run.found.iter().filter(|found| found.top[share]).count();
        let PlantedRun { table, seed, method, found, .. } = run;
        format!("{table}, seed {seed}, {method}: {} and {} of {}", count(0), count(1), found.len())
    }

    fn page(&self, mut runs: Vec<PlantedRun>, bench: &Bench) -> Result<Page> {
        let seeds = bench.seeds(SEEDS);
        runs.retain(|run| run.seed < seeds && (run.method != OURS || run.made.is_of(bench)));
        Ok(Page {
            text: page::text(&runs),
            commands: vec![bench.command(&format!("planted --seeds {seeds}"))],
            csv: page::csv(&runs),
            commits: runs.into_iter().map(|run| run.made.commit).collect(),
            picture: None,
        })
    }
}

/// What became of every planted row.
fn outcome(
    table: &Written,
    inside: impl Fn(usize) -> [bool; 2],
    reason: impl Fn(usize) -> Option<usize>,
) -> Vec<Found> {
    let found = |(index, (row, planted)): (usize, &(usize, Planted))| Found {
        oddity: planted.oddity.name().into(),
        top: inside(*row),
        reason: reason(index),
    };
    table.planted.iter().enumerate().map(found).collect()
}

/// Fits the table, ranks its rows, and explains the planted ones.
fn ours(table: &Written, seed: u64, bench: &Bench) -> Result<Vec<Found>> {
    let source = FileSource::new(&table.path);
    let detector = fit(&bench.params.clone().seed(seed), &source, &[LABEL])?;
    let (_, scores) = score(&detector, &source, LABEL)?;
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    let mut ranks = vec![0; scores.len()];
    order.iter().enumerate().for_each(|(rank, &row)| ranks[row] = rank);
    let inside = |row: usize| TOP.map(|share| ranks[row] < (share * scores.len() as f64) as usize);

    let rows: Vec<usize> = table.planted.iter().map(|(row, _)| *row).collect();
    let explainer = Explainer::new(&detector);
    let contributions = explainer.contributions(&detector.pick(&source, &rows)?)?;
    let columns = detector.encoder().columns();
    let reason = |index: usize| {
        let reasons = &table.planted[index].1.reasons;
        let names = |term: usize| {
            let sources = explainer.terms()[term].columns().iter().map(|&column| columns[column].source());
            sources.collect::<Vec<_>>()
        };
        let is_right = |term: usize| {
            let named = names(term);
            reasons.iter().any(|reason| reason.iter().all(|column| named.contains(column)))
        };
        let sorted = contributions.sorted(index);
        let raising = sorted.iter().filter(|(_, contribution)| *contribution > 0.0);
        raising.map(|(term, _)| *term).position(is_right).map(|place| place + 1)
    };
    Ok(outcome(table, inside, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_the_same_with_the_same_seed_and_planted_rows_are_few() {
        for spec in SPECS.iter() {
            let (grid, planted) = table(spec, 3);
            assert_eq!(grid, table(spec, 3).0);
            assert_ne!(grid, table(spec, 4).0);
            assert!(planted.len() as f64 <= TOP[0] * ROWS as f64);
            let text = grid.csv();
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), ROWS + 1);
            let labelled: Vec<usize> = (0..ROWS).filter(|&row| lines[row + 1].ends_with(",1")).collect();
            assert_eq!(labelled, planted.iter().map(|(row, _)| *row).collect::<Vec<_>>());
        }
    }
}
