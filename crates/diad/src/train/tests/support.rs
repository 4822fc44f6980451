//! Random models, rows and settings for the tests of the engine.

use crate::kernel::Real;
use crate::model::{Layer, Model, Selectors, Shape, SoftSelectors};
use crate::rng::{Purpose, Stream};

use super::super::structure::LayerGradient;

/// What kind of random model to make.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub shape: Shape,
    /// Candidates per tree.
    pub width: usize,
    /// One feature per tree.
    pub gam: bool,
    /// Whether all outputs of a tree have the same leaf weights, as in unsupervised training.
    pub agree: bool,
    pub one_hot: bool,
    /// A power of two, so that both scalar types hold it exactly.
    pub temperature: f64,
}

/// The stream of a test.
pub fn random(seed: u64) -> Stream {
    Stream::new(seed, Purpose::Parameters, 77)
}

/// Numbers uniform within the range that both scalar types hold exactly.
pub fn numbers(random: &mut Stream, count: usize, low: f64, high: f64) -> Vec<f64> {
    (0..count).map(|_| f64::from((low + random.unit() * (high - low)) as f32)).collect()
}

/// Rows a little beyond the range of the training data.
pub fn rows(seed: u64, count: usize, features: usize) -> Vec<Vec<f64>> {
    let mut random = random(seed);
    (0..count).map(|_| numbers(&mut random, features, -1.2, 1.2)).collect()
}

pub fn random_model(kind: &Kind, seed: u64) -> Model<f64> {
    let mut random = random(seed);
    let shape = kind.shape;
    let layers =
        (0..shape.layers).map(|layer| random_layer(kind, shape.earlier(layer), &mut random)).collect();
    let mut model = Model { shape, layers };
    if kind.one_hot {
        model.harden();
    }
    model
}

fn random_layer(kind: &Kind, earlier: usize, random: &mut Stream) -> Layer<f64> {
    let shape = kind.shape;
    let mut candidates = Vec::new();
    for _ in 0..shape.trees {
        let mut features: Vec<u32> = (0..shape.features as u32).collect();
        random.shuffle_front(&mut features, kind.width);
        features.truncate(kind.width);
        features.sort_unstable();
        candidates.extend(features);
    }
    let chosen = candidates.len();
    let first = numbers(random, chosen, 0.0, 1.0);
    let second = if kind.gam { Vec::new() } else { numbers(random, chosen, 0.0, 1.0) };
    let splits = shape.trees * shape.depth;
    let mut leaf_weights = numbers(random, shape.trees * shape.outputs * shape.leaves(), -1.0, 1.0);
    if kind.agree {
        for tree in leaf_weights.chunks_exact_mut(shape.outputs * shape.leaves()) {
            let (one, others) = tree.split_at_mut(shape.leaves());
            others.chunks_exact_mut(shape.leaves()).for_each(|other| other.copy_from_slice(one));
        }
    }
    Layer {
        selectors: Selectors::Soft(SoftSelectors { width: kind.width, candidates, logits: [first, second] }),
        thresholds: numbers(random, splits, -0.8, 0.8),
        log_slopes: numbers(random, splits, -0.3, 1.0),
        leaf_weights,
        keys: numbers(random, shape.outputs * shape.attention * earlier, 0.0, 1.0),
        queries: numbers(random, if earlier == 0 { 0 } else { shape.trees * shape.attention }, 0.0, 1.0),
    }
}

/// The same model in another scalar type.
pub fn convert<F: Real>(model: &Model<f64>) -> Model<F> {
    let real = |values: &[f64]| values.iter().map(|&x| F::from_f64(x)).collect::<Vec<F>>();
    let layer = |layer: &Layer<f64>| Layer {
        selectors: match &layer.selectors {
            Selectors::Fixed(pairs) => Selectors::Fixed(pairs.clone()),
            Selectors::Soft(soft) => Selectors::Soft(SoftSelectors {
                width: soft.width,
                candidates: soft.candidates.clone(),
                logits: [real(&soft.logits[0]), real(&soft.logits[1])],
            }),
        },
        thresholds: real(&layer.thresholds),
        log_slopes: real(&layer.log_slopes),
        leaf_weights: real(&layer.leaf_weights),
        keys: real(&layer.keys),
        queries: real(&layer.queries),
    };
    Model { shape: model.shape, layers: model.layers.iter().map(layer).collect() }
}

/// The groups of parameters, in the order of [`gradient_groups`].
pub const GROUPS: [&str; 7] =
    ["first logits", "second logits", "thresholds", "log slopes", "leaf weights", "keys", "queries"];

/// The parameters of a layer, group by group.
pub fn parameter_groups(layer: &mut Layer<f64>) -> [&mut [f64]; 7] {
    let [first, second]: [&mut [f64]; 2] = match &mut layer.selectors {
        Selectors::Soft(soft) => {
            let [first, second] = &mut soft.logits;
            [first, second]
        }
        Selectors::Fixed(_) => [&mut [], &mut []],
    };
    [
        first,
        second,
        &mut layer.thresholds,
        &mut layer.log_slopes,
        &mut layer.leaf_weights,
        &mut layer.keys,
        &mut layer.queries,
    ]
}

/// The gradient of a layer, group by group.
pub fn gradient_groups<F>(gradient: &LayerGradient<F>) -> [&[F]; 7] {
    [
        &gradient.logits[0],
        &gradient.logits[1],
        &gradient.thresholds,
        &gradient.log_slopes,
        &gradient.leaf_weights,
        &gradient.keys,
        &gradient.queries,
    ]
}
