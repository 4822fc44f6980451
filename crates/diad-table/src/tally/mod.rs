//! What the cells of a column are, gathered batch by batch, and what the column is read as in the end.

use std::collections::{HashMap, HashSet};

use crate::clock::{self, Form};
use crate::notation::{is_missing, trimmed, truth};
use crate::{DateOrder, Place, Table, Texts, Values, moment, number};
use digits::Digits;
use stray::{Class, class_of};
use units::{Meaning, Unit};

mod digits;
mod stray;
mod understood;
mod units;

pub use stray::Stray;
pub use understood::{Hints, Understood, understood};

/// Most different stray texts that are remembered.
const MOST_STRAYS: usize = 200;
/// Most different numbers that are counted.
const MOST_NUMBERS: usize = 64;
/// Times before this are those of a day without a date.
const DAY: f64 = 86_400.0;

/// What the cells of a column are.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    present: u64,
    /// Cells that are numbers with a decimal point, with a comma, and by one of these readings alone.
    point: u64,
    comma: u64,
    only_point: u64,
    only_comma: u64,
    /// Cells with two readings as numbers, such as 1,234 and 1.234.
    two_commas: u64,
    two_points: u64,
    distinct: HashSet<u64>,
    fractions: bool,
    currency: u64,
    percent: u64,
    /// What stood before and after the first amount or percentage.
    unit: Option<[String; 2]>,
    /// Cells that are times with the day first, and with the month first.
    dmy: u64,
    mdy: u64,
    zoned: u64,
    clocks: Clocks,
    /// The smallest and largest of the first two numbers of dates that can be read both ways.
    parts: Option<[(u32, u32); 2]>,
    truths: [u64; 5],
    spellings: HashMap<String, u64>,
    /// Cells of digits alone, those with zeros before them, very long ones, and their length if it is the same.
    bare: u64,
    zeros: u64,
    long: u64,
    length: Option<usize>,
    lengths_differ: bool,
    /// Whether all cells are dates of eight digits.
    digits: Digits,
    /// Numbers with units, which count as strays too until it is certain what they are, and what they mean then.
    units: Vec<Unit>,
    meaning: Option<Meaning>,
    gaps: u64,
    codes: u64,
    different_codes: usize,
    words: u64,
    strays: HashMap<String, Stray>,
    /// Bytes of the texts that are remembered.
    bytes: usize,
    /// The first text that is a number with a decimal point alone, with a comma alone, or a time.
    firsts: [Option<Stray>; 3],
}

/// Cells that are times of a day or durations.
#[derive(Debug, Clone, Default)]
struct Clocks {
    /// Those that can be nothing else, and those that may be, such as `45 m`.
    sure: u64,
    possible: u64,
    /// Those with a number of seconds, or without numbers as a clock has them.
    long: u64,
    /// Those of two numbers that cannot be hours and minutes of a day.
    short: u64,
    /// Those before or after noon.
    half: u64,
    /// Times of typed columns that are within a day of no date.
    typed: u64,
}

/// Something to say of how a column is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remark {
    /// Digits with zeros before them, or very many digits, are codes.
    Digits,
    /// Numbers beside codes with letters are codes too.
    Codes,
    /// The decimal mark is a comma.
    DecimalComma,
    /// Numbers such as 1,234 and 1.234 have two readings, and nothing in the column tells which is meant.
    EitherNumber,
    /// Amounts with the sign of a currency.
    Currency,
    /// Shares in per cent.
    Percent,
    /// Numbers with a unit behind them, which the notation names.
    Unit,
    /// Numbers with `k`, `M` or `B` for thousands, millions and thousand millions.
    Multiples,
    /// Dates of eight digits, such as 20150803.
    EightDigits,
    /// Day and month in this order.
    Order(DateOrder),
    /// Every date can be read both ways.
    EitherDate(DateOrder),
    /// Times with a zone, in UTC.
    Zone,
    /// Truth values.
    Truths,
    /// Times of a day or durations.
    Clock,
}

impl Tally {
    /// Bytes of the texts that are remembered.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Adds a column of a batch that was read as it is written. No more than `most` bytes of texts are remembered.
    pub fn add(&mut self, batch: &Table, index: usize, most: usize) {
        match batch.values(index) {
            Values::Numbers(values) | Values::Encoded(values) => self.add_numbers(values),
            Values::Times(values) => {
                let present = values.iter().filter(|value| !value.is_nan()).count() as u64;
                self.present += present;
                self.dmy += present;
                self.mdy += present;
                let dateless = values.iter().filter(|value| (0.0..DAY).contains(*value));
                self.clocks.typed += dateless.count() as u64;
                if present > 0 {
                    self.digits.add(None, present);
                }
            }
            Values::Texts(texts) => self.add_texts(texts, batch, most),
        }
    }

    fn add_numbers(&mut self, values: &[f64]) {
        /// Values of a batch among which different ones are counted.
        const LOOKED_AT: usize = 512;
        let present = values.iter().filter(|value| !value.is_nan()).count() as u64;
        self.digits.add_numbers(values);
        self.fractions = self.fractions || values.iter().any(|value| !value.is_nan() && value.fract() != 0.0);
        let step = (values.len() / LOOKED_AT).max(1);
        for &value in values.iter().step_by(step).filter(|value| !value.is_nan()) {
            if self.distinct.len() == MOST_NUMBERS {
                break;
            }
            self.distinct.insert(value.to_bits());
        }
        self.present += present;
        self.point += present;
        self.comma += present;
    }

    fn add_texts(&mut self, texts: &Texts, batch: &Table, most: usize) {
        let mut rows = vec![0u64; texts.levels().len()];
        for code in texts.codes().flatten() {
            rows[code] += 1;
        }
        for (level, (text, &rows)) in texts.levels().iter().zip(&rows).enumerate() {
            let place = || {
                let row = texts.codes().position(|code| code == Some(level)).unwrap_or(0);
                batch.place(row)
            };
            self.add_text(trimmed(text), rows, most, place);
        }
    }

    fn add_text(&mut self, text: &str, rows: u64, most: usize, place: impl FnOnce() -> Place) {
        if is_missing(text) || rows == 0 {
            return;
        }
        self.present += rows;
        if let Some((pair, _)) = truth(text) {
            self.truths[pair] += rows;
            *self.spellings.entry(text.to_owned()).or_default() += rows;
        }
        if class_of(text) != Class::Gap {
            self.digits.add_text(text, rows);
        }
        let [points, commas, dates] = [self.only_point, self.only_comma, self.dmy.max(self.mdy)];
        let known = self.add_number(text, rows) | self.add_time(text, rows);
        let added = [self.only_point > points, self.only_comma > commas, self.dmy.max(self.mdy) > dates];
        if !known {
            self.add_unit(text, rows);
            self.add_stray(text, rows, most, place);
        } else if let Some(class) = added.iter().position(|&added| added)
            && self.firsts[class].is_none()
        {
            self.firsts[class] = Some(Stray { text: text.to_owned(), rows, place: place() });
        }
    }

    fn add_number(&mut self, text: &str, rows: u64) -> bool {
        let (point, comma) = match text.parse::<f64>() {
            Ok(value) if !text.contains('.') => (Some(value), Some(value)),
            Ok(value) => (Some(value), number::written(text, true).map(|found| found.value)),
            Err(_) => {
                let [point, comma] = [false, true].map(|comma| number::written(text, comma));
                if let Some(found) = point.or(comma) {
                    self.currency += if found.currency { rows } else { 0 };
                    self.percent += if found.percent { rows } else { 0 };
                    if self.unit.is_none() && (found.currency || found.percent) {
                        self.unit = Some(number::unit(text));
                    }
                }
                (point.map(|found| found.value), comma.map(|found| found.value))
            }
        };
        if let Some(value) = point.or(comma)
            && self.distinct.len() < MOST_NUMBERS
        {
            self.distinct.insert(value.to_bits());
        }
        match (point, comma) {
            (None, None) => return false,
            (Some(point), Some(comma)) => {
                self.point += rows;
                self.comma += rows;
                self.fractions |= point == comma && point.fract() != 0.0;
                match point != comma {
                    true if point.abs() < comma.abs() => self.two_points += rows,
                    true => self.two_commas += rows,
                    false => {}
                }
            }
            (Some(value), None) => {
                self.point += rows;
                self.only_point += rows;
                self.fractions |= value.fract() != 0.0;
            }
            (None, Some(value)) => {
                self.comma += rows;
                self.only_comma += rows;
                self.fractions |= value.fract() != 0.0;
            }
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.bare += rows;
            self.zeros += if number::has_leading_zero(text.as_bytes()) { rows } else { 0 };
            self.long += if text.len() >= number::LONG { rows } else { 0 };
            self.lengths_differ |= self.length.replace(text.len()).is_some_and(|length| length != text.len());
        }
        true
    }

    fn add_time(&mut self, text: &str, rows: u64) -> bool {
        if let Some(shown) = clock::read(text) {
            match shown.form {
                _ if !shown.sure => {
                    self.clocks.possible += rows;
                    return false;
                }
                Form::Two => {}
                Form::Short => self.clocks.short += rows,
                Form::Half => self.clocks.half += rows,
                Form::Other => self.clocks.long += rows,
            }
            self.clocks.sure += rows;
            return true;
        }
        let Some(moment) = moment::read(text) else { return false };
        self.dmy += if moment.dmy.is_some() { rows } else { 0 };
        self.mdy += if moment.mdy.is_some() { rows } else { 0 };
        self.zoned += if moment.zone { rows } else { 0 };
        if let Some(parts) = moment.parts {
            let ranges = self.parts.get_or_insert(parts.map(|part| (part, part)));
            for (range, part) in ranges.iter_mut().zip(parts) {
                *range = (range.0.min(part), range.1.max(part));
            }
        }
        true
    }

    fn add_stray(&mut self, text: &str, rows: u64, most: usize, place: impl FnOnce() -> Place) {
        let class = class_of(text);
        match class {
            Class::Gap => self.gaps += rows,
            Class::Code => self.codes += rows,
            Class::Word => self.words += rows,
        }
        if let Some(stray) = self.strays.get_mut(text) {
            stray.rows += rows;
        } else if self.strays.len() < MOST_STRAYS && self.bytes + 2 * text.len() <= most {
            self.bytes += 2 * text.len();
            self.different_codes += usize::from(class == Class::Code);
            let stray = Stray { text: text.to_owned(), rows, place: place() };
            self.strays.insert(text.to_owned(), stray);
        }
    }

    /// Whether the column tells by itself that its decimal mark is a comma, or a point.
    fn decimal_comma(&self) -> Option<bool> {
        match (self.only_comma, self.only_point) {
            // Plain numbers that were read at once have a point, if anything.
            (0, 0) => self.fractions.then_some(false),
            (comma, point) => Some(comma > point),
        }
    }

    /// Whether the column tells by itself that the day comes first, or the month.
    fn day_first(&self) -> Option<bool> {
        let [first, second] = self.parts?;
        let same = |range: (u32, u32)| range.0 == range.1;
        match self.dmy.cmp(&self.mdy) {
            std::cmp::Ordering::Greater => Some(true),
            std::cmp::Ordering::Less => Some(false),
            // The number that never changes is the day, as in the first of each month.
            _ if same(first) && !same(second) => Some(true),
            _ if same(second) && !same(first) => Some(false),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
