//! What a sample of rows tells of one column.

use crate::function::spaced;

/// Arguments of the hyperbolic sine are no larger, so that its squares are finite numbers.
const FURTHEST: f64 = 350.0;

/// A column with no more values than this has few: each is told apart from the others. Others are cut into as many bins.
pub const FEW: usize = 12;

/// Equal parts of the range in which rows are counted to tell how uneven a column is; columns of two values have two.
const BINS: usize = 32;

/// A column of the sample.
pub struct Column {
    /// Its values, row by row.
    pub values: Vec<f32>,
    /// Its values in ascending order.
    pub sorted: Vec<f32>,
    /// Where its categories lie, and last one that the training did not have; none for numbers.
    pub places: Vec<f32>,
    /// How many rows of the table lie at each place, or have a value and have none, where that is known.
    pub counts: Vec<u64>,
    /// Its asinh scale, if it has one: the lower end and half the length.
    asinh: Option<[f64; 2]>,
    /// Whether its values are places in time.
    pub is_date: bool,
    /// Whether its values say which values of another column are missing.
    pub is_mark: bool,
}

impl Column {
    /// A column of numbers.
    pub fn of_numbers(values: Vec<f32>, asinh: Option<[f64; 2]>) -> Self {
        Self { asinh, ..Self::of_categories(values, Vec::new()) }
    }

    /// A column that says which values of another one are missing.
    pub fn of_marks(values: Vec<f32>) -> Self {
        Self { is_mark: true, ..Self::of_numbers(values, None) }
    }

    /// A column of places in time.
    pub fn of_dates(values: Vec<f32>, asinh: Option<[f64; 2]>) -> Self {
        Self { is_date: true, ..Self::of_numbers(values, asinh) }
    }

    /// A column of categories that lie at certain places.
    pub fn of_categories(values: Vec<f32>, places: Vec<f32>) -> Self {
        let mut sorted = values.clone();
        sorted.sort_unstable_by(f32::total_cmp);
        Self { values, sorted, places, counts: Vec::new(), asinh: None, is_date: false, is_mark: false }
    }

    /// How much a column counts, from 0 to 1: the standard deviation of the logarithm of the rows around a row. Next to nothing
    /// for uniform noise, about 0.7 for a normal column.
    pub fn unevenness(&self) -> f64 {
        let bins = if self.distinct(2).is_some() { 2 } else { BINS };
        let bin = |x: f32| (((f64::from(x) + 1.0) / 2.0 * bins as f64).max(0.0) as usize).min(bins - 1);
        let mut rows = vec![0.0f64; bins];
        self.values.iter().for_each(|&x| rows[bin(x)] += 1.0);
        unevenness(&rows)
    }

    /// Whether it has more than one value.
    pub fn varies(&self) -> bool {
        self.sorted.first() != self.sorted.last()
    }

    /// Whether the rows of the table have more than one value: the sample, or all of them where they were counted.
    pub fn varies_in_table(&self) -> bool {
        self.varies() || self.counts.iter().filter(|&&rows| rows > 0).count() > 1
    }

    /// Whether its values are categories.
    pub fn is_category(&self) -> bool {
        !self.places.is_empty()
    }

    /// How many rows have a value below `x`, and how many one up to it.
    pub fn ranks(&self, x: f32) -> [usize; 2] {
        [self.sorted.partition_point(|&v| v < x), self.sorted.partition_point(|&v| v <= x)]
    }

    /// The value that a share of the others do not exceed.
    pub fn quantile(&self, share: f64) -> f32 {
        self.sorted[(share * (self.sorted.len() - 1) as f64).round() as usize]
    }

    /// The nodes of a side of a grid: each of few values and every category, or so many places between which equally many rows
    /// lie, and half as many equally spaced ones.
    pub fn side(&self, by_rows: usize) -> Vec<f32> {
        if self.is_category() {
            return self.places.clone();
        }
        if let Some(values) = self.distinct(by_rows) {
            return nodes(values);
        }
        let quantiles = (0..by_rows).map(|i| self.quantile(i as f64 / (by_rows - 1) as f64));
        nodes(quantiles.chain(spaced(by_rows / 2)).collect())
    }

    /// Its distinct values, if there are no more than `most`.
    pub fn distinct(&self, most: usize) -> Option<Vec<f32>> {
        let mut distinct = Vec::new();
        let mut rest = &self.sorted[..];
        while let Some(&value) = rest.first() {
            if distinct.len() == most {
                return None;
            }
            distinct.push(value);
            rest = &rest[rest.partition_point(|&v| v <= value)..];
        }
        Some(distinct)
    }

    /// A value in the scale in which the column was given, up to a factor and a constant.
    pub fn plain(&self, value: f32) -> f64 {
        let value = f64::from(value);
        match self.asinh {
            Some([start, rate]) => libm::sinh((rate * (value + 1.0) + start).clamp(-FURTHEST, FURTHEST)),
            None => value,
        }
    }

    /// From the scale of [`Column::plain`] back to the column's own.
    pub fn scaled(&self, plain: f64) -> f32 {
        match self.asinh {
            Some([start, rate]) => ((libm::asinh(plain) - start) / rate - 1.0) as f32,
            None => plain as f32,
        }
    }

    /// How fast the column's own scale follows the logarithm of a distance far out.
    pub fn rate(&self) -> f64 {
        self.asinh.map_or(1.0, |[_, rate]| rate)
    }
}

/// How uneven a column is, from the rows in each of its bins.
pub fn unevenness(bins: &[f64]) -> f64 {
    let n = bins.iter().sum::<f64>();
    let mean = bins.iter().map(|rows| rows / n * libm::log(rows + 1.0)).sum::<f64>();
    let square = |rows: &f64| rows / n * (libm::log(rows + 1.0) - mean) * (libm::log(rows + 1.0) - mean);
    bins.iter().map(square).sum::<f64>().sqrt().min(1.0)
}

/// Nodes in ascending order, each once, and at least two.
pub fn nodes(mut nodes: Vec<f32>) -> Vec<f32> {
    nodes.sort_unstable_by(f32::total_cmp);
    nodes.dedup();
    if nodes.len() < 2 {
        nodes.push(nodes.first().map_or(1.0, |node| node + 1.0));
    }
    nodes
}
