//! Which trees have a derivative at this step, and where it comes from.

use crate::kernel::Real;
use crate::model::{Model, Wiring};
use crate::settings::MatchGradient;

/// The trees that look at one output column.
#[derive(Debug, Clone, Default)]
pub struct Users<F> {
    /// Trees, counted from the second layer's first.
    pub trees: Vec<u32>,
    /// Their weights ω.
    pub weights: Vec<F>,
}

/// Where the parts of a tree's gradient lie in a flat buffer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Thresholds, then log slopes: `depth` each.
    pub splits: usize,
    /// The shares of the two selectors; empty once one-hot.
    pub shares: [usize; 2],
    /// The weights ω of the attended columns.
    pub columns: usize,
    /// Leaf weights, output after output and as moments, when asked for.
    pub leaves: usize,
    /// One past the end.
    pub end: usize,
}

/// The plan of one step's backward pass.
#[derive(Debug, Clone)]
pub struct Plan<F> {
    /// Whether a tree's outputs are looked at by a later tree.
    pub wanted: Vec<bool>,
    /// Whether a tree has a derivative.
    pub active: Vec<bool>,
    /// By output column, the active trees that look at it.
    pub users: Vec<Users<F>>,
    /// By tree, its place in the gradient buffer.
    pub spans: Vec<Span>,
    /// Whose selectors learn from how well two trees match.
    pub match_gradient: MatchGradient,
}

impl<F> Default for Plan<F> {
    fn default() -> Self {
        Self {
            wanted: Vec::new(),
            active: Vec::new(),
            users: Vec::new(),
            spans: Vec::new(),
            match_gradient: MatchGradient::Both,
        }
    }
}

impl<F: Real> Plan<F> {
    /// Works out the plan when the trees in `direct` are in the loss themselves.
    pub fn update(&mut self, model: &Model<F>, wiring: &Wiring<F>, direct: &[bool], leaf_gradients: bool) {
        let shape = model.shape;
        let trees = shape.all_trees();
        self.wanted.clear();
        self.wanted.resize(trees, false);
        self.active.clear();
        self.active.extend_from_slice(direct);
        self.users.resize(wiring.output_columns(), Users::default());
        for users in &mut self.users {
            users.trees.clear();
            users.weights.clear();
        }
        for tree in (shape.trees..trees).rev() {
            let inputs = &wiring.trees[tree];
            for (&column, &weight) in inputs.columns.iter().zip(&inputs.weights) {
                let source = column as usize / wiring.distinct;
                self.wanted[source] = true;
                if self.active[tree] {
                    self.active[source] = true;
                    let users = &mut self.users[column as usize];
                    users.trees.push((tree - shape.trees) as u32);
                    users.weights.push(weight);
                }
            }
        }
        self.place(model, wiring, leaf_gradients);
    }

    fn place(&mut self, model: &Model<F>, wiring: &Wiring<F>, leaf_gradients: bool) {
        self.spans.clear();
        let mut end = 0;
        for (tree, &active) in self.active.iter().enumerate() {
            let inputs = &wiring.trees[tree];
            let size = |n: usize| if active { n } else { 0 };
            let soft = |s: usize| if wiring.one_hot { 0 } else { inputs.shares[s].len() };
            let splits = end;
            let first = splits + size(2 * model.shape.depth);
            let second = first + size(soft(0));
            let columns = second + size(soft(1));
            let leaves = columns + size(inputs.columns.len());
            end = leaves + size(if leaf_gradients { model.shape.outputs * model.shape.leaves() } else { 0 });
            self.spans.push(Span { splits, shares: [first, second], columns, leaves, end });
        }
    }

    /// Length of the gradient buffer.
    pub fn gradient_len(&self) -> usize {
        self.spans.last().map_or(0, |s| s.end)
    }
}
