//! PIDForest (Gopalan, Sharan, Wieder: PIDForest, anomaly detection via partial identification, NeurIPS 2019).
//!
//! Each tree takes a sample of rows and cuts the cube around all rows, one column at a time, into buckets whose sparsity (share of
//! the volume over share of the rows) varies most; which column is cut is drawn, the likelier the more it varies. A larger sample says how many rows a
//! leaf has, and a row's score is the median over the trees of the logarithm of its leaf's sparsity. The best buckets are found exactly, where the authors'
//! program approximates them.

use rayon::prelude::*;

use super::Rows;
use crate::guards::planted::random::Random;
use crate::stats::median;

/// The settings of the authors' experiments.
const TREES: u64 = 50;
const SAMPLE: usize = 100;
const DEPTH: usize = 10;
const BUCKETS: usize = 3;
/// Rows by which the sparsity of leaves is estimated.
const COUNTED: usize = 2000;
/// How much better than no cut the best one must be.
const GAIN: f64 = 1e-9;

/// Buckets of a column between ascending cuts, and where their nodes lie.
#[derive(Debug)]
struct Split {
    column: usize,
    cuts: Vec<f64>,
    children: Vec<usize>,
}

/// A box: how it is cut, its share of the volume and then its sparsity, as logarithms.
#[derive(Debug)]
struct Node {
    split: Option<Split>,
    log_volume: f64,
    score: f64,
}

/// One tree.
#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
}

/// The scores of all rows: higher is more anomalous.
pub fn scores(rows: &Rows, seed: u64) -> Vec<f64> {
    let cube = rows.ranges();
    let counted = rows.sample(COUNTED, &mut Random::new(crate::data::mix(!seed)));
    let trees: Vec<Tree> = (0..TREES)
        .into_par_iter()
        .map(|tree| {
            let mut random = Random::new(crate::data::mix(seed) ^ tree);
            let sample = rows.sample(SAMPLE, &mut random);
            let mut grown = Tree { nodes: Vec::new() };
            grown.grow(rows, &sample, &cube, (0, 0.0), &mut random);
            grown.weigh(rows, 0, &counted, counted.len());
            grown
        })
        .collect();
    let score = |row: usize| {
        let found: Vec<f64> = trees.iter().map(|tree| tree.score(rows, row)).collect();
        median(&found).unwrap_or(0.0)
    };
    (0..rows.count()).into_par_iter().map(score).collect()
}

impl Tree {
    /// Adds the node of some rows in a box, and all below it; returns where it is.
    fn grow(
        &mut self,
        rows: &Rows,
        members: &[usize],
        space: &[[f64; 2]],
        (depth, log_volume): (usize, f64),
        random: &mut Random,
    ) -> usize {
        let at = self.nodes.len();
        self.nodes.push(Node { split: None, log_volume, score: 0.0 });
        if depth == DEPTH || members.len() < 2 {
            return at;
        }
        let Some((column, cuts)) = chosen_cut(rows, members, space, random) else { return at };
        let mut children = Vec::new();
        for (bucket, inner) in parted(rows, members, column, &cuts).iter().enumerate() {
            let [low, high] = space[column];
            let mut part = space.to_vec();
            part[column] =
                [if bucket == 0 { low } else { cuts[bucket - 1] }, cuts.get(bucket).copied().unwrap_or(high)];
            let share = (part[column][1] - part[column][0]) / (high - low);
            children.push(self.grow(rows, inner, &part, (depth + 1, log_volume + share.ln()), random));
        }
        self.nodes[at].split = Some(Split { column, cuts, children });
        at
    }

    /// Sets the sparsity of a node and of all below it by the rows in it. A box without rows is cut no further; it counts as half
    /// a row, so that its sparsity is finite.
    fn weigh(&mut self, rows: &Rows, at: usize, members: &[usize], all: usize) {
        let count = (members.len() as f64).max(0.5);
        self.nodes[at].score = self.nodes[at].log_volume - (count / all as f64).ln();
        let Some(split) = self.nodes[at].split.take() else { return };
        if members.is_empty() {
            return;
        }
        for (&child, inner) in split.children.iter().zip(&parted(rows, members, split.column, &split.cuts)) {
            self.weigh(rows, child, inner, all);
        }
        self.nodes[at].split = Some(split);
    }

    fn score(&self, rows: &Rows, row: usize) -> f64 {
        let mut node = &self.nodes[0];
        while let Some(split) = &node.split {
            node = &self.nodes[split.children[bucket(&split.cuts, rows.value(row, split.column))]];
        }
        node.score
    }
}

fn bucket(cuts: &[f64], value: f64) -> usize {
    cuts.partition_point(|&cut| cut <= value)
}

/// Rows by the bucket they fall into.
fn parted(rows: &Rows, members: &[usize], column: usize, cuts: &[f64]) -> Vec<Vec<usize>> {
    let mut parts = vec![Vec::new(); cuts.len() + 1];
    for &row in members {
        parts[bucket(cuts, rows.value(row, column))].push(row);
    }
    parts
}

/// A column drawn by how much its best cuts gain, and those cuts.
fn chosen_cut(
    rows: &Rows,
    members: &[usize],
    space: &[[f64; 2]],
    random: &mut Random,
) -> Option<(usize, Vec<f64>)> {
    let mut found: Vec<(f64, usize, Vec<f64>)> = (0..rows.columns())
        .filter_map(|column| {
            let mut values: Vec<f64> = members.iter().map(|&row| rows.value(row, column)).collect();
            let (worth, cuts) = best_buckets(&mut values, space[column])?;
            Some((worth - 1.0, column, cuts))
        })
        .collect();
    let mut left = random.share() * found.iter().map(|(gain, ..)| gain).sum::<f64>();
    let place = found.iter().position(|(gain, ..)| {
        left -= gain;
        left <= 0.0
    });
    let last = found.len().checked_sub(1)?;
    let (_, column, cuts) = found.swap_remove(place.unwrap_or(last));
    Some((column, cuts))
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
        let mut columns: Vec<Vec<f64>> =
            (0..2).map(|_| (0..SAMPLE).map(|_| random.normal()).collect()).collect();
        columns.iter_mut().for_each(|column| column[7] = 25.0);
        let scores = scores(&Rows::new(columns), 0);
        let highest = (0..SAMPLE).fold(0, |a, b| if scores[b] > scores[a] { b } else { a });
        assert_eq!(highest, 7);
    }
}
