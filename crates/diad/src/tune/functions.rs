//! Learning by functions: curves and grids are added to the score so that it fits the labels.
//!
//! The score so far, up to a limit, is the offset of a logistic regression; what is added is a Gaussian process, a sum of smooth functions of
//! one and of two columns. Few labels move it little, many labels move it far. The columns start with shares of the
//! variance as they vary; after each round a share is as large as the column's curve, so that columns that tell nothing fade.

use super::TuneParams;
use super::basis::{Basis, Shares};
use super::lesson::Lesson;
use super::solve::Problem;
use crate::Detector;
use crate::model::{Combination, Curve, Tables};

/// The part of all shares that stays as it was in the beginning.
const KEPT: f64 = 0.1;
/// The most that the score so far may say, as log odds. Labels that it already explains still teach.
const MOST: f64 = 1.0;

/// What a lesson adds to the score.
pub fn learn(detector: &Detector, lesson: &Lesson, params: &TuneParams) -> Tables {
    let (settings, encoder, _, first) = detector.parts();
    let lesson = lesson.at_most(params);
    let basis = Basis::new(encoder, &first.tables, &lesson.sorted, &lesson.matrix);
    let anomalies = lesson.anomalies() as f64;
    let normals = lesson.labels.len() as f64 - anomalies;
    let targets: Vec<f64> = lesson.labels.iter().map(|&label| f64::from(u8::from(label))).collect();
    // Both classes count alike, each anomaly as 1.
    let weights: Vec<f64> =
        lesson.labels.iter().map(|&label| if label { 1.0 } else { anomalies / normals }).collect();
    let offset = |&score: &f32| MOST * libm::tanh(params.prior * f64::from(score) / MOST);
    let offsets: Vec<f64> = lesson.scores.iter().map(offset).collect();
    let begin = basis.first_shares();
    let mut shares = Shares {
        columns: begin.clone(),
        pairs: if settings.interactions < 2 { 0.0 } else { params.pair_share },
        variance: params.amplitude * params.amplitude,
    };
    let mut round = 0;
    let dual = loop {
        let covariance = basis.covariance(&shares);
        let problem =
            Problem { covariance: &covariance, targets: &targets, weights: &weights, offsets: &offsets };
        let dual = problem.solve();
        if round == params.rounds {
            break dual;
        }
        round += 1;
        let norms = basis.norms(&shares, &dual);
        let total: f64 = norms.iter().sum();
        if total > 0.0 {
            let share = |(norm, begin): (&f64, &f64)| (1.0 - KEPT) * norm / total + KEPT * begin;
            shares.columns = norms.iter().zip(&begin).map(share).collect();
        }
    };
    let times = if params.prior > 0.0 { 1.0 / params.prior } else { 1.0 };
    basis.tables(&shares, &dual, times)
}

/// The score so far, unless it is forgotten, plus what was learned.
pub fn combine(detector: &Detector, learned: Tables, remember: bool) -> Combination {
    if !remember {
        return Combination { tree_factor: 0.0, shift: 0.0, tables: learned };
    }
    let (_, _, _, first) = detector.parts();
    let mut combined = first.clone();
    for curve in learned.curves {
        add_curve(&mut combined.tables.curves, curve);
    }
    combined.tables.grids.extend(learned.grids);
    combined
}

/// Adds a curve to that of the same feature and nodes, or as a new one.
pub fn add_curve(curves: &mut Vec<Curve>, curve: Curve) {
    match curves.iter_mut().find(|known| known.feature == curve.feature) {
        Some(known) => known.values.iter_mut().zip(&curve.values).for_each(|(known, value)| *known += value),
        None => curves.push(curve),
    }
}
