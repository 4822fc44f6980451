//! Alerts that belong together: the same terms carry them, in the same direction.

use std::collections::BTreeMap;

use crate::Result;
use crate::explain::Explainer;
use crate::table::{Table, printable};

/// A second term carries an alert too if it contributes at least this share of what the first one does.
const SECOND: f64 = 0.5;
/// A category that at least this share of the training rows has is common.
const COMMON: f64 = 0.05;

/// How a value differs from the values of most rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// What the alerts have in common, in words: "high amount; rare merchant with common country".
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
            let sentence = sentence(explainer, &carriers);
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

/// Carriers in words.
fn sentence(explainer: &Explainer, carriers: &[Carrier]) -> String {
    let names = explainer.detector().encoder().columns();
    let words = |carrier: &Carrier| {
        let columns = explainer.terms()[carrier.term].columns().iter().zip(&carrier.directions);
        let words = columns.map(|(&column, direction)| {
            format!("{} {}", direction.adjective(), printable(&names[column].name))
        });
        words.collect::<Vec<_>>().join(" with ")
    };
    match carriers.is_empty() {
        true => "nothing in particular".into(),
        false => carriers.iter().map(words).collect::<Vec<_>>().join("; "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};
    use crate::table::{Texts, Values};
    use crate::{Detector, Params};

    /// 1,000 ordinary rows, 6 of a huge amount and 3 of an unknown country.
    fn table() -> Table {
        let mut random = Stream::new(3, Purpose::Shuffle, 0);
        let mut amounts: Vec<f64> = (0..1000).map(|_| 100.0 + 10.0 * random.normal()).collect();
        let mut countries: Vec<String> = (0..1000).map(|i| ["DE", "FR", "CH"][i % 3].to_owned()).collect();
        (0..6).for_each(|row| amounts[row * 7] = 5000.0 + row as f64);
        (0..3).for_each(|row| countries[row * 11 + 500] = format!("X{row}"));
        let texts: Texts = countries.iter().map(|text| Some(text.as_str())).collect();
        Table::of(vec!["amount".into(), "country".into()], vec![Values::Numbers(amounts), texts.into()])
            .unwrap()
    }

    fn detector(table: &Table) -> Detector {
        Params::default().with_steps(30).trees(20).fit(table).unwrap()
    }

    #[test]
    fn alerts_of_one_kind_are_one_group() {
        let table = table();
        let detector = detector(&table);
        let explainer = Explainer::new(&detector);
        let rows: Vec<usize> = (0..6).map(|row| row * 7).chain((0..3).map(|row| row * 11 + 500)).collect();
        let picked = detector.pick(&table, &rows).unwrap();
        let groups = groups(&explainer, &picked).unwrap();
        let all: usize = groups.iter().map(Group::count).sum();
        assert_eq!(all, 9, "every alert is in one group");
        assert!(groups[0].count() >= 5 && groups[0].sentence.contains("high amount"), "{groups:?}");
        let countries = groups.iter().find(|group| group.sentence.contains("rare country")).unwrap();
        assert!(countries.members.iter().all(|&member| member >= 6), "{groups:?}");
        let scores = detector.score(&picked).unwrap();
        for group in &groups {
            assert_eq!(scores[group.exemplar()], group.highest);
            assert!(group.members.iter().all(|&member| scores[member] <= group.highest));
        }
    }
}
