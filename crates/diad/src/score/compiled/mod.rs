//! The second engine: a score compiled into tables. Knows the model and the encoder; never training or files.
//!
//! The score of a model of one layer is a sum of functions of one and of two axes. An axis is a feature that tells
//! something of its own: a column, or whether its value is missing; a column in its second scale is a function of the same
//! axis. Each function of two axes is a short sum of products of functions of one ([`factors`]), and each of those is
//! tabulated as parabolas on the cells of its axis ([`axis`]), cut so finely that the whole score stays within a bound of
//! the exact one for every row there can be ([`split`]). What a pair of columns says of one of them alone is that column's
//! ([`super::purify`]), so that the pieces of a compiled score are the terms that explain it. Looking a row up then costs a few vector operations for each axis and pair,
//! whatever the number of trees.

mod axis;
mod build;
mod factors;
mod layout;
mod split;
#[cfg(test)]
mod tests;

use std::ops::Range;

use super::Workspace;
use super::pieces::{Pieces, Wanted};
use crate::kernel::{CellFunctions, CellSpace, Kernels, LANES, Lane, PairCells, SLOT, Terms};
use crate::model::BLOCK_ROWS;
use axis::Axis;

pub use build::{Sources, compile};

/// A compiled score is used where it differs from the exact one by no more than this share of the standard deviation of
/// the scores of the training rows.
pub const LARGEST_SHARE: f64 = 1e-4;

/// A score as tables.
#[derive(Debug)]
pub struct Compiled {
    /// The features that are axes.
    features: Vec<u32>,
    axes: Vec<Axis>,
    cells: CellFunctions<f32>,
    shift: f64,
    bound: f64,
}

/// Where the rows of a block lie on the axes, and working space.
#[derive(Debug, Default)]
pub struct Cursor {
    starts: Vec<u32>,
    shares: Vec<f32>,
    space: CellSpace<f32>,
}

impl Compiled {
    /// The most by which it can differ from the exact score, beside what single precision rounds away in either.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The features that a row must give.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> usize {
        self.cells.axes().iter().map(|axis| size_of_val(&axis.table[..])).sum()
    }

    /// Finds the cells of some rows of a block on one axis, counted as in [`Compiled::features`].
    pub fn find(&self, axis: usize, x: &[f32], cursor: &mut Cursor) {
        cursor.starts.resize(self.axes.len() * BLOCK_ROWS, 0);
        cursor.shares.resize(self.axes.len() * BLOCK_ROWS, 0.0);
        let room = axis * BLOCK_ROWS..(axis + 1) * BLOCK_ROWS;
        let stride = 3 * self.cells.axes()[axis].width as u32;
        self.axes[axis].find_all(x, stride, &mut cursor.starts[room.clone()], &mut cursor.shares[room]);
    }

    /// The scores of the rows of a block, once all axes have their cells.
    pub fn scores(&self, kernels: &Kernels<f32>, cursor: &mut Cursor, scores: &mut [f32]) {
        self.shifted(scores, |totals| {
            let Cursor { starts, shares, space } = cursor;
            (kernels.cell_sums)(&self.cells, (starts, shares, BLOCK_ROWS), space, totals);
        });
    }

    /// As [`Compiled::scores`], and the contribution of each term to the score of each row, row after row.
    pub fn parts(
        &self,
        (kernels, terms): (&Kernels<f32>, &Terms),
        cursor: &mut Cursor,
        scores: &mut [f32],
        values: &mut [f64],
    ) {
        self.shifted(scores, |totals| {
            let Cursor { starts, shares, space } = cursor;
            (kernels.cell_parts)((&self.cells, terms), (starts, shares, BLOCK_ROWS), space, totals, values);
        });
    }

    /// Scores from the sums of all pieces, one for each.
    fn shifted(&self, scores: &mut [f32], add_up: impl FnOnce(&mut [f64])) {
        let mut totals = [0.0; BLOCK_ROWS];
        let totals = &mut totals[..scores.len()];
        add_up(totals);
        for (score, total) in scores.iter_mut().zip(totals) {
            *score = (*total + self.shift) as f32;
        }
    }

    /// Terms with these constants; `term_of` gives the term of each piece.
    pub fn terms(&self, term_of: &[usize], constants: Vec<f64>) -> Terms {
        Terms::new(&self.cells, term_of, constants)
    }

    /// The values of a piece for the rows of a block, once all axes have their cells.
    fn fill(&self, piece: usize, cursor: &Cursor, values: &mut [Lane<f32>]) {
        let values = values.iter_mut().flat_map(|lane| &mut lane.0).enumerate();
        let value = |axis: usize, place: usize, row: usize| self.value(axis, place, row, cursor);
        match piece.checked_sub(self.axes.len()) {
            None => values.for_each(|(row, slot)| *slot = value(piece, 0, row) as f32),
            Some(pair) => {
                let PairCells { axes: [a, b], places, slots } = self.cells.pairs()[pair];
                for (row, slot) in values {
                    let product = |k: usize| value(a, places[0] + k, row) * value(b, places[1] + k, row);
                    *slot = (0..slots * SLOT).map(product).sum::<f64>() as f32;
                }
            }
        }
    }

    /// A function of an axis for a row.
    fn value(&self, axis: usize, place: usize, row: usize, cursor: &Cursor) -> f64 {
        let cells = &self.cells.axes()[axis];
        let start = cursor.starts[axis * BLOCK_ROWS + row] as usize + place / LANES;
        let share = f64::from(cursor.shares[axis * BLOCK_ROWS + row]);
        let coefficient = |order: usize| f64::from(cells.table[start + order * cells.width].0[place % LANES]);
        coefficient(0) + share * (coefficient(1) + share * coefficient(2))
    }
}

/// Its pieces are one function for each axis, then one for each pair of axes.
impl Pieces for Compiled {
    fn pieces(&self) -> usize {
        self.axes.len() + self.cells.pairs().len()
    }

    fn piece_features(&self, piece: usize) -> [u32; 2] {
        match piece.checked_sub(self.axes.len()) {
            None => [self.features[piece]; 2],
            Some(pair) => self.cells.pairs()[pair].axes.map(|axis| self.features[axis]),
        }
    }

    fn constant(&self) -> f64 {
        self.shift
    }

    fn begin(&self, work: &mut Workspace) {
        let (lanes, mut x) = (work.block.lanes(), [0.0; BLOCK_ROWS]);
        for (axis, &feature) in self.features.iter().enumerate() {
            let values = work.block.x().get(feature as usize, lanes).iter().flat_map(|lane| lane.0);
            x.iter_mut().zip(values).for_each(|(x, value)| *x = value);
            self.find(axis, &x[..lanes * LANES], &mut work.cursor);
        }
    }

    fn begin_at(&self, wanted: Wanted, points: Range<usize>, work: &mut Workspace) {
        work.block.fill_features(points.len(), &[], |_, _| 0.0);
        let mut x = [0.0; BLOCK_ROWS];
        let x = &mut x[..points.len()];
        for (k, feature) in wanted.features.iter().enumerate() {
            // A column in its second scale is no axis.
            let Ok(axis) = self.features.binary_search(feature) else { continue };
            x.iter_mut().zip(points.clone()).for_each(|(x, point)| *x = (wanted.value)(point, k));
            self.find(axis, x, &mut work.cursor);
        }
    }

    fn piece<'w>(&self, piece: usize, work: &'w mut Workspace) -> &'w [Lane<f64>] {
        let Workspace { block, cursor, singles, .. } = work;
        self.fill(piece, cursor, &mut singles[..block.lanes()]);
        work.times(1.0)
    }
}
