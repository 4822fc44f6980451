//! Which columns and pairs of columns a tuning changed most.

use std::collections::BTreeMap;

use crate::Detector;
use crate::encode::Matrix;
use crate::kernel::{LANES, Lane};
use crate::model::{BLOCK_LANES, BLOCK_ROWS, Block, Forward, Scratch, Tables};

/// Rows over which changes are averaged, at most.
const ROWS: usize = 4096;

/// How much the part of the score that looks at one or two columns changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The names of one or two columns.
    pub columns: Vec<String>,
    /// The mean over the rows of how far the change lies from its mean.
    pub size: f64,
}

/// The change of every term between two detectors of the same encoder, the largest first.
pub fn changes(first: &Detector, tuned: &Detector, rows: &Matrix) -> Vec<Change> {
    let rows =
        Matrix { width: rows.width, values: rows.values[..rows.rows().min(ROWS) * rows.width].to_vec() };
    let mut terms = BTreeMap::new();
    for (detector, sign) in [(first, -1.0), (tuned, 1.0)] {
        let (_, _, _, combination) = detector.parts();
        add_tables(detector, &combination.tables, &rows, sign, &mut terms);
        add_trees(detector, &rows, sign, &mut terms);
    }
    let columns = first.encoder().columns();
    let change = |(term, values): ([u32; 2], Vec<f64>)| {
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        let size = values.iter().map(|value| (value - mean).abs()).sum::<f64>() / values.len().max(1) as f64;
        let mut names: Vec<String> =
            term.iter().map(|&column| columns[column as usize].name.clone()).collect();
        names.dedup();
        Change { columns: names, size }
    };
    let mut changes: Vec<Change> = terms.into_iter().map(change).filter(|change| change.size > 0.0).collect();
    changes.sort_by(|a, b| b.size.total_cmp(&a.size).then_with(|| a.columns.cmp(&b.columns)));
    changes
}

type Terms = BTreeMap<[u32; 2], Vec<f64>>;

/// The values of the term that looks at some features.
fn term<'a>(detector: &Detector, terms: &'a mut Terms, features: [u32; 2], rows: usize) -> &'a mut Vec<f64> {
    let mut columns = features.map(|feature| detector.encoder().features()[feature as usize].column);
    columns.sort_unstable();
    terms.entry(columns).or_insert_with(|| vec![0.0; rows])
}

fn add_tables(detector: &Detector, tables: &Tables, rows: &Matrix, sign: f64, terms: &mut Terms) {
    let count = rows.rows();
    for curve in &tables.curves {
        let values = term(detector, terms, [curve.feature; 2], count);
        for (row, value) in values.iter_mut().enumerate() {
            *value += sign * f64::from(curve.at(rows.row(row)[curve.feature as usize]));
        }
    }
    for grid in &tables.grids {
        let [a, b] = grid.features.map(|feature| feature as usize);
        let values = term(detector, terms, grid.features, count);
        for (row, value) in values.iter_mut().enumerate() {
            *value += sign * f64::from(grid.at(rows.row(row)[a], rows.row(row)[b]));
        }
    }
}

fn add_trees(detector: &Detector, rows: &Matrix, sign: f64, terms: &mut Terms) {
    let (_, _, model, combination) = detector.parts();
    let wiring = detector.wiring();
    let trees = model.shape.all_trees();
    let factor = sign * f64::from(combination.tree_factor) / trees.max(1) as f64;
    if trees == 0 || factor == 0.0 {
        return;
    }
    let forward = Forward { model, wiring };
    let (mut block, mut scratch) = (Block::new(rows.width), Scratch::default());
    let mut total = vec![Lane::default(); BLOCK_LANES];
    for (index, part) in rows.values.chunks(BLOCK_ROWS * rows.width).enumerate() {
        block.fill_rows(part.chunks_exact(rows.width));
        forward.sum(&wiring.order, &mut block, &mut scratch, &mut total);
        for tree in 0..trees {
            let inputs = &wiring.trees[tree];
            let features = [inputs.features[0][0], inputs.features[1][0]];
            let output = block.outputs().get(tree * wiring.distinct, block.lanes());
            let values = term(detector, terms, features, rows.rows());
            let values = values.iter_mut().skip(index * BLOCK_ROWS).take(part.len() / rows.width);
            for (i, value) in values.enumerate() {
                *value += factor * f64::from(output[i / LANES].0[i % LANES]);
            }
        }
    }
}
