//! How the scores of a table are spread, so that a threshold can be any of them.

use serde::Serialize;

use crate::packed::Packed;

/// Most scores that can be a threshold. Of more, the highest half of these are all there, and the others evenly.
const MOST_STOPS: usize = 1 << 16;

/// The scores of a table.
#[derive(Debug, Serialize)]
pub struct Scores {
    rows: usize,
    /// Different scores, the highest first: where a threshold can be.
    stops: Packed,
    /// Rows at or above each.
    above: Packed,
    /// Anomalies among them.
    anomalies_above: Option<Packed>,
    /// Where the threshold starts.
    threshold: f32,
}

impl Scores {
    /// The scores of all rows, with their labels if these are known.
    pub fn new(scores: &[f32], labels: Option<&[bool]>, threshold: f32) -> Self {
        let sorted = ascending(scores.iter().copied());
        let places = places(sorted.len());
        let mut stops: Vec<f32> = places.iter().map(|&place| sorted[sorted.len() - 1 - place]).collect();
        stops.dedup();
        let above = |sorted: &[f32]| {
            let count = |stop: &f32| sorted.len() - sorted.partition_point(|score| score < stop);
            Packed::whole(stops.iter().map(count).collect::<Vec<_>>(), sorted.len() + 1)
        };
        let anomalies_above = labels.map(|labels| {
            let labelled = scores.iter().zip(labels).filter(|(_, label)| **label);
            above(&ascending(labelled.map(|(&score, _)| score)))
        });
        Self {
            rows: scores.len(),
            above: above(&sorted),
            stops: Packed::floats(stops.iter().copied()),
            anomalies_above,
            threshold,
        }
    }
}

fn ascending(scores: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut sorted: Vec<f32> = scores.collect();
    sorted.sort_unstable_by(f32::total_cmp);
    sorted
}

/// Which places from the top can be a threshold, the last one included.
fn places(rows: usize) -> Vec<usize> {
    if rows <= MOST_STOPS {
        return (0..rows).collect();
    }
    let half = MOST_STOPS / 2;
    let rest = |step: usize| half + (rows - 1 - half) * step / half;
    (0..half).chain((1..=half).map(rest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_have_stops_at_the_top_and_evenly_below() {
        assert_eq!(places(3), [0, 1, 2]);
        let places = places(1_000_000);
        assert_eq!((places.len(), places[0], places[32_767]), (MOST_STOPS, 0, 32_767));
        assert_eq!(places.last(), Some(&999_999));
        assert!(places.windows(2).all(|two| two[0] < two[1]));
    }
}
