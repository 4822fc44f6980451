//! Stacking: a tuned score is a weighted sum of components, the parts of the unsupervised score and what base learners found
//! in the labels.
//!
//! A logistic regression of the labels on the components finds the factors. Base learners enter with out-of-fold predictions,
//! as in-sample ones would look perfect. The prior of a factor is log-normal around a usual one, so that few labels move it
//! little.

use super::basis::Basis;
use super::boosting::BoostedSteps;
use super::components::Components;
use super::examples::Examples;
use super::functions::Functions;
use super::solve::{sigmoid, softplus};
use super::tails::Tails;
use super::{FOLDS, FunctionParams};
use crate::Detector;
use crate::score::additive::Additive;

/// Prior standard deviation of the logarithm of a factor: for parts of the unsupervised score, and for base learners.
const DOUBT: [f64; 2] = [1.5, 2.0];
/// Prior variance of the intercept.
const INTERCEPT: f64 = 25.0;
const STEPS: usize = 100;
const PRECISION: f64 = 1e-10;

/// The name of the part that labels add.
pub const LEARNED: &str = "learned";

/// Components of a tuned score: trees, curves and grids of the unsupervised one, smooth functions, boosted steps, tails.
const COMPONENTS: usize = 6;
/// Those of the unsupervised score come first.
const FIRST: usize = 3;
/// A factor for each component.
type Factors = [f64; COMPONENTS];

/// Base learners, and how their predictions are stacked.
pub struct Stacking<'a> {
    components: &'a Components,
    params: &'a FunctionParams,
    examples: &'a Examples,
    /// Smooth functions: a base learner that ensemble selection asks again.
    pub functions: Functions<'a>,
    boosted_steps: BoostedSteps<'a>,
    tails: Tails<'a>,
    out_of_fold: Option<OutOfFold<'a>>,
}

impl<'a> Stacking<'a> {
    /// Base learners on the labelled rows, with their out-of-fold predictions where there are enough rows.
    pub fn new(
        detector: &Detector,
        components: &'a Components,
        examples: &'a Examples,
        basis: &'a Basis,
        params: &'a FunctionParams,
    ) -> Self {
        let functions = Functions::new(basis, examples, params);
        let boosted_steps = BoostedSteps::new(basis, examples, params);
        let tails = Tails::new(&components.tails, examples, params);
        let out_of_fold = examples.enough_folds(FOLDS).map(|folds| {
            let learned =
                [functions.out_of_fold(folds), boosted_steps.out_of_fold(folds), tails.out_of_fold(folds)];
            let parts =
                components.parts.each_ref().map(|part| detector.score_component(part, &examples.matrix));
            OutOfFold::new(examples, &parts, &learned, usual(params), folds)
        });
        Self { components, params, examples, functions, boosted_steps, tails, out_of_fold }
    }

    /// What the boosted steps learn from all rows.
    pub fn boosted_steps(&self) -> Additive {
        Additive::of_part(LEARNED, 1.0, self.boosted_steps.tables())
    }

    /// The score that fits the labels, given what the boosted steps learned: parts of the unsupervised score, unless it is
    /// discarded, and what was learned.
    pub fn score(&self, boosted_steps: &Additive) -> Additive {
        let factors = match &self.out_of_fold {
            Some(rows) => rows.factors(|_| true),
            None => usual(self.params),
        };
        let learned = |functions| Additive::of_part(LEARNED, 1.0, functions);
        let functions = learned(self.functions.learn(self.params.rounds).tables());
        let tails = learned(self.tails.tables());
        let [trees, curves, grids] = &self.components.parts;
        let found = [trees, curves, grids, &functions, boosted_steps, &tails];
        // A part with its usual factor stays as it is.
        let prior = self.params.prior;
        let (shift, unit) = if prior > 0.0 { (self.components.shift, prior) } else { (0.0, 1.0) };
        let mut total = Additive { shift, ..Additive::default() };
        for (component, factor) in found.into_iter().zip(factors).filter(|(_, factor)| *factor > 0.0) {
            total.add(component, (factor / unit) as f32);
        }
        total
    }

    /// Out-of-fold scores of all rows: neither base learners nor factors have seen a row's fold. `None` if rows are too few.
    pub fn out_of_fold_scores(&self) -> Option<Vec<f32>> {
        let rows = self.out_of_fold.as_ref()?;
        let fold = |row: usize| self.examples.fold(row, rows.folds);
        let factors: Vec<Factors> =
            (0..rows.folds).map(|held| rows.factors(|row| fold(row) != held)).collect();
        Some((0..self.examples.labels.len()).map(|row| rows.sum(row, &factors[fold(row)]) as f32).collect())
    }
}

/// Factors before any label.
fn usual(params: &FunctionParams) -> Factors {
    let [curves, tails] = if params.tails > 0.0 { [0.8, 0.75] } else { [1.0, 0.0] };
    let [functions, boosted_steps] = if params.boosted_steps > 0 { [curves / 2.0; 2] } else { [curves, 0.0] };
    [params.prior, params.prior, params.prior, functions, boosted_steps, tails]
}

/// The components at labelled rows, base learners out of fold.
struct OutOfFold<'a> {
    examples: &'a Examples,
    rows: Vec<Factors>,
    usual: Factors,
    folds: usize,
}

impl<'a> OutOfFold<'a> {
    fn new(
        examples: &'a Examples,
        parts: &[Vec<f32>; FIRST],
        learned: &[Vec<f64>; COMPONENTS - FIRST],
        usual: Factors,
        folds: usize,
    ) -> Self {
        let row = |row: usize| {
            std::array::from_fn(|component| match component {
                ..FIRST => f64::from(parts[component][row]),
                _ => learned[component - FIRST][row],
            })
        };
        let mut rows: Vec<Factors> = (0..examples.labels.len()).map(row).collect();
        // Centred on the normal rows.
        let normals = examples.anomalies()..;
        for component in 0..COMPONENTS {
            let normals = &rows[normals.clone()];
            let mean = normals.iter().map(|row| row[component]).sum::<f64>() / normals.len() as f64;
            rows.iter_mut().for_each(|row| row[component] -= mean);
        }
        Self { examples, rows, usual, folds }
    }

    fn sum(&self, row: usize, factors: &Factors) -> f64 {
        self.rows[row].iter().zip(factors).map(|(value, factor)| value * factor).sum()
    }

    /// The most likely factors, given the labels of some rows.
    fn factors(&self, known: impl Fn(usize) -> bool) -> Factors {
        let weights = self.examples.weights(known);
        let targets = self.examples.targets();
        Posterior { rows: &self.rows, targets: &targets, weights: &weights, usual: &self.usual }.factors()
    }
}

/// The posterior of the factors.
struct Posterior<'a> {
    rows: &'a [Factors],
    targets: &'a [f64],
    weights: &'a [f64],
    usual: &'a Factors,
}

/// Logarithms of the factors relative to the usual ones, and the intercept.
type Point = [f64; COMPONENTS + 1];

impl Posterior<'_> {
    fn doubt(component: usize) -> f64 {
        DOUBT[usize::from(component >= FIRST)]
    }

    fn factors_at(&self, point: &Point) -> Factors {
        std::array::from_fn(|component| self.usual[component] * libm::exp(point[component]))
    }

    /// The negative log posterior.
    fn loss(&self, point: &Point) -> f64 {
        let factors = self.factors_at(point);
        let rows = self.rows.iter().zip(self.targets).zip(self.weights);
        let labels: f64 = rows
            .map(|((row, target), weight)| {
                let odds = row.iter().zip(factors).map(|(value, factor)| value * factor).sum::<f64>()
                    + point[COMPONENTS];
                weight * (softplus(odds) - target * odds)
            })
            .sum();
        let doubts: f64 =
            (0..COMPONENTS).map(|component| (point[component] / Self::doubt(component)).powi(2)).sum();
        labels + (doubts + point[COMPONENTS] * point[COMPONENTS] / INTERCEPT) / 2.0
    }

    /// The gradient and the Gauss-Newton Hessian, which is positive definite.
    fn slope(&self, point: &Point) -> (Point, [Point; COMPONENTS + 1]) {
        let factors = self.factors_at(point);
        let (mut slope, mut curvature) = ([0.0; COMPONENTS + 1], [[0.0; COMPONENTS + 1]; COMPONENTS + 1]);
        for ((row, target), weight) in self.rows.iter().zip(self.targets).zip(self.weights) {
            let by: Point = std::array::from_fn(|i| if i < COMPONENTS { row[i] * factors[i] } else { 1.0 });
            let chance = sigmoid(by[..COMPONENTS].iter().sum::<f64>() + point[COMPONENTS]);
            for i in 0..=COMPONENTS {
                slope[i] += weight * (chance - target) * by[i];
                for j in 0..=COMPONENTS {
                    curvature[i][j] += weight * chance * (1.0 - chance) * by[i] * by[j];
                }
            }
        }
        for i in 0..=COMPONENTS {
            let precision = if i < COMPONENTS { Self::doubt(i).powi(-2) } else { 1.0 / INTERCEPT };
            slope[i] += precision * point[i];
            curvature[i][i] += precision;
        }
        (slope, curvature)
    }

    fn most_likely(&self) -> Point {
        let mut point = [0.0; COMPONENTS + 1];
        let mut loss = self.loss(&point);
        for _ in 0..STEPS {
            let (slope, curvature) = self.slope(&point);
            let step = solved(curvature, slope);
            let tried = (0..30).map(|halvings| {
                let size = f64::from(halvings).exp2().recip();
                let next: Point = std::array::from_fn(|i| point[i] - size * step[i]);
                (self.loss(&next), next)
            });
            let Some((less, next)) = tried.into_iter().find(|(tried, _)| *tried < loss) else { break };
            let gain = loss - less;
            (loss, point) = (less, next);
            if gain <= PRECISION * (1.0 + loss) {
                break;
            }
        }
        point
    }

    fn factors(&self) -> Factors {
        self.factors_at(&self.most_likely())
    }
}

/// Solves a symmetric positive definite system by elimination.
fn solved(mut matrix: [Point; COMPONENTS + 1], mut right: Point) -> Point {
    for i in 0..=COMPONENTS {
        let (pivot, above) = (matrix[i], right[i]);
        for (row, value) in matrix.iter_mut().zip(&mut right).skip(i + 1) {
            let times = row[i] / pivot[i];
            row.iter_mut().zip(pivot).for_each(|(below, above)| *below -= times * above);
            *value -= times * above;
        }
    }
    for i in (0..=COMPONENTS).rev() {
        let known: f64 = (i + 1..=COMPONENTS).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    const USUAL: Factors = [0.8, 0.8, 0.8, 0.5, 0.5, 0.5];

    /// Rows that only the second component separates.
    fn example(rows: usize) -> (Vec<Factors>, Vec<f64>, Vec<f64>) {
        let mut random = Stream::new(4, Purpose::Shuffle, 0);
        let targets: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row % 4 == 0))).collect();
        let row = |target: &f64| {
            let mut row = [0.0; COMPONENTS].map(|_| random.normal());
            row[1] += 2.0 * target;
            row
        };
        (targets.iter().map(row).collect(), targets, vec![1.0; rows])
    }

    #[test]
    fn gradients_match_finite_differences() {
        let (rows, targets, weights) = example(40);
        let posterior = Posterior { rows: &rows, targets: &targets, weights: &weights, usual: &USUAL };
        let point = [0.3, -0.2, 0.1, 0.4, 0.2, -0.3, -0.5];
        let (slope, _) = posterior.slope(&point);
        for i in 0..=COMPONENTS {
            let moved = |by: f64| {
                let mut moved = point;
                moved[i] += by;
                posterior.loss(&moved)
            };
            let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((difference - slope[i]).abs() < 1e-6, "{difference} is not {}", slope[i]);
        }
    }

    #[test]
    fn informative_components_gain_weight_and_others_lose_it() {
        let (rows, targets, weights) = example(400);
        let posterior = Posterior { rows: &rows, targets: &targets, weights: &weights, usual: &USUAL };
        let factors = posterior.factors();
        // Normal with standard deviation 1 and two apart: the odds are e to the power of twice the value.
        assert!((1.8..2.2).contains(&factors[1]), "{factors:?}");
        assert!([0, 2, 3, 4, 5].iter().all(|&i| factors[i] < 0.6 * USUAL[i]), "{factors:?}");
        let (slope, _) = posterior.slope(&posterior.most_likely());
        assert!(slope.iter().all(|slope| slope.abs() < 1e-3), "{slope:?}");
        let none = Posterior { rows: &[], targets: &[], weights: &[], usual: &USUAL };
        assert_eq!(none.factors(), USUAL, "without labels all stays as usual");
    }

    #[test]
    fn a_system_is_solved() {
        let matrix: [Point; COMPONENTS + 1] = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { 3.0 } else { 1.0 / (1 + i + j) as f64 })
        });
        let wanted = [1.0, -2.0, 0.5, 3.0, 4.0, -1.5, 2.5];
        let right = std::array::from_fn(|i| (0..=COMPONENTS).map(|j| matrix[i][j] * wanted[j]).sum());
        for (found, wanted) in solved(matrix, right).iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12);
        }
    }
}
