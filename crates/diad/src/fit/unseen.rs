//! Scores of training rows as if the fit had not seen them.
//!
//! Rows score lower in a model that was fitted to them than new rows do. So a twin of the detector is made without some of the rows and scores
//! those. Its trees are the detector's own: they are few and smooth, and hardly know single rows. All other parts, which do, are made anew.

use crate::calibration::{Calibration, MOST_SCORES};
use crate::encode::Matrix;
use crate::parallel;
use crate::rng::{Purpose, Stream};
use crate::{Detector, Params, recipe};

/// A twin is made without this share of the rows at most.
const HELD_OUT: f64 = 0.2;
/// Most rows that a twin is made from: no part of a score looks at more.
const TWIN_ROWS: usize = 1 << 16;

/// The rows that calibrate a detector; all others may be let go.
pub(super) struct Unseen {
    rows: Matrix,
    folds: Vec<Fold>,
}

/// Places of rows.
struct Fold {
    /// Those that a twin is made from.
    kept: Vec<usize>,
    /// Those that it scores.
    out: Vec<usize>,
}

impl Unseen {
    /// Of the rows of a fit.
    pub fn of(matrix: Matrix, seed: u64) -> Self {
        let all = matrix.rows();
        let wanted = all.min(MOST_SCORES);
        let order = Stream::new(seed, Purpose::Calibration, 0).draw(all, wanted);
        let count = (wanted as f64 / (HELD_OUT * all as f64)).ceil() as usize;
        let fold = |fold: usize| {
            let out: Vec<usize> = order.iter().copied().skip(fold).step_by(count).collect();
            let mut is_held = vec![false; all];
            out.iter().for_each(|&row| is_held[row] = true);
            let step = all.div_ceil(TWIN_ROWS);
            Fold { kept: (0..all).filter(|&row| !is_held[row]).step_by(step).collect(), out }
        };
        let folds = if all < 2 * count { Vec::new() } else { (0..count).map(fold).collect() };
        Self { rows: matrix, folds }.without_others()
    }

    /// Lets go of the rows that are in no fold.
    fn without_others(self) -> Self {
        let mut wanted = vec![false; self.rows.rows()];
        let named = self.folds.iter().flat_map(|fold| fold.kept.iter().chain(&fold.out));
        named.for_each(|&row| wanted[row] = true);
        let left: Vec<usize> = (0..wanted.len()).filter(|&row| wanted[row]).collect();
        if left.len() == wanted.len() {
            return self;
        }
        // Places among those that are left, which are in ascending order.
        let place = |row: usize| left.partition_point(|&other| other < row);
        let places = |rows: Vec<usize>| rows.into_iter().map(place).collect();
        let fold = |Fold { kept, out }: Fold| Fold { kept: places(kept), out: places(out) };
        Self { rows: self.rows.part(left.iter().copied()), folds: self.folds.into_iter().map(fold).collect() }
    }

    /// A calibration by rows that were held out; nothing if there are too few rows.
    pub fn calibration(&self, params: &Params, detector: &Detector) -> Option<Calibration> {
        let fold = |fold: &Fold| {
            let [kept, out] = [&fold.kept, &fold.out].map(|rows| self.rows.part(rows.iter().copied()));
            let twin = recipe::twin(params, detector.encoder().clone(), &kept, detector.model().clone());
            let mut scores = vec![0.0; out.rows()];
            twin.score_encoded(&out, &mut scores);
            scores
        };
        Calibration::new(parallel::map(&self.folds, &fold).concat(), true)
    }
}
