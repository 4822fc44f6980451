//! Learning by boosting: curves that fit the labels, made of many small steps.
//!
//! A step raises or lowers the log odds of an anomaly beyond a gap between two nodes of one column. It is drawn among all gaps
//! of all columns, with a probability proportional to its gain, and shrunk by the learning rate. Boosted steps concentrate on
//! the few columns that matter, where smooth functions spread over all; the two complement each other.

use super::FunctionParams;
use super::basis::{Basis, ColumnBasis};
use super::examples::Examples;
use super::solve::sigmoid;
use crate::function::{Curve, Functions};
use crate::rng::{Purpose, Stream};

/// The learning rate.
const RATE: f64 = 0.1;
/// L2 regularisation, added to the Hessian on either side of a gap.
const RIDGE: f64 = 1.0;
/// The least second derivative of a row: the loss of confident rows is nearly linear.
const LEAST_CURVATURE: f64 = 1e-6;

/// Labelled rows, ready to be learned from.
#[derive(Debug)]
pub struct BoostedSteps<'a> {
    basis: &'a Basis,
    examples: &'a Examples,
    steps: usize,
    seed: u64,
}

/// What was learned: the values at the nodes of each column, and at the rows.
#[derive(Debug)]
struct Learned {
    curves: Vec<Vec<f64>>,
    values: Vec<f64>,
}

/// Sums over rows of the first and second derivatives of the loss.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    slope: f64,
    curvature: f64,
}

impl Sums {
    fn add(&mut self, other: Self, times: f64) {
        self.slope += times * other.slope;
        self.curvature += times * other.curvature;
    }

    /// The Newton step, and twice the reduction of the loss.
    fn rise(&self) -> (f64, f64) {
        let rise = -self.slope / (self.curvature + RIDGE);
        (rise, -rise * self.slope)
    }
}

/// A step: what is added to the values before a gap of a column, and beyond it.
#[derive(Debug, Clone, Copy)]
struct Step {
    column: usize,
    gap: usize,
    before: f64,
    beyond: f64,
    gain: f64,
}

impl<'a> BoostedSteps<'a> {
    /// Steps along the columns of a basis at labelled rows.
    pub fn new(basis: &'a Basis, examples: &'a Examples, params: &FunctionParams) -> Self {
        Self { basis, examples, steps: params.boosted_steps, seed: params.seed }
    }

    /// The curves learned from all rows.
    pub fn tables(&self) -> Functions {
        let learned = self.learn_from(|_| true);
        let curves = self.basis.curves().zip(learned.curves);
        let curves = curves.filter(|(_, values)| values.iter().any(|&value| value != 0.0)).map(
            |((feature, axis), values)| Curve {
                feature,
                nodes: axis.nodes.clone(),
                values: values.iter().map(|&value| value as f32).collect(),
                beyond: [0.0; 2],
            },
        );
        Functions { curves: curves.collect(), grids: Vec::new() }
    }

    /// Out-of-fold values of the curves at each row.
    pub fn out_of_fold(&self, folds: usize) -> Vec<f64> {
        self.examples.out_of_fold(folds, |kept| self.learn_from(kept).values)
    }

    fn learn_from(&self, learned_from: impl Fn(usize) -> bool) -> Learned {
        let weights = self.examples.weights(learned_from);
        let targets = self.examples.targets();
        let axes: Vec<&ColumnBasis> = self.basis.curves().map(|(_, axis)| axis).collect();
        let mut learned = Learned {
            curves: axes.iter().map(|axis| vec![0.0; axis.nodes.len()]).collect(),
            values: vec![0.0; targets.len()],
        };
        let mut random = Stream::new(self.seed, Purpose::BoostedSteps, 0);
        let mut steps = Vec::new();
        for _ in 0..self.steps {
            let row = |((&value, target), weight): ((&f64, &f64), &f64)| {
                let chance = sigmoid(value);
                let curvature = (chance * (1.0 - chance)).max(LEAST_CURVATURE);
                Sums { slope: weight * (chance - target), curvature: weight * curvature }
            };
            let rows: Vec<Sums> = learned.values.iter().zip(&targets).zip(&weights).map(row).collect();
            steps.clear();
            axes.iter().enumerate().for_each(|(column, axis)| steps_along(axis, column, &rows, &mut steps));
            let Some(step) = drawn(&steps, random.unit()) else { break };
            learned.take(step, axes[step.column]);
        }
        learned
    }
}

impl Learned {
    fn take(&mut self, step: &Step, axis: &ColumnBasis) {
        let [before, beyond] = [step.before, step.beyond].map(|rise| RATE * rise);
        let (near, far) = self.curves[step.column].split_at_mut(step.gap + 1);
        near.iter_mut().for_each(|value| *value += before);
        far.iter_mut().for_each(|value| *value += beyond);
        for (value, place) in self.values.iter_mut().zip(&axis.places) {
            let share = match (place.node as usize).cmp(&step.gap) {
                std::cmp::Ordering::Less => 0.0,
                std::cmp::Ordering::Equal => f64::from(place.share),
                std::cmp::Ordering::Greater => 1.0,
            };
            *value += before + share * (beyond - before);
        }
    }
}

/// Every step of a column that reduces the loss. A row inside a gap counts on both sides, in proportion to where it lies.
fn steps_along(axis: &ColumnBasis, column: usize, rows: &[Sums], steps: &mut Vec<Step>) {
    let (mut all, mut at, mut inside) =
        (Sums::default(), vec![Sums::default(); axis.nodes.len()], vec![Sums::default(); axis.nodes.len()]);
    for (&row, place) in rows.iter().zip(&axis.places) {
        all.add(row, 1.0);
        at[place.node as usize].add(row, 1.0);
        inside[place.node as usize].add(row, f64::from(place.share));
    }
    let (_, already) = all.rise();
    let mut after = Sums::default();
    for gap in (0..axis.nodes.len() - 1).rev() {
        let (mut beyond, mut before) = (after, all);
        beyond.add(inside[gap], 1.0);
        before.add(beyond, -1.0);
        after.add(at[gap], 1.0);
        let ((before, low), (beyond, high)) = (before.rise(), beyond.rise());
        let gain = low + high - already;
        if gain > 0.0 {
            steps.push(Step { column, gap, before, beyond, gain });
        }
    }
}

/// One of the steps, drawn with a probability proportional to its gain; `None` if there are none.
fn drawn(steps: &[Step], unit: f64) -> Option<&Step> {
    let mut left = unit * steps.iter().map(|step| step.gain).sum::<f64>();
    let found = steps.iter().find(|step| {
        left -= step.gain;
        left <= 0.0
    });
    found.or(steps.last())
}

#[cfg(test)]
mod tests {
    use super::super::Labelled;
    use super::super::tests::{first, table};
    use super::*;
    use crate::metrics::roc_auc;
    use crate::score::additive::Additive;
    use crate::{Detector, Scale};

    /// Rows that are anomalies where the first column is large.
    fn example() -> (Detector, Examples) {
        let detector = first(2, Scale::Both);
        let rows = table(90, |_, _| true);
        let labels = rows.column_named("a").unwrap().iter().map(|&a| Some(a > 1.5)).collect();
        let labelled = Labelled::of(&detector, &rows, labels).unwrap();
        let examples = Examples::new(&detector, &labelled).unwrap();
        (detector, examples)
    }

    fn loss(examples: &Examples, values: &[f64]) -> f64 {
        let rows = values.iter().zip(examples.targets()).zip(examples.weights(|_| true));
        rows.map(|((&value, target), weight)| {
            weight * (super::super::solve::softplus(value) - target * value)
        })
        .sum()
    }

    #[test]
    fn values_are_those_of_the_tables() {
        let (detector, examples) = example();
        let basis = Basis::new(&detector, &examples);
        let boosted_steps = BoostedSteps::new(&basis, &examples, &FunctionParams::default());
        let values = boosted_steps.learn_from(|_| true).values;
        let scores =
            detector.score_component(&Additive::of_part("s", 1.0, boosted_steps.tables()), &examples.matrix);
        for (score, value) in scores.iter().zip(&values) {
            assert!((f64::from(*score) - value).abs() < 1e-4, "{score} is not {value}");
        }
        assert!(loss(&examples, &values) < 0.5 * loss(&examples, &vec![0.0; values.len()]));
    }

    /// To second order, a step reduces the regularised loss by half its gain.
    #[test]
    fn steps_reduce_the_loss_by_their_gain() {
        let (detector, examples) = example();
        let basis = Basis::new(&detector, &examples);
        let weights = examples.weights(|_| true);
        let slope =
            |(weight, target): (&f64, f64)| Sums { slope: weight * (0.5 - target), curvature: weight / 4.0 };
        let rows: Vec<Sums> = weights.iter().zip(examples.targets()).map(slope).collect();
        let mut steps = Vec::new();
        for (column, (_, axis)) in basis.curves().enumerate() {
            steps_along(axis, column, &rows, &mut steps);
        }
        assert!(steps.len() > 50, "{}", steps.len());
        let axes: Vec<&ColumnBasis> = basis.curves().map(|(_, axis)| axis).collect();
        for step in &steps {
            // The plain version: sums over the rows on either side.
            let side = |beyond: bool| {
                let mut sums = Sums::default();
                for (row, place) in rows.iter().zip(&axes[step.column].places) {
                    let node = place.node as usize;
                    let share = f64::from(u8::from(node > step.gap))
                        + if node == step.gap { f64::from(place.share) } else { 0.0 };
                    sums.add(*row, if beyond { share } else { 1.0 - share });
                }
                sums.rise()
            };
            let ((before, low), (beyond, high)) = (side(false), side(true));
            let mut all = Sums::default();
            rows.iter().for_each(|row| all.add(*row, 1.0));
            assert!((step.before - before).abs() < 1e-9 && (step.beyond - beyond).abs() < 1e-9);
            assert!((step.gain - (low + high - all.rise().1)).abs() < 1e-9);
        }
    }

    /// As if the rows held out had never been there, but for where they lie among the nodes.
    #[test]
    fn rows_held_out_teach_nothing() {
        let (detector, examples) = example();
        let held_out =
            BoostedSteps::new(&Basis::new(&detector, &examples), &examples, &FunctionParams::default())
                .out_of_fold(3);
        for (fold, (kept, out)) in examples.folds(3).iter().enumerate() {
            let basis = Basis::new(&detector, kept);
            let plain = Additive::of_part(
                "s",
                1.0,
                BoostedSteps::new(&basis, kept, &FunctionParams::default()).tables(),
            );
            let plain = detector.score_component(&plain, &out.matrix);
            let rows = (0..examples.labels.len()).filter(|&row| examples.fold(row, 3) == fold);
            for (row, plain) in rows.zip(plain) {
                assert!((held_out[row] - f64::from(plain)).abs() < 1e-3, "{} is not {plain}", held_out[row]);
            }
        }
        let held_out: Vec<f32> = held_out.iter().map(|&value| value as f32).collect();
        assert!(roc_auc(&examples.labels, &held_out) > Some(0.9));
    }

    #[test]
    fn steps_are_drawn_in_proportion_to_their_gains() {
        let step = |column, gain| Step { column, gap: 0, before: 0.0, beyond: 0.0, gain };
        let steps = [step(0, 1.0), step(1, 3.0)];
        let taken = |unit| drawn(&steps, unit).map(|step| step.column);
        assert_eq!([0.0, 0.2, 0.3, 0.99, 1.0].map(taken), [Some(0), Some(0), Some(1), Some(1), Some(1)]);
        assert!(drawn(&[], 0.5).is_none());
    }
}
