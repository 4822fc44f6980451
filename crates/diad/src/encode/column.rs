//! What is known of a column, and where its categories lie.

use serde::{Deserialize, Serialize};

use crate::kernel::{asinh, spreads};
use crate::table::{Clock, Notation, ReadAs, TimePart};

/// Most categories of a column that have a place of their own; all rarer ones share the last place.
pub(crate) const MOST_LEVELS: usize = 1000;

/// How far apart two categories that are equally frequent lie, where one that is rarer by a factor of e lies one further.
const APART: f64 = 0.25;
/// Models of the first version: this many of the most frequent categories are equally spaced, rarer ones crowd at the end.
const SPACED_LEVELS: usize = 16;
/// Where, in steps between places, the crowd starts.
const CROWD: f32 = (SPACED_LEVELS - 1) as f32 - 0.25;

/// The asinh scale of a column: proportional near the median, logarithmic beyond the spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asinh {
    /// The median of the training values.
    pub median: f64,
    /// The distance from the median at which the logarithm takes over.
    pub spread: f64,
}

impl Asinh {
    /// The inverse hyperbolic sine of the distance in spreads. Accurate to the last bits of 1, not of its own result
    /// near 0: it is scaled to [-1, 1] next.
    #[inline]
    pub(super) fn apply(&self, value: f64) -> f64 {
        asinh(spreads(value, self.median, self.spread))
    }
}

/// What the values of a column are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Kind {
    /// Numbers.
    #[default]
    Number,
    /// Categories, most frequent first. A value is the position of its category. One more than the last stands for a
    /// category that the training did not have.
    Category {
        /// The categories.
        levels: Vec<Level>,
        /// Training rows of further, rarer categories. If there are any, they share one more position, also with
        /// categories that the training did not have.
        others: u64,
        /// Where they lie, ascending, in order of their positions; models of the first version have a rule for it instead.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        places: Vec<f32>,
    },
    /// A part of a time, as a number.
    Time {
        /// Which part.
        part: TimePart,
        /// The column of the table with the time.
        column: String,
    },
}

/// A category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Level {
    /// Its name; nothing for missing values.
    pub name: Option<String>,
    /// Training rows of it.
    pub rows: u64,
}

/// Missing values of a column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Gaps {
    /// Training rows without a value.
    pub rows: u64,
    /// The median. It takes the place of a missing value in the scales of the column, while a feature of its own
    /// says that the value is missing.
    pub middle: f64,
    /// Whether another part of the same time has the feature that says so.
    #[serde(default, skip_serializing_if = "is_false")]
    pub told: bool,
    /// Whether some of them are infinite numbers, which count as missing then.
    #[serde(default, skip_serializing_if = "is_false")]
    pub infinite: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// One column's name, kind and range in the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// Smallest training value.
    pub min: f64,
    /// Largest training value.
    pub max: f64,
    /// Its asinh scale; nothing for categories, columns of one or two values, and where no such scale was asked for. Model files
    /// call it `bend`.
    #[serde(rename = "bend")]
    pub(crate) asinh: Option<Asinh>,
    /// Missing numbers, if the training rows had any.
    pub gaps: Option<Gaps>,
    /// What stands for a cell that cannot be read, where the median would not do: of a part of a time, that of the median time, since
    /// the medians of all parts may never come together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) typical: Option<f64>,
    /// The column of the table, where that has another name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) table_column: Option<String>,
    /// How its text is read; models of the first versions have one rule for all columns instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notation: Option<Notation>,
}

impl Column {
    /// The name of the column of the table that it is read from.
    pub fn source(&self) -> &str {
        match &self.kind {
            Kind::Time { column, .. } => column,
            _ => self.table_column.as_deref().unwrap_or(&self.name),
        }
    }

    /// Whether it is a place in time.
    pub fn is_date(&self) -> bool {
        matches!(self.kind, Kind::Time { part: TimePart::Date, .. })
    }

    /// Whether its numbers are times of a day or durations, in seconds.
    pub fn is_clock(&self) -> bool {
        self.kind == Kind::Number && self.notation.as_ref().is_some_and(|notation| notation.clock.is_some())
    }

    /// Whether its text is read in a way that the first programs for files of this version do not know.
    pub(crate) fn is_written_anew(&self) -> bool {
        let is_anew =
            |notation: &Notation| notation.clock.is_some() || notation.has_unit() || notation.eight_digits;
        self.notation.as_ref().is_some_and(is_anew)
    }

    /// How its numbers are written, if they are times of a day or durations as the table has them.
    pub(crate) fn clock(&self) -> Option<Clock> {
        let clock = self.notation.as_ref().and_then(|notation| notation.clock);
        clock.filter(|_| self.is_clock() && self.table_column.is_none())
    }

    /// Whether an infinite number is a missing one, since the training had some.
    pub(super) fn is_infinite_missing(&self) -> bool {
        self.gaps.is_some_and(|gaps| gaps.infinite)
    }

    /// Whether a feature says where its values are missing.
    pub(crate) fn tells_gaps(&self) -> bool {
        self.gaps.is_some_and(|gaps| !gaps.told)
    }

    /// What its cells are read as.
    pub(super) fn read_as(&self) -> ReadAs {
        match self.kind {
            Kind::Number => ReadAs::Numbers,
            Kind::Category { .. } => ReadAs::Texts,
            Kind::Time { .. } => ReadAs::Times,
        }
    }

    /// The categories, most frequent first; none for numbers.
    pub fn levels(&self) -> &[Level] {
        match &self.kind {
            Kind::Category { levels, .. } => levels,
            _ => &[],
        }
    }

    /// Where the categories lie, in order of their positions, and last where one lies that the training did not have.
    pub(crate) fn places(&self) -> Vec<f32> {
        match &self.kind {
            Kind::Category { places, .. } if !places.is_empty() => places.clone(),
            _ => (0..=self.positions()).map(|position| place_of(position, self.positions())).collect(),
        }
    }

    /// How many different positions the categories of the training take; 0 for numbers.
    pub fn positions(&self) -> usize {
        match &self.kind {
            Kind::Category { levels, others, .. } => levels.len() + usize::from(*others > 0),
            _ => 0,
        }
    }

    /// Whether a value says that there is none.
    pub(crate) fn is_missing(&self, value: f64) -> bool {
        let level = self.levels().get(value.max(0.0).round() as usize);
        value.is_nan() || level.is_some_and(|level| level.name.is_none())
    }

    /// A value of the column in words: a number, the name of a category, `missing`, `unreadable`.
    pub fn words(&self, value: f64) -> String {
        const WEEKDAYS: [&str; 7] =
            ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        if let Some(oddity) = self.oddity(value) {
            return oddity.to_string();
        }
        match &self.kind {
            Kind::Category { levels, others, .. } => match levels.get(value.max(0.0).round() as usize) {
                Some(Level { name: Some(name), .. }) => name.clone(),
                Some(Level { name: None, .. }) => "missing".into(),
                None if *others > 0 => "a rare category".into(),
                None => "a category not seen in training".into(),
            },
            _ if value.is_nan() => "missing".into(),
            Kind::Time { part: TimePart::Weekday, .. } => {
                WEEKDAYS[(value.round().clamp(1.0, 7.0) - 1.0) as usize].into()
            }
            Kind::Time { part: TimePart::Month, .. } => {
                MONTHS[(value.round().clamp(1.0, 12.0) - 1.0) as usize].into()
            }
            Kind::Time { part: TimePart::Hour, .. } => {
                let minutes = (value.clamp(0.0, 24.0) * 60.0).round().min(1439.0) as u32;
                format!("{:02}:{:02}", minutes / 60, minutes % 60)
            }
            Kind::Time { part: TimePart::Date, .. } => TimePart::date_in_words(value),
            Kind::Number => match self.clock() {
                Some(clock) => clock.words(value),
                None => value.to_string(),
            },
        }
    }

    /// From the asinh scale to the plain one: `[start, rate, factor, offset]` of
    /// factor · sinh(rate · (x + 1) + start) + offset.
    pub(crate) fn second_scale(&self) -> Option<[f64; 4]> {
        let asinh = self.asinh?;
        let (start, end) = (asinh.apply(self.min), asinh.apply(self.max));
        let half = self.max / 2.0 - self.min / 2.0;
        Some([start, (end - start) / 2.0, asinh.spread / half, (asinh.median - self.min) / half - 1.0])
    }

    /// Whether a fit could have produced this; rejects forged files.
    pub(super) fn is_valid(&self) -> bool {
        let scaled =
            |scale: &Asinh| scale.median.is_finite() && scale.spread.is_normal() && scale.spread > 0.0;
        let bounded = self.min.is_finite()
            && self.max.is_finite()
            && (self.min < self.max || (self.min == self.max && self.gaps.is_some()));
        let within = |value: f64| value >= self.min && value <= self.max;
        let gaps = |gaps: &Gaps| within(gaps.middle);
        let categories = match &self.kind {
            Kind::Category { levels, places, .. } => {
                let names: std::collections::HashSet<_> = levels.iter().map(|level| &level.name).collect();
                (1..=MOST_LEVELS).contains(&levels.len())
                    && names.len() == levels.len()
                    && self.asinh.is_none()
                    && self.gaps.is_none()
                    && self.min == 0.0
                    && self.max == (self.positions() - 1) as f64
                    && (places.is_empty() || places.len() == self.positions() + 1)
                    && places.iter().all(|place| place.abs() <= 1.0)
                    && places.windows(2).all(|two| two[0] < two[1])
            }
            _ => true,
        };
        bounded
            && categories
            && self.asinh.as_ref().is_none_or(scaled)
            && self.gaps.as_ref().is_none_or(gaps)
            && self.typical.is_none_or(within)
    }
}

/// Where categories lie that so many rows have each, the most frequent first, and one that no row has: from -1 to 1, the
/// rarer the further, and no two in one place.
pub fn places_of(counts: &[u64]) -> Vec<f32> {
    let mut steps = vec![0.0];
    let further = |step: &mut Vec<f64>, by: f64| step.push(step.last().copied().unwrap_or(0.0) + by + APART);
    for two in counts.windows(2) {
        further(&mut steps, libm::log(two[0] as f64 / two[1].max(1) as f64).max(0.0));
    }
    further(&mut steps, std::f64::consts::LN_2);
    let end = steps[steps.len() - 1];
    steps.iter().map(|step| (2.0 * step / end - 1.0) as f32).collect()
}

/// In models of the first version: where a category lies, by its position among all those of the training. The position
/// after the last one is that of a category the training did not have.
fn place_of(position: usize, positions: usize) -> f32 {
    let spaced = |step: f32, steps: usize| step * (2.0 / steps as f32) - 1.0;
    let position = position.min(positions);
    if positions <= SPACED_LEVELS {
        return spaced(position as f32, (positions - 1).max(1));
    }
    let last = SPACED_LEVELS - 1;
    let step = if position < last {
        position as f32
    } else if position == positions {
        (last + 1) as f32
    } else {
        CROWD + (last as f32 - CROWD) * (position - last) as f32 / (positions - 1 - last) as f32
    };
    spaced(step, last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Scaler, View};

    #[test]
    fn rarer_categories_lie_further_out_and_no_two_in_one_place() {
        let places = places_of(&[60, 30, 10, 1, 1]);
        assert_eq!((places[0], places[5]), (-1.0, 1.0));
        let gaps: Vec<f32> = places.windows(2).map(|two| two[1] - two[0]).collect();
        assert!(gaps.iter().all(|&gap| gap > 0.0) && gaps[3] < gaps[1] && gaps[1] < gaps[2], "{gaps:?}");
        let many = places_of(&[1; MOST_LEVELS]);
        assert!(many.windows(2).all(|two| two[0] < two[1]));
    }

    #[test]
    fn categories_of_the_first_version_have_places_from_frequent_to_rare() {
        assert_eq!([0, 1].map(|p| place_of(p, 1)), [-1.0, 1.0]);
        assert_eq!([0, 1, 2].map(|p| place_of(p, 2)), [-1.0, 1.0, 3.0]);
        assert_eq!([0, 1, 2, 3].map(|p| place_of(p, 3)), [-1.0, 0.0, 1.0, 2.0]);
        for positions in [1, 2, 5, 16, 17, 18, 100, 256] {
            let places: Vec<f32> = (0..=positions).map(|p| place_of(p, positions)).collect();
            assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
            assert_eq!((places[0], places[positions - 1]), (-1.0, if positions == 1 { -1.0 } else { 1.0 }));
            let kind = Kind::Category {
                levels: (0..positions).map(|i| Level { name: Some(i.to_string()), rows: 1 }).collect(),
                others: 0,
                places: Vec::new(),
            };
            let column = Column { kind, max: (positions - 1) as f64, ..Column::default() };
            let scaler = Scaler::new(&column, View::Plain);
            for (position, &place) in places.iter().enumerate() {
                assert_eq!(scaler.original(place), position as f64);
                assert_eq!(scaler.scale(position as f64), place);
            }
        }
    }
}
