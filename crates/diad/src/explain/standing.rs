//! How values stand among the training rows, in words.

use std::fmt;

use super::Explainer;
use super::numbers::{count, percent, times};
use crate::encode::Kind;
use crate::profile::Spread;
use crate::table::{Clock, TimePart};

/// Most values of a column of which it is said how often they come.
const FEW: usize = 12;

/// On which side of the training rows a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    /// Below all training values.
    Below,
    /// Above all training values.
    Above,
}

/// How a value stands among the training rows. Written as text it reads, for example, "higher than 99.7 % of rows".
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Standing {
    /// The share with a smaller value, of the training rows that have one.
    pub below: f64,
    /// The share with this value or a smaller one.
    pub up_to: f64,
    /// Whether it lies outside the range seen in training.
    pub outside: Option<Outside>,
    words: Words,
}

/// What there is to say of a value.
#[derive(Debug, Clone, PartialEq)]
enum Words {
    /// Something of its own.
    Said(String),
    /// How many of all rows have the same value; a share where rows were not all counted.
    Rows {
        same: u64,
        all: u64,
    },
    Share(f64),
    /// It lies above or below this share of the rows.
    Rank {
        share: f64,
        above: bool,
        time: bool,
        /// What the rows are called.
        rows: &'static str,
    },
}

impl fmt::Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words.fmt(f)
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(text) => f.write_str(text),
            Self::Rows { same: 0, .. } => f.write_str("as in no training row"),
            Self::Rows { same, all } => write!(f, "as in {} of {} rows", count(*same), count(*all)),
            Self::Share(share) => write!(f, "as in {} of rows", percent(*share)),
            Self::Rank { share, above, time, rows } => {
                let [word, superlative] = match (above, time) {
                    (true, true) => ["later", "latest"],
                    (true, false) => ["higher", "highest"],
                    (false, true) => ["earlier", "earliest"],
                    (false, false) => ["lower", "lowest"],
                };
                match *share > 1.0 - FIRST {
                    true => write!(f, "among the {superlative} 0.01 % of {rows}"),
                    false => write!(f, "{word} than {} of {rows}", percent(*share)),
                }
            }
        }
    }
}

/// The share of the rows at either end that are not among nearly all.
const STRAY: f64 = 0.01;
/// A smaller share of the rows is not said.
const FIRST: f64 = 1e-4;
/// Seconds of a day.
const DAY: f64 = 86_400.0;
/// An hour is far from nearly all if it is so many hours from them.
const FAR_HOURS: f64 = 1.0;
/// So many times the next value is worth saying, and no more than so many.
const MANY_TIMES: f64 = 1.5;
const TOO_MANY_TIMES: f64 = 1e6;
/// Most rows of which every one was counted.
const COUNTED: u64 = 1 << 16;
/// Rows without a number, for which another stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Imputed {
    /// Their share of all rows.
    share: f64,
    /// Where they lie.
    place: f32,
}

impl Imputed {
    /// Whether there are such rows, and they lie at this place.
    pub(super) fn is_at(self, place: f32) -> bool {
        self.share > 0.0 && self.place == place
    }

    fn below(self, spread: &Spread, place: f32) -> f64 {
        self.of_known(spread.below(place), self.place < place)
    }

    fn up_to(self, spread: &Spread, place: f32) -> f64 {
        self.of_known(spread.up_to(place), self.place <= place)
    }

    /// A share of all rows, with or without these among them, as one of those that have a number.
    fn of_known(self, share: f64, with: bool) -> f64 {
        let known = share - if with { self.share } else { 0.0 };
        if self.share > 0.0 { (known / (1.0 - self.share)).clamp(0.0, 1.0) } else { share }
    }

    /// A share of the rows that have a number as one of all.
    fn of_all(self, share: f64) -> f64 {
        if self.share > 0.0 { share * (1.0 - self.share) } else { share }
    }

    /// Where such a share of the rows that have a number lie below.
    fn quantile(self, spread: &Spread, share: f64) -> f32 {
        let of_all = self.of_all(share);
        match share {
            _ if self.share <= 0.0 || share <= self.below(spread, self.place) => spread.quantile(of_all),
            _ if share > self.up_to(spread, self.place) => spread.quantile(of_all + self.share),
            _ => self.place,
        }
    }
}

impl Explainer<'_> {
    /// How a value of a column stands among the training rows.
    pub fn standing(&self, column: usize, value: f64) -> Standing {
        let given = &self.detector.encoder().columns()[column];
        let spread = &self.detector.profile().columns[column];
        let all = self.detector.training_rows();
        let nowhere = |words| Standing { below: 0.0, up_to: 0.0, outside: None, words };
        if given.oddity(value).is_some() {
            return nowhere(Words::Rows { same: 0, all });
        }
        if let (true, Some(gaps)) = (value.is_nan(), given.gaps) {
            let up_to = (gaps.rows as f64 / all.max(1) as f64).min(1.0);
            return Standing { up_to, ..nowhere(Words::Rows { same: gaps.rows, all }) };
        }
        let scaled = self.scalers[column].scale(value);
        let outside = if value < given.min {
            Some(Outside::Below)
        } else if value > given.max {
            Some(Outside::Above)
        } else {
            None
        };
        let gaps = self.imputed(column);
        let (below, up_to) = (gaps.below(spread, scaled), gaps.up_to(spread, scaled));
        // What is kept of a column's spread may be too coarse for a rare category.
        let known = given.levels().get(value.max(0.0).round() as usize).filter(|_| given.positions() > 0);
        let up_to = known.map_or(up_to, |level| below + level.rows as f64 / all.max(1) as f64);
        let same = up_to - below;
        let few = self.has_few_values(column);
        let words = match &given.kind {
            Kind::Category { levels, others, .. } => match levels.get(value.max(0.0).round() as usize) {
                Some(level) => Words::Rows { same: level.rows, all },
                None if *others > 0 => {
                    let (others, all) = (count(*others), count(all));
                    Words::Said(format!("of which all together have {others} of {all} rows"))
                }
                None => Words::Rows { same: 0, all },
            },
            _ if few && outside.is_none() && same > 0.0 => {
                let words = match all <= COUNTED {
                    true => {
                        Words::Rows { same: (gaps.of_all(same) * all as f64).round().max(1.0) as u64, all }
                    }
                    false => Words::Share(gaps.of_all(same)),
                };
                match self.far(column, value).filter(|_| same < STRAY) {
                    Some(far) => Words::Said(format!("{words}, {far}")),
                    None => words,
                }
            }
            _ => self.extreme(column, value, outside).map_or_else(
                || Words::Rank {
                    share: below.max(1.0 - up_to),
                    above: below + up_to >= 1.0,
                    time: matches!(given.kind, Kind::Time { part: TimePart::Hour | TimePart::Date, .. }),
                    rows: if gaps.share > 0.0 { "the rows that have one" } else { "rows" },
                },
                Words::Said,
            ),
        };
        Standing { below, up_to, outside, words }
    }

    /// Which of the rows that the spread of a column is known of have no number: the median stands in for it.
    pub(super) fn imputed(&self, column: usize) -> Imputed {
        let given = &self.detector.encoder().columns()[column];
        let rows = given.gaps.filter(|_| given.positions() == 0).map_or(0, |gaps| gaps.rows);
        let all = self.detector.training_rows().max(1);
        let share = if rows < all { rows as f64 / all as f64 } else { 0.0 };
        Imputed { share, place: self.scalers[column].scale(f64::NAN) }
    }

    /// Whether the training rows had so few values of a column that each has a meaning of its own.
    pub(crate) fn has_few_values(&self, column: usize) -> bool {
        let distinct = self.detector.profile().columns[column].distinct();
        distinct.is_some_and(|distinct| distinct.len() <= FEW)
    }

    /// What there is to say of a number or a time beyond all others, at their end, or far from nearly all.
    fn extreme(&self, column: usize, value: f64, outside: Option<Outside>) -> Option<String> {
        let given = &self.detector.encoder().columns()[column];
        let is_number = given.kind == Kind::Number;
        let [low, high] = [given.min, given.max];
        let rows = || count(self.detector.training_rows());
        let nought = || given.clock().map_or_else(|| "0".to_owned(), |clock| clock.words(0.0));
        let is_relative = self.is_relative(column);
        // Twice a time of day is none.
        let is_amount = |value: f64| given.clock().is_none_or(|clock| clock == Clock::Short || value >= DAY);
        let is_many = |value: f64, next: f64| {
            is_number
                && !is_relative
                && is_amount(value)
                && next > 0.0
                && (MANY_TIMES..TOO_MANY_TIMES).contains(&(value / next))
        };
        if let Some(side) = outside.filter(|_| is_relative) {
            return Some(match side {
                Outside::Above => format!("higher than all {} rows", rows()),
                Outside::Below => format!("lower than all {} rows", rows()),
            });
        }
        if outside == Some(Outside::Above) && is_many(value, high) {
            return Some(format!("{} the largest of {} rows", times(value / high), rows()));
        }
        if outside.is_some() {
            let [low, high] = [low, high].map(|end| self.said(column, end));
            return Some(format!("outside everything seen: {low} to {high}"));
        }
        let far = self.far(column, value);
        if !is_number {
            return far;
        }
        // Ends that several rows have are next to themselves.
        let [next_low, next_high] = *self.detector.profile().next.get(column)?;
        if value == high && next_high < 1.0 {
            let next = self.scalers[column].original(next_high);
            return Some(match far {
                _ if is_many(high, next) => {
                    format!("{} the next largest of {} rows", times(high / next), rows())
                }
                Some(far) => format!("the largest of {} rows, {far}", rows()),
                None => format!("the largest of {} rows", rows()),
            });
        }
        if value == low && next_low > -1.0 {
            let zero = self.scalers[column].scale(0.0);
            return Some(match (low, far) {
                (..=0.0, None) if is_relative => format!("the smallest of {} rows", rows()),
                (..0.0, _) if next_low >= zero => {
                    format!("the only one below {} of {} rows", nought(), rows())
                }
                (0.0, _) => format!("the only {} of {} rows", nought(), rows()),
                (_, Some(far)) => format!("the smallest of {} rows, {far}", rows()),
                (_, None) => format!("the smallest of {} rows", rows()),
            });
        }
        far
    }

    /// How far a number or a time is from where nearly all training rows are, if it is.
    fn far(&self, column: usize, value: f64) -> Option<String> {
        let given = &self.detector.encoder().columns()[column];
        let room = |length: f64| match given.kind {
            Kind::Number if given.clock().is_some() => Some(length.min(FAR_HOURS * 3600.0)),
            Kind::Number | Kind::Time { part: TimePart::Date, .. } => Some(length),
            Kind::Time { part: TimePart::Hour, .. } => Some(FAR_HOURS),
            _ => None,
        };
        let spread = &self.detector.profile().columns[column];
        let gaps = self.imputed(column);
        let ends = [STRAY, 1.0 - STRAY].map(|share| gaps.quantile(spread, share));
        let [from, to] = ends.map(|end| self.scalers[column].original(end));
        let length = to - from;
        let room = room(length)?;
        let is_low = value < from - room;
        if !is_low && value <= to + room {
            return None;
        }
        let word = match (&given.kind, is_low) {
            _ if given.is_date() => "far from",
            (Kind::Number, true) if length > 0.0 && value < from - length => "far below",
            (Kind::Number, false) if length > 0.0 && value > to + length => "far above",
            (Kind::Number, true) => "below",
            (Kind::Number, false) => "above",
            (_, true) => "earlier than",
            (_, false) => "later than",
        };
        if self.is_relative(column) {
            return Some(format!("{word} nearly all rows"));
        }
        let span = match given.is_date() {
            true => [from, to].map(TimePart::date_in_words).join(" to "),
            false => self.span(column, ends),
        };
        Some(format!("{word} nearly all rows: {span}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::Roles;
    use crate::table::{Table, Texts, Values};
    use crate::{Detector, Params};

    /// 1,000 purchases by day, two of them dear and one at night; a rate of few values; and 500 rows at the top of a scale.
    fn purchases() -> Detector {
        let mut amounts: Vec<f64> = (0..1000).map(|row| 20.0 + f64::from(row * 7 % 80)).collect();
        (amounts[3], amounts[5]) = (29_000.0, 27_500.0);
        let hour = |row: i32| f64::from(9 * 60 + row * 13 % 540) * 60.0;
        let mut times: Vec<f64> =
            (0..1000).map(|row| f64::from(19_800 + row % 90) * 86_400.0 + hour(row)).collect();
        times[8] = 19_810.0 * 86_400.0 + 3.0 * 3600.0;
        let rates = (0..1000).map(|row| if row == 11 { 52.0 } else { f64::from(row % 3) }).collect();
        let marks = (0..1000).map(|row| f64::from((row * 17 % 200).min(100))).collect();
        let columns = vec![
            Values::Numbers(amounts),
            Values::Times(times),
            Values::Numbers(rates),
            Values::Numbers(marks),
        ];
        let names = ["amount", "paid", "rate", "mark"].map(String::from).to_vec();
        Params::default().with_steps(5).trees(5).fit(&Table::of(names, columns).unwrap()).unwrap()
    }

    #[test]
    fn what_is_far_from_nearly_all_is_said_with_its_size() {
        let detector = purchases();
        let explainer = Explainer::new(&detector);
        let says = |name: &str, value: f64| {
            let column = detector.encoder().columns().iter().position(|column| column.name == name).unwrap();
            explainer.describe(explainer.find(&[column]).unwrap(), &[value])
        };
        assert_eq!(
            says("amount", 29_000.0),
            "amount = 29,000, the largest of 1,000 rows, far above nearly all rows: 20 to 99"
        );
        assert_eq!(says("amount", 27_500.0), "amount = 27,500, far above nearly all rows: 20 to 99");
        assert_eq!(says("amount", 290_000.0), "amount = 290,000, 10 times the largest of 1,000 rows");
        assert_eq!(
            says("hour of paid", 3.0),
            "hour of paid = 03:00, earlier than nearly all rows: 09:04 to 17:55"
        );
        assert_eq!(says("rate", 52.0), "rate = 52, as in 1 of 1,000 rows, far above nearly all rows: 0 to 2");
        assert_eq!(says("rate", 2.0), "rate = 2, as in 332 of 1,000 rows");
        assert_eq!(says("mark", 100.0), "mark = 100, higher than 50.0 % of rows");
        assert!(says("amount", 95.0).starts_with("amount = 95, higher than 9"), "{}", says("amount", 95.0));
    }

    /// 600 trips with the time of day they start at and how long they take, one of them long and one at night.
    fn trips() -> Table {
        let mut starts: Vec<f64> = (0..600).map(|row| f64::from(9 * 60 + row * 13 % 540) * 60.0).collect();
        let mut spans: Vec<f64> = (0..600).map(|row| f64::from(300 + row * 7 % 900)).collect();
        (starts[8], spans[5]) = (3.0 * 3600.0 + 840.0, 24_011.0);
        let clock = |seconds: &f64| {
            let whole = *seconds as u32;
            format!("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60)
        };
        let start = |seconds: &f64| clock(seconds).rsplit_once(':').map(|(minutes, _)| minutes.to_owned());
        let starts: Texts = starts.iter().map(start).collect();
        let spans: Texts = spans.iter().map(|seconds| Some(clock(seconds))).collect();
        let names = ["start", "lasted"].map(String::from).to_vec();
        Table::of(names, vec![starts.into(), spans.into()]).unwrap()
    }

    #[test]
    fn times_of_a_day_and_durations_are_said_as_a_clock_shows_them() {
        let detector = Params::default().with_steps(5).trees(5).fit(&trips()).unwrap();
        let explainer = Explainer::new(&detector);
        let says =
            |column: usize, value: f64| explainer.describe(explainer.find(&[column]).unwrap(), &[value]);
        assert_eq!(
            says(0, 11_640.0),
            "start = 03:14, the smallest of 600 rows, below nearly all rows: 09:03 to 17:53"
        );
        assert_eq!(
            says(1, 24_011.0),
            "lasted = 06:40:11, the largest of 600 rows, far above nearly all rows: 00:05:07 to 00:19:52"
        );
        assert_eq!(says(1, 400_000.0), "lasted = 4 days 15:06:40, 17 times the largest of 600 rows");
        let reasons = explainer.reasons(&trips(), 2).unwrap();
        let first = |row: usize| reasons.row(row).next().unwrap().text.to_owned();
        assert!(first(5).starts_with("lasted = 06:40:11, ") && first(8).starts_with("start = 03:14, "));
        // Rows of a typed column, or of numbers, are the same rows.
        let of_kind = |kind: fn(Vec<f64>) -> Values| {
            let seconds = |column: usize| {
                detector.pick(&trips(), &(0..600).collect::<Vec<_>>()).unwrap().column(column).to_vec()
            };
            Table::of(trips().names().to_vec(), vec![kind(seconds(0)), kind(seconds(1))]).unwrap()
        };
        let scores = detector.score(&trips()).unwrap();
        assert_eq!(detector.score(&of_kind(Values::Times)).unwrap(), scores);
        assert_eq!(detector.score(&of_kind(Values::Numbers)).unwrap(), scores);
        let typed = Params::default().with_steps(5).trees(5).fit(&of_kind(Values::Times)).unwrap();
        assert_eq!(typed.score(&trips()).unwrap(), scores);
    }

    #[test]
    fn numbers_that_count_by_their_segment_are_not_said() {
        let rows: Vec<(f64, String)> = (0..900)
            .map(|row| {
                let machine = row % 6;
                (
                    f64::from(20 * machine + row * 7 % 11) + if row == 7 { 40.0 } else { 0.0 },
                    format!("m{machine}"),
                )
            })
            .collect();
        let names: Texts = rows.iter().map(|(_, name)| Some(name.clone())).collect();
        let values = rows.iter().map(|(value, _)| *value).collect();
        let table =
            Table::of(vec!["heat".into(), "machine".into()], vec![Values::Numbers(values), names.into()])
                .unwrap();
        let params = Params::default().with_steps(5).trees(5);
        let detector = params.fitting(&table).roles(Roles::default().by("machine")).run().unwrap();
        let explainer = Explainer::new(&detector);
        let reasons = explainer.reasons(&table, 1).unwrap();
        let first = reasons.row(7).next().unwrap().text;
        assert!(first.starts_with("heat for its machine, ") && !first.contains('='), "{first}");
    }

    /// The median stands for a missing number, but no row has it for that.
    #[test]
    fn rows_without_a_number_are_not_counted_among_those_that_have_it() {
        let rating: Vec<f64> =
            (0..400).map(|row| if row % 16 < 9 { f64::NAN } else { f64::from(row % 5) }).collect();
        let amount: Vec<f64> =
            (0..400).map(|row| if row % 5 < 3 { f64::NAN } else { f64::from(row) }).collect();
        let names = ["rating", "amount", "other"].map(String::from).to_vec();
        let other = (0..400).map(|row| f64::from(row * 7 % 101)).collect();
        let table = Table::new(names, vec![rating.clone(), amount.clone(), other]).unwrap();
        let detector = Params::default().with_steps(5).trees(5).fit(&table).unwrap();
        let explainer = Explainer::new(&detector);
        let says =
            |column: usize, value: f64| explainer.describe(explainer.find(&[column]).unwrap(), &[value]);
        for value in [0.0, 1.0, 2.0, 3.0, 4.0] {
            let rows = rating.iter().filter(|&&found| found == value).count();
            assert_eq!(says(0, value), format!("rating = {value}, as in {rows} of 400 rows"));
        }
        let known: Vec<f64> = amount.into_iter().filter(|amount| !amount.is_nan()).collect();
        for value in [153.0, 199.0, 204.0, 299.0] {
            let standing = explainer.standing(1, value);
            let below = known.iter().filter(|&&found| found < value).count() as f64 / known.len() as f64;
            assert!((standing.below - below).abs() < 0.02, "{value}: {} {below}", standing.below);
            assert!(says(1, value).ends_with("% of the rows that have one"), "{}", says(1, value));
        }
        let [low, high] =
            [0.01, 0.99].map(|share| explainer.imputed(1).quantile(&detector.profile().columns[1], share));
        let [low, high] = [low, high].map(|place| detector.scalers()[1].original(place));
        assert!((3.0..=9.0).contains(&low) && (390.0..=399.0).contains(&high), "{low} {high}");
    }

    #[test]
    fn ranks_near_the_ends_read_well() {
        let rank = |share, above, time| Words::Rank { share, above, time, rows: "rows" }.to_string();
        assert_eq!(rank(0.997, true, false), "higher than 99.70 % of rows");
        assert_eq!(rank(0.99995, true, false), "among the highest 0.01 % of rows");
        assert_eq!(rank(0.99995, false, true), "among the earliest 0.01 % of rows");
    }
}
