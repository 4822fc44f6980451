//! What a detector remembers of its training rows.

use std::collections::BTreeSet;

use crate::Detector;
use crate::encode::{Encoder, Feature, Matrix, View};
use crate::parallel;
use crate::profile::{Counts, Groups, MOST_PAIRS, Profile, Ranges, Spread, Together};
use crate::score::purify;

/// Most rows that are looked at for how two columns of numbers come together.
const PAIR_ROWS: usize = 16_384;
/// Rows whose ends are found at a time.
const BLOCK_ROWS: usize = 1024;

/// Makes a detector remember its training rows, of which some and their scores are looked at, and of all what is next to the ends of
/// their columns.
pub fn remember(detector: Detector, rows: &Matrix, mut scores: Vec<f32>, next: Vec<[f32; 2]>) -> Detector {
    scores.sort_unstable_by(f32::total_cmp);
    let trained = detector.training_rows();
    let encoder = detector.encoder();
    let count = encoder.columns().len();
    let spread = |column: usize| {
        let mut values = values(rows, column).collect::<Vec<f32>>();
        values.sort_unstable_by(f32::total_cmp);
        // Numbers reach from -1 to 1; of categories, those that a sample has missed are no end.
        let reach = if encoder.is_open(column) { [-1.0, 1.0] } else { [values[0], values[values.len() - 1]] };
        Spread::of_sorted(&values).reaching(reach[0], reach[1], trained)
    };
    let columns: Vec<Spread> = parallel::map_indices(count, &spread);
    let mut profile = Profile { columns, scores: Spread::of_sorted(&scores), ..Profile::unknown(0) };
    let nodes = purify::nodes(encoder, &profile);
    let both = |[a, b]: [u32; 2], step: usize| {
        values(rows, a as usize).zip(values(rows, b as usize)).step_by(step).map(|(x, y)| [x, y])
    };
    let sides = |pair: [u32; 2]| pair.map(|column| &nodes[column as usize][..]);
    let is_category = |&column: &u32| encoder.columns()[column as usize].positions() > 0;
    let (counted, numbers): (Vec<_>, Vec<_>) = pairs(&detector)
        .into_iter()
        .partition(|pair| pair.iter().any(is_category) || pair.iter().all(|&c| is_few(&profile, c)));
    let step = rows.rows().div_ceil(PAIR_ROWS);
    profile.pairs = parallel::map(&numbers, &|&pair| Together::count(pair, sides(pair), both(pair, step)));
    profile.counts = parallel::map(&counted, &|&pair| Counts::count(pair, sides(pair), both(pair, 1)));
    Counts::bound(&mut profile.counts);

    let places = |column: usize| match encoder.columns()[column].positions() {
        0 => Vec::new(),
        _ => encoder.columns()[column].places(),
    };
    let groups: Vec<Groups> =
        profile.columns.iter().enumerate().map(|(c, spread)| Groups::new(spread, &places(c))).collect();
    let mut directed: Vec<[u32; 2]> =
        counted.iter().chain(&numbers).flat_map(|&[a, b]| [[a, b], [b, a]]).collect();
    directed.retain(|[_, number]| !is_category(number) && !is_few(&profile, *number));
    directed.sort_unstable();
    // What stands for a missing number is not usual anywhere.
    let gaps: Vec<Option<usize>> = (0..count).map(|column| gap_feature(encoder, column)).collect();
    let is_known = |row: usize, column: u32| {
        gaps[column as usize].is_none_or(|gap| rows.values[row * rows.width + gap] <= 0.0)
    };
    let range = |&pair: &[u32; 2]| {
        let known =
            both(pair, 1).enumerate().filter(|(row, _)| pair.iter().all(|&column| is_known(*row, column)));
        Ranges::of(pair, &groups[pair[0] as usize], known.map(|(_, values)| values))
    };
    profile.ranges = parallel::map(&directed, &range);
    profile.next = next;
    detector.remembering(profile)
}

/// The feature that says where a column has no number: that of the first part of the same time, if it is one.
fn gap_feature(encoder: &Encoder, column: usize) -> Option<usize> {
    let columns = encoder.columns();
    let tells = |feature: &Feature| {
        feature.view == View::Missing && columns[feature.column as usize].source() == columns[column].source()
    };
    encoder.features().iter().position(tells)
}

/// Whether a column has few values, each of which is a node.
fn is_few(profile: &Profile, column: u32) -> bool {
    let spread = &profile.columns[column as usize];
    spread.distinct().is_some_and(|distinct| distinct.len() == spread.nodes().len())
}

/// Of each of the first columns, the second smallest and the second largest number; those themselves if all are the same.
pub fn next_to_ends(rows: &Matrix, columns: usize) -> Vec<[f32; 2]> {
    let none = || vec![[f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY]; columns];
    let blocks: Vec<&[f32]> = rows.values.chunks(BLOCK_ROWS * rows.width.max(1)).collect();
    let ends = parallel::map(&blocks, &|block| {
        let mut ends = none();
        for row in block.chunks_exact(rows.width) {
            for (ends, &value) in ends.iter_mut().zip(row) {
                take_in_low(ends, value);
                take_in_high(ends, value);
            }
        }
        ends
    });
    let joined = ends.into_iter().fold(none(), |mut all, more| {
        for (all, more) in all.iter_mut().zip(more) {
            more[..2].iter().for_each(|&value| take_in_low(all, value));
            more[2..].iter().for_each(|&value| take_in_high(all, value));
        }
        all
    });
    joined.into_iter().map(|[_, low, high, _]| [low, high]).collect()
}

/// Ends are the smallest number, the next, the one before the largest, the largest.
fn take_in_low(ends: &mut [f32; 4], value: f32) {
    if value < ends[1] {
        [ends[0], ends[1]] = if value < ends[0] { [value, ends[0]] } else { [ends[0], value] };
    }
}

fn take_in_high(ends: &mut [f32; 4], value: f32) {
    if value > ends[2] {
        [ends[2], ends[3]] = if value > ends[3] { [ends[3], value] } else { [value, ends[3]] };
    }
}

fn values(rows: &Matrix, column: usize) -> impl Iterator<Item = f32> {
    rows.values.iter().skip(column).step_by(rows.width).copied()
}

/// The pairs of columns that the score has a function of.
fn pairs(detector: &Detector) -> Vec<[u32; 2]> {
    let (features, engine) = (detector.encoder().features(), detector.engine());
    let columns = |piece| {
        let [a, b] = engine.piece_features(piece).map(|feature| features[feature as usize].column);
        [a.min(b), a.max(b)]
    };
    let all: BTreeSet<[u32; 2]> = (0..engine.pieces()).map(columns).filter(|[a, b]| a != b).collect();
    all.into_iter().take(MOST_PAIRS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also where a number comes twice, and where its block has nothing else.
    #[test]
    fn the_numbers_next_to_the_ends_are_found() {
        let mut values: Vec<f32> = (0..3000).map(|i| ((i * 7) % 1000) as f32 / 1000.0).collect();
        (values[10], values[2500]) = (-0.7, 0.999);
        let rows =
            Matrix { width: 2, values: values.iter().flat_map(|&value| [value, -value.abs()]).collect() };
        assert_eq!(next_to_ends(&rows, 1), [[0.0, 0.999]]);
        let odd = Matrix { width: 1, values: vec![0.5; 1024].into_iter().chain([2.0]).collect() };
        assert_eq!(next_to_ends(&odd, 1), [[0.5, 0.5]]);
        assert_eq!(next_to_ends(&Matrix { width: 1, values: vec![3.0, 1.0, 2.0] }, 1), [[2.0, 2.0]]);
        assert_eq!(next_to_ends(&Matrix { width: 1, values: vec![5.0, 5.0] }, 1), [[5.0, 5.0]]);
    }
}
