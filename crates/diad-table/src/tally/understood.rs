//! What a column is read as, by what its cells are and by what the other columns tell.

use std::borrow::Cow;

use super::{Clocks, Meaning, Remark, Stray, Tally};
use crate::notation::truth;
use crate::{Clock, DateOrder, Notation, ReadAs};

/// More different numbers than this are those of a measure, not names of categories.
const MANY_NUMBERS: usize = 50;

/// What a column is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
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

/// What is known of a table beside its cells.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hints {
    /// Whether cells are separated by semicolons, as programs do where the decimal mark is a comma.
    pub semicolons: bool,
    /// The order of day and month, if the user says so.
    pub dates: Option<DateOrder>,
}

/// What the columns of a table are read as, by their cells and by what the user says.
pub fn understood(tallies: &[Tally], asked: &[Option<ReadAs>], hints: Hints) -> Vec<Understood> {
    let tallies: Vec<Cow<'_, Tally>> = tallies.iter().map(Tally::with_units).collect();
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
            Some(ReadAs::Numbers) if self.is_clock() => self.clock(),
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
        if self.digits.are_dates() {
            return self.dates();
        }
        let numbers = self.point.max(self.comma);
        let dates = self.dmy.max(self.mdy);
        // A time of day beside dates is one of no date.
        let times = if dates > 0 { dates + self.clocks.sure } else { 0 };
        let told = self.present - self.gaps;
        let enough = |count: u64| count * 20 >= self.present || count >= 50;
        if self.truths.contains(&self.present) && self.present > 0 {
            return self.texts(Some(Remark::Truths));
        }
        if self.is_clock() {
            return self.clock();
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
        // A slip of the pen among numbers makes no categories of them.
        let slips = others * 50 <= told || (others * 20 <= told && different >= 8);
        let measured = (many && few_others || slips) && !codes;
        if !(measured || others == 0 && enough(numbers)) {
            let beside_codes = codes && self.codes > 0 && numbers * 2 > told;
            return self.texts(beside_codes.then_some(Remark::Codes));
        }
        if self.has_digits_of_codes(told) {
            return self.texts(Some(Remark::Digits));
        }
        self.numbers(table)
    }

    /// Whether the digits of so many cells are those of codes: zeros before others, or very many of them.
    pub(super) fn has_digits_of_codes(&self, told: u64) -> bool {
        let same_length = self.bare == told && !self.lengths_differ && self.length > Some(1);
        self.long * 2 >= told || (self.zeros > 0 && (same_length || self.zeros * 20 >= told))
    }

    /// Whether nearly all cells are times of a day or durations. What may be something else counts where one in five is
    /// certain.
    fn is_clock(&self) -> bool {
        let Clocks { sure, possible, typed, .. } = self.clocks;
        let told = self.present - self.gaps;
        let shown = if sure * 4 >= possible { sure + possible } else { sure };
        let enough = |count: u64| count * 20 >= self.present || count >= 50;
        let all_typed = typed > 0 && typed == self.present;
        all_typed || shown > 0 && (shown >= told && enough(shown) || shown * 10 >= told * 9)
    }

    fn clock(&self) -> Understood {
        let Clocks { sure, possible, long, short, half, typed } = self.clocks;
        // One slip makes no minutes of hours.
        let is_short = half == 0 && short > 0 && short * 20 >= sure - long;
        let clock = match (long + typed, is_short) {
            (_, true) => Clock::Short,
            (1.., false) => Clock::Seconds,
            (0, false) => Clock::Minutes,
        };
        let read = sure + possible + typed + self.point;
        let stray_rows = self.present - read.min(self.present);
        let notation = Notation { stray: stray_rows > 0, clock: Some(clock), ..Notation::default() };
        let mut strays = self.strays([true; 3]);
        strays.retain(|stray| notation.number(&stray.text).is_none_or(f64::is_nan));
        Understood { read_as: ReadAs::Numbers, notation, stray_rows, strays, remarks: vec![Remark::Clock] }
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
        remarks.extend(self.meaning.map(|meaning| match meaning {
            Meaning::Same => Remark::Unit,
            Meaning::Multiples => Remark::Multiples,
        }));
        let read = if comma { self.comma } else { self.point };
        let stray_rows = self.present - read;
        // A unit that most numbers have.
        let same = self.meaning == Some(Meaning::Same);
        let unit = self.unit.clone().filter(|_| same || self.currency.max(self.percent) * 2 > read);
        let multiples = self.meaning == Some(Meaning::Multiples);
        let stray = stray_rows > 0;
        let notation = Notation { decimal_comma: comma, stray, unit, multiples, ..Notation::default() };
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
        let stray_rows = self.present - (read + self.clocks.sure).min(self.present);
        let notation = Notation { dates: order, stray: stray_rows > 0, ..Notation::default() };
        let strays = self.strays([true, true, false]);
        Understood { read_as: ReadAs::Times, notation, stray_rows, strays, remarks }
    }

    /// Dates of eight digits.
    fn dates(&self) -> Understood {
        let stray_rows = self.present - self.digits.rows;
        let notation = Notation { stray: stray_rows > 0, eight_digits: true, ..Notation::default() };
        let (strays, remarks) = (self.strays([false; 3]), vec![Remark::EightDigits]);
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
