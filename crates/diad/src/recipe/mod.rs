//! The recipe: which parts the score has and how they are put together.
//!
//! Every part is scaled to mean 0 and standard deviation 1 over the training rows, or less where it finds next to nothing, and
//! multiplied by its weight. A part that neither agrees with any other nor singles out a few rows as they do counts less ([`trust`]).
//! The sum of the parts is scaled to a median of 0 and a spread of 1.

mod memory;

use crate::encode::{self, Copies, Encoder, Matrix, Scaler};
use crate::function::Curve;
use crate::metrics::mean_and_deviation;
use crate::model::Model;
use crate::parts::{Isolation, LENGTHS, Part, Sample, Surprise, Tails, Trees};
use crate::score::additive::{self, Additive};
use crate::{Detector, Params};

/// The parts, in the order of the model file.
const PARTS: [&dyn Part; 4] = [&Trees, &Tails, &Isolation, &Surprise];
/// The share of the rows that are the highest of a part, and how much more of them than by chance must be among those of another part
/// for the part to count in full.
const TOP: f64 = 0.05;
const AGREED: f64 = 0.05;
/// The least trust in a part: next to nothing, but enough for tails to go on rising beyond the training range.
const LEAST: f64 = 1e-3;
/// A value so many ranges beyond the training range scores above the given share of the training rows.
const FAR: f64 = 10.0;
const ABOVE: f64 = 0.99;

/// A part that was made: what it says of the rows of the sample, with mean 0 and standard deviation 1.
struct Made {
    part: additive::Summand,
    weight: f64,
    mean: f64,
    deviation: f64,
    /// What it is divided by: its standard deviation, or the least that it may have.
    scale: f64,
    scores: Vec<f32>,
}

/// What the recipe looks at of the training rows, which can be let go then: they may be most of the memory of a fit.
pub struct Ingredients {
    sample: Sample,
    /// The rows of the sample.
    rows: Matrix,
    /// How many rows there are.
    count: usize,
    /// What is next to the ends of the columns.
    next: Vec<[f32; 2]>,
}

impl Ingredients {
    /// Of training rows that are those of a table of `all` rows or a sample of them.
    pub fn of((matrix, copies, all): (&Matrix, &Copies, u64), encoder: &Encoder, seed: u64) -> Self {
        let sample = Sample::new((matrix, copies), encoder, seed).of_table(encoder, all);
        let next = memory::next_to_ends(matrix, encoder.columns().len());
        Self { rows: sample.matrix(matrix), sample, count: matrix.rows(), next }
    }
}

/// Makes the parts of the score and adds them up, and remembers the rows.
pub fn combine(params: &Params, encoder: Encoder, ingredients: Ingredients, model: Model<f32>) -> Detector {
    let Ingredients { sample, rows, count, next } = ingredients;
    let (detector, mut scores) = put_together(params, encoder, (&rows, count), &sample, model);
    drop(sample);
    if detector.encoder().columns().iter().any(encode::Column::is_date) {
        // What lies far from the time of nearly all rows may be a training row.
        detector.score_encoded(&rows, &mut scores);
    }
    let detector = memory::remember(detector, &rows, scores, next);
    drop(rows);
    detector.certified()
}

/// A detector that remembers nothing of its rows: it can score encoded ones and no more.
pub fn twin(params: &Params, encoder: Encoder, matrix: &Matrix, model: Model<f32>) -> Detector {
    // What the encoder has counted is of more rows than these.
    let sample = Sample::new((matrix, &Copies::of(matrix)), &encoder, params.seed);
    put_together(params, encoder, (&sample.matrix(matrix), matrix.rows()), &sample, model).0
}

/// The parts of the score, added up, and the scores of the rows they are made from: those of a sample of so many.
fn put_together(
    params: &Params,
    encoder: Encoder,
    (rows, count): (&Matrix, usize),
    sample: &Sample,
    model: Model<f32>,
) -> (Detector, Vec<f32>) {
    let detector = Detector::new(params.clone(), encoder, model, count as u64);
    let mut made = Vec::new();
    for part in PARTS.into_iter().filter(|part| part.weight(params) > 0.0) {
        let mut functions = part.functions(sample, params);
        sample.count_once(&mut functions);
        let alone = Additive::of_part(part.name(), 1.0, functions);
        let mut scores = detector.score_component(&alone, rows);
        let (mean, deviation) = mean_and_deviation(&scores);
        // A part that says the same of all rows, but for rounding, says nothing.
        if deviation > f64::max(1e-9, 1e-6 * mean.abs()) {
            let scale = deviation.max(part.least_deviation());
            let standard = |score: &mut f32| *score = ((f64::from(*score) - mean) / scale) as f32;
            scores.iter_mut().for_each(standard);
            let weight = part.weight(params);
            made.extend(alone.parts.into_iter().map(|part| Made {
                part,
                weight,
                mean,
                deviation,
                scale,
                scores: scores.clone(),
            }));
        }
    }
    let (additive, scores) = add_up(made, rows.rows());
    (grown_beyond(detector.with(additive), &scores), scores)
}

/// The sum of the parts, and what it says of the rows.
fn add_up(made: Vec<Made>, rows: usize) -> (Additive, Vec<f32>) {
    let trust = trust(&made, rows);
    let mut scores = vec![0.0f64; rows];
    let (mut additive, mut shift) = (Additive::default(), 0.0);
    for (Made { part, weight, mean, deviation, scale, scores: own }, trust) in made.into_iter().zip(trust) {
        let weight = weight * trust;
        tracing::debug!(part = part.name, weight, trust, "added a part of the score");
        scores.iter_mut().zip(&own).for_each(|(sum, own)| *sum += weight * f64::from(*own));
        shift += weight * mean / scale;
        additive.parts.push(additive::Summand {
            factor: (weight / scale) as f32,
            deviation: deviation as f32,
            ..part
        });
    }
    let sums: Vec<f32> = scores.iter().map(|&sum| sum as f32).collect();
    let (middle, spread) = middle_and_spread(&sums);
    let unit = if spread > 1e-12 { 1.0 / spread } else { 1.0 };
    additive.parts.iter_mut().for_each(|part| part.factor = (f64::from(part.factor) * unit) as f32);
    additive.shift = ((shift + middle) * unit) as f32;
    (additive, scores.iter().map(|sum| ((sum - middle) * unit) as f32).collect())
}

/// How far each part counts: in full if some of its highest rows are among the highest of another part, or if it singles out a few
/// rows, as detectors do and noise or a detector that is turned over does not: its skewness is that of the others. So one bad part
/// cannot spoil the rest.
fn trust(made: &[Made], rows: usize) -> Vec<f64> {
    let highest: Vec<Vec<f64>> = made.iter().map(|part| highest(&part.scores)).collect();
    let agreement = |a: &[f64], b: &[f64]| {
        let both = a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (TOP * rows as f64);
        (both - TOP) / (1.0 - TOP) / AGREED
    };
    let skewed: Vec<f64> = made.iter().map(|part| skewness(&part.scores)).collect();
    let counts = |part: usize| {
        let others: Vec<usize> = (0..made.len()).filter(|&other| other != part).collect();
        let usual = median(others.iter().map(|&other| skewed[other]).collect()).max(f64::MIN_POSITIVE);
        let agreements = others.iter().map(|&other| agreement(&highest[part], &highest[other]));
        agreements.fold(skewed[part] / usual, f64::max).clamp(LEAST, 1.0)
    };
    (0..made.len()).map(counts).collect()
}

/// The median of some numbers, 0 if there are none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        even if even % 2 == 0 => (values[middle - 1] + values[middle]) / 2.0,
        _ => values[middle],
    }
}

/// The skewness of scores with mean 0.
fn skewness(scores: &[f32]) -> f64 {
    let [squares, cubes] = scores.iter().fold([0.0; 2], |[squares, cubes], &score| {
        let score = f64::from(score);
        [squares + score * score, cubes + score * score * score]
    });
    let n = scores.len() as f64;
    cubes / n / libm::pow(squares / n, 1.5)
}

/// Which rows are the highest: 1, or a share where rows at the border are equal.
fn highest(scores: &[f32]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let wanted = TOP * scores.len() as f64;
    let border = sorted[scores.len() - (wanted.ceil() as usize).clamp(1, scores.len())];
    let [above, at] =
        [|score: &f32, border: f32| *score > border, |score: &f32, border: f32| *score == border]
            .map(|which| scores.iter().filter(|score| which(score, border)).count() as f64);
    let share = ((wanted - above) / at).clamp(0.0, 1.0);
    scores
        .iter()
        .map(|score| {
            if *score > border {
                1.0
            } else if *score == border {
                share
            } else {
                0.0
            }
        })
        .collect()
}

/// Makes tails that rise beyond the training range rise fast enough: a value far beyond it scores above nearly all training
/// rows, whatever the other columns say.
fn grown_beyond(detector: Detector, scores: &[f32]) -> Detector {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let high = f64::from(sorted[(ABOVE * (sorted.len() - 1) as f64).ceil() as usize]);
    let needed = high - detector.least();
    let (scalers, features) = (detector.encoder().scalers(), detector.encoder().features());
    let rises = |part: &additive::Summand| part.functions.curves.iter().any(|curve| curve.beyond != [0.0; 2]);
    if !detector.additive().parts.iter().any(rises) {
        return detector;
    }
    let mut additive = detector.additive().clone();
    for part in &mut additive.parts {
        let factor = f64::from(part.factor);
        for curve in part.functions.curves.iter_mut().filter(|curve| curve.beyond != [0.0; 2]) {
            let scaler = &scalers[curve.feature as usize];
            let column = &detector.encoder().columns()[features[curve.feature as usize].column as usize];
            let range = column.max - column.min;
            let far = [column.min - FAR * range, column.max + FAR * range]
                .map(|value| f64::from(scaler.scale(value)));
            let (far, ends) = match column.is_date() {
                true => far_dates(scaler, curve),
                false => (far, [-1.0, 1.0]),
            };
            for (slope, (far, end)) in curve.beyond.iter_mut().zip(far.into_iter().zip(ends)) {
                let least = needed / (factor * (far - end).abs());
                *slope = slope.max(if least.is_finite() { least as f32 } else { 0.0 });
            }
        }
    }
    detector.with(additive)
}

/// Dates so many times the time of nearly all rows beyond it, and the ends of the time that is ordinary.
fn far_dates(scaler: &Scaler, curve: &Curve) -> ([f64; 2], [f64; 2]) {
    let ends = [curve.nodes[0], curve.nodes[curve.nodes.len() - 1]];
    let [low, high] = ends.map(|end| scaler.original(end));
    let length = (high - low) / LENGTHS;
    let far = [low - (FAR - 1.0) * length, high + (FAR - 1.0) * length];
    (far.map(|date| f64::from(scaler.scale(date))), ends.map(f64::from))
}

/// The median of some numbers, and how far they spread: the interquartile range, but at least a fifth of the mean distance
/// from the median, since most of them may be the same.
fn middle_and_spread(values: &[f32]) -> (f64, f64) {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let quantile = |share: f64| f64::from(sorted[(share * (sorted.len() - 1) as f64).round() as usize]);
    let middle = quantile(0.5);
    let distance = sorted.iter().map(|&value| (f64::from(value) - middle).abs()).sum::<f64>();
    (middle, (quantile(0.75) - quantile(0.25)).max(0.2 * distance / sorted.len() as f64))
}

#[cfg(test)]
mod tests;
