//! One first model per set and split, tuned in every way with every number of labels.

use std::collections::HashSet;
use std::time::Instant;

use anyhow::{Context, Result};
use diad::table::{FileSource, Table};
use diad::{Detector, Labelled, Params};
use serde::{Deserialize, Serialize};

use super::Case;
use super::split::{Split, features, with_labels};
use super::variants::{Validation, Variant};
use crate::data::{LABEL, labelled, load};
use crate::environment;
use crate::evaluate::{accuracy, fit};
use crate::options::{digest, hash};
use crate::study::Bench;

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

/// The digest of a way of tuning a first model.
///
/// # Errors
/// If the settings cannot be written as JSON.
pub fn settings(params: &Params, variant: Option<&Variant>) -> Result<String> {
    let first = digest(params)?;
    let Some(variant) = variant else { return Ok(first) };
    let text = serde_json::to_string(&variant.stored())?;
    let text = hash(&text);
    Ok(format!("{first}-{text:016x}-{:?}-{}", variant.validation, variant.anomalies_only))
}

/// A split of a set, and the model fitted on its training rows without labels.
#[derive(Debug)]
pub struct First {
    set: &'static str,
    number: u64,
    table: Table,
    labels: Vec<bool>,
    split: Split,
    detector: Detector,
    test: Table,
    test_labels: Vec<bool>,
}

impl First {
    /// Reads the set and fits the training rows of the split.
    ///
    /// # Errors
    /// If the set cannot be read or fitted.
    pub fn new(case: &Case, bench: &Bench) -> Result<Self> {
        let table = load(&FileSource::new(bench.path(&case.set)?), &labelled())?;
        let column = table.column_named(LABEL).context("there is no label column")?;
        let labels: Vec<bool> = column.iter().map(|label| *label > 0.5).collect();
        let split = Split::new(labels.len(), case.split);
        let params = bench.params.clone().seed(case.split);
        let detector = fit(&params, &features(&table, &split.training)?, &[])?;
        let test = features(&table, &split.test)?;
        let test_labels = split.test.iter().map(|&row| labels[row]).collect();
        Ok(Self { set: case.set.name, number: case.split, table, labels, split, detector, test, test_labels })
    }

    /// Whether it is of that case's split and set.
    pub fn is(&self, case: &Case) -> bool {
        self.set == case.set.name && self.number == case.split
    }

    /// Tunes it in one way, or not at all, and scores the test rows.
    ///
    /// # Errors
    /// If tuning fails or the test labels are all alike.
    pub fn measure(
        &self,
        case: &Case,
        variant: Option<&Variant>,
        digest: &str,
        bench: &Bench,
    ) -> Result<LabelRun> {
        let rows = self.split.labelled(&self.labels, case.anomalies);
        let tuned = variant.map(|variant| self.tune(variant, &rows)).transpose()?;
        let (detector, seconds) = tuned.as_ref().map_or((&self.detector, 0.0), |(tuned, s)| (tuned, *s));
        let [auc, ap] = accuracy(&self.test_labels, &detector.score(&self.test)?)?;
        Ok(LabelRun {
            method: case.method.name().into(),
            set: self.set.into(),
            split: self.number,
            anomalies: case.anomalies,
            labelled: rows.len(),
            auc,
            ap,
            seconds,
            settings: digest.into(),
            commit: bench.commit.clone(),
            cpu: environment::machine(),
        })
    }

    /// The detector tuned in one way, and the seconds it took.
    fn tune(&self, variant: &Variant, rows: &[usize]) -> Result<(Detector, f64)> {
        let Self { table, labels, split, detector: first, .. } = self;
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
}
