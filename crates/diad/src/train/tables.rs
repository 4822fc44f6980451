//! The parts of the score that need no training: how far a row lies in the tails of its columns, and how sparse
//! the data are around it in tables of pairs of columns.

use rayon::prelude::*;

use crate::encode::Matrix;
use crate::model::{Curve, Grid, Tables, place};
use crate::params::Params;
use crate::rng::{Purpose, Stream};

/// Rows the tables are made from.
const ROWS: usize = 1 << 16;
/// Nodes of a curve and of each side of a grid. Columns of two values have two.
const CURVE_NODES: usize = 128;
const DENSITY_NODES: usize = 32;
const GRID_NODES: usize = 16;
/// The largest sparsity of a grid's node, as a logarithm: beyond, emptier is not more unusual.
const LOG_SPARSITY_LIMIT: f32 = 6.0;

/// A column of the sample.
struct Column {
    values: Vec<f32>,
    two_valued: bool,
    /// How uneven its density is: the standard deviation of its logarithm. Near zero for uniform noise.
    unevenness: f32,
}

/// The tables of a matrix, each kind scaled to a standard deviation of one over the rows, and the mean of their sum.
pub fn fit_tables(params: &Params, matrix: &Matrix) -> (Tables, f32) {
    let rows = sample(matrix, params.seed);
    let columns: Vec<Column> =
        (0..matrix.width).into_par_iter().map(|feature| column(matrix, &rows, feature)).collect();
    let mut tables = Tables::default();
    let mut mean = 0.0;
    if params.tails {
        let varied = |feature: &usize| columns[*feature].unevenness > 0.0;
        tables.curves = (0..matrix.width)
            .into_par_iter()
            .filter(varied)
            .map(|feature| Curve { feature: feature as u32, values: tails(&columns[feature]) })
            .collect();
        let sums = row_sums(rows.len(), |row| {
            tables.curves.iter().map(|curve| curve.at(columns[curve.feature as usize].values[row])).sum()
        });
        let (factor, shift) = standardise(&sums);
        tables.curves.iter_mut().flat_map(|curve| &mut curve.values).for_each(|value| *value *= factor);
        mean += shift;
    }
    if params.interactions == 2 {
        tables.grids = pairs(params, &columns)
            .into_par_iter()
            .map(|features| sparsity(features, features.map(|feature| &columns[feature as usize])))
            .collect();
        let sums = row_sums(rows.len(), |row| {
            let value = |grid: &Grid| {
                let [x, y] = grid.features.map(|feature| columns[feature as usize].values[row]);
                grid.at(x, y)
            };
            tables.grids.iter().map(value).sum()
        });
        let (factor, shift) = standardise(&sums);
        tables.grids.iter_mut().flat_map(|grid| &mut grid.values).for_each(|value| *value *= factor);
        mean += shift;
    }
    (tables, mean)
}

/// Rows drawn without replacement, in ascending order.
pub fn sample(matrix: &Matrix, seed: u64) -> Vec<usize> {
    let mut rows: Vec<usize> = (0..matrix.rows()).collect();
    if rows.len() > ROWS {
        Stream::new(seed, Purpose::TableRows, 0).shuffle_front(&mut rows, ROWS);
        rows.truncate(ROWS);
        rows.sort_unstable();
    }
    rows
}

/// One over the standard deviation of some numbers, and their mean times it.
pub fn standardise(values: &[f32]) -> (f32, f32) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
    let variance = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n;
    let factor = if variance > 1e-18 { 1.0 / variance.sqrt() } else { 0.0 };
    (factor as f32, (mean * factor) as f32)
}

fn row_sums(rows: usize, value: impl Fn(usize) -> f32 + Sync + Send) -> Vec<f32> {
    (0..rows).into_par_iter().with_min_len(256).map(value).collect()
}

fn column(matrix: &Matrix, rows: &[usize], feature: usize) -> Column {
    let values: Vec<f32> = rows.iter().map(|&row| matrix.row(row)[feature]).collect();
    let first = values[0];
    let other = values.iter().find(|&&v| v != first).copied().unwrap_or(first);
    let two_valued = values.iter().all(|&v| v == first || v == other);
    let nodes = if two_valued { 2 } else { DENSITY_NODES };
    let mut counts = vec![0.0f64; nodes];
    for &value in &values {
        let (node, share) = place(value, nodes);
        counts[node] += f64::from(1.0 - share);
        counts[node + 1] += f64::from(share);
    }
    let n = values.len() as f64;
    let surprise: Vec<f32> = (0..nodes)
        .map(|node| {
            let volume = if node == 0 || node == nodes - 1 { 0.5 } else { 1.0 };
            -libm::log((counts[node] + 1.0) / (n + nodes as f64) / volume) as f32
        })
        .collect();
    let curve = Curve { feature: feature as u32, values: surprise };
    let logs: Vec<f32> = values.iter().map(|&value| curve.at(value)).collect();
    let (factor, _) = standardise(&logs);
    let unevenness = if factor > 0.0 { 1.0 / factor } else { 0.0 };
    Column { values, two_valued, unevenness }
}

/// For each node the logarithm of one over the share of rows at or beyond it, towards the nearer end, times the
/// column's unevenness.
fn tails(column: &Column) -> Vec<f32> {
    let mut sorted = column.values.clone();
    sorted.sort_unstable_by(f32::total_cmp);
    let nodes = if column.two_valued { 2 } else { CURVE_NODES };
    let n = sorted.len() as f64;
    (0..nodes)
        .map(|node| {
            let x = node as f32 * (2.0 / (nodes - 1) as f32) - 1.0;
            let below = sorted.partition_point(|&v| v <= x).max(1) as f64;
            let above = (sorted.len() - sorted.partition_point(|&v| v < x)).max(1) as f64;
            -libm::log(below.min(above) / n) as f32 * column.unevenness
        })
        .collect()
}

/// All pairs of columns that vary, or a random choice of them.
fn pairs(params: &Params, columns: &[Column]) -> Vec<[u32; 2]> {
    let varied: Vec<u32> =
        (0..columns.len() as u32).filter(|&f| columns[f as usize].unevenness > 0.0).collect();
    let all = varied.len() * varied.len().saturating_sub(1) / 2;
    if all <= params.tables {
        return varied
            .iter()
            .enumerate()
            .flat_map(|(i, &a)| varied[..i].iter().map(move |&b| [b, a]))
            .collect();
    }
    let mut random = Stream::new(params.seed, Purpose::Pairs, 0);
    let mut chosen = std::collections::BTreeSet::new();
    while chosen.len() < params.tables {
        let (i, j) = (random.below(varied.len()), random.below(varied.len()));
        if i != j {
            chosen.insert([varied[i.min(j)], varied[i.max(j)]]);
        }
    }
    chosen.into_iter().collect()
}

/// The ratio of volume to rows at each node.
fn sparsity(features: [u32; 2], columns: [&Column; 2]) -> Grid {
    let nodes = columns.map(|column| if column.two_valued { 2 } else { GRID_NODES });
    let mut counts = vec![0.0f64; nodes[0] * nodes[1]];
    for (&x, &y) in columns[0].values.iter().zip(&columns[1].values) {
        let ((i, a), (j, b)) = (place(x, nodes[0]), place(y, nodes[1]));
        for (di, wa) in [(0, 1.0 - a), (1, a)] {
            for (dj, wb) in [(0, 1.0 - b), (1, b)] {
                counts[(i + di) * nodes[1] + j + dj] += f64::from(wa * wb);
            }
        }
    }
    let total = columns[0].values.len() as f64 + counts.len() as f64;
    let side = |node: usize, nodes: usize| {
        (if node == 0 || node == nodes - 1 { 0.5 } else { 1.0 }) / (nodes - 1) as f64
    };
    let limit = libm::exp(f64::from(LOG_SPARSITY_LIMIT));
    let values = counts.iter().enumerate().map(|(index, count)| {
        let volume = side(index / nodes[1], nodes[0]) * side(index % nodes[1], nodes[1]);
        (volume / ((count + 1.0) / total)).min(limit) as f32
    });
    Grid { features, nodes, values: values.collect() }
}
