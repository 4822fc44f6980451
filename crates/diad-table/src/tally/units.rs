//! Columns of numbers with units: what stands for them once it is certain that they are.

use std::borrow::Cow;

use super::Tally;
use super::stray::{Class, class_of};
use crate::{number, unit};

/// Most different units of a column that are remembered.
const MOST_UNITS: usize = 16;
/// Different numbers that a column with units has, at least.
const LEAST_NUMBERS: usize = 5;

/// Letters right behind numbers that are units rather than the last letter of a room, a house or a version.
const LETTERS: [&str; 9] = ["g", "m", "s", "h", "l", "k", "t", "d", "y"];
/// Units that people write in capital letters. Others are those of codes, such as `6786 UA`.
const CAPITALS: [&str; 21] = [
    "KB", "MB", "GB", "TB", "PB", "KG", "KM", "CM", "MM", "ML", "LB", "LBS", "OZ", "FT", "HP", "KW", "MW",
    "GW", "RPM", "PSI", "MPH",
];

/// The cells that have one unit.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    /// As it is written first.
    name: String,
    rows: u64,
    /// Rows in which it follows the last digit at once, and those counted as codes.
    attached: u64,
    codes: u64,
    /// The numbers before it.
    numbers: Tally,
}

/// What units mean that were decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// The one unit of the column.
    Same,
    /// Thousands, millions and thousand millions.
    Multiples,
}

impl Tally {
    /// Adds a text that is no number as one with a unit, if it is.
    pub(super) fn add_unit(&mut self, text: &str, rows: u64) {
        let Some((before, name)) = unit::split(text) else { return };
        let known = self.units.iter().position(|known| unit::stem(&known.name) == unit::stem(name));
        let place = match known {
            Some(place) => place,
            None if self.units.len() == MOST_UNITS => return,
            None => {
                let numbers = Self::default();
                let name = name.to_owned();
                self.units.push(Unit { name, rows: 0, attached: 0, codes: 0, numbers });
                self.units.len() - 1
            }
        };
        let found = &mut self.units[place];
        if number::written(before, false)
            .or_else(|| number::written(before, true))
            .is_some_and(|n| !n.percent)
            && found.numbers.add_number(before, rows)
        {
            found.rows += rows;
            found.attached += if text.len() == before.len() + name.len() { rows } else { 0 };
            found.codes += if class_of(text) == Class::Code { rows } else { 0 };
        }
    }

    /// The tally as it is if numbers with units are numbers: where nearly all cells have the same unit, or one that stands for a
    /// multiple beside plain numbers.
    pub(super) fn with_units(&self) -> Cow<'_, Self> {
        let told = self.present - self.gaps;
        let nearly_all = |rows: u64| told > 0 && rows * 20 >= told * 19;
        let most = self.units.iter().max_by_key(|unit| unit.rows);
        if let Some(unit) = most.filter(|unit| nearly_all(unit.rows) && unit.is_measure()) {
            return Cow::Owned(self.merged(Meaning::Same, &[unit]));
        }
        let multiples: Vec<&Unit> =
            self.units.iter().filter(|found| unit::power(&found.name).is_some() && found.rows > 0).collect();
        let rows: u64 = multiples.iter().map(|unit| unit.rows).sum();
        let plain = self.point.max(self.comma);
        let fractions = multiples.iter().any(|unit| unit.numbers.fractions);
        let currency: u64 = multiples.iter().map(|unit| unit.numbers.currency).sum();
        let small_letter = multiples.len() > 1 && multiples.iter().any(|unit| unit.name == "k");
        // Sizes of shoes and houses have a letter behind them too, but no fractions.
        let told_apart = fractions || (rows * 20 >= told && (currency * 2 > rows || small_letter));
        if rows > 0 && told_apart && nearly_all(rows + plain) {
            let merged = self.merged(Meaning::Multiples, &multiples);
            let is_code = multiples.iter().any(|unit| unit.numbers.has_digits_of_codes(unit.rows));
            if !is_code && merged.distinct.len() >= LEAST_NUMBERS {
                return Cow::Owned(merged);
            }
        }
        Cow::Borrowed(self)
    }

    fn merged(&self, meaning: Meaning, units: &[&Unit]) -> Self {
        let mut merged = self.clone();
        merged.meaning = Some(meaning);
        for unit in units {
            let numbers = &unit.numbers;
            for (count, more) in [
                (&mut merged.point, numbers.point),
                (&mut merged.comma, numbers.comma),
                (&mut merged.only_point, numbers.only_point),
                (&mut merged.only_comma, numbers.only_comma),
                (&mut merged.two_commas, numbers.two_commas),
                (&mut merged.two_points, numbers.two_points),
                (&mut merged.currency, numbers.currency),
            ] {
                *count += more;
            }
            merged.codes -= unit.codes;
            merged.fractions |= numbers.fractions;
            merged.distinct.extend(&numbers.distinct);
            let currency = numbers.unit.as_ref().or(merged.unit.as_ref()).map(|unit| unit[0].clone());
            merged.unit = match meaning {
                Meaning::Same => Some([currency.unwrap_or_default(), unit.name.clone()]),
                Meaning::Multiples => numbers.unit.clone().or(merged.unit.take()),
            };
        }
        let is_read = |text: &str| {
            unit::split(text)
                .is_some_and(|(_, name)| units.iter().any(|unit| unit::stem(&unit.name) == unit::stem(name)))
        };
        merged.strays.retain(|text, _| !is_read(text));
        merged.different_codes = merged.strays.keys().filter(|text| class_of(text) == Class::Code).count();
        merged
    }
}

impl Unit {
    /// Whether its numbers are those of a measure and no codes that end in the same letters: several different ones, without zeros
    /// before them, with fractions or a currency if it is a single capital letter right behind them, as in `12A`.
    fn is_measure(&self) -> bool {
        let is_amount = self.numbers.currency * 2 > self.rows;
        self.numbers.distinct.len() >= LEAST_NUMBERS
            && !self.numbers.has_digits_of_codes(self.rows)
            && (is_amount || !self.is_end_of_codes())
    }

    /// Whether it is rather what codes end in.
    fn is_end_of_codes(&self) -> bool {
        let name = self.name.as_str();
        let is_attached = self.attached * 2 > self.rows;
        match name.as_bytes() {
            [b'A'..=b'Z'] => is_attached && !self.numbers.fractions,
            b"s" => is_attached && self.has_decades(),
            [b'a'..=b'z'] => is_attached && !LETTERS.contains(&name),
            [_, _, ..] => name.chars().all(char::is_uppercase) && !CAPITALS.contains(&name),
            _ => false,
        }
    }

    /// Whether all numbers are the first years of decades, as in `1960s`.
    fn has_decades(&self) -> bool {
        let years = || self.numbers.distinct.iter().map(|&bits| f64::from_bits(bits));
        years().all(|year| year % 10.0 == 0.0 && (1600.0..2100.0).contains(&year))
    }
}
