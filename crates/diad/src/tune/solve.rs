//! Logistic regression with a Gaussian-process prior: the most likely functions, given labels.
//!
//! With a covariance K of the functions at the rows and weights w, it finds the dual coefficients α that
//! maximise Σ wᵢ log p(yᵢ | (Kα)ᵢ) - αᵀKα/2. The problem is strictly convex in Kα: there is one answer, whatever
//! the order of the rows. Newton's method, each step solved by conjugate gradients.

use crate::linear::{Limits, conjugate_gradients};
use crate::parallel;

/// Variance of the constant that is free to fit the share of anomalies.
const CONSTANT: f64 = 25.0;
const NEWTON_STEPS: usize = 40;
const PRECISION: f64 = 1e-9;
const LIMITS: Limits = Limits { steps: 400, left: PRECISION };

/// Labelled rows as the solver sees them.
#[derive(Debug, Clone, Copy)]
pub struct Problem<'a> {
    /// Covariance of the functions at the rows, row after row.
    pub covariance: &'a [f32],
    /// 1 for an anomaly, 0 for a normal row.
    pub targets: &'a [f64],
    /// What each row counts; those that count nothing have no coefficient to speak of.
    pub weights: &'a [f64],
}

impl Problem<'_> {
    fn rows(&self) -> usize {
        self.targets.len()
    }

    /// The covariance, and that of the constant, times a vector.
    fn multiply(&self, vector: &[f64], out: &mut [f64]) {
        let constant = CONSTANT * vector.iter().sum::<f64>();
        let rows = self.covariance.chunks(64 * self.rows());
        parallel::for_each(out.chunks_mut(64).zip(rows), &|_, (out, rows)| {
            let rows = rows.chunks_exact(self.rows());
            out.iter_mut().zip(rows).for_each(|(out, row)| *out = constant + dot(row, vector));
        });
    }

    /// Minus the logarithm of the likelihood of values.
    fn loss(&self, values: &[f64]) -> f64 {
        let rows = values.iter().zip(self.targets).zip(self.weights);
        rows.map(|((&value, &target), &weight)| weight * (softplus(value) - target * value)).sum()
    }

    /// The dual coefficients.
    pub fn solve(&self) -> Vec<f64> {
        let n = self.rows();
        let mut dual = vec![0.0; n];
        let mut values = vec![0.0; n];
        let mut objective = self.loss(&values);
        let (mut curvature, mut wanted) = (vec![0.0; n], vec![0.0; n]);
        for _ in 0..NEWTON_STEPS {
            for i in 0..n {
                let chance = sigmoid(values[i]);
                curvature[i] = (self.weights[i] * chance * (1.0 - chance)).max(1e-12);
                let slope = self.weights[i] * (self.targets[i] - chance);
                wanted[i] = curvature[i] * values[i] + slope;
            }
            let next = self.newton(&curvature, &wanted);
            let Some((step, better)) = self.descend(&dual, &next, objective) else { break };
            let gain = objective - better.1;
            dual.iter_mut().zip(&next).for_each(|(dual, next)| *dual += step * (next - *dual));
            (values, objective) = better;
            if gain <= PRECISION * (1.0 + objective.abs()) {
                break;
            }
        }
        dual
    }

    /// The longest of some steps from one dual vector towards another that lessens the objective, with the values and
    /// the objective there.
    fn descend(&self, from: &[f64], to: &[f64], objective: f64) -> Option<(f64, (Vec<f64>, f64))> {
        let mut step = 1.0;
        while step > 1e-4 {
            let dual: Vec<f64> = from.iter().zip(to).map(|(from, to)| from + step * (to - from)).collect();
            let mut values = vec![0.0; from.len()];
            self.multiply(&dual, &mut values);
            let penalty: f64 = dual.iter().zip(&values).map(|(a, b)| a * b).sum();
            let found = self.loss(&values) + penalty / 2.0;
            if found < objective {
                return Some((step, (values, found)));
            }
            step /= 2.0;
        }
        None
    }

    /// Newton's dual vector: (W⁻¹ + K)⁻¹ W⁻¹ b, with S = W½ as S (1 + SKS)⁻¹ S⁻¹ b.
    fn newton(&self, curvature: &[f64], wanted: &[f64]) -> Vec<f64> {
        let root: Vec<f64> = curvature.iter().map(|w| w.sqrt()).collect();
        let right: Vec<f64> = wanted.iter().zip(&root).map(|(b, s)| b / s).collect();
        let mut scaled = vec![0.0; right.len()];
        let multiply = |vector: &[f64], out: &mut [f64]| {
            scaled.iter_mut().zip(vector).zip(&root).for_each(|((o, v), s)| *o = v * s);
            self.multiply(&scaled, out);
            out.iter_mut().zip(vector).zip(&root).for_each(|((o, v), s)| *o = *o * s + v);
        };
        let solution =
            conjugate_gradients(&right, LIMITS, multiply, |vector, out| out.copy_from_slice(vector));
        solution.iter().zip(&root).map(|(x, s)| x * s).collect()
    }
}

/// A product summed in eight parts, so that it needs no order the machine cannot follow eight at a time.
pub fn dot(row: &[f32], vector: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (rows, vectors) = (row.chunks_exact(8), vector.chunks_exact(8));
    let rest = rows.remainder().iter().zip(vectors.remainder());
    let rest: f64 = rest.map(|(&a, b)| f64::from(a) * b).sum();
    for (row, vector) in rows.zip(vectors) {
        for i in 0..8 {
            sums[i] += f64::from(row[i]) * vector[i];
        }
    }
    sums.iter().sum::<f64>() + rest
}

/// The chance of an anomaly.
pub fn sigmoid(value: f64) -> f64 {
    let small = libm::exp(-value.abs());
    if value >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) }
}

/// log(1 + e^value).
pub fn softplus(value: f64) -> f64 {
    value.max(0.0) + libm::log1p(libm::exp(-value.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn example(n: usize) -> (Vec<f32>, Vec<f64>, Vec<f64>) {
        let mut random = Stream::new(3, Purpose::Shuffle, 0);
        let places: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        let covariance = (0..n * n).map(|i| 4.0 * (-(places[i / n] - places[i % n]).abs()).exp() as f32);
        let targets = (0..n).map(|i| f64::from(u8::from(places[i] > 0.5 || i == 3))).collect();
        let weights = (0..n).map(|_| 0.2 + random.unit()).collect();
        (covariance.collect(), targets, weights)
    }

    /// At the maximum, α is the derivative of the log likelihood by the values.
    #[test]
    fn the_gradient_vanishes_at_the_solution() {
        let (covariance, targets, weights) = example(53);
        let problem = Problem { covariance: &covariance, targets: &targets, weights: &weights };
        let dual = problem.solve();
        let mut product = vec![0.0; 53];
        problem.multiply(&dual, &mut product);
        for i in 0..53 {
            let value = product[i];
            let slope = weights[i] * (targets[i] - sigmoid(value));
            assert!((dual[i] - slope).abs() < 1e-4, "row {i}: {} is not {slope}", dual[i]);
            let difference =
                (problem_loss(&problem, i, value + 1e-5) - problem_loss(&problem, i, value - 1e-5)) / 2e-5;
            assert!((difference + slope).abs() < 1e-7, "row {i}: {difference} is not {}", -slope);
        }
    }

    fn problem_loss(problem: &Problem, row: usize, value: f64) -> f64 {
        problem.weights[row] * (softplus(value) - problem.targets[row] * value)
    }

    #[test]
    fn one_row_is_solved_as_by_hand() {
        // α = w (1 - σ(Kα)) with K = 1 + 25: α is where the two cross, found by bisection.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..100 {
            let middle: f64 = (low + high) / 2.0;
            if middle < 1.0 - sigmoid(26.0 * middle) { low = middle } else { high = middle }
        }
        let problem = Problem { covariance: &[1.0], targets: &[1.0], weights: &[1.0] };
        assert!((problem.solve()[0] - low).abs() < 1e-5);
    }

    #[test]
    fn products_do_not_depend_on_how_they_are_summed() {
        let row: Vec<f32> = (0..21).map(|i| i as f32).collect();
        let vector: Vec<f64> = (0..21).map(|i| f64::from(i % 5)).collect();
        let plain: f64 = row.iter().zip(&vector).map(|(&a, b)| f64::from(a) * b).sum();
        assert_eq!(dot(&row, &vector), plain);
    }
}
