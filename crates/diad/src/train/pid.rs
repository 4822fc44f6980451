//! The partial-identification objective: a tree is good when its leaves hold much volume and few rows, or
//! the other way round. Also the leaf weights that follow from it.

use super::trainer::StepPlan;
use crate::kernel::{Real, walsh};
use crate::settings::LeafScale;

/// Added to the range when sparsities are scaled.
const RANGE_FLOOR: f64 = 1e-6;

/// What the objective says about one step.
#[derive(Debug, Clone, Default)]
pub struct Pid<F> {
    /// -Σ over kept trees of Σ V²/D, divided by the share of trees kept on average.
    pub loss: f64,
    /// Its derivative by each leaf's row count, as polynomial coefficients, `[tree][set of splits]`; zero for
    /// trees left out.
    pub row_gains: Vec<F>,
    /// Its derivative by each leaf's volume count, likewise.
    pub volume_gains: Vec<F>,
    /// V/D of every leaf.
    pub sparsity: Vec<F>,
}

impl<F: Real> Pid<F> {
    /// Forgets the last step, and makes room for so many leaves.
    pub fn begin(&mut self, leaves: usize) {
        self.loss = 0.0;
        for part in [&mut self.row_gains, &mut self.volume_gains, &mut self.sparsity] {
            part.clear();
            part.resize(leaves, F::default());
        }
    }

    /// Evaluates what some trees add to the objective, from the leaf sums of rows and of uniform points.
    ///
    /// The sums of a tree add up to the number of rows whatever its splits do, so the totals that normalise
    /// them have no derivative.
    pub fn evaluate(
        &mut self,
        trees: impl Iterator<Item = usize>,
        [rows, volumes]: [&[F]; 2],
        leaves: usize,
        step: StepPlan,
    ) {
        let (share, smoothing) = (1.0 - step.dropout, step.smoothing);
        for tree in trees {
            let kept = step.keep[tree];
            let range = tree * leaves..(tree + 1) * leaves;
            let total = |sums: &[F]| sums.iter().map(|s| s.to_f64() + smoothing).sum::<f64>();
            let (all_rows, all_volume) = (total(&rows[range.clone()]), total(&volumes[range.clone()]));
            let factor = if kept { 1.0 / share } else { 0.0 };
            for leaf in range.clone() {
                let d = (rows[leaf].to_f64() + smoothing) / all_rows;
                let v = (volumes[leaf].to_f64() + smoothing) / all_volume;
                let sparsity = v / d;
                self.sparsity[leaf] = F::from_f64(sparsity);
                self.loss -= factor * v * sparsity;
                self.row_gains[leaf] = F::from_f64(factor * sparsity * sparsity / all_rows);
                self.volume_gains[leaf] = F::from_f64(-2.0 * factor * sparsity / all_volume);
            }
            walsh(&mut self.row_gains[range.clone()]);
            walsh(&mut self.volume_gains[range]);
        }
    }
}

/// The leaf weights that the sparsities of a layer's trees stand for.
pub fn scaled<F: Real>(sparsity: &[F], leaves: usize, scale: LeafScale) -> Vec<F> {
    let one = F::from_f64(1.0);
    let over = |values: &[F]| {
        let low = values.iter().fold(values[0], |a, &b| a.min(b));
        let high = values.iter().fold(values[0], |a, &b| a.max(b));
        (low, F::from_f64(2.0) / (high - low + F::from_f64(RANGE_FLOOR)))
    };
    let centred = |values: &[F]| {
        let (low, scale) = over(values);
        values.iter().map(|&s| (s - low) * scale - one).collect::<Vec<F>>()
    };
    match scale {
        LeafScale::Layer => centred(sparsity),
        LeafScale::Tree => sparsity.chunks_exact(leaves).flat_map(centred).collect(),
        LeafScale::Literal => {
            let literal = |tree: &[F]| {
                let (_, scale) = over(tree);
                tree.iter().map(|&s| s * scale - one).collect::<Vec<F>>()
            };
            sparsity.chunks_exact(leaves).flat_map(literal).collect()
        }
        LeafScale::None => sparsity.to_vec(),
    }
}

/// Moves the leaf weights of a layer (`[tree][output][leaf]`) towards new ones (`[tree][leaf]`).
pub fn update_leaf_weights<F: Real>(
    weights: &mut [F],
    scaled: &[F],
    leaves: usize,
    outputs: usize,
    damping: F,
) {
    let one = F::from_f64(1.0);
    for (tree, new) in weights.chunks_exact_mut(leaves * outputs).zip(scaled.chunks_exact(leaves)) {
        for output in tree.chunks_exact_mut(leaves) {
            for (w, &s) in output.iter_mut().zip(new) {
                *w = (one - damping) * *w + damping * s;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two trees of two leaves.
    const SPARSITY: [f64; 4] = [1.0, 3.0, 0.5, 4.5];

    fn near(scale: LeafScale, want: [f64; 4]) {
        for (got, want) in scaled(&SPARSITY, 2, scale).iter().zip(want) {
            assert!((got - want).abs() < 1e-5, "{scale:?}: {got} for {want}");
        }
    }

    #[test]
    fn sparsities_are_scaled_as_told() {
        near(LeafScale::Layer, [-0.75, 0.25, -1.0, 1.0]);
        near(LeafScale::Tree, [-1.0, 1.0, -1.0, 1.0]);
        near(LeafScale::Literal, [0.0, 2.0, -0.75, 1.25]);
        near(LeafScale::None, SPARSITY);
    }
}
