//! Which pairs of columns parts look at.

use std::collections::HashSet;

use super::Sample;
use crate::Params;
use crate::rng::{Purpose, Stream};

/// Most pairs that parts look at.
const MOST: usize = 300;
/// Enough rounds to draw that many, and an end in any case.
const ROUNDS: usize = 10_000;

impl Sample {
    /// Pairs of features as for [`Sample::pairs`], of marks of gaps as well.
    pub fn pairs_with_gaps(&self, params: &Params) -> Vec<[u32; 2]> {
        let mut varied = self.varied();
        varied.retain(|&feature| !self.columns[feature as usize].is_date);
        self.pairs_of(varied, params)
    }

    /// All pairs of features of two columns that are neither places in time nor marks of gaps, or some of them, drawn so that every feature is in about as many. None if the score
    /// may not have any.
    pub fn pairs(&self, params: &Params) -> Vec<[u32; 2]> {
        self.pairs_of(self.timeless(), params)
    }

    fn pairs_of(&self, mut varied: Vec<u32>, params: &Params) -> Vec<[u32; 2]> {
        if params.interactions < 2 {
            return Vec::new();
        }
        let count = varied.len();
        let mut pairs = Vec::new();
        if count * count.saturating_sub(1) / 2 <= MOST {
            for (i, &b) in varied.iter().enumerate() {
                pairs.extend(varied[..i].iter().map(|&a| [a, b]).filter(|&pair| !self.of_one_column(pair)));
            }
            return pairs;
        }
        let (mut known, mut random) = (HashSet::new(), Stream::new(params.seed, Purpose::Pairs, 0));
        // Rounds in which every feature is drawn once.
        for _ in 0..ROUNDS {
            random.shuffle_front(&mut varied, count);
            for two in varied.chunks_exact(2) {
                let pair = [two[0].min(two[1]), two[0].max(two[1])];
                if pairs.len() < MOST && !self.of_one_column(pair) && known.insert(pair) {
                    pairs.push(pair);
                }
            }
            if pairs.len() == MOST {
                break;
            }
        }
        pairs.sort_unstable();
        pairs
    }
}
