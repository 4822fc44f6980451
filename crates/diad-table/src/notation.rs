//! How the text of a column is read: the one rule that makes a value of a cell, whatever file it came from.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Clock, clock, moment, number, time, unit};

/// Whether the day or the month comes first in dates such as 01/02/2024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DateOrder {
    /// The day first.
    Dmy,
    /// The month first.
    Mdy,
}

/// How the text of a column is read. A model remembers it, so that new rows are read as those of the training were.
///
/// ```
/// use diad_table::{DateOrder, Notation};
///
/// let german = Notation { decimal_comma: true, ..Notation::default() };
/// assert_eq!(german.number("1.234,50 €"), Some(1234.5));
/// assert!(german.number("k. A.").is_none() && german.number("n/a").is_some_and(f64::is_nan));
/// let american = Notation { dates: Some(DateOrder::Mdy), ..Notation::default() };
/// assert_eq!(american.time("1/31/1970"), Some(30.0 * 86_400.0));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Notation {
    /// Whether the decimal mark is a comma.
    #[serde(default, skip_serializing_if = "is_false")]
    pub decimal_comma: bool,
    /// Which of day and month comes first, where that matters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dates: Option<DateOrder>,
    /// Whether the column had cells that are no numbers or times: they are missing values.
    #[serde(default, skip_serializing_if = "is_false")]
    pub stray: bool,
    /// What truth values are called, no and yes, if the column has nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub truths: Option<[String; 2]>,
    /// What stands before and after numbers: the sign of a currency or of per cent, or a unit such as `kg`. A number with another
    /// unit is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<[String; 2]>,
    /// How times of a day or durations are written, if the column has those; they are numbers of seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// Whether `k`, `M` and `B` behind numbers stand for thousands, millions and thousand millions.
    #[serde(default, skip_serializing_if = "is_false")]
    pub multiples: bool,
    /// Whether dates are written with eight digits, such as 20150803.
    #[serde(default, skip_serializing_if = "is_false")]
    pub eight_digits: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Pairs of words for no and yes, in any case.
pub const TRUTHS: [[&str; 2]; 5] = [["false", "true"], ["no", "yes"], ["f", "t"], ["n", "y"], ["off", "on"]];

/// What a missing value may be written as, in any case, apart from an empty cell.
pub const MISSING: [&str; 15] = [
    "na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a", "nat", "\\n", "n.a.", "(null)", "-nan", "#na",
    "#n/a n/a",
];

impl Notation {
    /// A number; NaN for a missing value; nothing for other text.
    pub fn number(&self, cell: &str) -> Option<f64> {
        let cell = trimmed(cell);
        if is_missing(cell) {
            return Some(f64::NAN);
        }
        if let Some(clock) = self.clock {
            // Numbers are seconds, as of typed columns; a moment is one of the day that stands for none.
            let shown = clock::read(cell).map(|shown| shown.by(clock));
            let moment = || moment::iso(cell.as_bytes()).filter(|moment| (0.0..86_400.0).contains(moment));
            let seconds = shown.or_else(|| cell.parse().ok()).or_else(moment);
            return seconds.or_else(|| self.stray.then_some(f64::NAN));
        }
        if let Some(number) = self.present_number(cell) {
            return Some(number);
        }
        // A column of truth values may have been one of noughts and ones.
        match truth(cell) {
            Some((0, truth)) => Some(f64::from(u8::from(truth))),
            _ => self.stray.then_some(f64::NAN),
        }
    }

    /// A number that is there.
    pub(crate) fn present_number(&self, cell: &str) -> Option<f64> {
        if !self.decimal_comma
            && let Ok(number) = cell.parse::<f64>()
        {
            return Some(number);
        }
        let number = number::written(cell, self.decimal_comma).map(|found| found.value);
        let with_unit = || match &self.unit {
            _ if self.multiples => unit::multiple(cell, self.decimal_comma),
            Some([_, unit]) if !unit.is_empty() => unit::written(cell, unit, self.decimal_comma),
            _ => None,
        };
        number.or_else(with_unit)
    }

    /// Whether numbers have units behind them, beside signs of currencies and of per cent, or letters for thousands.
    ///
    /// ```
    /// use diad_table::Notation;
    ///
    /// let has_unit = |after: &str| Notation { unit: Some([String::new(), after.into()]), ..Notation::default() }.has_unit();
    /// assert_eq!(["kg", "/mo", "€", "CHF", "%", ""].map(has_unit), [true, true, false, false, false, false]);
    /// ```
    pub fn has_unit(&self) -> bool {
        let unit = |after: &str| number::written(&format!("1 {after}"), false).is_none();
        self.multiples || self.unit.as_ref().is_some_and(|[_, after]| !after.is_empty() && unit(after))
    }

    /// A number as its column writes it, by its digits: with its unit.
    ///
    /// ```
    /// use diad_table::Notation;
    ///
    /// let pounds = Notation { unit: Some(["£".into(), String::new()]), ..Notation::default() };
    /// assert_eq!(pounds.with_unit(-12.5, |number| number.to_string()), "-£12.5");
    /// let shares = Notation { unit: Some([String::new(), "%".into()]), ..Notation::default() };
    /// assert_eq!(shares.with_unit(0.25, |number| number.to_string()), "25%");
    /// let weights = Notation { unit: Some([String::new(), "kg".into()]), ..Notation::default() };
    /// assert_eq!(weights.with_unit(72.3, |number| number.to_string()), "72.3 kg");
    /// assert_eq!(weights.number("72.3kg"), Some(72.3));
    /// ```
    pub fn with_unit(&self, number: f64, digits: impl Fn(f64) -> String) -> String {
        let Some([before, after]) = &self.unit else { return digits(number) };
        if after == "%" {
            return format!("{before}{}%", digits(number * 100.0));
        }
        let (sign, size) = if number < 0.0 { ("-", digits(-number)) } else { ("", digits(number)) };
        let apart = |unit: &str| if unit.chars().any(char::is_alphabetic) { " " } else { "" };
        let space = if after.is_empty() || after.starts_with(['/', '"', '″', '′']) { "" } else { " " };
        format!("{sign}{before}{}{size}{space}{after}", apart(before))
    }

    /// A time as seconds since the start of 1970; NaN for a missing value; nothing for other text.
    pub fn time(&self, cell: &str) -> Option<f64> {
        let cell = trimmed(cell);
        if is_missing(cell) {
            return Some(f64::NAN);
        }
        let time = moment::iso(cell.as_bytes()).or_else(|| moment::read(cell)?.by(self.dates));
        let time = time.or_else(|| time::of_eight_digits(cell).filter(|_| self.eight_digits));
        time.or_else(|| self.stray.then_some(f64::NAN))
    }

    /// A text; nothing for a missing one. Truth values have one spelling, and whole numbers have no decimal places.
    pub fn text<'a>(&'a self, cell: &'a str) -> Option<Cow<'a, str>> {
        let cell = trimmed(cell);
        if is_missing(cell) {
            return None;
        }
        if let Some(truths) = &self.truths {
            let is = match (cell, truth(cell)) {
                (_, Some((_, is))) => Some(is),
                ("0" | "0.0", _) => Some(false),
                ("1" | "1.0", _) => Some(true),
                _ => None,
            };
            if let Some(is) = is {
                return Some(Cow::Borrowed(&truths[usize::from(is)]));
            }
        }
        Some(Cow::Borrowed(whole(cell)))
    }
}

/// The text of a cell without the white space around it.
pub(crate) fn trimmed(cell: &str) -> &str {
    let plain = |byte: Option<&u8>| byte.is_none_or(|byte| byte.is_ascii_graphic());
    if plain(cell.as_bytes().first()) && plain(cell.as_bytes().last()) { cell } else { cell.trim() }
}

/// Whether a cell holds no value, by its text.
pub(crate) fn is_missing(cell: &str) -> bool {
    cell.is_empty() || (cell.len() <= 8 && MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word)))
}

/// Whether a word says no or yes, and in which pair of words it does.
pub(crate) fn truth(cell: &str) -> Option<(usize, bool)> {
    if cell.len() > 5 {
        return None;
    }
    let place = |pair: &[&str; 2]| pair.iter().position(|word| cell.eq_ignore_ascii_case(word));
    TRUTHS.iter().enumerate().find_map(|(pair, words)| place(words).map(|place| (pair, place == 1)))
}

/// A whole number without the decimal places that some programs give it; any other text as it is.
fn whole(cell: &str) -> &str {
    match cell.strip_suffix(".0") {
        Some(whole) if is_whole(whole) => whole,
        _ => cell,
    }
}

/// Whether a text is a whole number, so that the same text with `.0` behind it means it as well.
pub fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_values_have_one_spelling() {
        let notation = Notation { truths: Some(["No".into(), "Yes".into()]), ..Notation::default() };
        for cell in ["Yes", "yes", "TRUE", "true", "y", "1", "T", "on"] {
            assert_eq!(notation.text(cell).as_deref(), Some("Yes"), "{cell}");
        }
        assert_eq!(notation.text(" FALSE ").as_deref(), Some("No"));
        assert_eq!(notation.text("maybe").as_deref(), Some("maybe"));
        assert_eq!(notation.text("NA"), None);
    }

    #[test]
    fn texts_are_as_they_are_written_but_for_decimal_places_of_whole_numbers() {
        let plain = Notation::default();
        for (cell, text) in
            [("12.0", "12"), ("-3.0", "-3"), ("1.10", "1.10"), ("01", "01"), ("a.0", "a.0"), (".0", ".0")]
        {
            assert_eq!(plain.text(cell).as_deref(), Some(text));
        }
        assert_eq!(plain.text("\u{a0}x "), Some("x".into()));
    }

    #[test]
    fn eight_digits_are_dates_where_the_column_has_them() {
        let dates = Notation { eight_digits: true, ..Notation::default() };
        assert_eq!(["19700102", "1970-01-02"].map(|cell| dates.time(cell)), [Some(86_400.0); 2]);
        assert_eq!(Notation::default().time("19700102"), None);
    }

    #[test]
    fn truth_values_are_numbers_where_numbers_are_wanted() {
        let plain = Notation::default();
        assert_eq!(["true", "False", "yes"].map(|cell| plain.number(cell)), [Some(1.0), Some(0.0), None]);
        let stray = Notation { stray: true, ..Notation::default() };
        assert!(
            stray.number("pending").is_some_and(f64::is_nan) && stray.time("soon").is_some_and(f64::is_nan)
        );
    }
}
