//! The parameters of the trees.

use crate::Params;
use crate::kernel::Real;

/// The sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Input features.
    pub features: usize,
    /// Layers.
    pub layers: usize,
    /// Trees per layer.
    pub trees: usize,
    /// Splits per tree.
    pub depth: usize,
    /// Outputs per tree.
    pub outputs: usize,
    /// Length of keys and queries.
    pub attention: usize,
    /// Trees per layer that may attend to each other.
    pub grove: usize,
}

impl Shape {
    /// The sizes that settings give a model of so many features.
    pub fn new(params: &Params, features: usize) -> Self {
        Self {
            features,
            layers: if params.weight_trees > 0.0 { params.layers } else { 0 },
            trees: params.trees,
            depth: params.depth,
            outputs: params.outputs,
            attention: params.attention,
            grove: params.grove.min(params.trees),
        }
    }
    /// Leaves per tree.
    pub fn leaves(&self) -> usize {
        1 << self.depth
    }
    /// Trees in all layers.
    pub fn all_trees(&self) -> usize {
        self.layers * self.trees
    }
    /// Trees in the layers before `layer`.
    pub fn earlier(&self, layer: usize) -> usize {
        layer * self.trees
    }
    /// Groves: attention stays within each.
    pub fn groves(&self) -> usize {
        self.trees.div_ceil(self.grove)
    }
    /// The grove of a tree.
    pub fn grove_of(&self, tree: usize) -> usize {
        tree % self.trees / self.grove
    }
    /// The trees of a grove in each layer.
    pub fn in_layer(&self, grove: usize) -> usize {
        self.grove.min(self.trees - grove * self.grove)
    }
    /// The place of a tree among those of its grove, layer after layer.
    pub fn place(&self, tree: usize) -> usize {
        let grove = self.grove_of(tree);
        tree / self.trees * self.in_layer(grove) + tree % self.trees - grove * self.grove
    }
    /// The tree at a place of a grove.
    pub fn at(&self, grove: usize, place: usize) -> usize {
        let size = self.in_layer(grove);
        place / size * self.trees + grove * self.grove + place % size
    }
}

/// How the trees of a layer pick their two features.
#[derive(Debug, Clone, PartialEq)]
pub enum Selectors<F> {
    /// Still learning: distributions over candidate features.
    Soft(SoftSelectors<F>),
    /// Decided: the two features of every tree (the same one twice for a tree of one feature).
    Fixed(Vec<[u32; 2]>),
}

/// Logits over the candidate features of every tree.
#[derive(Debug, Clone, PartialEq)]
pub struct SoftSelectors<F> {
    /// Candidates per tree.
    pub width: usize,
    /// `[tree][candidate]` features, ascending within a tree.
    pub candidates: Vec<u32>,
    /// `[tree][candidate]` logits of the first and the second selector. The second is empty in a GAM,
    /// where both selectors are the same.
    pub logits: [Vec<F>; 2],
}

impl<F: Real> SoftSelectors<F> {
    /// The candidates of a tree.
    pub fn candidates(&self, tree: usize) -> &[u32] {
        &self.candidates[tree * self.width..(tree + 1) * self.width]
    }

    /// The logits of a tree's selector; in a GAM both are the first.
    pub fn logits(&self, selector: usize, tree: usize) -> &[F] {
        let logits = if self.logits[selector].is_empty() { &self.logits[0] } else { &self.logits[selector] };
        &logits[tree * self.width..(tree + 1) * self.width]
    }

    /// The most likely feature of every selector.
    pub fn harden(&self) -> Vec<[u32; 2]> {
        let best = |selector: usize, tree: usize| {
            let logits = self.logits(selector, tree);
            let mut best = 0;
            for (i, z) in logits.iter().enumerate() {
                if *z > logits[best] {
                    best = i;
                }
            }
            self.candidates(tree)[best]
        };
        (0..self.candidates.len() / self.width).map(|tree| [best(0, tree), best(1, tree)]).collect()
    }
}

/// The parameters of one layer.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer<F> {
    /// Which features each tree looks at.
    pub selectors: Selectors<F>,
    /// `[tree][split]`.
    pub thresholds: Vec<F>,
    /// `[tree][split]`.
    pub log_slopes: Vec<F>,
    /// `[tree][output][leaf]`.
    pub leaf_weights: Vec<F>,
    /// `[output][component][earlier tree]`: what earlier outputs offer. Empty in the first layer.
    pub keys: Vec<F>,
    /// `[tree][component]`: what each tree asks for. Empty in the first layer.
    pub queries: Vec<F>,
}

/// All layers.
#[derive(Debug, Clone, PartialEq)]
pub struct Model<F> {
    /// Sizes.
    pub shape: Shape,
    /// Parameters.
    pub layers: Vec<Layer<F>>,
}

impl<F: Real> Model<F> {
    /// Makes every selector one-hot, for good.
    pub fn harden(&mut self) {
        for layer in &mut self.layers {
            if let Selectors::Soft(soft) = &layer.selectors {
                layer.selectors = Selectors::Fixed(soft.harden());
            }
        }
    }

    /// Lets trees look by turns at the features that say the same as theirs. Trees of several layers, which are linked by their
    /// features, stay as they are.
    pub fn take_turns(&mut self, copies: &[Vec<u32>]) {
        let [Layer { selectors: Selectors::Fixed(chosen), .. }] = &mut self.layers[..] else { return };
        let mut turns = vec![0; copies.len()];
        let mut next = |feature: u32| {
            let (turn, alike) = (&mut turns[feature as usize], &copies[feature as usize]);
            *turn += 1;
            alike[*turn % alike.len()]
        };
        for tree in chosen {
            let first = next(tree[0]);
            *tree = [first, if tree[1] == tree[0] { first } else { next(tree[1]) }];
        }
    }

    /// The features that any tree looks at, ascending, if every selector is one-hot.
    pub fn chosen_features(&self) -> Option<Vec<u32>> {
        let mut chosen = Vec::new();
        for layer in &self.layers {
            match &layer.selectors {
                Selectors::Fixed(features) => chosen.extend(features.iter().flatten()),
                Selectors::Soft(_) => return None,
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        Some(chosen)
    }

    /// Whether all parameters are finite and of a size that training could give them.
    pub fn is_sane(&self) -> bool {
        let within = |values: &[F], bound: f64| values.iter().all(|x| x.to_f64().abs() <= bound);
        self.layers.iter().all(|layer| {
            let tensors = [&layer.thresholds, &layer.leaf_weights, &layer.keys, &layer.queries];
            tensors.iter().all(|tensor| within(tensor, 1e12)) && within(&layer.log_slopes, 40.0)
        })
    }

    /// A lower bound of the mean of the trees for any row: a tree's output lies between its leaves.
    pub fn least(&self) -> f64 {
        let (leaves, outputs) = (self.shape.leaves(), self.shape.outputs);
        let trees = self.layers.iter().flat_map(|layer| layer.leaf_weights.chunks(leaves * outputs));
        let least =
            |tree: &[F]| tree[..leaves].iter().map(|leaf| leaf.to_f64()).fold(f64::INFINITY, f64::min);
        trees.map(least).sum::<f64>() / self.shape.all_trees().max(1) as f64
    }

    /// The layer of a tree counted over all layers, and its index there.
    pub fn locate(&self, tree: usize) -> (&Layer<F>, usize) {
        (&self.layers[tree / self.shape.trees], tree % self.shape.trees)
    }

    /// Whether all outputs of every tree are the same function, so that one column can stand for all.
    pub fn outputs_agree(&self) -> bool {
        let leaves = self.shape.leaves();
        self.layers.iter().all(|layer| {
            layer.leaf_weights.chunks(leaves * self.shape.outputs).all(|tree| {
                let (first, others) = tree.split_at(leaves);
                others.chunks(leaves).all(|other| other == first)
            })
        })
    }
}
