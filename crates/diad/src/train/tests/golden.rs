//! The fused engine against the golden values in `fixtures/golden`, in double precision and, with a stated
//! tolerance, in single precision.

use serde_json::Value;

use super::super::backward::{BackwardScratch, Direct, backward};
use super::super::plan::Plan;
use super::super::structure::{LayerGradient, parameter_gradients};
use super::super::trainer::{StepPlan, Trainer};
use crate::Loss;
use crate::kernel::{Isa, LANES, Lane, Real, Vectorized};
use crate::model::{BLOCK_ROWS, Block, Forward, Layer, Model, Scratch, Selectors, Shape, SoftSelectors};
use crate::settings::{LeafScale, MatchGradient};

pub fn load(name: &str) -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/").to_owned() + name;
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// All numbers of a nested array, in order.
pub fn flat(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(flat).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

pub fn close(what: &str, got: &[impl Real], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}: length");
    let scale = want.iter().fold(1.0f64, |a, b| a.max(b.abs()));
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let error = (g.to_f64() - w).abs();
        assert!(error <= tolerance * scale, "{what}[{i}]: got {g:?}, want {w}, error {error:e}");
    }
}

/// Keys are `[output][component][tree]` here and `[tree, output][component]` in the files.
fn reorder_keys(file: &[f64], outputs: usize, width: usize) -> Vec<f64> {
    let earlier = file.len() / (outputs * width);
    let mut keys = Vec::with_capacity(file.len());
    for k in 0..outputs {
        for a in 0..width {
            keys.extend((0..earlier).map(|q| file[(q * outputs + k) * width + a]));
        }
    }
    keys
}

/// Queries are `[tree][component]` here and transposed in the files.
fn transpose(file: &[f64], rows: usize) -> Vec<f64> {
    let columns = file.len() / rows;
    (0..columns).flat_map(|c| (0..rows).map(move |r| file[r * columns + c])).collect()
}

fn read_model<F: Real>(layers: &Value, depth: usize, outputs: usize) -> Model<F> {
    let real = |values: Vec<f64>| values.into_iter().map(F::from_f64).collect::<Vec<F>>();
    let layers = layers.as_array().unwrap();
    let mask = layers[0]["feature_mask"].as_array().unwrap();
    let (trees, features) = (mask.len(), mask[0].as_array().unwrap().len());
    let attention = layers[1]["att_query"].as_array().unwrap().len();
    let read = |layer: &Value| {
        let mask = flat(&layer["feature_mask"]);
        let chosen: Vec<usize> = (0..mask.len()).filter(|&i| mask[i] > 0.0).collect();
        let width = chosen.len() / trees;
        let logits = flat(&layer["select_logits"]);
        let selector = |s: usize| real(chosen.iter().map(|&i| logits[s * trees * features + i]).collect());
        let candidates = chosen.iter().map(|&i| (i % features) as u32).collect();
        let optional = |name: &str| layer.get(name).map(flat).unwrap_or_default();
        Layer {
            selectors: Selectors::Soft(SoftSelectors {
                width,
                candidates,
                logits: [selector(0), selector(1)],
            }),
            thresholds: real(flat(&layer["thresholds"])),
            log_slopes: real(flat(&layer["log_slopes"])),
            leaf_weights: real(flat(&layer["leaf_weights"])),
            keys: real(reorder_keys(&optional("att_key"), outputs, attention)),
            queries: real(transpose(&optional("att_query"), attention)),
        }
    };
    let shape = Shape { features, layers: layers.len(), trees, depth, outputs, attention, grove: trees };
    Model { shape, layers: layers.iter().map(read).collect() }
}

pub fn blocks<F: Real>(rows: &[f64], features: usize) -> Vec<Block<F>> {
    rows.chunks(BLOCK_ROWS * features)
        .map(|part| {
            let mut block = Block::new(features);
            block.fill(part.len() / features, |r, f| F::from_f64(part[r * features + f]));
            block
        })
        .collect()
}

fn compare_gradients<F: Real>(got: &[LayerGradient<F>], want: &Value, model: &Model<F>, tolerance: f64) {
    let shape = model.shape;
    for (l, (got, want)) in got.iter().zip(want.as_array().unwrap()).enumerate() {
        let name = |group: &str| format!("layer {l} {group}");
        close(&name("thresholds"), &got.thresholds, &flat(&want["thresholds"]), tolerance);
        close(&name("log_slopes"), &got.log_slopes, &flat(&want["log_slopes"]), tolerance);
        // no gradient at all is written as null: the last layer's weights are in no unsupervised loss
        let leaf_weights = match &want["leaf_weights"] {
            Value::Null => vec![0.0; got.leaf_weights.len()],
            values => flat(values),
        };
        close(&name("leaf_weights"), &got.leaf_weights, &leaf_weights, tolerance);
        if l > 0 {
            let keys = reorder_keys(&flat(&want["att_key"]), shape.outputs, shape.attention);
            close(&name("keys"), &got.keys, &keys, tolerance);
            let queries = transpose(&flat(&want["att_query"]), shape.attention);
            close(&name("queries"), &got.queries, &queries, tolerance);
        }
        if let Selectors::Soft(soft) = &model.layers[l].selectors {
            let logits = flat(&want["select_logits"]);
            for s in 0..2 {
                let expected: Vec<f64> = (0..soft.candidates.len())
                    .map(|i| {
                        let tree = i / soft.width;
                        logits[(s * shape.trees + tree) * shape.features + soft.candidates[i] as usize]
                    })
                    .collect();
                close(&name("logits"), &got.logits[s], &expected, tolerance);
            }
        } else {
            assert!(want["select_logits"].is_null());
        }
    }
}

fn golden_model<F: Vectorized>(case: &Value, tolerance: f64) {
    let depth = case["depth"].as_u64().unwrap() as usize;
    let outputs = case["tree_dim"].as_u64().unwrap() as usize;
    let mut model = read_model::<F>(&case["params"], depth, outputs);
    if case["one_hot_selectors"].as_bool().unwrap() {
        model.harden();
    }
    let shape = model.shape;
    let mut rows = blocks::<F>(&flat(&case["data"]), shape.features);
    let mut points = blocks::<F>(&flat(&case["uniform"]), shape.features);
    let keep = vec![true; shape.all_trees()];
    let temperature = case["split_temperature"].as_f64().unwrap();
    let plan = StepPlan {
        temperature,
        learning_rate: 0.0,
        smoothing: case["smoothing"].as_f64().unwrap(),
        damping: 0.1,
        dropout: 0.0,
        leaf_scale: LeafScale::Layer,
        match_gradient: MatchGradient::Both,
        keep: &keep,
    };
    let mut trainer = Trainer::new(model.clone(), Isa::detect());
    let gradients = trainer.gradients(&mut rows, &mut points, plan, true);

    close("counts", trainer.row_sums(), &flat(&case["leaf_counts"]), tolerance);
    close("volumes", trainer.volume_sums(), &flat(&case["leaf_volumes"]), tolerance);
    close("sparsity", &trainer.pid.sparsity, &flat(&case["sparsity"]), tolerance);
    close("loss", &[trainer.pid.loss], &[case["pid_loss"].as_f64().unwrap()], tolerance);
    compare_gradients(&gradients, &case["pid_grads"], &model, tolerance);

    let forward = Forward { model: &trainer.model, wiring: &trainer.wiring };
    let mut total = vec![Lane::default(); 16];
    forward.score(&mut rows[0], &mut Scratch::default(), &mut total);
    let count = flat(&case["score"]).len();
    let share = 1.0 / shape.all_trees() as f64;
    let score: Vec<f64> = (0..count).map(|i| total[i / LANES].0[i % LANES].to_f64() * share).collect();
    close("score", &score, &flat(&case["score"]), tolerance);
    let tree_outputs = flat(&case["tree_outputs"]);
    let columns = rows[0].outputs();
    for i in 0..count {
        for q in 0..shape.all_trees() * outputs {
            let got = columns.get(q, rows[0].lanes())[i / LANES].0[i % LANES];
            close("output", &[got], &[tree_outputs[i * shape.all_trees() * outputs + q]], tolerance);
        }
    }
    for loss in ["auc_margin0", "auc_margin1", "bce"] {
        supervised(&mut trainer, &mut rows, &score, &case[loss], loss, temperature, tolerance);
    }
}

/// The gradients of the supervised losses, through the derivative by each row's score.
fn supervised<F: Real>(
    trainer: &mut Trainer<F>,
    rows: &mut [Block<F>],
    score: &[f64],
    golden: &Value,
    loss: &str,
    temperature: f64,
    tolerance: f64,
) {
    let labels = flat(&golden["labels"]);
    let labels: Vec<bool> = labels.iter().map(|&label| label > 0.0).collect();
    let (value, by_score) = match loss {
        "bce" => Loss::Bce.evaluate(&labels, score, 0.0),
        "auc_margin0" => Loss::Auc.evaluate(&labels, score, 0.0),
        _ => Loss::Auc.evaluate(&labels, score, 1.0),
    };
    close(loss, &[value], &[golden["loss"].as_f64().unwrap()], tolerance);
    let share = 1.0 / trainer.model.shape.all_trees() as f64;
    let mut lanes = vec![Lane::<F>::default(); rows[0].lanes()];
    for (i, d) in by_score.iter().enumerate() {
        lanes[i / LANES].0[i % LANES] = F::from_f64(d * share);
    }
    let mut plan = Plan::default();
    plan.update(&trainer.model, &trainer.wiring, &vec![true; trainer.model.shape.all_trees()], true);
    let forward = Forward { model: &trainer.model, wiring: &trainer.wiring };
    let mut sums = vec![F::default(); plan.gradient_len()];
    backward(
        forward,
        &trainer.wiring.order,
        &plan,
        &rows[0],
        Direct::Rows(&lanes),
        &mut BackwardScratch::default(),
        &mut sums,
    );
    let temperature = F::from_f64(temperature);
    let gradients = parameter_gradients(&trainer.model, &trainer.wiring, &plan, &sums, temperature);
    compare_gradients(&gradients, &golden["grads"], &trainer.model, tolerance);
}

#[test]
fn model_in_double_precision() {
    for case in load("model.json").as_array().unwrap() {
        golden_model::<f64>(case, 1e-9);
    }
}

#[test]
fn model_in_single_precision() {
    for case in load("model.json").as_array().unwrap() {
        golden_model::<f32>(case, 2e-5);
    }
}

#[test]
fn trajectory_in_double_precision() {
    golden_trajectory::<f64>(1e-8);
}

#[test]
fn trajectory_in_single_precision() {
    golden_trajectory::<f32>(2e-3);
}

fn golden_trajectory<F: Vectorized>(tolerance: f64) {
    let file = load("trajectory.json");
    let depth = file["depth"].as_u64().unwrap() as usize;
    let outputs = file["tree_dim"].as_u64().unwrap() as usize;
    let model = read_model::<F>(&file["initial"], depth, outputs);
    let features = model.shape.features;
    let data = flat(&file["data"]);
    let mut trainer = Trainer::new(model, Isa::detect());
    for step in file["steps"].as_array().unwrap() {
        let chosen: Vec<f64> = flat(&step["rows"])
            .iter()
            .flat_map(|&r| data[r as usize * features..(r as usize + 1) * features].to_vec())
            .collect();
        if step["one_hot_selectors"].as_bool().unwrap() {
            trainer.model.harden();
        }
        let keep: Vec<bool> = flat(&step["keep"]).iter().map(|&k| k > 0.0).collect();
        let plan = StepPlan {
            temperature: step["temperature"].as_f64().unwrap(),
            learning_rate: step["lr"].as_f64().unwrap(),
            smoothing: file["smoothing"].as_f64().unwrap(),
            damping: file["leaf_update_rate"].as_f64().unwrap(),
            dropout: file["tree_dropout"].as_f64().unwrap(),
            leaf_scale: LeafScale::Layer,
            match_gradient: MatchGradient::Both,
            keep: &keep,
        };
        let (mut rows, mut points) = (blocks(&chosen, features), blocks(&flat(&step["uniform"]), features));
        trainer.step(&mut rows, &mut points, plan);
        close("loss", &[trainer.pid.loss], &[step["loss"].as_f64().unwrap()], tolerance);
    }
    let want = read_model::<F>(&file["final"], depth, outputs);
    let widen = |values: &[F]| values.iter().map(|v| v.to_f64()).collect::<Vec<f64>>();
    for (got, want) in trainer.model.layers.iter().zip(&want.layers) {
        close("thresholds", &got.thresholds, &widen(&want.thresholds), tolerance);
        close("log_slopes", &got.log_slopes, &widen(&want.log_slopes), tolerance);
        close("leaf_weights", &got.leaf_weights, &widen(&want.leaf_weights), tolerance);
        close("keys", &got.keys, &widen(&want.keys), tolerance);
        close("queries", &got.queries, &widen(&want.queries), tolerance);
    }
    let mut hard = want.clone();
    hard.harden();
    for (got, want) in trainer.model.layers.iter().zip(&hard.layers) {
        assert_eq!(got.selectors, want.selectors);
    }
    trainer.wiring.update(&trainer.model, F::from_f64(0.1));
    let forward = Forward { model: &trainer.model, wiring: &trainer.wiring };
    let mut total = vec![Lane::default(); 16];
    let mut all = blocks(&data, features);
    forward.score(&mut all[0], &mut Scratch::default(), &mut total);
    let share = 1.0 / trainer.model.shape.all_trees() as f64;
    let want = flat(&file["final_score"]);
    let score: Vec<f64> = (0..want.len()).map(|i| total[i / LANES].0[i % LANES].to_f64() * share).collect();
    close("score", &score, &want, tolerance);
}
