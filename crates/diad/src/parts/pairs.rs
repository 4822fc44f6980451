//! Which pairs of columns parts look at.

use std::collections::BTreeSet;

use super::Sample;
use super::bins::Joint;
use crate::Params;
use crate::parallel;
use crate::rng::{Purpose, Stream};

/// Most pairs that parts look at.
const MOST: usize = 300;
/// Most columns of which pairs are looked for, and rows that are counted for that, over all pairs.
const WIDEST: usize = 1000;
const WORK: usize = 1 << 28;

impl Sample {
    /// Pairs of features as for [`Sample::pairs`], of marks of gaps as well.
    pub fn pairs_with_gaps(&self, params: &Params) -> Vec<[u32; 2]> {
        let mut varied = self.varied();
        varied.retain(|&feature| !self.columns[feature as usize].is_date);
        self.pairs_of(varied, params)
    }

    /// All pairs of features of two columns that are neither places in time nor marks of gaps, or those that tell most of each
    /// other. None if the score may not have any, and none of copies.
    pub fn pairs(&self, params: &Params) -> Vec<[u32; 2]> {
        let mut pairs = self.pairs_of(self.timeless(), params);
        pairs.retain(|&pair| !self.are_copies(pair));
        pairs
    }

    fn pairs_of(&self, varied: Vec<u32>, params: &Params) -> Vec<[u32; 2]> {
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
        self.related(varied)
    }

    /// The pairs of features that tell most of each other: of every feature the one that tells most of it, then of every
    /// feature the next one, and so on.
    fn related(&self, mut features: Vec<u32>) -> Vec<[u32; 2]> {
        if features.len() > WIDEST {
            Stream::new(0, Purpose::Pairs, 0).shuffle_front(&mut features, WIDEST);
            features.truncate(WIDEST);
            features.sort_unstable();
        }
        let count = features.len();
        let one_of = self.rows().div_ceil(WORK / (count * count / 2));
        let told = parallel::map_indices(count, &|i| {
            (0..i).map(|j| self.told([features[j], features[i]], one_of)).collect::<Vec<f64>>()
        });
        let partners = parallel::map_indices(count, &|i| {
            let told = |j: usize| if i > j { told[i][j] } else { told[j][i] };
            let others = (0..count).filter(|&j| i != j && !self.of_one_column([features[i], features[j]]));
            let mut others: Vec<(usize, f64)> = others.map(|j| (j, told(j))).collect();
            others.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            others
        });
        let mut pairs = BTreeSet::new();
        for round in 0..count {
            let next = |i: usize| partners[i].get(round).map(|&(j, told)| ([i.min(j), i.max(j)], told));
            let mut round: Vec<_> = (0..count).filter_map(next).collect();
            round.sort_by(|(_, a), (_, b)| b.total_cmp(a));
            for (pair, _) in round {
                if pairs.len() < MOST {
                    pairs.insert(pair.map(|i| features[i]));
                }
            }
        }
        pairs.into_iter().collect()
    }

    /// How much two features tell of each other, in nats, less what they would by chance.
    fn told(&self, pair: [u32; 2], one_of: usize) -> f64 {
        let joint = Joint::new(pair.map(|feature| &self.bins[feature as usize]), one_of);
        joint.information() - joint.freedom() / (2.0 * joint.rows())
    }
}

#[cfg(test)]
mod tests {
    use super::super::Column;
    use super::*;

    /// Columns of noise, every second of which is much like the one before.
    fn sample(columns: usize) -> Sample {
        let mut random = Stream::new(1, Purpose::Shuffle, 0);
        let mut values: Vec<Vec<f32>> = Vec::new();
        for i in 0..columns {
            let noise = (0..500).map(|_| (random.normal() / 4.0) as f32);
            values.push(match i % 2 {
                0 => noise.collect(),
                _ => noise.zip(&values[i - 1]).map(|(noise, x)| x + noise / 4.0).collect(),
            });
        }
        let columns: Vec<Column> =
            values.into_iter().map(|values| Column::of_numbers(values, None)).collect();
        let each: Vec<u32> = (0..columns.len() as u32).collect();
        Sample::of_columns((0..500).collect(), columns, each.clone(), each)
    }

    #[test]
    fn narrow_tables_have_all_pairs() {
        assert_eq!(sample(24).pairs(&Params::default()).len(), 24 * 23 / 2);
        assert!(sample(24).pairs(&Params { interactions: 1, ..Params::default() }).is_empty());
    }

    #[test]
    fn wide_tables_have_the_pairs_that_tell_most_whatever_the_seed() {
        let (sample, params) = (sample(40), Params::default());
        let pairs = sample.pairs(&params);
        assert_eq!(pairs.len(), MOST);
        assert!((0..20).all(|i| pairs.contains(&[2 * i, 2 * i + 1])));
        assert!((0..40).all(|i| pairs.iter().flatten().filter(|&&feature| feature == i).count() >= 10));
        assert_eq!(pairs, sample.pairs(&Params { seed: 7, ..params }));
    }

    /// More columns than are looked at.
    #[test]
    fn very_wide_tables_have_pairs() {
        assert_eq!(sample(WIDEST + 200).pairs(&Params::default()).len(), MOST);
    }
}
