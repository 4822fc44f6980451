//! Columns to the scaled matrix the model sees, and back to words.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::params::Scale;
use crate::rng::{Purpose, Stream};
use crate::table::{Selection, Source, Table};
use crate::{Error, Result};

/// Scaled values stay within this, so that none is infinite as a 32-bit number.
const LARGEST_SCALED: f64 = 1e30;

/// Rows encoded at a time.
const BLOCK_ROWS: usize = 64;

/// Most cells kept of a table to find medians and spreads.
const SAMPLE_CELLS: usize = 4 << 20;

/// Rows of scaled features, row after row: what the model is trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Features per row.
    pub width: usize,
    /// `rows × width` values.
    pub values: Vec<f32>,
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.values.len().checked_div(self.width).unwrap_or(0)
    }
    /// One row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

/// How a feature is bent: proportional near the median, logarithmic beyond the spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bend {
    /// The median of the training values.
    pub median: f64,
    /// The distance from the median at which the logarithm takes over.
    pub spread: f64,
}

impl Bend {
    fn apply(&self, value: f64) -> f64 {
        libm::asinh(value / self.spread - self.median / self.spread)
    }
}

/// One feature's name and range in the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// The column's name.
    pub name: String,
    /// Smallest training value, scaled to -1.
    pub min: f64,
    /// Largest training value, scaled to 1.
    pub max: f64,
    /// How it is bent in between; nothing: linear.
    pub bend: Option<Bend>,
}

impl Feature {
    /// Scales a value: the training range becomes [-1, 1]. Values outside of it are scaled by the same
    /// line, not clipped. Where all training values are the same, that value becomes -1.
    ///
    /// ```
    /// let age = diad::encode::Feature { name: "age".into(), min: 20.0, max: 60.0, bend: None };
    /// assert_eq!([20.0, 30.0, 60.0, 80.0].map(|value| age.scale(value)), [-1.0, -0.5, 1.0, 2.0]);
    /// ```
    pub fn scale(&self, value: f64) -> f32 {
        let (min, max, value) = match &self.bend {
            Some(bend) => (bend.apply(self.min), bend.apply(self.max), bend.apply(value)),
            None => (self.min, self.max, value),
        };
        let range = max - min;
        let share = if max == min {
            value - min
        } else if range.is_finite() {
            (value - min) / range
        } else {
            (value / 2.0 - min / 2.0) / (max / 2.0 - min / 2.0)
        };
        (share * 2.0 - 1.0).clamp(-LARGEST_SCALED, LARGEST_SCALED) as f32
    }
}

/// Knows which columns are features and how each is scaled.
///
/// ```
/// use diad::encode::Encoder;
/// use diad::{Scale, table::Table};
///
/// let names = vec!["id".into(), "height".into()];
/// let table = Table::new(names, vec![vec![7.0, 8.0, 9.0], vec![1.5, 2.0, 1.75]])?;
/// let encoder = Encoder::fit(&table, &["id"], Scale::Linear)?;
/// assert_eq!(encoder.features()[0].name, "height");
/// assert_eq!(encoder.encode(&table)?.values, [-1.0, 1.0, 0.0]);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    features: Vec<Feature>,
}

impl Encoder {
    /// Gathers the ranges of all columns but the `ignored` ones in one streaming pass.
    ///
    /// # Errors
    /// If a feature has a missing or infinite value, if all are constant, or if there are fewer than two
    /// rows or no features.
    pub fn fit(source: &dyn Source, ignored: &[&str], scale: Scale) -> Result<Self> {
        Ok(Self::fit_counting(source, ignored, scale)?.0)
    }

    /// Fits an encoder and encodes the same source with it: two streaming passes, and no memory beyond
    /// the matrix and a batch.
    ///
    /// # Errors
    /// As [`Encoder::fit`], or if the matrix does not fit into memory.
    pub fn fit_encode(source: &dyn Source, ignored: &[&str], scale: Scale) -> Result<(Self, Matrix)> {
        let (encoder, rows) = Self::fit_counting(source, ignored, scale)?;
        let matrix = encoder.fill(source, rows)?;
        Ok((encoder, matrix))
    }

    /// The features, in the order the model sees them.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Whether every range is one that fitting could have found; false for a made-up model file.
    pub(crate) fn is_valid(&self) -> bool {
        let bent = |b: &Bend| b.median.is_finite() && b.spread.is_normal() && b.spread > 0.0;
        let ordered = |f: &Feature| {
            f.min.is_finite() && f.max.is_finite() && f.min <= f.max && f.bend.as_ref().is_none_or(bent)
        };
        let names: HashSet<&str> = self.features.iter().map(|feature| feature.name.as_str()).collect();
        !names.is_empty() && names.len() == self.features.len() && self.features.iter().all(ordered)
    }

    /// What to read from a table: the features, nothing else.
    pub fn selection(&self) -> Selection {
        Selection::only(self.features.iter().map(|feature| feature.name.as_str()))
    }

    /// Encodes a whole source.
    ///
    /// # Errors
    /// If a column is missing, a value is missing or infinite, or the matrix does not fit into memory.
    pub fn encode(&self, source: &dyn Source) -> Result<Matrix> {
        let rows = match source.open(&self.selection())?.rows() {
            Some(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
            None => count_rows(source)?,
        };
        self.fill(source, rows)
    }

    /// Encodes one batch, appending to `out`. Columns are found by name, whatever their order.
    ///
    /// # Errors
    /// Names the columns that are missing, or the first value that is missing or infinite.
    pub fn encode_batch(&self, batch: &Table, out: &mut Vec<f32>) -> Result<()> {
        let positions: HashMap<&str, usize> =
            batch.names().iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let lacking = |feature: &&Feature| !positions.contains_key(feature.name.as_str());
        let missing: Vec<String> =
            self.features.iter().filter(lacking).map(|feature| feature.name.clone()).collect();
        if !missing.is_empty() {
            return Err(Error::MissingColumns { names: missing });
        }
        let columns: Vec<&[f64]> =
            self.features.iter().map(|feature| batch.column(positions[feature.name.as_str()])).collect();
        for (feature, column) in self.features.iter().zip(&columns) {
            check_finite(batch, &feature.name, column)?;
        }
        let (start, width) = (out.len(), self.features.len());
        out.resize(start + batch.rows() * width, 0.0);
        // Blocks of rows that stay in the cache while the columns are written across them.
        for (block, rows) in out[start..].chunks_mut(BLOCK_ROWS * width).enumerate() {
            for (offset, (feature, column)) in self.features.iter().zip(&columns).enumerate() {
                let slots = rows[offset..].iter_mut().step_by(width);
                slots
                    .zip(&column[block * BLOCK_ROWS..])
                    .for_each(|(slot, &value)| *slot = feature.scale(value));
            }
        }
        Ok(())
    }

    fn fit_counting(source: &dyn Source, ignored: &[&str], scale: Scale) -> Result<(Self, usize)> {
        let mut reader = source.open(&Selection::except(ignored))?;
        let start = |name: &String| Feature {
            name: name.clone(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            bend: None,
        };
        let mut features: Vec<Feature> = reader.names().iter().map(start).collect();
        if features.is_empty() {
            return Err(Error::NoFeatures);
        }
        let mut rows = 0;
        let mut sample = RowSample::new(features.len());
        while let Some(batch) = reader.next_batch()? {
            for (index, feature) in features.iter_mut().enumerate() {
                let column = batch.column(index);
                check_finite(&batch, &feature.name, column)?;
                feature.min = column.iter().copied().fold(feature.min, f64::min);
                feature.max = column.iter().copied().fold(feature.max, f64::max);
            }
            if scale == Scale::Bent {
                sample.add(&batch);
            }
            rows += batch.rows();
        }
        if rows < 2 {
            return Err(Error::TooFewRows { rows });
        }
        if features.iter().all(|feature| feature.min == feature.max) {
            return Err(Error::AllConstant);
        }
        if scale == Scale::Bent {
            for (index, feature) in features.iter_mut().enumerate() {
                feature.bend = find_bend(sample.column(index));
            }
        }
        Ok((Self { features }, rows))
    }

    fn fill(&self, source: &dyn Source, rows: usize) -> Result<Matrix> {
        let width = self.features.len();
        let mut values = Vec::new();
        let count = rows.saturating_mul(width);
        let reserved = values.try_reserve_exact(count);
        reserved.map_err(|_| Error::Memory { bytes: count.saturating_mul(size_of::<f32>()) })?;
        let mut reader = source.open(&self.selection())?;
        while let Some(batch) = reader.next_batch()? {
            self.encode_batch(&batch, &mut values)?;
        }
        Ok(Matrix { width, values })
    }
}

/// A uniform sample of the rows of a stream, the same every time.
struct RowSample {
    width: usize,
    capacity: usize,
    seen: usize,
    values: Vec<f64>,
    random: Stream,
}

impl RowSample {
    fn new(width: usize) -> Self {
        let capacity = (SAMPLE_CELLS / width).clamp(2_000, 20_000);
        Self { width, capacity, seen: 0, values: Vec::new(), random: Stream::new(0, Purpose::Sample, 0) }
    }

    fn add(&mut self, batch: &Table) {
        for row in 0..batch.rows() {
            let cells = (0..self.width).map(|column| batch.column(column)[row]);
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

    fn column(&self, index: usize) -> Vec<f64> {
        self.values.iter().skip(index).step_by(self.width).copied().collect()
    }
}

/// How a column is bent: from its median over four interquartile ranges, or standard deviations where more than
/// half of the values are the same. Nothing for columns of one or two values.
fn find_bend(mut values: Vec<f64>) -> Option<Bend> {
    values.sort_by(f64::total_cmp);
    let mut distinct = values.clone();
    distinct.dedup();
    if distinct.len() <= 2 {
        return None;
    }
    let quantile = |share: f64| values[(share * (values.len() - 1) as f64) as usize];
    let (median, range) = (quantile(0.5), quantile(0.75) - quantile(0.25));
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let deviation = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt();
    let spread = 4.0 * if range > 0.0 { range } else { deviation };
    (spread.is_normal() && median.is_finite()).then_some(Bend { median, spread })
}

fn count_rows(source: &dyn Source) -> Result<usize> {
    let mut reader = source.open(&Selection::only::<String>([]))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.rows();
    }
    Ok(rows)
}

fn check_finite(batch: &Table, name: &str, column: &[f64]) -> Result<()> {
    let Some(bad) = column.iter().position(|value| !value.is_finite()) else { return Ok(()) };
    let (column_name, place) = (name.to_owned(), batch.place(bad));
    if column[bad].is_nan() {
        Err(Error::Missing { column: column_name, place })
    } else {
        Err(Error::Infinite { column: column_name, place })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::table::BATCH_ROWS;

    fn table(columns: &[(&str, &[f64])]) -> Table {
        let names = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        Table::new(names, columns.iter().map(|(_, values)| values.to_vec()).collect()).unwrap()
    }

    #[test]
    fn constant_columns_become_minus_one() {
        let (encoder, matrix) =
            Encoder::fit_encode(&table(&[("a", &[3.0, 3.0]), ("b", &[0.0, 4.0])]), &[], Scale::Linear)
                .unwrap();
        assert_eq!(matrix.values, [-1.0, -1.0, -1.0, 1.0]);
        assert_eq!(encoder.features()[0].scale(4.0), 1.0);
    }

    #[test]
    fn bent_columns_spread_the_bulk_and_keep_the_order() {
        let mut values: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        values[999] = 1e6;
        let flags: Vec<f64> = (0..1000).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        let table = table(&[("heavy", &values), ("flag", &flags)]);
        let linear = Encoder::fit_encode(&table, &[], Scale::Linear).unwrap().1;
        let (encoder, bent) = Encoder::fit_encode(&table, &[], Scale::Bent).unwrap();
        let spread = |matrix: &Matrix| matrix.row(900)[0] - matrix.row(100)[0];
        assert!(spread(&linear) < 1e-5 && spread(&bent) > 0.02, "{} {}", spread(&linear), spread(&bent));
        assert_eq!((bent.row(0)[0], bent.row(999)[0]), (-1.0, 1.0));
        assert!(bent.values.chunks(2).collect::<Vec<_>>().windows(2).all(|rows| rows[0][0] < rows[1][0]));
        assert!(encoder.features()[0].bend.is_some());
        assert!(encoder.features()[1].bend.is_none(), "a column of two values stays as it is");
        let (same, _) = Encoder::fit_encode(&table, &[], Scale::Bent).unwrap();
        assert_eq!(same, encoder);
    }

    #[test]
    fn columns_are_found_by_name_in_any_order() {
        let encoder =
            Encoder::fit(&table(&[("a", &[0.0, 2.0]), ("b", &[0.0, 4.0])]), &[], Scale::Linear).unwrap();
        let other = table(&[("b", &[4.0]), ("more", &[9.0]), ("a", &[1.0])]);
        assert_eq!(encoder.encode(&other).unwrap().values, [0.0, 1.0]);
        let mut out = vec![7.0];
        encoder.encode_batch(&other, &mut out).unwrap();
        assert_eq!(out, [7.0, 0.0, 1.0]);
        let error = encoder.encode_batch(&table(&[("a", &[1.0])]), &mut out).unwrap_err();
        assert!(matches!(error, Error::MissingColumns { names } if names == ["b"]));
        assert_eq!(out.len(), 3);
    }

    #[test]
    fn a_fit_needs_rows_features_and_variation() {
        let fit = |columns: &[(&str, &[f64])], ignored: &[&str]| {
            Encoder::fit(&table(columns), ignored, Scale::Linear)
        };
        assert!(matches!(fit(&[("a", &[1.0])], &[]), Err(Error::TooFewRows { rows: 1 })));
        assert!(matches!(fit(&[("a", &[1.0, 2.0])], &["a"]), Err(Error::NoFeatures)));
        assert!(matches!(fit(&[("a", &[1.0, 1.0]), ("b", &[2.0, 2.0])], &[]), Err(Error::AllConstant)));
        assert!(fit(&[("a", &[1.0, 2.0])], &[]).is_ok());
    }

    #[test]
    fn values_that_are_not_finite_are_named() {
        let mut values = vec![1.0; BATCH_ROWS + 3];
        values[BATCH_ROWS + 1] = f64::NAN;
        let missing = Encoder::fit(&table(&[("x", &values)]), &[], Scale::Linear).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "column \"x\", row 8193 (counted from 0): the value is missing; fill it in or remove the row"
        );
        let infinite =
            Encoder::fit(&table(&[("x", &[1.0, f64::NEG_INFINITY])]), &[], Scale::Linear).unwrap_err();
        assert!(matches!(infinite, Error::Infinite { .. }));
    }

    #[test]
    fn a_matrix_beyond_memory_is_an_error() {
        let encoder = Encoder::fit(&table(&[("a", &[0.0, 2.0])]), &[], Scale::Linear).unwrap();
        assert!(matches!(encoder.fill(&Table::default(), usize::MAX), Err(Error::Memory { .. })));
    }

    proptest! {
        #[test]
        fn scaled_values_are_finite_and_ordered(
            a in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            b in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            x in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            y in any::<f64>().prop_filter("finite", |v| v.is_finite()),
        ) {
            let feature = Feature { name: "f".into(), min: a.min(b), max: a.max(b), bend: None };
            let [low, high] = [x.min(y), x.max(y)].map(|value| feature.scale(value));
            prop_assert!(low.is_finite() && high.is_finite() && low <= high);
            prop_assert_eq!(feature.scale(feature.min), -1.0);
            if a != b {
                prop_assert_eq!(feature.scale(feature.max), 1.0);
            }
        }
    }
}
