//! The date of a time: a day, a month and a year, as people write them.

use super::Token;

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

pub(super) enum Parts {
    Known {
        month: u32,
        day: u32,
    },
    Either(u32, u32),
    /// Dates with full stops have the day first wherever they are written.
    DayFirst(u32, u32),
}

pub(super) struct Date<'a, 'b> {
    pub(super) year: u32,
    pub(super) parts: Parts,
    /// Whether the month is a word.
    pub(super) named: bool,
    pub(super) rest: &'b [Token<'a>],
}

pub(super) fn date<'a, 'b>(tokens: &'b [Token<'a>]) -> Option<Date<'a, 'b>> {
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
        // Q1 2000
        [Word("Q" | "q"), Number(quarter @ 1..=4, 1), Mark(b' ' | b'-'), Number(year @ 1000..=2999, 4)] => {
            known(*year, 3 * quarter - 2, 1, true, &[])
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
        // 2000 Jan, 2000-Jan: a month of a year
        [Number(year @ 1000..=2999, 4), Mark(b' ' | b'-'), Word(name)] if month_of(name).is_some() => {
            known(*year, month_of(name)?, 1, true, &[])
        }
        // 2000 Q1, 2000-Q1, 2000Q1: a quarter of a year
        [Number(year @ 1000..=2999, 4), Mark(b' ' | b'-'), Word("Q" | "q"), Number(quarter @ 1..=4, 1)]
        | [Number(year @ 1000..=2999, 4), Word("Q" | "q"), Number(quarter @ 1..=4, 1)] => {
            known(*year, 3 * quarter - 2, 1, true, &[])
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

/// A year of two digits is the one from 1950 to 2049.
fn full_year(year: u32, digits: usize) -> u32 {
    match year {
        _ if digits > 2 => year,
        0..50 => 2000 + year,
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

/// The text after a day of the week.
pub(super) fn without_weekday<'a, 'b>(tokens: &'b [Token<'a>]) -> &'b [Token<'a>] {
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
