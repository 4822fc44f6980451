//! A block of rows on its way through the model, column after column without gaps, so that all of it stays
//! in the nearest caches. Blocks have a fixed size: sums over rows are made block by block in a fixed order, and
//! so do not depend on the number of threads.

use super::Shape;
use crate::kernel::{Columns, LANES, Lane, Real};

/// Rows in a full block.
pub const BLOCK_ROWS: usize = 256;
/// Lanes of a column of a full block.
pub const BLOCK_LANES: usize = BLOCK_ROWS / LANES;

/// Up to [`BLOCK_ROWS`] rows: their features, and the outputs of the trees.
#[derive(Debug, Clone)]
pub struct Block<F> {
    lanes: usize,
    x: Vec<Lane<F>>,
    /// 1 for a row, 0 for padding.
    presence: Vec<Lane<F>>,
    /// Columns of tree outputs.
    outputs: Vec<Lane<F>>,
    /// What each tree from the second layer on gets from earlier trees, column after column.
    attended: Vec<Lane<F>>,
    zeros: Vec<Lane<F>>,
    first_layer: usize,
}

/// The parts of a block that a forward pass reads and writes.
#[derive(Debug)]
pub(super) struct Parts<'a, F> {
    pub x: Columns<'a, F>,
    pub presence: &'a [Lane<F>],
    pub outputs: &'a mut [Lane<F>],
    pub attended: &'a mut [Lane<F>],
    pub zeros: &'a [Lane<F>],
}

impl<F: Real> Block<F> {
    /// An empty block for rows of `features` features.
    pub fn new(features: usize) -> Self {
        Self {
            lanes: 0,
            x: vec![Lane::default(); features * BLOCK_LANES],
            presence: vec![Lane::default(); BLOCK_LANES],
            outputs: Vec::new(),
            attended: Vec::new(),
            zeros: vec![Lane::default(); BLOCK_LANES],
            first_layer: 0,
        }
    }

    /// Takes in `rows` rows: `value(row, feature)` gives the features.
    #[cfg(test)]
    pub fn fill(&mut self, rows: usize, mut value: impl FnMut(usize, usize) -> F) {
        self.set_rows(rows);
        let features = self.x.len() / BLOCK_LANES;
        let lanes = self.lanes;
        for row in 0..rows {
            for feature in 0..features {
                self.x[feature * lanes + row / LANES].0[row % LANES] = value(row, feature);
            }
        }
        self.clear_padding(rows);
    }

    /// Takes in rows stored one after another. Features that are not wanted keep what they had.
    pub fn fill_rows<'a>(&mut self, wanted: Option<&[u32]>, rows: impl ExactSizeIterator<Item = &'a [f32]>) {
        let count = rows.len();
        self.set_rows(count);
        for (row, values) in rows.enumerate() {
            let (lane, position) = (row / LANES, row % LANES);
            if let Some(wanted) = wanted {
                for &feature in wanted {
                    let feature = feature as usize;
                    self.x[feature * self.lanes + lane].0[position] = F::from_f64(f64::from(values[feature]));
                }
                continue;
            }
            for (column, &value) in self.x.chunks_exact_mut(self.lanes).zip(values) {
                column[lane].0[position] = F::from_f64(f64::from(value));
            }
        }
        self.clear_padding(count);
    }

    /// Takes in rows given column by column.
    pub fn fill_columns(&mut self, rows: usize, columns: impl Iterator<Item = impl Iterator<Item = f32>>) {
        self.set_rows(rows);
        for (column, values) in self.x.chunks_exact_mut(self.lanes).zip(columns) {
            for (slot, value) in column.iter_mut().flat_map(|lane| &mut lane.0).zip(values) {
                *slot = F::from_f64(f64::from(value));
            }
        }
        self.clear_padding(rows);
    }

    /// Takes in some features of rows; the others keep what they had. `value(row, k)` gives the `k`-th of them.
    pub fn fill_features(&mut self, rows: usize, features: &[u32], mut value: impl FnMut(usize, usize) -> F) {
        self.set_rows(rows);
        for (k, &feature) in features.iter().enumerate() {
            let start = feature as usize * self.lanes;
            let column = self.x[start..start + self.lanes].iter_mut().flat_map(|lane| &mut lane.0);
            for (row, slot) in column.enumerate() {
                *slot = if row < rows { value(row, k) } else { F::default() };
            }
        }
    }

    /// Takes in points uniform on [-1, 1): `pair` gives two coordinates at a time. Features that are not wanted keep what they
    /// had, but take as many coordinates: those of the others do not depend on what is wanted.
    pub fn fill_uniform(&mut self, wanted: Option<&[u32]>, rows: usize, mut pair: impl FnMut() -> [f32; 2]) {
        self.set_rows(rows);
        let used = self.x.len() / BLOCK_LANES * self.lanes;
        let mut wanted = wanted.map(|wanted| wanted.iter().peekable());
        for (feature, column) in (0..).zip(self.x[..used].chunks_exact_mut(self.lanes)) {
            if let Some(wanted) = &mut wanted
                && wanted.next_if_eq(&&feature).is_none()
            {
                for _ in 0..column.len() * LANES / 2 {
                    pair();
                }
                continue;
            }
            for coordinates in column.iter_mut().flat_map(|lane| lane.0.chunks_exact_mut(2)) {
                let [a, b] = pair();
                coordinates[0] = F::from_f64(f64::from(a));
                coordinates[1] = F::from_f64(f64::from(b));
            }
        }
        self.clear_padding(rows);
    }

    /// Moves values beyond [-1, 1] to its ends.
    pub fn clamp(&mut self) {
        let used = self.x.len() / BLOCK_LANES * self.lanes;
        clamp(&mut self.x[..used]);
    }

    /// As [`Block::clamp`], of some features alone.
    pub fn clamp_features(&mut self, features: &[u32]) {
        for &feature in features {
            let start = feature as usize * self.lanes;
            clamp(&mut self.x[start..start + self.lanes]);
        }
    }

    fn set_rows(&mut self, rows: usize) {
        assert!(rows <= BLOCK_ROWS, "a block holds {BLOCK_ROWS} rows, not {rows}");
        self.lanes = rows.div_ceil(LANES);
        for (i, lane) in self.presence.iter_mut().enumerate() {
            lane.0 = std::array::from_fn(|k| F::from_f64(f64::from(u8::from(i * LANES + k < rows))));
        }
    }

    fn clear_padding(&mut self, rows: usize) {
        for row in rows..self.lanes * LANES {
            for column in self.x.chunks_exact_mut(self.lanes) {
                column[row / LANES].0[row % LANES] = F::default();
            }
        }
    }

    /// Lanes in use.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// The features.
    pub fn x(&self) -> Columns<'_, F> {
        Columns { lanes: &self.x, stride: self.lanes }
    }

    /// 1 for each row, 0 for padding.
    pub fn presence(&self) -> &[Lane<F>] {
        &self.presence[..self.lanes]
    }

    /// The tree outputs written so far.
    pub fn outputs(&self) -> Columns<'_, F> {
        Columns { lanes: &self.outputs, stride: self.lanes }
    }

    /// What the forward pass found a tree to get from earlier trees; zero in the first layer.
    pub fn attended(&self, tree: usize) -> &[Lane<F>] {
        match tree.checked_sub(self.first_layer) {
            Some(later) => &self.attended[later * self.lanes..(later + 1) * self.lanes],
            None => &self.zeros[..self.lanes],
        }
    }

    pub(super) fn parts(&mut self) -> Parts<'_, F> {
        Parts {
            x: Columns { lanes: &self.x, stride: self.lanes },
            presence: &self.presence[..self.lanes],
            outputs: &mut self.outputs,
            attended: &mut self.attended,
            zeros: &self.zeros[..self.lanes],
        }
    }

    /// Makes room for a forward pass with so many output columns.
    pub fn reserve(&mut self, columns: usize, shape: Shape) {
        self.first_layer = shape.trees;
        self.outputs.resize(columns * self.lanes, Lane::default());
        self.attended.resize((shape.all_trees() - shape.trees) * self.lanes, Lane::default());
    }
}

fn clamp<F: Real>(lanes: &mut [Lane<F>]) {
    let (low, high) = (F::from_f64(-1.0), F::from_f64(1.0));
    for value in lanes.iter_mut().flat_map(|lane| &mut lane.0) {
        *value = if *value < low {
            low
        } else if *value > high {
            high
        } else {
            *value
        };
    }
}
