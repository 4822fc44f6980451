//! Which columns flow into which tree, with what weight: selectors and attention. Neither depends on the
//! rows, both are sparse, so they are worked out once a step and used for every block.

use rayon::prelude::*;

use super::{Layer, Model, Selectors};
use crate::kernel::{Columns, Entmax, Isa, Kernels, LANES, Lane, Real, walsh};

/// Added to the match before its logarithm.
const MATCH_FLOOR: f64 = 1e-6;

/// An earlier output in the support of a tree's attention.
#[derive(Debug, Clone, Copy)]
pub struct Link<F> {
    /// The earlier tree, counted over all layers.
    pub tree: u32,
    /// Which of its outputs.
    pub output: u32,
    /// The attention weight α.
    pub alpha: F,
    /// The match m.
    pub matched: F,
    /// Whether the match was cut at one, so that no derivative passes.
    pub cut: bool,
    /// p¹_q·p¹, p¹_q·p², p²_q·p¹, p²_q·p².
    pub overlaps: [F; 4],
    /// The position in the tree's `columns` that carries this output, if its weight is not zero.
    pub column: Option<u32>,
}

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
    /// Dense selectors `[feature][tree]`, while soft.
    dense: [Vec<Lane<F>>; 2],
    dense_stride: usize,
    /// Trees of the same features, ascending, once selectors are one-hot.
    groups: Vec<Vec<u32>>,
    keys: Vec<Vec<Lane<F>>>,
    kernels: &'static Kernels<F>,
}

#[derive(Debug)]
struct Search<F> {
    entmax: Entmax<F>,
    overlaps: [Vec<Lane<F>>; 4],
    log_match: Vec<Lane<F>>,
    lanes: Vec<Lane<F>>,
    logits: Vec<F>,
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
        let groups = &self.groups;
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
                wiring.merge_columns(distinct);
            },
        );
    }
}

/// The length of the longest key of a layer with so many earlier trees.
fn longest_key<F: Real>(layer: &Layer<F>, earlier: usize, width: usize) -> F {
    let mut longest = F::default();
    for output in layer.keys.chunks_exact((width * earlier).max(1)) {
        for tree in 0..earlier {
            let square = (0..width).map(|a| output[a * earlier + tree] * output[a * earlier + tree]).sum();
            longest = longest.max(square);
        }
    }
    longest.sqrt()
}

/// Keys with each component's row padded to whole lanes.
fn pack_keys<F: Real>(lanes: &mut Vec<Lane<F>>, layer: &Layer<F>, earlier: usize) {
    let stride = earlier.div_ceil(LANES);
    lanes.resize(layer.keys.len() / earlier * stride, Lane::default());
    for (row, target) in layer.keys.chunks_exact(earlier).zip(lanes.chunks_exact_mut(stride)) {
        for (values, lane) in row.chunks(LANES).zip(target) {
            lane.0[..values.len()].copy_from_slice(values);
        }
    }
}

impl<F: Real> Default for Search<F> {
    fn default() -> Self {
        Self {
            entmax: Entmax::default(),
            overlaps: Default::default(),
            log_match: Vec::new(),
            lanes: Vec::new(),
            logits: Vec::new(),
        }
    }
}

impl<F: Real> Search<F> {
    fn size(&mut self, earlier: usize) {
        let lanes = earlier.div_ceil(LANES);
        for part in self.overlaps.iter_mut().chain([&mut self.log_match, &mut self.lanes]) {
            part.clear();
            part.resize(lanes, Lane::default());
        }
        self.logits.clear();
    }

    /// One-hot selectors: finds the attention among the twins alone, and says whether that is all of it. Others
    /// match so badly that they matter only if a key and a query are very long.
    fn link_twins(
        &mut self,
        wiring: &mut TreeWiring<F>,
        twins: &[u32],
        keys: Columns<F>,
        query: &[F],
        longest_key: F,
    ) -> bool {
        wiring.links.clear();
        if twins.is_empty() {
            return true;
        }
        let width = query.len();
        self.logits.clear();
        for output in keys.lanes.chunks_exact(width * keys.stride) {
            let key = |q: usize, a: usize| output[a * keys.stride + q / LANES].0[q % LANES];
            let product = |q: u32| (0..width).map(|a| key(q as usize, a) * query[a]).sum::<F>();
            self.logits.extend(twins.iter().map(|&q| product(q)));
        }
        let best = self.logits.iter().fold(self.logits[0], |a, &z| a.max(z));
        let query_length = query.iter().map(|&a| a * a).sum::<F>().sqrt();
        let gap = F::from_f64(1.0 + MATCH_FLOOR).ln() - F::from_f64(MATCH_FLOOR).ln();
        if longest_key * query_length - gap > best - F::from_f64(2.0) {
            return false;
        }
        let (one, links) = (F::from_f64(1.0), &mut wiring.links);
        self.entmax.support(&self.logits, |i, alpha| {
            let (tree, output) = (twins[i as usize % twins.len()], i / twins.len() as u32);
            let overlaps = [F::default(); 4];
            links.push(Link { tree, output, alpha, matched: one, cut: true, overlaps, column: None });
        });
        true
    }

    /// One-hot selectors: a match is one for twins and zero for all others.
    fn match_twins(&mut self, twins: &[u32]) {
        let none = F::from_f64(MATCH_FLOOR).ln();
        let full = F::from_f64(1.0 + MATCH_FLOOR).ln();
        self.log_match.fill(Lane([none; LANES]));
        for &q in twins {
            self.log_match[q as usize / LANES].0[q as usize % LANES] = full;
        }
    }

    fn match_soft(&mut self, kernels: &Kernels<F>, wiring: &TreeWiring<F>, dense: [Columns<F>; 2]) {
        for (i, overlap) in self.overlaps.iter_mut().enumerate() {
            let (theirs, ours) = (i / 2, i % 2);
            (kernels.combine)(overlap, &[], dense[theirs], &wiring.features[ours], &wiring.shares[ours]);
        }
        let [o11, o12, o21, o22] = &self.overlaps;
        for (i, lane) in self.log_match.iter_mut().enumerate() {
            for (k, m) in lane.0.iter_mut().enumerate() {
                let raw = o11[i].0[k] * o22[i].0[k] + o21[i].0[k] * o12[i].0[k];
                *m = raw.min(F::from_f64(1.0));
            }
        }
        (kernels.shifted_ln)(&mut self.log_match, F::from_f64(MATCH_FLOOR));
    }

    /// log(m + floor) + key·query for every output of every earlier tree, output after output.
    fn score(&mut self, kernels: &Kernels<F>, keys: Columns<F>, query: &[F], earlier: usize, outputs: usize) {
        for output in 0..outputs {
            let indices: Vec<u32> = (0..query.len()).map(|a| (output * query.len() + a) as u32).collect();
            (kernels.combine)(&mut self.lanes, &self.log_match, keys, &indices, query);
            self.logits.extend(self.lanes.iter().flat_map(|lane| lane.0).take(earlier));
        }
    }

    /// The support of the attention; `twins` are the only matches once selectors are one-hot.
    fn link(&mut self, wiring: &mut TreeWiring<F>, earlier: usize, twins: Option<&[u32]>) {
        let one = F::from_f64(1.0);
        let (overlaps, links) = (&self.overlaps, &mut wiring.links);
        links.clear();
        self.entmax.support(&self.logits, |i, alpha| {
            let tree = i % earlier as u32;
            let at = |part: &[Lane<F>]| part[tree as usize / LANES].0[tree as usize % LANES];
            let overlaps = [0, 1, 2, 3].map(|k| at(&overlaps[k]));
            let (matched, cut) = if let Some(twins) = twins {
                let twin = twins.binary_search(&tree).is_ok();
                (if twin { one } else { F::default() }, true)
            } else {
                let raw = overlaps[0] * overlaps[3] + overlaps[2] * overlaps[1];
                (raw.min(one), raw > one)
            };
            links.push(Link {
                tree,
                output: i / earlier as u32,
                alpha,
                matched,
                cut,
                overlaps,
                column: None,
            });
        });
    }
}

impl<F: Real> TreeWiring<F> {
    /// The weights ω = m·α by output column; outputs that share a column are added up.
    fn merge_columns(&mut self, distinct: usize) {
        self.columns.clear();
        self.weights.clear();
        for link in &mut self.links {
            let omega = link.matched * link.alpha;
            if omega == F::default() {
                continue;
            }
            let column = if distinct == 1 { link.tree } else { link.tree * distinct as u32 + link.output };
            let position = match self.columns.iter().position(|&c| c == column) {
                Some(position) => {
                    self.weights[position] += omega;
                    position
                }
                None => {
                    self.columns.push(column);
                    self.weights.push(omega);
                    self.columns.len() - 1
                }
            };
            link.column = Some(position as u32);
        }
    }
}
