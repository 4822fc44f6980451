//! Numbers, shares and counts as people write them.

/// Digits of the ends of what is usual, and the share of the larger end that counts as 0.
const DIGITS: usize = 3;
const NOTHING: f64 = 1e-5;

/// Most characters of a number that is shown with all its digits.
const LONGEST_PLAIN: usize = 12;

/// A share as a percentage that is 0 or 100 only if it is exactly that.
pub(super) fn percent(share: f64) -> String {
    let percentage = share * 100.0;
    let text = match percentage {
        p if p <= 0.0 => "0".to_owned(),
        p if p < 0.1 => "less than 0.1".to_owned(),
        p if p >= 100.0 => "100".to_owned(),
        p if p > 99.99 => "more than 99.99".to_owned(),
        p if p > 99.0 => format!("{p:.2}"),
        p => format!("{p:.1}"),
    };
    format!("{text} %")
}

/// A number as people write it: all its digits where these are few, else six, and powers of ten where it would be long.
///
/// ```
/// use diad::explain::number;
///
/// assert_eq!([4.2, -0.0, 1234567.8, 1e-9, 2.0 / 3.0].map(number), ["4.2", "0", "1234567.8", "1e-9", "0.666667"]);
/// ```
pub fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return if value == 0.0 { "0".into() } else { value.to_string() };
    }
    let plain = value.to_string();
    if value.abs() >= 1e-5 && plain.len() <= LONGEST_PLAIN {
        return plain;
    }
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let size = rounded.abs();
    if (1e-5..1e15).contains(&size) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// A number with four digits that count.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// A whole number with its thousands apart.
pub(crate) fn count(number: u64) -> String {
    thousands(&number.to_string())
}

/// A number with the thousands before its point apart; one with a power of ten or a unit as it is.
pub(super) fn thousands(number: &str) -> String {
    let (sign, size) = number.split_at(usize::from(number.starts_with('-')));
    let (digits, rest) = size.split_at(size.find('.').unwrap_or(size.len()));
    if !size.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return number.to_owned();
    }
    let mut text = String::with_capacity(number.len() + digits.len() / 3);
    text.push_str(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + rest
}

/// How many times as much, in as many digits as people say: "1.9 times", "11 times".
pub(super) fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.1} times") } else { format!("{} times", count(ratio.round() as u64)) }
}

/// A number with a few digits; 0 if it is nothing beside a size.
pub(super) fn short(value: f64, size: f64) -> f64 {
    if value.abs() < NOTHING * size {
        return 0.0;
    }
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_all_or_nothing_only_if_it_is() {
        let shares = [0.0, 1e-7, 0.00099, 0.003, 0.5, 0.98765, 0.997, 0.999999, 1.0];
        assert_eq!(
            shares.map(percent),
            [
                "0 %",
                "less than 0.1 %",
                "less than 0.1 %",
                "0.3 %",
                "50.0 %",
                "98.8 %",
                "99.70 %",
                "more than 99.99 %",
                "100 %"
            ]
        );
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [1e15, 123456.0, 0.1 + 0.2, f64::MAX].map(number),
            ["1e15", "123456", "0.3", "1.79769e308"]
        );
        assert_eq!(
            ["999", "-1234.5678", "1234567", "1e15", "-12 €"].map(thousands),
            ["999", "-1,234.5678", "1,234,567", "1e15", "-12 €"]
        );
        assert_eq!([short(3.06e-7, 10.0), short(-12.3456, 50.0), short(1e-9, 1e-9)], [0.0, -12.3, 1e-9]);
    }
}
