//! Which earlier outputs a tree attends to, and how much.

use super::wiring::TreeWiring;
use super::{Layer, Shape};
use crate::kernel::{Columns, Entmax, Kernels, LANES, Lane, Real};

/// Added to the match before its logarithm.
pub const MATCH_FLOOR: f64 = 1e-6;

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

#[derive(Debug)]
pub(super) struct Search<F> {
    entmax: Entmax<F>,
    overlaps: [Vec<Lane<F>>; 4],
    log_match: Vec<Lane<F>>,
    lanes: Vec<Lane<F>>,
    logits: Vec<F>,
    /// By output column its place among a tree's columns while they are merged; none: the largest number.
    positions: Vec<u32>,
}

/// The length of the longest key of a layer.
pub(super) fn longest_key<F: Real>(layer: &Layer<F>, earlier: usize, width: usize) -> F {
    let mut longest = F::default();
    for output in layer.keys.chunks_exact((width * earlier).max(1)) {
        for tree in 0..earlier {
            let square = (0..width).map(|a| output[a * earlier + tree] * output[a * earlier + tree]).sum();
            longest = longest.max(square);
        }
    }
    longest.sqrt()
}

/// The keys that the trees of a grove see in a layer, each component's row padded to whole lanes.
pub(super) fn pack_keys<F: Real>(
    lanes: &mut Vec<Lane<F>>,
    keys: &[F],
    shape: Shape,
    layer: usize,
    grove: usize,
) {
    let (all, size) = (shape.earlier(layer), shape.in_layer(grove));
    let stride = (layer * size).div_ceil(LANES);
    lanes.resize(keys.len() / all * stride, Lane::default());
    for (row, target) in keys.chunks_exact(all).zip(lanes.chunks_exact_mut(stride)) {
        let own = row.chunks_exact(shape.trees).flat_map(|row| &row[grove * shape.grove..][..size]);
        for (place, &key) in own.enumerate() {
            target[place / LANES].0[place % LANES] = key;
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
            positions: Vec::new(),
        }
    }
}

impl<F: Real> Search<F> {
    pub(super) fn size(&mut self, earlier: usize) {
        let lanes = earlier.div_ceil(LANES);
        for part in self.overlaps.iter_mut().chain([&mut self.log_match, &mut self.lanes]) {
            part.clear();
            part.resize(lanes, Lane::default());
        }
        self.logits.clear();
    }

    /// One-hot selectors: finds the attention among the twins alone, and returns whether that is all of it. Other trees
    /// match so badly that they matter only if a key and a query are very long. `places` are those of the twins in
    /// their grove.
    pub(super) fn link_twins(
        &mut self,
        wiring: &mut TreeWiring<F>,
        [twins, places]: [&[u32]; 2],
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
            self.logits.extend(places.iter().map(|&q| product(q)));
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
    pub(super) fn match_twins(&mut self, places: &[u32]) {
        let none = F::from_f64(MATCH_FLOOR).ln();
        let full = F::from_f64(1.0 + MATCH_FLOOR).ln();
        self.log_match.fill(Lane([none; LANES]));
        for &q in places {
            self.log_match[q as usize / LANES].0[q as usize % LANES] = full;
        }
    }

    pub(super) fn match_soft(
        &mut self,
        kernels: &Kernels<F>,
        wiring: &TreeWiring<F>,
        dense: [Columns<F>; 2],
    ) {
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

    /// log(m + floor) + key·query for every output of every earlier tree of the grove, output after output.
    pub(super) fn score(
        &mut self,
        kernels: &Kernels<F>,
        keys: Columns<F>,
        query: &[F],
        earlier: usize,
        outputs: usize,
    ) {
        for output in 0..outputs {
            let indices: Vec<u32> = (0..query.len()).map(|a| (output * query.len() + a) as u32).collect();
            (kernels.combine)(&mut self.lanes, &self.log_match, keys, &indices, query);
            self.logits.extend(self.lanes.iter().flat_map(|lane| lane.0).take(earlier));
        }
    }

    /// The support of the attention among so many earlier trees of a grove. The twins at `places` are the only matches once
    /// selectors are one-hot.
    pub(super) fn link(
        &mut self,
        wiring: &mut TreeWiring<F>,
        earlier: usize,
        places: Option<&[u32]>,
        tree: impl Fn(usize) -> usize,
    ) {
        let one = F::from_f64(1.0);
        let (overlaps, links) = (&self.overlaps, &mut wiring.links);
        links.clear();
        self.entmax.support(&self.logits, |i, alpha| {
            let place = i as usize % earlier;
            let at = |part: &[Lane<F>]| part[place / LANES].0[place % LANES];
            let overlaps = [0, 1, 2, 3].map(|k| at(&overlaps[k]));
            let (matched, cut) = if let Some(places) = places {
                let twin = places.binary_search(&(place as u32)).is_ok();
                (if twin { one } else { F::default() }, true)
            } else {
                let raw = overlaps[0] * overlaps[3] + overlaps[2] * overlaps[1];
                (raw.min(one), raw > one)
            };
            links.push(Link {
                tree: tree(place) as u32,
                output: i / earlier as u32,
                alpha,
                matched,
                cut,
                overlaps,
                column: None,
            });
        });
    }

    /// The weights ω = m·α of a tree by output column; outputs that share a column are added up.
    pub(super) fn merge(&mut self, wiring: &mut TreeWiring<F>, distinct: usize) {
        wiring.columns.clear();
        wiring.weights.clear();
        for link in &mut wiring.links {
            let omega = link.matched * link.alpha;
            if omega == F::default() {
                continue;
            }
            let column = if distinct == 1 { link.tree } else { link.tree * distinct as u32 + link.output };
            let slots = &mut self.positions;
            slots.resize(slots.len().max(column as usize + 1), u32::MAX);
            if slots[column as usize] == u32::MAX {
                slots[column as usize] = wiring.columns.len() as u32;
                wiring.columns.push(column);
                wiring.weights.push(F::default());
            }
            let position = slots[column as usize];
            wiring.weights[position as usize] += omega;
            link.column = Some(position);
        }
        for &column in &wiring.columns {
            self.positions[column as usize] = u32::MAX;
        }
    }
}
