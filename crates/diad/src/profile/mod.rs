//! What a model remembers of its training rows: how the values of each column and the scores were spread, and which
//! values of two columns came together. Explanations need it; scores do not.

mod groups;
mod together;

pub use groups::{Group, Groups, LEAST_ROWS, MOST_GROUPS, Ranges};
pub use together::{Cell, Counts, MOST_CELLS, MOST_PAIRS, Together};

/// The largest number of values at which a spread is kept.
const VALUES: usize = 129;
/// Nodes of a column at which terms are purified: as many equally spaced over its range, and as many between which
/// equally many rows lie. Columns of few values have a node for each.
const NODES: usize = 8;
/// Most nodes of a column.
pub const MOST_NODES: usize = 2 * NODES;

/// How some numbers are spread: the shares of them below and up to certain values, ascending.
#[derive(Debug, Clone, PartialEq)]
pub struct Spread {
    values: Vec<f32>,
    below: Vec<f32>,
    up_to: Vec<f32>,
}

impl Spread {
    /// The spread of numbers in ascending order, of which there is at least one: exact where no more than 129 are
    /// distinct, else at values that lie closer together towards both ends.
    pub fn of_sorted(sorted: &[f32]) -> Self {
        let n = sorted.len();
        let mut values: Vec<f32> = sorted.to_vec();
        values.dedup();
        if values.len() > VALUES {
            values = (0..VALUES).map(|i| sorted[(level(i) * (n - 1) as f64).round() as usize]).collect();
            values.dedup();
        }
        let share = |count: usize| (count as f64 / n as f64) as f32;
        let below = values.iter().map(|value| share(sorted.partition_point(|v| v < value))).collect();
        let up_to = values.iter().map(|value| share(sorted.partition_point(|v| v <= value))).collect();
        Self { values, below, up_to }
    }

    /// Numbers spread evenly from -1 to 1.
    pub fn even() -> Self {
        Self { values: vec![-1.0, 1.0], below: vec![0.0, 1.0], up_to: vec![0.0, 1.0] }
    }

    /// Adds the ends of the whole range, which a sample may have missed.
    pub fn reaching(mut self, low: f32, high: f32, rows: u64) -> Self {
        let one = (1.0 / rows.max(1) as f64) as f32;
        if self.values.first().is_some_and(|&first| low < first) {
            self.values.insert(0, low);
            self.below.insert(0, 0.0);
            self.up_to.insert(0, one.min(self.below[1]));
        }
        if self.values.last().is_some_and(|&last| high > last) {
            let least = self.below.last().copied().unwrap_or(0.0);
            let before = self.up_to.last_mut().map_or(1.0, |share| {
                *share = share.min(1.0 - one).max(least);
                *share
            });
            self.values.push(high);
            self.below.push((1.0 - one).max(before));
            self.up_to.push(1.0);
        }
        self
    }

    /// One of its parts for each value: the values, the shares below them and the shares up to them.
    pub fn tensors(&self) -> [&[f32]; 3] {
        [&self.values, &self.below, &self.up_to]
    }

    /// A spread made of its parts; `None` if they are inconsistent.
    pub fn from_tensors([values, below, up_to]: [Vec<f32>; 3]) -> Option<Self> {
        let shares: Vec<f32> = below.iter().zip(&up_to).flat_map(|(&below, &up_to)| [below, up_to]).collect();
        let ascending = values.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = values.iter().all(|value| value.abs() <= 1e30);
        let sane = !values.is_empty()
            && below.len() == values.len()
            && up_to.len() == values.len()
            && shares.windows(2).all(|pair| pair[0] <= pair[1])
            && shares.iter().all(|share| (0.0..=1.0).contains(share));
        (sane && ascending && finite).then_some(Self { values, below, up_to })
    }

    /// The largest number of values a spread has: those found in the numbers, and the ends of their range.
    pub const fn most_values() -> usize {
        VALUES + 2
    }

    /// The share of the numbers below `value`.
    pub fn below(&self, value: f32) -> f64 {
        let node = self.values.partition_point(|&v| v < value);
        match (node.checked_sub(1), self.values.get(node)) {
            (None, _) => 0.0,
            (_, None) => 1.0,
            (_, Some(&found)) if found == value => f64::from(self.below[node]),
            (Some(last), Some(_)) => self.between(last, value),
        }
    }

    /// The share of the numbers up to `value`.
    pub fn up_to(&self, value: f32) -> f64 {
        let node = self.values.partition_point(|&v| v <= value);
        match node.checked_sub(1) {
            None => 0.0,
            Some(last) if node == self.values.len() || self.values[last] == value => {
                f64::from(self.up_to[last])
            }
            Some(last) => self.between(last, value),
        }
    }

    fn between(&self, node: usize, value: f32) -> f64 {
        let share =
            f64::from(value - self.values[node]) / f64::from(self.values[node + 1] - self.values[node]);
        let [low, high] = [self.up_to[node], self.below[node + 1]].map(f64::from);
        low + share.clamp(0.0, 1.0) * (high - low)
    }

    /// The values that at least such a share of the numbers have.
    pub fn frequent(&self, share: f64) -> Vec<f32> {
        let shares =
            self.below.iter().zip(&self.up_to).map(|(&below, &up_to)| f64::from(up_to) - f64::from(below));
        self.values.iter().zip(shares).filter(|(_, found)| *found >= share).map(|(&value, _)| value).collect()
    }

    /// The standard deviation of the numbers, as far as the values tell.
    pub fn deviation(&self) -> f64 {
        let weights = self.weights();
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        let mean = weights.iter().map(|(value, weight)| f64::from(*value) * weight).sum::<f64>() / total;
        let square =
            |(value, weight): &(f32, f64)| (f64::from(*value) - mean) * (f64::from(*value) - mean) * weight;
        (weights.iter().map(square).sum::<f64>() / total).sqrt()
    }

    /// The number that a share of the others do not exceed.
    pub fn quantile(&self, share: f64) -> f32 {
        let node = self.up_to.partition_point(|&up_to| f64::from(up_to) < share);
        let Some(&value) = self.values.get(node) else { return self.values[self.values.len() - 1] };
        let below = f64::from(self.below[node]);
        match node.checked_sub(1) {
            Some(last) if share < below => {
                let start = f64::from(self.up_to[last]);
                let part = (share - start) / (below - start);
                (f64::from(self.values[last]) + part * f64::from(value - self.values[last])) as f32
            }
            _ => value,
        }
    }

    /// The values, each with the share of the numbers that are nearest to it.
    pub fn weights(&self) -> Vec<(f32, f64)> {
        let count = self.values.len();
        let gap =
            |node: usize| (f64::from(self.below[node + 1]) - f64::from(self.up_to[node])).max(0.0) / 2.0;
        let weight = |node: usize| {
            let before = if node > 0 { gap(node - 1) } else { 0.0 };
            let after = if node + 1 < count { gap(node) } else { 0.0 };
            f64::from(self.up_to[node]) - f64::from(self.below[node]) + before + after
        };
        self.values.iter().enumerate().map(|(node, &value)| (value, weight(node))).collect()
    }

    /// The values it is known at.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values there were, if there were so few that each is known.
    pub fn distinct(&self) -> Option<&[f32]> {
        let only = self.below.iter().skip(1).zip(&self.up_to).all(|(below, up_to)| below - up_to < 1e-6);
        (only && self.values.len() < VALUES).then_some(&self.values)
    }

    /// The nodes at which functions of a column are purified, at least two.
    pub fn nodes(&self) -> Vec<f32> {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let mut nodes: Vec<f32> = match self.distinct() {
            Some(distinct) if distinct.len() <= MOST_NODES => distinct.to_vec(),
            _ => {
                let evenly = (0..NODES).map(|i| first + (last - first) * (i as f32 / (NODES - 1) as f32));
                let by_rows = (0..NODES).map(|i| self.quantile((i as f64 + 0.5) / NODES as f64));
                evenly.chain(by_rows).collect()
            }
        };
        nodes.sort_unstable_by(f32::total_cmp);
        nodes.dedup();
        if nodes.len() < 2 {
            nodes.push(nodes[0] + 1.0);
        }
        nodes
    }
}

/// The share at the `i`-th of the values a spread is kept at.
fn level(i: usize) -> f64 {
    let u = i as f64 / (VALUES - 1) as f64;
    u * u * (3.0 - 2.0 * u)
}

/// What a model remembers of its training rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// How the values of each column are spread, in the scale of its first feature.
    pub columns: Vec<Spread>,
    /// How the scores are spread.
    pub scores: Spread,
    /// Pairs of columns of numbers, ascending.
    pub pairs: Vec<Together>,
    /// Pairs of columns with categories or few values, ascending. Columns of other pairs are taken for independent.
    pub counts: Vec<Counts>,
    /// Where most rows of each group of one column lie in another, ascending.
    pub ranges: Vec<Ranges>,
    /// Of each column of numbers, the values next to the smallest and to the largest, in the scale of its first feature; empty if
    /// the model does not remember them.
    pub next: Vec<[f32; 2]>,
    /// What terms usually contribute to scores.
    pub usual: Vec<Usual>,
}

/// What a term contributed to the scores of the training rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// Its columns, the smaller number first; the same twice for a term of one column.
    pub columns: [u32; 2],
    /// The mean of its contributions, as far as the nodes of columns do not tell it.
    pub mean: f32,
    /// Their standard deviation.
    pub deviation: f32,
    /// The share of all rows that are rare because of it: what rare rows have of it, each row once.
    pub rare: f32,
}

impl Profile {
    /// Without any knowledge: every column is spread evenly.
    pub fn unknown(columns: usize) -> Self {
        Self {
            columns: vec![Spread::even(); columns],
            scores: Spread::even(),
            pairs: Vec::new(),
            counts: Vec::new(),
            ranges: Vec::new(),
            next: Vec::new(),
            usual: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn spread(numbers: &[f32]) -> Spread {
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable_by(f32::total_cmp);
        Spread::of_sorted(&sorted)
    }

    #[test]
    fn few_values_are_known_exactly() {
        let spread = spread(&[0.0, 0.0, 0.0, 1.0]);
        assert_eq!(spread.distinct(), Some(&[0.0, 1.0][..]));
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 2.0].map(|v| spread.below(v)), [0.0, 0.0, 0.75, 0.75, 1.0]);
        assert_eq!([-1.0, 0.0, 0.5, 1.0, 2.0].map(|v| spread.up_to(v)), [0.0, 0.75, 0.75, 1.0, 1.0]);
        assert_eq!(spread.weights(), [(0.0, 0.75), (1.0, 0.25)]);
        assert_eq!([0.0, 0.7, 0.75, 0.76, 1.0].map(|s| spread.quantile(s)), [0.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(spread.nodes(), [0.0, 1.0]);
    }

    #[test]
    fn a_sample_that_missed_the_ends_reaches_them() {
        let spread = spread(&[0.0, 0.5]).reaching(-1.0, 1.0, 1000);
        assert_eq!((spread.below(-1.0), spread.up_to(1.0), spread.below(2.0)), (0.0, 1.0, 1.0));
        assert!((0.998..1.0).contains(&spread.below(1.0)), "{}", spread.below(1.0));
        assert!(Spread::from_tensors(spread.tensors().map(<[f32]>::to_vec)).is_some());
    }

    #[test]
    fn shares_stay_in_order_whatever_is_rounded() {
        for rows in 2..200 {
            let numbers: Vec<f32> = (0..rows).map(|i| i as f32 / 300.0).collect();
            let spread = spread(&numbers).reaching(-1.0, 1.0, rows);
            assert!(Spread::from_tensors(spread.tensors().map(<[f32]>::to_vec)).is_some(), "{rows} rows");
        }
    }

    proptest! {
        #[test]
        fn shares_are_those_of_plain_counting(
            numbers in prop::collection::vec(-1.0f32..1.0, 1..2000),
            value in -1.5f32..1.5,
        ) {
            let spread = spread(&numbers);
            let n = numbers.len() as f64;
            let below = numbers.iter().filter(|&&v| v < value).count() as f64 / n;
            let up_to = numbers.iter().filter(|&&v| v <= value).count() as f64 / n;
            // Between two neighbouring values of the spread lie at most 1.2 % of the numbers.
            prop_assert!((spread.below(value) - below).abs() <= 0.015 + 1.0 / n);
            prop_assert!((spread.up_to(value) - up_to).abs() <= 0.015 + 1.0 / n);
            let total: f64 = spread.weights().iter().map(|(_, weight)| weight).sum();
            prop_assert!((total - 1.0).abs() < 1e-5, "{}", total);
            prop_assert!(spread.values().len() <= Spread::most_values());
            let again = Spread::from_tensors(spread.tensors().map(<[f32]>::to_vec));
            prop_assert_eq!(again, Some(spread.clone()));
            let nodes = spread.nodes();
            prop_assert!((2..=MOST_NODES).contains(&nodes.len()));
            prop_assert!(nodes.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }
}
