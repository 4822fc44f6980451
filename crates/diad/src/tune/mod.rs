//! Learning from a few labelled rows. The tuned detector is a new one; the first stays as it is.

mod basis;
mod blend;
mod descent;
mod functions;
mod labels;
mod lesson;
mod loss;
mod params;
mod pieces;
mod solve;
mod stairs;
mod tails;
mod weigh;

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::encode::Matrix;
use crate::metrics::roc_auc;
use crate::score::additive::Additive;
use crate::profile::{Profile, Spread};
use crate::{Detector, Error, Result};
use basis::Basis;
pub use labels::{Digest, Labelled};
use lesson::Lesson;
pub use loss::Loss;
pub use params::{Learner, TuneParams};

/// Rows of a validation table that are looked at, of each label.
const VALIDATION_ROWS: usize = 20_000;
/// Parts of the labelled rows that are held out in turn to tell how well the rest learns.
const FOLDS: usize = 5;
/// Where a tuned detector came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The identity of the first detector.
    pub model: Digest,
    /// The digest of the labelled rows and their labels.
    pub labels: Digest,
    /// Rows labelled as anomalies.
    pub anomalies: u64,
    /// Rows labelled as normal.
    pub normals: u64,
}

/// How far a tuning is.
#[derive(Debug, Clone, Copy)]
pub struct TuneProgress {
    /// Steps of the current pass that are done.
    pub done: usize,
    /// Steps of the current pass.
    pub all: usize,
}

/// A tuned detector and how it came about.
#[derive(Debug)]
pub struct Tuned {
    /// The detector.
    pub detector: Detector,
    /// Unlabelled rows that stood in for normal ones.
    pub stand_ins: usize,
    /// The area under the ROC curve on the validation table, before and after.
    pub validation: Option<[f64; 2]>,
}

impl Detector {
    /// Where it came from, if it was tuned.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// The digest of everything the detector is: equal for equal detectors.
    ///
    /// # Errors
    /// If the detector cannot be written as a file.
    pub fn identity(&self) -> Result<Digest> {
        crate::persist::to_bytes(self).map(Digest::of).map_err(|_| Error::Diverged)
    }

    /// A detector that has learned from labels, beginning from this one. The order of the labelled rows does not matter.
    /// With a validation table, what ranks its rows better is added to what is learned without.
    /// `observe` is called now and then and may stop it.
    ///
    /// ```
    /// use diad::{Labelled, Params, TuneParams, encode::Encoder, table::Table};
    /// use std::ops::ControlFlow;
    ///
    /// // Values around 0 are common; of the labelled rows, those at 3 are the anomalies, those at -3 are not.
    /// let x: Vec<f64> = (0..90).map(|i| if i % 30 == 7 { 3.0 } else if i % 30 == 9 { -3.0 } else { f64::from(i % 5) / 9.0 }).collect();
    /// let label = x.iter().enumerate().map(|(i, &x)| if i < 60 { f64::from(u8::from(x == 3.0)) } else { f64::NAN }).collect();
    /// let table = Table::new(vec!["x".into(), "label".into()], vec![x, label])?;
    /// let params = Params { steps: 20, warmup: 5, anneal: 10, trees: 8, batch: 32, ..Params::default() };
    /// let (encoder, matrix) = Encoder::fit_encode(&table, &["label"], params.scale)?;
    /// let first = diad::fit(&params, encoder, &matrix, &mut |_| ControlFlow::Continue(()))?;
    ///
    /// let labelled = Labelled::read(&first, &table, "label")?;
    /// let tuned = first.tune(&labelled, None, &TuneParams::default(), &mut |_| ControlFlow::Continue(()))?;
    /// let scores = tuned.detector.score(&table)?;
    /// assert!(scores[67] > scores[69], "the unlabelled row at 3 scores higher than the one at -3");
    /// assert_eq!(tuned.detector.origin().map(|origin| origin.model), Some(first.identity()?));
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If this detector is a tuned one, no row is labelled as an anomaly, there are neither normal nor unlabelled rows, the
    /// validation table lacks one of the labels, a setting is out of range, or it was stopped.
    pub fn tune(
        &self,
        labelled: &Labelled,
        validation: Option<&Labelled>,
        params: &TuneParams,
        observe: &mut dyn FnMut(TuneProgress) -> ControlFlow<()>,
    ) -> Result<Tuned> {
        params.validate()?;
        if let Some(origin) = &self.origin {
            return Err(Error::AlreadyTuned { first: origin.model.to_string() });
        }
        for rows in [Some(labelled), validation].into_iter().flatten() {
            let (found, expected) = (rows.matrix().width, self.encoder().features().len());
            if found != expected {
                return Err(Error::Width { found, expected });
            }
        }
        let lesson = Lesson::new(self, labelled)?;
        let validation = validation.map(|rows| self.validation(rows)).transpose()?;
        let (model, additive) = (self.model(), self.additive());
        let (model, additive) = match params.learner {
            Learner::Functions => (model.clone(), self.learn(&lesson, validation.as_ref(), params, observe)?),
            Learner::Descent => {
                (descent::descend(self, &lesson, validation.as_ref(), params, observe)?, additive.clone())
            }
        };
        let origin = Origin {
            model: self.identity()?,
            labels: labelled.digest(),
            anomalies: labelled.anomalies() as u64,
            normals: labelled.normals() as u64,
        };
        let detector = self.with_model(model, additive).coming_from(origin);
        let detector = remember_scores(detector, labelled).certified();
        let validation = validation.and_then(|rows| Some([area(self, &rows)?, area(&detector, &rows)?]));
        Ok(Tuned { detector, stand_ins: lesson.stand_ins, validation })
    }

    /// The area under the ROC curve of labelled rows before and after tuning: each row is scored by a detector tuned
    /// without it. Nothing if there are not two rows of each label.
    ///
    /// # Errors
    /// As [`Detector::tune`].
    pub fn cross_validate(&self, labelled: &Labelled, params: &TuneParams) -> Result<Option<[f64; 2]>> {
        params.validate()?;
        let lesson = Lesson::new(self, labelled)?;
        let lesson = match params.learner {
            Learner::Functions => lesson.at_most(params),
            Learner::Descent => lesson,
        };
        let Some(folds) = lesson.enough_folds(FOLDS) else { return Ok(None) };
        let parts = lesson.folds(folds);
        let scores: Vec<Vec<f32>> = match params.learner {
            Learner::Functions => {
                let all = weigh::held_out(self, &lesson, params, folds);
                let mut scores = vec![Vec::new(); folds];
                all.iter().enumerate().for_each(|(row, &score)| scores[lesson.fold(row, folds)].push(score));
                scores
            }
            Learner::Descent => {
                let fold = |(kept, held_out): &(Lesson, Lesson)| {
                    let go_on = &mut |_| ControlFlow::Continue(());
                    let model = descent::descend(self, kept, None, params, go_on)?;
                    Ok(scored(&self.with_model(model, self.additive().clone()), &held_out.matrix))
                };
                parts.par_iter().map(fold).collect::<Result<_>>()?
            }
        };
        let areas = parts.iter().zip(&scores).filter_map(|((_, held_out), scores)| {
            area(self, held_out).zip(roc_auc(&held_out.labels, scores)).map(|(before, after)| [before, after])
        });
        let areas: Vec<[f64; 2]> = areas.collect();
        let mean = |which: usize| areas.iter().map(|pair| pair[which]).sum::<f64>() / areas.len() as f64;
        Ok((!areas.is_empty()).then(|| [mean(0), mean(1)]))
    }

    /// The rows of a validation table that are looked at.
    fn validation(&self, rows: &Labelled) -> Result<Lesson> {
        rows.check_validation()?;
        let lesson = Lesson::new(self, rows)?;
        let anomalies = lesson.anomalies();
        let normals = rows.normals().min(VALIDATION_ROWS);
        let wanted: Vec<usize> =
            (0..anomalies.min(VALIDATION_ROWS)).chain(anomalies..anomalies + normals).collect();
        Ok(lesson.part(&wanted))
    }

    /// Learns by functions: with the settings given, or with what ranks the validation rows best.
    fn learn(
        &self,
        lesson: &Lesson,
        validation: Option<&Lesson>,
        params: &TuneParams,
        observe: &mut dyn FnMut(TuneProgress) -> ControlFlow<()>,
    ) -> Result<Additive> {
        match validation {
            Some(validation) => blend::blend(self, lesson, validation, params, observe),
            None => {
                let known = lesson.at_most(params);
                Ok(weigh::learn(self, &known, &Basis::new(self, &known), params))
            }
        }
    }
}

/// Remembers how the scores of the table's rows are spread; the training rows are not there to be scored anew.
fn remember_scores(detector: Detector, rows: &Labelled) -> Detector {
    let mut scores = scored(&detector, rows.matrix());
    scores.sort_unstable_by(f32::total_cmp);
    let profile = Profile { scores: Spread::of_sorted(&scores), ..detector.profile().clone() };
    detector.remembering(profile)
}

fn scored(detector: &Detector, matrix: &Matrix) -> Vec<f32> {
    let mut scores = vec![0.0; matrix.rows()];
    detector.score_encoded(matrix, &mut scores);
    scores
}

fn area(detector: &Detector, lesson: &Lesson) -> Option<f64> {
    roc_auc(&lesson.labels, &scored(detector, &lesson.matrix))
}

#[cfg(test)]
mod tests;
