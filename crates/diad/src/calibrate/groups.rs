//! Alerts that belong together: the same terms carry them, in the same direction.

use std::collections::BTreeMap;

use crate::Result;
use crate::encode::Kind;
use crate::explain::Explainer;
use crate::table::{Table, TimePart, printable};

/// A second term carries an alert too if it contributes at least this share of what the first one does.
const SECOND: f64 = 0.5;
/// Most values of a column that are named.
const MOST_NAMED: usize = 3;
/// A category that at least this share of the training rows has is common.
const COMMON: f64 = 0.05;
/// A category is less common if it has less than this share of the rows of the most common one.
const LESS: f64 = 0.5;

/// How a value differs from the values of most rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// A number or a time above the median.
    High,
    /// A number or a time below the median.
    Low,
    /// A category that few rows have.
    Rare,
    /// A category that many rows have.
    Common,
    /// A category that no training row had.
    Unseen,
    /// No value.
    Missing,
    /// A cell that does not fit its column.
    Unfit,
}

impl Direction {
    /// Before the name of a column: a *high* amount.
    fn adjective(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Low => "low",
            Self::Rare => "rare",
            Self::Common => "common",
            Self::Unseen => "unseen",
            Self::Missing => "missing",
            Self::Unfit => "unreadable",
        }
    }
}

/// A term that carries alerts, with the direction of each of its columns.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Carrier {
    /// The term, by its place in [`Explainer::terms`].
    pub term: usize,
    /// How the value of each of its columns differs from those of most rows.
    pub directions: Vec<Direction>,
}

/// Alerts that the same terms carry in the same direction.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Group {
    /// One or two terms, the one that contributes more to the exemplar first.
    pub carriers: Vec<Carrier>,
    /// What the alerts have in common, in words: "high amount; merchant Tesco with country CH or FR".
    pub sentence: String,
    /// Places of its alerts among the rows given, the highest score first.
    pub members: Vec<usize>,
    /// The score of its first member, the exemplar.
    pub highest: f32,
}

impl Group {
    /// How many alerts it has.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The place of the alert with the highest score among the rows given.
    pub fn exemplar(&self) -> usize {
        self.members[0]
    }
}

/// Groups alerts: the rows of a table with the detector's own columns, as [`Detector::pick`](crate::Detector::pick) gives them. The largest group comes
/// first; of equally large ones, that with the highest score.
///
/// # Errors
/// As [`Explainer::contributions`].
pub fn groups(explainer: &Explainer, alerts: &Table) -> Result<Vec<Group>> {
    let explained = explainer.contributions(alerts)?;
    let mut found: BTreeMap<Vec<Carrier>, Vec<usize>> = BTreeMap::new();
    for row in 0..alerts.rows() {
        let mut key = carriers(explainer, explained.row(row), |column| alerts.column(column)[row]);
        key.sort_unstable();
        found.entry(key).or_default().push(row);
    }
    let scores = explained.scores();
    let mut groups: Vec<Group> = found
        .into_values()
        .map(|mut members| {
            members.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            let first = members[0];
            let carriers = carriers(explainer, explained.row(first), |column| alerts.column(column)[first]);
            let sentence = sentence(explainer, &carriers, |column| {
                members.iter().map(|&row| alerts.column(column)[row]).collect()
            });
            Group { carriers, sentence, members, highest: scores[first] }
        })
        .collect();
    groups.sort_by(|a, b| b.count().cmp(&a.count()).then(b.highest.total_cmp(&a.highest)));
    Ok(groups)
}

/// The terms that carry a row: the one that contributes most, and the second if it is at least half as large.
fn carriers(explainer: &Explainer, contributions: &[f64], value: impl Fn(usize) -> f64) -> Vec<Carrier> {
    let mut order: Vec<usize> = (0..contributions.len()).collect();
    let by_size = |&a: &usize, &b: &usize| contributions[b].total_cmp(&contributions[a]);
    if order.len() > 2 {
        order.select_nth_unstable_by(1, by_size);
        order.truncate(2);
    }
    order.sort_by(by_size);
    let first = order.first().map_or(0.0, |&term| contributions[term]);
    order.retain(|&term| contributions[term] >= (SECOND * first).max(f64::MIN_POSITIVE));
    let carrier = |term: usize| {
        let columns = explainer.terms()[term].columns();
        Carrier { term, directions: columns.iter().map(|&c| direction(explainer, c, value(c))).collect() }
    };
    order.into_iter().map(carrier).collect()
}

fn direction(explainer: &Explainer, column: usize, value: f64) -> Direction {
    let given = &explainer.detector().encoder().columns()[column];
    let standing = explainer.standing(column, value);
    let share = standing.up_to - standing.below;
    match () {
        () if given.oddity(value).is_some() => Direction::Unfit,
        () if value.is_nan() => Direction::Missing,
        () if given.positions() == 0 && standing.below + standing.up_to >= 1.0 => Direction::High,
        () if given.positions() == 0 => Direction::Low,
        () if share <= 0.0 => Direction::Unseen,
        () if share < COMMON => Direction::Rare,
        () => Direction::Common,
    }
}

/// Carriers in words, by the values that the alerts have in a column.
fn sentence(explainer: &Explainer, carriers: &[Carrier], values: impl Fn(usize) -> Vec<f64>) -> String {
    let words = |carrier: &Carrier| {
        let columns = explainer.terms()[carrier.term].columns().iter().zip(&carrier.directions);
        let words =
            columns.map(|(&column, &direction)| aspect(explainer, column, direction, &values(column)));
        words.collect::<Vec<_>>().join(" with ")
    };
    match carriers.is_empty() {
        true => "nothing in particular".into(),
        false => carriers.iter().map(words).collect::<Vec<_>>().join("; "),
    }
}

/// A column in words: its very values where they have names and are few, else how they differ from most.
fn aspect(explainer: &Explainer, column: usize, direction: Direction, values: &[f64]) -> String {
    let given = &explainer.detector().encoder().columns()[column];
    let name = printable(explainer.spoken(column));
    let part = match given.kind {
        Kind::Time { part, .. } => Some(part),
        _ => None,
    };
    let is_cyclic = matches!(part, Some(TimePart::Weekday | TimePart::Month));
    let is_named = match direction {
        Direction::Rare | Direction::Common => true,
        Direction::High | Direction::Low => is_cyclic || part.is_none() && explainer.has_few_values(column),
        Direction::Unseen | Direction::Missing | Direction::Unfit => false,
    };
    let mut distinct: Vec<f64> = Vec::new();
    for &value in values.iter().filter(|_| is_named) {
        if !distinct.contains(&value) && distinct.len() <= MOST_NAMED {
            distinct.push(value);
        }
    }
    if (1..=MOST_NAMED).contains(&distinct.len()) {
        let mut said: Vec<String> = distinct.iter().map(|&value| explainer.words(column, value)).collect();
        let last = said.pop().unwrap_or_default();
        let others = if said.is_empty() { String::new() } else { said.join(", ") + " or " };
        return format!("{name} {}", printable(&(others + &last)));
    }
    let share = |&value: &f64| {
        let standing = explainer.standing(column, value);
        standing.up_to - standing.below
    };
    let most = given.levels().iter().map(|level| level.rows).max().unwrap_or(0) as f64
        / explainer.detector().training_rows().max(1) as f64;
    match direction {
        // No weekday is higher than another, and that a value is as common as any says nothing of it.
        Direction::Common if values.iter().all(|value| share(value) < LESS * most) => {
            format!("less common {name}")
        }
        Direction::Common => name.to_string(),
        Direction::High | Direction::Low if is_cyclic => name.to_string(),
        Direction::High if part.is_some() => format!("late {name}"),
        Direction::Low if part.is_some() => format!("early {name}"),
        _ => format!("{} {name}", direction.adjective()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use crate::table::{Texts, Values};
    use crate::{Detector, Params};

    /// 1,000 ordinary rows, 6 of a huge amount and 4 of an unknown country.
    fn table() -> Table {
        let mut random = Stream::new(3, Purpose::Shuffle, 0);
        let mut amounts: Vec<f64> = (0..1000).map(|_| 100.0 + 10.0 * random.normal()).collect();
        let mut countries: Vec<String> = (0..1000).map(|i| ["DE", "FR", "CH"][i % 3].to_owned()).collect();
        (0..6).for_each(|row| amounts[row * 7] = 5000.0 + row as f64);
        (0..4).for_each(|row| countries[row * 11 + 500] = format!("X{row}"));
        let texts: Texts = countries.iter().map(|text| Some(text.as_str())).collect();
        Table::of(vec!["amount".into(), "country".into()], vec![Values::Numbers(amounts), texts.into()])
            .unwrap()
    }

    fn detector(table: &Table) -> Detector {
        Params::default().with_steps(30).trees(20).fit(table).unwrap()
    }

    /// Values that have names are named, if they are few; weekdays are neither high nor low.
    #[test]
    fn a_group_is_called_what_people_would_call_it() {
        let table = {
            let table = table();
            let days: Vec<f64> =
                (0..1000).map(|row| f64::from(row % 5) * 86_400.0 + 4.0 * 86_400.0).collect();
            let columns = [0, 1].map(|column| table.values(column).clone());
            let [amounts, countries] = columns;
            let urgent = (0..1000).map(|row| f64::from(row % 50 == 0)).collect();
            Table::of(
                ["amount", "country", "paid", "urgent"].map(String::from).to_vec(),
                vec![amounts, countries, Values::Times(days), Values::Numbers(urgent)],
            )
            .unwrap()
        };
        let detector = detector(&table);
        let explainer = Explainer::new(&detector);
        let column =
            |name: &str| detector.encoder().columns().iter().position(|column| column.name == name).unwrap();
        let said =
            |name: &str, direction, values: &[f64]| aspect(&explainer, column(name), direction, values);
        assert_eq!(said("amount", Direction::High, &[5000.0]), "high amount");
        assert_eq!(said("urgent", Direction::High, &[1.0, 1.0]), "urgent 1");
        assert_eq!(said("country", Direction::Common, &[0.0, 0.0]), "country DE");
        assert_eq!(said("country", Direction::Common, &[0.0, 1.0, 0.0, 2.0]), "country DE, FR or CH");
        assert_eq!(said("country", Direction::Common, &[0.0, 1.0, 2.0, 3.0]), "country");
        assert_eq!(said("country", Direction::Common, &[3.0, 4.0, 5.0, 6.0]), "less common country");
        assert_eq!(said("country", Direction::Rare, &[2.0, 3.0, 4.0, 5.0]), "rare country");
        assert_eq!(
            said("weekday of paid", Direction::High, &[7.0, 6.0, 7.0]),
            "weekday of paid Sunday or Saturday"
        );
        assert_eq!(said("weekday of paid", Direction::Low, &[1.0, 2.0, 3.0, 4.0]), "weekday of paid");
        assert_eq!(said("date of paid", Direction::High, &[9.0]), "late paid");
        assert_eq!(said("country", Direction::Missing, &[f64::NAN]), "missing country");
    }

    #[test]
    fn alerts_of_one_kind_are_one_group() {
        let table = table();
        let detector = detector(&table);
        let explainer = Explainer::new(&detector);
        let rows: Vec<usize> = (0..6).map(|row| row * 7).chain((0..4).map(|row| row * 11 + 500)).collect();
        let picked = detector.pick(&table, &rows).unwrap();
        let groups = groups(&explainer, &picked).unwrap();
        let all: usize = groups.iter().map(Group::count).sum();
        assert_eq!(all, 10, "every alert is in one group");
        assert!(groups[0].count() >= 5 && groups[0].sentence.contains("high amount"), "{groups:?}");
        let countries = groups
            .iter()
            .find(|group| ["rare country", "country X"].iter().any(|name| group.sentence.contains(name)))
            .unwrap();
        assert!(countries.members.iter().all(|&member| member >= 6), "{groups:?}");
        let scores = detector.score(&picked).unwrap();
        for group in &groups {
            assert_eq!(scores[group.exemplar()], group.highest);
            assert!(group.members.iter().all(|&member| scores[member] <= group.highest));
        }
    }
}
