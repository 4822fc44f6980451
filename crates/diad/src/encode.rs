//! Columns to the scaled matrix the model sees, and back to words.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;
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

/// How a column is bent: proportional near the median, logarithmic beyond the spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bend {
    /// The median of the training values.
    pub median: f64,
    /// The distance from the median at which the logarithm takes over.
    pub spread: f64,
}

impl Bend {
    /// The inverse hyperbolic sine of the distance in spreads. Accurate to the last bits of 1, not of its own result
    /// near 0: it is scaled to [-1, 1] next.
    #[inline]
    fn apply(&self, value: f64) -> f64 {
        let distance = value / self.spread - self.median / self.spread;
        let size = distance.abs();
        let logarithm = if size < 1e150 {
            libm::log(size + (size * size + 1.0).sqrt())
        } else {
            libm::log(size) + std::f64::consts::LN_2
        };
        logarithm.copysign(distance)
    }
}

/// One column's name and range in the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// Smallest training value.
    pub min: f64,
    /// Largest training value.
    pub max: f64,
    /// How it can be bent; nothing for columns of one or two values, and where no bent scale was asked for.
    pub bend: Option<Bend>,
}

/// A column in one of its scales: what the model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    /// Which of the encoder's columns.
    pub column: u32,
    /// Whether it is bent.
    pub bent: bool,
}

/// The scale of a feature: the training range becomes [-1, 1]. Values outside of it go on by the same rule, not
/// clipped.
///
/// ```
/// use diad::encode::{Column, Scaler};
///
/// let age = Scaler::new(&Column { name: "age".into(), min: 20.0, max: 60.0, bend: None }, false);
/// assert_eq!([20.0, 30.0, 60.0, 80.0].map(|value| age.scale(value)), [-1.0, -0.5, 1.0, 2.0]);
/// assert_eq!(age.original(-0.5), 30.0);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Scaler {
    bend: Option<Bend>,
    low: f64,
    high: f64,
}

impl Scaler {
    /// The scale of a column, bent if asked for and if it can be.
    pub fn new(column: &Column, bent: bool) -> Self {
        let bend = column.bend.filter(|_| bent);
        let [low, high] = [column.min, column.max].map(|end| bend.map_or(end, |bend| bend.apply(end)));
        Self { bend, low, high }
    }

    /// A value of the column to a value of the model.
    #[inline]
    pub fn scale(&self, value: f64) -> f32 {
        let value = self.bend.map_or(value, |bend| bend.apply(value));
        let range = self.high - self.low;
        let share = if range.is_finite() {
            (value - self.low) / range
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        (share * 2.0 - 1.0).clamp(-LARGEST_SCALED, LARGEST_SCALED) as f32
    }

    /// A value of the model back to a value of the column.
    pub fn original(&self, scaled: f32) -> f64 {
        let share = (f64::from(scaled) + 1.0) / 2.0;
        let value = self.low * (1.0 - share) + self.high * share;
        match self.bend {
            Some(bend) => bend.median + bend.spread * libm::sinh(value),
            None => value,
        }
    }
}

/// Knows which columns are features and how each is scaled. A column of one value is none: it tells nothing of any row.
///
/// ```
/// use diad::encode::Encoder;
/// use diad::{Scale, table::Table};
///
/// let names = vec!["id".into(), "height".into()];
/// let table = Table::new(names, vec![vec![7.0, 8.0, 9.0], vec![1.5, 2.0, 1.75]])?;
/// let encoder = Encoder::fit(&table, &["id"], Scale::Linear)?;
/// assert_eq!(encoder.columns()[0].name, "height");
/// assert_eq!(encoder.encode(&table)?.values, [-1.0, 1.0, 0.0]);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Encoder {
    columns: Vec<Column>,
    features: Vec<Feature>,
    constants: Vec<String>,
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

    /// The columns of the table that are features.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns that had only one value and were left out.
    pub fn constants(&self) -> &[String] {
        &self.constants
    }

    /// What the model sees, in order: every column once, then some of them in a second scale.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The scales of the features, in order.
    pub fn scalers(&self) -> Vec<Scaler> {
        let scaler = |feature: &Feature| Scaler::new(&self.columns[feature.column as usize], feature.bent);
        self.features.iter().map(scaler).collect()
    }

    /// Whether everything is as fitting could have found it; false for a made-up model file.
    pub(crate) fn is_valid(&self) -> bool {
        let bent = |b: &Bend| b.median.is_finite() && b.spread.is_normal() && b.spread > 0.0;
        let ordered = |c: &Column| {
            c.min.is_finite() && c.max.is_finite() && c.min < c.max && c.bend.as_ref().is_none_or(bent)
        };
        let names: HashSet<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let columns = self.columns.len();
        let known = |f: &Feature| {
            self.columns.get(f.column as usize).is_some_and(|column| !f.bent || column.bend.is_some())
        };
        let distinct: HashSet<(u32, bool)> = self.features.iter().map(|f| (f.column, f.bent)).collect();
        !names.is_empty()
            && names.len() == columns
            && self.columns.iter().all(ordered)
            && self.features.len() >= columns
            && self.features.iter().take(columns).zip(0..).all(|(feature, column)| feature.column == column)
            && distinct.len() == self.features.len()
            && self.features.iter().all(known)
    }

    /// What to read from a table: the features, nothing else.
    pub fn selection(&self) -> Selection {
        Selection::only(self.columns.iter().map(|column| column.name.as_str()))
    }

    /// The columns of a batch that are features, found by name whatever their order, and checked.
    ///
    /// # Errors
    /// Names the columns that are missing, or the first value that is missing or infinite.
    pub fn find<'a>(&self, batch: &'a Table) -> Result<Vec<&'a [f64]>> {
        let positions: HashMap<&str, usize> =
            batch.names().iter().enumerate().map(|(index, name)| (name.as_str(), index)).collect();
        let lacking = |column: &&Column| !positions.contains_key(column.name.as_str());
        let missing: Vec<String> =
            self.columns.iter().filter(lacking).map(|column| column.name.clone()).collect();
        if !missing.is_empty() {
            return Err(Error::MissingColumns { names: missing });
        }
        let found: Vec<&[f64]> =
            self.columns.iter().map(|column| batch.column(positions[column.name.as_str()])).collect();
        for (column, values) in self.columns.iter().zip(&found) {
            check_finite(batch, &column.name, values)?;
        }
        Ok(found)
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

    /// Encodes one batch, appending to `out`.
    ///
    /// # Errors
    /// As [`Encoder::find`].
    pub fn encode_batch(&self, batch: &Table, out: &mut Vec<f32>) -> Result<()> {
        let columns = self.find(batch)?;
        let scalers = self.scalers();
        let (start, width) = (out.len(), self.features.len());
        out.resize(start + batch.rows() * width, 0.0);
        // Blocks of rows that stay in the cache while the columns are written across them.
        out[start..].par_chunks_mut(BLOCK_ROWS * width).enumerate().for_each(|(block, rows)| {
            for (offset, (feature, scaler)) in self.features.iter().zip(&scalers).enumerate() {
                let column = &columns[feature.column as usize][block * BLOCK_ROWS..];
                let slots = rows[offset..].iter_mut().step_by(width);
                slots.zip(column).for_each(|(slot, &value)| *slot = scaler.scale(value));
            }
        });
        Ok(())
    }

    fn fit_counting(source: &dyn Source, ignored: &[&str], scale: Scale) -> Result<(Self, usize)> {
        let mut reader = source.open(&Selection::except(ignored))?;
        let start = |name: &String| Column {
            name: name.clone(),
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            bend: None,
        };
        let mut columns: Vec<Column> = reader.names().iter().map(start).collect();
        if columns.is_empty() {
            return Err(Error::NoFeatures);
        }
        let mut rows = 0;
        let mut sample = RowSample::new(columns.len());
        while let Some(batch) = reader.next_batch()? {
            for (index, column) in columns.iter_mut().enumerate() {
                let values = batch.column(index);
                check_finite(&batch, &column.name, values)?;
                column.min = values.iter().copied().fold(column.min, f64::min);
                column.max = values.iter().copied().fold(column.max, f64::max);
            }
            if scale != Scale::Linear {
                sample.add(&batch);
            }
            rows += batch.rows();
        }
        if rows < 2 {
            return Err(Error::TooFewRows { rows });
        }
        if scale != Scale::Linear {
            for (index, column) in columns.iter_mut().enumerate() {
                column.bend = find_bend(sample.column(index));
            }
        }
        let varied = |column: &Column| column.min < column.max;
        let constants =
            columns.iter().filter(|column| !varied(column)).map(|column| column.name.clone()).collect();
        columns.retain(varied);
        if columns.is_empty() {
            return Err(Error::AllConstant);
        }
        let first = |(column, given): (u32, &Column)| Feature { column, bent: given.bend.is_some() };
        let mut features: Vec<Feature> = (0..).zip(&columns).map(first).collect();
        if scale == Scale::Both {
            let second = features.iter().filter(|feature| feature.bent);
            let second: Vec<Feature> = second.map(|&feature| Feature { bent: false, ..feature }).collect();
            features.extend(second);
        }
        Ok((Self { columns, features, constants }, rows))
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
    fn constant_columns_are_left_out() {
        let (encoder, matrix) =
            Encoder::fit_encode(&table(&[("a", &[3.0, 3.0]), ("b", &[0.0, 4.0])]), &[], Scale::Linear)
                .unwrap();
        assert_eq!(matrix.values, [-1.0, 1.0]);
        assert_eq!((encoder.columns()[0].name.as_str(), encoder.constants()), ("b", &["a".to_owned()][..]));
        // They are not asked for again.
        assert_eq!(encoder.encode(&table(&[("b", &[2.0])])).unwrap().values, [0.0]);
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
        assert!(encoder.columns()[0].bend.is_some());
        assert!(encoder.columns()[1].bend.is_none(), "a column of two values stays as it is");
        let (same, _) = Encoder::fit_encode(&table, &[], Scale::Bent).unwrap();
        assert_eq!(same, encoder);
        let heavy = encoder.scalers()[0];
        for value in [0.0, 0.37, 0.9, 1e6] {
            let back = heavy.original(heavy.scale(value));
            assert!((back - value).abs() <= 1e-4 * value.abs().max(1.0), "{value} comes back as {back}");
        }
        // Both scales: the bent one first, then the linear one of the column that is bent.
        let (encoder, both) = Encoder::fit_encode(&table, &[], Scale::Both).unwrap();
        let order: Vec<(u32, bool)> = encoder.features().iter().map(|f| (f.column, f.bent)).collect();
        assert_eq!(order, [(0, true), (1, false), (0, false)]);
        for row in 0..1000 {
            let [x, flag] = [bent.row(row)[0], bent.row(row)[1]];
            assert_eq!(both.row(row), [x, flag, linear.row(row)[0]]);
        }
        assert!(encoder.is_valid());
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

    #[test]
    fn bending_is_the_inverse_hyperbolic_sine() {
        let bend = Bend { median: 3.0, spread: 2.0 };
        for distance in [0.0, 1e-12, -0.3, 0.999, 1.001, -20.0, 1e6, 1e149, -1e151, 1e300] {
            let (found, expected) = (bend.apply(3.0 + 2.0 * distance), libm::asinh(distance));
            assert!((found - expected).abs() <= 1e-14 * expected.abs().max(1.0), "{found} for {expected}");
        }
    }

    proptest! {
        #[test]
        fn bent_values_are_finite_and_ordered(x in -1e6f64..1e6, y in -1e6f64..1e6) {
            let bend = Some(Bend { median: 0.1, spread: 0.7 });
            let scaler = Scaler::new(&Column { name: "f".into(), min: -1e3, max: 1e5, bend }, true);
            let [low, high] = [x.min(y), x.max(y)].map(|value| scaler.scale(value));
            prop_assert!(low.is_finite() && high.is_finite() && low <= high);
        }

        #[test]
        fn scaled_values_are_finite_and_ordered(
            a in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            b in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            x in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            y in any::<f64>().prop_filter("finite", |v| v.is_finite()),
        ) {
            prop_assume!(a != b);
            let column = Column { name: "f".into(), min: a.min(b), max: a.max(b), bend: None };
            let scaler = Scaler::new(&column, false);
            let [low, high] = [x.min(y), x.max(y)].map(|value| scaler.scale(value));
            prop_assert!(low.is_finite() && high.is_finite() && low <= high);
            prop_assert_eq!(scaler.scale(column.min), -1.0);
            prop_assert_eq!(scaler.scale(column.max), 1.0);
        }
    }
}
