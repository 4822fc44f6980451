//! How the values of columns are spread in new rows.

use serde::{Deserialize, Serialize};

use crate::encode::{Column, Kind, Oddity, Scaler};
use crate::explain::Explainer;
use crate::profile::Spread;

/// Cells that the values of a column are counted in, at most, beside those for gaps and unknown categories.
const CELLS: usize = 16;
/// Fewest rows that a cell of the test must expect.
const LEAST_EXPECTED: f64 = 5.0;
/// Most values of a column that are kept for its median.
const KEPT: usize = 4096;
/// Training rows that a model remembers, at most.
const REMEMBERED: f64 = 65_536.0;

/// The cells of a column.
#[derive(Debug, Clone)]
enum Cells {
    /// Numbers in the scale of the column's first feature: a cell ends at each of these, and one goes on beyond.
    Numbers(Vec<f32>),
    /// A cell for each of the most frequent categories and one for all others.
    Categories(usize),
}

/// The values of a column as they are counted.
#[derive(Debug, Clone)]
pub struct Tally {
    cells: Cells,
    /// The share of the training rows in each cell.
    expected: Vec<f64>,
    range: [f64; 2],
    positions: usize,
    pub counts: Counts,
}

/// Counts of the values of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Rows in each cell.
    found: Vec<u64>,
    rows: u64,
    pub missing: u64,
    pub unreadable: u64,
    pub unseen: u64,
    pub below: u64,
    pub above: u64,
    /// Every so many values, one is kept.
    every: u64,
    kept: Vec<f64>,
}

/// What the counts say.
pub struct Found {
    /// The share of the rows that lie elsewhere.
    pub moved: f64,
    /// How likely so large a difference would be if nothing had changed.
    pub p: f64,
    /// The quartiles of new values.
    pub quartiles: Option<[f64; 3]>,
}

impl Tally {
    pub fn new(column: &Column, spread: &Spread, training_rows: u64) -> Self {
        let rows = training_rows.max(1) as f64;
        let gaps = column.gaps.map_or(0.0, |gaps| gaps.rows as f64 / rows);
        let (cells, mut expected) = match &column.kind {
            Kind::Category { levels, .. } => {
                let own = levels.len().min(CELLS);
                let mut shares: Vec<f64> =
                    levels[..own].iter().map(|level| level.rows as f64 / rows).collect();
                shares.push((1.0 - shares.iter().sum::<f64>()).max(0.0));
                (Cells::Categories(own), shares)
            }
            _ => {
                let edges = edges(spread);
                let ends: Vec<f64> = edges.iter().map(|&edge| spread.up_to(edge)).chain([1.0]).collect();
                let mut before = 0.0;
                let share = |end: f64| {
                    let share = (end - before).max(0.0);
                    before = end;
                    share
                };
                (Cells::Numbers(edges), ends.into_iter().map(share).collect())
            }
        };
        // A gap of a number is a value of its own; the median that stands in for it is not.
        if let Cells::Numbers(edges) = &cells {
            let middle = edges.partition_point(|&edge| edge < spread.quantile(0.5));
            expected[middle] = (expected[middle] - gaps).max(0.0);
        }
        expected.push(gaps);
        Self {
            counts: Counts::new(expected.len()),
            cells,
            expected,
            range: [column.min, column.max],
            positions: column.positions(),
        }
    }

    /// Counts some values.
    pub fn add(&mut self, column: &Column, scaler: &Scaler, values: &[f64]) {
        let counts = &mut self.counts;
        let gap = counts.found.len() - 1;
        for &value in values {
            let row = counts.rows;
            counts.rows += 1;
            if !value.is_finite() {
                match column.oddity(value) {
                    Some(Oddity::Unreadable | Oddity::Infinite) => counts.unreadable += 1,
                    _ => counts.missing += 1,
                }
                counts.found[gap] += 1;
                continue;
            }
            let cell = match &self.cells {
                Cells::Categories(own) => {
                    counts.unseen += u64::from(value as usize >= self.positions);
                    (value as usize).min(*own)
                }
                Cells::Numbers(edges) => {
                    counts.below += u64::from(value < self.range[0]);
                    counts.above += u64::from(value > self.range[1]);
                    let x = scaler.scale(value);
                    edges.partition_point(|&edge| edge < x)
                }
            };
            counts.found[cell] += 1;
            if self.positions == 0 && row.is_multiple_of(counts.every) {
                counts.keep(value);
            }
        }
    }

    /// Compares the counts with the training: a test of χ² over the cells, and the share of rows that lie elsewhere.
    pub fn compare(&self, training_rows: u64) -> Found {
        let rows = self.counts.rows.max(1) as f64;
        let known = (training_rows as f64).clamp(1.0, REMEMBERED);
        let (mut moved, mut statistic, mut cells) = (0.0, 0.0, 0.0);
        let (mut lacking, mut found_lacking) = (0.0, 0.0);
        // Both the training and the new rows are samples.
        let mut add = |share: f64, found: f64| {
            let (expected, before) = (share * rows, share * known);
            statistic += known / rows * (found - expected) * (found - expected) / (found + before);
            cells += 1.0;
        };
        for (&share, &found) in self.expected.iter().zip(&self.counts.found) {
            moved += (found as f64 / rows - share).abs() / 2.0;
            if share * rows.min(known) < LEAST_EXPECTED {
                lacking += share;
                found_lacking += found as f64;
            } else {
                add(share, found as f64);
            }
        }
        if lacking * rows + found_lacking > LEAST_EXPECTED {
            add(lacking, found_lacking);
        }
        let mut sorted = self.counts.kept.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let quartile = |share: f64| sorted[(share * (sorted.len() - 1) as f64).round() as usize];
        Found {
            moved,
            p: if cells > 1.0 { chi_squared(statistic, cells - 1.0) } else { 1.0 },
            quartiles: (!sorted.is_empty()).then(|| [0.25, 0.5, 0.75].map(quartile)),
        }
    }
}

impl Counts {
    fn new(cells: usize) -> Self {
        Self {
            found: vec![0; cells],
            rows: 0,
            missing: 0,
            unreadable: 0,
            unseen: 0,
            below: 0,
            above: 0,
            every: 1,
            kept: Vec::new(),
        }
    }

    /// How many rows were counted.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Keeps a value; half of them go when there are too many.
    fn keep(&mut self, value: f64) {
        self.kept.push(value);
        if self.kept.len() == KEPT {
            self.halve();
        }
    }

    fn halve(&mut self) {
        let mut place = 0;
        self.kept.retain(|_| {
            place += 1;
            place % 2 == 1
        });
        self.every *= 2;
    }

    /// Whether these are counts in the same cells.
    pub fn is_like(&self, other: &Self) -> bool {
        self.found.len() == other.found.len() && other.every.is_power_of_two()
    }

    /// Adds the counts of other rows. Of the values that are kept, each stands for as many as any other.
    pub fn append(&mut self, mut more: Self) {
        self.found.iter_mut().zip(&more.found).for_each(|(own, more)| *own += more);
        self.rows += more.rows;
        self.missing += more.missing;
        self.unreadable += more.unreadable;
        self.unseen += more.unseen;
        self.below += more.below;
        self.above += more.above;
        while self.every < more.every {
            self.halve();
        }
        while more.every < self.every {
            more.halve();
        }
        self.kept.append(&mut more.kept);
        while self.kept.len() >= KEPT {
            self.halve();
        }
    }
}

/// Where cells end: values that the spread knows, so that the share up to each is exact.
fn edges(spread: &Spread) -> Vec<f32> {
    let values = spread.values();
    if values.len() <= CELLS {
        return values[..values.len() - 1].to_vec();
    }
    let wanted = (1..CELLS).map(|cell| cell as f64 / CELLS as f64);
    let mut edges: Vec<f32> = wanted
        .map(|share| {
            let next = values.partition_point(|&value| spread.up_to(value) < share);
            values[next.min(values.len() - 2)]
        })
        .collect();
    edges.dedup();
    edges
}

/// The training's quartiles of a column, in its own units.
pub fn training_quartiles(explainer: &Explainer, column: usize, scaler: &Scaler) -> [f64; 3] {
    let spread = &explainer.detector().profile().columns[column];
    [0.25, 0.5, 0.75].map(|share| scaler.original(spread.quantile(share)))
}

/// The share of a χ² distribution beyond a value (Wilson and Hilferty).
pub fn chi_squared(value: f64, freedom: f64) -> f64 {
    let spread = 2.0 / (9.0 * freedom);
    let z = (libm::cbrt(value / freedom) - (1.0 - spread)) / spread.sqrt();
    upper_tail(z)
}

/// The share of a normal distribution beyond a value.
pub fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From SciPy 1.11: `scipy.stats.chi2.sf`.
    #[test]
    fn shares_of_chi_squared_are_close() {
        for (value, freedom, expected) in
            [(3.841, 1.0, 0.05), (18.307, 10.0, 0.05), (25.0, 15.0, 0.04995), (37.7, 15.0, 0.001)]
        {
            let found = chi_squared(value, freedom);
            assert!((found / expected - 1.0).abs() < 0.1, "{value}: {found}");
        }
    }

    #[test]
    fn cells_end_at_values_of_the_training() {
        let sorted: Vec<f32> = (0..1000).map(|i| i as f32 / 1000.0).collect();
        let spread = Spread::of_sorted(&sorted);
        let edges = edges(&spread);
        assert!((10..CELLS).contains(&edges.len()), "{edges:?}");
        for edge in edges {
            let plain = sorted.iter().filter(|&&value| value <= edge).count() as f64 / 1000.0;
            assert!((spread.up_to(edge) - plain).abs() < 1e-6);
        }
        assert_eq!(super::edges(&Spread::of_sorted(&[0.0, 0.0, 1.0])), [0.0]);
    }
}
