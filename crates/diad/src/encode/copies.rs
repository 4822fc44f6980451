//! Columns that say the same: a column that a table has twice counts once.

use super::{Encoder, Matrix};

/// What the digests of columns are multiplied by, row by row.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Which features have the same values. A fit finds it out once, for all that want to know.
#[derive(Debug)]
pub(crate) struct Copies {
    /// For each feature the first one that has the same value in every row.
    firsts: Vec<u32>,
}

impl Copies {
    /// Those among the features of a matrix.
    pub fn of(matrix: &Matrix) -> Self {
        let (width, rows) = (matrix.width, &matrix.values);
        let mut digests = vec![0u64; width];
        for row in rows.chunks_exact(width.max(1)) {
            for (digest, value) in digests.iter_mut().zip(row) {
                // Noughts of either sign are equal.
                *digest = (digest.rotate_left(23) ^ u64::from((value + 0.0).to_bits())).wrapping_mul(FACTOR);
            }
        }
        let mut order: Vec<u32> = (0..width as u32).collect();
        order.sort_by_key(|&feature| digests[feature as usize]);
        let mut firsts: Vec<u32> = (0..width as u32).collect();
        let values = |feature: u32| rows.iter().skip(feature as usize).step_by(width);
        for alike in order.chunk_by(|&a, &b| digests[a as usize] == digests[b as usize]) {
            for (place, &feature) in alike.iter().enumerate() {
                let same = |&&other: &&u32| values(other).eq(values(feature));
                firsts[feature as usize] = *alike[..place].iter().find(same).unwrap_or(&feature);
            }
        }
        Self { firsts }
    }

    /// For each feature the first one that has the same value in every row.
    pub fn firsts(&self) -> &[u32] {
        &self.firsts
    }
}

impl Encoder {
    /// The features that trees look at, without copies of earlier ones.
    pub(crate) fn distinct_tree_features(&self, copies: &Copies) -> Vec<u32> {
        self.alike(copies).iter().filter_map(|group| group.first().copied()).collect()
    }

    /// For each feature those that trees may look at in its place, itself among them.
    pub(crate) fn tree_copies(&self, copies: &Copies) -> Vec<Vec<u32>> {
        let mut alike: Vec<Vec<u32>> = (0..copies.firsts.len() as u32).map(|feature| vec![feature]).collect();
        for group in self.alike(copies) {
            if let Some(&first) = group.first() {
                alike[first as usize] = group;
            }
        }
        alike
    }

    /// The features that trees look at, those that say the same together, in the order of the first of each.
    fn alike(&self, copies: &Copies) -> Vec<Vec<u32>> {
        let mut groups = vec![Vec::new(); copies.firsts.len()];
        for feature in self.tree_features() {
            groups[copies.firsts[feature as usize] as usize].push(feature);
        }
        groups.retain(|group| !group.is_empty());
        groups.sort_by_key(|group| group[0]);
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_those_with_the_same_values() {
        let rows = [[1.0, 0.0, 1.0, -0.0, 1.0], [2.0, 0.5, 2.0, 0.5, 3.0], [1.0, 1.0, 1.0, 1.0, 1.0]];
        let matrix = Matrix { width: 5, values: rows.concat() };
        assert_eq!(Copies::of(&matrix).firsts(), [0, 1, 0, 1, 4]);
        assert_eq!(Copies::of(&Matrix { width: 2, values: Vec::new() }).firsts(), [0, 0]);
    }
}
