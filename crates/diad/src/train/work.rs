//! How much a step computes, counted from what the kernels do, for comparing measured times with the machine's
//! limits.

use super::plan::Plan;
use crate::kernel::Real;
use crate::model::{Model, Wiring};

/// The arithmetic of a training step on its rows and points. What does not depend on them, such as matching trees
/// with each other, is left out.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct Work {
    /// Floating-point operations in the trees; a multiply-add, a root and a division count as 2, 1 and 1.
    pub tree_flops: f64,
    /// Floating-point operations in weighted sums of columns and their derivatives: selectors and attention.
    pub column_flops: f64,
    /// Bytes of columns read by those sums, from whatever cache holds them.
    pub column_bytes: f64,
}

impl Work {
    pub(super) fn of_step<F: Real>(
        model: &Model<F>,
        wiring: &Wiring<F>,
        plan: &Plan<F>,
        rows: usize,
    ) -> Self {
        let shape = model.shape;
        let (depth, leaves) = (shape.depth as f64, shape.leaves() as f64);
        // Per row, as written in `kernel/tree`: position and root of each split, products, sums, polynomial.
        let split = 8.0;
        let moments = 2.0 * leaves;
        let output = 2.0 * (leaves - 1.0);
        let slopes = 2.0 * (leaves - 1.0) + 2.0 * (leaves - 1.0 - depth) + leaves / 2.0 - depth;
        let derivative = 4.0 + 5.0 + 3.0;
        let (mut tree_flops, mut columns) = (0.0, 0.0);
        for (tree, inputs) in wiring.trees.iter().enumerate() {
            let attended = inputs.columns.len() as f64;
            let shares: usize = inputs.shares.iter().map(Vec::len).filter(|&n| n > 1).sum();
            let shares = shares as f64;
            let wanted = if plan.wanted[tree] { wiring.distinct as f64 } else { 0.0 };
            tree_flops += 2.0 + depth * split + moments + wanted * output;
            columns += attended + shares;
            if plan.active[tree] {
                tree_flops += 2.0 + depth * (split + derivative) + slopes;
                // the values once more, their derivatives, and the way back to the attended trees
                columns += 2.0 * shares + 2.0 * attended;
            }
        }
        let rows = rows as f64;
        let bytes = std::mem::size_of::<F>() as f64;
        Self {
            tree_flops: rows * tree_flops,
            column_flops: rows * 2.0 * columns,
            column_bytes: rows * bytes * columns,
        }
    }
}
