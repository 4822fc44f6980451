//! How far two rows agree, column by column.
//!
//! In a column of numbers two rows agree by (exp(-|a - b|) + exp(-|r - s| / 0.6)) / 2, a and b their distances from the median on an asinh
//! scale, r and s the shares of the rows below them. exp(-|a - b|) is the smaller of e^a / e^b and e^b / e^a, so that with the
//! exponentials kept, a column of a million rows takes a division a row and nothing else.

use crate::encode::{Column, Scaler};
use crate::parallel;
use crate::profile::Spread;
use crate::table::Source;
use crate::{Detector, Error, Result};

/// The unit of the asinh scale here, as a share of the model's own: a quarter of an interquartile range.
const UNIT: f64 = 1.0 / 16.0;
/// How far ranks reach: to this share of all rows.
const RANK_REACH: f64 = 0.6;
/// Half the range of a number that has no asinh scale, so that two values of it have nothing in common but their ranks.
const HALF_RANGE: f64 = 6.0;
/// Furthest distance from the median that is told apart, in such units: its exponential and their products are within single precision.
const FURTHEST: f64 = 1e15;
/// What stands for a number that is missing or does not fit. No exponential is 0.
const GAP: f32 = 0.0;

/// A column of all rows.
#[derive(Debug)]
enum Kept {
    /// Of numbers: exponentials of the distance from the median and of the rank.
    Numbers([Vec<f32>; 2]),
    /// Of categories: their positions.
    Categories(Vec<f32>),
}

/// All rows, as far as agreement goes.
#[derive(Debug)]
pub struct Rows {
    columns: Vec<Kept>,
}

impl Rows {
    /// Reads the columns of a detector from a source of so many rows. Places in time are left out: labels of a certain time say nothing of later
    /// rows.
    ///
    /// # Errors
    /// If the source cannot be read or the rows do not fit into memory.
    pub fn read(detector: &Detector, source: &dyn Source, rows: usize) -> Result<Self> {
        let (given, scalers) = (detector.encoder().columns(), detector.scalers());
        let wanted: Vec<usize> = (0..given.len()).filter(|&column| !given[column].is_date()).collect();
        let wanted = if wanted.is_empty() { (0..given.len()).collect() } else { wanted };
        let mut columns =
            wanted.iter().map(|&column| Kept::empty(&given[column], rows)).collect::<Result<Vec<_>>>()?;
        let mut reader = source.open(&detector.selection())?;
        while let Some(batch) = reader.next_batch()? {
            let found = detector.find(&batch)?.columns;
            parallel::for_each(columns.iter_mut().zip(&wanted), &|_, (kept, &column)| {
                let spread = detector.profile().columns.get(column);
                kept.append(&given[column], &scalers[column], spread, &found[column]);
            });
        }
        Ok(Self { columns })
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.columns.len()
    }

    /// Writes how far the rows from `first` on agree with a row: 1 if they are the same in all columns, 0 if they have nothing in common.
    pub fn agreement(&self, row: usize, first: usize, out: &mut [f32]) {
        out.fill(0.0);
        let range = first..first + out.len();
        for column in &self.columns {
            match column {
                Kept::Numbers(both) => {
                    both.iter().for_each(|values| add_nearness(values[row], &values[range.clone()], out));
                }
                Kept::Categories(values) => {
                    let own = values[row];
                    let same = |value: f32| f32::from(u8::from(value == own));
                    out.iter_mut().zip(&values[range.clone()]).for_each(|(out, &value)| *out += same(value));
                }
            }
        }
        let share = 1.0 / self.columns.len().max(1) as f32;
        out.iter_mut().for_each(|out| *out *= share);
    }
}

impl Kept {
    fn empty(column: &Column, rows: usize) -> Result<Self> {
        let room = || -> Result<Vec<f32>> {
            let mut values = Vec::new();
            let bytes = rows.saturating_mul(size_of::<f32>());
            values.try_reserve_exact(rows).map_err(|_| Error::Memory { bytes })?;
            Ok(values)
        };
        let is_category = column.positions() > 0;
        Ok(if is_category { Self::Categories(room()?) } else { Self::Numbers([room()?, room()?]) })
    }

    fn append(&mut self, column: &Column, scaler: &Scaler, spread: Option<&Spread>, values: &[f64]) {
        match self {
            Self::Categories(kept) => {
                let position = |&value: &f64| if value.is_finite() { value as f32 } else { -1.0 };
                kept.extend(values.iter().map(position));
            }
            Self::Numbers([places, ranks]) => {
                places.extend(values.iter().map(|&value| place(column, scaler, value)));
                ranks.extend(values.iter().map(|&value| rank(scaler, spread, value)));
            }
        }
    }
}

/// e to the distance from the median on the asinh scale: e^asinh(z) is z + √(z² + 1).
fn place(column: &Column, scaler: &Scaler, value: f64) -> f32 {
    if !value.is_finite() {
        return GAP;
    }
    let Some(asinh) = column.asinh else {
        return libm::exp(HALF_RANGE * f64::from(scaler.scale(value)).clamp(-2.0, 2.0)) as f32;
    };
    let z = ((value - asinh.median) / (asinh.spread * UNIT)).clamp(-FURTHEST, FURTHEST);
    let size = z.abs() + (z * z + 1.0).sqrt();
    (if z < 0.0 { 1.0 / size } else { size }) as f32
}

/// e to the share of the training rows below a value, those equal to it counted half, in reaches.
fn rank(scaler: &Scaler, spread: Option<&Spread>, value: f64) -> f32 {
    if !value.is_finite() {
        return GAP;
    }
    let scaled = scaler.scale(value);
    let share = spread.map_or(0.5, |spread| (spread.below(scaled) + spread.up_to(scaled)) / 2.0);
    libm::exp(share / RANK_REACH) as f32
}

/// Adds half of how near values are, given as exponentials.
fn add_nearness(own: f32, values: &[f32], out: &mut [f32]) {
    if own == GAP {
        out.iter_mut().zip(values).filter(|(_, value)| **value == GAP).for_each(|(out, _)| *out += 0.5);
        return;
    }
    let inverse = 0.5 / own;
    for (out, &value) in out.iter_mut().zip(values) {
        // Half of the ratio, and half of its inverse; a gap is infinitely far away.
        let half = value * inverse;
        *out += half.min(0.25 / half);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::table::{Table, Texts, Values};

    /// Straight from what two cells are.
    fn plain(detector: &Detector, table: &Table, [i, j]: [usize; 2]) -> f64 {
        let (encoder, scalers) = (detector.encoder(), detector.scalers());
        let found = encoder.find(table).unwrap().columns;
        let mut sum = 0.0;
        for (c, column) in encoder.columns().iter().enumerate() {
            let [a, b] = [found[c][i], found[c][j]];
            let is_same_kind_of_gap = a.is_nan() && b.is_nan();
            sum += match () {
                () if column.positions() > 0 => f64::from(u8::from(a == b || is_same_kind_of_gap)),
                () if a.is_nan() || b.is_nan() => f64::from(u8::from(is_same_kind_of_gap)),
                () => {
                    let [near, rank]: [[f64; 2]; 2] = [
                        [a, b].map(|value| match column.asinh {
                            Some(asinh) => (16.0 * (value - asinh.median) / asinh.spread).asinh(),
                            None => 6.0 * f64::from(scalers[c].scale(value)),
                        }),
                        [a, b].map(|value| {
                            let (spread, x) = (&detector.profile().columns[c], scalers[c].scale(value));
                            (spread.below(x) + spread.up_to(x)) / 2.0
                        }),
                    ];
                    ((-(near[0] - near[1]).abs()).exp() + (-(rank[0] - rank[1]).abs() / 0.6).exp()) / 2.0
                }
            };
        }
        sum / encoder.columns().len() as f64
    }

    #[test]
    fn agreement_is_that_of_the_cells() {
        let numbers: Vec<f64> =
            (0..120).map(|i| if i % 17 == 3 { f64::NAN } else { f64::from(i * i % 311) - 90.0 }).collect();
        let flags: Vec<f64> = (0..120).map(|i| f64::from(u8::from(i % 5 == 0))).collect();
        let mut far: Vec<f64> = (0..120).map(|i| f64::from(i * 7 % 23)).collect();
        far[7] = 1e9;
        let texts: Texts = (0..120).map(|i| Some(["a", "b", "c"][i % 7 % 3])).collect();
        let names = ["x", "flag", "far", "kind"].map(str::to_owned).to_vec();
        let numbers = [numbers, flags, far].map(Values::Numbers);
        let table = Table::of(names, numbers.into_iter().chain([texts.into()]).collect()).unwrap();
        let detector = Params::default().with_steps(2).trees(4).fit(&table).unwrap();
        let rows = Rows::read(&detector, &table, 120).unwrap();
        assert_eq!(rows.columns(), 4);
        let mut out = vec![0.0; 50];
        for row in [0, 3, 7, 20, 25, 71] {
            rows.agreement(row, 60, &mut out);
            for (offset, &fast) in out.iter().enumerate() {
                let slow = plain(&detector, &table, [row, 60 + offset]);
                assert!(
                    (f64::from(fast) - slow).abs() < 1e-5,
                    "{row} and {}: {fast} is not {slow}",
                    60 + offset
                );
            }
        }
    }
}
