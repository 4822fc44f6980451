//! Times of a day and durations, as a clock shows them: numbers of seconds.

use serde::{Deserialize, Serialize};

use crate::moment::Seconds;

/// Most bytes of a time of a day or a duration.
const LONGEST: usize = 40;
const DAY: i64 = 86_400;
/// From so many days on, days are said.
const MANY_DAYS: u64 = 2;
/// Units of durations in words, and their seconds.
const UNITS: [(&[&str], i64); 4] = [
    (&["d", "day", "days"], DAY),
    (&["h", "hr", "hrs", "hour", "hours", "std"], 3600),
    (&["m", "min", "mins", "minute", "minutes"], 60),
    (&["s", "sec", "secs", "second", "seconds"], 1),
];

/// How a column writes times of a day or durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Clock {
    /// Hours and minutes.
    #[serde(rename = "h:mm")]
    Minutes,
    /// Hours, minutes and seconds; where there are two numbers, hours and minutes.
    #[serde(rename = "h:mm:ss")]
    Seconds,
    /// Minutes and seconds, with hours before them where there are three numbers.
    #[serde(rename = "m:ss")]
    Short,
}

/// What was found in the text of a time of a day or a duration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shown {
    seconds: f64,
    /// Seconds, if the first of two numbers is minutes.
    short: Option<f64>,
    /// Whether it can be nothing else.
    pub(crate) sure: bool,
    /// What it tells of how its column is written.
    pub(crate) form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Two numbers that may be hours and minutes.
    Two,
    /// Two numbers that cannot be the time of a day, such as 45:30 or 1:45.2.
    Short,
    /// Before or after noon.
    Half,
    Other,
}

impl Shown {
    /// The seconds of a text in a column that is written so.
    pub(crate) fn by(self, clock: Clock) -> f64 {
        match (self.short, clock) {
            (Some(short), Clock::Short) => short,
            _ => self.seconds,
        }
    }
}

/// A time of a day or a duration: `12:30`, `9:30:15 pm`, `-27:05:00.5`, `1 day, 2:03:04`, `1h 30m`, `PT1H30M`.
pub(crate) fn read(text: &str) -> Option<Shown> {
    if text.len() > LONGEST || !text.is_ascii() || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (negative, rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest.starts_with(['P', 'p']) {
        return iso(&rest[1..]).map(|span| span.shown(negative, true));
    }
    if !rest.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    match rest.contains(':') {
        true => with_colons(rest, negative),
        false => half_day(rest).or_else(|| in_words(rest)).map(|(span, sure)| span.shown(negative, sure)),
    }
}

/// Whole seconds and billionths.
#[derive(Debug, Clone, Copy, Default)]
struct Span {
    whole: i64,
    fraction: i64,
}

impl Span {
    fn seconds(self, negative: bool) -> f64 {
        let seconds = Seconds { whole: self.whole, fraction: self.fraction }.after(0);
        if negative { -seconds } else { seconds }
    }

    fn shown(self, negative: bool, sure: bool) -> Shown {
        Shown { seconds: self.seconds(negative), short: None, sure, form: Form::Other }
    }
}

/// A number at the start of a text, of no more than so many digits, and what comes after it.
fn whole(text: &str, most: usize) -> Option<(i64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let number = text[..digits].parse().ok().filter(|_| digits <= most)?;
    Some((number, &text[digits..]))
}

/// A number of two digits at the start of a text, and what comes after it.
fn two_digits(text: &str) -> Option<(i64, &str)> {
    whole(text, 2).filter(|(_, rest)| rest.len() + 2 == text.len())
}

/// Billionths after a decimal mark, if there is one.
fn fraction(text: &str) -> Option<(i64, &str)> {
    let Some(rest) = text.strip_prefix(['.', ',']) else { return Some((0, text)) };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0).then(|| (crate::moment::billionths(&rest.as_bytes()[..digits]), &rest[digits..]))
}

/// Days, if they are given, and a clock: of Python, `-1 day, 23:50:00`; of pandas, `-1 days +23:50:00`.
fn with_colons(text: &str, negative: bool) -> Option<Shown> {
    let (days, rest) = match text.split_once(" day") {
        Some((days, rest)) => {
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            let rest = rest.strip_prefix(',').unwrap_or(rest).strip_prefix(' ')?;
            let (days, none) = whole(days, 6)?;
            (none.is_empty().then_some(Some(days))?, rest.strip_prefix('+').unwrap_or(rest))
        }
        None => (None, text),
    };
    let (first, rest) = whole(rest, 6)?;
    let (second, rest) = two_digits(rest.strip_prefix(':')?).filter(|found| found.0 < 60)?;
    if days.is_some() && first > 23 {
        return None;
    }
    let (third, rest) = match rest.strip_prefix(':') {
        Some(rest) => {
            let (third, rest) = two_digits(rest).filter(|found| found.0 < 61)?;
            (Some(third), rest)
        }
        None => (None, rest),
    };
    // 2022:05:04, as cameras write dates.
    if first > 999 && (1..=12).contains(&second) && third.is_some_and(|third| (1..=31).contains(&third)) {
        return None;
    }
    let (fraction, rest) = fraction(rest)?;
    let hour = match half_of_day(rest)? {
        None => first,
        Some(_) if !(1..=12).contains(&first) || days.is_some() || negative => return None,
        Some(after_noon) => first % 12 + if after_noon { 12 } else { 0 },
    };
    let start = days.unwrap_or(0) * DAY;
    if let Some(third) = third {
        let clock = hour * 3600 + second * 60 + third;
        // Of a negative number of days the clock runs forwards.
        return Some(match (negative, days) {
            (true, Some(_)) => Span { whole: clock - start, fraction }.shown(false, true),
            _ => Span { whole: start + clock, fraction }.shown(negative, true),
        });
    }
    if days.is_some() {
        return None;
    }
    let short = Span { whole: first * 60 + second, fraction };
    let is_short = fraction > 0 || (first, second) > (24, 0) && rest.is_empty();
    let long = if fraction > 0 { short } else { Span { whole: hour * 3600 + second * 60, fraction: 0 } };
    Some(Shown {
        seconds: long.seconds(negative),
        short: rest.is_empty().then(|| short.seconds(negative)),
        sure: true,
        form: match rest.is_empty() {
            false => Form::Half,
            true if is_short => Form::Short,
            true => Form::Two,
        },
    })
}

/// Whether a text says that it is after noon, or before; nothing at all if it is anything else.
#[expect(clippy::option_option, reason = "whether it can be read, and whether it says so")]
fn half_of_day(text: &str) -> Option<Option<bool>> {
    match text.trim_start() {
        "" => Some(None),
        half if half.eq_ignore_ascii_case("am") => Some(Some(false)),
        half if half.eq_ignore_ascii_case("pm") => Some(Some(true)),
        _ => None,
    }
}

/// 9 PM.
fn half_day(text: &str) -> Option<(Span, bool)> {
    let (hour, rest) = whole(text, 2).filter(|found| (1..=12).contains(&found.0))?;
    let after_noon = half_of_day(rest)??;
    Some((Span { whole: (hour % 12 + if after_noon { 12 } else { 0 }) * 3600, fraction: 0 }, true))
}

/// 1h 30m, 2 hours 5 minutes. One unit alone may be another one: m stands for metres too.
fn in_words(text: &str) -> Option<(Span, bool)> {
    let (mut rest, mut span, mut units, mut last) = (text, Span::default(), 0, i64::MAX);
    while !rest.is_empty() {
        let (number, after) = whole(rest, 9)?;
        let (part, after) = fraction(after)?;
        let after = after.trim_start();
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let unit = after[..letters].to_ascii_lowercase();
        let (_, seconds) = UNITS.iter().find(|(names, _)| names.contains(&unit.as_str()))?;
        // From the largest to the smallest, and only seconds have a fraction.
        if *seconds >= last || (part > 0 && *seconds > 1) {
            return None;
        }
        (last, units) = (*seconds, units + 1);
        span = Span { whole: span.whole + number * seconds, fraction: part };
        rest = after[letters..].trim_start_matches([' ', ',', '.']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    (units > 0).then_some((span, units > 1))
}

/// What follows the P of a duration of ISO 8601.
fn iso(text: &str) -> Option<Span> {
    let (date, time) = text.split_once(['T', 't']).map_or((text, None), |(date, time)| (date, Some(time)));
    let mut span = Span::default();
    let mut read = |text: &str, units: &[(char, i64)]| {
        let (mut rest, mut units) = (text, units.iter());
        while !rest.is_empty() {
            let (number, after) = whole(rest, 9)?;
            let (part, after) = fraction(after)?;
            let letter = after.chars().next()?.to_ascii_uppercase();
            let seconds = units.find(|unit| unit.0 == letter)?.1;
            if part > 0 && seconds > 1 {
                return None;
            }
            span = Span { whole: span.whole + number * seconds, fraction: part };
            rest = &after[1..];
        }
        Some(())
    };
    read(date, &[('W', 7 * DAY), ('D', DAY)])?;
    if let Some(time) = time {
        read(time, &[('H', 3600), ('M', 60), ('S', 1)])?;
    }
    (!date.is_empty() || time.is_some_and(|time| !time.is_empty())).then_some(span)
}

impl Clock {
    /// A number of seconds as the column writes it.
    ///
    /// ```
    /// use diad_table::Clock;
    ///
    /// assert_eq!(Clock::Minutes.words(45_000.0), "12:30");
    /// assert_eq!(Clock::Seconds.words(-24_011.5), "-06:40:11.5");
    /// assert_eq!(Clock::Short.words(105.0), "1:45");
    /// ```
    pub fn words(self, seconds: f64) -> String {
        if seconds.is_nan() || seconds.abs() >= 1e12 {
            return format!("{seconds} s");
        }
        let thousandths = (seconds.abs() * 1e3).round() as u64;
        let (whole, part) = (thousandths / 1000, thousandths % 1000);
        let sign = if seconds < 0.0 && thousandths > 0 { "-" } else { "" };
        let days = if self == Self::Seconds && sign.is_empty() { whole / 86_400 } else { 0 };
        if days >= MANY_DAYS {
            let rest = (seconds - (days * 86_400) as f64).max(0.0);
            return if rest == 0.0 {
                format!("{days} days")
            } else {
                format!("{days} days {}", self.words(rest))
            };
        }
        let (hours, minutes, second) = (whole / 3600, whole / 60 % 60, whole % 60);
        let mut text = match self {
            Self::Minutes if (second, part) == (0, 0) => return format!("{sign}{hours:02}:{minutes:02}"),
            Self::Short if hours == 0 => format!("{sign}{minutes}:{second:02}"),
            Self::Short => format!("{sign}{hours}:{minutes:02}:{second:02}"),
            _ => format!("{sign}{hours:02}:{minutes:02}:{second:02}"),
        };
        if part > 0 {
            text += format!(".{part:03}").trim_end_matches('0');
        }
        text
    }

    /// Seconds as exactly as they are said of a column that reaches over so many.
    #[must_use]
    pub fn rounded(self, seconds: f64, reach: f64) -> f64 {
        match self {
            Self::Minutes => (seconds / 60.0).round() * 60.0,
            _ if reach > 60.0 => seconds.round(),
            _ => (seconds * 100.0).round() / 100.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_day_and_durations_are_read_as_seconds() {
        for (text, seconds) in [
            ("12:30", 45_000.0),
            ("6:40:11", 24_011.0),
            ("06:40:11.5", 24_011.5),
            ("9:30:15 pm", 77_415.0),
            ("12:00 AM", 0.0),
            ("9 PM", 75_600.0),
            ("27:05:00", 97_500.0),
            ("-00:05:00", -300.0),
            ("0 days 00:05:00.123456", 300.123456),
            ("1 day, 2:03:04", 93_784.0),
            ("-1 days +23:50:00", -600.0),
            ("-1 day, 23:50:00", -600.0),
            ("1:45.25", 105.25),
            ("1h 30m", 5400.0),
            ("2 hours 5 minutes", 7500.0),
            ("1 hr, 5 min and 2.5 s", 3902.5),
            ("45 min", 2700.0),
            ("PT1H30M", 5400.0),
            ("P1DT2.5S", 86_402.5),
            ("-PT0.5S", -0.5),
            ("P2W", 1_209_600.0),
        ] {
            let shown = read(text).unwrap_or_else(|| panic!("{text} is not read"));
            assert_eq!(shown.by(Clock::Seconds), seconds, "{text}");
        }
        let short = |text: &str| read(text).map(|shown| (shown.by(Clock::Short), shown.form));
        assert_eq!(short("3:45"), Some((225.0, Form::Two)));
        assert_eq!(short("45:30"), Some((2730.0, Form::Short)));
        assert_eq!(short("1:02:15"), Some((3735.0, Form::Other)));
        assert!(!read("45 m").unwrap().sure && read("1h 5m").unwrap().sure);
    }

    #[test]
    fn other_texts_are_none() {
        for text in [
            "",
            ":",
            "12",
            "12:",
            "3:1",
            "1:2:3",
            "12:60",
            "12:30:61",
            "13:00 pm",
            "1:30 noon",
            "2024-01-01",
            "1d 1d",
            "2022:05:04",
            "30m 1h",
            "5 apples",
            "P",
            "PT",
            "PX",
            "P1",
            "12:30+02:00",
            "1 day",
            "a:bc",
            "1:30:15:20",
            "1.5h",
            "::",
            "1 day, 25:00:00",
        ] {
            let read = read(text).filter(|shown| shown.sure);
            assert_eq!(read, None, "{text}");
        }
    }

    #[test]
    fn words_are_read_as_what_they_say() {
        for seconds in [0.0, 59.0, 60.0, 3599.25, 3600.0, 86_399.0, 259_200.0, 360_000.0, -61.5] {
            for clock in [Clock::Minutes, Clock::Seconds, Clock::Short] {
                let words = clock.words(seconds);
                assert_eq!(read(&words).map(|shown| shown.by(clock)), Some(seconds), "{words}");
            }
        }
        assert_eq!(Clock::Seconds.words(f64::MAX), format!("{} s", f64::MAX));
    }
}
