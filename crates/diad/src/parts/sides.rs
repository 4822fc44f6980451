//! What isolation looks at: a column of numbers as it is, and of a column of categories each category against all others, as
//! tables are prepared by hand for programs that know only numbers. On one line, whichever order it has, a category has neighbours
//! that it has nothing in common with.

use std::collections::BTreeMap;

use super::Sample;
use super::column::{Column, unevenness};

/// A column of numbers, or a category against the others of its column.
pub struct Side {
    /// The feature.
    pub feature: u32,
    /// The position of the category.
    pub category: Option<u16>,
    /// From the place of the category to the next one.
    places: [f32; 2],
    /// Rows of the sample that it tells from others: those of the category, or all.
    rows: usize,
}

impl Side {
    /// What it knows of a value of its column.
    pub fn value(&self, column: &Column, x: f32) -> f64 {
        match self.category {
            None => column.plain(x),
            Some(_) if x >= self.places[0] && x < self.places[1] => 1.0,
            Some(_) => -1.0,
        }
    }

    /// The values it has at nodes, and which of them each node has.
    pub fn values(&self, column: &Column, nodes: &[f32]) -> (Vec<f64>, Vec<usize>) {
        match self.category {
            None => (nodes.iter().map(|&x| column.plain(x)).collect(), (0..nodes.len()).collect()),
            Some(_) => {
                (vec![-1.0, 1.0], nodes.iter().map(|&x| usize::from(self.value(column, x) > 0.0)).collect())
            }
        }
    }

    /// How much it counts, from 0 to 1: see [`Column::unevenness`].
    pub fn unevenness(&self, column: &Column) -> f64 {
        match self.category {
            None => column.unevenness(),
            Some(_) => unevenness(&[(column.values.len() - self.rows) as f64, self.rows as f64]),
        }
    }
}

/// One node of each kind, and of all nodes the kind: categories that are none of some sides of their column are all the same to them.
pub fn kinds(sides: &[&Side], column: &Column, nodes: &[f32]) -> (Vec<f32>, Vec<usize>) {
    if !column.is_category() {
        return (nodes.to_vec(), (0..nodes.len()).collect());
    }
    let mut known = BTreeMap::new();
    let mut examples = Vec::new();
    let kind = |&node: &f32| {
        let own = sides.iter().position(|side| side.value(column, node) > 0.0);
        *known.entry(own).or_insert_with(|| {
            examples.push(node);
            examples.len() - 1
        })
    };
    let of_nodes = nodes.iter().map(kind).collect();
    (examples, of_nodes)
}

impl Sample {
    /// The sides of features, in their order, at most so many where there are no more features: the rarest categories have none
    /// of their own then.
    pub fn sides(&self, features: &[u32], most: usize) -> Vec<Side> {
        let mut sides: Vec<Side> = features.iter().flat_map(|&feature| self.sides_of(feature)).collect();
        if sides.len() > most {
            let mut rows: Vec<usize> = sides.iter().map(|side| side.rows).collect();
            rows.sort_unstable_by(|a, b| b.cmp(a));
            let least = rows[most];
            // Categories as rare as the first one that is left out are left out too, so that their order does not matter.
            sides.retain(|side| side.category.is_none() || side.rows > least);
        }
        sides
    }

    fn sides_of(&self, feature: u32) -> Vec<Side> {
        let column = &self.columns[feature as usize];
        let all = self.rows();
        if !column.is_category() {
            return vec![Side { feature, category: None, places: [0.0; 2], rows: all }];
        }
        // The last place is that of categories that the training did not have. They count as the rarest one.
        let last = column.places.len() - 2;
        let side = |position: usize| {
            let end = if position < last { column.places[position + 1] } else { f32::INFINITY };
            let places = [column.places[position], end];
            let [below, up_to] = places.map(|place| column.ranks(place)[0]);
            Side { feature, category: Some(position as u16), places, rows: up_to - below }
        };
        // Of two categories one says all.
        let sides = (usize::from(last == 1)..=last).map(side);
        sides.filter(|side| side.rows > 0 && side.rows < all).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Sample {
        let places = vec![-1.0, 0.0, 0.5, 1.0];
        let rows = [(-1.0, 60), (0.0, 30), (0.5, 10)];
        let texts = rows.iter().flat_map(|&(place, count)| vec![place; count]).collect();
        let two = (0..100).map(|row| if row < 70 { -1.0 } else { 0.0 }).collect();
        let numbers = (0..100).map(|row| row as f32 / 50.0 - 1.0).collect();
        let columns = vec![
            Column::of_categories(texts, places),
            Column::of_numbers(numbers, None),
            Column::of_categories(two, vec![-1.0, 0.0, 1.0]),
        ];
        Sample::of_columns((0..100).collect(), columns, vec![0, 1, 2], vec![0, 1, 2])
    }

    #[test]
    fn every_category_is_a_side_and_of_two_one() {
        let sides = sample().sides(&[0, 1, 2], 100);
        let listed: Vec<_> = sides.iter().map(|side| (side.feature, side.category, side.rows)).collect();
        let expected =
            [(0, Some(0), 60), (0, Some(1), 30), (0, Some(2), 10), (1, None, 100), (2, Some(1), 30)];
        assert_eq!(listed, expected);
    }

    #[test]
    fn a_category_is_told_from_all_others_and_one_not_seen_counts_as_the_rarest() {
        let sample = sample();
        let column = &sample.columns[0];
        let sides = sample.sides(&[0], 100);
        let told = |side: usize| [-1.0, 0.0, 0.5, 1.0].map(|x| sides[side].value(column, x) > 0.0);
        assert_eq!(told(0), [true, false, false, false]);
        assert_eq!(told(1), [false, true, false, false]);
        assert_eq!(told(2), [false, false, true, true]);
        assert_eq!(sides[1].values(column, &column.places), (vec![-1.0, 1.0], vec![0, 1, 0, 0]));
    }

    /// As if it were a column of numbers of its own.
    #[test]
    fn a_side_counts_as_a_column_of_two_values() {
        let sample = sample();
        let column = &sample.columns[0];
        for side in sample.sides(&[0], 100) {
            let values = column.values.iter().map(|&x| side.value(column, x) as f32).collect();
            let alone = Column::of_numbers(values, None);
            assert!((side.unevenness(column) - alone.unevenness()).abs() < 1e-12);
        }
    }

    #[test]
    fn where_there_are_too_many_the_rarest_categories_are_left_out_and_numbers_never() {
        let kept = |most: usize| {
            let sides = sample().sides(&[0, 1, 2], most);
            sides.iter().map(|side| (side.feature, side.category)).collect::<Vec<_>>()
        };
        assert_eq!(kept(4), [(0, Some(0)), (0, Some(1)), (1, None), (2, Some(1))]);
        assert_eq!(kept(3), [(0, Some(0)), (1, None)], "two of 30 rows each");
        assert_eq!(kept(1), [(1, None)]);
    }
}
