//! Dates and times of day as text: ISO 8601 or day.month.year, with a space or a T before the time.

use serde::{Deserialize, Serialize};

const DAY: f64 = 86_400.0;

/// What a model sees of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimePart {
    /// The month, 1 to 12.
    Month,
    /// The day of the week, 1 (Monday) to 7.
    Weekday,
    /// The hour of the day with its fraction, from 0 to below 24.
    Hour,
    /// Its place in time: days since the start of 1970, with their fraction.
    Date,
}

impl TimePart {
    /// Every part.
    pub const ALL: [Self; 4] = [Self::Month, Self::Weekday, Self::Hour, Self::Date];

    /// The part of a time that is given as seconds since the start of 1970; NaN for a missing time.
    ///
    /// ```
    /// use diad_table::TimePart;
    ///
    /// // Thursday, 1 January 1970, six in the morning.
    /// let time = 6.0 * 3600.0;
    /// assert_eq!(TimePart::ALL.map(|part| part.of(time)), [1.0, 4.0, 6.0, 0.25]);
    /// ```
    pub fn of(self, time: f64) -> f64 {
        if !time.is_finite() {
            return f64::NAN;
        }
        let day = (time / DAY).floor();
        match self {
            Self::Month => f64::from(date_of(day as i64).1),
            Self::Weekday => (day as i64 + 3).rem_euclid(7) as f64 + 1.0,
            Self::Hour => (time - day * DAY) / 3600.0,
            Self::Date => time / DAY,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Weekday => "weekday",
            Self::Hour => "hour",
            Self::Date => "date",
        }
    }

    /// The date of a place in time that [`TimePart::Date`] gives.
    ///
    /// ```
    /// assert_eq!(diad_table::TimePart::date_in_words(19_723.75), "2024-01-01");
    /// ```
    pub fn date_in_words(days: f64) -> String {
        words(days.floor() * DAY)
    }
}

/// Seconds since the start of 1970, of a date such as `2024-01-31` or `31.01.2024`, or a time such as
/// `2024-01-31 12:30:05.5`. Dates such as `01/02/2024` have two readings, and are none. A time zone such as `Z` or `+02:00`
/// is left out of account: the hour is the one that was written.
pub(crate) fn parse(text: &[u8]) -> Option<f64> {
    let number = |from: usize, to: usize| {
        let digits = text.get(from..to)?;
        digits.iter().try_fold(0u32, |n, b| b.is_ascii_digit().then(|| n * 10 + u32::from(b - b'0')))
    };
    let mark = |at: usize| text.get(at).copied();
    let (year, month, day) = match (mark(4)?, mark(7)?) {
        (b'-', b'-') | (b'/', b'/') => (number(0, 4)?, number(5, 7)?, number(8, 10)?),
        _ if (mark(2)?, mark(5)?) == (b'.', b'.') => (number(6, 10)?, number(3, 5)?, number(0, 2)?),
        _ => return None,
    };
    let long_month = |month: u32| match month {
        2 => 28 + u32::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if !(1..=12).contains(&month) || day == 0 || day > long_month(month) {
        return None;
    }
    let start = days_of(i64::from(year), month, day) as f64 * DAY;
    if text.len() == 10 {
        return Some(start);
    }
    if !matches!(mark(10)?, b' ' | b'T' | b't') || mark(13)? != b':' {
        return None;
    }
    let (hour, minute) = (number(11, 13)?, number(14, 16)?);
    let mut rest = 16;
    let mut seconds = 0.0;
    if mark(16) == Some(b':') {
        seconds = f64::from(number(17, 19)?);
        rest = 19;
        if mark(19) == Some(b'.') {
            let digits = text[20..].iter().take_while(|b| b.is_ascii_digit()).count();
            rest = 20 + digits;
            let fraction = std::str::from_utf8(&text[19..rest]).ok()?;
            seconds += if digits > 0 { format!("0{fraction}").parse::<f64>().ok()? } else { 0.0 };
        }
    }
    let zone = match &text[rest..] {
        [] | b"Z" | b"z" | b" UTC" => true,
        [b'+' | b'-', zone @ ..] => {
            matches!(zone.len(), 2 | 4 | 5) && zone.iter().all(|b| b.is_ascii_digit() || *b == b':')
        }
        _ => false,
    };
    (zone && hour < 24 && minute < 60 && seconds < 61.0)
        .then(|| start + f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + seconds)
}

/// The year, month and day of a date of eight digits, such as 20150803, from 1900 to 2100; nothing for any other number.
pub(crate) fn of_digits(number: f64) -> Option<(u32, u32, u32)> {
    if !(19_000_101.0..=21_001_231.0).contains(&number) || number.fract() != 0.0 {
        return None;
    }
    let digits = number as u32;
    let (year, month, day) = (digits / 10_000, digits / 100 % 100, digits % 100);
    let date = (i64::from(year), month, day);
    let is_there = (1..=12).contains(&month) && date_of(days_of(date.0, month, day)) == date;
    is_there.then_some((year, month, day))
}

/// Seconds from the start of 1970 to a date of eight digits; nothing for any other number.
///
/// ```
/// assert_eq!(diad_table::date_of_digits(19_700_102.0), Some(86_400.0));
/// assert_eq!(diad_table::date_of_digits(19_700_132.0), None);
/// ```
pub fn date_of_digits(number: f64) -> Option<f64> {
    of_digits(number).map(|(year, month, day)| days_of(i64::from(year), month, day) as f64 * DAY)
}

/// The same of a text of eight digits.
pub(crate) fn of_eight_digits(text: &str) -> Option<f64> {
    let digits = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { date_of_digits(text.parse().ok()?) } else { None }
}

/// A time in words.
pub(crate) fn words(time: f64) -> String {
    let day = (time / DAY).floor();
    let (year, month, date) = date_of(day as i64);
    let seconds = time - day * DAY;
    let whole = seconds as u32;
    if whole == 0 {
        return format!("{year:04}-{month:02}-{date:02}");
    }
    format!("{year:04}-{month:02}-{date:02} {:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
}

/// A time as ISO 8601 has it, to the microsecond.
#[cfg(feature = "excel")]
pub(crate) fn iso(time: f64) -> String {
    let micros = (time * 1e6).round() as i64;
    let (seconds, fraction) = (micros.div_euclid(1_000_000), micros.rem_euclid(1_000_000));
    let (day, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, date) = date_of(day);
    let text = format!(
        "{year:04}-{month:02}-{date:02} {:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    match (second, fraction) {
        (0, 0) => text[..10].to_owned(),
        (_, 0) => text,
        _ => format!("{text}.{fraction:06}"),
    }
}

/// Days from 1 January 1970 to a date of the Gregorian calendar. Years start in March, so that the day that comes and
/// goes is the last one.
pub(crate) fn days_of(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let month = i64::from((month + 9) % 12);
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + year * 365 + year / 4 - year / 100 + day_of_year - 719_468
}

/// Year, month and day so many days after 1 January 1970, in the Gregorian calendar.
pub fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let date = (day_of_year - (153 * month + 2) / 5 + 1) as u32;
    let month = if month < 10 { month + 3 } else { month - 9 } as u32;
    (era * 400 + year + i64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_times_are_read() {
        for (text, seconds) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -DAY),
            ("2000-02-29", 951_782_400.0),
            ("2024-03-01T12:30:05.5Z", 1_709_296_205.5),
            ("2024/03/01 12:30", 1_709_296_200.0),
            ("2024-03-01 12:30:05+02:00", 1_709_296_205.0),
            ("01.03.2024", 1_709_251_200.0),
            ("01.03.2024 12:30:05", 1_709_296_205.0),
        ] {
            assert_eq!(parse(text.as_bytes()), Some(seconds), "{text}");
        }
        for text in [
            "",
            "2024",
            "2024-13-01",
            "2023-02-29",
            "2024-01-01x",
            "2024-01-01 25:00",
            "12-01-2024",
            "2024-01/01",
            "01/02/2024",
            "32.01.2024",
            "1.2.2024",
            "01.02.24",
        ] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn every_day_comes_back() {
        for day in (-800_000..800_000).step_by(37) {
            let (year, month, date) = date_of(day);
            assert_eq!(days_of(year, month, date), day);
            if (0..=9999).contains(&year) {
                assert_eq!(parse(words(day as f64 * DAY).as_bytes()), Some(day as f64 * DAY));
            }
        }
        assert_eq!(words(1_709_296_205.5), "2024-03-01 12:30:05");
    }
}
