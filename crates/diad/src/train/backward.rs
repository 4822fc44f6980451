//! The backward pass of a block of rows: from the loss to each tree's splits, selectors and attention.

use super::plan::Plan;
use crate::kernel::{Columns, Gradients, Lane, Real, Upstream};
use crate::model::{BLOCK_LANES, Block, Forward};

/// How the loss reaches the trees directly.
#[derive(Debug, Clone, Copy)]
pub enum Direct<'a, F> {
    /// Through the leaf sums, for the trees marked.
    Leaves {
        /// Derivatives by each leaf sum as polynomial coefficients, `[tree][set of splits]`.
        gains: &'a [F],
        /// Trees in the loss.
        trees: &'a [bool],
    },
    /// Through the score of each row: derivatives by the first output of every tree.
    Rows(&'a [Lane<F>]),
}

/// Working space of one thread.
#[derive(Debug, Clone)]
pub struct BackwardScratch<F> {
    values: [Vec<Lane<F>>; 2],
    /// Derivatives by the outputs of the current tree, output after output.
    upstream: Vec<Lane<F>>,
    by_value: [Vec<Lane<F>>; 2],
    unused: Vec<Lane<F>>,
    /// Derivatives by the sum of both values, for every tree from the second layer on.
    by_tree: Vec<Lane<F>>,
}

impl<F: Real> Default for BackwardScratch<F> {
    fn default() -> Self {
        let column = || vec![Lane::default(); BLOCK_LANES];
        Self {
            values: [column(), column()],
            upstream: Vec::new(),
            by_value: [column(), column()],
            unused: column(),
            by_tree: Vec::new(),
        }
    }
}

/// Adds a block's share of the gradient to `gradient`, laid out by `plan`, for trees in an order in which each comes after
/// those it looks at. The block holds what its forward pass left behind.
pub fn backward<F: Real>(
    forward: Forward<F>,
    order: &[u32],
    plan: &Plan<F>,
    block: &Block<F>,
    direct: Direct<F>,
    scratch: &mut BackwardScratch<F>,
    gradient: &mut [F],
) {
    let shape = forward.model.shape;
    let (depth, leaves, lanes) = (shape.depth, shape.leaves(), block.lanes());
    let kernels = forward.wiring.kernels();
    let BackwardScratch { values: values_scratch, upstream, by_value, unused, by_tree } = scratch;
    by_tree.resize((shape.all_trees() - shape.trees) * lanes, Lane::default());
    upstream.resize(shape.outputs * lanes, Lane::default());
    for tree in order.iter().rev().map(|&t| t as usize).filter(|&t| plan.active[t]) {
        let inputs = &forward.wiring.trees[tree];
        let span = plan.spans[tree];
        let later = Columns { lanes: by_tree, stride: lanes };
        let present = gather(forward, plan, direct, later, tree, lanes, upstream);
        let up = |k: usize| Upstream {
            coefficients: forward.wiring.coefficients(forward.model, tree, k),
            rows: &upstream[k * lanes..(k + 1) * lanes],
        };
        let ups: Vec<Upstream<F>> = (0..forward.wiring.distinct).filter(|&k| present[k]).map(up).collect();

        let values = inputs.values(kernels, block.x(), lanes, values_scratch);
        let splits = forward.splits(tree, values, block.attended(tree));
        let gains = match direct {
            Direct::Leaves { gains, trees } if trees[tree] => &gains[tree * leaves..(tree + 1) * leaves],
            _ => &[],
        };
        let (by_thresholds, by_slopes) = gradient[span.splits..span.splits + 2 * depth].split_at_mut(depth);
        let [first, second] = by_value;
        let both = match tree.checked_sub(shape.trees) {
            Some(later) => &mut by_tree[later * lanes..(later + 1) * lanes],
            None => &mut unused[..lanes],
        };
        let values = (!forward.wiring.one_hot).then_some([&mut first[..lanes], &mut second[..lanes]]);
        let mut out = Gradients { both, values, thresholds: by_thresholds, log_slopes: by_slopes };
        (kernels.tree_backward)(depth, &splits, block.presence(), gains, &ups, &mut out);

        if span.leaves < span.end {
            for (k, moments) in gradient[span.leaves..span.end].chunks_exact_mut(leaves).enumerate() {
                if present[k] {
                    let rows = &upstream[k * lanes..(k + 1) * lanes];
                    (kernels.tree_moments)(depth, &splits, rows, moments, &mut []);
                }
            }
        }
        if !forward.wiring.one_hot {
            for s in 0..2 {
                let end = if s == 0 { span.shares[1] } else { span.columns };
                let out = &mut gradient[span.shares[s]..end];
                (kernels.dots)(out, &by_value[s][..lanes], block.x(), &inputs.features[s]);
            }
        }
        if !inputs.columns.is_empty() {
            let start = (tree - shape.trees) * lanes;
            let sum = &by_tree[start..start + lanes];
            (kernels.dots)(&mut gradient[span.columns..span.leaves], sum, block.outputs(), &inputs.columns);
        }
    }
}

/// Collects the derivatives by each output of a tree from the later trees that look at it. Says which outputs
/// have any.
fn gather<F: Real>(
    forward: Forward<F>,
    plan: &Plan<F>,
    direct: Direct<F>,
    later: Columns<F>,
    tree: usize,
    lanes: usize,
    upstream: &mut [Lane<F>],
) -> [bool; 8] {
    let kernels = forward.wiring.kernels();
    let mut present = [false; 8];
    for k in 0..forward.wiring.distinct {
        let users = &plan.users[tree * forward.wiring.distinct + k];
        let rows = &mut upstream[k * lanes..(k + 1) * lanes];
        let base: &[Lane<F>] = match direct {
            Direct::Rows(by_score) if k == 0 => by_score,
            _ => &[],
        };
        present[k] = !(base.is_empty() && users.trees.is_empty());
        (kernels.combine)(rows, base, later, &users.trees, &users.weights);
    }
    present
}
