//! Which columns flow into which tree, with what weight: selectors and attention. Neither depends on the
//! rows, both are sparse, so they are worked out once a step and used for every block.

use rayon::prelude::*;

use super::attention::{Link, Search, longest_key, pack_keys};
use super::{Model, Selectors};
use crate::kernel::{Columns, Entmax, Isa, Kernels, LANES, Lane, Real, walsh};

/// Everything that flows into one tree.
#[derive(Debug, Clone, Default)]
pub struct TreeWiring<F> {
    /// Features of the two selectors…
    pub features: [Vec<u32>; 2],
    /// … and their shares.
    pub shares: [Vec<F>; 2],
    /// The support of the attention.
    pub links: Vec<Link<F>>,
    /// Output columns of earlier trees, …
    pub columns: Vec<u32>,
    /// … and their weights ω.
    pub weights: Vec<F>,
    /// Which of the wiring's groups of trees of the same features this one is in, once selectors are one-hot.
    group: u32,
}

/// The wiring of all trees at one step.
#[derive(Debug)]
pub struct Wiring<F: 'static> {
    /// One entry per tree, over all layers.
    pub trees: Vec<TreeWiring<F>>,
    /// exp(-log slope) / temperature / 2, `[tree][split]` over all layers.
    pub steepness: Vec<F>,
    /// The leaf weights as polynomial coefficients, `[tree][output][set of splits]`.
    coefficients: Vec<F>,
    /// The trees in an order in which each comes after those it looks at, and trees of the same features come
    /// together, so that what they pass on is still in the nearest cache.
    pub order: Vec<u32>,
    /// Output columns per tree: 1 when all its outputs agree, else all.
    pub distinct: usize,
    /// Whether the selectors are one-hot.
    pub one_hot: bool,
    /// Whether every output keeps a column of its own even when all agree: needed for leaf-weight gradients.
    pub separate: bool,
    /// Whether links are kept after the columns follow from them: needed for gradients.
    pub keep_links: bool,
    /// Dense selectors `[feature][tree]`, while soft.
    dense: [Vec<Lane<F>>; 2],
    dense_stride: usize,
    /// Trees of the same features, ascending, once selectors are one-hot.
    groups: Vec<Vec<u32>>,
    keys: Vec<Vec<Lane<F>>>,
    kernels: &'static Kernels<F>,
}

impl<F: Real> Wiring<F> {
    /// Room for the wiring of a model.
    pub fn new(model: &Model<F>, isa: Isa) -> Self {
        Self {
            trees: vec![TreeWiring::default(); model.shape.all_trees()],
            steepness: vec![F::default(); model.shape.all_trees() * model.shape.depth],
            coefficients: Vec::new(),
            order: (0..model.shape.all_trees() as u32).collect(),
            distinct: model.shape.outputs,
            one_hot: false,
            separate: false,
            keep_links: true,
            dense: [Vec::new(), Vec::new()],
            dense_stride: 0,
            groups: Vec::new(),
            keys: vec![Vec::new(); model.shape.layers],
            kernels: F::kernels(isa),
        }
    }

    /// The kernels in use.
    pub fn kernels(&self) -> &'static Kernels<F> {
        self.kernels
    }

    /// Trees of the same features, which nothing but each other flows into. Empty until selectors are one-hot.
    pub fn groups(&self) -> &[Vec<u32>] {
        &self.groups
    }

    /// Output columns in all.
    pub fn output_columns(&self) -> usize {
        self.trees.len() * self.distinct
    }

    /// The share of `feature` in a selector of a tree, while soft.
    pub fn dense_share(&self, selector: usize, feature: u32, tree: u32) -> F {
        self.dense[selector][feature as usize * self.dense_stride + tree as usize / LANES].0
            [tree as usize % LANES]
    }

    /// Works out the wiring of a model at a temperature.
    pub fn update(&mut self, model: &Model<F>, temperature: F) {
        self.distinct = if !self.separate && model.outputs_agree() { 1 } else { model.shape.outputs };
        self.set_steepness(model, temperature);
        self.set_coefficients(model);
        let one_hot = model.layers.iter().all(|l| matches!(l.selectors, Selectors::Fixed(_)));
        if !(one_hot && self.one_hot) {
            self.select(model, temperature);
        }
        if one_hot && !self.one_hot {
            self.group();
        }
        self.one_hot = one_hot;
        if model.shape.layers > 1 {
            if !one_hot {
                self.fill_dense(model);
            }
            self.attend(model);
        }
    }

    fn set_steepness(&mut self, model: &Model<F>, temperature: F) {
        let half = F::from_f64(0.5);
        let slopes = model.layers.iter().flat_map(|l| &l.log_slopes);
        for (steepness, &slope) in self.steepness.iter_mut().zip(slopes) {
            *steepness = (-slope).exp() * half / temperature;
        }
    }

    fn set_coefficients(&mut self, model: &Model<F>) {
        self.coefficients.clear();
        for layer in &model.layers {
            self.coefficients.extend_from_slice(&layer.leaf_weights);
        }
        self.coefficients.par_chunks_exact_mut(model.shape.leaves()).with_min_len(64).for_each(walsh);
    }

    /// The polynomial coefficients of one output of a tree.
    pub fn coefficients(&self, model: &Model<F>, tree: usize, output: usize) -> &[F] {
        let leaves = model.shape.leaves();
        let start = (tree * model.shape.outputs + output) * leaves;
        &self.coefficients[start..start + leaves]
    }

    fn select(&mut self, model: &Model<F>, temperature: F) {
        let one = F::from_f64(1.0);
        self.trees.par_iter_mut().enumerate().with_min_len(32).for_each_init(
            || (Entmax::default(), Vec::new()),
            |(entmax, scaled), (tree, wiring)| {
                let (layer, t) = model.locate(tree);
                for s in 0..2 {
                    let (features, shares) = (&mut wiring.features[s], &mut wiring.shares[s]);
                    features.clear();
                    shares.clear();
                    match &layer.selectors {
                        Selectors::Fixed(chosen) => {
                            features.push(chosen[t][s]);
                            shares.push(one);
                        }
                        Selectors::Soft(soft) => {
                            scaled.clear();
                            scaled.extend(soft.logits(s, t).iter().map(|&z| z / temperature));
                            let candidates = soft.candidates(t);
                            entmax.support(scaled, |i, share| {
                                features.push(candidates[i as usize]);
                                shares.push(share);
                            });
                        }
                    }
                }
            },
        );
    }

    /// Sorts the trees into groups of the same features.
    fn group(&mut self) {
        let pairs: Vec<[u32; 2]> = self
            .trees
            .iter()
            .map(|w| {
                let (a, b) = (w.features[0][0], w.features[1][0]);
                [a.min(b), a.max(b)]
            })
            .collect();
        self.order.sort_by_key(|&tree| (pairs[tree as usize], tree));
        self.groups = self
            .order
            .chunk_by(|&a, &b| pairs[a as usize] == pairs[b as usize])
            .map(<[u32]>::to_vec)
            .collect();
        for (index, group) in self.groups.iter().enumerate() {
            for &tree in group {
                self.trees[tree as usize].group = index as u32;
            }
        }
    }

    fn fill_dense(&mut self, model: &Model<F>) {
        self.dense_stride = self.trees.len().div_ceil(LANES);
        for (s, dense) in self.dense.iter_mut().enumerate() {
            dense.clear();
            dense.resize(model.shape.features * self.dense_stride, Lane::default());
            for (tree, wiring) in self.trees.iter().enumerate() {
                for (&feature, &share) in wiring.features[s].iter().zip(&wiring.shares[s]) {
                    dense[feature as usize * self.dense_stride + tree / LANES].0[tree % LANES] = share;
                }
            }
        }
    }

    fn attend(&mut self, model: &Model<F>) {
        for (lanes, (index, layer)) in self.keys.iter_mut().zip(model.layers.iter().enumerate()).skip(1) {
            pack_keys(lanes, layer, model.shape.earlier(index));
        }
        let shape = model.shape;
        let longest_keys: Vec<F> = (model.layers.iter().enumerate())
            .map(|(index, layer)| longest_key(layer, shape.earlier(index), shape.attention))
            .collect();
        let (dense, stride) = (&self.dense, self.dense_stride);
        let dense = [0, 1].map(|s| Columns { lanes: &dense[s], stride });
        let (one_hot, distinct, kernels, keys) = (self.one_hot, self.distinct, self.kernels, &self.keys);
        let (groups, keep_links) = (&self.groups, self.keep_links);
        let first = model.shape.trees;
        self.trees[first..].par_iter_mut().enumerate().with_min_len(8).for_each_init(
            Search::default,
            |search, (i, wiring)| {
                let tree = first + i;
                let (layer, t) = model.locate(tree);
                let earlier = model.shape.earlier(tree / model.shape.trees);
                let width = model.shape.attention;
                let query = &layer.queries[t * width..(t + 1) * width];
                let longest_key = longest_keys[tree / model.shape.trees];
                let keys =
                    Columns { lanes: &keys[tree / model.shape.trees], stride: earlier.div_ceil(LANES) };
                // Earlier trees of the same features, the only ones that match a one-hot tree.
                let twins = match groups.get(wiring.group as usize) {
                    Some(group) => &group[..group.partition_point(|&q| (q as usize) < earlier)],
                    None => &[],
                };
                if !(one_hot && search.link_twins(wiring, twins, keys, query, longest_key)) {
                    search.size(earlier);
                    if one_hot {
                        search.match_twins(twins);
                    } else {
                        search.match_soft(kernels, wiring, dense);
                    }
                    search.score(kernels, keys, query, earlier, model.shape.outputs);
                    search.link(wiring, earlier, one_hot.then_some(twins));
                }
                search.merge(wiring, distinct);
                if !keep_links {
                    wiring.links = Vec::new();
                }
            },
        );
    }
}
