//! The forward pass: rows through the trees.

use super::block::Parts;
use super::{BLOCK_LANES, Block, Model, TreeWiring, Wiring};
use crate::kernel::{Columns, Kernels, Lane, Output, Real, Splits};

/// Working space of one thread.
#[derive(Debug, Clone)]
pub struct Scratch<F> {
    /// The two values of each row at the current tree.
    pub values: [Vec<Lane<F>>; 2],
}

impl<F: Real> Default for Scratch<F> {
    fn default() -> Self {
        Self { values: [vec![Lane::default(); BLOCK_LANES], vec![Lane::default(); BLOCK_LANES]] }
    }
}

/// A model and its wiring, ready to be applied to blocks.
#[derive(Debug, Clone, Copy)]
pub struct Forward<'a, F: 'static> {
    /// The parameters.
    pub model: &'a Model<F>,
    /// What flows where.
    pub wiring: &'a Wiring<F>,
}

impl<'a, F: Real> Forward<'a, F> {
    /// The splits of a tree over given values.
    pub fn splits<'b>(
        &self,
        tree: usize,
        values: [&'b [Lane<F>]; 2],
        attended: &'b [Lane<F>],
    ) -> Splits<'b, F>
    where
        'a: 'b,
    {
        let depth = self.model.shape.depth;
        let (layer, t) = self.model.locate(tree);
        Splits {
            values,
            added: attended,
            thresholds: &layer.thresholds[t * depth..(t + 1) * depth],
            steepness: &self.wiring.steepness[tree * depth..(tree + 1) * depth],
        }
    }

    /// Runs a block through some trees in order, adding to their moments (`[tree][set of splits]`, over all
    /// layers) and writing the outputs of those that `wanted` names.
    pub fn trees(
        &self,
        order: &[u32],
        block: &mut Block<F>,
        scratch: &mut Scratch<F>,
        moments: &mut [F],
        wanted: &[bool],
    ) {
        let (depth, leaves) = (self.model.shape.depth, self.model.shape.leaves());
        let kernels = self.wiring.kernels();
        self.each_tree(order, block, scratch, |tree, splits, presence, own| {
            let moments = &mut moments[tree * leaves..(tree + 1) * leaves];
            if wanted[tree] {
                self.with_outputs(tree, own, presence.len(), &mut [], |columns| {
                    (kernels.tree_moments)(depth, splits, presence, moments, columns);
                });
            } else {
                (kernels.tree_moments)(depth, splits, presence, moments, &mut []);
            }
        });
    }

    /// Runs a block through all trees and adds up their first outputs.
    #[cfg(test)]
    pub fn score(&self, block: &mut Block<F>, scratch: &mut Scratch<F>, total: &mut [Lane<F>]) {
        self.sum(&self.wiring.order, block, scratch, total);
    }

    /// Runs a block through some trees, in an order in which each comes after those it looks at, and adds up their
    /// first outputs.
    pub fn sum(&self, order: &[u32], block: &mut Block<F>, scratch: &mut Scratch<F>, total: &mut [Lane<F>]) {
        let (kernels, depth) = (self.wiring.kernels(), self.model.shape.depth);
        let total = &mut total[..block.lanes()];
        total.fill(Lane::default());
        self.each_tree(order, block, scratch, |tree, splits, presence, own| {
            self.with_outputs(tree, own, presence.len(), total, |columns| {
                (kernels.tree_outputs)(depth, splits, presence, columns);
            });
        });
    }

    /// Calls `run` for some trees in order with the tree, its splits, the presence of the rows, and the output columns
    /// from its own on.
    fn each_tree(
        &self,
        order: &[u32],
        block: &mut Block<F>,
        scratch: &mut Scratch<F>,
        mut run: impl FnMut(usize, &Splits<F>, &[Lane<F>], &mut [Lane<F>]),
    ) {
        let shape = self.model.shape;
        let kernels = self.wiring.kernels();
        block.reserve(self.wiring.output_columns(), shape);
        let Parts { x, presence, outputs, attended, zeros } = block.parts();
        let lanes = presence.len();
        for tree in order.iter().map(|&tree| tree as usize) {
            let (earlier, own) = outputs.split_at_mut(tree * self.wiring.distinct * lanes);
            let earlier = Columns { lanes: earlier, stride: lanes };
            let inputs = &self.wiring.trees[tree];
            let attended = match tree.checked_sub(shape.trees) {
                Some(later) => {
                    let sum = &mut attended[later * lanes..(later + 1) * lanes];
                    inputs.attend(kernels, earlier, sum);
                    sum
                }
                None => zeros,
            };
            let values = inputs.values(kernels, x, lanes, &mut scratch.values);
            run(tree, &self.splits(tree, values, attended), presence, own);
        }
    }

    /// Calls `run` with the columns of a tree's distinct outputs; the first is added to `total` as well.
    fn with_outputs(
        &self,
        tree: usize,
        own: &mut [Lane<F>],
        lanes: usize,
        total: &mut [Lane<F>],
        run: impl FnOnce(&mut [Output<F>]),
    ) {
        let mut total = Some(total);
        let mut columns = own.chunks_exact_mut(lanes).enumerate().map(|(k, column)| Output {
            coefficients: self.wiring.coefficients(self.model, tree, k),
            rows: column,
            total: total.take().unwrap_or_default(),
        });
        match self.wiring.distinct {
            1 => run(columns.next().as_mut_slice()),
            distinct => run(&mut columns.take(distinct).collect::<Vec<_>>()),
        }
    }
}

impl<F: Real> TreeWiring<F> {
    /// The attended outputs of earlier trees, weighted and added up into `sum`.
    pub fn attend(&self, kernels: &Kernels<F>, earlier: Columns<F>, sum: &mut [Lane<F>]) {
        (kernels.combine)(sum, &[], earlier, &self.columns, &self.weights);
    }

    /// The features of every row that the tree's splits look at, weighted by its two selectors.
    pub fn values<'b>(
        &self,
        kernels: &Kernels<F>,
        x: Columns<'b, F>,
        lanes: usize,
        scratch: &'b mut [Vec<Lane<F>>; 2],
    ) -> [&'b [Lane<F>]; 2] {
        let [first, second] = scratch;
        let value = |s: usize, scratch: &'b mut Vec<Lane<F>>| -> &'b [Lane<F>] {
            match (&self.features[s][..], &self.shares[s][..]) {
                (&[feature], &[share]) if share == F::from_f64(1.0) => x.get(feature as usize, lanes),
                (features, shares) => {
                    (kernels.combine)(&mut scratch[..lanes], &[], x, features, shares);
                    &scratch[..lanes]
                }
            }
        };
        [value(0, first), value(1, second)]
    }
}
