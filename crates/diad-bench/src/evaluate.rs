//! One run: fit on all rows without labels, score the same rows, compare with the labels.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use diad::table::{FileSource, Source};
use diad::{Detector, Params, metrics};

use crate::data::{LABEL, labelled, load, with_noise};
use crate::environment;
use crate::options::digest;
use crate::runs::{Run, Store};
use crate::sets::Set;

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

/// All jobs, seed by seed, so that a benchmark stopped early has a whole table of few seeds.
pub fn jobs(sets: &[Set], noise: usize, seeds: u64) -> Vec<Job> {
    (0..seeds)
        .flat_map(|seed| {
            let wanted = sets.iter().filter(move |set| seed < set.seeds(seeds));
            wanted.map(move |set| Job { set: *set, noise, seed })
        })
        .collect()
}

/// Does the jobs that the store does not have yet, and stores each as it ends.
///
/// # Errors
/// If a set cannot be read or fitted, or the store cannot be written.
pub fn run_missing(jobs: &[Job], params: &Params, data: &Path, store: &Store<Run>) -> Result<()> {
    let settings = digest(params)?;
    let missing = missing(jobs, &store.load()?, &settings);
    let commit = environment::commit();
    for (index, job) in missing.iter().enumerate() {
        let run = do_job(job, params, data, &commit).with_context(|| format!("{} failed", job.set.name))?;
        store.append(&run)?;
        let noise = if job.noise > 0 { " with noise" } else { "" };
        let (name, seed, count) = (job.set.name, job.seed, missing.len());
        eprintln!(
            "{}/{count} {name}{noise}, seed {seed}: AUC {:.2}, AP {:.2}, {:.1} s",
            index + 1,
            run.auc,
            run.ap,
            run.fit_seconds
        );
    }
    Ok(())
}

/// The jobs without a run of those settings, in order.
fn missing(jobs: &[Job], done: &[Run], settings: &str) -> Vec<Job> {
    let is_done = |job: &Job| done.iter().any(|run| run.is(job.set.name, job.noise, job.seed, settings));
    jobs.iter().copied().filter(|job| !is_done(job)).collect()
}

fn do_job(job: &Job, params: &Params, data: &Path, commit: &str) -> Result<Run> {
    let file = FileSource::new(job.set.path(data));
    let noisy;
    let source: &dyn Source = if job.noise > 0 {
        noisy = with_noise(&load(&file, &labelled())?, job.noise, job.seed)?;
        &noisy
    } else {
        &file
    };
    let asked = Asked { name: job.set.name, label: LABEL, noise: job.noise, seed: job.seed };
    let run = evaluate(&asked, source, params, commit)?;
    ensure!(run.rows == job.set.rows, "it has {} rows, not {}", run.rows, job.set.rows);
    Ok(run)
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

/// Fits all rows of a table without its labels, scores them, and compares the scores with the labels.
///
/// # Errors
/// If the table cannot be read or fitted, or its labels are all alike.
pub fn evaluate(asked: &Asked, source: &dyn Source, params: &Params, commit: &str) -> Result<Run> {
    let params = params.clone().seed(asked.seed);
    let training = params.fitting(source).ignore(asked.label).read()?;
    let features = training.encoder().columns().len();
    let start = Instant::now();
    let detector = training.run()?;
    let fit_seconds = start.elapsed().as_secs_f64();

    let (labels, scores) = score(&detector, source, asked.label)?;
    let auc = metrics::roc_auc(&labels, &scores).context("the labels are all alike")?;
    let ap = metrics::average_precision(&labels, &scores).context("there are no anomalies")?;
    Ok(Run {
        set: asked.name.into(),
        noise: asked.noise,
        seed: asked.seed,
        auc: 100.0 * auc,
        ap: 100.0 * ap,
        fit_seconds,
        rows: labels.len(),
        features,
        settings: digest(&params)?,
        commit: commit.into(),
        cpu: environment::machine(),
    })
}

/// The labels and the scores of all rows, read batch by batch.
fn score(detector: &Detector, source: &dyn Source, label: &str) -> Result<(Vec<bool>, Vec<f32>)> {
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
        let left: Vec<_> = missing(&jobs, &done, "s1").iter().map(|job| (job.set.name, job.seed)).collect();
        assert_eq!(left, [("donors", 0), ("vowels", 1)]);
        assert_eq!(missing(&jobs, &done, "s2").len(), 4);
    }
}
