//! Columns that say the same share what is said of one of them.

use super::{Column, Sample};
use crate::function::Functions;

/// For each feature the first one that says the same, of those that have the same values. Marks of gaps do only if their columns do.
pub fn firsts(same: &[u32], columns: &[Column], origins: &[u32]) -> Vec<u32> {
    let mut firsts: Vec<u32> = Vec::with_capacity(columns.len());
    for (feature, column) in (0..).zip(columns) {
        // The first features are those of the columns, in their order.
        let marked = |feature: u32| firsts[origins[feature as usize] as usize];
        let is_copy = |&other: &u32| {
            let known = &columns[other as usize];
            same[other as usize] == same[feature as usize]
                && known.is_mark == column.is_mark
                && known.is_category() == column.is_category()
                && (!column.is_mark || marked(other) == marked(feature))
        };
        let first = if same[feature as usize] == feature { None } else { (0..feature).find(is_copy) };
        firsts.push(first.unwrap_or(feature));
    }
    firsts
}

impl Sample {
    /// Whether two features say the same.
    pub fn are_copies(&self, [a, b]: [u32; 2]) -> bool {
        self.firsts[a as usize] == self.firsts[b as usize]
    }

    /// Divides what is said of features among those that say the same. What copies say together counts in full: it is where they differ.
    pub fn count_once(&self, functions: &mut Functions) {
        let mut copies = vec![0u32; self.firsts.len()];
        self.firsts.iter().for_each(|&first| copies[first as usize] += 1);
        let share = |feature: u32| (copies[self.firsts[feature as usize] as usize] as f32).recip();
        for curve in &mut functions.curves {
            let share = share(curve.feature);
            curve.values.iter_mut().chain(&mut curve.beyond).for_each(|value| *value *= share);
        }
        for grid in functions.grids.iter_mut().filter(|grid| !self.are_copies(grid.features)) {
            let share = grid.features.map(share).iter().product::<f32>();
            grid.values.iter_mut().for_each(|value| *value *= share);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{Curve, Grid};

    /// Columns 0 and 2 are copies, with their gaps; column 1 has gaps in the same rows.
    #[test]
    fn copies_are_found_and_share_what_one_had() {
        let number = |a: f32| Column::of_numbers(vec![a, 1.0], None);
        let mark = || Column::of_marks(vec![1.0, 0.0]);
        let category = Column::of_categories(vec![0.0, 1.0], vec![0.0, 1.0, 2.0]);
        let columns = vec![number(0.0), number(0.5), number(0.0), category, mark(), mark(), mark()];
        let origins = vec![0, 1, 2, 3, 0, 1, 2];
        let firsts = firsts(&[0, 1, 0, 0, 4, 4, 4], &columns, &origins);
        let sample = Sample::of_columns(vec![0, 1], columns, origins, firsts);
        assert_eq!(sample.firsts, [0, 1, 0, 3, 4, 5, 4]);
        let curve = |feature| Curve { feature, values: vec![2.0], beyond: [4.0; 2], ..Curve::default() };
        let grid = |features| Grid { features, nodes: [vec![], vec![]], values: vec![2.0] };
        let mut functions = Functions {
            curves: [0, 1, 6].map(curve).to_vec(),
            grids: [[0, 1], [0, 2], [1, 3], [2, 4]].map(grid).to_vec(),
        };
        sample.count_once(&mut functions);
        assert_eq!(functions.curves.iter().map(|curve| curve.values[0]).collect::<Vec<_>>(), [1.0, 2.0, 1.0]);
        assert_eq!(functions.curves[0].beyond, [2.0; 2]);
        let grids: Vec<f32> = functions.grids.iter().map(|grid| grid.values[0]).collect();
        assert_eq!(grids, [1.0, 2.0, 2.0, 0.5]);
    }
}
