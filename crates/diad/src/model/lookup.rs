//! Curves and grids made ready for many rows: what their look-ups share is worked out once a block.

use super::block::BLOCK_ROWS;
use super::tables::{Tables, place};
use crate::kernel::{Columns, LANES, Lane};

/// Equal parts of [-1, 1] for each of which a curve knows where to start looking for the right nodes.
const PARTS: usize = 512;

/// Curves and grids.
#[derive(Debug, Default)]
pub struct Lookup {
    curves: Vec<CurveLookup>,
    /// Features and numbers of nodes that grids need places on.
    sides: Vec<(u32, usize)>,
    grids: Vec<GridLookup>,
}

#[derive(Debug)]
struct CurveLookup {
    feature: u32,
    nodes: Vec<f32>,
    values: Vec<f32>,
    /// The last node at or before the start of each part.
    starts: Vec<u16>,
}

#[derive(Debug)]
struct GridLookup {
    /// Which sides.
    sides: [usize; 2],
    across: usize,
    values: Vec<f32>,
}

/// Working space: for each side and row the node, and the share of the next one.
#[derive(Debug, Default)]
pub struct Places {
    nodes: Vec<u32>,
    shares: Vec<f32>,
}

impl Lookup {
    /// Makes tables ready.
    pub fn new(tables: &Tables) -> Self {
        let mut lookup = Self::default();
        for curve in &tables.curves {
            let start = |part: usize| {
                let x = part as f32 * (2.0 / PARTS as f32) - 1.0;
                curve.nodes.partition_point(|&node| node <= x).saturating_sub(1) as u16
            };
            lookup.curves.push(CurveLookup {
                feature: curve.feature,
                nodes: curve.nodes.clone(),
                values: curve.values.clone(),
                starts: (0..PARTS).map(start).collect(),
            });
        }
        for grid in &tables.grids {
            let sides = [0, 1].map(|side| {
                let wanted = (grid.features[side], grid.nodes[side]);
                lookup.sides.iter().position(|side| *side == wanted).unwrap_or_else(|| {
                    lookup.sides.push(wanted);
                    lookup.sides.len() - 1
                })
            });
            lookup.grids.push(GridLookup { sides, across: grid.nodes[1], values: grid.values.clone() });
        }
        lookup
    }

    /// Finds where the rows of a block lie on the sides of the grids.
    pub fn find_places(&self, x: Columns<f32>, lanes: usize, places: &mut Places) {
        places.nodes.resize(self.sides.len() * BLOCK_ROWS, 0);
        places.shares.resize(self.sides.len() * BLOCK_ROWS, 0.0);
        let slots = places.nodes.chunks_exact_mut(BLOCK_ROWS).zip(places.shares.chunks_exact_mut(BLOCK_ROWS));
        for (&(feature, count), (nodes, shares)) in self.sides.iter().zip(slots) {
            let values = x.get(feature as usize, lanes).iter().flat_map(|lane| &lane.0);
            for ((&x, node), share) in values.zip(nodes).zip(shares) {
                let found = place(x, count);
                (*node, *share) = (found.0 as u32, found.1);
            }
        }
    }

    /// The value of a table, counting curves first and then grids, for every row of a block with its places.
    pub fn fill(&self, table: usize, x: Columns<f32>, places: &Places, values: &mut [Lane<f32>]) {
        let lanes = values.len();
        if let Some(curve) = self.curves.get(table) {
            for (value, x) in values.iter_mut().zip(x.get(curve.feature as usize, lanes)) {
                for i in 0..LANES {
                    value.0[i] = curve.at(x.0[i]);
                }
            }
            return;
        }
        let grid = &self.grids[table - self.curves.len()];
        let rows = |side: usize| grid.sides[side] * BLOCK_ROWS..grid.sides[side] * BLOCK_ROWS + lanes * LANES;
        let first = places.nodes[rows(0)].iter().zip(&places.shares[rows(0)]);
        let second = places.nodes[rows(1)].iter().zip(&places.shares[rows(1)]);
        let values = values.iter_mut().flat_map(|lane| &mut lane.0);
        for (value, ((&i, &a), (&j, &b))) in values.zip(first.zip(second)) {
            let start = i as usize * grid.across + j as usize;
            let (near, far) = (&grid.values[start..start + 2], &grid.values[start + grid.across..]);
            let near = near[0] + b * (near[1] - near[0]);
            let far = far[0] + b * (far[1] - far[0]);
            *value = near + a * (far - near);
        }
    }
}

impl CurveLookup {
    /// As [`super::Curve::at`].
    #[inline]
    fn at(&self, x: f32) -> f32 {
        let last = self.nodes.len() - 1;
        let part = ((x + 1.0) * (PARTS as f32 / 2.0)).clamp(0.0, (PARTS - 1) as f32) as usize;
        let mut node = (self.starts[part] as usize).min(last - 1);
        while node + 1 < last && self.nodes[node + 1] <= x {
            node += 1;
        }
        let share = (x - self.nodes[node]) / (self.nodes[node + 1] - self.nodes[node]);
        self.values[node] + share.clamp(0.0, 1.0) * (self.values[node + 1] - self.values[node])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Block, Curve, Grid};
    use crate::rng::{Purpose, Stream};

    /// Against the plain look-up, also outside of the range and exactly on nodes.
    #[test]
    fn values_are_those_of_the_plain_curves_and_grids() {
        let mut random = Stream::new(4, Purpose::Uniform, 0);
        let mut number = |reach: f64| ((random.unit() * 2.0 - 1.0) * reach) as f32;
        let mut curves = Vec::new();
        for (feature, count) in [(0, 2), (1, 3), (2, 300)] {
            let mut nodes: Vec<f32> = (0..count - 2).map(|_| number(1.0)).chain([-1.0, 1.0]).collect();
            nodes.sort_by(f32::total_cmp);
            nodes.dedup();
            let values = nodes.iter().map(|_| number(3.0)).collect();
            curves.push(Curve { feature, nodes, values });
        }
        let mut grids = Vec::new();
        for (features, nodes) in [([0, 1], [2, 16]), ([1, 2], [16, 16]), ([2, 1], [8, 8]), ([0, 2], [2, 2])] {
            let values = (0..nodes[0] * nodes[1]).map(|_| number(3.0)).collect();
            grids.push(Grid { features, nodes, values });
        }
        let tables = Tables { curves, grids };
        let mut rows: Vec<[f32; 3]> = (0..200).map(|_| [number(1.5), number(1.5), number(1.5)]).collect();
        rows.extend(tables.curves[2].nodes.iter().take(40).map(|&node| [-1.0, 1.0, node]));
        rows.extend([[1e30, -1e30, 0.0], [1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]);
        let mut block = Block::new(3);
        block.fill(rows.len(), |row, feature| rows[row][feature]);
        let (lookup, mut places) = (Lookup::new(&tables), Places::default());
        lookup.find_places(block.x(), block.lanes(), &mut places);
        let found: Vec<Vec<Lane<f32>>> = (0..tables.curves.len() + tables.grids.len())
            .map(|table| {
                let mut values = vec![Lane([f32::NAN; LANES]); block.lanes()];
                lookup.fill(table, block.x(), &places, &mut values);
                values
            })
            .collect();
        for (index, row) in rows.iter().enumerate() {
            let curves = tables.curves.iter().map(|curve| curve.at(row[curve.feature as usize]));
            let grid = |grid: &Grid| grid.at(row[grid.features[0] as usize], row[grid.features[1] as usize]);
            let plain = curves.chain(tables.grids.iter().map(grid));
            for (plain, found) in plain.zip(&found) {
                let found = found[index / LANES].0[index % LANES];
                assert!((found - plain).abs() < 1e-5, "{found} instead of {plain} at {row:?}");
            }
        }
    }
}
