//! Whether reasons are small, the same with another seed, and shared by a column and its copy.

mod attribution;
mod page;

use anyhow::{Context, Result};
use clap::Args;
use diad::Detector;
use diad::explain::Explainer;
use diad::table::{FileSource, Source, Table};
use serde::{Deserialize, Serialize};

use self::attribution::{Rows, copied};
use super::regressions::tables::{Group, Task};
use crate::data::{LABEL, labelled};
use crate::evaluate::fit;
use crate::options::known;
use crate::stats::{median, quantile};
use crate::study::{Bench, Made, Page, Study};

const GROUPS: [Group; 3] = [Group::Paper, Group::Extra, Group::Adbench];
/// Of larger tables, every second or third row is taken, and so on, until there are no more than this.
const ROWS: u64 = 20_000;
/// The share of the rows that are explained, those with the highest scores, and how many at least.
const TOP: f64 = 0.01;
const LEAST: usize = 5;

/// Reasons.
#[derive(Debug, Args)]
pub struct Reasons {}

/// What was found on a table, over the rows with the highest scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReasonsRun {
    #[serde(flatten)]
    task: Task,
    rows: usize,
    columns: usize,
    terms: usize,
    /// The sum of the sizes of all contributions over the size of their sum: median and 99 % quantile.
    inflation: [f64; 2],
    /// The median rank correlation of contributions with those of another seed.
    agreement: f64,
    /// The share of the rows whose first reason is the same with another seed.
    same_first: f64,
    /// With a copy of the column that raises scores most, medians: how much less of the sum is due to it, how differently
    /// the two copies have it, and by how much another term's share moved at most.
    lost: f64,
    uneven: f64,
    moved: f64,
    #[serde(flatten)]
    made: Made,
}

impl Study for Reasons {
    const NAME: &'static str = "reasons";
    type Case = Task;
    type Row = ReasonsRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Task>> {
        let data = bench.options.data()?;
        let mut tasks = Vec::new();
        for group in GROUPS {
            tasks.extend(group.tasks(&data)?);
        }
        let names: Vec<&str> = tasks.iter().map(|task| task.set.as_str()).collect();
        known("set", &bench.options.sets, &names)?;
        Ok(tasks.iter().filter(|task| bench.options.wants(&task.set)).cloned().collect())
    }

    fn is_done(&self, task: &Task, run: &ReasonsRun, bench: &Bench) -> bool {
        run.task == *task && run.made.is_of(bench)
    }

    fn measure(&self, task: &Task, bench: &Bench) -> Result<Option<ReasonsRun>> {
        let table = every(&FileSource::new(task.path(&bench.options.data()?)), ROWS)
            .with_context(|| format!("cannot read {}", task.set))?;
        let fitted = |seed: u64, table: &Table| fit(&bench.params.clone().seed(seed), table, &[LABEL]);
        let first = fitted(0, &table)?;
        let top = top(&first.score(&table)?);
        let explained = |detector: &Detector, table: &Table| -> Result<Rows> {
            let explainer = Explainer::new(detector);
            Ok(Rows::new(&explainer, &explainer.contributions(&detector.pick(table, &top)?)?))
        };
        let rows = explained(&first, &table)?;
        let other = explained(&fitted(1, &table)?, &table)?;
        let column = rows.most_blamed();
        let twice = copied(&table, &column)?;
        let copied = explained(&fitted(0, &twice)?, &twice)?;
        let shift = rows.shift(&copied, &column);
        let inflation = rows.inflation();
        let agreement = rows.agreement(&other);
        let middle = |values: &[f64]| median(values).unwrap_or(f64::NAN);
        Ok(Some(ReasonsRun {
            task: task.clone(),
            rows: table.rows(),
            columns: first.encoder().columns().len(),
            terms: rows.terms(),
            inflation: [0.5, 0.99].map(|share| quantile(&inflation, share).unwrap_or(f64::NAN)),
            agreement: middle(&agreement),
            same_first: rows.same_first(&other),
            lost: middle(&shift.lost),
            uneven: middle(&shift.uneven),
            moved: middle(&shift.moved),
            made: bench.made(),
        }))
    }

    fn words(run: &ReasonsRun) -> String {
        let [middle, high] = run.inflation;
        format!(
            "{}: inflation {middle:.2} and {high:.2}, agreement {:.2}, first the same {:.2}; a copy loses {:.2}, uneven {:.2}, others {:.3}",
            run.task.set, run.agreement, run.same_first, run.lost, run.uneven, run.moved
        )
    }

    fn page(&self, mut runs: Vec<ReasonsRun>, bench: &Bench) -> Result<Page> {
        runs.retain(|run| run.made.is_of(bench));
        runs.sort_by(|a, b| a.task.cmp(&b.task));
        Ok(Page {
            text: page::text(&runs),
            commands: vec![bench.command("reasons --data DIR")],
            csv: page::csv(&runs),
            commits: runs.into_iter().map(|run| run.made.commit).collect(),
            picture: None,
        })
    }
}

/// The rows with the highest scores.
fn top(scores: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(((TOP * scores.len() as f64) as usize).max(LEAST));
    order
}

/// Every so many-th row of a source, so that there are no more than `most`.
fn every(source: &dyn Source, most: u64) -> Result<Table> {
    let selection = labelled();
    let mut reader = source.open(&selection)?;
    let all = match reader.rows() {
        Some(rows) => rows,
        None => crate::data::load(source, &selection)?.rows() as u64,
    };
    let step = all.div_ceil(most).max(1) as usize;
    let names = reader.names().to_vec();
    let mut columns = vec![Vec::new(); names.len()];
    let mut first = 0;
    while let Some(batch) = reader.next_batch()? {
        let skipped = (step - first % step) % step;
        for (index, column) in columns.iter_mut().enumerate() {
            column.extend(batch.column(index).iter().skip(skipped).step_by(step));
        }
        first += batch.rows();
    }
    Ok(Table::new(names, columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_tables_are_thinned_evenly() {
        let columns = vec![(0..25_000).map(f64::from).collect(), vec![0.0; 25_000]];
        let table = Table::new(vec!["x".into(), LABEL.into()], columns).expect("a table");
        let thinned = every(&table, 10_000).expect("read");
        assert_eq!(thinned.rows(), 8334);
        assert!(thinned.column(0).windows(2).all(|two| two[1] - two[0] == 3.0));
        assert_eq!(every(&table, 25_000).expect("read").rows(), 25_000);
    }

    #[test]
    fn the_highest_scores_come_first() {
        let scores: Vec<f32> = (0..1000).map(|row| (row * 7 % 1000) as f32).collect();
        let top = top(&scores);
        assert_eq!((top.len(), scores[top[0]], scores[top[9]]), (10, 999.0, 990.0));
        assert_eq!(super::top(&scores[..20]).len(), LEAST);
    }
}
