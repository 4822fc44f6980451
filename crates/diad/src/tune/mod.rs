//! Learning from a few labelled rows. The tuned detector is a new one; the first stays as it is.

mod basis;
mod blend;
mod descent;
mod functions;
mod labels;
mod lesson;
mod loss;
mod pieces;
mod solve;
mod stairs;
mod tails;
mod tuning;
mod weigh;

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::encode::Matrix;
use crate::metrics::roc_auc;
use crate::profile::{Profile, Spread};
use crate::score::additive::Additive;
use crate::{DescentParams, Detector, Error, FunctionParams, Learner, Result};
use basis::Basis;
pub use labels::{Digest, Labelled};
use lesson::Lesson;
pub use tuning::Tuning;

/// Rows of a validation table that are looked at, of each label.
const VALIDATION_ROWS: usize = 20_000;
/// Parts of the labelled rows that are held out in turn to tell how well the rest learns.
const FOLDS: usize = 5;

/// Where a tuned detector came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct TuneProgress {
    /// Steps of the current pass that are done.
    pub done: usize,
    /// Steps of the current pass.
    pub all: usize,
}

/// Who hears of how far a tuning is, and may stop it.
type Observe<'a> = &'a mut (dyn FnMut(TuneProgress) -> ControlFlow<()> + 'a);

/// A tuned detector and how it came about.
#[derive(Debug)]
#[non_exhaustive]
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
        crate::persist::to_bytes(self).map(Digest::of).map_err(Error::Unwritable)
    }

    /// Learns from labels as the settings of a [`Tuning`] say.
    fn learn_from(
        &self,
        labelled: &Labelled,
        validation: Option<&Labelled>,
        learner: &Learner,
        observe: Observe,
    ) -> Result<Tuned> {
        learner.validate()?;
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
        let (model, additive) = match learner {
            Learner::Functions(params) => {
                (model.clone(), self.learn(&lesson, validation.as_ref(), params, observe)?)
            }
            Learner::Descent(params) => {
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
    pub fn cross_validate(&self, labelled: &Labelled, learner: &Learner) -> Result<Option<[f64; 2]>> {
        learner.validate()?;
        let lesson = Lesson::new(self, labelled)?;
        let lesson = match learner {
            Learner::Functions(params) => lesson.at_most(params),
            Learner::Descent(_) => lesson,
        };
        let Some(folds) = lesson.enough_folds(FOLDS) else { return Ok(None) };
        let parts = lesson.folds(folds);
        let scores: Vec<Vec<f32>> = match learner {
            Learner::Functions(params) => {
                let all = weigh::held_out(self, &lesson, params, folds);
                let mut scores = vec![Vec::new(); folds];
                all.iter().enumerate().for_each(|(row, &score)| scores[lesson.fold(row, folds)].push(score));
                scores
            }
            Learner::Descent(params) => {
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
        params: &FunctionParams,
        observe: Observe,
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
