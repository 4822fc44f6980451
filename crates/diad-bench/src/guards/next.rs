//! Which row to label next: an oracle labels what `diad next` would ask, and the anomalies it finds are counted.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use diad::metrics::top;
use diad::table::{FileSource, Table};
use diad::{Detector, Labelled};
use serde::{Deserialize, Serialize};

use crate::data::{LABEL, labelled, load, mix};
use crate::evaluate::{fit, score};
use crate::render::{Grid, number};
use crate::stats::mean;
use crate::study::{Bench, Made, Page, Study};

/// Sets with anomalies found by AAD (coniferest) and by the highest rows of an isolation forest, in 100 queries.
const SETS: [(&str, f64, f64); 11] = [
    ("annthyroid", 92.0, 63.0),
    ("cardio", 95.0, 57.0),
    ("Cardiotocography", 94.0, 64.0),
    ("mammography", 87.0, 35.0),
    ("Pima", 71.0, 58.0),
    ("satellite", 98.0, 92.0),
    ("SpamBase", 96.0, 31.0),
    ("thyroid", 84.0, 58.0),
    ("vowels", 49.0, 14.0),
    ("yeast", 53.0, 33.0),
    ("letter", 35.0, 10.0),
];
/// Queries, and after how many of them the anomalies are counted too.
const QUERIES: usize = 100;
const FEW: usize = 30;

/// Rows to label next, with an oracle.
#[derive(Debug, Args)]
pub struct NextRows {
    /// Labels between two tunings.
    #[arg(long, default_value_t = 5)]
    every: usize,
    /// Wrong labels, in %.
    #[arg(long, default_value_t = 0)]
    wrong: u64,
}

/// One set.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NextRun {
    set: String,
    every: usize,
    wrong: u64,
    /// Anomalies among the rows asked for: the first few, and all.
    few: usize,
    all: usize,
    /// Anomalies among the highest rows of the first model.
    untuned: usize,
    /// Seconds of a tuning with the scores that follow, on average.
    seconds: f64,
    #[serde(flatten)]
    made: Made,
}

/// The file of a set, wherever it is.
fn path(bench: &Bench, set: &str) -> Result<Option<PathBuf>> {
    let data = bench.options.data()?;
    let folders = [data.clone(), data.join("adbench"), data.join("extra")];
    Ok(folders.into_iter().map(|folder| folder.join(format!("{set}.parquet"))).find(|path| path.exists()))
}

fn tuned(first: &Detector, table: &Table, labels: Vec<Option<bool>>) -> Result<Detector> {
    let labelled = Labelled::of(first, table, labels)?;
    Ok(first.tuning(&labelled).run()?.detector)
}

impl Study for NextRows {
    const NAME: &'static str = "next";
    type Case = &'static str;
    type Row = NextRun;

    fn cases(&self, bench: &Bench) -> Result<Vec<&'static str>> {
        Ok(SETS.iter().map(|(set, ..)| *set).filter(|set| bench.options.wants(set)).collect())
    }

    fn is_done(&self, set: &&'static str, run: &NextRun, bench: &Bench) -> bool {
        (run.set.as_str(), run.every, run.wrong) == (*set, self.every, self.wrong) && run.made.is_of(bench)
    }

    fn measure(&self, set: &&'static str, bench: &Bench) -> Result<Option<NextRun>> {
        let Some(path) = path(bench, set)? else { return Ok(None) };
        let table = load(&FileSource::new(path), &labelled())?;
        let first = fit(&bench.params, &table, &[LABEL]).with_context(|| format!("{set} failed"))?;
        let (truth, untuned) = score(&first, &table, LABEL)?;
        let count = |rows: &[usize]| rows.iter().filter(|&&row| truth[row]).count();
        let (mut asked, mut known, mut scores) = (Vec::new(), vec![None; truth.len()], untuned.clone());
        let (mut seconds, mut tunings) = (0.0, 0);
        while asked.len() < QUERIES.min(truth.len()) {
            let done: HashSet<usize> = asked.iter().copied().collect();
            let order = top(&scores, asked.len() + self.every);
            for row in order.into_iter().filter(|row| !done.contains(row)).take(self.every) {
                let is_wrong = mix(row as u64 ^ 0xa5a5) % 100 < self.wrong;
                known[row] = Some(truth[row] != is_wrong);
                asked.push(row);
            }
            if known.contains(&Some(true)) {
                let start = Instant::now();
                scores = score(&tuned(&first, &table, known.clone())?, &table, LABEL)?.1;
                seconds += start.elapsed().as_secs_f64();
                tunings += 1;
            }
        }
        asked.truncate(QUERIES);
        Ok(Some(NextRun {
            set: (*set).into(),
            every: self.every,
            wrong: self.wrong,
            few: count(&asked[..FEW.min(asked.len())]),
            all: count(&asked),
            untuned: count(&top(&untuned, QUERIES)),
            seconds: seconds / f64::from(tunings.max(1)),
            made: bench.made(),
        }))
    }

    fn words(run: &NextRun) -> String {
        let NextRun { set, few, all, untuned, seconds, .. } = run;
        format!("{set}: {few} in {FEW}, {all} in {QUERIES}, untuned {untuned}; {seconds:.2} s a round")
    }

    fn page(&self, mut runs: Vec<NextRun>, bench: &Bench) -> Result<Page> {
        runs.retain(|run| run.made.is_of(bench) && run.every == self.every && run.wrong == self.wrong);
        let mut grid = Grid::new([
            "set",
            "in 30",
            "in 100",
            "highest 100",
            "AAD in 100",
            "IForest's highest 100",
            "s a round",
        ]);
        for (set, aad, forest) in SETS {
            let Some(run) = runs.iter().find(|run| run.set == set) else { continue };
            let cells =
                [run.few as f64, run.all as f64, run.untuned as f64, aad, forest].map(|n| number(Some(n), 0));
            let [few, all, untuned, aad, forest] = cells;
            grid.push([set.to_owned(), few, all, untuned, aad, forest, number(Some(run.seconds), 2)]);
        }
        let average =
            |figure: fn(&NextRun) -> f64| number(mean(&runs.iter().map(figure).collect::<Vec<_>>()), 1);
        let text = format!(
            "# Which row to label next\n\nAn oracle labels the highest row that has no label yet, {} at a time between two tunings, with {} % wrong labels. Anomalies found; mean over sets: \
             {} in {FEW} queries, {} in {QUERIES}, {} among the highest {QUERIES} without labels.\n\n{}",
            self.every,
            self.wrong,
            average(|run| run.few as f64),
            average(|run| run.all as f64),
            average(|run| run.untuned as f64),
            grid.markdown(1)
        );
        let commits = runs.into_iter().map(|run| run.made.commit).collect();
        let command = format!("next --data DIR --every {} --wrong {}", self.every, self.wrong);
        Ok(Page { text, commands: vec![bench.command(&command)], commits, csv: grid, picture: None })
    }
}
