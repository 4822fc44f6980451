//! Whether p-values and false discovery rates keep what they promise on rows that a fit has not seen.

use anyhow::{Context, Result};
use clap::Args;
use diad::Alert;
use diad::calibrate::Threshold;
use diad::table::Table;
use serde::{Deserialize, Serialize};

use super::regressions::tables::{Group, Protocol, Task};
use crate::data::LABEL;
use crate::evaluate::{fit, score};
use crate::render::{Grid, number};
use crate::stats::{mean, standard_error};
use crate::study::{Bench, Made, Page, Study};

/// The levels at which p-values are looked at, and the false discovery rates.
const LEVELS: [f64; 4] = [0.2, 0.1, 0.05, 0.01];
const RATES: [f64; 3] = [0.05, 0.1, 0.2];
/// Shares of anomalies that are put among the training rows, in %.
const CONTAMINATIONS: [u32; 4] = [0, 1, 5, 10];

/// P-values and false discovery rates on tables never seen.
#[derive(Debug, Args)]
pub struct Alerts {
    /// Only these shares of anomalies among the training rows, in %.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    contamination: Vec<u32>,
}

/// One fit on one table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AlertRun {
    set: String,
    /// Anomalies among the training rows, in %.
    contamination: u32,
    /// Rows of the calibration, and normal test rows.
    calibration: usize,
    normals: usize,
    /// The share of normal test rows with a p-value of each level or less.
    shares: [f64; LEVELS.len()],
    /// The share of false alerts among all at each rate (0 without alerts), and the share of anomalies that are alerts.
    false_share: [f64; RATES.len()],
    power: [f64; RATES.len()],
    #[serde(flatten)]
    made: Made,
}

/// The same of nonconform, measured by `python/conformal.py`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct PeerRun {
    set: String,
    contamination: u32,
    method: String,
    false_share: [f64; RATES.len()],
    power: [f64; RATES.len()],
}

impl Study for Alerts {
    const NAME: &'static str = "alerts";
    type Case = (Task, u32);
    type Row = AlertRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Self::Case>> {
        let mut tasks = Group::Oddbench.tasks(&bench.options.data()?)?;
        tasks.retain(|task| task.protocol == Protocol::New && bench.options.wants(&task.set));
        let wanted = |share: &&u32| self.contamination.is_empty() || self.contamination.contains(share);
        let shares = CONTAMINATIONS.iter().filter(wanted);
        Ok(shares.flat_map(|&share| tasks.iter().map(move |task| (task.clone(), share))).collect())
    }

    fn is_done(&self, (task, share): &Self::Case, run: &AlertRun, bench: &Bench) -> bool {
        run.set == task.set && run.contamination == *share && run.made.is_of(bench)
    }

    fn measure(&self, (task, share): &Self::Case, bench: &Bench) -> Result<Option<AlertRun>> {
        let [clean, test] = task.tables(&bench.options.data()?)?;
        let (fitted, test) = contaminated(clean, test, *share)?;
        let detector =
            fit(&bench.params, &fitted, &[LABEL]).with_context(|| format!("{} failed", task.set))?;
        let (labels, scores) = score(&detector, &test, LABEL)?;
        let calibration = detector.calibration();
        let normal: Vec<f32> =
            labels.iter().zip(&scores).filter(|(label, _)| !**label).map(|(_, &s)| s).collect();
        let within = |level: f64| {
            let found = normal.iter().filter(|&&score| calibration.p_value(score).value <= level).count();
            found as f64 / normal.len().max(1) as f64
        };
        let found = RATES.map(|rate| discoveries(rate, &labels, &scores, calibration));
        let found: Vec<[f64; 2]> = found.into_iter().collect::<Result<_>>()?;
        let figure = |which: usize| -> [f64; RATES.len()] { [0, 1, 2].map(|rate: usize| found[rate][which]) };
        Ok(Some(AlertRun {
            set: task.set.clone(),
            contamination: *share,
            calibration: calibration.scores().len(),
            normals: normal.len(),
            shares: LEVELS.map(within),
            false_share: figure(0),
            power: figure(1),
            made: bench.made(),
        }))
    }

    fn words(run: &AlertRun) -> String {
        let AlertRun { set, contamination, shares, false_share, power, .. } = run;
        format!("{set}, {contamination} %: p {shares:.3?}, false {false_share:.3?}, power {power:.3?}")
    }

    fn page(&self, mut runs: Vec<AlertRun>, bench: &Bench) -> Result<Page> {
        runs.retain(|run| run.made.is_of(bench));
        let (levels, level_csv) = levels(&runs);
        let peers: Vec<PeerRun> = bench.rows("nonconform")?;
        let rates = rates(&runs, &peers);
        let text = format!(
            "# P-values and false discovery rates\n\nOddBench tables, fitted on clean rows, or on clean rows with some anomalies among them; \
             looked at on other rows.\n\nThe share of normal rows with a p-value of a level or less, mean ± standard error over tables, and the share \
             of tables on which it is within two standard errors of the level (the test rows' and the calibration's).\n\n{}\n\nFalse alerts among all \
             alerts (`--alert fdr=`), and anomalies that are alerts, mean ± standard error over tables. nonconform is given the same tables with the \
             same anomalies among the training rows. It wraps scikit-learn's isolation forest with its default settings, as its guide does, with a \
             third of the training rows held out (Split) or in five folds (CrossValidation).\n\n{}",
            levels.markdown(2),
            rates.markdown(2)
        );
        let commands = vec![bench.command("alerts --data DIR")];
        let commits = runs.into_iter().map(|run| run.made.commit).collect();
        Ok(Page { text, commands, commits, csv: level_csv, picture: None })
    }
}

/// Moves anomalies of the test rows to the training rows, until they are such a share (in %) of them.
fn contaminated(fitted: Table, test: Table, share: u32) -> Result<(Table, Table)> {
    let labels = test.column_named(LABEL).context("there is no label column")?.to_vec();
    let wanted = fitted.rows() as f64 * f64::from(share) / (100.0 - f64::from(share));
    let anomalies: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] > 0.5).collect();
    // Half of them stay to be found.
    let moved = (wanted.round() as usize).min(anomalies.len() / 2);
    let moved: Vec<usize> = anomalies.iter().step_by(2).take(moved).copied().collect();
    let column = |index: usize| {
        let own = fitted.column(index).iter().copied();
        own.chain(moved.iter().map(|&row| test.column(index)[row])).collect::<Vec<f64>>()
    };
    let kept = |index: usize| {
        let stays = (0..test.rows()).filter(|row| !moved.contains(row));
        stays.map(|row| test.column(index)[row]).collect::<Vec<f64>>()
    };
    let names = || fitted.names().to_vec();
    let all = 0..fitted.names().len();
    Ok((
        Table::new(names(), all.clone().map(column).collect())?,
        Table::new(names(), all.map(kept).collect())?,
    ))
}

/// The share of false alerts among all, and of anomalies that are alerts.
fn discoveries(
    rate: f64,
    labels: &[bool],
    scores: &[f32],
    calibration: &diad::Calibration,
) -> Result<[f64; 2]> {
    let threshold = Threshold::find(Alert::Fdr(rate), calibration, scores, None)?;
    let alerts: Vec<bool> =
        labels.iter().zip(scores).filter(|(_, s)| threshold.is_alert(**s)).map(|(l, _)| *l).collect();
    let right = alerts.iter().filter(|&&label| label).count() as f64;
    let anomalies = labels.iter().filter(|&&label| label).count();
    Ok([(alerts.len() as f64 - right) / alerts.len().max(1) as f64, right / anomalies.max(1) as f64])
}

fn levels(runs: &[AlertRun]) -> (Grid, Grid) {
    let mut grid = Grid::new(["anomalies in training", "level", "share", "± ", "tables within", "tables"]);
    let mut csv = Grid::new(["contamination", "level", "share", "standard_error", "within", "tables"]);
    for share in CONTAMINATIONS {
        let runs: Vec<&AlertRun> = runs.iter().filter(|run| run.contamination == share).collect();
        for (place, level) in LEVELS.iter().enumerate().filter(|_| !runs.is_empty()) {
            let found: Vec<f64> = runs.iter().map(|run| run.shares[place]).collect();
            let within = |run: &&&AlertRun| {
                let rows = 1.0 / run.normals.max(1) as f64 + 1.0 / run.calibration.max(1) as f64;
                run.shares[place] <= level + 2.0 * (level * (1.0 - level) * rows).sqrt()
            };
            let within = runs.iter().filter(within).count() as f64 / runs.len() as f64;
            let error = standard_error(&found);
            let cells =
                [number(mean(&found), 4), number(error, 4), number(Some(within), 3), runs.len().to_string()];
            let [a, b, c, d] = cells;
            grid.push([format!("{share} %"), level.to_string(), a.clone(), b.clone(), c.clone(), d.clone()]);
            csv.push([share.to_string(), level.to_string(), a, b, c, d]);
        }
    }
    (grid, csv)
}

fn rates(runs: &[AlertRun], peers: &[PeerRun]) -> Grid {
    let mut grid = Grid::new(["anomalies in training", "rate", "of", "false", "± ", "power", "tables"]);
    let mut methods: Vec<&str> = peers.iter().map(|run| run.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    let figures = |share: u32, method: Option<&str>| -> Vec<([f64; RATES.len()], [f64; RATES.len()])> {
        match method {
            None => {
                let runs = runs.iter().filter(|run| run.contamination == share);
                runs.map(|run| (run.false_share, run.power)).collect()
            }
            Some(method) => {
                let runs = peers.iter().filter(|run| run.contamination == share && run.method == method);
                runs.map(|run| (run.false_share, run.power)).collect()
            }
        }
    };
    for share in CONTAMINATIONS {
        for (place, rate) in RATES.iter().enumerate() {
            for method in [None].into_iter().chain(methods.iter().copied().map(Some)) {
                let found = figures(share, method);
                if found.is_empty() {
                    continue;
                }
                let falses: Vec<f64> = found.iter().map(|(falses, _)| falses[place]).collect();
                let power: Vec<f64> = found.iter().map(|(_, power)| power[place]).collect();
                grid.push([
                    format!("{share} %"),
                    rate.to_string(),
                    method.map_or_else(|| "DIAD".into(), |method| format!("nonconform, {method}")),
                    number(mean(&falses), 4),
                    number(standard_error(&falses), 4),
                    number(mean(&power), 3),
                    found.len().to_string(),
                ]);
            }
        }
    }
    grid
}
