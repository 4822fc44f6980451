//! Every entry of every gradient against central differences of the plain twin's loss.

use super::super::backward::{BackwardScratch, Direct, backward};
use super::super::plan::Plan;
use super::super::structure::{LayerGradient, parameter_gradients};
use super::super::trainer::{StepPlan, Trainer};
use super::golden::blocks;
use super::naive;
use super::support::{GROUPS, Kind, gradient_groups, numbers, parameter_groups, random, random_model, rows};
use crate::kernel::{Isa, LANES, Lane};
use crate::model::{Forward, Model, Scratch, Shape};
use crate::settings::{LeafScale, MatchGradient};

/// Relative to the largest derivative of the group, beyond the rounding of the loss itself.
const TOLERANCE: f64 = 1e-6;
/// Half the distance of a central difference.
const STEP: f64 = 1e-5;
const ROWS: usize = 37;
const SMOOTHING: f64 = 2.0;
const DROPOUT: f64 = 0.25;

const SOFT: Kind = Kind {
    shape: Shape { features: 4, layers: 3, trees: 4, depth: 3, outputs: 2, attention: 3, grove: 4 },
    width: 3,
    gam: false,
    agree: false,
    one_hot: false,
    temperature: 0.5,
};
const ONE_HOT: Kind = Kind { one_hot: true, ..SOFT };
const GAM: Kind = Kind { gam: true, temperature: 0.25, ..SOFT };
const ONE_HOT_GAM: Kind = Kind { gam: true, ..ONE_HOT };
/// Groves of three trees and of one.
const GROVES: Kind = Kind { shape: Shape { grove: 3, ..SOFT.shape }, ..SOFT };
const ONE_HOT_GROVES: Kind = Kind { one_hot: true, ..GROVES };
/// Trees of one split, and splits of an odd number.
const SHALLOW: Kind = Kind { shape: Shape { depth: 1, outputs: 3, ..SOFT.shape }, ..SOFT };
const DEEP: Kind = Kind { shape: Shape { depth: 5, outputs: 1, ..SOFT.shape }, ..SOFT };

/// The matches of a model must keep away from one, where they are cut; says how many lie on either side.
fn sides_of_the_cut(model: &Model<f64>, kind: &Kind) -> [usize; 2] {
    let matches = naive::run(model, kind.temperature, &[vec![0.0; kind.shape.features]]).raw_matches;
    if !kind.one_hot {
        assert!(matches.iter().all(|m| (m - 1.0).abs() > 1e-3), "choose a seed without a match near one");
    }
    let cut = matches.iter().filter(|m| **m > 1.0).count();
    [matches.len() - cut, cut]
}

fn check(
    kind: &Kind,
    model: &Model<f64>,
    gradients: &[LayerGradient<f64>],
    skipped: &[&str],
    mut loss: impl FnMut(&Model<f64>) -> f64,
) {
    let rounding = 4.0 * f64::EPSILON * loss(model).abs() / STEP;
    for (layer, gradient) in gradients.iter().enumerate() {
        for (g, group) in GROUPS.iter().enumerate().filter(|(_, group)| !skipped.contains(group)) {
            let got = gradient_groups(gradient)[g];
            let mut moved = model.clone();
            let count = parameter_groups(&mut moved.layers[layer])[g].len();
            assert_eq!(got.len(), count, "layer {layer}, {group}");
            let mut difference = |i: usize| {
                let mut at = |step: f64| {
                    let start = std::mem::replace(&mut parameter_groups(&mut moved.layers[layer])[g][i], 0.0);
                    parameter_groups(&mut moved.layers[layer])[g][i] = start + step;
                    let value = loss(&moved);
                    parameter_groups(&mut moved.layers[layer])[g][i] = start;
                    value
                };
                (at(STEP) - at(-STEP)) / (2.0 * STEP)
            };
            let want: Vec<f64> = (0..count).map(&mut difference).collect();
            let largest = want.iter().fold(0.0f64, |a, d| a.max(d.abs()));
            for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                let error = (got - want).abs();
                assert!(
                    error <= TOLERANCE * largest + rounding,
                    "{kind:?}, layer {layer}, {group}[{i}]: got {got}, want {want}, error {error:e} of {largest:e}"
                );
            }
        }
    }
}

/// The unsupervised loss, with some trees left out. Leaf weights only when asked for: training does without.
fn check_unsupervised(kind: &Kind, seed: u64, leaf_gradients: bool, match_gradient: MatchGradient) {
    let model = random_model(kind, seed);
    sides_of_the_cut(&model, kind);
    let shape = kind.shape;
    let [x, u] = [1, 2].map(|part| rows(seed * 10 + part, ROWS, shape.features));
    let mut random = random(seed);
    let keep: Vec<bool> = (0..shape.all_trees()).map(|_| random.unit() >= DROPOUT).collect();
    let plan = StepPlan {
        temperature: kind.temperature,
        learning_rate: 0.0,
        smoothing: SMOOTHING,
        damping: 0.1,
        dropout: DROPOUT,
        leaf_scale: LeafScale::Layer,
        match_gradient,
        keep: &keep,
    };
    let mut trainer = Trainer::new(model.clone(), Isa::Portable);
    let (mut row_blocks, mut point_blocks) =
        (blocks(&x.concat(), shape.features), blocks(&u.concat(), shape.features));
    let gradients = trainer.gradients(&mut row_blocks, &mut point_blocks, plan, leaf_gradients);
    let skipped: &[&str] = if leaf_gradients { &[] } else { &["leaf weights"] };
    check(kind, &model, &gradients, skipped, |moved| {
        let seen = if match_gradient == MatchGradient::Both { moved } else { &model };
        let [x, u] =
            [&x, &u].map(|rows| naive::run_seen(moved, seen, kind.temperature, rows).leaf_sums(ROWS));
        naive::pid_loss(&x, &u, shape.leaves(), SMOOTHING, &keep, DROPOUT)
    });
}

/// A loss of the scores: their sum with random weights.
fn check_scores(kind: &Kind, seed: u64) {
    let model = random_model(kind, seed);
    sides_of_the_cut(&model, kind);
    let shape = kind.shape;
    let x = rows(seed, ROWS, shape.features);
    let weights = numbers(&mut random(seed), ROWS, -1.0, 1.0);
    let mut trainer = Trainer::new(model.clone(), Isa::Portable);
    trainer.wiring.separate = true;
    trainer.wiring.update(&trainer.model, kind.temperature);
    let mut plan = Plan::default();
    plan.update(&trainer.model, &trainer.wiring, &vec![true; shape.all_trees()], true);
    let forward = Forward { model: &trainer.model, wiring: &trainer.wiring };
    let mut block = blocks::<f64>(&x.concat(), shape.features).remove(0);
    forward.score(&mut block, &mut Scratch::default(), &mut vec![Lane::default(); ROWS.div_ceil(LANES)]);
    let mut by_score = vec![Lane::<f64>::default(); block.lanes()];
    for (i, w) in weights.iter().enumerate() {
        by_score[i / LANES].0[i % LANES] = w / shape.all_trees() as f64;
    }
    let mut sums = vec![0.0; plan.gradient_len()];
    backward(
        forward,
        &trainer.wiring.order,
        &plan,
        &block,
        Direct::Rows(&by_score),
        &mut BackwardScratch::default(),
        &mut sums,
    );
    let gradients = parameter_gradients(&trainer.model, &trainer.wiring, &plan, &sums, kind.temperature);
    check(kind, &model, &gradients, &[], |model| {
        let scores = naive::run(model, kind.temperature, &x).scores();
        scores.iter().zip(&weights).map(|(s, w)| s * w).sum()
    });
}

#[test]
fn unsupervised_loss() {
    for (kind, seed) in [
        (SOFT, 1),
        (ONE_HOT, 2),
        (GAM, 3),
        (ONE_HOT_GAM, 4),
        (SHALLOW, 5),
        (DEEP, 6),
        (GROVES, 18),
        (ONE_HOT_GROVES, 19),
    ] {
        check_unsupervised(&kind, seed, true, MatchGradient::Both);
    }
}

/// Matches from which only the later of two trees learns.
#[test]
fn unsupervised_loss_with_earlier_selectors_held() {
    for (kind, seed) in [(SOFT, 1), (GAM, 3), (GROVES, 18)] {
        check_unsupervised(&kind, seed, true, MatchGradient::Later);
    }
}

/// Training's own path: outputs that agree share a column.
#[test]
fn unsupervised_loss_with_shared_columns() {
    for (kind, seed) in [(SOFT, 7), (ONE_HOT, 8), (GAM, 9), (ONE_HOT_GAM, 10), (SHALLOW, 11)] {
        check_unsupervised(&Kind { agree: true, ..kind }, seed, false, MatchGradient::Both);
    }
}

#[test]
fn scores() {
    for (kind, seed) in [(SOFT, 12), (ONE_HOT, 13), (GAM, 14), (ONE_HOT_GAM, 15), (SHALLOW, 16), (DEEP, 17)] {
        check_scores(&kind, seed);
        check_scores(&Kind { agree: true, ..kind }, seed);
    }
}

/// The cases above mean little if no match is ever cut, or all are.
#[test]
fn both_sides_of_the_cut_are_covered() {
    let [below, above] = sides_of_the_cut(&random_model(&GAM, 3), &GAM);
    assert!(below >= 4 && above >= 4, "{below} below, {above} above");
}
