//! The pieces of a score at points of which only a few features are known: what terms are made of, and what purification looks at.

use std::ops::Range;

use super::compiled::Compiled;
use super::exact::Exact;
use super::{Detector, Workspace, add};
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

/// What both engines can do with pieces.
pub(super) trait Pieces {
    /// Gives a block some points, at most [`BLOCK_ROWS`], and finds what the wanted pieces need.
    fn begin_at(&self, wanted: Wanted, points: Range<usize>, work: &mut Workspace);

    /// What a piece adds to the score at each point of the block.
    fn piece_at<'w>(&self, piece: usize, work: &'w mut Workspace) -> &'w [Lane<f64>];

    /// The sum of the wanted pieces at so many points.
    fn sum_at(&self, wanted: Wanted, points: usize, work: &mut Workspace) -> Vec<f64> {
        let mut sums = vec![0.0; points];
        let mut total = [Lane::<f64>::default(); BLOCK_LANES];
        for (index, sums) in sums.chunks_mut(BLOCK_ROWS).enumerate() {
            let start = index * BLOCK_ROWS;
            self.begin_at(wanted, start..start + sums.len(), work);
            let total = &mut total[..work.block.lanes()];
            total.fill(Lane::default());
            for &piece in wanted.pieces {
                add(total, self.piece_at(piece, work));
            }
            for (point, sum) in sums.iter_mut().enumerate() {
                *sum = total[point / LANES].0[point % LANES];
            }
        }
        sums
    }
}

impl Pieces for Exact<'_> {
    fn begin_at(&self, wanted: Wanted, points: Range<usize>, work: &mut Workspace) {
        let Workspace { block, places, .. } = work;
        let value = |row: usize, k: usize| (wanted.value)(points.start + row, k);
        block.fill_features(points.len(), wanted.features, value);
        let groups = self.wiring.groups().len();
        for function in wanted.pieces.iter().filter_map(|piece| piece.checked_sub(groups)) {
            self.lookup.find_places_of(function, block.x(), block.lanes(), places);
        }
        if self.held {
            block.clamp_features(wanted.features);
        }
    }

    fn piece_at<'w>(&self, piece: usize, work: &'w mut Workspace) -> &'w [Lane<f64>] {
        self.piece(piece, work)
    }
}

impl Pieces for Compiled {
    fn begin_at(&self, wanted: Wanted, points: Range<usize>, work: &mut Workspace) {
        work.block.fill_features(points.len(), &[], |_, _| 0.0);
        let mut x = [0.0; BLOCK_ROWS];
        let x = &mut x[..points.len()];
        for (k, feature) in wanted.features.iter().enumerate() {
            // A column in its second scale is no axis.
            let Ok(axis) = self.features().binary_search(feature) else { continue };
            x.iter_mut().zip(points.clone()).for_each(|(x, point)| *x = (wanted.value)(point, k));
            self.find(axis, x, &mut work.cursor);
        }
    }

    fn piece_at<'w>(&self, piece: usize, work: &'w mut Workspace) -> &'w [Lane<f64>] {
        let Workspace { block, cursor, singles, .. } = work;
        self.piece(piece, cursor, &mut singles[..block.lanes()]);
        work.times(1.0)
    }
}

impl Detector {
    /// The sum of the wanted pieces of the score, as [`Detector::pieces`] counts them, at so many points.
    pub(crate) fn sum_at(&self, wanted: Wanted, points: usize, work: &mut Workspace) -> Vec<f64> {
        match self.compiled() {
            Some(compiled) => compiled.sum_at(wanted, points, work),
            None => self.exact().sum_at(wanted, points, work),
        }
    }
}
