//! The columns of a model found in a batch: numbers, positions of categories and parts of times, and the cells that do not fit.

use std::borrow::Cow;
use std::collections::HashMap;

use super::column::{Column, Kind, Level};
use super::odd::{OddCell, Oddity, Stranger};
use crate::Result;
use crate::table::{Notation, Table, Texts, TimePart, Values, date_of_digits, read_numbers, read_time};

/// Numbers of this size may be seconds since the start of 1970.
const SECONDS: f64 = 1e7;

/// The columns of a batch.
pub(crate) struct Found<'a> {
    /// The values of each of the encoder's columns.
    pub columns: Vec<Cow<'a, [f64]>>,
    /// The cells that do not fit, column after column.
    pub odd: Vec<OddCell>,
    /// The rows of no segment that the training had.
    pub strangers: Vec<Stranger>,
}

impl Found<'_> {
    /// Refuses cells that do not fit. A missing category is one that the training did not have, as others may be.
    ///
    /// # Errors
    /// Names the first of them.
    pub fn or_refuse(self, columns: &[Column], batch: &Table) -> Result<Self> {
        match self.odd.iter().find(|odd| columns[odd.column].positions() == 0) {
            None => Ok(self),
            Some(first) => first.clone().refused(&columns[first.column], batch),
        }
    }
}

/// The values of a column in a batch. Cells that do not fit are reported if `tells`.
pub(super) fn values_of<'a>(
    (index, column, tells): (usize, &Column, bool),
    values: &'a Values,
) -> (Cow<'a, [f64]>, Vec<OddCell>) {
    let found = match (&column.kind, values) {
        (_, Values::Encoded(values)) => Cow::Borrowed(&values[..]),
        (Kind::Category { levels, .. }, values) => {
            Cow::Owned(level_positions(levels, &values.as_texts(), column.notation.as_ref()))
        }
        (Kind::Number, Values::Numbers(values)) => Cow::Borrowed(&values[..]),
        (Kind::Number, Values::Texts(texts)) => Cow::Owned(each(texts, &numbers(column, texts.levels()))),
        (Kind::Number, Values::Times(values)) if column.is_clock() || column.max.abs() >= SECONDS => {
            Cow::Borrowed(&values[..])
        }
        (Kind::Time { part, .. }, Values::Times(values)) => parts(*part, values),
        (Kind::Time { part, .. }, Values::Texts(texts)) => {
            parts(*part, &each(texts, &times(column, texts.levels())))
        }
        (Kind::Time { part, .. }, Values::Numbers(values)) => {
            let date = |value: &f64| date_of_digits(*value).unwrap_or(Oddity::Unreadable.mark());
            let dates = values.iter().map(|value| if value.is_nan() { *value } else { date(value) });
            parts(*part, &dates.collect::<Vec<f64>>())
        }
        (Kind::Number, Values::Times(values)) => {
            let unreadable = |value: &f64| if value.is_nan() { *value } else { Oddity::Unreadable.mark() };
            Cow::Owned(values.iter().map(unreadable).collect())
        }
    };
    let is_odd = |value: &f64| !value.is_finite() && (value.is_infinite() || column.oddity(*value).is_some());
    let Some(first) = found.iter().position(is_odd) else { return (found, Vec::new()) };
    let (mut found, mut odd) = (found.into_owned(), Vec::new());
    for (row, value) in found.iter_mut().enumerate().skip(first) {
        if let Some(oddity) = column.oddity(*value) {
            *value = oddity.mark();
            if tells {
                odd.push(OddCell { column: index, row, oddity, cell: values.cell(row) });
            }
        } else if value.is_infinite() {
            *value = f64::NAN;
        }
    }
    (Cow::Owned(found), odd)
}

/// A part of each of some times; what is no time stays as it is marked.
fn parts(part: TimePart, times: &[f64]) -> Cow<'static, [f64]> {
    let of = |&time: &f64| if time.is_finite() { part.of(time) } else { time };
    Cow::Owned(times.iter().map(of).collect())
}

/// The numbers that texts say by the rule of the training. Models of the first versions had one rule for all columns.
fn numbers(column: &Column, texts: &[String]) -> Vec<Option<f64>> {
    match &column.notation {
        Some(notation) => texts.iter().map(|text| notation.number(text)).collect(),
        None => read_numbers(texts),
    }
}

/// The times that texts say by the rule of the training.
fn times(column: &Column, texts: &[String]) -> Vec<Option<f64>> {
    let time = |text: &String| match &column.notation {
        Some(notation) => notation.time(text),
        None => read_time(text),
    };
    texts.iter().map(time).collect()
}

/// What the text of each row says, by what the different texts say; a mark where it says nothing.
fn each(texts: &Texts, said: &[Option<f64>]) -> Vec<f64> {
    let said: Vec<f64> = said.iter().map(|said| said.unwrap_or_else(|| Oddity::Unreadable.mark())).collect();
    texts.codes().map(|code| code.map_or(f64::NAN, |code| said[code])).collect()
}

/// The positions of categories; one more than the last for those that are not known, and NaN for a missing one if none was in
/// the training.
fn level_positions(levels: &[Level], texts: &Texts, notation: Option<&Notation>) -> Vec<f64> {
    let known: HashMap<Option<&str>, f64> =
        levels.iter().enumerate().map(|(position, level)| (level.name.as_deref(), position as f64)).collect();
    let position = |name: &str| known.get(&Some(name)).copied().unwrap_or(levels.len() as f64);
    let missing = known.get(&None).copied().unwrap_or(f64::NAN);
    let found = texts.levels().iter().map(|text| match notation {
        Some(notation) => notation.text(text).map_or(missing, |name| position(&name)),
        None => position(text),
    });
    let found: Vec<f64> = found.collect();
    texts.codes().map(|code| code.map_or(missing, |code| found[code])).collect()
}
