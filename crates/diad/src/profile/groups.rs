//! Where most rows of a group lie: what is usual for a number where another column has a certain value.

use super::{Profile, Spread};

/// Most groups of a column: its most frequent categories, its values if these are few, or parts of its range.
pub const MOST_GROUPS: usize = 24;
/// Parts of the range of a number, between which equally many rows lie.
const PARTS: usize = 8;
/// Rows that a group must have for something to be usual in it.
pub const LEAST_ROWS: u32 = 20;
/// The shares of the rows of a group below and above what is usual.
const UNUSUAL: f64 = 0.05;

/// How a column is cut into groups.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// Of each group, the least and the largest value. A value lies in the first group that reaches to it.
    pub reach: Vec<[f32; 2]>,
}

impl Groups {
    /// The groups of a column, whose categories lie at certain places; none for numbers.
    pub fn new(spread: &Spread, places: &[f32]) -> Self {
        let each = |values: &[f32]| values.iter().take(MOST_GROUPS).map(|&value| [value, value]).collect();
        let reach = match spread.distinct() {
            _ if !places.is_empty() => each(&places[..places.len() - 1]),
            Some(distinct) if distinct.len() <= MOST_GROUPS => each(distinct),
            _ => {
                let edge = |part: usize| spread.quantile(part as f64 / PARTS as f64);
                let mut parts: Vec<[f32; 2]> = (0..PARTS).map(|part| [edge(part), edge(part + 1)]).collect();
                parts.dedup_by(|next, before| next[1] <= before[1]);
                parts
            }
        };
        Self { reach }
    }

    /// The group of a value, if it lies in one.
    pub fn of(&self, value: f32) -> Option<usize> {
        let group = self.reach.partition_point(|reach| reach[1] < value);
        self.reach.get(group).is_some_and(|reach| reach[0] <= value).then_some(group)
    }
}

/// A group of rows in another column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// How many rows it has.
    pub rows: u32,
    /// Within which values nine tenths of them lie.
    pub usual: [f32; 2],
}

/// Where the rows of each group of one column lie in another one, of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranges {
    /// The column that is cut into groups, and the other.
    pub columns: [u32; 2],
    /// The groups, in order.
    pub groups: Vec<Group>,
}

impl Ranges {
    /// Of rows with a value in both columns.
    pub fn of(columns: [u32; 2], groups: &Groups, rows: impl Iterator<Item = [f32; 2]>) -> Self {
        let mut members: Vec<Vec<f32>> = vec![Vec::new(); groups.reach.len()];
        for [x, y] in rows {
            if let Some(group) = groups.of(x) {
                members[group].push(y);
            }
        }
        let group = |mut values: Vec<f32>| {
            values.sort_unstable_by(f32::total_cmp);
            let last = values.len().saturating_sub(1) as f64;
            let [low, high] = [(UNUSUAL * last).floor(), ((1.0 - UNUSUAL) * last).ceil()]
                .map(|place| values.get(place as usize).copied().unwrap_or(0.0));
            Group { rows: values.len() as u32, usual: [low, high] }
        };
        Self { columns, groups: members.into_iter().map(group).collect() }
    }

    /// Whether it has the right number of groups, each with ends in order.
    pub fn is_sane(&self, groups: &Groups) -> bool {
        let sane = |group: &Group| {
            let [low, high] = group.usual;
            low <= high && low.abs() <= 1.0 && high.abs() <= 1.0
        };
        self.groups.len() == groups.reach.len() && self.groups.iter().all(sane)
    }
}

impl Profile {
    /// Where the rows of the groups of one column lie in another, if that is remembered.
    pub fn ranges_of(&self, columns: [usize; 2]) -> Option<&Ranges> {
        let columns = columns.map(|column| column as u32);
        let found = self.ranges.binary_search_by_key(&columns, |ranges| ranges.columns).ok()?;
        Some(&self.ranges[found])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_rows_of_a_group_lie_within_what_is_usual() {
        let places = [-1.0, 0.0, 1.0];
        let groups = Groups::new(&Spread::of_sorted(&[-1.0, -1.0, 0.0]), &places);
        assert_eq!(groups.reach, [[-1.0, -1.0], [0.0, 0.0]]);
        assert_eq!([-1.0, -0.5, 0.0, 1.0].map(|value| groups.of(value)), [Some(0), None, Some(1), None]);
        let rows = (0..=100).map(|i| [-1.0, i as f32 / 100.0]).chain([[0.0, 0.5], [1.0, 0.9]]);
        let ranges = Ranges::of([0, 1], &groups, rows);
        assert_eq!(ranges.groups[0], Group { rows: 101, usual: [0.05, 0.95] });
        assert_eq!(ranges.groups[1], Group { rows: 1, usual: [0.5, 0.5] });
        assert!(ranges.is_sane(&groups));
    }

    #[test]
    fn a_number_is_cut_into_parts_that_reach_all_rows() {
        let sorted: Vec<f32> = (0..1000).map(|i| ((i / 3) as f32 / 500.0).powi(3)).collect();
        let spread = Spread::of_sorted(&sorted);
        let groups = Groups::new(&spread, &[]);
        assert_eq!(groups.reach.len(), PARTS);
        assert!(sorted.iter().all(|&value| groups.of(value).is_some()));
        assert_eq!(groups.of(2.0), None);
    }
}
