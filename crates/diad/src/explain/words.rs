//! Values and contributions in words.

use std::fmt;

use super::Explainer;
use super::numbers::{count, number, percent, rounded, short, thousands, times};
use crate::encode::Kind;
use crate::profile::{Group, LEAST_ROWS};
use crate::table::TimePart;

/// The share of rows like those of the training that are ordinary.
const ORDINARY: f64 = 0.95;
/// Most values of a column of which it is said how often they come.
const FEW: usize = 12;
/// How wide what is usual counts at least, of a range of 2.
const NARROW: f32 = 0.01;

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
    /// The share of training rows with a smaller value.
    pub below: f64,
    /// The share of training rows with this value or a smaller one.
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
            Self::Rank { share, above, time } => {
                let [word, superlative] = match (above, time) {
                    (true, true) => ["later", "latest"],
                    (true, false) => ["higher", "highest"],
                    (false, true) => ["earlier", "earliest"],
                    (false, false) => ["lower", "lowest"],
                };
                match *share > 1.0 - FIRST {
                    true => write!(f, "among the {superlative} 0.01 % of rows"),
                    false => write!(f, "{word} than {} of rows", percent(*share)),
                }
            }
        }
    }
}

/// The share of the rows at either end that are not among nearly all.
const STRAY: f64 = 0.01;
/// The thousands of numbers of at least this size stand apart in sentences; years and small codes stay as they are.
const LARGE: f64 = 10_000.0;
/// A smaller share of the rows is not said.
const FIRST: f64 = 1e-4;
/// An hour is far from nearly all if it is so many hours from them.
const FAR_HOURS: f64 = 1.0;
/// So many times the next value is worth saying, and no more than so many.
const MANY_TIMES: f64 = 1.5;
const TOO_MANY_TIMES: f64 = 1e6;
/// Most rows of which every one was counted.
const COUNTED: u64 = 1 << 16;
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
        let (below, up_to) = (spread.below(scaled), spread.up_to(scaled));
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
                    true => Words::Rows { same: (same * all as f64).round().max(1.0) as u64, all },
                    false => Words::Share(same),
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
                },
                Words::Said,
            ),
        };
        Standing { below, up_to, outside, words }
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
        let is_many = |value: f64, next: f64| {
            is_number && next > 0.0 && (MANY_TIMES..TOO_MANY_TIMES).contains(&(value / next))
        };
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
                (..0.0, _) if next_low >= zero => format!("the only one below 0 of {} rows", rows()),
                (0.0, _) => format!("the only 0 of {} rows", rows()),
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
            Kind::Number | Kind::Time { part: TimePart::Date, .. } => Some(length),
            Kind::Time { part: TimePart::Hour, .. } => Some(FAR_HOURS),
            _ => None,
        };
        let spread = &self.detector.profile().columns[column];
        let ends = [STRAY, 1.0 - STRAY].map(|share| spread.quantile(share));
        let [from, to] = ends.map(|end| self.scalers[column].original(end));
        let room = room(to - from)?;
        let is_low = value < from - room;
        if !is_low && value <= to + room {
            return None;
        }
        let word = match (&given.kind, is_low) {
            _ if given.is_date() => "far from",
            (Kind::Number, true) if room > 0.0 => "far below",
            (Kind::Number, false) if room > 0.0 => "far above",
            (Kind::Number, true) => "below",
            (Kind::Number, false) => "above",
            (_, true) => "earlier than",
            (_, false) => "later than",
        };
        let span = match given.is_date() {
            true => [from, to].map(TimePart::date_in_words).join(" to "),
            false => self.span(column, ends),
        };
        Some(format!("{word} nearly all rows: {span}"))
    }

    /// A value of a column in words: a number with the unit its column has, the name of a category, `missing`.
    pub fn words(&self, column: usize, value: f64) -> String {
        let given = &self.detector.encoder().columns()[column];
        match &given.notation {
            _ if given.kind != Kind::Number || !value.is_finite() => given.words(value),
            // No number that anyone wrote: it stands for one that is as rare.
            _ if given.table_column.is_some() => number(rounded(value)),
            Some(notation) if notation.unit.is_some() => {
                notation.with_unit(value, |value| thousands(&number(value)))
            }
            _ => number(value),
        }
    }

    /// The same in a sentence: of a large number, the thousands apart.
    fn said(&self, column: usize, value: f64) -> String {
        let words = self.words(column, value);
        let is_number = self.detector.encoder().columns()[column].kind == Kind::Number;
        if is_number && value.abs() >= LARGE { thousands(&words) } else { words }
    }

    /// What sentences call a column: a place in time is simply the time.
    pub fn spoken(&self, column: usize) -> &str {
        let given = &self.detector.encoder().columns()[column];
        if given.is_date() { given.source() } else { &given.name }
    }

    /// The share of training rows with a lower score.
    pub fn score_standing(&self, score: f32) -> f64 {
        self.detector.profile().scores.below(score)
    }

    /// The score from which on a row is no longer ordinary: no more than 1 of 20 rows like those of the training has it.
    pub fn ordinary(&self) -> f32 {
        let score = self.detector.calibration().score_at(1.0 - ORDINARY);
        // A calibration of a few rows cannot tell.
        if score.is_finite() { score } else { self.score_quantile(ORDINARY) }
    }

    /// The score that a share of the training rows do not exceed.
    pub fn score_quantile(&self, share: f64) -> f32 {
        self.detector.profile().scores.quantile(share)
    }

    /// A term at values of its columns in words, such as "TSH = 4.2, higher than 99.7 % of rows" or
    /// "currency = CHF where country is GB; in none of 1,204 rows".
    ///
    /// # Panics
    /// If there is no such term, or there is not one value for each of its columns.
    pub fn describe(&self, term: usize, values: &[f64]) -> String {
        let columns = self.terms[term].columns();
        assert_eq!(columns.len(), values.len(), "one value for each column of the term");
        match (columns, values) {
            (&[column], &[value]) => {
                let given = &self.detector.encoder().columns()[column];
                let (words, standing) = (self.said(column, value), self.standing(column, value));
                let verb = if value.is_finite() && !given.is_missing(value) { "=" } else { "is" };
                format!("{} {verb} {words}, {standing}", self.spoken(column))
            }
            (&[first, second], &[x, y]) => self.describe_pair([first, second], [x, y]),
            _ => String::new(),
        }
    }

    /// Two values that come together, by what is usual for one where the other is as it is.
    fn describe_pair(&self, columns: [usize; 2], values: [f64; 2]) -> String {
        let names = columns.map(|column| self.spoken(column));
        let words = |side: usize| self.said(columns[side], values[side]);
        if let Some((given, rows, all)) = self.counted(columns, values) {
            let found = match rows {
                0 => format!("in none of {} rows", count(all)),
                rows => format!("in {} of {} rows", count(rows), count(all)),
            };
            let other = 1 - given;
            return format!(
                "{} = {} where {} is {}; {found}",
                names[other],
                words(other),
                names[given],
                words(given)
            );
        }
        if let Some((given, place, usual)) = self.unusual(columns, values) {
            let other = 1 - given;
            return format!(
                "{} = {} where {} is {place}; usual {usual}",
                names[other],
                words(other),
                names[given]
            );
        }
        format!("{} = {} with {} = {}, which seldom come together", names[0], words(0), names[1], words(1))
    }

    /// How many of the training rows with one of two values also have the other: which side is given, how many do, of how many.
    /// The side that more rows have is given.
    fn counted(&self, columns: [usize; 2], values: [f64; 2]) -> Option<(usize, u64, u64)> {
        let counts = self.detector.profile().counts_of(columns)?;
        let mut at = [0; 2];
        for (side, (column, value)) in columns.into_iter().zip(values).enumerate() {
            at[side] = self.node_of(column, value)?;
        }
        let rows = counts.rows_at(at)?;
        let margins = self.margins.get(&columns)?;
        let [first, second] = [0, 1].map(|side| margins[side][usize::from(at[side])]);
        let given = usize::from(second > first);
        (first.max(second) > 0).then(|| (given, u64::from(rows), first.max(second)))
    }

    /// The node of a value that only certain values can have: a category, or one of few numbers.
    fn node_of(&self, column: usize, value: f64) -> Option<u16> {
        let given = &self.detector.encoder().columns()[column];
        let scaled = self.scalers[column].scale(value);
        let exact = given.positions() > 0 || self.detector.profile().columns[column].distinct().is_some();
        let node = self.nodes[column].binary_search_by(|node| node.total_cmp(&scaled)).ok()?;
        (exact && given.oddity(value).is_none() && !(value.is_nan() && given.positions() == 0))
            .then_some(node as u16)
    }

    /// A number outside of what is usual where another column is as it is: which side is given, what it is there, and what is usual.
    fn unusual(&self, columns: [usize; 2], values: [f64; 2]) -> Option<(usize, String, String)> {
        let found = [0, 1].map(|given| {
            let [group_of, number] = [columns[given], columns[1 - given]];
            let [x, y] = [values[given], values[1 - given]];
            if !x.is_finite() || !y.is_finite() {
                return None;
            }
            let ranges = self.detector.profile().ranges_of([group_of, number])?;
            let group = self.groups[group_of].of(self.scalers[group_of].scale(x))?;
            let Group { rows, usual: [low, high] } = ranges.groups[group];
            let y = self.scalers[number].scale(y);
            let beyond = (low - y).max(y - high);
            (rows >= LEAST_ROWS && beyond > 0.0)
                .then(|| (given, group, [low, high], beyond / (high - low + NARROW)))
        });
        let further =
            |a: &(usize, usize, [f32; 2], f32), b: &(usize, usize, [f32; 2], f32)| a.3.total_cmp(&b.3);
        let (given, group, usual, _) = found.into_iter().flatten().max_by(further)?;
        let [group_of, number] = [columns[given], columns[1 - given]];
        let [from, to] = self.groups[group_of].reach[group];
        let place = match from == to {
            true => self.said(group_of, values[given]),
            false => self.span(group_of, [from, to]),
        };
        Some((given, place, self.span(number, usual)))
    }

    /// Two values of a column in words, from one to the other.
    fn span(&self, column: usize, ends: [f32; 2]) -> String {
        let given = &self.detector.encoder().columns()[column];
        let ends = ends.map(|end| self.scalers[column].original(end));
        let ends = if given.kind == Kind::Number { short(ends, given.max - given.min) } else { ends };
        let [low, high] = ends.map(|end| self.said(column, end));
        if low == high { low } else { format!("{low} to {high}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Table, Values};
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

    #[test]
    fn ranks_near_the_ends_read_well() {
        let rank = |share, above, time| Words::Rank { share, above, time }.to_string();
        assert_eq!(rank(0.997, true, false), "higher than 99.70 % of rows");
        assert_eq!(rank(0.99995, true, false), "among the highest 0.01 % of rows");
        assert_eq!(rank(0.99995, false, true), "among the earliest 0.01 % of rows");
    }
}
