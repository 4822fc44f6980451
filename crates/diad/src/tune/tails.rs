//! Learning from tails: a weight for each column's tail curve.
//!
//! A curve gives how far out each value of a column lies. The log odds of an anomaly are a weighted sum of these curves, with
//! the most likely weights given the labels. With a single weight per column, five anomalies say more about it than about a
//! whole curve.

use super::FunctionParams;
use super::examples::Examples;
use super::solve::{Problem, dot};
use crate::function::{Curve, Functions};
use crate::metrics::mean_and_deviation;
use crate::parallel;

/// Labelled rows, ready to be learned from.
#[derive(Debug)]
pub struct Tails<'a> {
    examples: &'a Examples,
    /// How far out values lie, with mean 0 and standard deviation 1 over the rows.
    curves: Vec<Curve>,
    /// Of each curve its values at the rows.
    values: Vec<Vec<f32>>,
    /// The variance of a weight before any label.
    variance: f64,
    /// The covariance of the weighted sum at the rows.
    covariance: Vec<f32>,
}

impl<'a> Tails<'a> {
    /// Tail curves at labelled rows.
    pub fn new(tails: &Functions, examples: &'a Examples, params: &FunctionParams) -> Self {
        let curves: Vec<Curve> = if params.tails > 0.0 {
            parallel::map(&tails.curves, &|curve| standardised(curve, examples))
                .into_iter()
                .flatten()
                .collect()
        } else {
            Vec::new()
        };
        let rows = examples.matrix.rows();
        let at = |curve: &Curve| -> Vec<f32> {
            (0..rows)
                .map(|row| curve.at(f64::from(examples.matrix.row(row)[curve.feature as usize])) as f32)
                .collect()
        };
        let values: Vec<Vec<f32>> = parallel::map(&curves, &at);
        let variance = params.tails * params.tails / curves.len().max(1) as f64;
        let mut covariance = vec![0.0f32; rows * rows];
        parallel::for_each(covariance.chunks_exact_mut(rows), &|row, out| {
            for values in &values {
                let times = variance as f32 * values[row];
                out.iter_mut().zip(values).for_each(|(out, value)| *out += times * value);
            }
        });
        Self { examples, curves, values, variance, covariance }
    }

    /// The weighted curves, learned from all rows.
    pub fn tables(&self) -> Functions {
        let weighted = |(curve, weight): (&Curve, f64)| Curve {
            values: curve.values.iter().map(|value| weight as f32 * value).collect(),
            ..curve.clone()
        };
        let curves = self.curves.iter().zip(self.weights(|_| true)).map(weighted).collect();
        Functions { curves, grids: Vec::new() }
    }

    /// Out-of-fold values of the weighted sum at each row.
    pub fn out_of_fold(&self, folds: usize) -> Vec<f64> {
        self.examples.out_of_fold(folds, |kept| {
            let weights = self.weights(kept);
            let row = |row: usize| {
                self.values.iter().zip(&weights).map(|(values, weight)| f64::from(values[row]) * weight).sum()
            };
            (0..self.examples.labels.len()).map(row).collect()
        })
    }

    fn weights(&self, learned_from: impl Fn(usize) -> bool) -> Vec<f64> {
        let (targets, weights) = (self.examples.targets(), self.examples.weights(learned_from));
        let dual = Problem { covariance: &self.covariance, targets: &targets, weights: &weights }.solve();
        self.values.iter().map(|values| self.variance * dot(values, &dual)).collect()
    }
}

/// A curve with mean 0 and standard deviation 1 over all rows; `None` if it is constant.
fn standardised(curve: &Curve, examples: &Examples) -> Option<Curve> {
    let values: Vec<f32> =
        examples.sorted[curve.feature as usize].iter().map(|&x| curve.at(f64::from(x)) as f32).collect();
    let (mean, deviation) = mean_and_deviation(&values);
    let scale = |value: &f32| ((f64::from(*value) - mean) / deviation) as f32;
    (deviation > 1e-6).then(|| Curve { values: curve.values.iter().map(scale).collect(), ..curve.clone() })
}

#[cfg(test)]
mod tests {
    use super::super::Labelled;
    use super::super::tests::{first, table};
    use super::*;
    use crate::score::additive::Additive;
    use crate::tune::components::Components;
    use crate::{Detector, Scale};

    /// Rows that are anomalies where the third column is far out on either side.
    fn example() -> (Detector, Examples) {
        let detector = first(2, Scale::Both);
        let rows = table(120, |_, _| true);
        let labels = rows.column_named("noise").unwrap().iter().map(|&x| Some(x.abs() > 1.5)).collect();
        let labelled = Labelled::of(&detector, &rows, labels).unwrap();
        let examples = Examples::new(&detector, &labelled).unwrap();
        (detector, examples)
    }

    #[test]
    fn values_are_those_of_the_tables_and_the_telling_column_has_most() {
        let (detector, examples) = example();
        let tails = Tails::new(&Components::of(&detector).tails, &examples, &FunctionParams::default());
        let scores = detector.score_component(&Additive::of_part("t", 1.0, tails.tables()), &examples.matrix);
        let weights = tails.weights(|_| true);
        for (row, score) in scores.iter().enumerate() {
            let sum: f64 = tails.values.iter().zip(&weights).map(|(v, w)| f64::from(v[row]) * w).sum();
            assert!((f64::from(*score) - sum).abs() < 1e-4, "{score} is not {sum}");
        }
        let noise = tails.curves.iter().position(|curve| curve.feature == 2).unwrap();
        let others = (0..weights.len()).filter(|&i| i != noise);
        assert!(others.into_iter().all(|i| weights[i].abs() < weights[noise] / 2.0), "{weights:?}");
    }

    /// As by a ridge regression, straight: at the most likely weights the slope by each is its own precision times it.
    #[test]
    fn weights_are_the_most_likely() {
        let (detector, examples) = example();
        let tails = Tails::new(&Components::of(&detector).tails, &examples, &FunctionParams::default());
        let found = tails.weights(|_| true);
        let (targets, counts) = (examples.targets(), examples.weights(|_| true));
        // The constant is free, too: find it by bisection.
        let odds = |row: usize| -> f64 {
            tails.values.iter().zip(&found).map(|(values, weight)| f64::from(values[row]) * weight).sum()
        };
        let slope = |row: usize, constant: f64| {
            counts[row] * (targets[row] - super::super::solve::sigmoid(odds(row) + constant))
        };
        let rows = 0..targets.len();
        let (mut low, mut high) = (-20.0, 20.0);
        for _ in 0..100 {
            let middle = (low + high) / 2.0;
            // Its own variance is 25.
            let rises = rows.clone().map(|row| slope(row, middle)).sum::<f64>() > middle / 25.0;
            if rises { low = middle } else { high = middle }
        }
        for (values, weight) in tails.values.iter().zip(&found) {
            let slope: f64 = rows.clone().map(|row| slope(row, low) * f64::from(values[row])).sum();
            assert!((slope - weight / tails.variance).abs() < 1e-3, "{slope} is not {weight} / variance");
        }
    }

    #[test]
    fn rows_held_out_teach_nothing() {
        let (detector, examples) = example();
        let held_out = Tails::new(&Components::of(&detector).tails, &examples, &FunctionParams::default())
            .out_of_fold(3);
        for (fold, (kept, out)) in examples.folds(3).iter().enumerate() {
            let plain = Additive::of_part(
                "t",
                1.0,
                Tails::new(&Components::of(&detector).tails, kept, &FunctionParams::default()).tables(),
            );
            let plain = detector.score_component(&plain, &out.matrix);
            let rows = (0..examples.labels.len()).filter(|&row| examples.fold(row, 3) == fold);
            for (row, plain) in rows.zip(plain) {
                assert!((held_out[row] - f64::from(plain)).abs() < 1e-4, "{} is not {plain}", held_out[row]);
            }
        }
    }

    #[test]
    fn without_tails_nothing_is_learned() {
        let (detector, examples) = example();
        let tails = Tails::new(
            &Components::of(&detector).tails,
            &examples,
            &FunctionParams { tails: 0.0, ..FunctionParams::default() },
        );
        assert!(tails.tables().curves.is_empty());
        assert!(tails.out_of_fold(3).iter().all(|&value| value == 0.0));
    }
}
