//! What one column of a table holds, and the columns of an encoder that it becomes.

use serde::{Deserialize, Serialize};

use super::PartRanges;
use super::sample::find_asinh;
use crate::Scale;
use crate::encode::column::{Column, Gaps, Kind, Level, MOST_LEVELS, places_of};
use crate::table::{Notation, Place, ReadAs, TimePart, Understood, Values};

/// Why a column is left out although nobody asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// (Nearly) every row has its own value.
    Identifier,
    /// More different texts than can be counted.
    TooManyTexts,
    /// No row has a value.
    AllMissing,
    /// Every row has the same value.
    Constant,
    /// All times are the same.
    OneTime,
}

impl Reason {
    /// The reason in words.
    pub(in crate::encode) fn words(self) -> &'static str {
        match self {
            Self::Identifier => "it seems to identify rows",
            Self::TooManyTexts => "it has too many different texts",
            Self::AllMissing => "all its values are missing",
            Self::Constant => "it has the same value in all rows",
            Self::OneTime => "all its times are the same",
        }
    }
}

shown_by!(Reason, words);

/// A column that is left out although nobody asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LeftOut {
    /// The column's name.
    pub name: String,
    /// Why it is left out.
    pub reason: Reason,
}

/// What one column of a table holds.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Surveyed {
    /// The column's name.
    pub name: String,
    /// Whether its values are numbers, texts or times.
    pub read_as: ReadAs,
    /// Rows without a value, those with an infinite number among them.
    pub missing: u64,
    /// Smallest number or time.
    pub min: f64,
    /// Largest number or time.
    pub max: f64,
    /// Texts with their numbers of rows, most frequent first.
    pub texts: Vec<(String, u64)>,
    /// Rows of further texts, not counted one by one.
    pub uncounted: u64,
    /// Why it is left out, if it is.
    pub left_out: Option<Reason>,
    /// How its text is read.
    pub understood: Understood,
    /// Rows with an infinite number, if there are any, and where the first of them is, if that is known.
    pub infinite: Option<(u64, Option<Place>)>,
    /// Whether it has no name in the table.
    pub unnamed: bool,
    /// Some of its numbers or times, in ascending order.
    pub(super) sample: Vec<f64>,
    /// Whether its numbers seem to be names of rows: each is one more than the one before, or the column is called so.
    pub(super) identifies: bool,
    /// Smallest and largest value of each part of the times, over all rows.
    pub(super) parts: PartRanges,
}

impl Surveyed {
    /// A number or time of the column in words.
    pub fn in_words(&self, value: f64) -> String {
        if let Some(clock) = self.understood.notation.clock {
            return clock.words(value);
        }
        let values = if self.read_as == ReadAs::Times { Values::Times } else { Values::Numbers };
        values(vec![value]).cell(0).unwrap_or_else(|| "missing".into())
    }

    pub(super) fn encoded(&self, scale: Scale, rows: u64) -> Vec<Column> {
        match self.read_as {
            ReadAs::Texts => vec![self.category()],
            ReadAs::Times => {
                let parts = TimePart::ALL.into_iter().filter_map(|part| self.part(part, scale));
                let mut parts: Vec<Column> = parts.collect();
                // One feature for the gaps of a time is enough.
                parts
                    .iter_mut()
                    .skip(1)
                    .filter_map(|part| part.gaps.as_mut())
                    .for_each(|gaps| gaps.told = true);
                parts
            }
            _ => {
                let (min, max) = (self.min, self.max);
                let asinh = if scale == Scale::Linear { None } else { find_asinh(&self.sample) };
                let gaps = self.gaps(self.sample.get(self.sample.len() / 2).copied().unwrap_or(min));
                debug_assert!(self.missing < rows);
                let (name, notation) = (self.name.clone(), self.notation());
                vec![Column { name, min, max, asinh, gaps, notation, ..Column::default() }]
            }
        }
    }

    /// Its missing values, for which another stands.
    fn gaps(&self, middle: f64) -> Option<Gaps> {
        let infinite = self.infinite.is_some();
        (self.missing > 0).then_some(Gaps { rows: self.missing, middle, told: false, infinite })
    }

    fn notation(&self) -> Option<Notation> {
        Some(self.understood.notation.clone())
    }

    fn category(&self) -> Column {
        let level = |(name, rows): &(String, u64)| Level { name: Some(name.clone()), rows: *rows };
        let mut levels: Vec<Level> = self.texts.iter().map(level).collect();
        if self.missing > 0 {
            let place = levels.partition_point(|level| level.rows >= self.missing);
            levels.insert(place, Level { name: None, rows: self.missing });
        }
        let rest = levels.split_off(levels.len().min(MOST_LEVELS));
        let others = self.uncounted + rest.iter().map(|level| level.rows).sum::<u64>();
        let max = (levels.len() + usize::from(others > 0) - 1) as f64;
        // Rarer ones that share a place are each no more frequent than the last that has its own.
        let mut counts: Vec<u64> = levels.iter().map(|level| level.rows).collect();
        counts.extend(counts.last().copied().filter(|_| others > 0));
        let kind = Kind::Category { levels, others, places: places_of(&counts) };
        let notation = self.notation();
        Column { name: self.name.clone(), kind, max, notation, ..Column::default() }
    }

    /// A part of the time, if it differs between rows. When it was is only judged on the asinh scale.
    fn part(&self, part: TimePart, scale: Scale) -> Option<Column> {
        let (min, max) = self.parts[part as usize];
        let mut values: Vec<f64> = self.sample.iter().map(|&time| part.of(time)).collect();
        values.sort_unstable_by(f64::total_cmp);
        // Parts of one time come together; the medians of all parts may never do.
        let middle = part.of(*self.sample.get(self.sample.len() / 2)?);
        let (gaps, typical) = (self.gaps(middle), Some(middle));
        let kind = Kind::Time { part, column: self.name.clone() };
        let name = format!("{} of {}", part.name(), self.name);
        let is_date = part == TimePart::Date;
        let asinh = if is_date { find_asinh(&values) } else { None };
        let used = min < max && !(is_date && scale == Scale::Linear);
        let notation = self.notation();
        used.then_some(Column { name, kind, min, max, asinh, gaps, typical, notation, table_column: None })
    }
}
