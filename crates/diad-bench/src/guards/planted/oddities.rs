//! What is planted: rows that a person would call odd, each with the columns that are the reason.

use super::random::Random;
use super::sheet::{Row, round, second};
use super::specs::{Group, Spec};

/// A kind of oddity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Oddity {
    FiftyTimes,
    UnitError,
    WrongPair,
    WrongForGroup,
    RareCategory,
    UnseenCategory,
    HourNeverUsed,
    HourWrongForGroup,
    WeekdayNeverUsed,
    FarDate,
    Negative,
    Zero,
    Swapped,
    Typo,
    Missing,
}

/// All kinds, in the order of the page.
pub const ODDITIES: [Oddity; 15] = [
    Oddity::FiftyTimes,
    Oddity::UnitError,
    Oddity::WrongPair,
    Oddity::WrongForGroup,
    Oddity::RareCategory,
    Oddity::UnseenCategory,
    Oddity::HourNeverUsed,
    Oddity::HourWrongForGroup,
    Oddity::WeekdayNeverUsed,
    Oddity::FarDate,
    Oddity::Negative,
    Oddity::Zero,
    Oddity::Swapped,
    Oddity::Typo,
    Oddity::Missing,
];
/// Rows that share the rare category.
const RARE: usize = 3;
/// No table has rows at this hour.
const NIGHT: [u32; 2] = [2, 3];

/// An odd row, and the sets of columns of which any is the reason.
#[derive(Debug, Clone)]
pub struct Planted {
    /// What is odd.
    pub oddity: Oddity,
    /// The row.
    pub row: Row,
    /// Its reasons.
    pub reasons: Vec<Vec<&'static str>>,
}

impl Oddity {
    /// As the page calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FiftyTimes => "50 times the usual amount of its group",
            Self::UnitError => "10, 100 or 1000 times (unit error)",
            Self::WrongPair => "two categories that never go together",
            Self::WrongForGroup => "an amount of another group",
            Self::RareCategory => "a rare category (3 rows)",
            Self::UnseenCategory => "a category seen once",
            Self::HourNeverUsed => "an hour never used",
            Self::HourWrongForGroup => "an hour its group never uses",
            Self::WeekdayNeverUsed => "a weekday never used",
            Self::FarDate => "a date far outside",
            Self::Negative => "the only negative amount",
            Self::Zero => "the only zero",
            Self::Swapped => "two numbers swapped",
            Self::Typo => "a typo in a frequent category",
            Self::Missing => "the only missing value",
        }
    }

    /// Odd rows of this kind; none where the table cannot have them.
    pub fn plant(self, spec: &Spec, random: &mut Random) -> Vec<Planted> {
        let count = if self == Self::RareCategory { RARE } else { 1 };
        (0..count).filter_map(|_| self.row(spec, random)).collect()
    }

    fn row(self, spec: &Spec, random: &mut Random) -> Option<Planted> {
        let groups = &spec.group.1;
        let mut row = spec.row(random);
        let reasons: Vec<Vec<&'static str>> = match self {
            Self::FiftyTimes => {
                let group = &groups[random.below(groups.len())];
                row = spec.row_of(group, random);
                row.amount = Some(round(50.0 * group.usual));
                vec![vec![spec.amount]]
            }
            Self::UnitError => {
                let factor = [10.0, 100.0, 1000.0][random.below(3)];
                row.amount = row.amount.map(|amount| round(factor * amount));
                vec![vec![spec.amount]]
            }
            Self::WrongForGroup => {
                let [small, large] = ends(groups, |group| group.usual);
                row = spec.row_of(small, random);
                row.amount = spec.row_of(large, random).amount;
                vec![vec![spec.group.0, spec.amount]]
            }
            Self::Negative => {
                row.amount = row.amount.map(|amount| -amount);
                vec![vec![spec.amount]]
            }
            Self::Zero => {
                row.amount = Some(0.0);
                vec![vec![spec.amount]]
            }
            Self::Swapped => {
                let other = row.numbers.first_mut()?;
                std::mem::swap(row.amount.as_mut()?, other);
                vec![vec![spec.amount], vec![spec.numbers.first()?.0]]
            }
            Self::Missing if random.below(2) == 0 => {
                row.amount = None;
                vec![vec![spec.amount]]
            }
            Self::Missing => {
                row.free = String::new();
                vec![vec![spec.free.0]]
            }
            Self::WrongPair | Self::RareCategory | Self::UnseenCategory | Self::Typo => {
                self.category(spec, &mut row, random)
            }
            _ => self.time(spec, &mut row, random)?,
        };
        Some(Planted { oddity: self, row, reasons })
    }

    /// What is odd about categories.
    fn category(self, spec: &Spec, row: &mut Row, random: &mut Random) -> Vec<Vec<&'static str>> {
        match self {
            Self::WrongPair => {
                let pairs = |place: &str, implied: &str| {
                    spec.places.iter().any(|known| known.0 == place && known.1 == implied)
                };
                let wrong: Vec<&str> = spec
                    .places
                    .iter()
                    .map(|place| place.1)
                    .filter(|other| !pairs(&row.place[0], other))
                    .collect();
                row.place[1] = wrong[random.below(wrong.len())].into();
                vec![spec.place.to_vec()]
            }
            Self::RareCategory => {
                row.free = spec.rare.into();
                vec![vec![spec.free.0]]
            }
            Self::UnseenCategory => {
                row.place[0] = "Ruritania".into();
                vec![vec![spec.place[0]]]
            }
            _ => {
                row.group = misspelt(&row.group, random);
                vec![vec![spec.group.0]]
            }
        }
    }

    /// What is odd about the time.
    fn time(self, spec: &Spec, row: &mut Row, random: &mut Random) -> Option<Vec<Vec<&'static str>>> {
        match self {
            Self::HourNeverUsed => row.second = second(NIGHT, random),
            Self::HourWrongForGroup => {
                let length = |group: &Group| f64::from(group.hours[1] - group.hours[0]);
                let [short, _] = ends(&spec.group.1, length);
                *row = spec.row_of(short, random);
                // Some hours after it ends, when others are still at it.
                row.second = second([short.hours[1] + 4, short.hours[1] + 6], random);
                return Some(vec![vec![spec.group.0, spec.time]]);
            }
            Self::WeekdayNeverUsed if spec.weekdays => {
                // The Sunday of its week: 1 January 1970 was a Thursday.
                row.day += 6 - (row.day + 3) % 7;
            }
            Self::FarDate => row.day += [-14_600, 29_200][random.below(2)],
            _ => return None,
        }
        Some(vec![vec![spec.time]])
    }
}

/// The groups with the smallest and the largest value.
fn ends(groups: &[Group], value: impl Fn(&Group) -> f64) -> [&Group; 2] {
    let by_value = |a: &&Group, b: &&Group| value(a).total_cmp(&value(b));
    let smallest = groups.iter().min_by(by_value).unwrap_or(&groups[0]);
    [smallest, groups.iter().max_by(by_value).unwrap_or(&groups[0])]
}

/// Two neighbouring letters in the other order, or the last one twice where they are the same.
fn misspelt(word: &str, random: &mut Random) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let place = random.below(letters.len() - 1);
    if letters[place] == letters[place + 1] {
        letters.extend(letters.last().copied());
    } else {
        letters.swap(place, place + 1);
    }
    letters.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::specs::SPECS;
    use super::*;

    fn all(spec: &Spec) -> Vec<Planted> {
        let mut random = Random::new(11);
        ODDITIES.iter().flat_map(|oddity| oddity.plant(spec, &mut random)).collect()
    }

    #[test]
    fn every_table_has_at_least_twelve_kinds_and_reasons_are_columns() {
        for spec in SPECS.iter() {
            let planted = all(spec);
            let kinds: std::collections::BTreeSet<_> = planted.iter().map(|one| one.oddity).collect();
            assert!(kinds.len() >= 12, "{}: {}", spec.name, kinds.len());
            for name in planted.iter().flat_map(|one| one.reasons.iter().flatten()) {
                assert!(spec.columns().contains(name), "{name}");
            }
        }
    }

    #[test]
    fn rows_are_odd_as_they_say() {
        for spec in SPECS.iter() {
            let known = |row: &Row| spec.group.1.iter().find(|group| group.name == row.group);
            for Planted { oddity, row, .. } in all(spec) {
                let (group, amount, hour) = (known(&row), row.amount.unwrap_or(0.0), row.second / 3600);
                match oddity {
                    Oddity::WrongPair => {
                        assert!(!spec.places.iter().any(|place| [place.0, place.1] == row.place));
                    }
                    Oddity::WrongForGroup => {
                        assert!(amount > 3.0 * group.expect("a known group").usual, "{}", spec.name);
                    }
                    Oddity::HourWrongForGroup => {
                        assert!(hour > group.expect("a known group").hours[1]);
                        let others = |other: &Group| (other.hours[0]..=other.hours[1]).contains(&hour);
                        assert!(spec.group.1.iter().any(others), "{} {hour}", spec.name);
                    }
                    Oddity::HourNeverUsed => {
                        assert!(spec.group.1.iter().all(|group| hour < group.hours[0]));
                    }
                    Oddity::WeekdayNeverUsed => assert_eq!((row.day + 3) % 7, 6),
                    Oddity::Negative => assert!(amount < 0.0),
                    Oddity::Typo => assert!(group.is_none(), "{}", row.group),
                    Oddity::Missing => assert!(row.amount.is_none() || row.free.is_empty()),
                    _ => {}
                }
            }
        }
    }
}
