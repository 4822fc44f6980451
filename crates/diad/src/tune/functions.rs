//! Learning smooth functions: curves and grids that fit the labels.
//!
//! The log odds of an anomaly are a Gaussian process, a sum of smooth functions of one and of two columns. Few labels move it
//! little, many labels move it far. At first columns share the variance according to how much they vary; after each round,
//! according to the size of their curves, so that uninformative columns fade. As a few anomalies do not show which columns
//! matter, the result is a mean of the first functions, which use all columns, and the last.

use super::FunctionParams;
use super::basis::{Basis, Shares};
use super::examples::Examples;
use super::solve::{Problem, dot};
use crate::function;
use crate::parallel;

/// How much of the initial shares is kept.
const KEPT: f64 = 0.1;

/// With this many anomalies, the first functions have half of the weight.
const FEW: f64 = 5.0;

/// Labelled rows, ready to be learned from.
#[derive(Debug)]
pub struct Functions<'a> {
    examples: &'a Examples,
    basis: &'a Basis,
    targets: Vec<f64>,
    begin: Shares,
    rounds: usize,
    /// The covariance of the functions at the rows in the beginning.
    covariance: Vec<f32>,
}

/// What was learned.
#[derive(Debug)]
pub struct Learned<'a> {
    basis: &'a Basis,
    /// The first functions and, after further rounds, the last: their weight, how columns share the variance, and the
    /// coefficients.
    ends: Vec<(f64, Shares, Vec<f64>)>,
    /// The functions at the rows.
    pub values: Vec<f64>,
}

impl<'a> Functions<'a> {
    /// Functions of the columns of a basis at labelled rows.
    pub fn new(basis: &'a Basis, examples: &'a Examples, params: &FunctionParams) -> Self {
        let begin = Shares {
            columns: basis.first_shares(),
            pairs: if basis.may_pair() { params.pair_share } else { 0.0 },
            variance: params.amplitude * params.amplitude,
        };
        let targets = examples.targets();
        let covariance = basis.covariance(&begin);
        Self { examples, basis, targets, begin, rounds: params.rounds, covariance }
    }

    /// Learns from all rows, in so many rounds.
    pub fn learn(&self, rounds: usize) -> Learned<'a> {
        self.learn_from(|_| true, rounds)
    }

    /// Out-of-fold values of the functions at each row.
    pub fn out_of_fold(&self, folds: usize) -> Vec<f64> {
        self.examples.out_of_fold(folds, |kept| self.learn_from(kept, self.rounds).values)
    }

    fn learn_from(&self, learned_from: impl Fn(usize) -> bool, rounds: usize) -> Learned<'a> {
        let weights = self.examples.weights(learned_from);
        let solve =
            |covariance: &[f32]| Problem { covariance, targets: &self.targets, weights: &weights }.solve();
        let dual = solve(&self.covariance);
        let mut values = product(&self.covariance, &dual);
        if rounds == 0 {
            return Learned { basis: self.basis, ends: vec![(1.0, self.begin.clone(), dual)], values };
        }
        let (mut shares, mut last, mut covariance) = (self.begin.clone(), dual.clone(), Vec::new());
        for _ in 0..rounds {
            shares.columns = self.shares_after(&shares, &last);
            covariance = self.basis.covariance(&shares);
            last = solve(&covariance);
        }
        let anomalies =
            self.targets.iter().zip(&weights).filter(|(target, weight)| **target * **weight > 0.0);
        let share = FEW / (FEW + anomalies.count() as f64);
        let after = product(&covariance, &last);
        values.iter_mut().zip(after).for_each(|(value, after)| *value += (1.0 - share) * (after - *value));
        Learned {
            basis: self.basis,
            ends: vec![(share, self.begin.clone(), dual), (1.0 - share, shares, last)],
            values,
        }
    }

    /// Shares as large as the columns' curves.
    fn shares_after(&self, shares: &Shares, dual: &[f64]) -> Vec<f64> {
        let norms = self.basis.norms(shares, dual);
        let total: f64 = norms.iter().sum();
        if total <= 0.0 {
            return shares.columns.clone();
        }
        let share = |(norm, begin): (&f64, &f64)| (1.0 - KEPT) * norm / total + KEPT * begin;
        norms.iter().zip(&self.begin.columns).map(share).collect()
    }
}

impl Learned<'_> {
    /// The functions as curves and grids.
    pub fn tables(&self) -> function::Functions {
        let mut total = function::Functions::default();
        for (share, shares, dual) in &self.ends {
            total.add(&self.basis.tables(shares, dual, *share), 1.0);
        }
        total
    }
}

/// A matrix, row after row, times a vector.
fn product(matrix: &[f32], vector: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; matrix.len() / vector.len()];
    parallel::for_each(out.chunks_mut(64).zip(matrix.chunks(64 * vector.len())), &|_, (out, rows)| {
        out.iter_mut().zip(rows.chunks_exact(vector.len())).for_each(|(out, row)| *out = dot(row, vector));
    });
    out
}

#[cfg(test)]
mod tests {
    use super::super::Labelled;
    use super::super::tests::{first, table};
    use super::*;
    use crate::score::additive::Additive;
    use crate::{Detector, Scale};

    fn examples(detector: &Detector) -> Examples {
        let labelled = Labelled::read(detector, &table(90, |_, _| true), "label").unwrap();
        Examples::new(detector, &labelled).unwrap()
    }

    #[test]
    fn values_are_those_of_the_tables() {
        let detector = first(2, Scale::Both);
        let examples = examples(&detector);
        let basis = Basis::new(&detector, &examples);
        for rounds in [0, 2] {
            let params = FunctionParams { rounds, ..FunctionParams::default() };
            let learned = Functions::new(&basis, &examples, &params).learn(rounds);
            let scores =
                detector.score_component(&Additive::of_part("f", 1.0, learned.tables()), &examples.matrix);
            for (score, value) in scores.iter().zip(&learned.values) {
                assert!((f64::from(*score) - value).abs() < 1e-3, "{score} is not {value}");
            }
        }
    }

    /// As if the rows held out had never been there.
    #[test]
    fn rows_held_out_teach_nothing() {
        let detector = first(2, Scale::Both);
        let examples = examples(&detector);
        let params = FunctionParams::default();
        let held_out = Functions::new(&Basis::new(&detector, &examples), &examples, &params).out_of_fold(3);
        for (fold, (kept, out)) in examples.folds(3).iter().enumerate() {
            let basis = Basis::new(&detector, kept);
            let plain = Additive::of_part(
                "f",
                1.0,
                Functions::new(&basis, kept, &params).learn(params.rounds).tables(),
            );
            let plain = detector.score_component(&plain, &out.matrix);
            let rows = (0..examples.labels.len()).filter(|&row| examples.fold(row, 3) == fold);
            for (row, plain) in rows.zip(plain) {
                assert!((held_out[row] - f64::from(plain)).abs() < 2e-3, "{} is not {plain}", held_out[row]);
            }
        }
    }
}
