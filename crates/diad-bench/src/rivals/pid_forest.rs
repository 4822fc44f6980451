//! PIDForest (Gopalan, Sharan, Wieder: PIDForest, anomaly detection via partial identification, NeurIPS 2019).
//!
//! Each tree takes a sample of rows and cuts the cube around all rows, one column at a time, into buckets whose sparsity (share of
//! the volume over share of the rows) varies most. A row's score is an upper quantile over the trees of the logarithm of its
//! leaf's sparsity. The best buckets are found exactly, where the authors' program approximates them.

use rayon::prelude::*;

use super::Rows;
use crate::guards::planted::random::Random;
use crate::stats::quantile;

/// The authors' settings.
const TREES: u64 = 50;
const SAMPLE: usize = 100;
const DEPTH: usize = 10;
const BUCKETS: usize = 5;
/// The quantile of the trees' scores that counts.
const SHARE: f64 = 0.75;
/// How much better than no cut the best one must be.
const GAIN: f64 = 1e-9;

#[derive(Debug)]
enum Node {
    /// Buckets of a column between ascending cuts, and where their nodes lie.
    Split { column: usize, cuts: Vec<f64>, children: Vec<usize> },
    /// The logarithm of the sparsity.
    Leaf(f64),
}

/// One tree.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
}

/// The scores of all rows: higher is more anomalous.
pub fn scores(rows: &Rows, seed: u64) -> Vec<f64> {
    let cube = rows.ranges();
    let trees: Vec<Tree> = (0..TREES)
        .into_par_iter()
        .map(|tree| {
            let mut random = Random::new(crate::data::mix(seed) ^ tree);
            let sample = rows.sample(SAMPLE, &mut random);
            let mut grown = Tree { nodes: Vec::new() };
            grown.grow(rows, &sample, &cube, Place { depth: 0, log_volume: 0.0, all: sample.len() });
            grown
        })
        .collect();
    let score = |row: usize| {
        let found: Vec<f64> = trees.iter().map(|tree| tree.score(rows, row)).collect();
        quantile(&found, SHARE).unwrap_or(0.0)
    };
    (0..rows.count()).into_par_iter().map(score).collect()
}

/// Where a node lies: how deep, in how much of the volume, in a tree of how many rows.
#[derive(Debug, Clone, Copy)]
struct Place {
    depth: usize,
    log_volume: f64,
    all: usize,
}

impl Tree {
    /// Adds the node of some rows in a box, and all below it; returns where it is.
    fn grow(&mut self, rows: &Rows, members: &[usize], space: &[[f64; 2]], place: Place) -> usize {
        let at = self.nodes.len();
        // An empty bucket counts as half a row, so that its sparsity is finite.
        let rows_here = (members.len() as f64).max(0.5);
        self.nodes.push(Node::Leaf(place.log_volume - (rows_here / place.all as f64).ln()));
        if place.depth == DEPTH || members.len() < 2 {
            return at;
        }
        let best = (0..rows.columns())
            .filter_map(|column| {
                let mut values: Vec<f64> = members.iter().map(|&row| rows.value(row, column)).collect();
                let (worth, cuts) = best_buckets(&mut values, space[column])?;
                Some((worth, column, cuts))
            })
            .reduce(|a, b| if b.0 > a.0 { b } else { a });
        let Some((_, column, cuts)) = best else { return at };
        let mut children = Vec::new();
        for bucket in 0..=cuts.len() {
            let low = if bucket == 0 { f64::NEG_INFINITY } else { cuts[bucket - 1] };
            let high = cuts.get(bucket).copied().unwrap_or(f64::INFINITY);
            let inside = |row: &usize| (low..high).contains(&rows.value(*row, column));
            let inner: Vec<usize> = members.iter().copied().filter(inside).collect();
            let mut part = space.to_vec();
            part[column] = [low.max(space[column][0]), high.min(space[column][1])];
            let length = |range: [f64; 2]| range[1] - range[0];
            let share = length(part[column]) / length(space[column]);
            let below = Place { depth: place.depth + 1, log_volume: place.log_volume + share.ln(), ..place };
            children.push(self.grow(rows, &inner, &part, below));
        }
        self.nodes[at] = Node::Split { column, cuts, children };
        at
    }

    fn score(&self, rows: &Rows, row: usize) -> f64 {
        let mut at = 0;
        loop {
            match &self.nodes[at] {
                Node::Leaf(score) => return *score,
                Node::Split { column, cuts, children } => {
                    at = children[cuts.partition_point(|&cut| cut <= rows.value(row, *column))];
                }
            }
        }
    }
}

/// The cuts of an interval into at most [`BUCKETS`] buckets with the largest Σ volume² / rows, both as shares, and that sum;
/// nothing where no cut is better than none. Cuts lie half-way between values.
fn best_buckets(values: &mut [f64], [low, high]: [f64; 2]) -> Option<(f64, Vec<f64>)> {
    let length = high - low;
    if length <= 0.0 {
        return None;
    }
    values.sort_by(f64::total_cmp);
    // Ends of buckets: how much of the volume and how many rows lie before them.
    let mut ends = vec![(low, 0.0, 0.0)];
    for place in 1..values.len() {
        if values[place] > values[place - 1] {
            let cut = values[place - 1].midpoint(values[place]);
            ends.push((cut, (cut - low) / length, place as f64 / values.len() as f64));
        }
    }
    ends.push((high, 1.0, 1.0));
    let last = ends.len() - 1;
    let worth = |from: usize, to: usize| {
        let (volume, rows) = (ends[to].1 - ends[from].1, ends[to].2 - ends[from].2);
        volume * volume / rows
    };
    // By the number of buckets and their last end: the largest sum, and where the last bucket starts.
    let mut best: Vec<Vec<(f64, usize)>> =
        vec![(0..=last).map(|to| if to == 0 { (f64::MIN, 0) } else { (worth(0, to), 0) }).collect()];
    for buckets in 1..BUCKETS.min(last) {
        let before = &best[buckets - 1];
        let row = (0..=last)
            .map(|to| {
                (buckets..to)
                    .map(|from| (before[from].0 + worth(from, to), from))
                    .fold((f64::MIN, 0), |a, b| if b.0 > a.0 { b } else { a })
            })
            .collect();
        best.push(row);
    }
    let buckets =
        (0..best.len()).fold(0, |a, b| if best[b][last].0 > best[a][last].0 + GAIN { b } else { a });
    if buckets == 0 {
        return None;
    }
    let (mut cuts, mut to) = (Vec::new(), last);
    for level in (1..=buckets).rev() {
        to = best[level][to].1;
        cuts.push(ends[to].0);
    }
    cuts.reverse();
    Some((best[buckets][last].0, cuts))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to cut, tried one by one.
    fn brute(values: &[f64], [low, high]: [f64; 2]) -> f64 {
        let cuts: Vec<f64> = values.windows(2).filter(|w| w[0] < w[1]).map(|w| w[0].midpoint(w[1])).collect();
        let mut best = f64::MIN;
        for chosen in 0..1_u32 << cuts.len() {
            if chosen.count_ones() as usize >= BUCKETS {
                continue;
            }
            let mut ends = vec![low];
            ends.extend(cuts.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1).map(|(_, cut)| *cut));
            ends.push(high);
            let sum = ends.windows(2).map(|w| {
                let rows = values.iter().filter(|v| **v >= w[0] && (**v < w[1] || w[1] == high)).count();
                ((w[1] - w[0]) / (high - low)).powi(2) / (rows as f64 / values.len() as f64)
            });
            best = best.max(sum.sum());
        }
        best
    }

    #[test]
    fn buckets_are_the_best_of_all() {
        let mut random = Random::new(1);
        for _ in 0..50 {
            let mut values: Vec<f64> = (0..9).map(|_| (random.share() * 12.0).floor()).collect();
            let range = [-1.0, 13.0];
            let found = best_buckets(&mut values, range).map_or(1.0, |(worth, _)| worth);
            let wanted = brute(&values, range);
            assert!((found - wanted).abs() < 1e-9, "{found} for {wanted}: {values:?}");
        }
    }

    #[test]
    fn a_column_of_one_value_is_never_cut() {
        assert!(best_buckets(&mut [2.0, 2.0], [2.0, 2.0]).is_none());
        assert!(best_buckets(&mut [2.0, 2.0], [0.0, 4.0]).is_none());
    }

    #[test]
    fn a_row_far_out_scores_highest() {
        let mut random = Random::new(3);
        let mut columns = vec![(0..400).map(|_| random.normal()).collect::<Vec<f64>>(); 2];
        columns[1] = (0..400).map(|_| random.normal()).collect();
        columns[0][7] = 25.0;
        let scores = scores(&Rows::new(columns), 0);
        let highest = (0..400).fold(0, |a, b| if scores[b] > scores[a] { b } else { a });
        assert_eq!(highest, 7);
    }
}
