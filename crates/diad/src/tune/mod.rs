//! Learning from a few labelled rows. The tuned detector is a new one; the original is unchanged.

mod basis;
mod boosting;
mod components;
mod descent;
mod ensemble_selection;
mod examples;
mod functions;
mod labels;
mod loss;
mod named;
mod peers;
mod solve;
mod stacking;
mod tails;
mod tuning;

use std::ops::ControlFlow;

use crate::calibration::{Calibration, MOST_SCORES};
use crate::encode::Matrix;
use crate::metrics::roc_auc;
use crate::origin::Origin;
use crate::parallel;
use crate::profile::{Profile, Spread};
use crate::score::additive::Additive;
use crate::{DescentParams, Detector, Error, FunctionParams, Learner, Result, calibrate};
use basis::Basis;
use components::Components;
use ensemble_selection::Ensemble;
use examples::Examples;
pub use labels::Labelled;
pub use named::NamedLabels;
use stacking::Stacking;
pub use tuning::Tuning;

/// Most rows of a validation table that are used, of each label.
const VALIDATION_ROWS: usize = 20_000;
/// Rows from which the shares of the parts are measured, at most.
const MEASURED_ROWS: usize = 4096;
/// Folds of stacking and of cross-validation.
const FOLDS: usize = 5;

/// How far a tuning is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TuneProgress {
    /// Steps of the current pass that are done.
    pub done: usize,
    /// Steps of the current pass.
    pub all: usize,
}

/// Called with the progress of a tuning, and may stop it.
type Observe<'a> = &'a mut (dyn FnMut(TuneProgress) -> ControlFlow<()> + 'a);

/// A tuned detector, and how well it ranks labelled rows.
#[derive(Debug)]
#[non_exhaustive]
pub struct Tuned {
    /// The detector.
    pub detector: Detector,
    /// Unlabelled rows that stood in for normal ones.
    pub stand_ins: usize,
    /// ROC-AUC on the validation table, before and after.
    pub validation: Option<[f64; 2]>,
    /// Cross-validated ROC-AUC on the labelled rows, before and after, if [`Tuning::cross_validate`] asked for it and there
    /// are two rows of each label.
    pub cross_validation: Option<[f64; 2]>,
}

impl Tuning<'_> {
    /// Learns from the labels.
    fn learn(self) -> Result<Tuned> {
        let Self { detector, labelled, learner, validation, observe, cross_validate } = self;
        learner.validate()?;
        if let Some(origin) = detector.origin() {
            return Err(Error::AlreadyTuned { first: origin.model.to_string() });
        }
        for rows in [Some(labelled), validation].into_iter().flatten() {
            let (found, expected) = (rows.matrix().width, detector.encoder().features().len());
            if found != expected {
                return Err(Error::Width { found, expected });
            }
        }
        let examples = Examples::new(detector, labelled)?;
        let validation = validation.map(|rows| validation_rows(detector, rows)).transpose()?;
        let stand_ins = examples.stand_ins;
        let go_on = &mut |_| ControlFlow::Continue(());
        let observe = observe.unwrap_or(go_on);
        let (model, additive, cross_validation) = match &learner {
            Learner::Functions(params) => {
                let examples = examples.at_most(params);
                let (additive, areas) =
                    learn_functions(detector, &examples, validation.as_ref(), params, observe)?;
                (detector.model().clone(), additive, areas)
            }
            Learner::Descent(params) => {
                let model = descent::descend(detector, &examples, validation.as_ref(), params, observe)?;
                let areas =
                    if cross_validate { cross_validate_descent(detector, &examples, params)? } else { None };
                (model, detector.additive().clone(), areas)
            }
        };
        let origin = Origin {
            model: detector.identity()?,
            labels: labelled.digest(),
            anomalies: labelled.anomalies() as u64,
            normals: labelled.normals() as u64,
        };
        let tuned = detector.with_model(model, additive).coming_from(origin);
        let tuned = remember_scores(tuned, labelled).certified();
        let validation = validation.and_then(|rows| {
            Some([
                roc_auc(&rows.labels, &rows.scores)?,
                roc_auc(&rows.labels, &scored(&tuned, &rows.matrix))?,
            ])
        });
        let cross_validation = cross_validation.filter(|_| cross_validate);
        Ok(Tuned { detector: tuned, stand_ins, validation, cross_validation })
    }
}

/// Learns functions, and selects an ensemble if there are validation rows. Returns the score and its cross-validated areas.
fn learn_functions(
    detector: &Detector,
    examples: &Examples,
    validation: Option<&Examples>,
    params: &FunctionParams,
    observe: Observe,
) -> Result<(Additive, Option<[f64; 2]>)> {
    let (components, basis) = (Components::of(detector), Basis::new(detector, examples));
    let stacking = Stacking::new(detector, &components, examples, &basis, params);
    let score = match validation {
        Some(validation) => {
            let ensemble = Ensemble {
                detector,
                components: &components,
                examples,
                basis: &basis,
                stacking: &stacking,
                params,
            };
            ensemble.select(validation, observe)?
        }
        None => stacking.score(&stacking.boosted_steps()),
    };
    let areas =
        examples.enough_folds(FOLDS).zip(stacking.out_of_fold_scores()).and_then(|(folds, scores)| {
            let mut of_folds = vec![Vec::new(); folds];
            scores
                .iter()
                .enumerate()
                .for_each(|(row, &score)| of_folds[examples.fold(row, folds)].push(score));
            mean_areas(&examples.folds(folds), &of_folds)
        });
    Ok((score, areas))
}

fn cross_validate_descent(
    detector: &Detector,
    examples: &Examples,
    params: &DescentParams,
) -> Result<Option<[f64; 2]>> {
    let Some(folds) = examples.enough_folds(FOLDS) else { return Ok(None) };
    let folds = examples.folds(folds);
    let fold = |(kept, held_out): &(Examples, Examples)| {
        let model = descent::descend(detector, kept, None, params, &mut |_| ControlFlow::Continue(()))?;
        Ok(detector.score_with_trees(&model, &held_out.matrix))
    };
    let scores = parallel::map(&folds, &fold).into_iter().collect::<Result<Vec<_>>>()?;
    Ok(mean_areas(&folds, &scores))
}

/// The mean area over folds before and after, given the scores of the rows held out.
fn mean_areas(folds: &[(Examples, Examples)], scores: &[Vec<f32>]) -> Option<[f64; 2]> {
    let area = |((_, held_out), scores): (&(Examples, Examples), &Vec<f32>)| {
        Some([roc_auc(&held_out.labels, &held_out.scores)?, roc_auc(&held_out.labels, scores)?])
    };
    let areas: Vec<[f64; 2]> = folds.iter().zip(scores).filter_map(area).collect();
    let mean = |which: usize| areas.iter().map(|pair| pair[which]).sum::<f64>() / areas.len() as f64;
    (!areas.is_empty()).then(|| [mean(0), mean(1)])
}

/// The rows of a validation table that are used.
fn validation_rows(detector: &Detector, rows: &Labelled) -> Result<Examples> {
    rows.check_validation()?;
    let examples = Examples::new(detector, rows)?;
    let anomalies = examples.anomalies();
    let normals = rows.normals().min(VALIDATION_ROWS);
    let wanted: Vec<usize> =
        (0..anomalies.min(VALIDATION_ROWS)).chain(anomalies..anomalies + normals).collect();
    Ok(examples.part(&wanted))
}

/// Remembers the distribution of the scores of the table's rows; the training rows are not there to be scored again.
fn remember_scores(detector: Detector, rows: &Labelled) -> Detector {
    let scores = scored(&detector, rows.matrix());
    let mut sorted = scores.clone();
    sorted.sort_unstable_by(f32::total_cmp);
    // What terms usually contributed is no longer so.
    let profile =
        Profile { scores: Spread::of_sorted(&sorted), usual: Vec::new(), ..detector.profile().clone() };
    // Rows are in a random order.
    let few = rows.matrix().rows().min(MEASURED_ROWS);
    let width = rows.matrix().width;
    let few = Matrix { width, values: rows.matrix().values[..few * width].to_vec() };
    let detector = detector.remembering(profile).measuring_parts(&few);
    // Rows that are known to be anomalies would make p-values larger.
    let ordinary = (0..scores.len()).filter(|&row| !rows.is_anomaly(row)).map(|row| scores[row]);
    let detector = match Calibration::new(ordinary.take(MOST_SCORES).collect(), false) {
        Some(calibration) => detector.calibrated(calibration),
        None => detector,
    };
    let usual = calibrate::usual(&detector, rows.matrix());
    detector.knowing(usual)
}

fn scored(detector: &Detector, matrix: &Matrix) -> Vec<f32> {
    let mut scores = vec![0.0; matrix.rows()];
    detector.score_encoded(matrix, &mut scores);
    scores
}

#[cfg(test)]
mod tests;
