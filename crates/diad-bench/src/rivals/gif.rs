//! The generalised isolation forest (Buschjäger, Honysz, Morik: Randomized outlier detection with trees, 2020).
//!
//! A node draws a few of its rows as representatives and gives each row to the nearest of them, until few rows are left or all are alike. A leaf's
//! share of the sample estimates how probable its region is; a row's score is minus its mean over the trees.

use rayon::prelude::*;

use super::Rows;
use crate::guards::planted::random::Random;

const TREES: u64 = 128;
const SAMPLE: usize = 256;
/// Representatives of a node.
const PARTS: usize = 2;
/// A node of so few rows is a leaf.
const FEW: usize = 8;
const DEPTH: usize = 24;

#[derive(Debug)]
enum Node {
    /// Rows that stand for the parts, and where their nodes lie.
    Split { representatives: Vec<usize>, children: Vec<usize> },
    /// The share of the sample.
    Leaf(f64),
}

/// The scores of all rows: higher is more anomalous. Columns are scaled to the unit interval.
pub fn scores(rows: &Rows, seed: u64) -> Vec<f64> {
    let rows = &rows.scaled();
    let trees: Vec<Vec<Node>> = (0..TREES)
        .into_par_iter()
        .map(|tree| {
            let mut random = Random::new(crate::data::mix(seed ^ 0x6769_6621) ^ tree);
            let sample = rows.sample(SAMPLE, &mut random);
            let (mut nodes, all) = (Vec::new(), sample.len());
            grow(&mut nodes, rows, &sample, (0, all), &mut random);
            nodes
        })
        .collect();
    let score = |row: usize| -trees.iter().map(|tree| share(tree, rows, row)).sum::<f64>() / TREES as f64;
    (0..rows.count()).into_par_iter().map(score).collect()
}

fn grow(
    nodes: &mut Vec<Node>,
    rows: &Rows,
    members: &[usize],
    (depth, all): (usize, usize),
    random: &mut Random,
) -> usize {
    let at = nodes.len();
    nodes.push(Node::Leaf(members.len() as f64 / all as f64));
    if members.len() <= FEW || depth == DEPTH {
        return at;
    }
    let mut representatives: Vec<usize> = Vec::new();
    for _ in 0..4 * PARTS {
        let row = members[random.below(members.len())];
        if representatives.len() < PARTS && representatives.iter().all(|&r| rows.distance(r, row) > 0.0) {
            representatives.push(row);
        }
    }
    if representatives.len() < 2 {
        return at;
    }
    let mut parts = vec![Vec::new(); representatives.len()];
    for &row in members {
        parts[nearest(rows, &representatives, row)].push(row);
    }
    let children = parts.iter().map(|part| grow(nodes, rows, part, (depth + 1, all), random)).collect();
    nodes[at] = Node::Split { representatives, children };
    at
}

/// The place of the nearest representative; the first of those that are equally near.
fn nearest(rows: &Rows, representatives: &[usize], row: usize) -> usize {
    let distance = |place: usize| rows.distance(representatives[place], row);
    (1..representatives.len()).fold(0, |a, b| if distance(b) < distance(a) { b } else { a })
}

fn share(tree: &[Node], rows: &Rows, row: usize) -> f64 {
    let mut at = 0;
    loop {
        match &tree[at] {
            Node::Leaf(share) => return *share,
            Node::Split { representatives, children } => at = children[nearest(rows, representatives, row)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_far_out_is_among_the_highest() {
        let mut random = Random::new(5);
        let mut columns: Vec<Vec<f64>> =
            (0..3).map(|_| (0..300).map(|_| random.normal()).collect()).collect();
        columns.iter_mut().for_each(|column| column[11] = 20.0);
        let scores = scores(&Rows::new(columns), 0);
        let higher = scores.iter().filter(|score| **score > scores[11]).count();
        assert!(higher < 5, "{higher} rows score higher");
    }

    #[test]
    fn equal_rows_are_one_leaf() {
        let scores = scores(&Rows::new(vec![vec![1.0; 40]]), 0);
        assert!(scores.iter().all(|score| *score == -1.0), "{scores:?}");
    }
}
