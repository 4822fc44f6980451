//! What the cells of a column are, gathered batch by batch, and what the column is read as in the end.

use std::collections::{HashMap, HashSet};

use crate::notation::{is_missing, trimmed, truth};
use crate::{DateOrder, Notation, Place, ReadAs, Table, Texts, Values, moment, number};

/// Most different stray texts that are remembered.
const MOST_STRAYS: usize = 200;
/// Most different numbers that are counted.
const MOST_NUMBERS: usize = 64;
/// More different numbers than this are those of a measure, not names of categories.
const MANY_NUMBERS: usize = 50;

/// What stands for a missing value where numbers or times are expected. Marks without any letter or digit do too.
const GAPS: [&str; 36] = [
    "pending",
    "unknown",
    "unk",
    "tbd",
    "tba",
    "not available",
    "no data",
    "nodata",
    "missing",
    "blank",
    "(blank)",
    "nil",
    "void",
    "suppressed",
    "confidential",
    "withheld",
    "not reported",
    "not applicable",
    "error",
    "err",
    "#div/0!",
    "#value!",
    "#ref!",
    "#num!",
    "#name?",
    "#error",
    "#null!",
    "undefined",
    "invalid",
    "k. a.",
    "k.a.",
    "keine angabe",
    "nd",
    "n.d.",
    "n/d",
    "not recorded",
];

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

/// A text that is neither a number nor a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// The text.
    pub text: String,
    /// Rows that have it.
    pub rows: u64,
    /// The first of them.
    pub place: Place,
}

/// What a column is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    /// Numbers, times or texts.
    pub read_as: ReadAs,
    /// How their text is read.
    pub notation: Notation,
    /// Rows whose text is none of these, and becomes a missing value.
    pub stray_rows: u64,
    /// Some of these texts, the most frequent first.
    pub strays: Vec<Stray>,
    /// What else there is to say of it.
    pub remarks: Vec<Remark>,
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
    /// Day and month in this order.
    Order(DateOrder),
    /// Every date can be read both ways.
    EitherDate(DateOrder),
    /// Times with a zone, in UTC.
    Zone,
    /// Truth values.
    Truths,
}

/// What is known of a table beside its cells.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints {
    /// Whether cells are separated by semicolons, as programs do where the decimal mark is a comma.
    pub semicolons: bool,
    /// The order of day and month, if the user says so.
    pub dates: Option<DateOrder>,
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
            }
            Values::Texts(texts) => self.add_texts(texts, batch, most),
        }
    }

    fn add_numbers(&mut self, values: &[f64]) {
        /// Values of a batch among which different ones are counted.
        const LOOKED_AT: usize = 512;
        let present = values.iter().filter(|value| !value.is_nan()).count() as u64;
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
        let [points, commas, dates] = [self.only_point, self.only_comma, self.dmy.max(self.mdy)];
        let known = self.add_number(text, rows) | self.add_time(text, rows);
        let added = [self.only_point > points, self.only_comma > commas, self.dmy.max(self.mdy) > dates];
        if !known {
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

/// What the columns of a table are read as, by their cells and by what the user says.
pub fn understood(tallies: &[Tally], asked: &[Option<ReadAs>], hints: Hints) -> Vec<Understood> {
    let count = |told: fn(&Tally) -> Option<bool>, wanted: bool| {
        tallies.iter().filter(|tally| told(tally) == Some(wanted)).count()
    };
    let [commas, points] = [true, false].map(|comma| count(Tally::decimal_comma, comma));
    let [day_first, month_first] = [true, false].map(|day| count(Tally::day_first, day));
    let table = Context {
        comma: commas > points,
        semicolons: hints.semicolons,
        order: hints.dates.or(match day_first.cmp(&month_first) {
            std::cmp::Ordering::Greater => Some(DateOrder::Dmy),
            std::cmp::Ordering::Less => Some(DateOrder::Mdy),
            std::cmp::Ordering::Equal => None,
        }),
        asked: hints.dates,
    };
    let asked = asked.iter().copied().chain(std::iter::repeat(None));
    tallies.iter().zip(asked).map(|(tally, asked)| tally.understood(asked, &table)).collect()
}

/// What the other columns tell.
struct Context {
    comma: bool,
    semicolons: bool,
    order: Option<DateOrder>,
    asked: Option<DateOrder>,
}

impl Tally {
    fn understood(&self, asked: Option<ReadAs>, table: &Context) -> Understood {
        match asked {
            Some(ReadAs::Texts) => self.texts(None),
            Some(ReadAs::Numbers) => {
                let mut numbers = self.numbers(table);
                // What is mostly no number is an error, where numbers are asked for.
                let others = self.present - self.gaps - self.numbers_by(&numbers.notation);
                numbers.notation.stray = numbers.notation.stray && others * 2 < self.present - self.gaps;
                numbers
            }
            _ => self.found(table),
        }
    }

    fn found(&self, table: &Context) -> Understood {
        let numbers = self.point.max(self.comma);
        let times = self.dmy.max(self.mdy);
        let told = self.present - self.gaps;
        let enough = |count: u64| count * 20 >= self.present || count >= 50;
        if self.truths.contains(&self.present) && self.present > 0 {
            return self.texts(Some(Remark::Truths));
        }
        if times > numbers && (times == told && enough(times) || times * 10 >= told * 9) {
            return self.times(table);
        }
        if numbers == 0 {
            return if self.present == 0 { self.numbers(table) } else { self.texts(None) };
        }
        let codes = self.codes * 100 >= told || self.different_codes >= 10;
        let others = told - numbers;
        let different = self.distinct.len();
        let many = different > MANY_NUMBERS || (different >= 8 && different as u64 * 3 >= numbers);
        let few_others = others * 5 <= told || (self.fractions && others * 2 < told);
        let measured = many && !codes && few_others;
        if !(measured || others == 0 && enough(numbers)) {
            let beside_codes = codes && self.codes > 0 && numbers * 2 > told;
            return self.texts(beside_codes.then_some(Remark::Codes));
        }
        if self.long * 2 >= told
            || (self.zeros > 0
                && ((self.bare == told && !self.lengths_differ && self.length > Some(1))
                    || self.zeros * 20 >= told))
        {
            return self.texts(Some(Remark::Digits));
        }
        self.numbers(table)
    }

    fn numbers_by(&self, notation: &Notation) -> u64 {
        if notation.decimal_comma { self.comma } else { self.point }
    }

    fn numbers(&self, table: &Context) -> Understood {
        let mut remarks = Vec::new();
        let comma = match self.decimal_comma() {
            Some(comma) => comma,
            // One thousand two hundred and thirty-four, or one and a bit?
            None if self.two_points > 0 => table.comma,
            None if self.two_commas > 0 => table.comma || table.semicolons,
            None => false,
        };
        let two = self.two_commas > 0 || (comma && self.two_points > 0);
        if two && self.decimal_comma().is_none() {
            remarks.push(Remark::EitherNumber);
        }
        if comma {
            remarks.push(Remark::DecimalComma);
        }
        remarks.extend((self.currency > 0).then_some(Remark::Currency));
        remarks.extend((self.percent > 0).then_some(Remark::Percent));
        let read = if comma { self.comma } else { self.point };
        let stray_rows = self.present - read;
        // A unit that most numbers have.
        let unit = self.unit.clone().filter(|_| self.currency.max(self.percent) * 2 > read);
        let notation = Notation { decimal_comma: comma, stray: stray_rows > 0, unit, ..Notation::default() };
        let strays = self.strays([comma, !comma, true]);
        Understood { read_as: ReadAs::Numbers, notation, stray_rows, strays, remarks }
    }

    fn times(&self, table: &Context) -> Understood {
        let mut remarks = Vec::new();
        let mut order = None;
        if self.parts.is_some() {
            let by_column = |day: bool| if day { DateOrder::Dmy } else { DateOrder::Mdy };
            let told = self.day_first().map(by_column);
            let taken = table.asked.or(told).or(table.order).unwrap_or(DateOrder::Mdy);
            remarks.push(if told.is_none() && table.asked.is_none() {
                Remark::EitherDate(taken)
            } else {
                Remark::Order(taken)
            });
            order = Some(taken);
        }
        remarks.extend((self.zoned > 0).then_some(Remark::Zone));
        let read = if order == Some(DateOrder::Mdy) { self.mdy } else { self.dmy };
        let stray_rows = self.present - read;
        let notation = Notation { dates: order, stray: stray_rows > 0, ..Notation::default() };
        let strays = self.strays([true, true, false]);
        Understood { read_as: ReadAs::Times, notation, stray_rows, strays, remarks }
    }

    fn texts(&self, remark: Option<Remark>) -> Understood {
        let pair = self.truths.iter().position(|&rows| rows == self.present && rows > 0);
        let notation = Notation { truths: pair.map(|_| self.truth_names()), ..Notation::default() };
        let remarks = remark.into_iter().collect();
        Understood { read_as: ReadAs::Texts, notation, stray_rows: 0, strays: Vec::new(), remarks }
    }

    /// What no and yes are called in most rows. A word that no row has is written as the other one is.
    fn truth_names(&self) -> [String; 2] {
        let mut words: Vec<(&String, u64)> =
            self.spellings.iter().map(|(word, &rows)| (word, rows)).collect();
        words.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let name = |wanted: bool| {
            words.iter().map(|(word, _)| *word).find(|word| truth(word).is_some_and(|t| t.1 == wanted))
        };
        let other = |wanted: bool, model: Option<&String>| {
            let word = if wanted { "true" } else { "false" };
            match model {
                Some(model) if model.len() > 1 && model.chars().all(char::is_uppercase) => {
                    word.to_uppercase()
                }
                _ => word.to_owned(),
            }
        };
        [false, true].map(|wanted| name(wanted).cloned().unwrap_or_else(|| other(wanted, name(!wanted))))
    }

    /// Texts that are not read, with the first of each of these kinds: numbers with a decimal point, with a comma, times.
    fn strays(&self, others: [bool; 3]) -> Vec<Stray> {
        let mut strays: Vec<Stray> = self.strays.values().cloned().collect();
        strays.extend(
            self.firsts.iter().zip(others).filter_map(|(first, other)| first.clone().filter(|_| other)),
        );
        strays.sort_by(|a, b| b.rows.cmp(&a.rows).then_with(|| a.text.cmp(&b.text)));
        strays
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    /// Letters and digits, such as V57.
    Code,
    Word,
}

fn class_of(text: &str) -> Class {
    let letters = text.chars().any(char::is_alphabetic);
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let gap = |text: &str| GAPS.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (letters, digits) {
        (false, false) => Class::Gap,
        _ if gap(text) => Class::Gap,
        (true, true) if text.len() <= 12 && !text.contains(' ') => Class::Code,
        _ => Class::Word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Tally {
        let texts: Texts = cells.into_iter().map(Some).collect();
        let batch = Table::of(vec!["x".into()], vec![texts.into()]).unwrap();
        let mut tally = Tally::default();
        tally.add(&batch, 0, usize::MAX);
        tally
    }

    fn one<T: AsRef<str>>(cells: impl IntoIterator<Item = T>) -> Understood {
        understood(&[tally(cells)], &[], Hints::default()).remove(0)
    }

    #[test]
    fn the_decimal_mark_is_decided_by_the_whole_column() {
        let comma = |cells: &[&str]| one(cells).notation.decimal_comma;
        assert!(comma(&["1,5", "1,234", "7"]));
        assert!(comma(&["1.234,50 €", "12,00 €"]));
        assert!(!comma(&["1,234.50", "1,234"]));
        assert!(!comma(&["1,234", "12,345"]), "thousands, unless something else tells");
        assert!(!comma(&["1.234", "12.345"]));
        let beside = |cells: &[&str], hints| understood(&[tally(cells), tally(["0,5"])], &[], hints);
        assert!(beside(&["1.234", "950"], Hints::default())[0].notation.decimal_comma, "as the other column");
        assert!(!beside(&["1.5", "950"], Hints::default())[0].notation.decimal_comma);
        let semicolons = Hints { semicolons: true, ..Hints::default() };
        assert!(understood(&[tally(["1,234"])], &[], semicolons)[0].notation.decimal_comma);
        assert!(!understood(&[tally(["48.123", "11.567"])], &[], semicolons)[0].notation.decimal_comma);
    }

    #[test]
    fn the_order_of_day_and_month_is_decided_by_the_whole_column() {
        let order = |cells: &[&str]| one(cells).notation.dates;
        assert_eq!(order(&["01/02/2024", "31/01/2024"]), Some(DateOrder::Dmy));
        assert_eq!(order(&["01/02/2024", "01/31/2024"]), Some(DateOrder::Mdy));
        assert_eq!(order(&["01/02/2024", "01/03/2024"]), Some(DateOrder::Dmy), "the first of each month");
        assert_eq!(order(&["02/03/2024", "01/02/2024"]), Some(DateOrder::Mdy));
        assert_eq!(order(&["31.01.2024", "2024-01-31"]), None);
        let asked = Hints { dates: Some(DateOrder::Dmy), ..Hints::default() };
        assert_eq!(
            understood(&[tally(["02/03/2024", "01/02/2024"])], &[], asked)[0].notation.dates,
            asked.dates
        );
    }

    #[test]
    fn stray_texts_become_gaps_and_codes_become_categories() {
        let numbers = |extra: &[&str]| {
            let cells =
                (0..200).map(|i| format!("{}.5", i % 90)).chain(extra.iter().map(|&text| text.to_owned()));
            one(cells)
        };
        for extra in [
            &["-"][..],
            &["--", "**"],
            &["pending"],
            &["oops"],
            &["At-Large"],
            &["12a"],
            &["<5", "2024-01-31"],
        ] {
            let read = numbers(extra);
            assert_eq!((read.read_as, read.stray_rows), (ReadAs::Numbers, extra.len() as u64), "{extra:?}");
            assert!(read.notation.stray);
        }
        let codes = numbers(&["V57", "E909", "V58"]);
        assert_eq!((codes.read_as, codes.remarks), (ReadAs::Texts, vec![Remark::Codes]));
        assert_eq!(one(["1", "2", "many", "3", "2", "1", "1", "1"]).read_as, ReadAs::Texts);
        assert_eq!(one(["1", "2", "-", "3", "2", "1", "1", "1"]).read_as, ReadAs::Numbers);
    }

    #[test]
    fn digits_may_be_codes() {
        assert_eq!(one(["01234", "90210", "10001"]).remarks, [Remark::Digits]);
        assert_eq!(one(["4929123412341234", "5500005555555559"]).read_as, ReadAs::Texts);
        assert_eq!(one(["0", "10", "5"]).read_as, ReadAs::Numbers);
        let typo = (0..100).map(|i| if i == 7 { "007".to_owned() } else { (i * i).to_string() });
        assert_eq!(one(typo).read_as, ReadAs::Numbers);
    }

    #[test]
    fn truth_values_are_told() {
        let read = one(["TRUE", "False", "false", "TRUE"]);
        assert_eq!(read.notation.truths, Some(["False".into(), "TRUE".into()]));
        assert_eq!(one(["Y", "N"]).notation.truths, Some(["N".into(), "Y".into()]));
        assert_eq!(one(["YES", "YES"]).notation.truths, Some(["FALSE".into(), "YES".into()]));
        assert_eq!(one(["yes", "no", "maybe"]).notation.truths, None);
    }
}
