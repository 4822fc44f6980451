//! The engine against its plain twin on random models of many shapes.

use super::super::trainer::{StepPlan, Trainer};
use super::golden::{blocks, close};
use super::naive::{self, Plain};
use super::support::{GROUPS, Kind, convert, gradient_groups, random, random_model, rows};
use crate::kernel::{Isa, LANES, Lane, Real, Vectorized};
use crate::model::{BLOCK_LANES, BLOCK_ROWS, Forward, Model, Scratch, Shape};
use crate::settings::{LeafScale, MatchGradient};

const ROW_COUNTS: [usize; 8] = [1, 15, 16, 17, 255, 256, 257, 700];
const MOST_ROWS: usize = 700;
const SMOOTHING: f64 = 5.0;
const DROPOUT: f64 = 0.25;

/// Largest errors, relative to the largest value of what is compared (or to one).
const DOUBLE: f64 = 1e-9;
const SINGLE: f64 = 2e-5;
const SINGLE_GRADIENTS: f64 = 1e-4;

/// Depths 1 to 6, one to three outputs and layers, features 1 to 9, tree counts around a lane group.
fn kinds() -> Vec<Kind> {
    let mut kinds = Vec::new();
    let sizes: [[usize; 7]; 9] = [
        // features, width, layers, trees, depth, outputs, attention
        [1, 1, 1, 1, 1, 1, 1],
        [2, 2, 3, 5, 2, 2, 3],
        [3, 2, 2, 17, 3, 3, 4],
        [4, 4, 3, 6, 4, 2, 12],
        [5, 3, 2, 16, 5, 1, 2],
        [6, 6, 3, 4, 6, 3, 5],
        [7, 3, 1, 3, 4, 2, 1],
        [8, 4, 3, 18, 2, 1, 12],
        [9, 9, 2, 7, 3, 2, 7],
    ];
    for (i, [features, width, layers, trees, depth, outputs, attention]) in sizes.into_iter().enumerate() {
        // Of all sizes in turn: one grove, groves alike, a smaller last one.
        let grove = [trees, trees.div_ceil(2), trees.div_ceil(3)][i % 3];
        let shape = Shape { features, layers, trees, depth, outputs, attention, grove };
        for (variant, temperature) in [1.0, 0.5, 0.125, 0.25].into_iter().enumerate() {
            let one_hot = variant >= 2;
            let (gam, agree) = (i % 3 == variant % 3, (i + variant) % 2 == 0);
            kinds.push(Kind { shape, width, gam, agree, one_hot, temperature });
        }
    }
    kinds
}

/// A random model, rows, points and the trees in the loss, with what the plain twin makes of them.
struct Twin {
    kind: Kind,
    model: Model<f64>,
    rows: Vec<Vec<f64>>,
    points: Vec<Vec<f64>>,
    keep: Vec<bool>,
    plain_rows: Plain,
    plain_points: Plain,
}

impl Twin {
    fn new(kind: Kind, seed: u64) -> Self {
        let model = random_model(&kind, seed);
        let features = kind.shape.features;
        let [rows, points] = [1, 2].map(|part| rows(seed * 10 + part, MOST_ROWS, features));
        let mut random = random(seed * 10 + 3);
        let keep = (0..kind.shape.all_trees()).map(|_| random.unit() >= DROPOUT).collect();
        let plain_rows = naive::run(&model, kind.temperature, &rows);
        let plain_points = naive::run(&model, kind.temperature, &points);
        Self { kind, model, rows, points, keep, plain_rows, plain_points }
    }
}

/// Everything the engine computes from the first `count` rows and points.
struct Engine<F> {
    row_sums: Vec<F>,
    volume_sums: Vec<F>,
    loss: f64,
    scores: Vec<F>,
    /// `[row][tree][output]`.
    outputs: Vec<F>,
    gradients: Vec<[Vec<F>; 7]>,
}

fn engine<F: Vectorized>(twin: &Twin, isa: Isa, count: usize) -> Engine<F> {
    let shape = twin.kind.shape;
    let mut trainer = Trainer::<F>::new(convert(&twin.model), isa);
    let plan = StepPlan {
        temperature: twin.kind.temperature,
        learning_rate: 0.0,
        smoothing: SMOOTHING,
        damping: 0.1,
        dropout: DROPOUT,
        leaf_scale: LeafScale::Layer,
        match_gradient: MatchGradient::Both,
        keep: &twin.keep,
    };
    let mut rows = blocks::<F>(&twin.rows[..count].concat(), shape.features);
    let mut points = blocks::<F>(&twin.points[..count].concat(), shape.features);
    let gradients = trainer.gradients(&mut rows, &mut points, plan, false);

    let forward = Forward { model: &trainer.model, wiring: &trainer.wiring };
    let (mut scores, mut outputs) = (Vec::new(), Vec::new());
    let share = F::from_f64(1.0 / shape.all_trees() as f64);
    for (block, done) in rows.iter_mut().zip((0..).step_by(BLOCK_ROWS)) {
        let mut total = vec![Lane::default(); BLOCK_LANES];
        forward.score(block, &mut Scratch::default(), &mut total);
        let distinct = trainer.wiring.distinct;
        for row in 0..BLOCK_ROWS.min(count - done) {
            scores.push(total[row / LANES].0[row % LANES] * share);
            for (tree, k) in
                (0..shape.all_trees()).flat_map(|tree| (0..shape.outputs).map(move |k| (tree, k)))
            {
                let column = if distinct == 1 { tree } else { tree * distinct + k };
                outputs.push(block.outputs().get(column, block.lanes())[row / LANES].0[row % LANES]);
            }
        }
    }
    Engine {
        row_sums: trainer.row_sums().to_vec(),
        volume_sums: trainer.volume_sums().to_vec(),
        loss: trainer.pid.loss,
        scores,
        outputs,
        gradients: gradients.iter().map(|layer| gradient_groups(layer).map(<[F]>::to_vec)).collect(),
    }
}

fn compare<F: Real>(twin: &Twin, got: &Engine<F>, count: usize, name: &str, tolerance: f64) {
    let name = |what: &str| format!("{name}, {count} rows, {:?}: {what}", twin.kind);
    let row_sums = twin.plain_rows.leaf_sums(count);
    let volume_sums = twin.plain_points.leaf_sums(count);
    close(&name("leaf sums of rows"), &got.row_sums, &row_sums, tolerance);
    close(&name("leaf sums of points"), &got.volume_sums, &volume_sums, tolerance);
    // A count below zero, however little, would turn the sparsity of an empty leaf over.
    assert!(
        got.row_sums.iter().chain(&got.volume_sums).all(|s| s.to_f64() >= 0.0),
        "{}",
        name("negative count")
    );
    let leaves = twin.kind.shape.leaves();
    let loss = naive::pid_loss(&row_sums, &volume_sums, leaves, SMOOTHING, &twin.keep, DROPOUT);
    close(&name("loss"), &[got.loss], &[loss], tolerance);
    close(&name("scores"), &got.scores, &twin.plain_rows.scores()[..count], tolerance);
    let outputs: Vec<f64> = twin.plain_rows.outputs[..count].iter().flatten().flatten().copied().collect();
    close(&name("outputs"), &got.outputs, &outputs, tolerance);
}

/// Gradients relative to the largest of their group, or to a hundredth where all are small: they are differences
/// of terms near one, rounded before they are subtracted.
fn compare_gradients(got: &Engine<f32>, want: &Engine<f64>, name: &str) {
    for (layer, (got, want)) in got.gradients.iter().zip(&want.gradients).enumerate() {
        for (group, (got, want)) in GROUPS.iter().zip(got.iter().zip(want)) {
            let largest = want.iter().fold(1e-2f64, |a, g| a.max(g.abs()));
            for (g, w) in got.iter().zip(want) {
                let error = (f64::from(*g) - w).abs() / largest;
                assert!(error < SINGLE_GRADIENTS, "{name}: layer {layer} {group}: {g}, not {w}: {error:e}");
            }
        }
    }
}

fn bits(engine: &Engine<f32>) -> Vec<u32> {
    let sums = engine.row_sums.iter().chain(&engine.volume_sums);
    let rows = engine.scores.iter().chain(&engine.outputs);
    let gradients = engine.gradients.iter().flatten().flatten();
    sums.chain(rows).chain(gradients).map(|x| x.to_bits()).collect()
}

#[test]
fn engine_agrees_with_its_plain_twin() {
    for (i, kind) in kinds().into_iter().enumerate() {
        let twin = Twin::new(kind, i as u64 + 1);
        for count in ROW_COUNTS {
            let double = engine::<f64>(&twin, Isa::Portable, count);
            compare(&twin, &double, count, "f64", DOUBLE);
            let mut fused = Vec::new();
            for &isa in Isa::available() {
                let single = engine::<f32>(&twin, isa, count);
                compare(&twin, &single, count, &format!("{isa:?}"), SINGLE);
                compare_gradients(&single, &double, &format!("{isa:?}, {count} rows, {kind:?}"));
                if isa != Isa::Portable {
                    fused.push(bits(&single));
                }
            }
            assert!(fused.windows(2).all(|pair| pair[0] == pair[1]), "vector sets differ on {kind:?}");
        }
    }
}
