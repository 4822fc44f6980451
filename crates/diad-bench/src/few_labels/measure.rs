//! Runs what is missing: one first model per set and split, tuned in every way with every number of labels.

use std::collections::HashSet;
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use diad::table::{FileSource, Table};
use diad::{Detector, Labelled, Params, metrics};
use serde::{Deserialize, Serialize};

use super::split::{Split, features, with_labels};
use super::variants::{UNTUNED, Validation, Variant};
use crate::data::{LABEL, labelled, load};
use crate::environment;
use crate::options::digest;
use crate::runs::Store;
use crate::sets::Set;

/// Numbers of labelled anomalies.
pub const ANOMALIES: [usize; 5] = [5, 15, 30, 60, 120];
/// Unlabelled rows given beside the labelled ones.
const UNKNOWN_ROWS: usize = 4000;

/// One tuning, or one peer, on one split of one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelRun {
    /// The way of tuning, or the peer.
    pub method: String,
    /// The data set.
    pub set: String,
    /// Which split.
    pub split: u64,
    /// Labelled anomalies asked for; 0 for the first model.
    pub anomalies: usize,
    /// Labelled rows there were.
    pub labelled: usize,
    /// ROC-AUC on the test rows in %.
    pub auc: f64,
    /// Average precision on the test rows in %.
    pub ap: f64,
    /// Seconds of the tuning.
    pub seconds: f64,
    /// Digest of all settings, or a peer's version.
    pub settings: String,
    /// The commit the program was run at.
    pub commit: String,
    /// The machine's CPU and threads.
    pub cpu: String,
}

impl LabelRun {
    /// Whether it is that run.
    pub fn is(&self, method: &str, set: &str, split: u64, anomalies: usize) -> bool {
        self.method == method && self.set == set && self.split == split && self.anomalies == anomalies
    }
}

/// Everything DIAD is asked to do on one split of one set.
struct Job<'a> {
    set: Set,
    split: u64,
    /// Ways of tuning with the number of labelled anomalies and the digest of all settings; none for the first model.
    wanted: Vec<(Option<&'a Variant>, usize, String)>,
}

/// The digest of a way of tuning a first model.
///
/// # Errors
/// If the settings cannot be written as JSON.
pub fn settings(params: &Params, variant: Option<&Variant>) -> Result<String> {
    let first = digest(params)?;
    let Some(variant) = variant else { return Ok(first) };
    let text = serde_json::to_string(&variant.stored())?;
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    Ok(format!("{first}-{hash:016x}-{:?}-{}", variant.validation, variant.anomalies_only))
}

/// Does what the store does not have yet, split by split, and stores each run as it ends.
///
/// # Errors
/// If a set cannot be read or fitted, or the store cannot be written.
pub fn run_missing(
    sets: &[Set],
    splits: u64,
    params: &Params,
    variants: &[Variant],
    data: &Path,
    store: &Store<LabelRun>,
) -> Result<()> {
    let done = store.load()?;
    for split in 0..splits {
        for set in sets {
            let mut wanted = vec![(None, 0, settings(params, None)?)];
            for variant in variants {
                let digest = settings(params, Some(variant))?;
                wanted.extend(ANOMALIES.map(|anomalies| (Some(variant), anomalies, digest.clone())));
            }
            wanted.retain(|(variant, anomalies, digest)| {
                let name = variant.map_or(UNTUNED, |variant| variant.name);
                !done.iter().any(|run| run.is(name, set.name, split, *anomalies) && run.settings == *digest)
            });
            if !wanted.is_empty() {
                let job = Job { set: *set, split, wanted };
                measure(&job, params, data, store).with_context(|| format!("{} failed", set.name))?;
            }
        }
    }
    Ok(())
}

fn measure(job: &Job, params: &Params, data: &Path, store: &Store<LabelRun>) -> Result<()> {
    let table = load(&FileSource::new(job.set.path(data)), &labelled())?;
    let labels: Vec<bool> = table
        .column_named(LABEL)
        .context("there is no label column")?
        .iter()
        .map(|label| *label > 0.5)
        .collect();
    let split = Split::new(labels.len(), job.split);
    let mut params = params.clone();
    params.seed = job.split;
    let first = {
        let training = features(&table, &split.training)?;
        params.fit(&training)?
    };
    let test = features(&table, &split.test)?;
    let test_labels: Vec<bool> = split.test.iter().map(|&row| labels[row]).collect();
    let (commit, cpu) = (environment::commit(), environment::machine());
    for (variant, anomalies, settings) in &job.wanted {
        let rows = split.labelled(&labels, *anomalies);
        let (detector, seconds) = match variant {
            None => (None, 0.0),
            Some(variant) => {
                let (detector, seconds) = tune(&first, &table, &split, &labels, variant, &rows)?;
                (Some(detector), seconds)
            }
        };
        let scores = detector.as_ref().unwrap_or(&first).score(&test)?;
        let run = LabelRun {
            method: variant.map_or(UNTUNED, |variant| variant.name).into(),
            set: job.set.name.into(),
            split: job.split,
            anomalies: *anomalies,
            labelled: rows.len(),
            auc: 100.0 * metrics::roc_auc(&test_labels, &scores).context("the test labels are all alike")?,
            ap: 100.0
                * metrics::average_precision(&test_labels, &scores).context("there are no anomalies")?,
            seconds,
            settings: settings.clone(),
            commit: commit.clone(),
            cpu: cpu.clone(),
        };
        store.append(&run)?;
        eprintln!(
            "{}, split {}, {anomalies} anomalies, {}: AUC {:.2}, {seconds:.1} s",
            run.set, run.split, run.method, run.auc
        );
    }
    Ok(())
}

/// The detector tuned in one way, and the seconds it took.
fn tune(
    first: &Detector,
    table: &Table,
    split: &Split,
    labels: &[bool],
    variant: &Variant,
    rows: &[usize],
) -> Result<(Detector, f64)> {
    let known: Vec<usize> =
        rows.iter().copied().filter(|&row| !variant.anomalies_only || labels[row]).collect();
    let taken: HashSet<usize> = known.iter().copied().collect();
    let others = split.training.iter().copied().filter(|row| !taken.contains(row));
    let unknown: Vec<usize> = others.take(UNKNOWN_ROWS).collect();
    let known = with_labels(table, &known, &unknown)?;
    let known = Labelled::read(first, &known, LABEL)?;
    let validation = match variant.validation {
        Validation::None => None,
        Validation::Quarters(quarters) => {
            let part = &split.validation[..split.validation.len() * quarters / 4];
            Some(Labelled::read(first, &with_labels(table, part, &[])?, LABEL)?)
        }
    };
    let usable = validation.as_ref().filter(|rows| rows.anomalies() > 0 && rows.normals() > 0);
    let started = Instant::now();
    let mut best: Option<(f64, Detector)> = None;
    for learner in &variant.learners {
        let tuned = first.tuning(&known).learner(learner.clone()).validation(usable).run()?;
        let found = tuned.validation.map_or(0.0, |[_, after]| after);
        if best.as_ref().is_none_or(|(known, _)| found > *known) {
            best = Some((found, tuned.detector));
        }
    }
    let (_, detector) = best.context("a variant has no settings")?;
    Ok((detector, started.elapsed().as_secs_f64()))
}
