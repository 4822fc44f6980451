//! Columns computed from columns, in stages: a stage may look at what the one before it has.

use std::collections::{BTreeMap, BTreeSet};

use super::dialect::Dialect;

/// A column of the sheet.
pub type Col = usize;

/// Letters that take over from others where a name would have more than three characters.
const SPARE: [(char, char); 3] = [('z', 'y'), ('a', 'w'), ('g', 'm')];

/// Columns in the making.
#[derive(Debug, Default)]
pub struct Sheet {
    columns: Vec<Made>,
    /// How many there are of each letter.
    numbers: BTreeMap<char, usize>,
}

#[derive(Debug)]
struct Made {
    name: String,
    text: String,
    uses: Vec<Col>,
    stage: usize,
}

impl Sheet {
    /// A column whose name starts with a letter, computed no earlier than in a stage.
    pub fn add(&mut self, letter: char, least: usize, uses: &[Col], text: String) -> Col {
        let stage = uses.iter().map(|&used| self.columns[used].stage + 1).max().unwrap_or(1).max(least);
        let name = self.free_name(letter);
        self.columns.push(Made { name, text, uses: uses.to_vec(), stage });
        self.columns.len() - 1
    }

    /// A letter and a number to the base of 36 that has a digit, so that it is no word.
    fn free_name(&mut self, letter: char) -> String {
        let same = self.numbers.entry(letter).or_default();
        loop {
            let (mut rest, mut name) = (*same, Vec::new());
            *same += 1;
            loop {
                name.extend(char::from_digit((rest % 36) as u32, 36));
                rest /= 36;
                if rest == 0 {
                    break;
                }
            }
            let spare = SPARE.iter().find(|(full, _)| *full == letter && name.len() > 2);
            if let Some((_, spare)) = spare {
                return self.free_name(*spare);
            }
            if name.iter().any(char::is_ascii_digit) {
                return std::iter::once(letter).chain(name.into_iter().rev()).collect();
            }
        }
    }

    /// The name of a column.
    pub fn name(&self, column: Col) -> &str {
        &self.columns[column].name
    }

    /// The stage of a column.
    pub fn stage(&self, column: Col) -> usize {
        self.columns[column].stage
    }

    /// How many columns are known from some stage on, if later ones need all of these.
    pub fn width(&self) -> usize {
        self.columns.len()
    }

    /// The stages as parts of a statement, and the name of the last one, which has the `wanted` columns.
    pub fn stages(&self, dialect: Dialect, table: &str, wanted: &[Col]) -> (Vec<String>, String) {
        let last = wanted.iter().map(|&column| self.columns[column].stage).max().unwrap_or(1);
        let mut needed: BTreeSet<Col> = wanted.iter().copied().collect();
        let mut stages = Vec::new();
        for stage in (1..=last).rev() {
            let from = if stage == 1 { table.to_owned() } else { format!("d{}", stage - 1) };
            let mut before = BTreeSet::new();
            let list: Vec<(bool, String)> = (needed.iter())
                .map(|&column| {
                    let Made { name, text, uses, stage: own } = &self.columns[column];
                    if *own == stage {
                        before.extend(uses.iter().copied());
                        return (true, dialect.named(text, name));
                    }
                    before.insert(column);
                    (false, name.clone())
                })
                .collect();
            let mut body = String::from("SELECT ");
            for (index, (made, text)) in list.iter().enumerate() {
                // What is only passed on goes on in the same line.
                let separator = match made {
                    _ if index == 0 => "",
                    true => ",\n",
                    false => ",",
                };
                body.push_str(separator);
                body.push_str(text);
            }
            body += &format!("\nFROM {from}");
            stages.push(dialect.stage(&format!("d{stage}"), &body));
            needed = before;
        }
        stages.reverse();
        (stages, format!("d{last}"))
    }
}

/// A number with so many significant digits at most, always as a floating-point one.
pub fn number(value: f64, digits: usize) -> String {
    let text = format!("{:.*e}", digits - 1, value);
    short(&text)
}

/// A number to the last bit.
pub fn exactly(value: f64) -> String {
    short(&format!("{value:e}"))
}

/// A number within `error`, with as few digits as that takes.
pub fn within(value: f64, error: f64) -> String {
    if value.abs() <= error {
        return "0e0".to_owned();
    }
    let decimals = (-(2.0 * error).log10()).ceil();
    let digits = value.abs().log10().floor() + 1.0 + decimals;
    if digits >= 17.0 { exactly(value) } else { number(value, digits.max(1.0) as usize) }
}

/// `1.2300e-5` as `123e-7`.
fn short(text: &str) -> String {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let exponent = exponent.parse::<i32>().unwrap_or(0) - fraction.len() as i32;
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() { "0e0".to_owned() } else { format!("{sign}{digits}e{exponent}") }
}

/// `123e-2` as `1.23` and `5e0` as `5.`, where that is shorter.
pub fn decimal(text: String) -> String {
    let (sign, size) = text.strip_prefix('-').map_or(("", &text[..]), |size| ("-", size));
    let Some((digits, exponent)) = size.split_once('e') else { return text };
    let places =
        exponent.parse::<i32>().ok().filter(|exponent| *exponent <= 0).map(|e| e.unsigned_abs() as usize);
    let Some(places) = places else { return text };
    let digits = format!("{digits:0>places$}");
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let decimal = format!("{sign}{whole}.{fraction}");
    if decimal.len() < text.len() { decimal } else { text }
}

/// A number as something that is added.
pub fn plus(number: &str) -> String {
    if number.starts_with('-') { number.to_owned() } else { format!("+{number}") }
}

/// A number as something that is subtracted.
pub fn minus(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(size) => format!("+{size}"),
        None => format!("-{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_short_and_no_two_are_the_same() {
        let mut sheet = Sheet::default();
        let names: Vec<String> = (0..1180).map(|_| sheet.free_name('a')).collect();
        assert!(names.iter().all(|name| name.len() <= 3 && name.chars().any(|c| c.is_ascii_digit())));
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 1180);
    }

    #[test]
    fn numbers_are_short_and_floating_point() {
        assert_eq!(number(0.000_012_300_4, 3), "123e-7");
        assert_eq!(number(-5.0, 9), "-5e0");
        assert_eq!(number(0.0, 9), "0e0");
        assert_eq!(exactly(0.1), "1e-1");
        assert_eq!(within(0.123_456_789, 1e-4), "1235e-4");
        assert_eq!(within(0.000_01, 1e-4), "0e0");
        assert_eq!(minus("-5e0"), "+5e0");
        for (long, short) in [
            ("461631e-6", ".461631"),
            ("-4548e-3", "-4.548"),
            ("5e0", "5."),
            ("12e-6", "12e-6"),
            ("5e3", "5e3"),
        ] {
            assert_eq!(decimal(long.to_owned()), short);
        }
        for value in [1.7976931348623157e308, 5e-324, -0.1, 12345.678] {
            assert_eq!(exactly(value).parse::<f64>().unwrap(), value);
        }
        for (k, error) in [1.0, 0.3, 1e-3, 7.7e-8, 1e-13].into_iter().enumerate() {
            for value in (1..2000).map(|i| (f64::from(i) * 0.618).sin() * 10f64.powi(i % 7 - 3)) {
                let off = (within(value, error).parse::<f64>().unwrap() - value).abs();
                assert!(off <= error * (1.0 + 1e-9), "{k}: {value} is off by {off}");
            }
        }
    }
}
