//! Columns cut into bins, and how many rows two columns have in each pair of them.

use super::column::{Column, FEW, nodes};

/// Most categories that have a bin of their own.
const CATEGORIES: usize = 48;
/// How wide the step from one bin to the next is, of a range of 2.
const STEP: f32 = 1.0 / (1 << 20) as f32;

/// A column cut into bins.
pub struct Bins {
    /// The bin of each row.
    pub of_rows: Vec<u16>,
    /// How many there are.
    pub count: usize,
    /// Where its grids have nodes.
    pub nodes: Vec<f32>,
    /// Of each node the bin.
    pub of_nodes: Vec<u16>,
}

impl Bins {
    /// Bins of about as many rows, or one for each of few values or frequent categories.
    pub fn new(column: &Column) -> Self {
        let most = if column.is_category() { CATEGORIES } else { FEW };
        let (edges, nodes) = match (column.is_category(), column.distinct(most)) {
            // Between places there is nothing, so that an edge may lie anywhere between them.
            (true, _) => {
                let own = column.places.len().min(most);
                let edges: Vec<f32> =
                    column.places[..own].windows(2).map(|two| middle(two[0], two[1])).collect();
                (edges, column.places.clone())
            }
            (false, Some(values)) => {
                (values.windows(2).map(|two| middle(two[0], two[1])).collect(), nodes(values))
            }
            (false, None) => {
                let mut edges: Vec<f32> =
                    (1..most).map(|i| column.quantile(i as f64 / most as f64)).collect();
                edges.dedup();
                // Every bin has a row: the one at its edge, or, in the last one, the largest.
                edges.retain(|&edge| Some(&edge) != column.sorted.last());
                let steps = edges.iter().flat_map(|&edge| [edge, edge + STEP]);
                let nodes = nodes([-1.0, 1.0].into_iter().chain(steps).collect());
                (edges, nodes)
            }
        };
        let bin = |x: &f32| edges.partition_point(|edge| edge < x) as u16;
        let of_nodes = nodes.iter().map(bin).collect();
        Self { of_rows: column.values.iter().map(bin).collect(), count: edges.len() + 1, nodes, of_nodes }
    }

    /// A bin for every place of a column of categories.
    pub fn of_places(column: &Column) -> Self {
        let (nodes, count) = (column.places.clone(), column.places.len());
        let bin = |x: &f32| nodes.partition_point(|place| place < x).min(count - 1) as u16;
        Self {
            of_rows: column.values.iter().map(bin).collect(),
            count,
            of_nodes: (0..count as u16).collect(),
            nodes,
        }
    }
}

fn middle(a: f32, b: f32) -> f32 {
    a + (b - a) / 2.0
}

/// Rows in every pair of bins of two columns.
pub struct Joint {
    across: usize,
    observed: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
    rows: f64,
}

impl Joint {
    /// Counts every row, or one of so many.
    pub fn new(bins: [&Bins; 2], one_of: usize) -> Self {
        let across = bins[1].count;
        let mut counts = vec![0u32; bins[0].count * across];
        for (&a, &b) in bins[0].of_rows.iter().zip(&bins[1].of_rows).step_by(one_of) {
            counts[usize::from(a) * across + usize::from(b)] += 1;
        }
        let observed: Vec<f64> = counts.into_iter().map(f64::from).collect();
        let first = observed.chunks(across).map(|row| row.iter().sum()).collect();
        let second = (0..across).map(|j| observed.iter().skip(j).step_by(across).sum()).collect();
        Self { across, observed, first, second, rows: bins[0].of_rows.len().div_ceil(one_of) as f64 }
    }

    /// How many rows were counted.
    pub fn rows(&self) -> f64 {
        self.rows
    }

    /// The degrees of freedom of independent columns with such bins.
    pub fn freedom(&self) -> f64 {
        ((self.first.len() - 1) * (self.second.len() - 1)) as f64
    }

    /// Rows in a pair of bins: as many as expected if the columns were independent, and as many as there are.
    pub fn cell(&self, a: u16, b: u16) -> [f64; 2] {
        let [a, b] = [a, b].map(usize::from);
        [self.first[a] * self.second[b] / self.rows, self.observed[a * self.across + b]]
    }

    /// The same rows with only two bins of a column: the one named, and all others.
    pub fn of_one(&self, bins: [Option<u16>; 2]) -> Self {
        let total = |bin: Option<u16>, along: &[f64]| match bin {
            Some(bin) => vec![self.rows - along[usize::from(bin)], along[usize::from(bin)]],
            None => along.to_vec(),
        };
        let (first, second) = (total(bins[0], &self.first), total(bins[1], &self.second));
        let row = |a: usize| &self.observed[a * self.across..(a + 1) * self.across];
        // Of the row of a bin those in the bins of the other column.
        let apart = |row: &[f64], rows: f64| match bins[1] {
            Some(bin) => vec![rows - row[usize::from(bin)], row[usize::from(bin)]],
            None => row.to_vec(),
        };
        let observed: Vec<f64> = match bins[0] {
            Some(bin) => {
                let own = apart(row(usize::from(bin)), first[1]);
                let others = second.iter().zip(&own).map(|(all, own)| all - own);
                others.chain(own.iter().copied()).collect()
            }
            None => (0..first.len()).flat_map(|a| apart(row(a), first[a])).collect(),
        };
        Self { across: second.len(), observed, first, second, rows: self.rows }
    }

    /// How much the columns tell of each other, in nats, less what they would by chance.
    pub fn told(&self) -> f64 {
        self.information() - self.freedom() / (2.0 * self.rows)
    }

    /// Mutual information in nats.
    pub fn information(&self) -> f64 {
        let term = |count: f64| if count > 0.0 { count * libm::log(count) } else { 0.0 };
        let sum = |counts: &[f64]| counts.iter().map(|&count| term(count)).sum::<f64>();
        ((sum(&self.observed) - sum(&self.first) - sum(&self.second)) / self.rows + libm::log(self.rows))
            .max(0.0)
    }
}
