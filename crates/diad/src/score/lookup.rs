//! Curves and grids prepared for many rows: what their look-ups share is computed once per block.

use crate::function::{Curve, Functions, Ruler};
use crate::kernel::{Columns, LANES, Lane};
use crate::model::BLOCK_ROWS;

/// Curves and grids.
#[derive(Debug, Default)]
pub struct Lookup {
    curves: Vec<CurveLookup>,
    /// Nodes along features on which grids need places.
    sides: Vec<(u32, Ruler)>,
    grids: Vec<GridLookup>,
}

#[derive(Debug)]
struct CurveLookup {
    feature: u32,
    nodes: Ruler,
    values: Vec<f32>,
    beyond: [f32; 2],
}

#[derive(Debug)]
struct GridLookup {
    /// Which sides.
    sides: [usize; 2],
    across: usize,
}

/// Working space: for each side and row the node, and the share of the next one; for each curve and row what it rises
/// by beyond its nodes. Far out, curves that take back each other's rise leave a small difference of large numbers, hence doubles.
#[derive(Debug, Default)]
pub struct Places {
    nodes: Vec<u32>,
    shares: Vec<f32>,
    rises: Vec<f64>,
}

impl Places {
    fn make_room(&mut self, lookup: &Lookup) {
        self.nodes.resize(lookup.sides.len() * BLOCK_ROWS, 0);
        self.shares.resize(lookup.sides.len() * BLOCK_ROWS, 0.0);
        self.rises.resize(lookup.curves.len() * BLOCK_ROWS, 0.0);
    }
}

impl Lookup {
    /// Prepares functions.
    pub fn new(functions: &Functions) -> Self {
        let mut lookup = Self::default();
        for Curve { feature, nodes, values, beyond } in &functions.curves {
            let (nodes, values) = (Ruler::new(nodes), values.clone());
            lookup.curves.push(CurveLookup { feature: *feature, nodes, values, beyond: *beyond });
        }
        for grid in &functions.grids {
            let sides = [0, 1].map(|side| {
                let (feature, nodes) = (grid.features[side], &grid.nodes[side]);
                let known = |(of, ruler): &(u32, Ruler)| *of == feature && ruler.nodes() == nodes;
                lookup.sides.iter().position(known).unwrap_or_else(|| {
                    lookup.sides.push((feature, Ruler::new(nodes)));
                    lookup.sides.len() - 1
                })
            });
            let across = grid.nodes[1].len();
            lookup.grids.push(GridLookup { sides, across });
        }
        lookup
    }

    /// Finds where the rows of a block lie on the sides of the grids, and beyond the curves. The block may then be
    /// clamped to the range of the nodes.
    pub fn find_places(&self, x: Columns<f32>, lanes: usize, places: &mut Places) {
        places.make_room(self);
        (0..self.sides.len()).for_each(|side| self.find_side(side, x, lanes, places));
        (0..self.curves.len()).for_each(|curve| self.find_rise(curve, x, lanes, places));
    }

    /// As [`Lookup::find_places`], for one function alone, counting curves first and then grids.
    pub fn find_places_of(&self, function: usize, x: Columns<f32>, lanes: usize, places: &mut Places) {
        places.make_room(self);
        match function.checked_sub(self.curves.len()) {
            None => self.find_rise(function, x, lanes, places),
            Some(grid) => {
                self.grids[grid].sides.into_iter().for_each(|side| self.find_side(side, x, lanes, places));
            }
        }
    }

    fn find_side(&self, side: usize, x: Columns<f32>, lanes: usize, places: &mut Places) {
        let (feature, ruler) = &self.sides[side];
        let rows = side * BLOCK_ROWS..(side + 1) * BLOCK_ROWS;
        let slots = places.nodes[rows.clone()].iter_mut().zip(&mut places.shares[rows]);
        let values = x.get(*feature as usize, lanes).iter().flat_map(|lane| &lane.0);
        for (&x, (node, share)) in values.zip(slots) {
            let found = ruler.find(x);
            (*node, *share) = (found.0 as u32, found.1);
        }
    }

    fn find_rise(&self, curve: usize, x: Columns<f32>, lanes: usize, places: &mut Places) {
        let rises = &mut places.rises[curve * BLOCK_ROWS..(curve + 1) * BLOCK_ROWS];
        let curve = &self.curves[curve];
        let values = x.get(curve.feature as usize, lanes).iter().flat_map(|lane| &lane.0);
        rises.iter_mut().zip(values).for_each(|(rise, &x)| *rise = curve.rise(x));
    }

    /// The value of a function, counting curves first and then grids, for every row of a block with its places. Grids, which may be
    /// large, have their values from the functions that this was made of.
    pub fn fill(
        &self,
        (functions, function): (&Functions, usize),
        x: Columns<f32>,
        places: &Places,
        values: &mut [Lane<f64>],
    ) {
        let lanes = values.len();
        if let Some(curve) = self.curves.get(function) {
            let rises = places.rises[function * BLOCK_ROWS..].chunks_exact(LANES);
            for ((value, x), rise) in values.iter_mut().zip(x.get(curve.feature as usize, lanes)).zip(rises) {
                for ((value, &x), rise) in value.0.iter_mut().zip(&x.0).zip(rise) {
                    *value = f64::from(curve.inside(x)) + rise;
                }
            }
            return;
        }
        let grid = &self.grids[function - self.curves.len()];
        let known = &functions.grids[function - self.curves.len()].values;
        let rows = |side: usize| grid.sides[side] * BLOCK_ROWS..grid.sides[side] * BLOCK_ROWS + lanes * LANES;
        let first = places.nodes[rows(0)].iter().zip(&places.shares[rows(0)]);
        let second = places.nodes[rows(1)].iter().zip(&places.shares[rows(1)]);
        let values = values.iter_mut().flat_map(|lane| &mut lane.0);
        for (value, ((&i, &a), (&j, &b))) in values.zip(first.zip(second)) {
            let start = i as usize * grid.across + j as usize;
            let (near, far) = (&known[start..start + 2], &known[start + grid.across..]);
            let near = near[0] + b * (near[1] - near[0]);
            let far = far[0] + b * (far[1] - far[0]);
            *value = f64::from(near + a * (far - near));
        }
    }
}

impl CurveLookup {
    /// As [`Curve::at`], constant beyond the nodes.
    #[inline]
    fn inside(&self, x: f32) -> f32 {
        let (node, share) = self.nodes.find(x);
        self.values[node] + share * (self.values[node + 1] - self.values[node])
    }

    /// What a curve adds beyond its nodes.
    #[inline]
    fn rise(&self, x: f32) -> f64 {
        let [low, high] = self.nodes.ends().map(f64::from);
        let (x, [before, after]) = (f64::from(x), self.beyond.map(f64::from));
        (low - x).max(0.0) * before + (x - high).max(0.0) * after
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Grid, spaced};
    use crate::model::Block;
    use crate::rng::{Purpose, Stream};

    /// Against the plain look-up, also outside of the range and exactly on nodes.
    #[test]
    fn values_are_those_of_the_plain_curves_and_grids() {
        let mut random = Stream::new(4, Purpose::Uniform, 0);
        let mut number = |reach: f64| ((random.unit() * 2.0 - 1.0) * reach) as f32;
        let mut curves = Vec::new();
        for (feature, count) in [(0, 2), (1, 3), (2, 300)] {
            let mut nodes: Vec<f32> = (0..count - 2).map(|_| number(1.0)).chain([-1.0, 1.0]).collect();
            nodes.sort_unstable_by(f32::total_cmp);
            nodes.dedup();
            let values = nodes.iter().map(|_| number(3.0)).collect();
            curves.push(Curve { feature, nodes, values, beyond: [number(2.0), 0.0] });
        }
        let mut grids = Vec::new();
        for (features, nodes) in [([0, 1], [2, 16]), ([1, 2], [16, 16]), ([2, 1], [8, 8]), ([0, 2], [2, 2])] {
            let values = (0..nodes[0] * nodes[1]).map(|_| number(3.0)).collect();
            grids.push(Grid { features, nodes: nodes.map(spaced), values });
        }
        let tables = Functions { curves, grids };
        let mut rows: Vec<[f32; 3]> = (0..200).map(|_| [number(1.5), number(1.5), number(1.5)]).collect();
        rows.extend(tables.curves[2].nodes.iter().take(40).map(|&node| [-1.0, 1.0, node]));
        rows.extend([[3e4, -3e4, 0.0], [1.0, 1.0, 1.0], [-1.0, -1.0, -1.0]]);
        let mut block = Block::new(3);
        block.fill(rows.len(), |row, feature| rows[row][feature]);
        let (lookup, mut places) = (Lookup::new(&tables), Places::default());
        lookup.find_places(block.x(), block.lanes(), &mut places);
        let found: Vec<Vec<Lane<f64>>> = (0..tables.curves.len() + tables.grids.len())
            .map(|table| {
                let mut values = vec![Lane([f64::NAN; LANES]); block.lanes()];
                lookup.fill((&tables, table), block.x(), &places, &mut values);
                values
            })
            .collect();
        for (index, row) in rows.iter().enumerate() {
            let value = |feature: u32| f64::from(row[feature as usize]);
            let curves = tables.curves.iter().map(|curve| curve.at(value(curve.feature)));
            let grid = |grid: &Grid| grid.at(value(grid.features[0]), value(grid.features[1]));
            let plain = curves.chain(tables.grids.iter().map(grid));
            for (plain, found) in plain.zip(&found) {
                let found = found[index / LANES].0[index % LANES];
                let near = 1e-5 * plain.abs().max(1.0);
                assert!((found - plain).abs() < near, "{found} instead of {plain} at {row:?}");
            }
        }
    }
}
