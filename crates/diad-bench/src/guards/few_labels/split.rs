//! How a set is split into training, validation and test rows, and which rows have labels.

use anyhow::{Context, Result};
use diad::table::Table;

use crate::data::LABEL;

/// The rows of one split of a set, by number.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// Training rows.
    pub training: Vec<usize>,
    /// Validation rows.
    pub validation: Vec<usize>,
    /// Test rows.
    pub test: Vec<usize>,
}

impl Split {
    /// Split `number` of `rows` rows: 64, 16 and 20 of 100.
    pub fn new(rows: usize, number: u64) -> Self {
        let mut order: Vec<(u64, usize)> = (0..rows).map(|row| (key(row as u64, number), row)).collect();
        order.sort_unstable();
        let part = |from: usize, to: usize| order[from..to].iter().map(|&(_, row)| row).collect();
        let (first, second) = (rows * 64 / 100, rows * 80 / 100);
        Self { training: part(0, first), validation: part(first, second), test: part(second, rows) }
    }

    /// The rows that have labels: the first anomalies of the training part, at most so many, and normal rows in the
    /// proportion of the whole set.
    pub fn labelled(&self, labels: &[bool], anomalies: usize) -> Vec<usize> {
        let all = labels.iter().filter(|&&label| label).count();
        let normals = ((anomalies * (labels.len() - all)) as f64 / all.max(1) as f64 + 0.5).floor() as usize;
        let first = |wanted: bool, count: usize| {
            self.training.iter().copied().filter(move |&row| labels[row] == wanted).take(count)
        };
        first(true, anomalies).chain(first(false, normals)).collect()
    }
}

/// The place of a row in the order of a split.
fn key(row: u64, split: u64) -> u64 {
    let z = (row + 1)
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add((split + 1).wrapping_mul(0xD1B5_4A32_D192_ED03));
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Some rows of a table without its labels.
///
/// # Errors
/// If the table cannot be made.
pub fn features(table: &Table, rows: &[usize]) -> Result<Table> {
    let kept: Vec<usize> =
        (0..table.names().len()).filter(|&column| table.names()[column] != LABEL).collect();
    let names = kept.iter().map(|&column| table.names()[column].clone()).collect();
    let pick = |&column: &usize| rows.iter().map(|&row| table.column(column)[row]).collect();
    Ok(Table::new(names, kept.iter().map(pick).collect())?)
}

/// Some rows of a table with their labels, and further ones with none.
///
/// # Errors
/// If the table has no labels.
pub fn with_labels(table: &Table, rows: &[usize], unknown: &[usize]) -> Result<Table> {
    let labels = table.column_named(LABEL).context("there is no label column")?;
    let all: Vec<usize> = rows.iter().chain(unknown).copied().collect();
    let plain = features(table, &all)?;
    let mut names = plain.names().to_vec();
    names.push(LABEL.into());
    let mut columns: Vec<Vec<f64>> =
        (0..plain.names().len()).map(|column| plain.column(column).to_vec()).collect();
    columns.push(rows.iter().map(|&row| labels[row]).chain(unknown.iter().map(|_| f64::NAN)).collect());
    Ok(Table::new(names, columns)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_rule() {
        assert_eq!(
            [0, 1, 2].map(|row| key(row, 0)),
            [0x2d0f_28c7_e7e7_86b2, 0x7585_6f74_5165_f252, 0x8674_bbc2_7359_55af]
        );
        assert_eq!(
            [0, 1, 2].map(|row| key(row, 1)),
            [0x3c5b_6687_4b9e_8a84, 0x5a1e_518f_cfcf_0d64, 0x1a21_5e1f_9abe_2521]
        );
        let order = |number| {
            let split = Split::new(10, number);
            [split.training, split.validation, split.test].concat()
        };
        assert_eq!(order(0), [0, 3, 8, 1, 6, 2, 4, 5, 7, 9]);
        assert_eq!(order(1), [5, 2, 7, 4, 9, 0, 1, 6, 3, 8]);
    }

    #[test]
    fn parts_have_their_sizes_and_labels_their_proportion() {
        let split = Split::new(1456, 0);
        assert_eq!((split.training.len(), split.validation.len(), split.test.len()), (931, 233, 292));
        let labels: Vec<bool> = (0..1456).map(|row| row % 28 == 0).collect();
        let rows = split.labelled(&labels, 5);
        let anomalies = rows.iter().filter(|&&row| labels[row]).count();
        assert_eq!((anomalies, rows.len() - anomalies), (5, 135));
        assert!(rows.iter().all(|row| split.training.contains(row)));
    }

    #[test]
    fn rows_without_labels_have_none() {
        let columns = vec![vec![1.0, 2.0, 3.0], vec![0.0, 1.0, 1.0]];
        let table = Table::new(vec!["x".into(), LABEL.into()], columns).expect("a table");
        let made = with_labels(&table, &[2], &[0]).expect("a table");
        assert_eq!(made.column(0), [3.0, 1.0]);
        assert!(made.column(1)[0] == 1.0 && made.column(1)[1].is_nan());
    }
}
