//! Detectors that the paper compares with and that no package offers, written from their papers.

mod gif;
mod pid_forest;

use anyhow::Result;
use clap::Args;
use diad::metrics::{average_precision, roc_auc};
use diad::table::FileSource;
use serde::{Deserialize, Serialize};

use crate::data::{labelled, load};
use crate::guards::planted::random::Random;
use crate::options::{asked, known};
use crate::paper::{METHODS, PaperTable};
use crate::render::{Grid, figure, number, with_error};
use crate::sets::{self, Set};
use crate::stats::{mean, standard_error};
use crate::study::{Bench, Page, Study};

/// Seeds where none are asked for.
const SEEDS: u64 = 3;
/// The detectors, by the names the paper has for them.
type Forest = (&'static str, fn(&Rows, u64) -> Vec<f64>);
const FORESTS: [Forest; 2] = [("PIDForest", pid_forest::scores), ("GIF", gif::scores)];

/// PIDForest and GIF.
#[derive(Debug, Args)]
pub struct Forests {
    /// Only these methods.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    methods: Vec<String>,
}

/// One method on one set with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForestRun {
    method: String,
    set: String,
    seed: u64,
    auc: f64,
    ap: f64,
    commit: String,
}

/// A run to be done.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    method: &'static str,
    scores: fn(&Rows, u64) -> Vec<f64>,
    set: Set,
    seed: u64,
}

impl Study for Forests {
    const NAME: &'static str = "forests";
    type Case = Job;
    type Row = ForestRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Job>> {
        known("method", &self.methods, &FORESTS.map(|(name, _)| name))?;
        let mut jobs = Vec::new();
        for set in bench.sets(false)? {
            for (method, scores) in FORESTS.into_iter().filter(|(name, _)| asked(&self.methods, name)) {
                jobs.extend((0..set.seeds(bench.seeds(SEEDS))).map(|seed| Job { method, scores, set, seed }));
            }
        }
        Ok(jobs)
    }

    fn is_done(&self, job: &Job, run: &ForestRun, _: &Bench) -> bool {
        run.method == job.method && run.set == job.set.name && run.seed == job.seed
    }

    fn measure(&self, job: &Job, bench: &Bench) -> Result<Option<ForestRun>> {
        let table = load(&FileSource::new(bench.path(&job.set)?), &labelled())?;
        let last = table.names().len() - 1;
        let labels: Vec<bool> = table.column(last).iter().map(|&label| label > 0.5).collect();
        let rows = Rows::new((0..last).map(|column| table.column(column).to_vec()).collect());
        let scores: Vec<f32> = (job.scores)(&rows, job.seed).into_iter().map(|score| score as f32).collect();
        Ok(Some(ForestRun {
            method: job.method.into(),
            set: job.set.name.into(),
            seed: job.seed,
            auc: 100.0 * roc_auc(&labels, &scores).unwrap_or(0.5),
            ap: 100.0 * average_precision(&labels, &scores).unwrap_or(0.0),
            commit: bench.commit.clone(),
        }))
    }

    fn words(run: &ForestRun) -> String {
        let ForestRun { method, set, seed, auc, ap, .. } = run;
        format!("{method} on {set}, seed {seed}: AUC {auc:.2}, AP {ap:.2}")
    }

    fn page(&self, runs: Vec<ForestRun>, bench: &Bench) -> Result<Page> {
        let paper = PaperTable::unsupervised()?;
        let text = format!(
            "# PIDForest and GIF\n\nROC-AUC in %, fitted and scored on all rows: mean ± standard error over the seeds, beside the \
             figures the paper prints. Both are written here from their papers.\n\n{}",
            grid(&runs, &paper).markdown(1)
        );
        Ok(Page {
            text,
            commands: vec![bench.command("forests --data DIR")],
            csv: csv(&runs),
            commits: runs.into_iter().map(|run| run.commit).collect(),
            picture: None,
        })
    }
}

fn grid(runs: &[ForestRun], paper: &PaperTable) -> Grid {
    let names = FORESTS.map(|(name, _)| name);
    let mut grid = Grid::new(
        ["set".to_string()]
            .into_iter()
            .chain(names.iter().flat_map(|name| [format!("{name} here"), format!("{name}, paper")])),
    );
    for set in sets::SETS.iter().filter(|set| runs.iter().any(|run| run.set == set.name)) {
        let cells = names.iter().flat_map(|name| {
            let figures: Vec<f64> = runs
                .iter()
                .filter(|run| run.method == *name && run.set == set.name)
                .map(|run| run.auc)
                .collect();
            let place = METHODS.iter().position(|method| method == name);
            let here = mean(&figures)
                .map_or_else(|| number(None, 1), |auc| with_error(auc, standard_error(&figures)));
            let printed = paper.row(set.name).zip(place).map(|(row, place)| &row[place]);
            [here, figure(printed)]
        });
        grid.push([set.name.to_string()].into_iter().chain(cells));
    }
    grid
}

fn csv(runs: &[ForestRun]) -> Grid {
    let mut grid = Grid::new(["set", "method", "seed", "auc", "ap"]);
    for run in runs {
        grid.push([
            run.set.clone(),
            run.method.clone(),
            run.seed.to_string(),
            number(Some(run.auc), 3),
            number(Some(run.ap), 3),
        ]);
    }
    grid
}

/// Rows as columns of numbers.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<Vec<f64>>,
}

impl Rows {
    /// Columns of the same length.
    pub fn new(columns: Vec<Vec<f64>>) -> Self {
        Self { columns }
    }

    fn count(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }

    fn columns(&self) -> usize {
        self.columns.len()
    }

    fn value(&self, row: usize, column: usize) -> f64 {
        self.columns[column][row]
    }

    /// The smallest and the largest value of each column.
    fn ranges(&self) -> Vec<[f64; 2]> {
        let range = |column: &Vec<f64>| {
            column
                .iter()
                .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], &v| [low.min(v), high.max(v)])
        };
        self.columns.iter().map(range).collect()
    }

    /// The same rows with each column on the unit interval.
    fn scaled(&self) -> Self {
        let scale = |(column, [low, high]): (&Vec<f64>, [f64; 2])| {
            let length = if high > low { high - low } else { 1.0 };
            column.iter().map(|value| (value - low) / length).collect()
        };
        Self { columns: self.columns.iter().zip(self.ranges()).map(scale).collect() }
    }

    /// The squared distance of two rows.
    fn distance(&self, a: usize, b: usize) -> f64 {
        self.columns.iter().map(|column| (column[a] - column[b]) * (column[a] - column[b])).sum()
    }

    /// So many different rows, or all there are.
    fn sample(&self, wanted: usize, random: &mut Random) -> Vec<usize> {
        let all = self.count();
        if all <= wanted {
            return (0..all).collect();
        }
        let mut chosen = std::collections::BTreeSet::new();
        while chosen.len() < wanted {
            chosen.insert(random.below(all));
        }
        chosen.into_iter().collect()
    }
}
