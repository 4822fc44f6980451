//! A made-up table of one kind, row by row.

use diad::table::date_of;

use super::random::Random;
use super::specs::{Group, Law, Spec};

/// Days from the first time stamp to the last.
const DAYS: i64 = 364;
/// 1 January 2024, a Monday, in days since 1 January 1970.
const FIRST_DAY: i64 = 19_723;

/// One row. Empty cells are missing values.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Days since 1 January 1970.
    pub day: i64,
    /// Seconds of the day.
    pub second: u32,
    /// The kind of row.
    pub group: String,
    /// The place and what it implies.
    pub place: [String; 2],
    /// The category that depends on nothing.
    pub free: String,
    /// The amount.
    pub amount: Option<f64>,
    /// Further numbers.
    pub numbers: Vec<f64>,
}

impl Spec {
    /// An ordinary row.
    pub fn row(&self, random: &mut Random) -> Row {
        let group = random.weighted(&self.group.1, |group| group.weight);
        self.row_of(group, random)
    }

    /// An ordinary row of that kind.
    pub fn row_of(&self, group: &Group, random: &mut Random) -> Row {
        let amount = round(skewed(group.usual, group.spread, random));
        let (place, implied, _) = random.weighted(&self.places, |place| place.2);
        let number = |law: &Law, random: &mut Random| match *law {
            Law::Whole(mean, deviation) => (mean + deviation * random.normal()).round().max(1.0),
            Law::Skewed(median, spread) => round(skewed(median, spread, random)),
            Law::Follows(share, spread) => round(skewed(share * amount, spread, random)),
        };
        Row {
            day: self.day(random),
            second: second(group.hours, random),
            group: group.name.into(),
            place: [(*place).into(), (*implied).into()],
            free: random.weighted(&self.free.1, |value| value.1).0.into(),
            amount: Some(amount),
            numbers: self.numbers.iter().map(|(_, law)| number(law, random)).collect(),
        }
    }

    fn day(&self, random: &mut Random) -> i64 {
        loop {
            let day = random.below(DAYS as usize) as i64;
            if !self.weekdays || day % 7 < 5 {
                return FIRST_DAY + day;
            }
        }
    }

    /// The names of the columns, the labels last.
    pub fn columns(&self) -> Vec<&'static str> {
        let mut names = vec![self.time, self.group.0, self.place[0], self.place[1], self.free.0, self.amount];
        names.extend(self.numbers.iter().map(|(name, _)| *name));
        names
    }
}

impl Row {
    /// The cells in the order of [`Spec::columns`].
    pub fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.time(), self.group.clone(), self.place[0].clone(), self.place[1].clone()];
        cells.extend([self.free.clone(), self.amount.map_or(String::new(), |amount| amount.to_string())]);
        cells.extend(self.numbers.iter().map(ToString::to_string));
        cells
    }

    fn time(&self) -> String {
        let (year, month, day) = date_of(self.day);
        let (hour, minute, second) = (self.second / 3600, self.second / 60 % 60, self.second % 60);
        format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// A second of the day within those hours.
pub fn second([first, last]: [u32; 2], random: &mut Random) -> u32 {
    first * 3600 + random.below(((last - first + 1) * 3600) as usize) as u32
}

fn skewed(median: f64, spread: f64, random: &mut Random) -> f64 {
    median * (spread * random.normal()).exp()
}

/// To cents, but never to nothing.
pub fn round(value: f64) -> f64 {
    ((value * 100.0).round() / 100.0).max(0.01)
}

#[cfg(test)]
mod tests {
    use super::super::specs::SPECS;
    use super::*;

    #[test]
    fn days_have_dates() {
        assert_eq!(date_of(0), (1970, 1, 1));
        assert_eq!(date_of(FIRST_DAY), (2024, 1, 1));
        assert_eq!(date_of(FIRST_DAY + 59), (2024, 2, 29));
        assert_eq!(date_of(84_006), (2200, 1, 1));
    }

    #[test]
    fn ordinary_rows_keep_the_rules() {
        for spec in SPECS.iter() {
            let mut random = Random::new(5);
            for _ in 0..2000 {
                let row = spec.row(&mut random);
                let group = spec.group.1.iter().find(|group| group.name == row.group).expect("a kind");
                let hour = row.second / 3600;
                assert!((group.hours[0]..=group.hours[1]).contains(&hour), "{}: {hour}", spec.name);
                assert!(spec.places.iter().any(|place| [place.0, place.1] == row.place));
                assert!(!spec.weekdays || (row.day - FIRST_DAY) % 7 < 5);
                assert!(row.amount.is_some_and(|amount| amount > 0.0));
                assert_ne!(row.free, spec.rare);
                assert_eq!(row.cells().len(), spec.columns().len());
            }
        }
    }
}
