//! Our default on four groups of tables, one under two protocols, against other detectors whose figures are kept.

mod page;
mod peers;
pub(in crate::guards) mod tables;

use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use serde::{Deserialize, Serialize};

use self::page::Figures;
use self::tables::{Group, Task};
use crate::data::LABEL;
use crate::environment;
use crate::evaluate::{accuracy, fit, score};
use crate::study::{Bench, Page, Study};

/// Seeds where none are asked for.
const SEEDS: u64 = 3;
const GROUPS: [Group; 4] = [Group::Paper, Group::Extra, Group::Adbench, Group::Oddbench];

/// The default settings against other detectors.
#[derive(Debug, Args)]
pub struct Regressions {
    /// Only these groups.
    #[arg(long, value_delimiter = ',', value_name = "A,B")]
    group: Vec<Group>,
    /// Also run the other detectors where their figures are missing; needs Python.
    #[arg(long)]
    peers: bool,
}

/// One fit of ours on one table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskRun {
    /// The table.
    #[serde(flatten)]
    pub task: Task,
    /// Seed of the fit.
    pub seed: u64,
    /// ROC-AUC in %.
    pub auc: f64,
    /// Average precision in %.
    pub ap: f64,
    /// Seconds of the fit.
    pub fit_seconds: f64,
    /// Rows that were fitted.
    pub fitted: usize,
    /// Rows that were scored.
    pub scored: usize,
    /// Digest of all settings but the seed.
    pub settings: String,
    /// The commit the program was run at.
    pub commit: String,
    /// The machine's CPU and threads.
    pub cpu: String,
}

impl Regressions {
    /// The tasks asked for, group by group.
    fn tasks(&self, bench: &Bench) -> Result<Vec<Task>> {
        let data = bench.options.data()?;
        let mut tasks = Vec::new();
        for group in GROUPS.into_iter().filter(|group| self.group.is_empty() || self.group.contains(group)) {
            tasks.extend(group.tasks(&data)?);
        }
        tasks.retain(|task| bench.options.wants(&task.set));
        Ok(tasks)
    }
}

impl Study for Regressions {
    const NAME: &'static str = "regressions";
    type Case = (Task, u64);
    type Row = TaskRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<Self::Case>> {
        let tasks = self.tasks(bench)?;
        if self.peers {
            peers::measure_missing(&tasks, bench)?;
        }
        let seeds = 0..bench.seeds(SEEDS);
        Ok(seeds.flat_map(|seed| tasks.iter().map(move |task| (task.clone(), seed))).collect())
    }

    fn is_done(&self, (task, seed): &Self::Case, run: &TaskRun, bench: &Bench) -> bool {
        run.task == *task && run.seed == *seed && run.settings == bench.settings
    }

    fn measure(&self, (task, seed): &Self::Case, bench: &Bench) -> Result<Option<TaskRun>> {
        let measured = || -> Result<TaskRun> {
            let [fitted, scored] = task.tables(&bench.options.data()?)?;
            let params = bench.params.clone().seed(*seed);
            let start = Instant::now();
            let detector = fit(&params, &fitted, &[LABEL])?;
            let fit_seconds = start.elapsed().as_secs_f64();
            let (labels, scores) = score(&detector, &scored, LABEL)?;
            let [auc, ap] = accuracy(&labels, &scores)?;
            Ok(TaskRun {
                task: task.clone(),
                seed: *seed,
                auc,
                ap,
                fit_seconds,
                fitted: fitted.rows(),
                scored: scored.rows(),
                settings: bench.settings.clone(),
                commit: bench.commit.clone(),
                cpu: environment::machine(),
            })
        };
        measured().map(Some).with_context(|| format!("{} failed", task.set))
    }

    fn words(run: &TaskRun) -> String {
        let TaskRun { task: Task { group, protocol, set }, seed, auc, ap, fit_seconds, .. } = run;
        let (group, protocol) = (group.name(), protocol.name());
        format!("{group} {protocol} {set}, seed {seed}: AUC {auc:.2}, AP {ap:.2}, {fit_seconds:.1} s")
    }

    fn page(&self, mut runs: Vec<TaskRun>, bench: &Bench) -> Result<Page> {
        let seeds = bench.seeds(SEEDS);
        runs.retain(|run| run.settings == bench.settings && run.seed < seeds);
        let figures = Figures::new(&runs, &peers::read(&bench.options.out)?);
        let command = bench.command(&format!("regressions --data DIR --seeds {seeds}"));
        let commits = runs.into_iter().map(|run| run.commit);
        Ok(Page::new(page::text(&figures), page::csv(&figures), command, commits))
    }
}
