//! What a fitted model remembers of its training rows.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::Detector;
use crate::encode::Matrix;
use crate::profile::{MOST_PAIRS, Profile, Spread, Together};

/// Most rows that are looked at for how columns come together.
const PAIR_ROWS: usize = 16_384;

/// Makes a detector remember a sample of its training rows.
pub fn remember(detector: Detector, rows: &Matrix) -> Detector {
    let mut scores = vec![0.0; rows.rows()];
    detector.score_encoded(rows, &mut scores);
    scores.sort_unstable_by(f32::total_cmp);
    let all = detector.training_rows();
    let spread = |column: usize| {
        let mut values = values(rows, column).collect::<Vec<f32>>();
        values.sort_unstable_by(f32::total_cmp);
        Spread::of_sorted(&values).reaching(-1.0, 1.0, all)
    };
    let columns: Vec<Spread> = (0..detector.encoder().columns().len()).into_par_iter().map(spread).collect();
    let nodes: Vec<Vec<f32>> = columns.iter().map(Spread::nodes).collect();
    let step = rows.rows().div_ceil(PAIR_ROWS);
    let together = |&pair: &[u32; 2]| {
        let [a, b] = pair.map(|column| column as usize);
        let both = values(rows, a).zip(values(rows, b)).step_by(step).map(|(x, y)| [x, y]);
        Together::count(pair, [&nodes[a], &nodes[b]], both)
    };
    let pairs = pairs(&detector).par_iter().map(together).collect();
    detector.remembering(Profile { columns, scores: Spread::of_sorted(&scores), pairs })
}

fn values(rows: &Matrix, column: usize) -> impl Iterator<Item = f32> {
    rows.values.iter().skip(column).step_by(rows.width).copied()
}

/// The pairs of columns that the score has a function of.
fn pairs(detector: &Detector) -> Vec<[u32; 2]> {
    let features = detector.encoder().features();
    let columns = |piece| {
        let [a, b] = detector.piece_features(piece).map(|feature| features[feature as usize].column);
        [a.min(b), a.max(b)]
    };
    let all: BTreeSet<[u32; 2]> = (0..detector.pieces()).map(columns).filter(|[a, b]| a != b).collect();
    all.into_iter().take(MOST_PAIRS).collect()
}
