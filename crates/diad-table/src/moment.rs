//! Dates and times as people write them.

use crate::DateOrder;
use crate::time::days_of;

/// Names of months, with the letters by which each is known, in English, German, French and Spanish.
const MONTHS: [(&str, u32); 34] = [
    ("jan", 1),
    ("ene", 1),
    ("jän", 1),
    ("feb", 2),
    ("fév", 2),
    ("fev", 2),
    ("mar", 3),
    ("mär", 3),
    ("mrz", 3),
    ("apr", 4),
    ("avr", 4),
    ("abr", 4),
    ("may", 5),
    ("mai", 5),
    ("jun", 6),
    ("juin", 6),
    ("jul", 7),
    ("juil", 7),
    ("aug", 8),
    ("aou", 8),
    ("aoû", 8),
    ("ago", 8),
    ("sep", 9),
    ("oct", 10),
    ("okt", 10),
    ("nov", 11),
    ("dec", 12),
    ("dez", 12),
    ("déc", 12),
    ("dic", 12),
    ("maart", 3),
    ("mei", 5),
    ("gen", 1),
    ("ott", 10),
];

const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

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

/// Most bytes of a time.
const LONGEST: usize = 48;

/// What was found in the text of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    /// Seconds since the start of 1970, with the day before the month.
    pub(crate) dmy: Option<f64>,
    /// Seconds since the start of 1970, with the month before the day.
    pub(crate) mdy: Option<f64>,
    /// The first two numbers of a date that could be read both ways.
    pub(crate) parts: Option<[u32; 2]>,
    /// Whether it says its zone.
    pub(crate) zone: bool,
}

impl Moment {
    pub(crate) fn by(&self, order: Option<DateOrder>) -> Option<f64> {
        match order {
            Some(DateOrder::Mdy) => self.mdy,
            Some(DateOrder::Dmy) => self.dmy,
            // Without an order only what has one reading is read.
            None if self.dmy == self.mdy => self.dmy,
            None => None,
        }
    }
}

/// A piece of a text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Token<'a> {
    /// A number and how many digits it has.
    Number(u32, usize),
    Word(&'a str),
    Mark(u8),
}

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::with_capacity(12);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() {
            let length = rest.bytes().take_while(u8::is_ascii_digit).count();
            if length > 9 {
                return None;
            }
            tokens.push(Token::Number(rest[..length].parse().ok()?, length));
            length
        } else if first.is_alphabetic() {
            let length = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
            tokens.push(Token::Word(&rest[..length]));
            length
        } else {
            if !first.is_ascii() && !matches!(first, '\u{a0}' | '\u{202f}') {
                return None;
            }
            let mark = if first.is_ascii() { first as u8 } else { b' ' };
            tokens.push(Token::Mark(mark));
            first.len_utf8()
        };
        rest = &rest[length..];
    }
    Some(tokens)
}

/// A date, a time of a day, or both; nothing for any other text.
pub(crate) fn read(text: &str) -> Option<Moment> {
    if text.len() > LONGEST || text.len() < 4 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let all = tokens(text)?;
    let mut rest = without_weekday(&all);
    if let Some((clock, after)) = clock(rest)
        && after.is_empty()
    {
        // A time of a day alone.
        let seconds = Some(clock.seconds.after(0));
        return Some(Moment { dmy: seconds, mdy: seconds, parts: None, zone: false });
    }
    let date = date(rest)?;
    rest = date.rest;
    let mut offset = None;
    let mut seconds = Seconds::default();
    if !rest.is_empty() {
        rest = match rest {
            [Token::Mark(b','), Token::Mark(b' '), rest @ ..] => rest,
            [Token::Mark(b' ' | b','), rest @ ..] => rest,
            // The time of Apache's logs stands behind a colon.
            [Token::Mark(b':'), rest @ ..] if date.named => rest,
            [Token::Word("T" | "t"), rest @ ..] => rest,
            _ => return None,
        };
        while let [Token::Mark(b' '), more @ ..] = rest {
            rest = more;
        }
        if rest.is_empty() {
            return None;
        }
        let (clock, after) = clock(rest)?;
        seconds = clock.seconds;
        offset = if after.is_empty() { None } else { Some(zone(after)?) };
    }
    let at = |day: u32, month: u32| {
        let start = start_of(date.year, month, day)?;
        Some(seconds.after(start - offset.unwrap_or(0)))
    };
    let moment = match date.parts {
        Parts::Known { month, day } => {
            let time = at(day, month);
            Moment { dmy: time, mdy: time, parts: None, zone: offset.is_some() }
        }
        Parts::Either(first, second) => Moment {
            dmy: at(first, second),
            mdy: at(second, first),
            parts: Some([first, second]),
            zone: offset.is_some(),
        },
        Parts::DayFirst(day, month) => {
            Moment { dmy: at(day, month), mdy: at(day, month), parts: None, zone: offset.is_some() }
        }
    };
    (moment.dmy.is_some() || moment.mdy.is_some()).then_some(moment)
}

enum Parts {
    Known {
        month: u32,
        day: u32,
    },
    Either(u32, u32),
    /// Dates with full stops have the day first wherever they are written.
    DayFirst(u32, u32),
}

struct Date<'a, 'b> {
    year: u32,
    parts: Parts,
    /// Whether the month is a word.
    named: bool,
    rest: &'b [Token<'a>],
}

fn date<'a, 'b>(tokens: &'b [Token<'a>]) -> Option<Date<'a, 'b>> {
    use Token::{Mark, Number, Word};
    let known = |year, month, day, named, rest| {
        let parts = Parts::Known { month, day };
        Some(Date { year, parts, named, rest })
    };
    let gap = |mark: u8| matches!(mark, b' ' | b'-' | b'/' | b'.');
    match tokens {
        // 2024-01-31, 2024/1/31, 2024.01.31
        [Number(year, 4), Mark(a), Number(month, 1 | 2), Mark(b), Number(day, 1 | 2), rest @ ..]
            if a == b && matches!(a, b'-' | b'/' | b'.') =>
        {
            known(*year, *month, *day, false, rest)
        }
        // 31.01.2024, 1/31/24, 31-1-2024
        [
            Number(first, 1 | 2),
            Mark(a),
            Number(second, 1 | 2),
            Mark(b),
            Number(year, long @ (2 | 4)),
            rest @ ..,
        ] if a == b && matches!(a, b'-' | b'/' | b'.') => {
            let parts =
                if *a == b'.' { Parts::DayFirst(*first, *second) } else { Parts::Either(*first, *second) };
            Some(Date { year: full_year(*year, *long), parts, named: false, rest })
        }
        // 1 Jan 2000, 01-Jan-2000, 1. Januar 2000
        [Number(day, 1 | 2), Mark(b'.'), Mark(b' '), Word(name), rest @ ..]
        | [Number(day, 1 | 2), Mark(b'.' | b' ' | b'-' | b'/'), Word(name), rest @ ..]
        | [Number(day, 1 | 2), Word("st" | "nd" | "rd" | "th"), Mark(b' '), Word(name), rest @ ..]
        | [Number(day, 1 | 2), Word(name), rest @ ..] => {
            let month = month_of(name)?;
            let (year, rest) = year_after(rest)?;
            known(year, month, *day, true, rest)
        }
        // Jan 1 2000, January 1, 2000, Jan. 1st, 2000
        [Word(name), more @ ..] => {
            let month = month_of(name)?;
            let more = match more {
                [Mark(b'.'), Mark(b' '), more @ ..] => more,
                [Mark(a), more @ ..] if gap(*a) => more,
                _ => return None,
            };
            match more {
                [Number(year, 4), rest @ ..] => known(*year, month, 1, true, rest),
                [Number(day, 1 | 2), Word("st" | "nd" | "rd" | "th"), rest @ ..]
                | [Number(day, 1 | 2), rest @ ..] => match year_after(rest) {
                    Some((year, rest)) => known(year, month, *day, true, rest),
                    // Jan-05: a month of a year.
                    None if rest.is_empty() && matches!(tokens, [_, Mark(b'-' | b' '), Number(_, 2)]) => {
                        known(full_year(*day, 2), month, 1, true, rest)
                    }
                    None => None,
                },
                _ => None,
            }
        }
        // 2000-Jan-01
        [Number(year, 4), Mark(a), Word(name), Mark(b), Number(day, 1 | 2), rest @ ..]
            if gap(*a) && a == b =>
        {
            known(*year, month_of(name)?, *day, true, rest)
        }
        // 2024-01
        [Number(year @ 1000..=2999, 4), Mark(b'-'), Number(month, 2)] => known(*year, *month, 1, false, &[]),
        _ => None,
    }
}

/// A year after a day and a month, and what comes after it.
fn year_after<'a, 'b>(tokens: &'b [Token<'a>]) -> Option<(u32, &'b [Token<'a>])> {
    use Token::{Mark, Number};
    match tokens {
        [Mark(b','), Mark(b' '), Number(year, long @ (2 | 4)), rest @ ..]
        | [Mark(b'.'), Mark(b' '), Number(year, long @ (2 | 4)), rest @ ..]
        | [Mark(b' ' | b'-' | b',' | b'/' | b'.'), Number(year, long @ (2 | 4)), rest @ ..]
        | [Number(year, long @ (2 | 4)), rest @ ..] => Some((full_year(*year, *long), rest)),
        _ => None,
    }
}

/// A year of two digits is the one from 1970 to 2069.
fn full_year(year: u32, digits: usize) -> u32 {
    match year {
        _ if digits > 2 => year,
        0..70 => 2000 + year,
        _ => 1900 + year,
    }
}

fn month_of(name: &str) -> Option<u32> {
    let lower = name.to_lowercase();
    if lower.chars().count() > 10 {
        return None;
    }
    MONTHS
        .iter()
        .filter(|(start, _)| lower.starts_with(start))
        .max_by_key(|(start, _)| start.len())
        .map(|found| found.1)
}

struct Clock {
    seconds: Seconds,
}

/// Seconds and a fraction of nine digits.
#[derive(Debug, Clone, Copy, Default)]
struct Seconds {
    whole: i64,
    fraction: i64,
}

impl Seconds {
    /// So many seconds later.
    fn after(self, start: i64) -> f64 {
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
fn billionths(digits: &[u8]) -> i64 {
    let digit = |place: usize| digits.get(place).map_or(0, |digit| i64::from(digit - b'0'));
    (0..9).fold(0, |sum, place| sum * 10 + digit(place))
}

/// Seconds from the start of 1970 to that of a day.
fn start_of(year: u32, month: u32, day: u32) -> Option<i64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let longest = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    (1..=longest).contains(&day).then(|| days_of(i64::from(year), month, day) * 86_400)
}

/// A time written as ISO 8601 has it, quickly: `2024-01-31`, `2024-01-31 12:30:05.5` or with a zone. One with a zone is in UTC.
pub(crate) fn iso(text: &[u8]) -> Option<f64> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.iter().try_fold(0u32, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
    };
    let mark = |at: usize| text.get(at).copied();
    if !matches!((mark(4)?, mark(7)?), (b'-', b'-') | (b'/', b'/')) {
        return None;
    }
    let mut whole = start_of(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
    if text.len() == 10 {
        return Some(whole as f64);
    }
    if !matches!(mark(10)?, b' ' | b'T' | b't') || mark(13)? != b':' {
        return None;
    }
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let (mut second, mut fraction, mut rest) = (0, 0, 16);
    if mark(16) == Some(b':') {
        second = number(17, 19)?;
        rest = 19;
        if matches!(mark(19), Some(b'.' | b',')) {
            let digits = text[20..].iter().take_while(|b| b.is_ascii_digit()).count();
            rest = 20 + digits;
            fraction = billionths(&text[20..rest]);
        }
    }
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    whole += i64::from(hour * 3600 + minute * 60 + second);
    let offset = match &text[rest..] {
        [] | b"Z" | b"z" => 0,
        zoned => zone(&tokens(std::str::from_utf8(zoned).ok()?)?)?,
    };
    Some(Seconds { whole: 0, fraction }.after(whole - offset))
}

/// A time of day, and what comes after it.
fn clock<'a, 'b>(tokens: &'b [Token<'a>]) -> Option<(Clock, &'b [Token<'a>])> {
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
fn zone(tokens: &[Token<'_>]) -> Option<i64> {
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

/// The text after a day of the week.
fn without_weekday<'a, 'b>(tokens: &'b [Token<'a>]) -> &'b [Token<'a>] {
    let [Token::Word(name), rest @ ..] = tokens else { return tokens };
    let lower = name.to_lowercase();
    if !WEEKDAYS.iter().any(|day| lower.starts_with(day)) || month_of(name).is_some() {
        return tokens;
    }
    match rest {
        [Token::Mark(b',' | b'.'), Token::Mark(b' '), rest @ ..] | [Token::Mark(b' '), rest @ ..] => rest,
        _ => tokens,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: f64 = 86_400.0;

    #[test]
    fn the_common_ways_to_write_a_time_are_read() {
        let first = 946_684_800.0;
        for (text, seconds) in [
            ("2000-01-01", first),
            ("2000/1/1", first),
            ("1.1.2000", first),
            ("01.01.00", first),
            ("Jan 1 2000", first),
            ("January 1, 2000", first),
            ("1 January 2000", first),
            ("01-Jan-2000", first),
            ("1-Jan-00", first),
            ("1. Januar 2000", first),
            ("1st January 2000", first),
            ("01JAN2000", first),
            ("Jan 2000", first),
            ("2000-01", first),
            ("Sat, 01 Jan 2000 00:00:00 GMT", first),
            ("Saturday 1 January 2000", first),
            ("2000-01-01T12:30:00.5Z", first + 12.5 * 3600.0 + 0.5),
            ("2000-01-01 12:30:00+02:00", first + 10.5 * 3600.0),
            ("2000-01-01 12:30 -0500", first + 17.5 * 3600.0),
            ("01/Jan/2000:12:30:00 +0000", first + 12.5 * 3600.0),
            ("Jan 1, 2000 1:30 PM", first + 13.5 * 3600.0),
            ("1.1.2000, 13:30", first + 13.5 * 3600.0),
            ("12:30", 12.5 * 3600.0),
            ("9:30:15 pm", 21.5 * 3600.0 + 15.0),
            ("12:00 AM", 0.0),
        ] {
            let read = read(text).unwrap_or_else(|| panic!("{text} is not read"));
            assert_eq!((read.dmy, read.mdy), (Some(seconds), Some(seconds)), "{text}");
        }
        let either = read("1/2/2000").unwrap();
        assert_eq!((either.dmy, either.mdy), (Some(first + 31.0 * DAY), Some(first + DAY)));
        assert_eq!(either.by(None), None);
        let american = read("1/31/2000 5:00 PM").unwrap();
        assert_eq!((american.dmy, american.mdy), (None, Some(first + 30.0 * DAY + 17.0 * 3600.0)));
    }

    #[test]
    fn other_texts_are_no_times() {
        for text in [
            "",
            "2024",
            "1.5",
            "1.5.3",
            "2024-13-01",
            "31.02.2024",
            "May",
            "March",
            "Mar 5",
            "25:00",
            "12:60",
            "1/2",
            "V57",
            "10-20",
            "1-2-3",
            "2024-01-01x",
            "2024-01-01 ",
            "jan-feb",
            "5 apples 2000",
            "192.168.10.1",
            "2024-01-01 noon",
            "20240131",
            "12:30 12:30",
            "may 2000 x",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
