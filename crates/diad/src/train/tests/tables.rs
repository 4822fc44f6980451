//! The parts of the score that need no training, against plain counting.

use crate::encode::{Encoder, Matrix};
use crate::kernel::Isa;
use crate::model::{Curve, Grid};
use crate::rng::{Purpose, Stream};
use crate::table::{Table, Texts, Values};
use crate::train::fit;
use crate::train::tables::{Sample, middle_and_spread};
use crate::{Detector, Params, Scale, ScorePart, persist};

const ROWS: usize = 800;
/// Without the constant one.
const COLUMNS: usize = 4;

/// Two columns that go together, one of two values, one of noise, one constant; one row that breaks the pattern.
fn data() -> (Table, Encoder, Matrix) {
    let mut random = Stream::new(3, Purpose::Shuffle, 0);
    let first: Vec<f64> = (0..ROWS).map(|_| random.normal()).collect();
    let mut second: Vec<f64> = first.iter().map(|x| x + 0.1 * random.normal()).collect();
    second[7] = -first[7].signum() * 2.5;
    let flag = (0..ROWS).map(|i| f64::from(u8::from(i % 40 == 0))).collect();
    let noise = (0..ROWS).map(|_| random.unit()).collect();
    let names = ["first", "second", "flag", "noise", "constant"].map(String::from).to_vec();
    let table = Table::new(names, vec![first, second, flag, noise, vec![1.0; ROWS]]).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Both).unwrap();
    (table, encoder, matrix)
}

fn sample() -> (Sample, Matrix) {
    let (_, encoder, matrix) = data();
    assert_eq!(encoder.telling_features(), COLUMNS);
    (Sample::new(&matrix, &encoder, 0), matrix)
}

fn params() -> Params {
    Params { layers: 2, trees: 8, steps: 20, warmup: 10, anneal: 10, ..Params::default() }
}

fn column(matrix: &Matrix, feature: usize) -> Vec<f32> {
    (0..matrix.rows()).map(|row| matrix.row(row)[feature]).collect()
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 1e-3 * expected.abs().max(0.1)
}

/// What a row gives to the node of a grid of so many nodes from -1 to 1.
fn near(x: f32, node: usize, nodes: usize) -> f64 {
    (1.0 - (f64::from(x + 1.0) * (nodes - 1) as f64 / 2.0 - node as f64).abs()).max(0.0)
}

/// The share of the range around a node.
fn share(node: usize, nodes: usize) -> f64 {
    if node == 0 || node == nodes - 1 { 0.5 / (nodes - 1) as f64 } else { 1.0 / (nodes - 1) as f64 }
}

#[test]
fn curves_and_grids_interpolate_between_their_nodes() {
    let curve = Curve { feature: 0, nodes: vec![-1.0, 0.0, 0.5], values: vec![1.0, 3.0, -1.0] };
    assert_eq!(
        [-9.0, -1.0, -0.5, 0.0, 0.25, 0.5, 9.0].map(|x| curve.at(x)),
        [1.0, 1.0, 2.0, 3.0, 1.0, -1.0, -1.0]
    );
    let two = Curve { feature: 0, nodes: vec![-1.0, 1.0], values: vec![0.0, 4.0] };
    assert_eq!([-1e30, 0.0, 1e30].map(|x| two.at(x)), [0.0, 2.0, 4.0]);
    let grid = Grid { features: [0, 1], nodes: [2, 3], values: vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0] };
    assert_eq!(grid.at(-1.0, 0.5), 1.5);
    assert_eq!(grid.at(0.0, -1.0), 5.0);
    assert_eq!(grid.at(2.0, 2.0), 12.0);
}

#[test]
fn tails_are_the_logarithm_of_the_share_beyond() {
    let (sample, matrix) = sample();
    let part = sample.tails();
    // The flag: both values are tails, 20 and 780 of 800 rows.
    let curve = |feature: u32| part.tables.curves.iter().find(|curve| curve.feature == feature).unwrap();
    let expected = (800.0f64 / 20.0).ln() / (800.0f64 / 780.0).ln();
    assert!(close(f64::from(curve(2).values[1] / curve(2).values[0]), expected));
    assert_eq!(part.tables.curves.len(), COLUMNS);
    // Any other column, at every row, up to the one factor of the column and the step between nodes.
    let x = column(&matrix, 0);
    let plain: Vec<f64> = x
        .iter()
        .map(|v| {
            let below = x.iter().filter(|u| *u <= v).count();
            let above = x.iter().filter(|u| *u >= v).count();
            -(below.min(above) as f64 / ROWS as f64).ln()
        })
        .collect();
    let extreme = plain.iter().cloned().fold(0.0, f64::max);
    let largest = x.iter().map(|&v| f64::from(curve(0).at(v))).fold(0.0, f64::max);
    for (&v, plain) in x.iter().zip(&plain) {
        let found = f64::from(curve(0).at(v)) * extreme / largest;
        assert!((found - plain).abs() < 0.1, "{found} instead of {plain}");
    }
    // Uniform noise weighs next to nothing.
    let weight = |feature: u32| curve(feature).values.iter().cloned().fold(0.0, f32::max);
    assert!(weight(3) < 0.5 * weight(0), "{} against {}", weight(3), weight(0));
}

#[test]
fn columns_count_volume_against_rows() {
    let (sample, matrix) = sample();
    let part = sample.sparsity();
    let x = column(&matrix, 1);
    let curve = part.tables.curves.iter().find(|curve| curve.feature == 1).unwrap();
    let sparsities = |x: &[f32]| -> Vec<f64> {
        let count = |node: usize| x.iter().map(|&v| near(v, node, 32)).sum::<f64>();
        // A fortieth of the rows is added to every node.
        (0..32).map(|node| share(node, 32) * (ROWS + 32 * 20) as f64 / (count(node) + 20.0)).collect()
    };
    for (node, plain) in sparsities(&x).into_iter().enumerate() {
        let found = f64::from(curve.at(node as f32 * 2.0 / 31.0 - 1.0));
        assert!(close(found, plain), "{found} instead of {plain} at node {node}");
    }
}

/// A flag of few rows is far sparser than anything else: it counts, but not without limit.
#[test]
fn no_column_outweighs_all_others() {
    let mut random = Stream::new(5, Purpose::Shuffle, 0);
    let n = 4000;
    let noise = (0..n).map(|_| random.unit()).collect();
    let rare = (0..n).map(|i| f64::from(u8::from(i == 9))).collect();
    let names = ["noise", "rare"].map(String::from).to_vec();
    let table = Table::new(names, vec![noise, rare]).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Bent).unwrap();
    let part = Sample::new(&matrix, &encoder, 0).sparsity();
    let curve = part.tables.curves.iter().find(|curve| curve.feature == 1).unwrap();
    let others: Vec<f32> = (0..n).filter(|&row| row != 9).map(|row| part.scores[row]).collect();
    let spread = f64::from(middle_and_spread(&others).1);
    let apart = f64::from(curve.at(1.0) - curve.at(-1.0));
    assert!(close(apart, 8.0 * spread), "{apart} with a spread of {spread}");
}

/// Of every column, and of every pair of columns.
#[test]
fn rows_far_from_all_others_are_alone_soon() {
    let (sample, matrix) = sample();
    let part = sample.cuts(&params());
    let curves: Vec<u32> = part.tables.curves.iter().map(|curve| curve.feature).collect();
    assert_eq!(curves, [0, 1, 2, 3]);
    let pairs: Vec<[u32; 2]> = part.tables.grids.iter().map(|grid| grid.features).collect();
    assert_eq!(pairs, [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]]);
    assert_eq!(part.tables.grids[1].nodes, [12, 2]);
    let all = part.tables.curves.iter().flat_map(|curve| &curve.values);
    let all = all.chain(part.tables.grids.iter().flat_map(|grid| &grid.values));
    assert!(all.clone().all(|value| (0.0..=1.0).contains(value)));
    // The ends of a normal column are alone sooner than its middle.
    let x = column(&matrix, 0);
    let curve = &part.tables.curves[0];
    let middle = middle_and_spread(&x).0;
    let [low, middle, high] = [-1.0, middle, 1.0].map(|x| curve.at(x));
    assert!(low > 1.1 * middle && high > 1.1 * middle, "{low} {middle} {high}");
    // The pair that goes together: a place off the diagonal is alone sooner than one on it.
    let grid = &part.tables.grids[0];
    assert!(grid.at(0.6, -0.6) > grid.at(0.6, 0.6), "{} {}", grid.at(0.6, -0.6), grid.at(0.6, 0.6));
    // Only columns where pairs are not wanted.
    let columns = sample.cuts(&Params { interactions: 1, ..params() });
    assert_eq!(columns.tables.curves, part.tables.curves);
    assert!(columns.tables.grids.is_empty());
    // Another seed cuts other rows.
    assert_ne!(sample.cuts(&Params { seed: 1, ..params() }).tables, part.tables);
}

#[test]
fn relations_compare_pairs_with_their_columns() {
    let (sample, matrix) = sample();
    let part = sample.relations(&params());
    let pairs: Vec<[u32; 2]> = part.tables.grids.iter().map(|grid| grid.features).collect();
    assert_eq!(pairs, [[0, 1]], "only the columns that go together");
    let (x, y) = (column(&matrix, 0), column(&matrix, 1));
    let n = ROWS as f64;
    let side = |x: &[f32], node| (x.iter().map(|&x| near(x, node, 8)).sum::<f64>() + 1.0) / (n + 8.0);
    for (node, &found) in part.tables.grids[0].values.iter().enumerate() {
        let (i, j) = (node / 8, node % 8);
        let count: f64 = x.iter().zip(&y).map(|(&x, &y)| near(x, i, 8) * near(y, j, 8)).sum();
        let apart = side(&x, i) * side(&y, j);
        let together = (count + 64.0 * apart) / (n + 64.0);
        let plain = (apart / together).ln().clamp(-0.5, 1.0);
        assert!(close(f64::from(found), plain), "{found} instead of {plain} at {i}, {j}");
    }
    let alone = sample.relations(&Params { interactions: 1, ..params() });
    assert!(alone.tables.grids.is_empty());
    assert!(alone.scores.iter().all(|&score| score == 0.0));
    // The row whose values go together in no other row is the most unlikely.
    let unlikely = (0..ROWS).max_by(|&a, &b| part.scores[a].total_cmp(&part.scores[b]));
    assert_eq!(unlikely, Some(7));
}

/// Columns that depend on each other in a chain, in the wrong order: the tree finds the chain.
#[test]
fn the_tree_follows_the_strongest_relations() {
    let mut random = Stream::new(9, Purpose::Shuffle, 0);
    let mut columns = vec![Vec::new(); 4];
    for _ in 0..2000 {
        let a = random.normal();
        let b = a + 0.3 * random.normal();
        let c = b + 0.3 * random.normal();
        let d = c + 0.3 * random.normal();
        columns.iter_mut().zip([c, a, d, b]).for_each(|(column, value)| column.push(value));
    }
    let table = Table::new(["c", "a", "d", "b"].map(String::from).to_vec(), columns).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Linear).unwrap();
    let part = Sample::new(&matrix, &encoder, 0).relations(&params());
    let mut pairs: Vec<[u32; 2]> = part.tables.grids.iter().map(|grid| grid.features).collect();
    pairs.sort_unstable();
    assert_eq!(pairs, [[0, 2], [0, 3], [1, 3]]);
}

#[test]
fn the_spread_is_that_of_the_quartiles_unless_most_are_the_same() {
    assert_eq!(middle_and_spread(&[5.0, 1.0, 2.0, 4.0, 3.0]), (3.0, 2.0));
    let mut mostly = vec![1.0; 90];
    mostly.extend([11.0; 10]);
    assert_eq!(middle_and_spread(&mostly), (1.0, 0.2));
    assert_eq!(middle_and_spread(&[2.0]), (2.0, 0.0));
}

#[test]
fn the_score_is_the_sum_of_its_parts_as_far_as_they_agree_and_survives_the_file() {
    let (table, _, _) = data();
    let go = |params: &Params| -> Detector {
        let (_, encoder, matrix) = data();
        fit(params, encoder, &matrix).unwrap()
    };
    let whole = go(&params());
    let scores = whole.score(&table).unwrap();
    let nothing = Params {
        weight_trees: 0.0,
        weight_tails: 0.0,
        weight_columns: 0.0,
        weight_relations: 0.0,
        weight_cuts: 0.0,
        ..params()
    };
    let alone = |part: ScorePart| match part {
        ScorePart::Tails => Params { weight_tails: 1.0, ..nothing.clone() },
        ScorePart::Columns => Params { weight_columns: 1.0, ..nothing.clone() },
        ScorePart::Trees => Params { weight_trees: 1.0, ..nothing.clone() },
        ScorePart::Relations => Params { weight_relations: 1.0, ..nothing.clone() },
        ScorePart::Cuts => Params { weight_cuts: 1.0, ..nothing.clone() },
    };
    let mut sum = vec![0.0f64; ROWS];
    for part in ScorePart::ALL {
        let scores = go(&alone(part)).score(&table).unwrap();
        let (middle, spread) = middle_and_spread(&scores);
        assert!(middle.abs() < 1e-3 && close(f64::from(spread), 1.0), "{part:?}: {middle} ± {spread}");
        let agreement = plain_correlation(&sum, &scores);
        let factor = params().weight(part) * part.counted(agreement, COLUMNS);
        sum.iter_mut().zip(&scores).for_each(|(sum, &score)| *sum += factor * f64::from(score));
    }
    let (middle, spread) = middle_and_spread(&sum.iter().map(|&sum| sum as f32).collect::<Vec<f32>>());
    for (score, sum) in scores.iter().zip(&sum) {
        let sum = (sum - f64::from(middle)) / f64::from(spread);
        assert!((f64::from(*score) - sum).abs() < 1e-3 * sum.abs().max(1.0), "{score} instead of {sum}");
    }
    assert!(nothing.validate().is_err());
    let again = persist::from_bytes(&persist::to_bytes(&whole).unwrap()).unwrap();
    assert_eq!(again.score(&table).unwrap(), scores);
    // The trees are those of a fit without the other parts.
    assert_eq!(whole.parts().2, go(&alone(ScorePart::Trees)).parts().2);
}

fn plain_correlation(x: &[f64], y: &[f32]) -> f64 {
    let y: Vec<f64> = y.iter().map(|&y| f64::from(y)).collect();
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let together = |x: &[f64], y: &[f64]| {
        let (a, b) = (mean(x), mean(y));
        mean(&x.iter().zip(y).map(|(x, y)| (x - a) * (y - b)).collect::<Vec<f64>>())
    };
    together(x, &y) / (together(x, x) * together(&y, &y)).sqrt()
}

/// Categories are counted one by one, and one that the training did not have is the most surprising.
#[test]
fn categories_have_nodes_of_their_own() {
    let cell = |i: usize| ["a", "b", "a", "c", "a", "a", "b", "a"][i % 8];
    let texts: Texts = (0..ROWS).map(|i| Some(cell(i))).collect();
    let gaps = (0..ROWS).map(|i| if i % 50 == 0 { f64::NAN } else { (i % 7) as f64 }).collect();
    let table = Table::of(vec!["c".into(), "x".into()], vec![texts.into(), Values::Numbers(gaps)]).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Both).unwrap();
    let sample = Sample::new(&matrix, &encoder, 0);
    let columns = sample.sparsity();
    let curve = &columns.tables.curves[0];
    assert_eq!(curve.nodes, [-1.0, 0.0, 1.0, 2.0]);
    let n = ROWS as f64;
    // A fortieth of the rows is added to every node.
    let expected = [0.625, 0.25, 0.125, 0.0].map(|share| (n + 4.0 * n / 40.0) / (2.0 * n * (share + 0.025)));
    for (value, expected) in curve.values.iter().zip(&expected[..3]) {
        assert!(close(f64::from(*value), *expected), "{value} instead of {expected}");
    }
    // A category that the training did not have is the sparsest, up to the limit for one column.
    let unseen = f64::from(curve.values[3]);
    assert!(unseen > 2.0 * expected[2] && unseen <= expected[3], "{unseen}");
    let tails = sample.tails();
    let ratio = |share: f64| f64::from(tails.tables.curves[0].values[1]) / -share.ln();
    let far = f64::from(tails.tables.curves[0].values[2]);
    assert!(close(far, ratio(0.375) * -(0.125f64.ln())), "{far}");
    assert_eq!(tails.tables.curves[0].values[0], 0.0);
    // The mark of a missing value has a curve, but no grid with its own column.
    assert_eq!(columns.tables.curves.iter().map(|curve| curve.feature).collect::<Vec<_>>(), [0, 1, 2]);
    let (relations, cuts) = (sample.relations(&params()), sample.cuts(&params()));
    let pairs: Vec<[u32; 2]> = cuts.tables.grids.iter().map(|grid| grid.features).collect();
    assert_eq!(pairs, [[0, 1], [0, 2]]);
    assert!(relations.tables.grids.iter().all(|grid| grid.features != [1, 2]));
}

/// A few values that are far beyond all others, as marks of missing ones often are.
#[test]
fn huge_values_leave_the_others_apart() {
    let mut random = Stream::new(11, Purpose::Shuffle, 0);
    for huge in [1e30, 1e200, f64::MAX] {
        let mut x: Vec<f64> = (0..ROWS).map(|_| random.normal()).collect();
        x[5] = 25.0;
        x[7] = huge;
        let table = Table::new(vec!["x".into()], vec![x]).unwrap();
        let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Both).unwrap();
        let part = Sample::new(&matrix, &encoder, 0).cuts(&params());
        assert!(part.scores.iter().all(|score| score.is_finite()));
        let mut order: Vec<usize> = (0..ROWS).collect();
        order.sort_by(|&a, &b| part.scores[b].total_cmp(&part.scores[a]));
        assert_eq!(order[0], 7);
        assert!(order[..20].contains(&5), "{huge}: place {:?}", order.iter().position(|&row| row == 5));
    }
}

/// Every pair of 25 columns, none of 26.
#[test]
fn too_many_pairs_are_not_cut() {
    for (width, pairs) in [(25, 300), (26, 0)] {
        let mut random = Stream::new(12, Purpose::Shuffle, 0);
        let columns = (0..width).map(|_| (0..40).map(|_| random.unit()).collect()).collect();
        let names = (0..width).map(|c| format!("c{c}")).collect();
        let table = Table::new(names, columns).unwrap();
        let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Bent).unwrap();
        let part = Sample::new(&matrix, &encoder, 0).cuts(&params());
        assert_eq!((part.tables.curves.len(), part.tables.grids.len()), (width, pairs));
    }
}

#[test]
fn relations_alone_need_pairs() {
    let alone = Params { weight_relations: 1.0, ..Params::paper() };
    let alone = Params { weight_trees: 0.0, ..alone };
    assert!(alone.validate().is_ok());
    let error = Params { interactions: 1, ..alone }.validate().unwrap_err().to_string();
    assert!(error.contains("only relations have a weight"), "{error}");
}

/// Pins the bytes of a whole tiny model, with all parts of its score, as `determinism::fingerprint` does those of its trees.
#[test]
fn fingerprint_of_a_whole_score() {
    const EXPECTED: u32 = 0xadda_8444;
    if Isa::detect() == Isa::Portable && !cfg!(target_arch = "aarch64") {
        return;
    }
    let (_, encoder, matrix) = data();
    let detector = fit(&params(), encoder, &matrix).unwrap();
    let bytes = persist::to_bytes(&detector).unwrap();
    let found = crc32fast::hash(&bytes[..bytes.len() - 4]);
    assert_eq!(found, EXPECTED, "the fingerprint is {found:#010x}");
}
