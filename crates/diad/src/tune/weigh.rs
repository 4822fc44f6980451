//! How much of each part of the first score, and of the functions learned from labels, a tuned score has.
//!
//! Each piece of the score has a factor, and the log odds of an anomaly are the sum of the pieces times their factors. The most
//! likely factors are taken, given what the pieces say of the labelled rows. The functions speak of each row as learned
//! without it: of rows they have seen they are always right. Before any label, the logarithm of a factor is normal about that
//! of a usual one: with few labels the factors stay near it.

use super::functions::Functions;
use super::lesson::Lesson;
use super::solve::{sigmoid, softplus};
use super::{FOLDS, TuneParams, pieces};
use crate::Detector;
use crate::model::Combination;

/// The standard deviation of the logarithm of a factor before any label: of parts of the first score, and of the functions.
const DOUBT: [f64; 2] = [1.5, 2.0];
/// Variance of the constant that is free to fit the share of anomalies.
const CONSTANT: f64 = 25.0;
const STEPS: usize = 100;
const PRECISION: f64 = 1e-10;

/// The score that fits the labels: parts of the first one, unless it is forgotten, and functions.
pub fn learn(first: &Detector, lesson: &Lesson, params: &TuneParams) -> Combination {
    let functions = Functions::new(first, lesson, params);
    let learned = pieces::of(functions.learn().tables());
    if params.prior == 0.0 {
        return learned;
    }
    let factors = match functions.lesson().enough_folds(FOLDS) {
        Some(folds) => Held::new(first, &functions, params, folds).factors(|_| true),
        None => usual(params),
    };
    let (_, _, _, score) = first.parts();
    let mut total = Combination { shift: score.shift, ..Combination::default() };
    // A part that counts as usual stays as it is.
    for (piece, factor) in pieces::parts(first).iter().chain([&learned]).zip(factors) {
        pieces::add(&mut total, piece, (factor / params.prior) as f32);
    }
    total
}

/// The scores of a lesson's rows, each by a tuning without its part of the rows: neither functions nor factors know of it.
pub fn held_out(first: &Detector, lesson: &Lesson, params: &TuneParams, folds: usize) -> Vec<f32> {
    let functions = Functions::new(first, lesson, params);
    if params.prior == 0.0 {
        return functions.held_out(folds).iter().map(|&value| value as f32).collect();
    }
    let held = Held::new(first, &functions, params, folds);
    let factors: Vec<[f64; 4]> =
        (0..folds).map(|fold| held.factors(|row| lesson.fold(row, folds) != fold)).collect();
    (0..lesson.labels.len()).map(|row| held.sum(row, &factors[lesson.fold(row, folds)]) as f32).collect()
}

/// Factors before any label.
fn usual(params: &TuneParams) -> [f64; 4] {
    [params.prior, params.prior, params.prior, 1.0]
}

/// What the pieces of a score say of labelled rows.
struct Held<'a> {
    lesson: &'a Lesson,
    /// Of each row what the parts of the first score say, and the functions learned without it.
    rows: Vec<[f64; 4]>,
    usual: [f64; 4],
}

impl<'a> Held<'a> {
    fn new(first: &Detector, functions: &'a Functions, params: &TuneParams, folds: usize) -> Self {
        let lesson = functions.lesson();
        let learned = functions.held_out(folds);
        let [trees, curves, grids] =
            pieces::parts(first).map(|piece| pieces::scored(first, &piece, &lesson.matrix));
        let row = |row: usize| [trees[row].into(), curves[row].into(), grids[row].into(), learned[row]];
        let mut rows: Vec<[f64; 4]> = (0..learned.len()).map(row).collect();
        // A piece says nothing of a normal row, on average.
        let normals = lesson.anomalies()..;
        for piece in 0..4 {
            let normals = &rows[normals.clone()];
            let mean = normals.iter().map(|row| row[piece]).sum::<f64>() / normals.len() as f64;
            rows.iter_mut().for_each(|row| row[piece] -= mean);
        }
        Self { lesson, rows, usual: usual(params) }
    }

    fn sum(&self, row: usize, factors: &[f64]) -> f64 {
        self.rows[row].iter().zip(factors).map(|(value, factor)| value * factor).sum()
    }

    /// The most likely factors, given the labels of some rows.
    fn factors(&self, known: impl Fn(usize) -> bool) -> [f64; 4] {
        let weights = self.lesson.weights(known);
        let targets = self.lesson.targets();
        Posterior { rows: &self.rows, targets: &targets, weights: &weights, usual: &self.usual }.factors()
    }
}

/// How likely factors are.
struct Posterior<'a> {
    rows: &'a [[f64; 4]],
    targets: &'a [f64],
    weights: &'a [f64],
    usual: &'a [f64; 4],
}

/// Logarithms of the factors against usual ones, and the constant.
type Point = [f64; 5];

impl Posterior<'_> {
    fn doubt(piece: usize) -> f64 {
        DOUBT[usize::from(piece == 3)]
    }

    fn factors_at(&self, point: &Point) -> [f64; 4] {
        std::array::from_fn(|piece| self.usual[piece] * libm::exp(point[piece]))
    }

    /// Minus the logarithm of the likelihood.
    fn loss(&self, point: &Point) -> f64 {
        let factors = self.factors_at(point);
        let rows = self.rows.iter().zip(self.targets).zip(self.weights);
        let labels: f64 = rows
            .map(|((row, target), weight)| {
                let odds =
                    row.iter().zip(factors).map(|(value, factor)| value * factor).sum::<f64>() + point[4];
                weight * (softplus(odds) - target * odds)
            })
            .sum();
        let doubts: f64 = (0..4).map(|piece| (point[piece] / Self::doubt(piece)).powi(2)).sum();
        labels + (doubts + point[4] * point[4] / CONSTANT) / 2.0
    }

    /// The slope and a curvature that is always positive (that of Gauss and Newton).
    fn slope(&self, point: &Point) -> (Point, [Point; 5]) {
        let factors = self.factors_at(point);
        let (mut slope, mut curvature) = ([0.0; 5], [[0.0; 5]; 5]);
        for ((row, target), weight) in self.rows.iter().zip(self.targets).zip(self.weights) {
            let by: Point = std::array::from_fn(|i| if i < 4 { row[i] * factors[i] } else { 1.0 });
            let chance = sigmoid(by[..4].iter().sum::<f64>() + point[4]);
            for i in 0..5 {
                slope[i] += weight * (chance - target) * by[i];
                for j in 0..5 {
                    curvature[i][j] += weight * chance * (1.0 - chance) * by[i] * by[j];
                }
            }
        }
        for i in 0..5 {
            let precision = if i < 4 { Self::doubt(i).powi(-2) } else { 1.0 / CONSTANT };
            slope[i] += precision * point[i];
            curvature[i][i] += precision;
        }
        (slope, curvature)
    }

    fn most_likely(&self) -> Point {
        let mut point = [0.0; 5];
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

    fn factors(&self) -> [f64; 4] {
        self.factors_at(&self.most_likely())
    }
}

/// Solves a symmetric positive definite system by elimination.
fn solved(mut matrix: [Point; 5], mut right: Point) -> Point {
    for i in 0..5 {
        let (pivot, above) = (matrix[i], right[i]);
        for (row, value) in matrix.iter_mut().zip(&mut right).skip(i + 1) {
            let times = row[i] / pivot[i];
            row.iter_mut().zip(pivot).for_each(|(below, above)| *below -= times * above);
            *value -= times * above;
        }
    }
    for i in (0..5).rev() {
        let known: f64 = (i + 1..5).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    /// Rows that the second piece tells apart, the others not.
    fn example(rows: usize) -> (Vec<[f64; 4]>, Vec<f64>, Vec<f64>) {
        let mut random = Stream::new(4, Purpose::Shuffle, 0);
        let targets: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row % 4 == 0))).collect();
        let row = |target: &f64| {
            let mut row = [0.0; 4].map(|_| random.normal());
            row[1] += 2.0 * target;
            row
        };
        (targets.iter().map(row).collect(), targets, vec![1.0; rows])
    }

    #[test]
    fn slopes_are_differences() {
        let (rows, targets, weights) = example(40);
        let posterior =
            Posterior { rows: &rows, targets: &targets, weights: &weights, usual: &[0.8, 0.8, 0.8, 1.0] };
        let point = [0.3, -0.2, 0.1, 0.4, -0.5];
        let (slope, _) = posterior.slope(&point);
        for i in 0..5 {
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
    fn what_tells_rows_apart_counts_more_and_the_rest_less() {
        let (rows, targets, weights) = example(400);
        let usual = [0.8, 0.8, 0.8, 1.0];
        let posterior = Posterior { rows: &rows, targets: &targets, weights: &weights, usual: &usual };
        let factors = posterior.factors();
        assert!(factors[1] > 2.0 && [0, 2, 3].iter().all(|&i| factors[i] < 0.6 * usual[i]), "{factors:?}");
        let (slope, _) = posterior.slope(&posterior.most_likely());
        assert!(slope.iter().all(|slope| slope.abs() < 1e-3), "{slope:?}");
        let none = Posterior { rows: &[], targets: &[], weights: &[], usual: &usual };
        assert_eq!(none.factors(), usual, "without labels all stays as usual");
    }

    #[test]
    fn a_system_is_solved() {
        let matrix: [Point; 5] = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { 3.0 } else { 1.0 / (1 + i + j) as f64 })
        });
        let wanted = [1.0, -2.0, 0.5, 3.0, 4.0];
        let right = std::array::from_fn(|i| (0..5).map(|j| matrix[i][j] * wanted[j]).sum());
        for (found, wanted) in solved(matrix, right).iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12);
        }
    }
}
