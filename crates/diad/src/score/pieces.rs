//! What both engines can do with the pieces that a score is the sum of.

use std::ops::Range;

use super::{Workspace, add};
use crate::kernel::{LANES, Lane};
use crate::model::{BLOCK_LANES, BLOCK_ROWS};

/// Pieces of a score, functions of the features asked for, whose sum is wanted at points.
#[derive(Clone, Copy)]
pub(crate) struct Wanted<'a> {
    pub pieces: &'a [usize],
    /// All the features that any of the pieces looks at.
    pub features: &'a [u32],
    /// `value(point, k)` is the `k`-th of the features at a point.
    pub value: &'a dyn Fn(usize, usize) -> f32,
}

/// A score as a sum of pieces, each a function of one or two features.
pub(crate) trait Pieces {
    /// How many there are.
    fn pieces(&self) -> usize;

    /// The features that a piece looks at: one feature twice if it looks at no other.
    fn piece_features(&self, piece: usize) -> [u32; 2];

    /// What is added to the sum of all pieces.
    fn constant(&self) -> f64;

    /// Works out what pieces share, once the block has its rows.
    fn begin(&self, work: &mut Workspace);

    /// Gives a block some points, at most [`BLOCK_ROWS`], and works out what the wanted pieces need.
    fn begin_at(&self, wanted: Wanted, points: Range<usize>, work: &mut Workspace);

    /// What a piece adds to the score of every row of a block that work has begun on.
    fn piece<'w>(&self, piece: usize, work: &'w mut Workspace) -> &'w [Lane<f64>];

    /// The sum of the wanted pieces at so many points, of which only the features asked for are known.
    fn sum_at(&self, wanted: Wanted, points: usize, work: &mut Workspace) -> Vec<f64> {
        let mut sums = vec![0.0; points];
        let mut total = [Lane::<f64>::default(); BLOCK_LANES];
        for (index, sums) in sums.chunks_mut(BLOCK_ROWS).enumerate() {
            let start = index * BLOCK_ROWS;
            self.begin_at(wanted, start..start + sums.len(), work);
            let total = &mut total[..work.block.lanes()];
            total.fill(Lane::default());
            for &piece in wanted.pieces {
                add(total, self.piece(piece, work));
            }
            for (point, sum) in sums.iter_mut().enumerate() {
                *sum = total[point / LANES].0[point % LANES];
            }
        }
        sums
    }
}
