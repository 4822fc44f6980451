//! The tables against plain counting, and what a score with tables promises.

use std::ops::ControlFlow;

use crate::encode::{Encoder, Matrix};
use crate::model::{Curve, Grid};
use crate::rng::{Purpose, Stream};
use crate::table::Table;
use crate::train::tables::fit_tables;
use crate::{Detector, Params, Scale, fit, persist};

/// Two columns that go together, one of two values, one of noise, one constant; one row that breaks the pattern.
fn data(rows: usize) -> (Table, Encoder, Matrix) {
    let mut random = Stream::new(3, Purpose::Shuffle, 0);
    let first: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
    let mut second: Vec<f64> = first.iter().map(|x| x + 0.1 * random.normal()).collect();
    second[7] = -first[7].signum() * 2.5;
    let flag = (0..rows).map(|i| f64::from(u8::from(i % 40 == 0))).collect();
    let noise = (0..rows).map(|_| random.unit()).collect();
    let names = ["first", "second", "flag", "noise", "constant"].map(String::from).to_vec();
    let table = Table::new(names, vec![first, second, flag, noise, vec![1.0; rows]]).unwrap();
    let (encoder, matrix) = Encoder::fit_encode(&table, &[], Scale::Bent).unwrap();
    (table, encoder, matrix)
}

fn params() -> Params {
    Params {
        scale: Scale::Bent,
        tails: true,
        tables: 100,
        layers: 2,
        trees: 8,
        steps: 20,
        warmup: 10,
        anneal: 10,
        ..Params::default()
    }
}

#[test]
fn curves_and_grids_interpolate_between_their_nodes() {
    let curve = Curve { feature: 0, values: vec![1.0, 3.0, -1.0] };
    assert_eq!(
        [-9.0, -1.0, -0.5, 0.0, 0.75, 1.0, 9.0].map(|x| curve.at(x)),
        [1.0, 1.0, 2.0, 3.0, 0.0, -1.0, -1.0]
    );
    let grid = Grid { features: [0, 1], nodes: [2, 3], values: vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0] };
    assert_eq!(grid.at(-1.0, 0.5), 1.5);
    assert_eq!(grid.at(0.0, -1.0), 5.0);
    assert_eq!(grid.at(2.0, 2.0), 12.0);
}

#[test]
fn tails_are_the_logarithm_of_the_share_beyond() {
    let (_, _, matrix) = data(800);
    let (tables, _) = fit_tables(&params(), &matrix);
    // 20 of 800 rows carry the flag: both values of a column of two values are its own tails, up to one factor.
    let flag = tables.curves.iter().find(|curve| curve.feature == 2).unwrap();
    let expected = (800.0f64 / 20.0).ln() / (800.0f64 / 780.0).ln();
    assert!((f64::from(flag.values[1] / flag.values[0]) - expected).abs() < 1e-3 * expected);
    // A curve falls towards the middle of its column and rises to both ends.
    let first = tables.curves.iter().find(|curve| curve.feature == 0).unwrap();
    let lowest = first.values.iter().cloned().fold(f32::INFINITY, f32::min);
    assert!(first.values[0] > 3.0 * lowest && first.values[127] > 3.0 * lowest);
    // Uniform noise weighs next to nothing, a constant column nothing.
    let weight = |feature: u32| {
        let curve = tables.curves.iter().find(|curve| curve.feature == feature);
        curve.map_or(0.0, |curve| curve.values.iter().cloned().fold(0.0, f32::max))
    };
    assert!(weight(3) < 0.5 * weight(0), "{} against {}", weight(3), weight(0));
    assert_eq!(weight(4), 0.0);
}

#[test]
fn grids_count_rows_against_volume() {
    let (_, _, matrix) = data(800);
    let (tables, _) = fit_tables(&params(), &matrix);
    assert_eq!(tables.grids.len(), 6, "all pairs of the four columns that vary");
    let grid = tables.grids.iter().find(|grid| grid.features == [0, 1]).unwrap();
    // Plainly: each row gives each of the four nodes around it its share.
    let mut counts = vec![0.0f64; 256];
    for row in 0..800 {
        for (node, count) in counts.iter_mut().enumerate() {
            let near = |x: f32, node: usize| (1.0 - ((x + 1.0) * 7.5 - node as f32).abs()).max(0.0);
            *count += f64::from(near(matrix.row(row)[0], node / 16) * near(matrix.row(row)[1], node % 16));
        }
    }
    let edge = |node: usize| if node == 0 || node == 15 { 0.5 } else { 1.0 };
    let plain: Vec<f64> = (0..256)
        .map(|node| {
            let volume = edge(node / 16) * edge(node % 16) / 225.0;
            (volume * 1056.0 / (counts[node] + 1.0)).min(6.0f64.exp())
        })
        .collect();
    let factor = f64::from(grid.values[0]) / plain[0];
    for (value, plain) in grid.values.iter().zip(&plain) {
        assert!(
            (f64::from(*value) - factor * plain).abs() <= 1e-3 * (factor * plain).abs(),
            "{value} {plain}"
        );
    }
}

#[test]
fn a_broken_pattern_stands_out_and_survives_the_file() {
    let (table, encoder, matrix) = data(800);
    let detector = fit(&params(), encoder, &matrix, &mut |_| ControlFlow::Continue(())).unwrap();
    let scores = detector.score(&table).unwrap();
    let higher = (0..800).filter(|&row| row % 40 != 0 && scores[row] > scores[7]).count();
    assert!(higher <= 3, "{higher} rows without the flag score above row 7, which has {}", scores[7]);
    // Three parts of standard deviation one around zero.
    let mean = scores.iter().sum::<f32>() / 800.0;
    assert!(mean.abs() < 1e-3, "{mean}");
    let again = persist::from_bytes(&persist::to_bytes(&detector).unwrap()).unwrap();
    assert_eq!(again.score(&table).unwrap(), scores);
    // The trees alone are still those of a fit without tables.
    let alone = |params: &Params| -> Detector {
        let (_, encoder, matrix) = data(800);
        fit(params, encoder, &matrix, &mut |_| ControlFlow::Continue(())).unwrap()
    };
    let without = alone(&Params { tails: false, tables: 0, ..params() });
    assert_eq!(detector.parts().2, without.parts().2);
}
