//! Which columns flow into which tree, with what weight: selectors and attention. Neither depends on the
//! rows, both are sparse, so they are worked out once a step and used for every block.

use super::attention::{Link, Search, longest_key, pack_keys};
use super::{Model, Selectors, Shape};
use crate::kernel::{Columns, Entmax, Isa, Kernels, LANES, Lane, Real, Vectorized, walsh};
use crate::parallel::{self, Spaces};

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

/// Both selectors of the trees of a grove, `[feature][place]`.
#[derive(Debug, Clone, Default)]
struct Dense<F> {
    selectors: [Vec<Lane<F>>; 2],
    stride: usize,
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
    /// The trees in an order in which each comes after those it looks at: grove after grove, and in each trees of the same
    /// features together, so that what they pass on is still in the nearest cache.
    pub order: Vec<u32>,
    /// Output columns per tree: 1 when all its outputs agree, else all.
    pub distinct: usize,
    /// Whether the selectors are one-hot.
    pub one_hot: bool,
    /// Whether every output keeps a column of its own even when all agree: needed for leaf-weight gradients.
    pub separate: bool,
    /// Whether links are kept after the columns follow from them: needed for gradients.
    pub keep_links: bool,
    /// Of each grove the dense selectors, while soft.
    dense: Vec<Dense<F>>,
    /// Trees of the same features, grove after grove, ascending in each, once selectors are one-hot.
    groups: Vec<Vec<u32>>,
    /// Of each layer and grove the keys.
    keys: Vec<Vec<Vec<Lane<F>>>>,
    shape: Shape,
    kernels: &'static Kernels<F>,
}

impl<F: Real> Wiring<F> {
    /// Room for the wiring of a model.
    pub fn new(model: &Model<F>, isa: Isa) -> Self
    where
        F: Vectorized,
    {
        let shape = model.shape;
        let mut order: Vec<u32> = (0..shape.all_trees() as u32).collect();
        order.sort_by_key(|&tree| (shape.grove_of(tree as usize), tree));
        Self {
            trees: vec![TreeWiring::default(); model.shape.all_trees()],
            steepness: vec![F::default(); model.shape.all_trees() * model.shape.depth],
            coefficients: Vec::new(),
            order,
            distinct: model.shape.outputs,
            one_hot: false,
            separate: false,
            keep_links: true,
            dense: Vec::new(),
            groups: Vec::new(),
            keys: vec![vec![Vec::new(); shape.groves()]; shape.layers],
            shape,
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

    /// The part of the order that is a grove's.
    pub fn order_of(&self, grove: usize) -> &[u32] {
        let Shape { layers, grove: size, .. } = self.shape;
        let start = layers * grove * size;
        &self.order[start..start + layers * self.shape.in_layer(grove)]
    }

    /// Output columns in all.
    pub fn output_columns(&self) -> usize {
        self.trees.len() * self.distinct
    }

    /// The share of `feature` in a selector of a tree, while soft.
    pub fn dense_share(&self, selector: usize, feature: u32, tree: u32) -> F {
        let dense = &self.dense[self.shape.grove_of(tree as usize)];
        let place = self.shape.place(tree as usize);
        dense.selectors[selector][feature as usize * dense.stride + place / LANES].0[place % LANES]
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
                self.fill_dense();
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
        let leaves = model.shape.leaves();
        parallel::for_each(self.coefficients.chunks_mut(64 * leaves), &|_, trees| {
            trees.chunks_exact_mut(leaves).for_each(walsh);
        });
    }

    /// The polynomial coefficients of one output of a tree.
    pub fn coefficients(&self, model: &Model<F>, tree: usize, output: usize) -> &[F] {
        let leaves = model.shape.leaves();
        let start = (tree * model.shape.outputs + output) * leaves;
        &self.coefficients[start..start + leaves]
    }

    fn select(&mut self, model: &Model<F>, temperature: F) {
        let one = F::from_f64(1.0);
        parallel::for_each(self.trees.chunks_mut(32), &|chunk, trees| {
            let (mut entmax, mut scaled) = (Entmax::default(), Vec::new());
            for (wiring, tree) in trees.iter_mut().zip(32 * chunk..) {
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
                            entmax.support(&scaled, |i, share| {
                                features.push(candidates[i as usize]);
                                shares.push(share);
                            });
                        }
                    }
                }
            }
        });
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
        let shape = self.shape;
        let grove = |tree: u32| shape.grove_of(tree as usize);
        self.order.sort_by_key(|&tree| (grove(tree), pairs[tree as usize], tree));
        let mut by_pair = self.order.clone();
        by_pair.sort_by_key(|&tree| (pairs[tree as usize], grove(tree), tree));
        self.groups =
            by_pair.chunk_by(|&a, &b| pairs[a as usize] == pairs[b as usize]).map(<[u32]>::to_vec).collect();
        for (index, group) in self.groups.iter().enumerate() {
            for &tree in group {
                self.trees[tree as usize].group = index as u32;
            }
        }
    }

    fn fill_dense(&mut self) {
        let shape = self.shape;
        self.dense.resize(shape.groves(), Dense { selectors: [Vec::new(), Vec::new()], stride: 0 });
        for (grove, dense) in self.dense.iter_mut().enumerate() {
            dense.stride = (shape.layers * shape.in_layer(grove)).div_ceil(LANES);
            for selector in &mut dense.selectors {
                selector.clear();
                selector.resize(shape.features * dense.stride, Lane::default());
            }
        }
        for (tree, wiring) in self.trees.iter().enumerate() {
            let (dense, place) = (&mut self.dense[shape.grove_of(tree)], shape.place(tree));
            for (s, selector) in dense.selectors.iter_mut().enumerate() {
                for (&feature, &share) in wiring.features[s].iter().zip(&wiring.shares[s]) {
                    selector[feature as usize * dense.stride + place / LANES].0[place % LANES] = share;
                }
            }
        }
    }

    fn attend(&mut self, model: &Model<F>) {
        let shape = self.shape;
        for (index, layer) in model.layers.iter().enumerate().skip(1) {
            for (grove, lanes) in self.keys[index].iter_mut().enumerate() {
                pack_keys(lanes, &layer.keys, shape, index, grove);
            }
        }
        let longest_keys: Vec<F> = (model.layers.iter().enumerate())
            .map(|(index, layer)| longest_key(layer, shape.earlier(index), shape.attention))
            .collect();
        let (one_hot, distinct, kernels, keys) = (self.one_hot, self.distinct, self.kernels, &self.keys);
        let (groups, dense, keep_links) = (&self.groups, &self.dense, self.keep_links);
        let attend =
            |tree: usize, wiring: &mut TreeWiring<F>, (search, places): &mut (Search<F>, Vec<u32>)| {
                let (index, grove) = (tree / shape.trees, shape.grove_of(tree));
                let (layer, t) = model.locate(tree);
                let earlier = index * shape.in_layer(grove);
                let query = &layer.queries[t * shape.attention..(t + 1) * shape.attention];
                let keys = Columns { lanes: &keys[index][grove], stride: earlier.div_ceil(LANES) };
                // Earlier trees of the same features, the only ones that match a one-hot tree.
                let twins = groups.get(wiring.group as usize).map_or(&[][..], |group| {
                    let of = |&q: &u32| (shape.grove_of(q as usize), q as usize);
                    let start = group.partition_point(|q| of(q) < (grove, 0));
                    let end = group.partition_point(|q| of(q) < (grove, shape.earlier(index)));
                    &group[start..end]
                });
                places.clear();
                places.extend(twins.iter().map(|&q| shape.place(q as usize) as u32));
                let longest_key = longest_keys[index];
                if !(one_hot && search.link_twins(wiring, [twins, places], keys, query, longest_key)) {
                    search.size(earlier);
                    if one_hot {
                        search.match_twins(places);
                    } else {
                        let Dense { selectors, stride } = &dense[grove];
                        let dense = [0, 1].map(|s| Columns { lanes: &selectors[s], stride: *stride });
                        search.match_soft(kernels, wiring, dense);
                    }
                    search.score(kernels, keys, query, earlier, shape.outputs);
                    search.link(wiring, earlier, one_hot.then_some(places), |place| shape.at(grove, place));
                }
                search.merge(wiring, distinct);
                if !keep_links {
                    wiring.links = Vec::new();
                }
            };
        let spaces = Spaces::default();
        parallel::for_each(self.trees[shape.trees..].chunks_mut(8), &|chunk, trees| {
            spaces.with(Default::default, |space| {
                trees
                    .iter_mut()
                    .zip(shape.trees + 8 * chunk..)
                    .for_each(|(wiring, tree)| attend(tree, wiring, space));
            });
        });
    }
}
