//! Columns that say the same.

use super::{Encoder, Matrix};

/// What the digests of columns are multiplied by, row by row.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

impl Matrix {
    /// For each feature the first one that has the same value in every row.
    pub(crate) fn firsts(&self) -> Vec<u32> {
        let mut digests = vec![0u64; self.width];
        for row in self.values.chunks_exact(self.width.max(1)) {
            for (digest, value) in digests.iter_mut().zip(row) {
                // Noughts of either sign are equal.
                *digest = (digest.rotate_left(23) ^ u64::from((value + 0.0).to_bits())).wrapping_mul(FACTOR);
            }
        }
        let mut order: Vec<u32> = (0..self.width as u32).collect();
        order.sort_by_key(|&feature| digests[feature as usize]);
        let mut firsts: Vec<u32> = (0..self.width as u32).collect();
        let values = |feature: u32| self.values.iter().skip(feature as usize).step_by(self.width);
        for alike in order.chunk_by(|&a, &b| digests[a as usize] == digests[b as usize]) {
            for (place, &feature) in alike.iter().enumerate() {
                let same = |&&other: &&u32| values(other).eq(values(feature));
                firsts[feature as usize] = *alike[..place].iter().find(same).unwrap_or(&feature);
            }
        }
        firsts
    }
}

impl Encoder {
    /// The features that trees look at, without those that say the same as an earlier one: however often a table has a column, it
    /// counts once.
    pub(crate) fn distinct_tree_features(&self, matrix: &Matrix) -> Vec<u32> {
        self.alike(matrix).iter().filter_map(|group| group.first().copied()).collect()
    }

    /// For each feature those that trees may look at in its place, itself among them.
    pub(crate) fn tree_copies(&self, matrix: &Matrix) -> Vec<Vec<u32>> {
        let mut copies: Vec<Vec<u32>> = (0..matrix.width as u32).map(|feature| vec![feature]).collect();
        for group in self.alike(matrix) {
            if let Some(&first) = group.first() {
                copies[first as usize] = group;
            }
        }
        copies
    }

    /// The features that trees look at, those that say the same together, in the order of the first of each.
    fn alike(&self, matrix: &Matrix) -> Vec<Vec<u32>> {
        let firsts = matrix.firsts();
        let mut groups = vec![Vec::new(); matrix.width];
        for feature in self.tree_features() {
            groups[firsts[feature as usize] as usize].push(feature);
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
        assert_eq!(matrix.firsts(), [0, 1, 0, 1, 4]);
        assert_eq!(Matrix { width: 2, values: Vec::new() }.firsts(), [0, 0]);
    }
}
