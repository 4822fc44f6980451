//! AUC of other detectors on the same sets.

use std::cell::RefCell;

use anyhow::Result;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::unsupervised::Unsupervised;
use crate::environment;
use crate::options::{asked, digest, known};
use crate::python::{PeerAnswer, Worker};
use crate::render::{Grid, number};
use crate::runs::Run;
use crate::sets::{self, Set};
use crate::stats::{mean, mean_ranks};
use crate::study::{Bench, Page, Study};

/// Seeds far apart: isotree's neighbouring seeds share most of their trees.
pub const SEEDS: [u64; 3] = [0, 1000, 2000];
/// The methods of `python/peers.py`.
const METHODS: [&str; 10] =
    ["isotree", "isotree2", "FCF", "IForest", "ECOD", "COPOD", "HBOS", "PCA", "KNN", "CBLOF"];
/// The name of our column.
const OURS: &str = "ours";
/// Methods without a random choice: one seed is enough where they are fitted on all rows.
pub const STEADY: [&str; 4] = ["ECOD", "COPOD", "HBOS", "PCA"];
/// Methods fitted on a sample where the set has more rows than the script allows.
const SAMPLED: [&str; 2] = ["KNN", "CBLOF"];
/// Rows of that sample.
const SAMPLE: usize = 20_000;

/// Other detectors.
#[derive(Debug, Args)]
pub struct Peers {
    /// Only these methods.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    methods: Vec<String>,
    /// What stays between measurements.
    #[arg(skip)]
    kept: RefCell<Option<Worker>>,
}

/// One fit of one method on one set with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PeerRun {
    method: String,
    set: String,
    seed: u64,
    #[serde(flatten)]
    found: PeerAnswer,
    commit: String,
    cpu: String,
}

/// A run to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    method: &'static str,
    set: Set,
    seed: u64,
}

impl Study for Peers {
    const NAME: &'static str = "peers";
    /// `peers.csv` keeps the figures that regressions are compared with.
    const TABLE: &'static str = "peers-by-set";
    const THREADS: Option<usize> = Some(2);
    type Case = Job;
    type Row = PeerRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Job>> {
        known("method", &self.methods, &METHODS)?;
        let methods: Vec<_> = METHODS.into_iter().filter(|method| asked(&self.methods, method)).collect();
        Ok(jobs(&bench.sets(true)?, &methods))
    }

    fn is_done(&self, job: &Job, run: &PeerRun, _: &Bench) -> bool {
        job.is(run)
    }

    fn measure(&self, job: &Job, bench: &Bench) -> Result<Option<PeerRun>> {
        let mut worker = self.kept.borrow_mut();
        let worker = match &mut *worker {
            Some(worker) => worker,
            none => none.insert(start(bench)?),
        };
        let Job { method, set, seed } = *job;
        let request = serde_json::json!({ "method": method, "table": bench.path(&set)?, "seed": seed });
        let found: Option<PeerAnswer> = worker.figures(&request)?;
        let (commit, cpu) = (bench.commit.clone(), environment::machine());
        Ok(found.map(|found| PeerRun {
            method: method.into(),
            set: set.name.into(),
            seed,
            found,
            commit,
            cpu,
        }))
    }

    fn words(run: &PeerRun) -> String {
        let PeerRun { method, set, seed, found: PeerAnswer { auc, ap, .. }, .. } = run;
        format!("{method} on {set}, seed {seed}: AUC {auc:.2}, AP {ap:.2}")
    }

    fn page(&self, mut runs: Vec<PeerRun>, bench: &Bench) -> Result<Page> {
        let ours = ours(bench)?;
        let seeds = ours.iter().map(|run| run.seed + 1).max().unwrap_or(0);
        runs.extend(ours);
        let text = format!(
            "# Other detectors\n\nWithout labels, fitted and scored on all rows: mean over the runs there are with the \
             seeds {SEEDS:?} (peers-by-set.csv says how many), one for the methods without a random choice, {seeds} seeds for ours at the default settings. isotree2 is the extended forest of two features \
             a split, FCF the fair-cut forest. PyOD's PCA gets only the components that vary: \
             with all of them it divides by zero where columns depend on each other. {} are fitted on a sample of {SAMPLE} rows where a set has more. Ranks are over the \
             columns of the table.\n\n## ROC-AUC in %\n\n{}\n## Average precision in %\n\n{}",
            SAMPLED.join(" and "),
            grid(&runs, |run| run.found.auc).markdown(1),
            grid(&runs, |run| run.found.ap).markdown(1)
        );
        Ok(Page {
            text,
            commands: ["unsupervised --extra --data DIR", "peers --data DIR"].map(String::from).to_vec(),
            csv: csv(&runs),
            commits: runs.into_iter().map(|run| run.commit).collect(),
            picture: None,
        })
    }
}

/// The script, ready.
///
/// # Errors
/// If it cannot be started.
pub fn start(bench: &Bench) -> Result<Worker> {
    let arguments = ["--threads", &rayon::current_num_threads().to_string(), "--sample", &SAMPLE.to_string()];
    Worker::start(&bench.python()?, "peers.py", &arguments.map(String::from))
}

/// Our runs at the default settings as those of one more method.
fn ours(bench: &Bench) -> Result<Vec<PeerRun>> {
    let settings = digest(&diad::Params::default())?;
    let runs: Vec<Run> = bench.rows(Unsupervised::NAME)?;
    let run = |run: Run| PeerRun {
        method: OURS.into(),
        set: run.set,
        seed: run.seed,
        found: PeerAnswer {
            version: env!("CARGO_PKG_VERSION").into(),
            auc: run.auc,
            ap: run.ap,
            fit_seconds: run.fit_seconds,
            fitted_rows: run.rows,
            rows: run.rows,
            ..PeerAnswer::default()
        },
        commit: run.commit,
        cpu: run.cpu,
    };
    Ok(runs.into_iter().filter(|run| run.noise == 0 && run.settings == settings).map(run).collect())
}

impl Job {
    fn is(&self, run: &PeerRun) -> bool {
        run.method == self.method && run.set == self.set.name && run.seed == self.seed
    }
}

/// All jobs, seed by seed, set by set.
fn jobs(sets: &[Set], methods: &[&'static str]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for seed in SEEDS {
        for set in sets {
            let wanted = methods.iter().filter(|method| seed == SEEDS[0] || !STEADY.contains(method));
            jobs.extend(wanted.map(|&method| Job { method, set: *set, seed }));
        }
    }
    jobs
}

/// A method's mean of a value on a set.
fn average(runs: &[PeerRun], method: &str, set: &Set, value: fn(&PeerRun) -> f64) -> Option<f64> {
    let runs = runs.iter().filter(|run| run.method == method && run.set == set.name);
    mean(&runs.map(value).collect::<Vec<_>>())
}

/// Sets by methods, with averages and mean ranks over the methods that have a figure for every set of the group.
fn grid(runs: &[PeerRun], value: fn(&PeerRun) -> f64) -> Grid {
    let methods: Vec<&str> = std::iter::once(OURS).chain(METHODS).collect();
    let mut grid = Grid::new(["set"].into_iter().chain(methods.iter().copied()));
    let figure = |method: &str, set: &Set| average(runs, method, set, value);
    let measured = |set: &&Set| methods.iter().any(|method| figure(method, set).is_some());
    for (title, extra) in [("the paper's sets", false), ("further sets", true)] {
        let sets: Vec<_> = sets::SETS.iter().filter(|set| set.extra == extra).filter(measured).collect();
        for set in &sets {
            let cells = methods.iter().map(|method| number(figure(method, set), 1));
            grid.push([set.name.to_string()].into_iter().chain(cells));
        }
        if sets.is_empty() {
            continue;
        }
        let columns: Vec<Option<Vec<f64>>> =
            methods.iter().map(|method| sets.iter().map(|set| figure(method, set)).collect()).collect();
        let averages = columns.iter().map(|column| number(column.as_ref().and_then(|c| mean(c)), 1));
        grid.push([format!("**average, {} of {title}**", sets.len())].into_iter().chain(averages));
        let complete: Vec<Vec<f64>> = columns.iter().flatten().cloned().collect();
        let mut ranks = mean_ranks(&complete).into_iter();
        let cells: Vec<String> =
            columns.iter().map(|column| number(column.as_ref().and_then(|_| ranks.next()), 1)).collect();
        grid.push([format!("**mean rank, {} of {title}**", sets.len())].into_iter().chain(cells));
    }
    grid
}

fn csv(runs: &[PeerRun]) -> Grid {
    let mut grid = Grid::new(["set", "method", "version", "seeds", "auc", "ap", "fitted_rows", "rows"]);
    for set in &sets::SETS {
        for method in std::iter::once(OURS).chain(METHODS) {
            let of_method: Vec<_> =
                runs.iter().filter(|run| run.method == method && run.set == set.name).collect();
            let Some(first) = of_method.first() else { continue };
            grid.push([
                set.name.to_string(),
                method.to_string(),
                first.found.version.clone(),
                of_method.len().to_string(),
                number(average(runs, method, set, |run| run.found.auc), 3),
                number(average(runs, method, set, |run| run.found.ap), 3),
                first.found.fitted_rows.to_string(),
                first.found.rows.to_string(),
            ]);
        }
    }
    grid
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(method: &str, set: &str, seed: u64, auc: f64) -> PeerRun {
        let found = PeerAnswer { auc, ap: 1.0, ..PeerAnswer::default() };
        let (commit, cpu) = ("c1".into(), "a CPU".into());
        PeerRun { method: method.into(), set: set.into(), seed, found, commit, cpu }
    }

    #[test]
    fn steady_methods_have_one_seed_and_finished_runs_are_skipped() {
        let sets = [sets::find("vowels").expect("a set")];
        let done = sample("IForest", "vowels", 1000, 70.0);
        let left = jobs(&sets, &["IForest", "ECOD"]).into_iter().filter(|job| !job.is(&done));
        let left: Vec<_> = left.map(|job| (job.method, job.seed)).collect();
        assert_eq!(left, [("IForest", 0), ("ECOD", 0), ("IForest", 2000)]);
    }

    #[test]
    fn averages_need_every_set() {
        let runs = [
            sample("isotree", "vowels", 0, 60.0),
            sample("isotree", "vowels", 1000, 70.0),
            sample("isotree", "thyroid", 0, 85.0),
            sample("ECOD", "vowels", 0, 50.0),
        ];
        let text = grid(&runs, |run| run.found.auc).markdown(1);
        assert!(text.contains("| vowels | – | 65.0 | – | – | – | 50.0 |"), "{text}");
        assert!(text.contains("| **average, 2 of the paper's sets** | – | 75.0 | – | – | – | – |"), "{text}");
    }

    #[test]
    fn ranks_are_among_the_methods_that_have_every_set() {
        let runs = [
            sample(OURS, "vowels", 0, 80.0),
            sample(OURS, "thyroid", 0, 90.0),
            sample("isotree", "vowels", 0, 85.0),
            sample("isotree", "thyroid", 0, 90.0),
            sample("ECOD", "vowels", 0, 99.0),
        ];
        let text = grid(&runs, |run| run.found.auc).markdown(1);
        assert!(
            text.contains("| **mean rank, 2 of the paper's sets** | 1.8 | 1.2 | – | – | – | – |"),
            "{text}"
        );
    }
}
