//! Values and contributions in words.

use super::numbers::{count, number, rounded, short, thousands};
use super::{Explainer, Replacement};
use crate::encode::Kind;
use crate::profile::{Group, LEAST_ROWS};

/// The share of rows like those of the training that are ordinary.
const ORDINARY: f64 = 0.95;
/// How wide what is usual counts at least, of a range of 2.
const NARROW: f32 = 0.01;
/// The thousands of numbers of at least this size stand apart in sentences; years and small codes stay as they are.
const LARGE: f64 = 10_000.0;

impl Explainer<'_> {
    /// A value of a column in words: a number with the unit its column has, the name of a category, `missing`.
    pub fn words(&self, column: usize, value: f64) -> String {
        let given = &self.detector.encoder().columns()[column];
        match &given.notation {
            _ if given.kind != Kind::Number || given.clock().is_some() || !value.is_finite() => {
                given.words(value)
            }
            // No number that anyone wrote: it stands for one that is as rare.
            _ if given.table_column.is_some() => number(rounded(value)),
            Some(notation) if notation.unit.is_some() => {
                notation.with_unit(value, |value| thousands(&number(value)))
            }
            _ => number(value),
        }
    }

    /// The same in a sentence: of a large number, the thousands apart.
    pub(super) fn said(&self, column: usize, value: f64) -> String {
        let words = self.words(column, value);
        let is_number = self.detector.encoder().columns()[column].kind == Kind::Number;
        if is_number && value.abs() >= LARGE { thousands(&words) } else { words }
    }

    /// Whether a column's numbers are not those of the table: each stands for one that is as rare among all segments.
    pub(super) fn is_relative(&self, column: usize) -> bool {
        let given = &self.detector.encoder().columns()[column];
        given.kind == Kind::Number && given.table_column.is_some()
    }

    /// A column and its value in a sentence; its name alone where the number is none of the table's.
    fn equated(&self, column: usize, value: f64) -> String {
        let given = &self.detector.encoder().columns()[column];
        if self.is_relative(column) && value.is_finite() {
            return self.spoken(column).to_owned();
        }
        let verb = if value.is_finite() && !given.is_missing(value) { "=" } else { "is" };
        format!("{} {verb} {}", self.spoken(column), self.said(column, value))
    }

    /// What a column would be instead, and what it is: nothing where its numbers are none of the table's.
    pub fn replaced(&self, replacement: &Replacement) -> (String, Option<String>) {
        let &Replacement { column, from, to } = replacement;
        match self.is_relative(column) && from.is_finite() {
            true => (if to < from { "lower".into() } else { "higher".into() }, None),
            false => (self.words(column, to), Some(self.words(column, from))),
        }
    }

    /// What sentences call a column: a place in time is simply the time.
    pub fn spoken(&self, column: usize) -> &str {
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
                format!("{}, {}", self.equated(column, value), self.standing(column, value))
            }
            (&[first, second], &[x, y]) => self.describe_pair(term, [first, second], [x, y]),
            _ => String::new(),
        }
    }

    /// Two values that come together, by what is usual for one where the other is as it is.
    fn describe_pair(&self, term: usize, columns: [usize; 2], values: [f64; 2]) -> String {
        let equated = |side: usize| self.equated(columns[side], values[side]);
        let together = || match self.evaluate(term, &[&values])[0] > 0.0 {
            true => "which seldom come together",
            false => "which come together as others do",
        };
        if columns.iter().any(|&column| self.is_relative(column)) {
            return format!("{} with {}, {}", equated(0), equated(1), together());
        }
        let names = columns.map(|column| self.spoken(column));
        let words = |side: usize| self.said(columns[side], values[side]);
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
        format!("{} with {}, {}", equated(0), equated(1), together())
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
        // Where a number stands for those that are missing, rows are counted that do not have it.
        if self.imputed(column).is_at(scaled) {
            return None;
        }
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
            true => self.said(group_of, values[given]),
            false => self.span(group_of, [from, to]),
        };
        Some((given, place, self.span(number, usual)))
    }

    /// Two values of a column in words, from one to the other.
    pub(super) fn span(&self, column: usize, ends: [f32; 2]) -> String {
        let given = &self.detector.encoder().columns()[column];
        let ends = ends.map(|end| self.scalers[column].original(end));
        let reach = given.max - given.min;
        let ends = match (&given.kind, given.clock()) {
            (_, Some(clock)) => ends.map(|end| clock.rounded(end, reach)),
            (Kind::Number, None) => short(ends, reach),
            _ => ends,
        };
        let [low, high] = ends.map(|end| self.said(column, end));
        if low == high { low } else { format!("{low} to {high}") }
    }
}
