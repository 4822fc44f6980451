//! Features of columns, and how a value of a column becomes one of the model.

use serde::{Deserialize, Serialize};

use super::column::{Asinh, Column, Kind};
use crate::kernel::{AsinhScale, Isa};

/// Scaled values stay within this, so that none is infinite as a 32-bit number.
const LARGEST_SCALED: f64 = 1e30;

/// How a feature sees its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum View {
    /// Numbers in proportion, or categories by frequency.
    Plain,
    /// Numbers on the asinh scale, which model files call `bent`.
    #[serde(rename = "bent")]
    Asinh,
    /// Whether the value is missing: 1 if it is, else -1.
    Missing,
}

/// A column as one of the features that the model sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Feature {
    /// Which of the encoder's columns.
    pub column: u32,
    /// How the feature sees it.
    pub view: View,
}

/// The scale of a feature.
///
/// Numbers: the training range becomes [-1, 1]. Values outside of it go on by the same rule, not clipped. Where all
/// values that are there are the same, that value becomes -1. Categories: from the most frequent at -1 to the rarest at 1; one
/// that the training did not have lies beyond.
#[derive(Debug, Clone)]
pub(crate) struct Scaler {
    form: Form,
    asinh: Option<Asinh>,
    low: f64,
    high: f64,
    /// What a missing number becomes.
    gap: f32,
}

#[derive(Debug, Clone)]
enum Form {
    Number,
    /// The places of all positions, and the position of a category that the training did not have.
    Category(Vec<f32>, usize),
    Missing,
}

impl Scaler {
    /// The scale of a feature of a column.
    pub fn new(column: &Column, view: View) -> Self {
        let asinh = column.asinh.filter(|_| view == View::Asinh);
        let [low, high] = [column.min, column.max].map(|end| asinh.map_or(end, |asinh| asinh.apply(end)));
        let form = match (&column.kind, view) {
            (_, View::Missing) => Form::Missing,
            (Kind::Category { levels, .. }, _) => Form::Category(column.places(), levels.len()),
            _ => Form::Number,
        };
        let mut scaler = Self { form, asinh, low, high, gap: 0.0 };
        scaler.gap = column.gaps.map_or(0.0, |gaps| scaler.scale_number(gaps.middle));
        scaler
    }

    /// The same scale, where a number that is missing though none was in the training counts as another.
    pub fn standing_in(self, gap: f32) -> Self {
        Self { gap, ..self }
    }

    /// What becomes -1 and what becomes 1, on the asinh scale if it is one.
    #[cfg(feature = "export")]
    pub(crate) fn ends(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// A value of the column to a value of the model.
    #[inline]
    pub fn scale(&self, value: f64) -> f32 {
        match &self.form {
            Form::Number if value.is_nan() => self.gap,
            Form::Number => self.scale_number(value),
            Form::Category(places, new) => {
                let position = if value.is_nan() { *new } else { value.max(0.0).round() as usize };
                places[position.min(places.len() - 1)]
            }
            Form::Missing => f32::from(u8::from(value.is_nan())) * 2.0 - 1.0,
        }
    }

    /// As [`Scaler::scale`], of many values.
    pub(crate) fn scale_all(&self, values: &[f64], scaled: &mut [f32]) {
        if let (Some(asinh), Form::Number) = (self.asinh, &self.form) {
            let (low, range) = (self.low, self.high - self.low);
            // Where the range is none, scaling is not by it.
            if range > 0.0 {
                let Asinh { median, spread } = asinh;
                let scale = AsinhScale { spread, median, low, range, most: LARGEST_SCALED, gap: self.gap };
                (Isa::detect().kernels_f32().scale_asinh)(&scale, values, scaled);
                return;
            }
        }
        for (scaled, &value) in scaled.iter_mut().zip(values) {
            *scaled = self.scale(value);
        }
    }

    #[inline]
    fn scale_number(&self, value: f64) -> f32 {
        let value = self.asinh.map_or(value, |asinh| asinh.apply(value));
        let range = self.high - self.low;
        let share = if self.high == self.low {
            value - self.low
        } else if range.is_finite() {
            (value - self.low) / range
        } else {
            (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0)
        };
        (share * 2.0 - 1.0).clamp(-LARGEST_SCALED, LARGEST_SCALED) as f32
    }

    /// A value of the model back to a value of the column. For categories, the nearest one.
    pub fn original(&self, scaled: f32) -> f64 {
        if let Form::Category(places, _) = &self.form {
            let distance = |position: &usize| (places[*position] - scaled).abs();
            let nearest = (0..places.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
            return nearest.unwrap_or(0) as f64;
        }
        let share = (f64::from(scaled) + 1.0) / 2.0;
        let value = self.low * (1.0 - share) + self.high * share;
        match self.asinh {
            Some(asinh) => asinh.median + asinh.spread * libm::sinh(value),
            None => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::encode::Gaps;

    #[test]
    fn a_missing_number_has_the_middle_and_a_mark_of_its_own() {
        let gaps = Some(Gaps { rows: 3, middle: 10.0, ..Gaps::default() });
        let column = Column { name: "x".into(), max: 40.0, gaps, ..Column::default() };
        let scale = |view, value| Scaler::new(&column, view).scale(value);
        assert_eq!([f64::NAN, 10.0].map(|value| scale(View::Plain, value)), [-0.5, -0.5]);
        assert_eq!([f64::NAN, 10.0].map(|value| scale(View::Missing, value)), [1.0, -1.0]);
    }

    proptest! {
        #[test]
        fn scaled_values_are_finite_and_ordered(
            a in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            b in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            x in any::<f64>().prop_filter("finite", |v| v.is_finite()),
            y in any::<f64>().prop_filter("finite", |v| v.is_finite()),
        ) {
            let column = Column { name: "f".into(), min: a.min(b), max: a.max(b), ..Column::default() };
            let scaler = Scaler::new(&column, View::Plain);
            let [low, high] = [x.min(y), x.max(y)].map(|value| scaler.scale(value));
            prop_assert!(low.is_finite() && high.is_finite() && low <= high);
            prop_assert_eq!(scaler.scale(column.min), -1.0);
            if a != b {
                prop_assert_eq!(scaler.scale(column.max), 1.0);
            }
        }
    }
}
