//! Values and contributions in words.

use std::fmt;

use super::Explainer;
use crate::encode::Kind;
use crate::profile::{Group, LEAST_ROWS};
use crate::table::TimePart;

/// The share of rows like those of the training that are ordinary.
const ORDINARY: f64 = 0.95;
/// Most values of a column of which it is said how often they come.
const FEW: usize = 12;
/// How wide what is usual counts at least, of a range of 2.
const NARROW: f32 = 0.01;

/// On which side of the training rows a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Below all training values.
    Below,
    /// Above all training values.
    Above,
}

/// How a value stands among the training rows. Written as text it reads, for example, "higher than 99.7 % of rows".
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The share of training rows with a smaller value.
    pub below: f64,
    /// The share of training rows with this value or a smaller one.
    pub up_to: f64,
    /// Whether it lies outside the range seen in training.
    pub outside: Option<Outside>,
    words: Words,
}

/// What there is to say of a value.
#[derive(Debug, Clone, PartialEq)]
enum Words {
    /// Something of its own.
    Said(String),
    /// How many of all rows have the same value; a share where rows were not all counted.
    Rows {
        same: u64,
        all: u64,
    },
    Share(f64),
    /// It lies above or below most rows.
    Rank {
        above: bool,
        time: bool,
    },
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.words {
            Words::Said(text) => f.write_str(text),
            Words::Rows { same: 0, .. } => f.write_str("as in no training row"),
            Words::Rows { same, all } => write!(f, "as in {} of {} rows", count(*same), count(*all)),
            Words::Share(share) => write!(f, "as in {} of rows", percent(*share)),
            Words::Rank { above, time } => {
                let word = match (above, time) {
                    (true, true) => "later",
                    (true, false) => "higher",
                    (false, true) => "earlier",
                    (false, false) => "lower",
                };
                let share = if *above { self.below } else { 1.0 - self.up_to };
                write!(f, "{word} than {} of rows", percent(share))
            }
        }
    }
}

/// The share of the rows at either end that are not among nearly all.
const STRAY: f64 = 0.01;
/// So many times the next value is worth saying, and no more than so many.
const MANY_TIMES: f64 = 1.5;
const TOO_MANY_TIMES: f64 = 1e6;
/// Most rows of which every one was counted.
const COUNTED: u64 = 1 << 16;
/// Digits of the ends of what is usual, and the share of the larger end that counts as 0.
const DIGITS: usize = 3;
const NOTHING: f64 = 1e-5;

/// Most characters of a number that is shown with all its digits.
const LONGEST_PLAIN: usize = 12;

/// A share as a percentage that is 0 or 100 only if it is exactly that.
pub(super) fn percent(share: f64) -> String {
    let percentage = share * 100.0;
    let text = match percentage {
        p if p <= 0.0 => "0".to_owned(),
        p if p < 0.1 => "less than 0.1".to_owned(),
        p if p >= 100.0 => "100".to_owned(),
        p if p > 99.99 => "more than 99.99".to_owned(),
        p if p > 99.0 => format!("{p:.2}"),
        p => format!("{p:.1}"),
    };
    format!("{text} %")
}

/// A number as people write it: all its digits where these are few, else six, and powers of ten where it would be long.
///
/// ```
/// use diad::explain::number;
///
/// assert_eq!([4.2, -0.0, 1234567.8, 1e-9, 2.0 / 3.0].map(number), ["4.2", "0", "1234567.8", "1e-9", "0.666667"]);
/// ```
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let plain = value.to_string();
    if value.abs() >= 1e-5 && plain.len() <= LONGEST_PLAIN {
        return plain;
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if (1e-5..1e15).contains(&size) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// A whole number with its thousands apart.
pub(super) fn count(number: u64) -> String {
    thousands(&number.to_string())
}

/// A number with the thousands before its point apart; one with a power of ten as it is.
fn thousands(number: &str) -> String {
    let (digits, rest) = number.split_at(number.find('.').unwrap_or(number.len()));
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return number.to_owned();
    }
    let mut text = String::with_capacity(number.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// How many times as much, in as many digits as people say: "1.9 times", "11 times".
fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1} times") } else { format!("{} times", count(ratio.round() as u64)) }
}

impl Explainer<'_> {
    /// How a value of a column stands among the training rows.
    pub fn standing(&self, column: usize, value: f64) -> Standing {
        let given = &self.detector.encoder().columns()[column];
        let spread = &self.detector.profile().columns[column];
        let all = self.detector.training_rows();
        let nowhere = |words| Standing { below: 0.0, up_to: 0.0, outside: None, words };
        if given.oddity(value).is_some() {
            return nowhere(Words::Rows { same: 0, all });
        }
        if let (true, Some(gaps)) = (value.is_nan(), given.gaps) {
            let up_to = (gaps.rows as f64 / all.max(1) as f64).min(1.0);
            return Standing { up_to, ..nowhere(Words::Rows { same: gaps.rows, all }) };
        }
        let scaled = self.scalers[column].scale(value);
        let outside = if value < given.min {
            Some(Outside::Below)
        } else if value > given.max {
            Some(Outside::Above)
        } else {
            None
        };
        let (below, up_to) = (spread.below(scaled), spread.up_to(scaled));
        // What is kept of a column's spread may be too coarse for a rare category.
        let known = given.levels().get(value.max(0.0).round() as usize).filter(|_| given.positions() > 0);
        let up_to = known.map_or(up_to, |level| below + level.rows as f64 / all.max(1) as f64);
        let same = up_to - below;
        let few = spread.distinct().is_some_and(|distinct| distinct.len() <= FEW);
        let words = match &given.kind {
            Kind::Category { levels, others, .. } => match levels.get(value.max(0.0).round() as usize) {
                Some(level) => Words::Rows { same: level.rows, all },
                None if *others > 0 => {
                    let (others, all) = (count(*others), count(all));
                    Words::Said(format!("of which all together have {others} of {all} rows"))
                }
                None => Words::Rows { same: 0, all },
            },
            _ if few && outside.is_none() && same > 0.0 && all <= COUNTED => {
                Words::Rows { same: (same * all as f64).round().max(1.0) as u64, all }
            }
            _ if few && outside.is_none() && same > 0.0 => Words::Share(same),
            _ => self.extreme(column, value, outside).map_or_else(
                || Words::Rank {
                    above: below + up_to >= 1.0,
                    time: matches!(given.kind, Kind::Time { part: TimePart::Hour | TimePart::Date, .. }),
                },
                Words::Said,
            ),
        };
        Standing { below, up_to, outside, words }
    }

    /// What there is to say of a number beyond all others or at their end, or of a date far from nearly all.
    fn extreme(&self, column: usize, value: f64, outside: Option<Outside>) -> Option<String> {
        let given = &self.detector.encoder().columns()[column];
        let is_number = given.kind == Kind::Number;
        let [low, high] = [given.min, given.max];
        let rows = || count(self.detector.training_rows());
        let is_many = |value: f64, next: f64| {
            is_number && next > 0.0 && (MANY_TIMES..TOO_MANY_TIMES).contains(&(value / next))
        };
        if outside == Some(Outside::Above) && is_many(value, high) {
            return Some(format!("{} the largest of {} rows", times(value / high), rows()));
        }
        if outside.is_some() {
            let [low, high] = [low, high].map(|end| self.words(column, end));
            return Some(format!("outside everything seen: {low} to {high}"));
        }
        if given.is_date() {
            return self.far_date(column, value);
        }
        // Ends that several rows have are next to themselves.
        let [next_low, next_high] = *self.detector.profile().next.get(column)?;
        let original = |scaled: f32| self.scalers[column].original(scaled);
        if is_number && value == high && next_high < 1.0 {
            let next = original(next_high);
            return Some(match is_many(high, next) {
                true => format!("{} the next largest of {} rows", times(high / next), rows()),
                false => format!("the largest of {} rows", rows()),
            });
        }
        if is_number && value == low && next_low > -1.0 {
            let zero = self.scalers[column].scale(0.0);
            return Some(match low {
                low if low < 0.0 && next_low >= zero => format!("the only one below 0 of {} rows", rows()),
                0.0 => format!("the only 0 of {} rows", rows()),
                _ => format!("the smallest of {} rows", rows()),
            });
        }
        None
    }

    /// When nearly all training rows were, for a date that lies far from them.
    fn far_date(&self, column: usize, date: f64) -> Option<String> {
        let spread = &self.detector.profile().columns[column];
        let [from, to] =
            [STRAY, 1.0 - STRAY].map(|share| self.scalers[column].original(spread.quantile(share)));
        let length = to - from;
        let [first, last] = [from, to].map(TimePart::date_in_words);
        (date < from - length || date > to + length)
            .then(|| format!("far from nearly all rows: {first} to {last}"))
    }

    /// A value of a column in words: a number with the unit its column has, the name of a category, `missing`.
    pub fn words(&self, column: usize, value: f64) -> String {
        let given = &self.detector.encoder().columns()[column];
        match &given.notation {
            _ if given.kind != Kind::Number || !value.is_finite() => given.words(value),
            Some(notation) if notation.unit.is_some() => {
                notation.with_unit(value, |value| thousands(&number(value)))
            }
            _ => number(value),
        }
    }

    /// What sentences call a column: a place in time is simply the time.
    pub(crate) fn spoken(&self, column: usize) -> &str {
        let given = &self.detector.encoder().columns()[column];
        if given.is_date() { given.source() } else { &given.name }
    }

    /// The share of training rows with a lower score.
    pub fn score_standing(&self, score: f32) -> f64 {
        self.detector.profile().scores.below(score)
    }

    /// The score from which on a row is no longer ordinary: no more than 1 of 20 rows like those of the training has it.
    pub fn ordinary(&self) -> f32 {
        let score = self.detector.calibration().score_at(1.0 - ORDINARY);
        // A calibration of a few rows cannot tell.
        if score.is_finite() { score } else { self.score_quantile(ORDINARY) }
    }

    /// The score that a share of the training rows do not exceed.
    pub fn score_quantile(&self, share: f64) -> f32 {
        self.detector.profile().scores.quantile(share)
    }

    /// A term at values of its columns in words, such as "TSH = 4.2, higher than 99.7 % of rows" or
    /// "currency = CHF where country is GB; in none of 1,204 rows".
    ///
    /// # Panics
    /// If there is no such term, or there is not one value for each of its columns.
    pub fn describe(&self, term: usize, values: &[f64]) -> String {
        let columns = self.terms[term].columns();
        assert_eq!(columns.len(), values.len(), "one value for each column of the term");
        match (columns, values) {
            (&[column], &[value]) => {
                let given = &self.detector.encoder().columns()[column];
                let (words, standing) = (self.words(column, value), self.standing(column, value));
                let verb = if value.is_finite() && !given.is_missing(value) { "=" } else { "is" };
                format!("{} {verb} {words}, {standing}", self.spoken(column))
            }
            (&[first, second], &[x, y]) => self.describe_pair([first, second], [x, y]),
            _ => String::new(),
        }
    }

    /// Two values that come together, by what is usual for one where the other is as it is.
    fn describe_pair(&self, columns: [usize; 2], values: [f64; 2]) -> String {
        let names = columns.map(|column| self.spoken(column));
        let words = |side: usize| self.words(columns[side], values[side]);
        if let Some((given, rows, all)) = self.counted(columns, values) {
            let found = match rows {
                0 => format!("in none of {} rows", count(all)),
                rows => format!("in {} of {} rows", count(rows), count(all)),
            };
            let other = 1 - given;
            return format!(
                "{} = {} where {} is {}; {found}",
                names[other],
                words(other),
                names[given],
                words(given)
            );
        }
        if let Some((given, place, usual)) = self.unusual(columns, values) {
            let other = 1 - given;
            return format!(
                "{} = {} where {} is {place}; usual {usual}",
                names[other],
                words(other),
                names[given]
            );
        }
        format!("{} = {} with {} = {}, which seldom come together", names[0], words(0), names[1], words(1))
    }

    /// How many of the training rows with one of two values also have the other: which side is given, how many do, of how many.
    /// The side that more rows have is given.
    fn counted(&self, columns: [usize; 2], values: [f64; 2]) -> Option<(usize, u64, u64)> {
        let counts = self.detector.profile().counts_of(columns)?;
        let mut at = [0; 2];
        for (side, (column, value)) in columns.into_iter().zip(values).enumerate() {
            at[side] = self.node_of(column, value)?;
        }
        let rows = counts.rows_at(at)?;
        let margins = self.margins.get(&columns)?;
        let [first, second] = [0, 1].map(|side| margins[side][usize::from(at[side])]);
        let given = usize::from(second > first);
        (first.max(second) > 0).then(|| (given, u64::from(rows), first.max(second)))
    }

    /// The node of a value that only certain values can have: a category, or one of few numbers.
    fn node_of(&self, column: usize, value: f64) -> Option<u16> {
        let given = &self.detector.encoder().columns()[column];
        let scaled = self.scalers[column].scale(value);
        let exact = given.positions() > 0 || self.detector.profile().columns[column].distinct().is_some();
        let node = self.nodes[column].binary_search_by(|node| node.total_cmp(&scaled)).ok()?;
        (exact && given.oddity(value).is_none() && !(value.is_nan() && given.positions() == 0))
            .then_some(node as u16)
    }

    /// A number outside of what is usual where another column is as it is: which side is given, what it is there, and what is usual.
    fn unusual(&self, columns: [usize; 2], values: [f64; 2]) -> Option<(usize, String, String)> {
        let found = [0, 1].map(|given| {
            let [group_of, number] = [columns[given], columns[1 - given]];
            let [x, y] = [values[given], values[1 - given]];
            if !x.is_finite() || !y.is_finite() {
                return None;
            }
            let ranges = self.detector.profile().ranges_of([group_of, number])?;
            let group = self.groups[group_of].of(self.scalers[group_of].scale(x))?;
            let Group { rows, usual: [low, high] } = ranges.groups[group];
            let y = self.scalers[number].scale(y);
            let beyond = (low - y).max(y - high);
            (rows >= LEAST_ROWS && beyond > 0.0)
                .then(|| (given, group, [low, high], beyond / (high - low + NARROW)))
        });
        let further =
            |a: &(usize, usize, [f32; 2], f32), b: &(usize, usize, [f32; 2], f32)| a.3.total_cmp(&b.3);
        let (given, group, usual, _) = found.into_iter().flatten().max_by(further)?;
        let [group_of, number] = [columns[given], columns[1 - given]];
        let [from, to] = self.groups[group_of].reach[group];
        let place = match from == to {
            true => self.words(group_of, values[given]),
            false => self.span(group_of, [from, to]),
        };
        Some((given, place, self.span(number, usual)))
    }

    /// Two values of a column in words, from one to the other.
    fn span(&self, column: usize, ends: [f32; 2]) -> String {
        let is_number = self.detector.encoder().columns()[column].kind == Kind::Number;
        let ends = ends.map(|end| self.scalers[column].original(end));
        let size = ends[0].abs().max(ends[1].abs());
        let [low, high] = ends.map(|end| self.words(column, if is_number { short(end, size) } else { end }));
        if low == high { low } else { format!("{low} to {high}") }
    }
}

/// A number with a few digits; 0 if it is nothing beside a size.
fn short(value: f64, size: f64) -> f64 {
    if value.abs() < NOTHING * size {
        return 0.0;
    }
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_all_or_nothing_only_if_it_is() {
        let shares = [0.0, 1e-7, 0.00099, 0.003, 0.5, 0.98765, 0.997, 0.999999, 1.0];
        assert_eq!(
            shares.map(percent),
            [
                "0 %",
                "less than 0.1 %",
                "less than 0.1 %",
                "0.3 %",
                "50.0 %",
                "98.8 %",
                "99.70 %",
                "more than 99.99 %",
                "100 %"
            ]
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [1e15, 123456.0, 0.1 + 0.2, f64::MAX].map(number),
            ["1e15", "123456", "0.3", "1.79769e308"]
        );
        assert_eq!(
            ["999", "1234.5678", "1234567", "1e15"].map(thousands),
            ["999", "1,234.5678", "1,234,567", "1e15"]
        );
        assert_eq!([short(3.06e-7, 10.0), short(-12.3456, 50.0), short(1e-9, 1e-9)], [0.0, -12.3, 1e-9]);
    }
}
