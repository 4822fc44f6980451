//! Values and contributions in words.

use std::fmt;

use super::Explainer;
use crate::encode::{Kind, Oddity};
use crate::table::TimePart;

/// On which side of the training rows a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Below all training values.
    Below,
    /// Above all training values.
    Above,
}

/// How a value stands among the training rows. Written as text it reads, for example, "higher than 99.7 % of rows".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// The share of training rows with a smaller value.
    pub below: f64,
    /// The share of training rows with this value or a smaller one.
    pub up_to: f64,
    /// Whether it lies outside the range seen in training.
    pub outside: Option<Outside>,
    few_values: bool,
    /// Of a date that lies far from them, when the training rows were.
    seen: Option<Seen>,
    /// Why it is no value that the training could have had.
    oddity: Option<Oddity>,
    /// Whether the value is a category or missing, and so neither high nor low.
    unordered: bool,
}

/// When training rows were, in days: from and to.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    /// All of them.
    All([f64; 2]),
    /// Nearly all of them.
    Most([f64; 2]),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, dates) = match self {
            Self::All(dates) => ("outside everything seen", dates),
            Self::Most(dates) => ("far from nearly all rows", dates),
        };
        let [from, to] = dates.map(TimePart::date_in_words);
        write!(f, "{words}, {from} to {to}")
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let same = self.up_to - self.below;
        if self.oddity.is_some() {
            return write!(f, "never so in training");
        }
        if let Some(seen) = self.seen {
            return seen.fmt(f);
        }
        match self.outside {
            _ if self.unordered && same <= 0.0 => write!(f, "as in no training row"),
            _ if self.unordered => write!(f, "as in {} of rows", percent(same)),
            Some(Outside::Below) => write!(f, "below the range seen in training"),
            Some(Outside::Above) => write!(f, "above the range seen in training"),
            None if self.few_values && same > 0.0 => write!(f, "as in {} of rows", percent(same)),
            None if self.below + self.up_to >= 1.0 => {
                write!(f, "higher than {} of rows", percent(self.below))
            }
            None => write!(f, "lower than {} of rows", percent(1.0 - self.up_to)),
        }
    }
}

/// The share of the rows at either end that are not among nearly all.
const STRAY: f64 = 0.01;

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
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if size >= 1e-5 && plain.len() <= LONGEST_PLAIN {
        return plain;
    }
    if (1e-5..1e15).contains(&size) { rounded.to_string() } else { format!("{rounded:e}") }
}

impl Explainer<'_> {
    /// How a value of a column stands among the training rows.
    pub fn standing(&self, column: usize, value: f64) -> Standing {
        let given = &self.detector.encoder().columns()[column];
        let spread = &self.detector.profile().columns[column];
        let oddity = given.oddity(value);
        if oddity.is_some() {
            let (below, up_to) = (0.0, 0.0);
            let (few_values, seen, unordered) = (true, None, true);
            return Standing { below, up_to, outside: None, few_values, seen, oddity, unordered };
        }
        if let (true, Some(gaps)) = (value.is_nan(), given.gaps) {
            let share = gaps.rows as f64 / self.detector.training_rows().max(1) as f64;
            return Standing {
                below: 0.0,
                up_to: share.min(1.0),
                outside: None,
                few_values: true,
                seen: None,
                oddity: None,
                unordered: true,
            };
        }
        let scaled = self.scalers[column].scale(value);
        let outside = if value < given.min {
            Some(Outside::Below)
        } else if value > given.max {
            Some(Outside::Above)
        } else {
            None
        };
        let few_values = spread.distinct().is_some_and(|distinct| distinct.len() <= 10);
        let unordered = given.positions() > 0;
        let seen = given.is_date().then(|| self.seen(column, value, outside)).flatten();
        let (below, up_to) = (spread.below(scaled), spread.up_to(scaled));
        Standing { below, up_to, outside, few_values, seen, oddity, unordered }
    }

    /// When the training rows were, for a date that lies outside of all of them or far from nearly all.
    fn seen(&self, column: usize, date: f64, outside: Option<Outside>) -> Option<Seen> {
        let given = &self.detector.encoder().columns()[column];
        if outside.is_some() {
            return Some(Seen::All([given.min, given.max]));
        }
        let spread = &self.detector.profile().columns[column];
        let most @ [from, to] =
            [STRAY, 1.0 - STRAY].map(|share| self.scalers[column].original(spread.quantile(share)));
        let length = to - from;
        (date < from - length || date > to + length).then_some(Seen::Most(most))
    }

    /// A value of a column in words: a number, the name of a category, `missing`.
    pub fn words(&self, column: usize, value: f64) -> String {
        let given = &self.detector.encoder().columns()[column];
        if given.kind == Kind::Number && value.is_finite() { number(value) } else { given.words(value) }
    }

    /// The share of training rows with a lower score.
    pub fn score_standing(&self, score: f32) -> f64 {
        self.detector.profile().scores.below(score)
    }

    /// The score that a share of the training rows do not exceed.
    pub fn score_quantile(&self, share: f64) -> f32 {
        self.detector.profile().scores.quantile(share)
    }

    /// A term at values of its columns in words: "TSH = 4.2, higher than 99.7 % of rows".
    ///
    /// # Panics
    /// If there is no such term, or there is not one value for each of its columns.
    pub fn describe(&self, term: usize, values: &[f64]) -> String {
        let columns = self.terms[term].columns();
        assert_eq!(columns.len(), values.len(), "one value for each column of the term");
        let names = self.detector.encoder().columns();
        let parts: Vec<String> = columns
            .iter()
            .zip(values)
            .map(|(&column, &value)| {
                format!(
                    "{} = {}, {}",
                    names[column].name,
                    self.words(column, value),
                    self.standing(column, value)
                )
            })
            .collect();
        parts.join("; with ")
    }
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
    }
}
