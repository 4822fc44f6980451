//! Numbers, shares and counts as people write them.

/// Digits of the larger end of what is usual, steps of the last digit between the ends, and the share of what the column reaches over
/// that counts as nothing.
const DIGITS: i32 = 3;
const STEPS: f64 = 10.0;
const NOTHING: f64 = 1e-6;

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

/// The ends of what is usual with as few digits as tell them, and what lies between them, apart, in a column that reaches over so much.
pub(super) fn short(ends: [f64; 2], reach: f64) -> [f64; 2] {
    let ends = ends.map(|end| if end.abs() < NOTHING * reach { 0.0 } else { end });
    let size = ends[0].abs().max(ends[1].abs());
    let place = |size: f64| libm::floor(libm::log10(size)) as i32;
    let width = (ends[1] - ends[0]).abs().max(NOTHING * reach);
    if !(size > 0.0 && width > 0.0 && size.is_finite()) {
        return ends;
    }
    let last = place(width / STEPS).min(place(size) - (DIGITS - 1));
    ends.map(|end| {
        // Read back from text, so that it is the number that looks like that.
        let rounded = match usize::try_from(-last) {
            Ok(places) => format!("{end:.places$}").parse(),
            Err(_) => format!("{:.0}e{last}", end / libm::pow(10.0, f64::from(last))).parse(),
        };
        rounded.unwrap_or(end)
    })
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
        assert_eq!(short([3.06e-9, 10.0], 50.0), [0.0, 10.0]);
        assert_eq!(short([-12.3456, 49.9876], 100.0), [-12.3, 50.0]);
        assert_eq!(short([1969.2, 1981.1], 60.0), [1969.0, 1981.0]);
        assert_eq!(short([16.066_96, 16.085_91], 0.2), [16.067, 16.086]);
        assert_eq!(short([1_704_399_123.0, 1_704_412_456.0], 1e6), [1_704_399_000.0, 1_704_412_000.0]);
        assert_eq!(short([2.27e-13; 2], 1e4), [0.0; 2]);
        assert_eq!(short([0.1 + 0.2; 2], 1.0), [0.3; 2]);
        assert_eq!(short([123_456.0, 987_654.0], 1e6), [123_000.0, 988_000.0]);
        assert_eq!(short([0.0; 2], 0.0), [0.0; 2]);
    }
}
