//! Rows of cells as text, and what the cells of a column are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memchr;
use rayon::prelude::*;

use crate::encoding::decoded;
use crate::select::{Chosen, Pick};
use crate::{
    Error, Notation, Origin, Place, ReadAs, Result, Table, Texts, Values, moment, notation, number, time,
};

/// Bytes after which a batch is full, whatever its rows.
const FULL: usize = 32 << 20;

/// What a missing value may be written as, apart from an empty cell.
const MISSING: [&str; 8] = ["na", "n/a", "nan", "null", "none", "?", "<na>", "#n/a"];

/// The cells of some rows, row after row.
#[derive(Debug, Default)]
pub(crate) struct Cells {
    pub(crate) width: usize,
    /// Whether numbers may have a decimal comma, as in files separated by semicolons.
    pub(crate) decimal_comma: bool,
    pub(crate) bytes: Vec<u8>,
    /// Where each cell starts and ends. What is between cells, such as what separates them, is of no cell.
    pub(crate) spans: Vec<(u32, u32)>,
    /// The line each row starts at.
    pub(crate) lines: Vec<u64>,
    /// How many rows were in batches before.
    pub(crate) first: u64,
    /// Whether a cell was not UTF-8.
    pub(crate) foreign: AtomicBool,
}

impl Cells {
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        self.lines.clear();
    }

    pub(crate) fn rows(&self) -> usize {
        self.lines.len()
    }

    pub(crate) fn is_full(&self, most: usize) -> bool {
        self.rows() >= most || self.bytes.len() >= FULL
    }

    /// Adds a cell of the bytes from `start` to the last one.
    pub(crate) fn end_cell(&mut self, start: usize) {
        self.spans.push((start as u32, self.bytes.len() as u32));
    }

    /// A cell without the white space around it.
    pub(crate) fn get(&self, row: usize, column: usize) -> &[u8] {
        let (start, end) = self.spans[row * self.width + column];
        match &self.bytes[start as usize..end as usize] {
            cell @ ([first, .., last] | [first @ last]) if *first > b' ' && *last > b' ' => cell,
            cell => cell.trim_ascii(),
        }
    }

    /// A cell as text.
    fn text(&self, row: usize, column: usize) -> Cow<'_, str> {
        let (text, plain) = decoded(self.get(row, column));
        if !plain {
            self.foreign.store(true, Ordering::Relaxed);
        }
        text
    }

    /// The picked columns as the next batch.
    pub(crate) fn batch(&mut self, chosen: &Chosen) -> Result<Table> {
        let column = |(pick, name): (&Pick, &String)| self.column(pick, name);
        let columns: Vec<Result<Values>> = chosen.picks.par_iter().zip(&chosen.names).map(column).collect();
        let columns = columns.into_iter().collect::<Result<Vec<Values>>>()?;
        let origin = Origin::Lines(self.first, self.lines.clone());
        self.first += self.lines.len() as u64;
        Ok(Table::batch(&chosen.names, columns, self.rows(), origin))
    }

    fn column(&self, pick: &Pick, name: &str) -> Result<Values> {
        if pick.read_as == ReadAs::AsIs {
            return Ok(self.texts(pick.index, |text| (!text.is_empty()).then_some(text.into())));
        }
        if let Some(notation) = &pick.notation {
            return self.column_by(notation, pick, name);
        }
        let cells = || (0..self.rows()).map(|row| self.get(row, pick.index));
        let bad = |parse: fn(&[u8]) -> Option<f64>| {
            let row = cells().position(|cell| parse(cell).is_none()).unwrap_or(0);
            self.bad(name, row, pick.index)
        };
        let all = |parse: fn(&[u8]) -> Option<f64>| cells().map(parse).collect::<Option<Vec<f64>>>();
        let numbers = || all(number).or_else(|| self.decimal_comma.then(|| all(number_with_comma)).flatten());
        match pick.read_as {
            ReadAs::Numbers => match numbers() {
                Some(numbers) => Ok(Values::Numbers(numbers)),
                None => {
                    let comma = self.decimal_comma && cells().any(|cell| either_number(cell).is_none());
                    let (column, place, cell) = bad(if comma { either_number } else { number });
                    Err(Error::NotNumber { column, place, cell })
                }
            },
            ReadAs::Times => match all(time_or_missing) {
                Some(times) => Ok(Values::Times(times)),
                None => {
                    let (column, place, cell) = bad(time_or_missing);
                    Err(Error::NotTime { column, place, cell })
                }
            },
            ReadAs::Labels | ReadAs::KnownLabels => {
                let parse = if pick.read_as == ReadAs::Labels { label } else { known_label };
                match all(parse) {
                    Some(labels) => Ok(Values::Numbers(labels)),
                    None => {
                        let (column, place, cell) = bad(parse);
                        Err(Error::Label { column, place, cell })
                    }
                }
            }
            ReadAs::Texts => {
                Ok(self.texts(pick.index, |text| (!is_missing(text.as_bytes())).then_some(text.into())))
            }
            ReadAs::Found => Ok(match numbers() {
                Some(numbers) => Values::Numbers(numbers),
                None => match all(time_or_missing) {
                    Some(times) => Values::Times(times),
                    None => {
                        self.texts(pick.index, |text| (!is_missing(text.as_bytes())).then_some(text.into()))
                    }
                },
            }),
            ReadAs::Written | ReadAs::AsIs => {
                // Where the comma may be the decimal mark, a point may stand between thousands.
                let plain = if self.decimal_comma { plain_whole_number } else { plain_number };
                Ok(match all(plain).map(Values::Numbers).or_else(|| all(plain_time).map(Values::Times)) {
                    Some(values) => values,
                    None => {
                        self.texts(pick.index, |text| (!notation::is_missing(text)).then_some(text.into()))
                    }
                })
            }
        }
    }

    /// A column by its notation.
    fn column_by(&self, notation: &Notation, pick: &Pick, name: &str) -> Result<Values> {
        let quick = if notation.decimal_comma { whole_number } else { decimal };
        let as_it_is = || self.texts(pick.index, |text| (!notation::is_missing(text)).then_some(text.into()));
        match pick.read_as {
            ReadAs::Numbers => {
                let number = |cell: &[u8]| quick(cell).or_else(|| notation.number(&decoded(cell).0));
                let error = |column, place, cell| Error::NotNumber { column, place, cell };
                Ok(self.each(pick, name, number, error)?.map_or_else(as_it_is, Values::Numbers))
            }
            ReadAs::Times => {
                let time = |cell: &[u8]| moment::iso(cell).or_else(|| notation.time(&decoded(cell).0));
                let error = |column, place, cell| Error::NotTime { column, place, cell };
                Ok(self.each(pick, name, time, error)?.map_or_else(as_it_is, Values::Times))
            }
            // What is not read at once is read by the notation later.
            ReadAs::Written if !notation.decimal_comma && notation.dates.is_none() => {
                self.column(&Pick { notation: None, ..pick.clone() }, name)
            }
            ReadAs::Written => Ok(as_it_is()),
            _ => Ok(self.texts(pick.index, |text| notation.text(text).map(|text| text.into_owned().into()))),
        }
    }

    /// What a column's cells are read as; nothing if some cannot be and the column may be what it is.
    fn each(
        &self,
        pick: &Pick,
        name: &str,
        value: impl Fn(&[u8]) -> Option<f64>,
        error: impl Fn(String, Place, String) -> Error,
    ) -> Result<Option<Vec<f64>>> {
        let values = (0..self.rows()).map(|row| value(self.get(row, pick.index)).ok_or(row));
        match values.collect::<std::result::Result<Vec<f64>, usize>>() {
            Ok(values) => Ok(Some(values)),
            Err(_) if pick.lenient => Ok(None),
            Err(row) => {
                let (column, place, cell) = self.bad(name, row, pick.index);
                Err(error(column, place, cell))
            }
        }
    }

    /// Where a cell stands that cannot be read, and what it says.
    fn bad(&self, name: &str, row: usize, column: usize) -> (String, Place, String) {
        let place = Place::Line(self.lines[row], self.first + row as u64);
        (name.to_owned(), place, self.text(row, column).into_owned())
    }

    /// The texts of a column; `text` makes of a cell what it means, nothing if it is missing.
    fn texts(&self, column: usize, text: impl for<'a> Fn(&'a str) -> Option<Cow<'a, str>>) -> Values {
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut places: HashMap<String, u32> = HashMap::new();
        let mut levels = Vec::new();
        let mut codes = Vec::with_capacity(self.rows());
        // Texts met of late, which are found without the map's hash.
        let mut recent: [(&[u8], u32); RECENT] = [(b"", Texts::missing()); RECENT];
        for row in 0..self.rows() {
            let cell = self.get(row, column);
            let last = &mut recent[place_of(cell)];
            if cell != last.0 {
                let code = match known.get(cell) {
                    Some(&code) => code,
                    None => {
                        let code = match text(&self.text(row, column)) {
                            None => Texts::missing(),
                            // Cells that are written differently may mean the same.
                            Some(text) => *places.entry(text.into_owned()).or_insert_with_key(|text| {
                                levels.push(text.clone());
                                levels.len() as u32 - 1
                            }),
                        };
                        known.insert(cell, code);
                        code
                    }
                };
                *last = (cell, code);
            }
            codes.push(last.1);
        }
        Texts::new(levels, codes).into()
    }
}

/// Texts that are remembered beside the map of all.
const RECENT: usize = 256;

/// Where a text is among those met of late: the same place for the same text, mostly another one for another.
fn place_of(cell: &[u8]) -> usize {
    let end = |bytes: &[u8]| bytes.iter().fold(0u64, |hash, &byte| hash << 8 | u64::from(byte));
    let (first, last) = (&cell[..cell.len().min(8)], &cell[cell.len() - cell.len().min(8)..]);
    let mixed =
        (end(first) ^ end(last).rotate_left(29) ^ cell.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 56) as usize % RECENT
}

/// A number in plain figures, NaN for a missing value; `None` for other text and for what may be a code.
fn plain_number(cell: &[u8]) -> Option<f64> {
    if number::has_leading_zero(cell) && number::is_code(cell) {
        return None;
    }
    decimal(cell).or_else(|| {
        let text = std::str::from_utf8(cell).ok()?;
        match text.parse() {
            _ if notation::is_missing(text) => Some(f64::NAN),
            Ok(number) if !number::is_code(cell) => Some(number),
            _ => None,
        }
    })
}

fn plain_whole_number(cell: &[u8]) -> Option<f64> {
    if memchr(b'.', cell).is_some() { None } else { plain_number(cell) }
}

/// A time as ISO 8601 has it, NaN for a missing one.
fn plain_time(cell: &[u8]) -> Option<f64> {
    moment::iso(cell)
        .or_else(|| std::str::from_utf8(cell).is_ok_and(notation::is_missing).then_some(f64::NAN))
}

pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty() || MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// A number; NaN for a missing value; `None` for other text.
pub(crate) fn number(cell: &[u8]) -> Option<f64> {
    decimal(cell).or_else(|| parse_number(std::str::from_utf8(cell).ok()?))
}

/// A number with a decimal comma, or a whole one. A point has more than one reading beside commas: it is none.
pub(crate) fn number_with_comma(cell: &[u8]) -> Option<f64> {
    if memchr(b'.', cell).is_some() {
        return None;
    }
    let Some(comma) = memchr(b',', cell) else { return number(cell) };
    let mut point = cell.to_vec();
    point[comma] = b'.';
    number(&point)
}

/// A number with a decimal point or comma.
fn either_number(cell: &[u8]) -> Option<f64> {
    number(cell).or_else(|| number_with_comma(cell))
}

pub(crate) fn time_or_missing(cell: &[u8]) -> Option<f64> {
    if is_missing(cell) { Some(f64::NAN) } else { time::parse(cell) }
}

fn label(cell: &[u8]) -> Option<f64> {
    parse_label(std::str::from_utf8(cell).ok()?)
}

fn known_label(cell: &[u8]) -> Option<f64> {
    parse_known_label(std::str::from_utf8(cell).ok()?)
}

/// A short row of digits, the most common kind of cell, as its number.
fn whole_number(bytes: &[u8]) -> Option<f64> {
    const EXACT_DIGITS: usize = 15;
    if bytes.is_empty() || bytes.len() > EXACT_DIGITS {
        return None;
    }
    let mut number = 0u64;
    for byte in bytes {
        number = number * 10 + u64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some(number as f64)
}

/// A number such as -12.345, if it has so few digits that one division gives what any parser gives: the digits as a whole
/// number and the power of ten are exact, and a division is rounded once.
fn decimal(cell: &[u8]) -> Option<f64> {
    const EXACT_DIGITS: usize = 15;
    const POWERS: [f64; EXACT_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (negative, digits) = match cell {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > EXACT_DIGITS + 1 {
        return None;
    }
    let (mut number, mut point) = (0u64, None);
    for (place, byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            number = number * 10 + u64::from(digit);
        } else if *byte == b'.' && point.is_none() {
            point = Some(digits.len() - 1 - place);
        } else {
            return None;
        }
    }
    let count = digits.len() - usize::from(point.is_some());
    if !(1..=EXACT_DIGITS).contains(&count) {
        return None;
    }
    let size = match point {
        Some(places) => number as f64 / POWERS[places],
        None => number as f64,
    };
    Some(if negative { -size } else { size })
}

/// A number; NaN for a missing value; `None` for other text.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => is_missing(text.as_bytes()).then_some(f64::NAN),
    }
}

/// 1 for an anomaly, 0 for a normal row, `None` for other text.
pub(crate) fn parse_label(text: &str) -> Option<f64> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    match text.parse() {
        Ok(number) if number == 0.0 || number == 1.0 => Some(number),
        Ok(_) => None,
        Err(_) if ["true", "yes"].iter().any(is) => Some(1.0),
        Err(_) if ["false", "no"].iter().any(is) => Some(0.0),
        Err(_) => None,
    }
}

/// As [`parse_label`], and NaN for an empty cell or a word for a missing value.
pub(crate) fn parse_known_label(text: &str) -> Option<f64> {
    parse_label(text).or_else(|| parse_number(text).filter(|number| number.is_nan()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_may_be_words() {
        let words = ["1", "0", "true", "FALSE", "Yes", "no", "1.0"].map(parse_label);
        assert_eq!(words, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0].map(Some));
        assert_eq!(["2", "", "nan", "maybe"].map(parse_label), [None; 4]);
    }

    #[test]
    fn decimals_are_read_as_any_number_is() {
        let mut state = 5u64;
        let mut quick = 0;
        for _ in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (digits, places) = ((state >> 33) as usize % 17, (state >> 50) as usize % 17);
            let mut text: String = (state >> 3).to_string().chars().take(digits).collect();
            text.insert(places.min(text.len()), '.');
            for text in [text.clone(), format!("-{text}"), text.replace('.', ""), format!("{text}5")] {
                let found = decimal(text.as_bytes());
                quick += usize::from(found.is_some());
                if let Some(found) = found {
                    assert_eq!(found.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
                }
            }
        }
        assert!(quick > 400_000, "{quick}");
        for text in ["", ".", "-", "-.", "1..2", "+1", "1e5", "inf", " 1", "1234567890.123456"] {
            assert_eq!(decimal(text.as_bytes()), None, "{text}");
        }
        assert_eq!(decimal(b"-0.0").map(f64::to_bits), Some((-0.0f64).to_bits()));
    }

    #[test]
    fn decimal_commas_are_read_where_they_have_one_reading() {
        let texts = ["1,5", "-0,25", "3e2", "1,5e3", "7", ",5"];
        let numbers = [1.5, -0.25, 300.0, 1500.0, 7.0, 0.5];
        assert_eq!(texts.map(|text| number_with_comma(text.as_bytes())), numbers.map(Some));
        assert!(number_with_comma(b"").is_some_and(f64::is_nan));
        let others = ["1,234,567", "1.234,5", "1,234.5", "2.5", "a,b", ","];
        assert_eq!(others.map(|text| number_with_comma(text.as_bytes())), [None; 6]);
    }

    #[test]
    fn digits_are_read_as_any_number_is() {
        for text in ["0", "7", "007", "123456789012345"] {
            assert_eq!(whole_number(text.as_bytes()), text.parse().ok(), "{text}");
        }
        assert_eq!(
            ["", "1.5", "-1", "1234567890123456", "x"].map(|text| whole_number(text.as_bytes())),
            [None; 5]
        );
    }
}
