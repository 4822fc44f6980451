//! The time of a day, and its zone.

use super::Token;

/// Zones with a name, and their hours.
const ZONES: [(&str, i64); 14] = [
    ("z", 0),
    ("utc", 0),
    ("gmt", 0),
    ("est", -5),
    ("edt", -4),
    ("cst", -6),
    ("cdt", -5),
    ("mst", -7),
    ("mdt", -6),
    ("pst", -8),
    ("pdt", -7),
    ("cet", 1),
    ("cest", 2),
    ("bst", 1),
];

pub(super) struct Clock {
    pub(super) seconds: Seconds,
}

/// Seconds and a fraction of nine digits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Seconds {
    pub(crate) whole: i64,
    pub(crate) fraction: i64,
}

impl Seconds {
    /// So many seconds later.
    pub(crate) fn after(self, start: i64) -> f64 {
        let whole = start + self.whole;
        match whole.checked_mul(1_000_000_000).and_then(|units| units.checked_add(self.fraction)) {
            Some(units) if self.fraction > 0 => seconds(units, 1e9),
            _ => whole as f64,
        }
    }
}

/// Seconds from a whole number of units. The same moment in other units has the same bits.
///
/// ```
/// assert_eq!(diad_table::seconds(1_709_296_205_100_000_000, 1e9), diad_table::seconds(1_709_296_205_100, 1e3));
/// ```
pub fn seconds(units: i64, per_second: f64) -> f64 {
    if per_second == 1e9 && units % 1000 == 0 {
        (units / 1000) as f64 / 1e6
    } else {
        units as f64 / per_second
    }
}

/// A fraction of a second, of so many digits, as billionths. Further digits are cut off.
pub(crate) fn billionths(digits: &[u8]) -> i64 {
    let digit = |place: usize| digits.get(place).map_or(0, |digit| i64::from(digit - b'0'));
    (0..9).fold(0, |sum, place| sum * 10 + digit(place))
}

/// A time of day, and what comes after it.
pub(super) fn clock<'a, 'b>(tokens: &'b [Token<'a>]) -> Option<(Clock, &'b [Token<'a>])> {
    use Token::{Mark, Number, Word};
    let (mut hour, minute, mut rest) = match tokens {
        [Number(hour, 1 | 2), Mark(b':'), Number(minute, 2), rest @ ..] => (*hour, *minute, rest),
        // 9 PM
        [Number(hour, 1 | 2), Mark(b' '), Word(half)] | [Number(hour, 1 | 2), Word(half)]
            if is_half(half) =>
        {
            (*hour, 0, &tokens[1..])
        }
        _ => return None,
    };
    let (mut second, mut fraction) = (0, 0);
    if let [Mark(b':'), Number(whole, 2), after @ ..] = rest {
        second = *whole;
        rest = after;
        if let [Mark(b'.' | b','), Number(part, digits), after @ ..] = rest {
            fraction = i64::from(*part) * 10i64.pow(9 - u32::try_from(*digits).ok()?);
            rest = after;
        }
    }
    let half = match rest {
        [Mark(b' '), Word(half), after @ ..] | [Word(half), after @ ..] if is_half(half) => {
            rest = after;
            Some(half.as_bytes()[0].to_ascii_lowercase())
        }
        _ => None,
    };
    if let Some(half) = half {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if half == b'p' { 12 } else { 0 };
    }
    let whole = i64::from(hour * 3600 + minute * 60 + second);
    let sound = hour < 24 && minute < 60 && second < 61;
    sound.then_some((Clock { seconds: Seconds { whole, fraction } }, rest))
}

fn is_half(word: &str) -> bool {
    word.eq_ignore_ascii_case("am") || word.eq_ignore_ascii_case("pm")
}

/// The seconds by which a zone is ahead of UTC.
pub(super) fn zone(tokens: &[Token<'_>]) -> Option<i64> {
    use Token::{Mark, Number, Word};
    let tokens = if let [Mark(b' '), rest @ ..] = tokens { rest } else { tokens };
    let signed = |sign: u8, hours: u32, minutes: u32| {
        let size = i64::from(hours * 3600 + minutes * 60);
        (hours <= 14 && minutes < 60).then_some(if sign == b'-' { -size } else { size })
    };
    match tokens {
        [Word(name)] => {
            let lower = name.to_ascii_lowercase();
            ZONES.iter().find(|(known, _)| *known == lower).map(|(_, hours)| hours * 3600)
        }
        [Word("UTC" | "GMT" | "utc" | "gmt"), rest @ ..] if !rest.is_empty() => zone(rest),
        [Mark(sign @ (b'+' | b'-')), Number(hours, 1 | 2)] => signed(*sign, *hours, 0),
        [Mark(sign @ (b'+' | b'-')), Number(both, 4)] => signed(*sign, both / 100, both % 100),
        [Mark(sign @ (b'+' | b'-')), Number(hours, 1 | 2), Mark(b':'), Number(minutes, 2)] => {
            signed(*sign, *hours, *minutes)
        }
        _ => None,
    }
}
