//! Ordinary rows that share a category with a labelled anomaly, so that one label does not condemn the whole category.
//!
//! An anomaly in a rare category is about the only labelled row that has it: whatever learns from labels would take the category for the
//! reason. Unlabelled rows of the same category that are ordinary in all else say that it is not.

use std::collections::HashSet;

use super::Labelled;
use crate::Detector;
use crate::encode::Matrix;

/// A category that more than this share of the rows have needs no peers: other rows have it anyway.
const COMMON: f64 = 0.25;
/// Rows of a category that are looked at, and peers that are taken of them.
const LOOKED_AT: usize = 256;
const TAKEN: usize = 8;
/// With more anomalies than this, these speak for themselves.
const FEW: usize = 15;

/// An unlabelled row that counts as normal.
pub struct Peer {
    /// The row.
    pub row: usize,
    /// Its share of the weight of all peers of the same anomaly and category.
    pub share: f64,
}

/// The peers of some anomalies: for each of their rarer categories, the most ordinary unlabelled rows that have it.
pub fn ordinary(detector: &Detector, labelled: &Labelled, anomalies: &[usize]) -> Vec<Peer> {
    let matrix = labelled.matrix();
    let columns = detector.encoder().columns();
    let categories: Vec<usize> =
        (0..columns.len()).filter(|&column| columns[column].positions() > 0).collect();
    let unlabelled = labelled.rows(None);
    if anomalies.len() > FEW || unlabelled.is_empty() {
        return Vec::new();
    }
    let (mut seen, mut peers) = (HashSet::new(), Vec::new());
    for &anomaly in anomalies {
        for &column in &categories {
            let value = matrix.row(anomaly)[column];
            // Once is enough for a category that several anomalies have.
            if !seen.insert((column, value.to_bits())) {
                continue;
            }
            let alike: Vec<usize> =
                unlabelled.iter().copied().filter(|&row| matrix.row(row)[column] == value).collect();
            if alike.len() as f64 > COMMON * unlabelled.len() as f64 {
                continue;
            }
            let few = &alike[..alike.len().min(LOOKED_AT)];
            let values = few.iter().flat_map(|&row| matrix.row(row)).copied().collect();
            let scores = super::scored(detector, &Matrix { width: matrix.width, values });
            let mut order: Vec<usize> = (0..few.len()).collect();
            order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            // The more ordinary half, if there are few.
            let taken = few.len().div_ceil(2).min(TAKEN);
            peers.extend(
                order
                    .into_iter()
                    .take(taken)
                    .map(|place| Peer { row: few[place], share: 1.0 / taken as f64 }),
            );
        }
    }
    peers
}
