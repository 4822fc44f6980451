//! Which pairs of columns parts look at.

use std::collections::BTreeSet;

use super::Sample;
use super::bins::{Bins, Joint, Terms};
use super::sides::Side;
use crate::Params;
use crate::parallel;
use crate::rng::{Purpose, Stream};

/// Most pairs that parts look at.
const MOST: usize = 300;
/// Most columns of which pairs are looked for, and rows that are counted for that, over all pairs.
const WIDEST: usize = 1000;
const WORK: usize = 1 << 28;

impl Sample {
    /// All pairs of features of two columns that are not places in time, or those that tell most of each other. None if the score
    /// may not have any.
    pub fn pairs(&self, params: &Params) -> Vec<[u32; 2]> {
        let mut features = self.varied();
        features.retain(|&feature| !self.columns[feature as usize].is_date);
        if params.interactions < 2 {
            return Vec::new();
        }
        let features = at_most(features);
        let may_pair = |[i, j]: [usize; 2]| !self.of_one_column([features[i], features[j]]);
        let told = || {
            let one_of = one_of(self.rows(), features.len());
            parallel::map_indices(features.len(), &|i| {
                let joint = |j: usize| {
                    let bins = [features[j], features[i]].map(|feature| &self.bins[feature as usize]);
                    Joint::new(bins, one_of).told()
                };
                (0..i).map(joint).collect()
            })
        };
        let pairs = telling(features.len(), &may_pair, &told);
        pairs.into_iter().map(|pair| pair.map(|i| features[i])).collect()
    }

    /// What isolation looks at of features that are neither places in time nor marks of gaps.
    pub fn timeless_sides(&self, params: &Params) -> Vec<Side> {
        match params.interactions {
            // There is no search for pairs, whose time is limited.
            ..2 => self.sides(&self.timeless(), usize::MAX),
            _ => self.sides(&at_most(self.timeless()), WIDEST),
        }
    }

    /// Pairs of sides of two columns, all or those that tell most of each other; none of copies.
    pub fn planes(&self, sides: &[Side], params: &Params) -> Vec<[usize; 2]> {
        if params.interactions < 2 {
            return Vec::new();
        }
        let may_pair = |[i, j]: [usize; 2]| {
            let features = [i, j].map(|side| sides[side].feature);
            // Categories tell most of those of a copy, and would leave no room for others.
            !self.of_one_column(features) && (sides[i].category.is_none() || !self.are_copies(features))
        };
        let mut planes = telling(sides.len(), &may_pair, &|| self.told(sides));
        planes.retain(|plane| !self.are_copies(plane.map(|side| sides[side].feature)));
        planes
    }

    /// How much each side tells of those of earlier features. Rows are counted once for each pair of features.
    fn told(&self, sides: &[Side]) -> Vec<Vec<f64>> {
        let features: Vec<&[Side]> = sides.chunk_by(|a, b| a.feature == b.feature).collect();
        let one_of = one_of(self.rows(), features.len());
        let terms = Terms::up_to(self.rows().div_ceil(one_of));
        let apart = parallel::map(&features, &|sides| {
            let column = &self.columns[sides[0].feature as usize];
            column
                .is_category()
                .then(|| Bins::of_categories(column, sides.iter().filter_map(|side| side.category)))
        });
        let bins = |i: usize| apart[i].as_ref().unwrap_or(&self.bins[features[i][0].feature as usize]);
        // Of a column of categories, the bin of each side.
        let own = |i: usize, side: usize| apart[i].as_ref().map(|_| side);
        let of_feature = |i: usize| {
            let earlier = features[..i].iter().map(|others| others.len()).sum();
            let mut told: Vec<Vec<f64>> = features[i].iter().map(|_| Vec::with_capacity(earlier)).collect();
            for (j, others) in features[..i].iter().enumerate() {
                let joint = Joint::new([bins(j), bins(i)], one_of);
                for (side, told) in told.iter_mut().enumerate() {
                    let of_other = |other: usize| match [own(j, other), own(i, side)] {
                        [None, None] => joint.told(),
                        bins => joint.told_of_one(bins, &terms),
                    };
                    told.extend((0..others.len()).map(of_other));
                }
            }
            told
        };
        parallel::map_indices(features.len(), &of_feature).into_iter().flatten().collect()
    }
}

/// Features of which pairs are looked for: all, or as many as can be.
fn at_most(mut features: Vec<u32>) -> Vec<u32> {
    if features.len() > WIDEST {
        Stream::new(0, Purpose::Pairs, 0).shuffle_front(&mut features, WIDEST);
        features.truncate(WIDEST);
        features.sort_unstable();
    }
    features
}

/// Of how many rows one is counted for each pair of so many features.
fn one_of(rows: usize, features: usize) -> usize {
    rows.div_ceil(WORK / (features * features / 2).max(1))
}

/// Which of so many features make a pair: all that may, or those that tell most of each other, which `told` says of each and the
/// earlier ones: of every feature the one that tells most of it, then of every feature the next one, and so on.
fn telling(
    count: usize,
    may_pair: &(dyn Fn([usize; 2]) -> bool + Sync),
    told: &dyn Fn() -> Vec<Vec<f64>>,
) -> Vec<[usize; 2]> {
    if count * count.saturating_sub(1) / 2 <= MOST {
        let pairs = (0..count).flat_map(|b| (0..b).map(move |a| [a, b]));
        return pairs.filter(|&pair| may_pair(pair)).collect();
    }
    let told = told();
    let others = |i: usize| (0..count).filter(move |&j| i != j && may_pair([i.min(j), i.max(j)]));
    let known = parallel::map_indices(count, &|i| others(i).count());
    // A pair is the one of two features at most.
    let enough = |&rounds: &usize| known.iter().map(|&others| others.min(rounds)).sum::<usize>() >= 2 * MOST;
    let rounds = (1..count).find(enough).unwrap_or(count);
    let partners = parallel::map_indices(count, &|i| {
        let told = |j: usize| if i > j { told[i][j] } else { told[j][i] };
        let mut partners: Vec<(usize, f64)> = others(i).map(|j| (j, told(j))).collect();
        // Of those that tell as much, the first one.
        let by_told = |(i, a): &(usize, f64), (j, b): &(usize, f64)| b.total_cmp(a).then(i.cmp(j));
        if partners.len() > rounds {
            partners.select_nth_unstable_by(rounds, by_told);
            partners.truncate(rounds);
        }
        partners.sort_unstable_by(by_told);
        partners.shrink_to_fit();
        partners
    });
    let mut pairs = BTreeSet::new();
    for round in 0..rounds {
        let next = |i: usize| partners[i].get(round).map(|&(j, told)| ([i.min(j), i.max(j)], told));
        let mut round: Vec<_> = (0..count).filter_map(next).collect();
        round.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        for (pair, _) in round {
            if pairs.len() < MOST {
                pairs.insert(pair);
            }
        }
    }
    pairs.into_iter().collect()
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

    /// Plainly: by columns of two values, one for each category.
    #[test]
    fn categories_tell_of_each_other_what_columns_of_their_own_would() {
        let mut random = Stream::new(2, Purpose::Shuffle, 0);
        let places = vec![-1.0, -0.5, 0.0, 0.5, 1.0];
        let number: Vec<f32> = (0..800).map(|_| (random.normal() / 4.0) as f32).collect();
        let of_number = |x: &f32| if *x < -0.2 { 0 } else { (x.abs() * 6.0) as usize % 4 };
        let [a, b] = [0, 1].map(|shift| {
            let text = |x: &f32| places[(of_number(x) + shift * random.below(2)) % 4];
            number.iter().map(text).collect::<Vec<f32>>()
        });
        let columns = vec![
            Column::of_categories(a, places.clone()),
            Column::of_numbers(number, None),
            Column::of_categories(b, places),
        ];
        let sample = Sample::of_columns((0..800).collect(), columns, vec![0, 1, 2], vec![0, 1, 2]);
        let sides = sample.sides(&[0, 1, 2], WIDEST);
        assert_eq!(sides.len(), 9);
        let told = sample.told(&sides);
        let alone = |side: &Side| {
            let column = &sample.columns[side.feature as usize];
            let values = column.values.iter().map(|&x| match side.category {
                None => x,
                Some(_) => side.value(column, x) as f32,
            });
            Bins::new(&Column::of_numbers(values.collect(), None))
        };
        for (i, told) in told.iter().enumerate() {
            for (j, told) in told.iter().enumerate() {
                let plain = Joint::new([&alone(&sides[j]), &alone(&sides[i])], 1).told();
                assert!((told - plain).abs() < 1e-9, "{i} {j}: {told} {plain}");
            }
        }
        assert!(told[8].len() == 5 && told[5][0] > 0.1);
    }

    /// Plainly: each pair of sides by counts of its own, in the order of the cells.
    #[test]
    fn sides_tell_to_the_last_bit_what_rows_counted_for_each_pair_do() {
        let mut random = Stream::new(3, Purpose::Shuffle, 0);
        let places: Vec<f32> = (0..=40).map(|place| place as f32 / 20.0 - 1.0).collect();
        let mut draw = |most: usize| (0..700).map(|_| random.below(most).min(random.below(41))).collect();
        let texts: [Vec<usize>; 3] = [draw(40), draw(3), draw(41)];
        let mut columns = sample(2).columns;
        columns.iter_mut().for_each(|column| {
            *column = Column::of_numbers((0..700).map(|row| column.values[row % 500]).collect(), None);
        });
        let of = |text: &Vec<usize>| text.iter().map(|&place| places[place]).collect();
        columns.extend(texts.iter().map(|text| Column::of_categories(of(text), places.clone())));
        let each: Vec<u32> = (0..5).collect();
        let sample = Sample::of_columns((0..700).collect(), columns, each.clone(), each.clone());
        let sides = sample.sides(&each, 60);
        assert!(sides.iter().filter(|side| side.category.is_some()).count() > 20);
        let bins: Vec<(Vec<usize>, usize)> = sides
            .iter()
            .map(|side| match (side.category, side.feature as usize) {
                (None, feature) => {
                    let bins = &sample.bins[feature];
                    (bins.of_rows.iter().map(|&bin| usize::from(bin)).collect(), bins.count)
                }
                (Some(own), feature) => {
                    (texts[feature - 2].iter().map(|&at| usize::from(at == usize::from(own))).collect(), 2)
                }
            })
            .collect();
        let term = |count: f64| if count > 0.0 { count * libm::log(count) } else { 0.0 };
        let plain = |(a, of_a): &(Vec<usize>, usize), (b, of_b): &(Vec<usize>, usize)| {
            let mut cells = vec![0.0; of_a * of_b];
            a.iter().zip(b).for_each(|(a, b)| cells[a * of_b + b] += 1.0);
            let first = (0..*of_a).map(|i| (0..*of_b).map(|j| cells[i * of_b + j]).sum::<f64>());
            let second = (0..*of_b).map(|j| (0..*of_a).map(|i| cells[i * of_b + j]).sum::<f64>());
            let [cells, first, second] = [
                cells.iter().map(|&count| term(count)).sum::<f64>(),
                first.map(term).sum(),
                second.map(term).sum(),
            ];
            let information = ((cells - first - second) / 700.0 + libm::log(700.0)).max(0.0);
            information - ((of_a - 1) * (of_b - 1)) as f64 / 1400.0
        };
        let told = sample.told(&sides);
        for (i, told) in told.iter().enumerate() {
            assert_eq!(told.len(), sides.iter().filter(|side| side.feature < sides[i].feature).count());
            for (j, told) in told.iter().enumerate() {
                assert_eq!(told.to_bits(), plain(&bins[j], &bins[i]).to_bits(), "{i} {j}");
            }
        }
    }

    /// Plainly: all others of each, in order; many of them tell as much.
    #[test]
    fn the_pairs_that_tell_most_are_those_of_all_partners_in_order() {
        let mut random = Stream::new(4, Purpose::Shuffle, 0);
        for (count, groups, levels) in [(30, 30, 1000), (60, 20, 5), (200, 7, 3), (700, 350, 50), (90, 2, 1)]
        {
            let told: Vec<Vec<f64>> =
                (0..count).map(|i| (0..i).map(|_| random.below(levels) as f64 / 7.0).collect()).collect();
            let may_pair = |[a, b]: [usize; 2]| a % groups != b % groups && (groups > 2 || a < 2);
            let mut pairs = BTreeSet::new();
            let partners = |i: usize| {
                let told = |j: usize| told[i.max(j)][i.min(j)];
                let others = (0..count).filter(|&j| i != j && may_pair([i.min(j), i.max(j)]));
                let mut others: Vec<(usize, f64)> = others.map(|j| (j, told(j))).collect();
                others.sort_by(|(_, a), (_, b)| b.total_cmp(a));
                others
            };
            let partners: Vec<_> = (0..count).map(partners).collect();
            for round in 0..count {
                let next = |i: usize| partners[i].get(round).map(|&(j, told)| ([i.min(j), i.max(j)], told));
                let mut round: Vec<_> = (0..count).filter_map(next).collect();
                round.sort_by(|(_, a), (_, b)| b.total_cmp(a));
                let room = |pairs: &BTreeSet<_>| pairs.len() < MOST;
                round.into_iter().for_each(|(pair, _)| {
                    if room(&pairs) {
                        pairs.insert(pair);
                    }
                });
            }
            let pairs: Vec<[usize; 2]> = pairs.into_iter().collect();
            assert_eq!(telling(count, &may_pair, &|| told.clone()), pairs);
            assert_eq!(pairs.len() < MOST, groups == 2);
        }
    }

    /// A column of 400 categories beside numbers, some of which go together.
    #[test]
    fn many_categories_leave_room_for_numbers() {
        let numbers = sample(10);
        let mut columns = numbers.columns;
        let places: Vec<f32> = (0..=400).map(|place| place as f32 / 200.0 - 1.0).collect();
        columns.push(Column::of_categories((0..500).map(|row| places[row * 7 % 400]).collect(), places));
        let each: Vec<u32> = (0..11).collect();
        let sample = Sample::of_columns((0..500).collect(), columns, each.clone(), each);
        let params = Params::default();
        let sides = sample.timeless_sides(&params);
        let planes = sample.planes(&sides, &params);
        assert_eq!((sides.len(), planes.len()), (410, MOST));
        assert!((0..5).all(|i| planes.contains(&[2 * i, 2 * i + 1])));
        assert!(planes.iter().all(|&[a, b]| sides[a].feature != sides[b].feature));
    }

    #[test]
    fn categories_make_no_planes_with_a_copy_of_their_column() {
        let places: Vec<f32> = (0..=30).map(|place| place as f32 / 15.0 - 1.0).collect();
        let text =
            || Column::of_categories((0..500).map(|row| places[row * 7 % 30]).collect(), places.clone());
        let mut columns = sample(2).columns;
        columns.extend([text(), text()]);
        let sample = Sample::of_columns((0..500).collect(), columns, vec![0, 1, 2, 3], vec![0, 1, 2, 2]);
        let params = Params::default();
        let sides = sample.timeless_sides(&params);
        let planes = sample.planes(&sides, &params);
        let features = |plane: &[usize; 2]| plane.map(|side| sides[side].feature);
        assert!(planes.iter().all(|plane| features(plane) != [2, 3]));
        assert!(planes.iter().filter(|plane| features(plane)[1] == 3).count() >= 30);
    }

    /// More columns than are looked at.
    #[test]
    fn very_wide_tables_have_pairs() {
        assert_eq!(sample(WIDEST + 200).pairs(&Params::default()).len(), MOST);
    }
}
