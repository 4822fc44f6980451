//! A sample of the rows of a table, and the asinh scales that it gives.

use crate::encode::column::Asinh;
use crate::rng::{Purpose, Stream};
use crate::table::{Table, Values};

/// Most cells kept of a table to find medians and spreads.
const SAMPLE_CELLS: usize = 4 << 20;

/// A uniform sample of the rows of a stream, the same every time.
pub(super) struct RowSample {
    width: usize,
    capacity: usize,
    seen: usize,
    values: Vec<f64>,
    random: Stream,
}

impl RowSample {
    pub(super) fn new(width: usize) -> Self {
        let capacity = (SAMPLE_CELLS / width).clamp(2_000, 20_000);
        Self { width, capacity, seen: 0, values: Vec::new(), random: Stream::new(0, Purpose::Sample, 0) }
    }

    pub(super) fn add(&mut self, batch: &Table) {
        let columns: Vec<Option<&[f64]>> = (0..self.width)
            .map(|index| match batch.values(index) {
                Values::Numbers(values) | Values::Times(values) | Values::Encoded(values) => {
                    Some(values.as_slice())
                }
                Values::Texts(_) => None,
            })
            .collect();
        for row in 0..batch.rows() {
            let cells = columns.iter().map(|column| column.map_or(f64::NAN, |values| values[row]));
            if self.seen < self.capacity {
                self.values.extend(cells);
            } else {
                let slot = self.random.below(self.seen + 1);
                if slot < self.capacity {
                    let slots = &mut self.values[slot * self.width..(slot + 1) * self.width];
                    slots.iter_mut().zip(cells).for_each(|(slot, cell)| *slot = cell);
                }
            }
            self.seen += 1;
        }
    }

    /// The numbers of a column that are not missing, in ascending order.
    pub(super) fn column(&self, index: usize) -> Vec<f64> {
        let values = self.values.iter().skip(index).step_by(self.width).copied();
        let mut values: Vec<f64> = values.filter(|value| value.is_finite()).collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }
}

/// The asinh scale of a column: from its median over four interquartile ranges, or standard deviations where more than
/// half of the values are the same. Nothing for columns of one or two values. The values are in ascending order.
pub(super) fn find_asinh(values: &[f64]) -> Option<Asinh> {
    let mut distinct = values.to_vec();
    distinct.dedup();
    if distinct.len() <= 2 {
        return None;
    }
    let quantile = |share: f64| values[(share * (values.len() - 1) as f64) as usize];
    let (median, range) = (quantile(0.5), quantile(0.75) - quantile(0.25));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    let spread = 4.0 * if range > 0.0 { range } else { deviation };
    (spread.is_normal() && median.is_finite()).then_some(Asinh { median, spread })
}
