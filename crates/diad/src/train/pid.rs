//! The partial-identification objective: a tree is good when its leaves hold much volume and few rows, or
//! the other way round. Also the leaf weights that follow from it.

use super::trainer::StepPlan;
use crate::kernel::{Real, walsh};

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

/// Moves the leaf weights of a layer (`[tree][output][leaf]`) towards its sparsities, scaled to [-1, 1] over
/// all its trees.
pub fn update_leaf_weights<F: Real>(
    weights: &mut [F],
    sparsity: &[F],
    leaves: usize,
    outputs: usize,
    damping: F,
) {
    let first = sparsity[0];
    let low = sparsity.iter().fold(first, |a, &b| a.min(b));
    let high = sparsity.iter().fold(first, |a, &b| a.max(b));
    let scale = F::from_f64(2.0) / (high - low + F::from_f64(RANGE_FLOOR));
    let one = F::from_f64(1.0);
    for (tree, new) in weights.chunks_exact_mut(leaves * outputs).zip(sparsity.chunks_exact(leaves)) {
        for output in tree.chunks_exact_mut(leaves) {
            for (w, &s) in output.iter_mut().zip(new) {
                *w = (one - damping) * *w + damping * ((s - low) * scale - one);
            }
        }
    }
}
