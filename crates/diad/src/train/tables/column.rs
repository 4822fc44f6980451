//! What a sample of rows tells of one column: how its values are spread, and the curves that follow from it.

use super::middle_and_spread;
use crate::encode::{Matrix, SPACED_LEVELS, place_of};
use crate::model::{Curve, place, spaced};

/// Nodes at which the density of a column is counted. Columns of two values have two.
const DENSITY_NODES: usize = 32;
/// By how much the logarithm of a tail may change from node to node of a curve.
const TAIL_STEP: f64 = 0.1;
/// Nodes of each side of the grid of a relation.
const RELATION_NODES: usize = 8;
/// Arguments of the hyperbolic sine are no larger, so that its squares are finite numbers.
const FURTHEST: f64 = 350.0;
/// Nodes of each side of the grid of cuts.
const CUT_NODES: usize = 12;
/// Rows added to every node when sparsity is told, but no more than a share of all rows: where few rows are expected,
/// few tell nothing.
const EVIDENCE: f64 = 50.0;
const EVIDENCE_SHARE: f64 = 1.0 / 40.0;

/// A column of the sample.
pub struct Column {
    /// Its values, row by row.
    pub values: Vec<f32>,
    two_valued: bool,
    /// Positions of its categories; 0 for numbers.
    positions: usize,
    /// Where it is bent: the lower end of the bent scale and half its length.
    bend: Option<[f64; 2]>,
    /// Where its curves have their nodes.
    nodes: Vec<f32>,
    /// Volume over rows, with the rows that make it evident.
    sparsity: Curve,
    /// The standard deviation of the logarithm of volume over rows. Near zero for uniform noise.
    unevenness: f32,
}

/// Rows counted at nodes, and the volume around each.
struct Density {
    counts: Vec<f64>,
    volumes: Vec<f64>,
    rows: f64,
}

impl Density {
    /// Volume over rows at each node, so many rows added to each.
    fn sparsity(&self, added: f64) -> impl Iterator<Item = f64> {
        let all = self.rows + added * self.counts.len() as f64;
        self.counts.iter().zip(&self.volumes).map(move |(count, volume)| volume * all / (count + added))
    }

    /// Its logarithm.
    fn surprise(&self) -> Vec<f32> {
        self.sparsity(1.0).map(|sparsity| libm::log(sparsity) as f32).collect()
    }

    fn evident_sparsity(&self) -> Vec<f32> {
        let added = EVIDENCE.min(self.rows * EVIDENCE_SHARE);
        self.sparsity(added).map(|sparsity| sparsity as f32).collect()
    }
}

impl Column {
    /// A column of numbers: each row counts at the two of the equally spaced nodes around it.
    pub fn of_numbers(matrix: &Matrix, rows: &[usize], feature: usize) -> Self {
        let values: Vec<f32> = rows.iter().map(|&row| matrix.row(row)[feature]).collect();
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
        let two_valued = values.iter().all(|&v| v == low || v == high);
        let count = if two_valued { 2 } else { DENSITY_NODES };
        let spaced = spaced(count);
        let mut counts = vec![0.0; count];
        for &value in &values {
            let (node, share) = place(value, count);
            counts[node] += f64::from(1.0 - share);
            counts[node + 1] += f64::from(share);
        }
        let mut volumes = vec![1.0 / (count - 1) as f64; count];
        volumes[0] *= 0.5;
        volumes[count - 1] *= 0.5;
        let density = Density { counts, volumes, rows: values.len() as f64 };
        let nodes = match (low == high, two_valued) {
            (true, _) => vec![low],
            (_, true) => spaced.clone(),
            _ => nodes(&spaced, &sorted),
        };
        Self::new(values, feature, two_valued, 0, spaced, &density, nodes)
    }

    /// A column of categories. Every category has a node, and so has one that the training did not have.
    pub fn of_categories(matrix: &Matrix, rows: &[usize], feature: usize, positions: usize) -> Self {
        let values: Vec<f32> = rows.iter().map(|&row| matrix.row(row)[feature]).collect();
        let nodes: Vec<f32> = (0..=positions).map(|position| place_of(position, positions)).collect();
        let mut counts = vec![0.0; nodes.len()];
        for value in &values {
            counts[nodes.partition_point(|node| node < value)] += 1.0;
        }
        // Half of the range for every category, as if set against all others together.
        let volumes = vec![0.5; nodes.len()];
        let density = Density { counts, volumes, rows: values.len() as f64 };
        Self::new(values, feature, positions <= 2, positions, nodes.clone(), &density, nodes)
    }

    fn new(
        values: Vec<f32>,
        feature: usize,
        two_valued: bool,
        positions: usize,
        counted: Vec<f32>,
        density: &Density,
        nodes: Vec<f32>,
    ) -> Self {
        let feature = feature as u32;
        let surprise = Curve { feature, nodes: counted.clone(), values: density.surprise() };
        let sparsity = Curve { feature, nodes: counted, values: density.evident_sparsity() };
        let logs = values.iter().map(|&value| f64::from(surprise.at(value)));
        let n = values.len() as f64;
        let mean = logs.clone().sum::<f64>() / n;
        let unevenness = (logs.map(|log| (log - mean).powi(2)).sum::<f64>() / n).sqrt() as f32;
        Self { values, two_valued, positions, bend: None, nodes, sparsity, unevenness }
    }

    /// The same column, known to be bent as given.
    pub fn bent_by(self, bend: Option<[f64; 2]>) -> Self {
        Self { bend, ..self }
    }

    /// Whether it has more than one value.
    pub fn varies(&self) -> bool {
        self.nodes.len() > 1
    }

    /// Where its curves have their nodes.
    pub fn nodes(&self) -> &[f32] {
        &self.nodes
    }

    /// Nodes of a side of a grid of relations. Frequent categories lie on them.
    pub fn relation_nodes(&self) -> usize {
        self.grid_nodes(RELATION_NODES)
    }

    /// Nodes of a side of a grid of cuts.
    pub fn cut_nodes(&self) -> usize {
        self.grid_nodes(CUT_NODES)
    }

    fn grid_nodes(&self, of_numbers: usize) -> usize {
        match self.positions {
            0 if self.two_valued => 2,
            0 => of_numbers,
            positions => positions.clamp(2, SPACED_LEVELS),
        }
    }

    /// How sparse the data are, at its nodes.
    pub fn sparsity(&self) -> Vec<f32> {
        self.nodes.iter().map(|&node| self.sparsity.at(node)).collect()
    }

    /// How sparse the data are around the middle one of its rows.
    pub fn usual_sparsity(&self) -> f32 {
        let of_rows: Vec<f32> = self.values.iter().map(|&value| self.sparsity.at(value)).collect();
        middle_and_spread(&of_rows).0
    }

    /// A value in the scale in which the column was given, up to a factor and a constant.
    pub fn plain(&self, value: f32) -> f64 {
        let value = f64::from(value);
        match self.bend {
            Some([start, rate]) => libm::sinh((rate * (value + 1.0) + start).clamp(-FURTHEST, FURTHEST)),
            None => value,
        }
    }

    /// How far in the tails values are, at its nodes.
    pub fn tails(&self) -> Vec<f32> {
        let mut sorted = self.values.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        let n = sorted.len() as f64;
        let tail = |&x: &f32| {
            let above = (sorted.len() - sorted.partition_point(|&v| v < x)).max(1) as f64;
            let beyond = match self.positions {
                0 => above.min(sorted.partition_point(|&v| v <= x).max(1) as f64),
                // The rows of categories that are as rare or rarer.
                _ => above,
            };
            -libm::log(beyond / n) as f32 * self.unevenness
        };
        self.nodes.iter().map(tail).collect()
    }
}

/// The nodes of the density, and values between which the logarithm of a tail changes by no more than a step.
fn nodes(density: &[f32], sorted: &[f32]) -> Vec<f32> {
    let n = sorted.len();
    let mut nodes = density.to_vec();
    let mut rank = 1.0;
    while rank < n as f64 {
        let rank_now = rank as usize;
        nodes.extend([sorted[rank_now - 1], sorted[n - rank_now]]);
        rank = (rank * libm::exp(TAIL_STEP)).max(rank + 1.0);
    }
    nodes.sort_unstable_by(f32::total_cmp);
    nodes.dedup();
    nodes
}
