//! AUC of other detectors on the same sets.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};

use crate::environment;
use crate::options::{Folders, digest};
use crate::python::{Worker, interpreter};
use crate::render::{self, Grid, number};
use crate::runs::Store;
use crate::sets::{self, Set};
use crate::stats::{mean, ranks, round1};
use crate::unsupervised;

/// Seeds far apart: isotree's neighbouring seeds share most of their trees.
const SEEDS: [u64; 3] = [0, 1000, 2000];
/// The methods of `python/peers.py`.
const METHODS: [&str; 10] =
    ["isotree", "isotree2", "FCF", "IForest", "ECOD", "COPOD", "HBOS", "PCA", "KNN", "CBLOF"];
/// The name of our column.
const OURS: &str = "ours";
/// Methods without a random choice: one seed is enough where they are fitted on all rows.
const STEADY: [&str; 4] = ["ECOD", "COPOD", "HBOS", "PCA"];
/// Methods fitted on a sample where the set has more rows than the script allows.
const SAMPLED: [&str; 2] = ["KNN", "CBLOF"];
/// Rows of that sample.
const SAMPLE: usize = 20_000;

/// The options of `diad-bench peers`.
#[derive(Debug, Args)]
pub struct Options {
    #[command(flatten)]
    folders: Folders,
    /// The Python interpreter; by default one is made in target/bench-venv.
    #[arg(long, value_name = "PATH")]
    python: Option<PathBuf>,
    /// Only these sets.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    sets: Vec<String>,
    /// Only these methods.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    methods: Vec<String>,
    /// Threads of the methods that can use them.
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// Only write the tables from the runs there are.
    #[arg(long)]
    render: bool,
}

/// One fit of one method on one set with one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct PeerRun {
    method: String,
    version: String,
    set: String,
    seed: u64,
    auc: f64,
    ap: f64,
    fit_seconds: f64,
    score_seconds: f64,
    fitted_rows: usize,
    rows: usize,
    commit: String,
    cpu: String,
}

/// A run to be done.
#[derive(Debug, Clone, PartialEq)]
struct Job {
    method: &'static str,
    set: Set,
    seed: u64,
}

/// What the script answers.
#[derive(Debug, Deserialize)]
struct Answer {
    version: String,
    auc: f64,
    ap: f64,
    fit_seconds: f64,
    score_seconds: f64,
    fitted_rows: usize,
    rows: usize,
}

/// Runs what is missing and writes `peers.md` and `peers.csv`.
///
/// # Errors
/// If the script fails, or a file cannot be written.
pub fn run(options: &Options) -> Result<()> {
    let store: Store<PeerRun> = Store::new(&options.folders.out, "peers.jsonl");
    if !options.render {
        run_missing(options, &store)?;
    }
    let mut runs = store.load()?;
    let (seeds, ours) = ours(options)?;
    runs.extend(ours);
    let commits = runs.iter().map(|run| run.commit.as_str());
    let origin = render::origin(&["unsupervised --extra --data DIR", "peers --data DIR"], commits);
    let page = format!(
        "# Other detectors\n\nWithout labels, fitted and scored on all rows: mean over the runs there are with the \
         seeds {SEEDS:?} (peers.csv says how many), one for the methods without a random choice, {seeds} seeds for ours at the default settings. isotree2 is the extended forest of two features \
         a split, FCF the fair-cut forest. PyOD's PCA gets only the components that vary: \
         with all of them it divides by zero where columns depend on each other. {} are fitted on a sample of {SAMPLE} rows where a set has more. Ranks are over the \
         columns of the table.\n\n## ROC-AUC in %\n\n{}\n## Average precision in %\n\n{}\n{origin}",
        SAMPLED.join(" and "),
        grid(&runs, |run| run.auc).markdown(1),
        grid(&runs, |run| run.ap).markdown(1)
    );
    render::write(&options.folders.out, "peers", &page, &csv(&runs))
}

/// Our runs at the default settings as those of one more method, and how many seeds they have at most.
fn ours(options: &Options) -> Result<(usize, Vec<PeerRun>)> {
    let settings = digest(&diad::Params::default())?;
    let runs = unsupervised::store(&options.folders).load()?;
    let runs = runs.into_iter().filter(|run| run.noise == 0 && run.settings == settings);
    let run = |run: crate::runs::Run| PeerRun {
        method: OURS.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        set: run.set,
        seed: run.seed,
        auc: run.auc,
        ap: run.ap,
        fit_seconds: run.fit_seconds,
        score_seconds: 0.0,
        fitted_rows: run.rows,
        rows: run.rows,
        commit: run.commit,
        cpu: run.cpu,
    };
    let runs: Vec<_> = runs.map(run).collect();
    let seeds = runs.iter().map(|run| run.seed as usize + 1).max().unwrap_or(0);
    Ok((seeds, runs))
}

fn run_missing(options: &Options, store: &Store<PeerRun>) -> Result<()> {
    let data = options.folders.data()?;
    let sets = sets::select(&options.sets, true)?;
    for name in &options.methods {
        anyhow::ensure!(
            METHODS.contains(&name.as_str()),
            "there is no method {name}; there are {}",
            METHODS.join(", ")
        );
    }
    let methods: Vec<_> = METHODS
        .into_iter()
        .filter(|method| options.methods.is_empty() || options.methods.iter().any(|name| name == method))
        .collect();
    let jobs = missing(&sets, &methods, &store.load()?);
    if jobs.is_empty() {
        return Ok(());
    }
    let python = interpreter(options.python.as_deref())?;
    let threads = options.threads.to_string();
    let mut worker = Worker::start(
        &python,
        "peers.py",
        &["--threads".into(), threads, "--sample".into(), SAMPLE.to_string()],
    )?;
    let (commit, cpu) =
        (environment::commit(), format!("{}, {} threads", environment::cpu(), options.threads));
    for (index, Job { method, set, seed }) in jobs.iter().enumerate() {
        let path = set.path(&data);
        let request = serde_json::json!({ "method": method, "table": path, "seed": seed }).to_string();
        let answer = worker.ask(&request)?;
        if let Some(error) = answer.get("error") {
            eprintln!("{method} fails on {}, seed {seed}: {error}", set.name);
            continue;
        }
        let answer: Answer = serde_json::from_value(answer).context("peers.py gave an unknown answer")?;
        let run = PeerRun {
            method: method.to_string(),
            version: answer.version,
            set: set.name.into(),
            seed: *seed,
            auc: answer.auc,
            ap: answer.ap,
            fit_seconds: answer.fit_seconds,
            score_seconds: answer.score_seconds,
            fitted_rows: answer.fitted_rows,
            rows: answer.rows,
            commit: commit.clone(),
            cpu: cpu.clone(),
        };
        store.append(&run)?;
        eprintln!(
            "{}/{} {method} on {}, seed {seed}: AUC {:.2}, AP {:.2}",
            index + 1,
            jobs.len(),
            set.name,
            run.auc,
            run.ap
        );
    }
    Ok(())
}

/// The jobs without a run, seed by seed, set by set.
fn missing(sets: &[Set], methods: &[&'static str], done: &[PeerRun]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for seed in SEEDS {
        for set in sets {
            for &method in methods {
                let needless = seed != SEEDS[0] && STEADY.contains(&method);
                let is_done =
                    done.iter().any(|run| run.method == method && run.set == set.name && run.seed == seed);
                if !needless && !is_done {
                    jobs.push(Job { method, set: *set, seed });
                }
            }
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
        let complete: Vec<&Vec<f64>> = columns.iter().flatten().collect();
        let by_set: Vec<Vec<f64>> = (0..sets.len())
            .map(|set| ranks(&complete.iter().map(|column| round1(column[set])).collect::<Vec<_>>()))
            .collect();
        let mut rank = (0..complete.len())
            .map(|method| mean(&by_set.iter().map(|ranks| ranks[method]).collect::<Vec<_>>()));
        let cells: Vec<String> = columns
            .iter()
            .map(|column| number(column.as_ref().and_then(|_| rank.next().flatten()), 1))
            .collect();
        grid.push([format!("**mean rank, {} of {title}**", sets.len())].into_iter().chain(cells));
    }
    grid
}

fn csv(runs: &[PeerRun]) -> String {
    let mut grid = Grid::new(["set", "method", "version", "seeds", "auc", "ap", "fitted_rows", "rows"]);
    for set in &sets::SETS {
        for method in std::iter::once(OURS).chain(METHODS) {
            let of_method: Vec<_> =
                runs.iter().filter(|run| run.method == method && run.set == set.name).collect();
            let Some(first) = of_method.first() else { continue };
            grid.push([
                set.name.to_string(),
                method.to_string(),
                first.version.clone(),
                of_method.len().to_string(),
                number(average(runs, method, set, |run| run.auc), 3),
                number(average(runs, method, set, |run| run.ap), 3),
                first.fitted_rows.to_string(),
                first.rows.to_string(),
            ]);
        }
    }
    grid.csv()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(method: &str, set: &str, seed: u64, auc: f64) -> PeerRun {
        PeerRun {
            method: method.into(),
            version: "1".into(),
            set: set.into(),
            seed,
            auc,
            ap: 1.0,
            fit_seconds: 0.0,
            score_seconds: 0.0,
            fitted_rows: 1,
            rows: 1,
            commit: "c1".into(),
            cpu: "a CPU".into(),
        }
    }

    #[test]
    fn steady_methods_have_one_seed_and_finished_runs_are_skipped() {
        let sets = [sets::find("vowels").expect("a set")];
        let jobs = missing(&sets, &["IForest", "ECOD"], &[sample("IForest", "vowels", 1000, 70.0)]);
        let left: Vec<_> = jobs.iter().map(|job| (job.method, job.seed)).collect();
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
        let text = grid(&runs, |run| run.auc).markdown(1);
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
        let text = grid(&runs, |run| run.auc).markdown(1);
        assert!(
            text.contains("| **mean rank, 2 of the paper's sets** | 1.8 | 1.2 | – | – | – | – |"),
            "{text}"
        );
    }
}
