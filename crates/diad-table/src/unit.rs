//! Numbers with a unit behind them, such as `72.3 kg`, and with a letter for thousands or millions, such as `3.5k`.

use crate::number;

/// Most bytes of a unit.
const LONGEST: usize = 16;

/// Letters behind a number that are no unit: of times of day and of ordinal numbers, and what may be the start of an exponent.
const NO_UNITS: [&str; 12] = ["am", "pm", "a.m.", "p.m.", "a", "p", "st", "nd", "rd", "th", "e", "x"];

/// What is before and after the digits of a number with a unit; nothing for any other text.
pub(crate) fn split(text: &str) -> Option<(&str, &str)> {
    // Square and cubic metres, feet and inches may end with a digit.
    let powers = ["m2", "m3", "ft2", "ft3", "in2", "in3"];
    let digits = match powers.iter().any(|power| text.ends_with(power)) {
        true => &text[..text.len() - 1],
        false => text,
    };
    let last = digits.rfind(|c: char| c.is_ascii_digit())?;
    let (number, unit) = text.split_at(last + 1);
    let unit = unit.trim();
    let starts = |c: char| c.is_alphabetic() || matches!(c, '°' | '/' | '"' | '″' | '′' | '$' | '€' | '£');
    let goes_on = |c: char| {
        starts(c) || matches!(c, '²' | '³' | '·' | '.' | '*' | '^' | '%' | ' ' | '2' | '3' | '-' | '\'')
    };
    // Several words with capital letters are a name, such as that of a street, but not degrees and millimetres of mercury.
    let has_capitals = unit.split(' ').any(|word| word.starts_with(char::is_uppercase));
    let is_degrees = unit.starts_with('°') || unit.starts_with("deg") || unit.ends_with(" Hg");
    let is_name = unit.contains(' ') && has_capitals && !is_degrees;
    let is_unit = unit.len() <= LONGEST
        && !is_name
        && unit.starts_with(starts)
        && unit.chars().all(goes_on)
        && !NO_UNITS.iter().any(|word| unit.eq_ignore_ascii_case(word));
    is_unit.then_some((number, unit))
}

/// A unit however it is written: without a full stop, and one of a thing as many of them.
pub(crate) fn stem(unit: &str) -> &str {
    let unit = unit.trim_end_matches('.');
    match unit.strip_suffix('s') {
        Some(one) if one.len() > 1 && one.chars().all(char::is_alphabetic) => one,
        _ => unit,
    }
}

/// The power of ten that a letter stands for.
pub(crate) fn power(unit: &str) -> Option<i32> {
    match unit {
        "k" | "K" => Some(3),
        "M" => Some(6),
        "B" | "bn" => Some(9),
        _ => None,
    }
}

/// A number that has that unit; nothing for any other text.
pub(crate) fn written(text: &str, wanted: &str, decimal_comma: bool) -> Option<f64> {
    let (number, unit) = split(text)?;
    if stem(unit) != stem(wanted) {
        return None;
    }
    // Per cent of something are no number of it.
    number::written(number, decimal_comma).filter(|found| !found.percent).map(|found| found.value)
}

/// A number with a letter for thousands or millions.
pub(crate) fn multiple(text: &str, decimal_comma: bool) -> Option<f64> {
    let (number, unit) = split(text)?;
    let power = power(unit)?;
    number::scaled(number, decimal_comma, power).filter(|found| !found.percent).map(|found| found.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_stand_behind_numbers() {
        for (text, number, unit) in [
            ("72.3 kg", "72.3", "kg"),
            ("180cm", "180", "cm"),
            ("-5 °C", "-5", "°C"),
            ("1,234.5 m2", "1,234.5", "m2"),
            ("12 m³", "12", "m³"),
            ("100 km/h", "100", "km/h"),
            ("$5/mo", "$5", "/mo"),
            ("0,25 €/kWh", "0,25", "€/kWh"),
            ("70 sq ft", "70", "sq ft"),
            ("37 deg C", "37", "deg C"),
            ("120 mm Hg", "120", "mm Hg"),
            ("5'", "5'", ""),
        ] {
            let expected = if unit.is_empty() { None } else { Some((number, unit)) };
            assert_eq!(split(text), expected, "{text}");
        }
        for text in [
            "",
            "kg",
            "12",
            "5 pm",
            "3rd",
            "2e",
            "5x3",
            "5%",
            "12-",
            "5 a very long description",
            "7 (a)",
            "12 Main St",
            "19 rue Hugo",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
        assert_eq!(
            ["days", "day", "min.", "s", "ms", "gas", "lbs"].map(stem),
            ["day", "day", "min", "s", "ms", "ga", "lb"]
        );
    }

    #[test]
    fn numbers_are_those_of_their_unit() {
        assert_eq!(written("72.3 kg", "kg", false), Some(72.3));
        assert_eq!(written("1.072,3 kg", "kg", true), Some(1072.3));
        assert_eq!(written("1 day", "days", false), Some(1.0));
        assert_eq!(
            ["72 lb", "5 Kg", "A5 kg", "5% kg", "12:30 kg"].map(|text| written(text, "kg", false)),
            [None; 5]
        );
        assert_eq!(
            ["3.5k", "$1.2M", "-2bn", "7 K"].map(|text| multiple(text, false)),
            [3500.0, 1.2e6, -2e9, 7000.0].map(Some)
        );
        assert_eq!(["1.005k", "1,001.1k"].map(|text| multiple(text, false)), [1005.0, 1_001_100.0].map(Some));
        assert_eq!(["1e3k", "5%k"].map(|text| multiple(text, false)), [Some(1e6), None]);
        assert_eq!(["3.5", "12m", "5kg", "k"].map(|text| multiple(text, false)), [None; 4]);
    }
}
