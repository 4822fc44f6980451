use std::sync::OnceLock;

use crate::encode::{Encoder, Roles};
use crate::explain::Explainer;
use crate::kernel::{Isa, LANES};
use crate::model::BLOCK_ROWS;
use crate::rng::{Purpose, Stream};
use crate::score::Engine;
use crate::table::{Table, Texts, Values};
use crate::{Detector, Labelled, Params};

/// What single precision may round away, of trees or of tables, beside the bound.
const ROUNDING: f64 = 2e-5;
const NAMES: [&str; 7] = ["even", "tail", "two", "gaps", "job", "rare", "cube"];
const JOBS: [&str; 5] = ["clerk", "student", "nurse", "pilot", "unknown to the training"];

/// The tables of a detector, if it uses them.
fn tables(detector: &Detector) -> Option<&super::Compiled> {
    match detector.engine() {
        Engine::Tables(compiled) => Some(compiled),
        Engine::Exact(_) => None,
    }
}

/// Rows of numbers with and without tails and gaps, of two values, and of categories; `reach` times as far out as the
/// training rows.
fn table(seed: u64, rows: usize, reach: f64, jobs: usize) -> Table {
    let mut random = Stream::new(seed, Purpose::Shuffle, 0);
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 7];
    for _ in 0..rows {
        let (a, b) = (random.normal() * reach, random.normal() * reach);
        let two = if reach > 1.0 { random.unit() } else { f64::from(u8::from(random.unit() < 0.2)) };
        let gap = random.unit() < 0.1;
        let tail = libm::exp(2.0 * a) - libm::exp(-b);
        let values = [
            random.unit() * reach,
            tail,
            two,
            if gap { f64::NAN } else { a + b },
            (random.unit() * jobs as f64).floor(),
            (random.unit() * random.unit() * 40.0).floor(),
            a * a * a,
        ];
        columns.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
    }
    let names = NAMES.map(String::from).to_vec();
    let values = columns.into_iter().enumerate().map(|(index, column)| match index {
        4 => Values::Texts(column.iter().map(|&job| Some(JOBS[job as usize])).collect::<Texts>()),
        5 => {
            let texts: Vec<String> = column.iter().map(|level| format!("level {level}")).collect();
            Values::Texts(texts.iter().map(|text| Some(text.as_str())).collect::<Texts>())
        }
        _ => Values::Numbers(column),
    });
    Table::of(names, values.collect()).unwrap()
}

fn fitted(params: &Params, seed: u64) -> Detector {
    let (encoder, matrix) =
        Encoder::fit_encode_as(&table(seed, 700, 1.0, 4), &Roles::default(), params.scale).unwrap();
    crate::fit::fit(params, encoder, &matrix).unwrap()
}

fn short(trees: usize) -> Params {
    Params { trees, steps: 60, warmup: 10, anneal: 30, batch: 256, ..Params::default() }
}

fn detector() -> &'static Detector {
    static DETECTOR: OnceLock<Detector> = OnceLock::new();
    DETECTOR.get_or_init(|| fitted(&short(60), 1))
}

/// The score of a row from the parameters, leaf by leaf, in double precision.
fn plain_score(detector: &Detector, features: &[f32]) -> f64 {
    let (params, model, additive) = (detector.params(), detector.model(), detector.additive());
    let mut trees = 0.0;
    let depth = model.shape.depth;
    for (t, wiring) in detector.wiring.trees.iter().enumerate() {
        let layer = &model.layers[0];
        let right: Vec<f64> = (0..depth)
            .map(|i| {
                let x = f64::from(features[wiring.features[i % 2][0] as usize]).clamp(-1.0, 1.0);
                let slope = libm::exp(-f64::from(layer.log_slopes[t * depth + i]));
                let z = (x - f64::from(layer.thresholds[t * depth + i])) * slope / params.min_temperature;
                let u = (z / 2.0).clamp(-1.0, 1.0);
                (1.0 + u * (2.0 - u * u).sqrt()) / 2.0
            })
            .collect();
        for leaf in 0..1 << depth {
            let share: f64 =
                (0..depth).map(|i| if leaf >> i & 1 == 1 { 1.0 - right[i] } else { right[i] }).product();
            trees += share * f64::from(layer.leaf_weights[t * model.shape.outputs * (1 << depth) + leaf]);
        }
    }
    let parts: f64 =
        additive.parts.iter().map(|part| f64::from(part.factor) * part.functions.at(features)).sum();
    let share = f64::from(additive.tree_factor()) / model.shape.all_trees().max(1) as f64;
    trees * share + parts - f64::from(additive.shift)
}

/// The largest difference between the compiled score and the exact one, and the plain one.
fn check(detector: &Detector, rows: &Table) {
    let bound = detector.bound().expect("compiled");
    assert!(bound <= super::LARGEST_SHARE * detector.score_deviation());
    let scores = detector.score(rows).unwrap();
    let matrix = detector.encoder().encode(rows).unwrap();
    let mut exact = vec![0.0; scores.len()];
    detector.score_encoded(&matrix, &mut exact);
    for (row, (&score, &exact)) in scores.iter().zip(&exact).enumerate() {
        let plain = plain_score(detector, matrix.row(row));
        for other in [f64::from(exact), plain] {
            let difference = (f64::from(score) - other).abs();
            assert!(
                difference <= bound + ROUNDING * other.abs().max(1.0),
                "row {row}: {score} instead of {other}, bound {bound}"
            );
        }
    }
}

#[test]
fn scores_stay_within_the_bound_for_rows_of_any_kind() {
    for seed in 1..4 {
        let own;
        let detector = if seed == 1 {
            detector()
        } else {
            own = fitted(&short(25 * seed as usize), seed);
            &own
        };
        check(detector, &table(seed + 10, 3000, 1.0, 5));
        check(detector, &table(seed + 20, 3000, 1.5, 5));
        check(detector, &table(seed + 30, 1000, 40.0, 5));
    }
}

#[test]
fn other_shapes_compile_too() {
    for depth in [1, 3, 5] {
        check(&fitted(&Params { depth, ..short(20) }, 5), &table(15, 1000, 1.3, 5));
    }
    for scale in [crate::Scale::Linear, crate::Scale::Asinh] {
        check(&fitted(&Params { scale, ..short(20) }, 6), &table(16, 1000, 1.3, 5));
    }
    check(&fitted(&Params { interactions: 1, ..short(20) }, 7), &table(17, 1000, 1.3, 5));
    check(&fitted(&Params { weight_trees: 0.0, ..short(20) }, 8), &table(18, 1000, 1.3, 5));
}

#[test]
fn trees_that_attend_to_trees_stay_exact() {
    let detector = fitted(&Params { layers: 2, ..short(20) }, 9);
    assert_eq!(detector.bound(), None);
    let rows = table(19, 300, 1.0, 4);
    let scores = detector.score(&rows).unwrap();
    assert_eq!(detector.exactly().score(&rows).unwrap(), scores);
}

#[test]
fn tuned_models_compile_too() {
    let mut random = Stream::new(2, Purpose::Shuffle, 0);
    let rows = table(41, 400, 1.0, 4);
    let labels = (0..400).map(|i| if i < 100 { f64::from(u8::from(random.unit() < 0.3)) } else { f64::NAN });
    let names = rows.names().iter().cloned().chain(["label".into()]).collect();
    let values = (0..7).map(|column| rows.values(column).clone());
    let labelled = Table::of(names, values.chain([Values::Numbers(labels.collect())]).collect()).unwrap();
    let labelled = Labelled::read(detector(), &labelled, "label").unwrap();
    let tuned = detector().tune(&labelled).unwrap();
    check(&tuned.detector, &table(42, 2000, 1.5, 5));
}

/// However wide the scores of a tuned model are, its tables are close where they are near 0.
#[test]
fn tables_of_wide_tuned_scores_are_close() {
    let rows = table(44, 400, 1.0, 4);
    let label = |row: usize| Some(rows.column(1)[row] > 3.0);
    let labelled = Labelled::of(detector(), &rows, (0..400).map(label).collect()).unwrap();
    let tuned = detector().tune(&labelled).unwrap().detector;
    let deviation = tuned.score_deviation();
    assert!(deviation > 2.0, "{deviation}");
    assert!(tuned.bound().unwrap() <= super::LARGEST_SHARE);
    let more = table(43, 2000, 1.2, 5);
    check(&tuned, &more);
    let loaded = Detector::from_bytes(&tuned.to_bytes().unwrap()).unwrap();
    assert_eq!(bits(&loaded.score(&more).unwrap()), bits(&tuned.score(&more).unwrap()));
    // A file from before that has a larger bound keeps the tables it had.
    let before = Detector { bound: Some(2e-4), compiled: OnceLock::new(), ..loaded };
    let bound = tables(&before).unwrap().bound();
    assert!(bound > super::LARGEST_SHARE && bound <= super::LARGEST_SHARE * deviation, "{bound}");
}

fn bits(scores: &[f32]) -> Vec<u32> {
    scores.iter().map(|score| score.to_bits()).collect()
}

/// The same row gets the same bits whatever its neighbours, the number of threads and the vector instructions.
#[test]
fn a_row_has_one_score() {
    let rows = table(51, 1000, 1.5, 5);
    let scores = bits(&detector().score(&rows).unwrap());
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(bits(&pool.install(|| detector().score(&rows).unwrap())), scores);
    }
    let found = detector().encoder().find_table(&rows).unwrap();
    for size in [1, 3, 255, 257] {
        for start in (0..1000 - size).step_by(97) {
            let columns =
                (0..7).map(|column| Values::Encoded(found.column(column)[start..start + size].to_vec()));
            let part = Table::of(found.names().to_vec(), columns.collect()).unwrap();
            assert_eq!(bits(&detector().score(&part).unwrap()), scores[start..start + size]);
        }
    }
    let matrix = detector().encoder().encode(&rows).unwrap();
    let compiled = tables(detector()).unwrap();
    for isa in
        Isa::available().iter().copied().filter(|isa| *isa != Isa::Portable || cfg!(target_feature = "fma"))
    {
        let mut cursor = super::Cursor::default();
        for (block, start) in (0..1000).step_by(BLOCK_ROWS).enumerate() {
            let end = (start + BLOCK_ROWS).min(1000);
            for (axis, &feature) in compiled.features().iter().enumerate() {
                let x: Vec<f32> = (start..end).map(|row| matrix.row(row)[feature as usize]).collect();
                compiled.find(axis, &x, &mut cursor);
            }
            let mut found = vec![f32::NAN; end - start];
            compiled.scores(isa.kernels_f32(), &mut cursor, &mut found);
            assert_eq!(bits(&found), scores[start..end], "block {block} on {isa:?}");
        }
    }
    assert_eq!(BLOCK_ROWS % LANES, 0);
}

/// Many threads that all wait for the same tables get them.
#[test]
fn a_loaded_model_may_be_first_used_by_several_threads_at_once() {
    use rayon::prelude::*;
    let rows = table(52, 300, 1.0, 4);
    let scores = bits(&detector().score(&rows).unwrap());
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let loaded = Detector::from_bytes(&detector().to_bytes().unwrap()).unwrap();
        let all: Vec<Vec<u32>> =
            pool.install(|| (0..8).into_par_iter().map(|_| bits(&loaded.score(&rows).unwrap())).collect());
        assert!(all.iter().all(|found| *found == scores));
    }
}

#[test]
fn contributions_add_up_to_compiled_scores() {
    let rows = table(61, 700, 1.5, 5);
    let explainer = Explainer::new(detector());
    let explained = explainer.contributions(&rows).unwrap();
    assert_eq!(bits(explained.scores()), bits(&detector().score(&rows).unwrap()));
    for (row, &score) in explained.scores().iter().enumerate() {
        let sum = explainer.intercept() + explained.row(row).iter().sum::<f64>();
        assert!((sum - f64::from(score)).abs() < 1e-6 * sum.abs().max(1.0), "{sum} instead of {score}");
    }
}

#[test]
fn a_file_keeps_the_bound_and_gives_the_same_scores() {
    let rows = table(71, 500, 1.2, 5);
    let bytes = detector().to_bytes().unwrap();
    let loaded = Detector::from_bytes(&bytes).unwrap();
    assert_eq!(loaded.bound(), detector().bound());
    assert_eq!(bits(&loaded.score(&rows).unwrap()), bits(&detector().score(&rows).unwrap()));
    assert_eq!(tables(&loaded).unwrap().bound(), detector().bound().unwrap());
    assert_eq!(loaded.to_bytes().unwrap(), bytes);
    let exact = loaded.exactly();
    assert!(tables(&exact).is_none() && exact.bound().is_some());
}

/// A column of more categories than a grid has hats for, before and after a column of few values.
#[test]
fn columns_of_many_categories_compile() {
    let rows = |seed: u64, rows: usize| {
        let mut random = Stream::new(seed, Purpose::Shuffle, 0);
        let texts: Vec<String> =
            (0..rows).map(|_| format!("c{}", (random.unit() * random.unit() * 200.0) as u32)).collect();
        let texts = || Values::Texts(texts.iter().map(|text| Some(text.as_str())).collect::<Texts>());
        let mut numbers = |scale: f64| Values::Numbers((0..rows).map(|_| random.normal() * scale).collect());
        let values = vec![numbers(1.0), texts(), numbers(5.0)];
        Table::of(["x", "kind", "y"].map(String::from).to_vec(), values).unwrap()
    };
    let detector = short(20).fit(&rows(51, 1500)).unwrap();
    assert!(detector.encoder().columns()[1].positions() > 100);
    check(&detector, &rows(52, 1000));
}
