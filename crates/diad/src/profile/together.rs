//! Which values of two columns came together.

use std::collections::BTreeMap;

use super::{Profile, Spread};
use crate::function::locate;

/// Most pairs of columns that are counted together.
pub const MOST_PAIRS: usize = 1000;
/// Most cells of a pair that are counted, and of all pairs.
pub const MOST_CELLS: usize = 4096;
const ALL_CELLS: usize = 1 << 18;

/// A place where values of two columns came together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The node of either column.
    pub at: [usize; 2],
    /// The share of the training rows there.
    pub weight: f64,
}

/// How often the values of two columns came together, at the nodes of both.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// The two columns, the smaller number first.
    pub columns: [u32; 2],
    /// Counts at the nodes in proportion to the largest, the second column the fastest index.
    pub counts: Vec<u16>,
}

impl Together {
    /// Counts rows: each is shared among the four nodes around it.
    pub fn count(columns: [u32; 2], nodes: [&[f32]; 2], rows: impl Iterator<Item = [f32; 2]>) -> Self {
        let across = nodes[1].len();
        let mut counts = vec![0.0f64; nodes[0].len() * across];
        for [x, y] in rows {
            let ((i, a), (j, b)) = (locate(f64::from(x), nodes[0]), locate(f64::from(y), nodes[1]));
            for (di, wa) in [(0, 1.0 - a), (1, a)] {
                for (dj, wb) in [(0, 1.0 - b), (1, b)] {
                    counts[(i + di) * across + j + dj] += wa * wb;
                }
            }
        }
        let largest = counts.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let counts =
            counts.iter().map(|count| (count / largest * f64::from(u16::MAX)).round() as u16).collect();
        Self { columns, counts }
    }
}

/// How many rows two columns have at their nodes: each row counts at the nearest ones. Categories and few values are their own nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct Counts {
    /// The two columns, the smaller number first.
    pub columns: [u32; 2],
    /// The nodes of either column, ascending, and how many rows are there, at least one.
    pub cells: Vec<([u16; 2], u32)>,
    /// How many more rows there are, in cells that are left out.
    pub rest: u32,
}

impl Counts {
    /// Counts rows. Of very many cells, those with the most rows are kept.
    pub fn count(columns: [u32; 2], nodes: [&[f32]; 2], rows: impl Iterator<Item = [f32; 2]>) -> Self {
        let nearest = |x: f32, nodes: &[f32]| {
            let (node, share) = locate(f64::from(x), nodes);
            (node + usize::from(share > 0.5)) as u16
        };
        let mut counts: BTreeMap<[u16; 2], u32> = BTreeMap::new();
        for [x, y] in rows {
            *counts.entry([nearest(x, nodes[0]), nearest(y, nodes[1])]).or_default() += 1;
        }
        let mut counts = Self { columns, cells: counts.into_iter().collect(), rest: 0 };
        counts.keep(MOST_CELLS);
        counts
    }

    /// Keeps the cells with the most rows, in their order.
    fn keep(&mut self, most: usize) {
        if self.cells.len() > most {
            self.cells.sort_by_key(|(at, rows)| (std::cmp::Reverse(*rows), *at));
            self.rest += self.cells.drain(most..).map(|(_, rows)| rows).sum::<u32>();
            self.cells.sort_unstable();
        }
    }

    /// How many rows are at two nodes, unless that is not known.
    pub fn rows_at(&self, at: [u16; 2]) -> Option<u32> {
        match self.cells.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(cell) => Some(self.cells[cell].1),
            Err(_) => (self.rest == 0).then_some(0),
        }
    }

    /// Leaves out the rarest cells of pairs that have the most, until there are not too many in all.
    pub fn bound(all: &mut [Self]) {
        let mut most = MOST_CELLS;
        while all.iter().map(|counts| counts.cells.len()).sum::<usize>() > ALL_CELLS {
            most /= 2;
            all.iter_mut().for_each(|counts| counts.keep(most));
        }
    }

    /// Whether every cell is in place and has rows, and the nodes are among so many.
    pub fn is_sane(&self, nodes: [usize; 2]) -> bool {
        !self.cells.is_empty()
            && self.cells.windows(2).all(|two| two[0].0 < two[1].0)
            && self
                .cells
                .iter()
                .all(|(at, rows)| *rows > 0 && usize::from(at[0]) < nodes[0] && usize::from(at[1]) < nodes[1])
    }
}

impl Profile {
    /// The counts of two columns, ascending, if there are any.
    pub fn counts_of(&self, columns: [usize; 2]) -> Option<&Counts> {
        let columns = columns.map(|column| column as u32);
        let found = self.counts.binary_search_by_key(&columns, |counts| counts.columns).ok()?;
        Some(&self.counts[found])
    }

    /// Where the training rows are among given nodes of two columns, without the cells that have none: as they were counted,
    /// or as if the columns knew nothing of each other. The shares add up to 1.
    pub fn joint(&self, columns: [usize; 2], nodes: [&[f32]; 2]) -> Vec<Cell> {
        if let Some(counts) = self.counts_of(columns) {
            let total: f64 = counts.cells.iter().map(|(_, rows)| f64::from(*rows)).sum();
            let cell = |(at, rows): &([u16; 2], u32)| Cell {
                at: at.map(usize::from),
                weight: f64::from(*rows) / total,
            };
            return counts.cells.iter().map(cell).collect();
        }
        let spreads = columns.map(|column| &self.columns[column]);
        let known =
            self.pairs.binary_search_by_key(&columns.map(|column| column as u32), |pair| pair.columns);
        if let Ok(pair) = known {
            let counted = spreads.map(Spread::nodes);
            let across = counted[1].len();
            let cells = self.pairs[pair].counts.iter().enumerate().filter(|(_, count)| **count > 0);
            return shared(
                nodes,
                cells.map(|(cell, &count)| {
                    ([counted[0][cell / across], counted[1][cell % across]], f64::from(count))
                }),
            );
        }
        let [first, second] = [0, 1].map(|side| {
            let mut margin = vec![0.0; nodes[side].len()];
            for (value, weight) in spreads[side].weights() {
                let (node, share) = locate(f64::from(value), nodes[side]);
                margin[node] += weight * (1.0 - share);
                margin[node + 1] += weight * share;
            }
            nodes[side].iter().copied().zip(margin).filter(|(_, share)| *share > 0.0).collect::<Vec<_>>()
        });
        shared(nodes, first.iter().flat_map(|&(x, a)| second.iter().map(move |&(y, b)| ([x, y], a * b))))
    }
}

/// Shares places with weights among the nodes around each.
fn shared(nodes: [&[f32]; 2], places: impl Iterator<Item = ([f32; 2], f64)>) -> Vec<Cell> {
    let mut cells: BTreeMap<[usize; 2], f64> = BTreeMap::new();
    for (place, weight) in places {
        let [(i, a), (j, b)] = [0, 1].map(|side| locate(f64::from(place[side]), nodes[side]));
        for (di, wa) in [(0, 1.0 - a), (1, a)] {
            for (dj, wb) in [(0, 1.0 - b), (1, b)] {
                if wa * wb * weight > 0.0 {
                    *cells.entry([i + di, j + dj]).or_default() += wa * wb * weight;
                }
            }
        }
    }
    let total: f64 = cells.values().sum();
    cells.into_iter().map(|(at, weight)| Cell { at, weight: weight / total }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_true_and_the_rarest_cells_are_left_out() {
        let nodes: Vec<f32> = (0..100).map(|i| i as f32 / 50.0 - 1.0).collect();
        let rows = (0..100usize)
            .flat_map(|i| (0..100usize).flat_map(move |j| (0..=usize::from(i == j)).map(move |_| [i, j])));
        let rows = rows.map(|at| at.map(|node| nodes[node]));
        let counts = Counts::count([0, 1], [&nodes, &nodes], rows);
        assert_eq!(counts.cells.len(), MOST_CELLS);
        assert!(counts.is_sane([100, 100]) && !counts.is_sane([100, 99]));
        let twice = counts.cells.iter().filter(|(_, rows)| *rows == 2).map(|(at, _)| at);
        assert!(twice.clone().count() == 100 && twice.clone().all(|at| at[0] == at[1]));
        let mut all = vec![counts; 100];
        Counts::bound(&mut all);
        assert!(all.iter().map(|counts| counts.cells.len()).sum::<usize>() <= ALL_CELLS);
        assert!(all[99].cells.contains(&([7, 7], 2)));
        let rows = |counts: &Counts| counts.rest + counts.cells.iter().map(|(_, rows)| rows).sum::<u32>();
        assert!(all.iter().all(|counts| rows(counts) == 10_100));
        assert_eq!((all[0].rows_at([7, 7]), all[0].rows_at([99, 0])), (Some(2), None));
    }
}
