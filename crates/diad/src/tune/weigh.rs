//! How much of each part of the first score, and of the functions, stairs and tails learned from labels, a tuned score has.
//!
//! Each piece of the score has a factor, and the log odds of an anomaly are the sum of the pieces times their factors. The most
//! likely factors are taken, given what the pieces say of the labelled rows. What is learned speaks of each row as learned
//! without it: of rows it has seen it is always right. Before any label, the logarithm of a factor is normal about that
//! of a usual one: with few labels the factors stay near it.

use super::basis::Basis;
use super::functions::Functions;
use super::lesson::Lesson;
use super::solve::{sigmoid, softplus};
use super::stairs::Stairs;
use super::tails::Tails;
use super::{FOLDS, FunctionParams, pieces};
use crate::Detector;
use crate::function;
use crate::score::additive::Additive;

/// The standard deviation of the logarithm of a factor before any label: of parts of the first score, and of what is learned.
const DOUBT: [f64; 2] = [1.5, 2.0];
/// Variance of the constant that is free to fit the share of anomalies.
const CONSTANT: f64 = 25.0;
const STEPS: usize = 100;
const PRECISION: f64 = 1e-10;

/// The name of the part that labels add.
pub const LEARNED: &str = "learned";

/// The score that fits the labels: parts of the first one, unless it is forgotten, and what is learned.
pub fn learn(first: &Detector, lesson: &Lesson, basis: &Basis, params: &FunctionParams) -> Additive {
    let learners = Learners::new(first, lesson, basis, params);
    let factors = match lesson.enough_folds(FOLDS) {
        Some(folds) => Held::new(first, lesson, &learners, params, folds).factors(|_| true),
        None => usual(params),
    };
    let [trees, curves, grids] = pieces::parts(first);
    let [functions, stairs, tails] =
        learners.tables().map(|functions| Additive::of_part(LEARNED, 1.0, functions));
    let found = [trees, curves, grids, functions, stairs, tails];
    let score = first.additive();
    // A part that counts as usual stays as it is.
    let (shift, unit) = if params.prior > 0.0 { (score.shift, params.prior) } else { (0.0, 1.0) };
    let mut total = Additive { shift, ..Additive::default() };
    for (piece, factor) in found.iter().zip(factors).filter(|(_, factor)| *factor > 0.0) {
        total.add(piece, (factor / unit) as f32);
    }
    total
}

/// The scores of a lesson's rows, each by a tuning without its part of the rows: neither what is learned nor factors know of it.
pub fn held_out(first: &Detector, lesson: &Lesson, params: &FunctionParams, folds: usize) -> Vec<f32> {
    let basis = Basis::new(first, lesson);
    let learners = Learners::new(first, lesson, &basis, params);
    let held = Held::new(first, lesson, &learners, params, folds);
    let factors: Vec<Factors> =
        (0..folds).map(|fold| held.factors(|row| lesson.fold(row, folds) != fold)).collect();
    (0..lesson.labels.len()).map(|row| held.sum(row, &factors[lesson.fold(row, folds)]) as f32).collect()
}

/// All that learns from labels.
struct Learners<'a> {
    functions: Functions<'a>,
    stairs: Stairs<'a>,
    tails: Tails<'a>,
}

impl<'a> Learners<'a> {
    fn new(first: &Detector, lesson: &'a Lesson, basis: &'a Basis, params: &FunctionParams) -> Self {
        Self {
            functions: Functions::new(basis, lesson, params),
            stairs: Stairs::new(basis, lesson, params),
            tails: Tails::new(first, lesson, params),
        }
    }

    /// What each learns from all rows.
    fn tables(&self) -> [function::Functions; PIECES - FIRST] {
        [self.functions.learn().tables(), self.stairs.tables(), self.tails.tables()]
    }

    /// What each says of rows it has not learned from.
    fn held_out(&self, folds: usize) -> [Vec<f64>; PIECES - FIRST] {
        [self.functions.held_out(folds), self.stairs.held_out(folds), self.tails.held_out(folds)]
    }
}

/// Pieces of a score: trees, curves and grids of the first one, functions, stairs, tails.
const PIECES: usize = 6;
/// Those of the first score come first.
const FIRST: usize = 3;
/// What each piece counts.
type Factors = [f64; PIECES];

/// Factors before any label.
fn usual(params: &FunctionParams) -> Factors {
    let [curves, tails] = if params.tails > 0.0 { [0.8, 0.75] } else { [1.0, 0.0] };
    let [functions, stairs] = if params.stairs > 0 { [curves / 2.0; 2] } else { [curves, 0.0] };
    [params.prior, params.prior, params.prior, functions, stairs, tails]
}

/// What the pieces of a score say of labelled rows.
struct Held<'a> {
    lesson: &'a Lesson,
    /// Of each row what the parts of the first score say, and what was learned without it.
    rows: Vec<Factors>,
    usual: Factors,
}

impl<'a> Held<'a> {
    fn new(
        first: &Detector,
        lesson: &'a Lesson,
        learners: &Learners,
        params: &FunctionParams,
        folds: usize,
    ) -> Self {
        let said = pieces::parts(first).map(|piece| pieces::scored(first, &piece, &lesson.matrix));
        let learned = learners.held_out(folds);
        let row = |row: usize| {
            std::array::from_fn(|piece| match piece {
                ..FIRST => f64::from(said[piece][row]),
                _ => learned[piece - FIRST][row],
            })
        };
        let mut rows: Vec<Factors> = (0..lesson.labels.len()).map(row).collect();
        // A piece says nothing of a normal row, on average.
        let normals = lesson.anomalies()..;
        for piece in 0..PIECES {
            let normals = &rows[normals.clone()];
            let mean = normals.iter().map(|row| row[piece]).sum::<f64>() / normals.len() as f64;
            rows.iter_mut().for_each(|row| row[piece] -= mean);
        }
        Self { lesson, rows, usual: usual(params) }
    }

    fn sum(&self, row: usize, factors: &Factors) -> f64 {
        self.rows[row].iter().zip(factors).map(|(value, factor)| value * factor).sum()
    }

    /// The most likely factors, given the labels of some rows.
    fn factors(&self, known: impl Fn(usize) -> bool) -> Factors {
        let weights = self.lesson.weights(known);
        let targets = self.lesson.targets();
        Posterior { rows: &self.rows, targets: &targets, weights: &weights, usual: &self.usual }.factors()
    }
}

/// How likely factors are.
struct Posterior<'a> {
    rows: &'a [Factors],
    targets: &'a [f64],
    weights: &'a [f64],
    usual: &'a Factors,
}

/// Logarithms of the factors against usual ones, and the constant.
type Point = [f64; PIECES + 1];

impl Posterior<'_> {
    fn doubt(piece: usize) -> f64 {
        DOUBT[usize::from(piece >= FIRST)]
    }

    fn factors_at(&self, point: &Point) -> Factors {
        std::array::from_fn(|piece| self.usual[piece] * libm::exp(point[piece]))
    }

    /// Minus the logarithm of the likelihood.
    fn loss(&self, point: &Point) -> f64 {
        let factors = self.factors_at(point);
        let rows = self.rows.iter().zip(self.targets).zip(self.weights);
        let labels: f64 = rows
            .map(|((row, target), weight)| {
                let odds = row.iter().zip(factors).map(|(value, factor)| value * factor).sum::<f64>()
                    + point[PIECES];
                weight * (softplus(odds) - target * odds)
            })
            .sum();
        let doubts: f64 = (0..PIECES).map(|piece| (point[piece] / Self::doubt(piece)).powi(2)).sum();
        labels + (doubts + point[PIECES] * point[PIECES] / CONSTANT) / 2.0
    }

    /// The slope and a curvature that is always positive (that of Gauss and Newton).
    fn slope(&self, point: &Point) -> (Point, [Point; PIECES + 1]) {
        let factors = self.factors_at(point);
        let (mut slope, mut curvature) = ([0.0; PIECES + 1], [[0.0; PIECES + 1]; PIECES + 1]);
        for ((row, target), weight) in self.rows.iter().zip(self.targets).zip(self.weights) {
            let by: Point = std::array::from_fn(|i| if i < PIECES { row[i] * factors[i] } else { 1.0 });
            let chance = sigmoid(by[..PIECES].iter().sum::<f64>() + point[PIECES]);
            for i in 0..=PIECES {
                slope[i] += weight * (chance - target) * by[i];
                for j in 0..=PIECES {
                    curvature[i][j] += weight * chance * (1.0 - chance) * by[i] * by[j];
                }
            }
        }
        for i in 0..=PIECES {
            let precision = if i < PIECES { Self::doubt(i).powi(-2) } else { 1.0 / CONSTANT };
            slope[i] += precision * point[i];
            curvature[i][i] += precision;
        }
        (slope, curvature)
    }

    fn most_likely(&self) -> Point {
        let mut point = [0.0; PIECES + 1];
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
fn solved(mut matrix: [Point; PIECES + 1], mut right: Point) -> Point {
    for i in 0..=PIECES {
        let (pivot, above) = (matrix[i], right[i]);
        for (row, value) in matrix.iter_mut().zip(&mut right).skip(i + 1) {
            let times = row[i] / pivot[i];
            row.iter_mut().zip(pivot).for_each(|(below, above)| *below -= times * above);
            *value -= times * above;
        }
    }
    for i in (0..=PIECES).rev() {
        let known: f64 = (i + 1..=PIECES).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - known) / matrix[i][i];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    const USUAL: Factors = [0.8, 0.8, 0.8, 0.5, 0.5, 0.5];

    /// Rows that the second piece tells apart, the others not.
    fn example(rows: usize) -> (Vec<Factors>, Vec<f64>, Vec<f64>) {
        let mut random = Stream::new(4, Purpose::Shuffle, 0);
        let targets: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row % 4 == 0))).collect();
        let row = |target: &f64| {
            let mut row = [0.0; PIECES].map(|_| random.normal());
            row[1] += 2.0 * target;
            row
        };
        (targets.iter().map(row).collect(), targets, vec![1.0; rows])
    }

    #[test]
    fn slopes_are_differences() {
        let (rows, targets, weights) = example(40);
        let posterior = Posterior { rows: &rows, targets: &targets, weights: &weights, usual: &USUAL };
        let point = [0.3, -0.2, 0.1, 0.4, 0.2, -0.3, -0.5];
        let (slope, _) = posterior.slope(&point);
        for i in 0..=PIECES {
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
        let matrix: [Point; PIECES + 1] = std::array::from_fn(|i| {
            std::array::from_fn(|j| if i == j { 3.0 } else { 1.0 / (1 + i + j) as f64 })
        });
        let wanted = [1.0, -2.0, 0.5, 3.0, 4.0, -1.5, 2.5];
        let right = std::array::from_fn(|i| (0..=PIECES).map(|j| matrix[i][j] * wanted[j]).sum());
        for (found, wanted) in solved(matrix, right).iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12);
        }
    }
}
