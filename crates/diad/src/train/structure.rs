//! From the derivatives by shares and attention weights to those by logits, keys and queries. Independent of
//! the rows, so done once a step.

use super::plan::Plan;
use crate::kernel::{Real, entmax15_backward, walsh};
use crate::model::{MATCH_FLOOR, Model, Selectors, Wiring};
use crate::parallel;
use crate::settings::MatchGradient;

/// The gradient of one layer's parameters, shaped as the parameters.
#[derive(Debug, Clone, Default)]
pub struct LayerGradient<F> {
    /// Of the two selectors; empty once one-hot.
    pub logits: [Vec<F>; 2],
    /// Of the thresholds.
    pub thresholds: Vec<F>,
    /// Of the log slopes.
    pub log_slopes: Vec<F>,
    /// Of the leaf weights, when asked for.
    pub leaf_weights: Vec<F>,
    /// Of the keys.
    pub keys: Vec<F>,
    /// Of the queries.
    pub queries: Vec<F>,
}

/// The derivatives by a link's logit and by its match.
#[derive(Debug, Clone, Copy)]
struct LinkGradient<F> {
    logit: F,
    matched: F,
}

/// Turns the summed block gradients into the gradient of every parameter.
pub fn parameter_gradients<F: Real>(
    model: &Model<F>,
    wiring: &Wiring<F>,
    plan: &Plan<F>,
    sums: &[F],
    temperature: F,
) -> Vec<LayerGradient<F>> {
    let links = parallel::map_indices(wiring.trees.len(), &|tree| link_gradients(wiring, plan, sums, tree));
    let shares = if wiring.one_hot { Vec::new() } else { share_gradients(wiring, plan, sums, &links) };
    parallel::map_indices(model.shape.layers, &|layer| {
        let mut gradient = split_gradients(model, plan, sums, layer);
        attention_gradients(model, wiring, &links, layer, &mut gradient);
        logit_gradients(model, wiring, &shares, layer, temperature, &mut gradient);
        gradient
    })
}

fn link_gradients<F: Real>(
    wiring: &Wiring<F>,
    plan: &Plan<F>,
    sums: &[F],
    tree: usize,
) -> Vec<LinkGradient<F>> {
    let links = &wiring.trees[tree].links;
    if !plan.active[tree] || links.is_empty() {
        return Vec::new();
    }
    let by_column = &sums[plan.spans[tree].columns..plan.spans[tree].leaves];
    let by_weight = |i: usize| links[i].column.map_or(F::default(), |c| by_column[c as usize]);
    let alphas: Vec<F> = links.iter().map(|l| l.alpha).collect();
    let mut by_logit: Vec<F> = (0..links.len()).map(|i| links[i].matched * by_weight(i)).collect();
    entmax15_backward(&alphas, &mut by_logit);
    by_logit
        .iter()
        .enumerate()
        .map(|(i, &logit)| {
            let link = &links[i];
            let matched = if link.cut {
                F::default()
            } else {
                link.alpha * by_weight(i) + logit / (link.matched + F::from_f64(MATCH_FLOOR))
            };
            LinkGradient { logit, matched }
        })
        .collect()
}

/// The derivatives by the shares of both selectors of every tree: from its own rows and attention, and from the
/// attention of later trees to it.
fn share_gradients<F: Real>(
    wiring: &Wiring<F>,
    plan: &Plan<F>,
    sums: &[F],
    links: &[Vec<LinkGradient<F>>],
) -> Vec<[Vec<F>; 2]> {
    let mut attended_by: Vec<Vec<(u32, u32)>> = vec![Vec::new(); wiring.trees.len()];
    for (tree, gradients) in links.iter().enumerate() {
        for (i, gradient) in gradients.iter().enumerate() {
            if gradient.matched != F::default() && plan.match_gradient == MatchGradient::Both {
                attended_by[wiring.trees[tree].links[i].tree as usize].push((tree as u32, i as u32));
            }
        }
    }
    parallel::map_indices(wiring.trees.len(), &|tree| {
        let inputs = &wiring.trees[tree];
        [0, 1].map(|s| {
            let other = 1 - s;
            let mut gradient = vec![F::default(); inputs.shares[s].len()];
            if plan.active[tree] {
                let start = plan.spans[tree].shares[s];
                gradient.copy_from_slice(&sums[start..start + inputs.shares[s].len()]);
            }
            for (g, link) in links[tree].iter().zip(&inputs.links) {
                // m = (q_s·p_s)(q_o·p_o) + (q_o·p_s)(q_s·p_o), by p_s
                let same = g.matched * link.overlaps[other * 2 + other];
                let cross = g.matched * link.overlaps[s * 2 + other];
                for (out, &feature) in gradient.iter_mut().zip(&inputs.features[s]) {
                    *out += same * wiring.dense_share(s, feature, link.tree)
                        + cross * wiring.dense_share(other, feature, link.tree);
                }
            }
            for &(user, i) in &attended_by[tree] {
                // the same, by q_s
                let link = &wiring.trees[user as usize].links[i as usize];
                let by_match = links[user as usize][i as usize].matched;
                let same = by_match * link.overlaps[other * 2 + other];
                let cross = by_match * link.overlaps[other * 2 + s];
                for (out, &feature) in gradient.iter_mut().zip(&inputs.features[s]) {
                    *out += same * wiring.dense_share(s, feature, user)
                        + cross * wiring.dense_share(other, feature, user);
                }
            }
            gradient
        })
    })
}

fn split_gradients<F: Real>(model: &Model<F>, plan: &Plan<F>, sums: &[F], layer: usize) -> LayerGradient<F> {
    let shape = model.shape;
    let mut gradient = LayerGradient {
        thresholds: vec![F::default(); shape.trees * shape.depth],
        log_slopes: vec![F::default(); shape.trees * shape.depth],
        ..LayerGradient::default()
    };
    for t in 0..shape.trees {
        let tree = shape.earlier(layer) + t;
        if !plan.active[tree] {
            continue;
        }
        let span = plan.spans[tree];
        let splits = &sums[span.splits..span.splits + 2 * shape.depth];
        gradient.thresholds[t * shape.depth..(t + 1) * shape.depth].copy_from_slice(&splits[..shape.depth]);
        gradient.log_slopes[t * shape.depth..(t + 1) * shape.depth].copy_from_slice(&splits[shape.depth..]);
        let weights = shape.outputs * shape.leaves();
        let leaves = &sums[span.leaves..span.end];
        if leaves.is_empty() {
            continue;
        }
        gradient.leaf_weights.resize(shape.trees * weights, F::default());
        let target = &mut gradient.leaf_weights[t * weights..(t + 1) * weights];
        target.copy_from_slice(leaves);
        target.chunks_exact_mut(shape.leaves()).for_each(walsh);
    }
    gradient
}

fn attention_gradients<F: Real>(
    model: &Model<F>,
    wiring: &Wiring<F>,
    links: &[Vec<LinkGradient<F>>],
    layer: usize,
    gradient: &mut LayerGradient<F>,
) {
    let (shape, parameters) = (model.shape, &model.layers[layer]);
    let (earlier, width) = (shape.earlier(layer), shape.attention);
    gradient.keys = vec![F::default(); parameters.keys.len()];
    gradient.queries = vec![F::default(); parameters.queries.len()];
    for t in 0..shape.trees {
        let tree = earlier + t;
        for (g, link) in links[tree].iter().zip(&wiring.trees[tree].links) {
            for a in 0..width {
                let key = (link.output as usize * width + a) * earlier + link.tree as usize;
                gradient.keys[key] += g.logit * parameters.queries[t * width + a];
                gradient.queries[t * width + a] += g.logit * parameters.keys[key];
            }
        }
    }
}

fn logit_gradients<F: Real>(
    model: &Model<F>,
    wiring: &Wiring<F>,
    shares: &[[Vec<F>; 2]],
    layer: usize,
    temperature: F,
    gradient: &mut LayerGradient<F>,
) {
    let Selectors::Soft(soft) = &model.layers[layer].selectors else { return };
    gradient.logits = [0, 1].map(|s| vec![F::default(); soft.logits[s].len()]);
    for t in 0..model.shape.trees {
        let tree = model.shape.earlier(layer) + t;
        let candidates = soft.candidates(t);
        for (s, by_share) in shares[tree].iter().enumerate() {
            let mut by_logit = by_share.clone();
            entmax15_backward(&wiring.trees[tree].shares[s], &mut by_logit);
            let target = if soft.logits[s].is_empty() { 0 } else { s };
            for (&g, feature) in by_logit.iter().zip(&wiring.trees[tree].features[s]) {
                let position = candidates.partition_point(|c| c < feature);
                gradient.logits[target][t * soft.width + position] += g / temperature;
            }
        }
    }
}
