//! Rows through the trees.

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
    pub fn splits<'b>(&self, tree: usize, values: [&'b [Lane<F>]; 2]) -> Splits<'b, F>
    where
        'a: 'b,
    {
        let depth = self.model.shape.depth;
        let (layer, t) = self.model.locate(tree);
        Splits {
            values,
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
        let shape = self.model.shape;
        let (leaves, distinct) = (shape.leaves(), self.wiring.distinct);
        let kernels = self.wiring.kernels();
        block.reserve(self.wiring.output_columns(), shape);
        let Parts { x, presence, outputs, attended } = block.parts();
        let lanes = presence.len();
        for tree in order.iter().map(|&tree| tree as usize) {
            let (earlier, own) = outputs.split_at_mut(tree * distinct * BLOCK_LANES);
            let earlier = Columns { lanes: earlier, stride: BLOCK_LANES };
            let attended = match tree.checked_sub(shape.trees) {
                Some(later) => &mut attended[later * BLOCK_LANES..later * BLOCK_LANES + lanes],
                None => &mut [],
            };
            let inputs = &self.wiring.trees[tree];
            inputs.attend(kernels, earlier, attended);
            let values = inputs.values(kernels, x, attended, lanes, &mut scratch.values);
            let splits = self.splits(tree, values);
            let moments = &mut moments[tree * leaves..(tree + 1) * leaves];
            if wanted[tree] {
                self.with_outputs(tree, own, lanes, |columns| {
                    (kernels.tree_moments)(shape.depth, &splits, presence, moments, columns);
                });
            } else {
                (kernels.tree_moments)(shape.depth, &splits, presence, moments, &mut []);
            }
        }
    }

    /// Runs a block through all trees and adds up their first outputs.
    pub fn score(&self, block: &mut Block<F>, scratch: &mut Scratch<F>, total: &mut [Lane<F>]) {
        let shape = self.model.shape;
        let kernels = self.wiring.kernels();
        let distinct = self.wiring.distinct;
        block.reserve(self.wiring.output_columns(), shape);
        let Parts { x, presence, outputs, attended } = block.parts();
        let lanes = presence.len();
        total[..lanes].fill(Lane::default());
        for tree in self.wiring.order.iter().map(|&tree| tree as usize) {
            let (earlier, own) = outputs.split_at_mut(tree * distinct * BLOCK_LANES);
            let earlier = Columns { lanes: earlier, stride: BLOCK_LANES };
            let attended = match tree.checked_sub(shape.trees) {
                Some(later) => &mut attended[later * BLOCK_LANES..later * BLOCK_LANES + lanes],
                None => &mut [],
            };
            let inputs = &self.wiring.trees[tree];
            inputs.attend(kernels, earlier, attended);
            let values = inputs.values(kernels, x, attended, lanes, &mut scratch.values);
            let splits = self.splits(tree, values);
            self.with_outputs(tree, own, lanes, |columns| {
                (kernels.tree_outputs)(shape.depth, &splits, presence, columns);
            });
            for (total, own) in total.iter_mut().zip(&own[..lanes]) {
                total.0 = std::array::from_fn(|i| total.0[i] + own.0[i]);
            }
        }
    }

    fn with_outputs(
        &self,
        tree: usize,
        own: &mut [Lane<F>],
        lanes: usize,
        run: impl FnOnce(&mut [Output<F>]),
    ) {
        let mut columns = own.chunks_exact_mut(BLOCK_LANES).enumerate().map(|(k, column)| Output {
            coefficients: self.wiring.coefficients(self.model, tree, k),
            rows: &mut column[..lanes],
        });
        match self.wiring.distinct {
            1 => run(columns.next().as_mut_slice()),
            distinct => run(&mut columns.take(distinct).collect::<Vec<_>>()),
        }
    }
}

impl<F: Real> TreeWiring<F> {
    /// The attended outputs of earlier trees, weighted and added up into `sum`; untouched if there are none.
    pub fn attend(&self, kernels: &Kernels<F>, earlier: Columns<F>, sum: &mut [Lane<F>]) {
        if !self.columns.is_empty() {
            (kernels.combine)(sum, &[], earlier, &self.columns, &self.weights);
        }
    }

    /// The two values of every row that the tree's splits look at: features weighted by the selectors, plus
    /// the attended outputs of earlier trees.
    pub fn values<'b>(
        &self,
        kernels: &Kernels<F>,
        x: Columns<'b, F>,
        attended: &[Lane<F>],
        lanes: usize,
        scratch: &'b mut [Vec<Lane<F>>; 2],
    ) -> [&'b [Lane<F>]; 2] {
        let one = F::from_f64(1.0);
        let plain = self.columns.is_empty() && self.shares.iter().all(|s| s.len() == 1 && s[0] == one);
        if plain {
            return [0, 1].map(|s| x.get(self.features[s][0] as usize, lanes));
        }
        for (s, values) in scratch.iter_mut().enumerate() {
            let base = if self.columns.is_empty() { &[] } else { &attended[..lanes] };
            (kernels.combine)(&mut values[..lanes], base, x, &self.features[s], &self.shares[s]);
        }
        let [first, second] = scratch;
        [&first[..lanes], &second[..lanes]]
    }
}
