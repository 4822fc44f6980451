//! Dates and times as people write them.

use crate::DateOrder;
use crate::time::days_of;
use clock::{clock, zone};
use date::{Parts, date, without_weekday};

mod clock;
mod date;

pub use clock::seconds;
pub(crate) use clock::{Seconds, billionths};

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

#[cfg(test)]
mod tests;
