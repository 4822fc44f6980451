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

/// A calibration by rows that were held out; nothing if there are too few rows.
pub(super) fn calibration(params: &Params, detector: &Detector, matrix: &Matrix) -> Option<Calibration> {
    let all = matrix.rows();
    let wanted = all.min(MOST_SCORES);
    let mut order: Vec<usize> = (0..all).collect();
    Stream::new(params.seed, Purpose::Calibration, 0).shuffle_front(&mut order, wanted);
    let folds = (wanted as f64 / (HELD_OUT * all as f64)).ceil() as usize;
    let held = |fold: usize| order[..wanted].iter().copied().skip(fold).step_by(folds);
    let fold = |fold: usize| {
        let mut is_held = vec![false; all];
        held(fold).for_each(|row| is_held[row] = true);
        let step = all.div_ceil(TWIN_ROWS);
        let kept = part(matrix, (0..all).filter(|&row| !is_held[row]).step_by(step));
        let out = part(matrix, held(fold));
        let twin = recipe::twin(params, detector.encoder().clone(), &kept, detector.model().clone());
        let mut scores = vec![0.0; out.rows()];
        twin.score_encoded(&out, &mut scores);
        scores
    };
    if all < 2 * folds {
        return None;
    }
    Calibration::new(parallel::map_indices(folds, &fold).concat(), true)
}

/// Some rows of a matrix.
fn part(matrix: &Matrix, rows: impl Iterator<Item = usize>) -> Matrix {
    Matrix { width: matrix.width, values: rows.flat_map(|row| matrix.row(row)).copied().collect() }
}
