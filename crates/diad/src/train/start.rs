//! The parameters a fit starts from.

use super::trainer::Trainer;
use crate::Params;
use crate::kernel::{LANES, Lane, Real};
use crate::model::{BLOCK_LANES, Block, Forward, Layer, Model, Scratch, Selectors, Shape, SoftSelectors};
use crate::parallel;
use crate::rng::{Purpose, Stream};

/// Added to the largest distance from a threshold before its logarithm.
const SLOPE_FLOOR: f64 = 1e-6;

/// Random parameters; thresholds and slopes follow from the data by [`place_splits`].
///
/// There are so many features; the trees look at those in `chosen`.
pub fn random_model<F: Real>(params: &Params, features: usize, chosen: &[u32]) -> Model<F> {
    let shape = Shape::new(params, features);
    let layers = (0..shape.layers).map(|layer| random_layer(params, shape, layer, chosen)).collect();
    Model { shape, layers }
}

fn random_layer<F: Real>(params: &Params, shape: Shape, layer: usize, chosen: &[u32]) -> Layer<F> {
    let mut random = Stream::new(params.seed, Purpose::Parameters, layer as u64);
    let width = ((chosen.len() as f64 * params.feature_share).ceil() as usize).max(2).min(chosen.len());
    let mut candidates = Vec::with_capacity(shape.trees * width);
    let mut features: Vec<u32> = chosen.to_vec();
    for _ in 0..shape.trees {
        random.shuffle_front(&mut features, width);
        let start = candidates.len();
        candidates.extend_from_slice(&features[..width]);
        candidates[start..].sort_unstable();
    }
    let mut uniform = |count: usize| (0..count).map(|_| F::from_f64(random.unit())).collect::<Vec<F>>();
    let first = uniform(shape.trees * width);
    let second = if params.interactions == 1 { Vec::new() } else { uniform(shape.trees * width) };
    let earlier = shape.earlier(layer);
    let keys = uniform(shape.outputs * shape.attention * earlier);
    let queries = uniform(if earlier == 0 { 0 } else { shape.trees * shape.attention });
    let weights = shape.trees * shape.outputs * shape.leaves();
    Layer {
        selectors: Selectors::Soft(SoftSelectors { width, candidates, logits: [first, second] }),
        thresholds: vec![F::default(); shape.trees * shape.depth],
        log_slopes: vec![F::default(); shape.trees * shape.depth],
        leaf_weights: (0..weights).map(|_| F::from_f64(random.normal())).collect(),
        keys,
        queries,
    }
}

/// Puts every threshold at a random quantile of the values it will split, and sets the slope so that every row
/// of the batch starts on the sloped part of the sigmoid. Layer by layer, since later values depend on earlier
/// layers' outputs.
pub fn place_splits<F: Real>(trainer: &mut Trainer<F>, rows: &mut [Block<F>], seed: u64, temperature: F) {
    let shape = trainer.model.shape;
    for layer in 0..shape.layers {
        trainer.wiring.update(&trainer.model, temperature);
        let trees = shape.earlier(layer)..shape.earlier(layer + 1);
        let quantiles = {
            let mut random = Stream::new(seed, Purpose::Thresholds, layer as u64);
            (0..shape.trees * shape.depth).map(|_| random.unit()).collect::<Vec<f64>>()
        };
        let wiring = &trainer.wiring;
        let placed = parallel::map_indices(shape.trees, &|tree| -> Vec<(F, F)> {
            let values = tree_values(wiring, rows, trees.start + tree);
            let quantiles = &quantiles[tree * shape.depth..];
            (0..shape.depth).map(|c| place(&values[c % 2], quantiles[c])).collect()
        });
        let parameters = &mut trainer.model.layers[layer];
        (parameters.thresholds, parameters.log_slopes) = placed.into_iter().flatten().unzip();

        trainer.wiring.update(&trainer.model, temperature);
        let forward = Forward { model: &trainer.model, wiring: &trainer.wiring };
        let wanted = vec![true; shape.all_trees()];
        let order: Vec<u32> = trees.map(|tree| tree as u32).collect();
        parallel::for_each(rows.iter_mut(), &|_, block| {
            let mut unused = vec![F::default(); shape.all_trees() * shape.leaves()];
            forward.trees(&order, block, &mut Scratch::default(), &mut unused, &wanted);
        });
    }
}

/// The two values of every row at a tree, each in ascending order.
fn tree_values<F: Real>(wiring: &crate::model::Wiring<F>, rows: &[Block<F>], tree: usize) -> [Vec<F>; 2] {
    let mut all = [Vec::new(), Vec::new()];
    let mut scratch: [Vec<Lane<F>>; 2] = [0, 1].map(|_| vec![Lane::default(); BLOCK_LANES]);
    let mut attended = vec![Lane::default(); BLOCK_LANES];
    for block in rows {
        let lanes = block.lanes();
        let inputs = &wiring.trees[tree];
        inputs.attend(wiring.kernels(), block.outputs(), &mut attended[..lanes]);
        let values = inputs.values(wiring.kernels(), block.x(), lanes, &mut scratch);
        for (all, values) in all.iter_mut().zip(values) {
            for ((value, added), presence) in values.iter().zip(&attended).zip(block.presence()) {
                let present = (0..LANES).filter(|&i| presence.0[i] > F::default());
                all.extend(present.map(|i| value.0[i] + added.0[i]));
            }
        }
    }
    for values in &mut all {
        values.sort_unstable_by(|a, b| a.to_f64().total_cmp(&b.to_f64()));
    }
    all
}

/// The threshold at a quantile of sorted values, and the log slope that reaches the farthest of them.
fn place<F: Real>(sorted: &[F], quantile: f64) -> (F, F) {
    let threshold = sorted[(quantile * (sorted.len() - 1) as f64).round() as usize];
    let reach = (threshold - sorted[0]).max(sorted[sorted.len() - 1] - threshold);
    (threshold, (reach + F::from_f64(SLOPE_FLOOR)).ln())
}
