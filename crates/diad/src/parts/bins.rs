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

    /// A bin for each of some categories of a column, in their order, and a last one for all others.
    pub fn of_categories(column: &Column, categories: impl Iterator<Item = u16>) -> Self {
        let nodes = column.places.clone();
        let mut of_nodes = vec![None; nodes.len()];
        let mut own = 0;
        for category in categories {
            of_nodes[usize::from(category)] = Some(own);
            own += 1;
        }
        let of_nodes: Vec<u16> = of_nodes.into_iter().map(|bin| bin.unwrap_or(own)).collect();
        let bin = |x: &f32| of_nodes[nodes.partition_point(|place| place < x).min(nodes.len() - 1)];
        let of_rows = column.values.iter().map(bin).collect();
        Self { of_rows, count: usize::from(own) + 1, nodes, of_nodes }
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

    /// As [`Joint::told`], of the same rows with only two bins of a column: the one named, and all others.
    pub fn told_of_one(&self, bins: [Option<usize>; 2], terms: &Terms) -> f64 {
        let row = |a: usize| &self.observed[a * self.across..(a + 1) * self.across];
        let observed = match bins {
            [Some(a), Some(b)] => {
                let (rows, both) = (self.first[a], row(a)[b]);
                let others = self.second[b];
                terms.sum([self.rows - others - (rows - both), others - both, rows - both, both])
            }
            [Some(a), None] => {
                let others = self.second.iter().zip(row(a)).map(|(all, own)| all - own);
                terms.sum(others.chain(row(a).iter().copied()))
            }
            [None, Some(b)] => {
                let rows = self.first.iter().zip(self.observed.iter().skip(b).step_by(self.across));
                terms.sum(rows.flat_map(|(all, own)| [all - own, *own]))
            }
            [None, None] => terms.sum(self.observed.iter().copied()),
        };
        let total = |bin: Option<usize>, along: &[f64]| match bin {
            Some(bin) => (terms.sum([self.rows - along[bin], along[bin]]), 2),
            None => (terms.sum(along.iter().copied()), along.len()),
        };
        let ((first, a), (second, b)) = (total(bins[0], &self.first), total(bins[1], &self.second));
        self.told_by([observed, first, second], ((a - 1) * (b - 1)) as f64)
    }

    /// How much the columns tell of each other, in nats, less what they would by chance.
    pub fn told(&self) -> f64 {
        self.told_by(self.sums(), self.freedom())
    }

    /// Mutual information in nats.
    pub fn information(&self) -> f64 {
        self.information_by(self.sums())
    }

    fn sums(&self) -> [f64; 3] {
        [&self.observed, &self.first, &self.second]
            .map(|counts| counts.iter().map(|&count| term(count)).sum())
    }

    fn told_by(&self, sums: [f64; 3], freedom: f64) -> f64 {
        self.information_by(sums) - freedom / (2.0 * self.rows)
    }

    /// From the sums of the terms of all cells, and of the rows in the bins of each column.
    fn information_by(&self, [observed, first, second]: [f64; 3]) -> f64 {
        ((observed - first - second) / self.rows + libm::log(self.rows)).max(0.0)
    }
}

/// What a count adds to an entropy: itself times its logarithm.
fn term(count: f64) -> f64 {
    if count > 0.0 { count * libm::log(count) } else { 0.0 }
}

/// The terms of all counts up to one, worked out once.
pub struct Terms(Vec<f64>);

impl Terms {
    /// Of counts of so many rows.
    pub fn up_to(rows: usize) -> Self {
        Self((0..=rows).map(|count| term(count as f64)).collect())
    }

    fn sum(&self, counts: impl IntoIterator<Item = f64>) -> f64 {
        counts.into_iter().map(|count| self.0[count as usize]).sum()
    }
}
