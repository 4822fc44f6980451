//! One run: fit on all rows without labels, score the same rows, compare with the labels.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use diad::encode::Roles;
use diad::table::{FileSource, Source};
use diad::{Detector, Params, metrics};

use crate::data::{LABEL, labelled, load, with_noise};
use crate::environment;
use crate::runs::Run;
use crate::sets::Set;
use crate::study::Bench;

/// A run to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Job {
    /// The data set.
    pub set: Set,
    /// Columns of noise to add.
    pub noise: usize,
    /// Seed of the fit, and of the noise.
    pub seed: u64,
}

/// What studies whose cases are jobs have in common, for their `impl Study`.
macro_rules! by_jobs {
    () => {
        type Case = $crate::evaluate::Job;
        type Row = $crate::runs::Run;

        fn is_done(&self, job: &Self::Case, run: &Self::Row, bench: &$crate::study::Bench) -> bool {
            job.is(run, &bench.settings)
        }

        fn measure(
            &self,
            job: &Self::Case,
            bench: &$crate::study::Bench,
        ) -> anyhow::Result<Option<Self::Row>> {
            job.run(bench).map(Some)
        }

        fn words(run: &Self::Row) -> String {
            run.words()
        }
    };
}
pub(crate) use by_jobs;

/// All jobs, seed by seed, so that a benchmark stopped early has a whole table of few seeds.
pub fn jobs(sets: &[Set], noise: usize, seeds: u64) -> Vec<Job> {
    (0..seeds)
        .flat_map(|seed| {
            let wanted = sets.iter().filter(move |set| seed < set.seeds(seeds));
            wanted.map(move |set| Job { set: *set, noise, seed })
        })
        .collect()
}

impl Job {
    /// Whether the run is of this job, with those settings.
    pub fn is(&self, run: &Run, settings: &str) -> bool {
        run.is(self.set.name, self.noise, self.seed, settings)
    }

    /// Does it.
    ///
    /// # Errors
    /// If the set cannot be read or fitted.
    pub fn run(&self, bench: &Bench) -> Result<Run> {
        let file = FileSource::new(bench.path(&self.set)?);
        let noisy;
        let source: &dyn Source = if self.noise > 0 {
            noisy = with_noise(&load(&file, &labelled())?, self.noise, self.seed)?;
            &noisy
        } else {
            &file
        };
        let asked = Asked { name: self.set.name, label: LABEL, noise: self.noise, seed: self.seed };
        let run = evaluate(&asked, source, bench).with_context(|| format!("{} failed", self.set.name))?;
        ensure!(run.rows == self.set.rows, "it has {} rows, not {}", run.rows, self.set.rows);
        Ok(run)
    }
}

/// What a run is asked for.
#[derive(Debug)]
pub struct Asked<'a> {
    /// What the run is called.
    pub name: &'a str,
    /// The column with the labels.
    pub label: &'a str,
    /// Columns of noise that the table has.
    pub noise: usize,
    /// Seed of the fit.
    pub seed: u64,
}

/// Fits a table without the columns named.
///
/// # Errors
/// If the table cannot be read or fitted.
pub fn fit(params: &Params, source: &dyn Source, except: &[&str]) -> Result<Detector> {
    let roles = except.iter().fold(Roles::default(), |roles, &name| roles.ignore(name));
    Ok(params.fitting(source).roles(roles).run()?)
}

/// ROC-AUC and average precision of scores, in %.
///
/// # Errors
/// If the labels are all alike.
pub fn accuracy(labels: &[bool], scores: &[f32]) -> Result<[f64; 2]> {
    let auc = metrics::roc_auc(labels, scores).context("the labels are all alike")?;
    let ap = metrics::average_precision(labels, scores).context("there are no anomalies")?;
    Ok([100.0 * auc, 100.0 * ap])
}

/// Fits all rows of a table without its labels, scores them, and compares the scores with the labels.
///
/// # Errors
/// If the table cannot be read or fitted, or its labels are all alike.
pub fn evaluate(asked: &Asked, source: &dyn Source, bench: &Bench) -> Result<Run> {
    let params = bench.params.clone().seed(asked.seed);
    let training = params.fitting(source).ignore(asked.label).read()?;
    let features = training.encoder().columns().len();
    let start = Instant::now();
    let detector = training.run()?;
    let fit_seconds = start.elapsed().as_secs_f64();

    let (labels, scores) = score(&detector, source, asked.label)?;
    let [auc, ap] = accuracy(&labels, &scores)?;
    Ok(Run {
        set: asked.name.into(),
        noise: asked.noise,
        seed: asked.seed,
        auc,
        ap,
        fit_seconds,
        rows: labels.len(),
        features,
        settings: bench.settings.clone(),
        commit: bench.commit.clone(),
        cpu: environment::machine(),
    })
}

/// The labels and the scores of all rows, read batch by batch.
///
/// # Errors
/// If the table cannot be read or has no labels.
pub fn score(detector: &Detector, source: &dyn Source, label: &str) -> Result<(Vec<bool>, Vec<f32>)> {
    let (mut labels, mut scores) = (Vec::new(), Vec::new());
    let mut reader = source.open(&detector.encoder().selection().with_label(label))?;
    while let Some(batch) = reader.next_batch()? {
        let column = batch.column_named(label).context("there is no label column")?;
        labels.extend(column.iter().map(|value| *value > 0.5));
        scores.extend(detector.score(&batch)?);
    }
    Ok((labels, scores))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::sample;
    use crate::sets;

    fn two() -> Vec<Set> {
        vec![sets::find("vowels").expect("a set"), sets::find("donors").expect("a set")]
    }

    #[test]
    fn work_is_ordered_by_seed_and_large_sets_stop_early() {
        let order: Vec<_> = jobs(&two(), 0, 6).iter().map(|job| (job.set.name, job.seed)).collect();
        assert_eq!(order[..4], [("vowels", 0), ("donors", 0), ("vowels", 1), ("donors", 1)]);
        assert_eq!(order[8..], [("vowels", 4), ("vowels", 5)]);
    }

    #[test]
    fn finished_runs_are_skipped_only_with_the_same_settings() {
        let jobs = jobs(&two(), 0, 2);
        let done = [sample("vowels", 0, 80.0), sample("donors", 1, 80.0)];
        let missing = |settings: &str| {
            let left = jobs.iter().filter(|job| !done.iter().any(|run| job.is(run, settings)));
            left.map(|job| (job.set.name, job.seed)).collect::<Vec<_>>()
        };
        assert_eq!(missing("s1"), [("donors", 0), ("vowels", 1)]);
        assert_eq!(missing("s2").len(), 4);
    }
}
