//! The labelled rows that a tuning learns from or is validated on.

use std::sync::Arc;

use super::{FunctionParams, Labelled, peers};

use crate::encode::Matrix;
use crate::parallel;
use crate::{Detector, Error, Result};

/// With fewer labelled normal rows than this, unlabelled rows stand in for normal ones.
const FEW_NORMALS: usize = 20;
/// Stand-ins for each anomaly, and at least.
const STAND_INS: [usize; 2] = [20, 200];

/// Rows from which the distribution of columns is estimated, at most.
const DISTRIBUTION_ROWS: usize = 4096;

/// Rows with labels and scores. Anomalies come first.
#[derive(Debug, Clone)]
pub struct Examples {
    /// The rows.
    pub matrix: Matrix,
    /// Whether each is an anomaly.
    pub labels: Vec<bool>,
    /// Their scores before tuning.
    pub scores: Vec<f32>,
    /// Values of each column in ascending order, from all rows, labelled or not.
    pub sorted: Arc<Vec<Vec<f32>>>,
    /// How many of the normal rows are unlabelled rows that stand in.
    pub stand_ins: usize,
    /// How much each row counts among those of its label.
    emphasis: Vec<f64>,
}

impl Examples {
    /// All anomalies, and normal rows.
    pub fn new(detector: &Detector, labelled: &Labelled) -> Result<Self> {
        let mut rows = labelled.rows(Some(true));
        let anomalies = rows.len();
        if anomalies == 0 {
            return Err(Error::NoAnomaly);
        }
        let normals = labelled.rows(Some(false));
        let mut stand_ins = Vec::new();
        if normals.len() < FEW_NORMALS {
            stand_ins = labelled.rows(None);
            stand_ins.truncate((STAND_INS[0] * anomalies).max(STAND_INS[1]));
        }
        if normals.is_empty() && stand_ins.is_empty() {
            return Err(Error::NothingNormal);
        }
        let peers = peers::ordinary(detector, labelled, &rows);
        rows.extend(&normals);
        rows.extend(&stand_ins);
        let mut emphasis = vec![1.0; rows.len()];
        let count = (rows.len() - anomalies).max(1) as f64;
        // Together they weigh about as much as the anomaly that they are the peers of.
        emphasis.extend(peers.iter().map(|peer| 2.0 * count / anomalies as f64 * peer.share));
        rows.extend(peers.iter().map(|peer| peer.row));
        let labels = (0..rows.len()).map(|row| row < anomalies).collect();
        let matrix = pick(labelled.matrix(), &rows);
        let scores = super::scored(detector, &matrix);
        let sorted = Arc::new(sorted(labelled.matrix(), detector.encoder().columns().len()));
        let stand_ins = stand_ins.len() + peers.len();
        Ok(Self { matrix, labels, scores, sorted, stand_ins, emphasis })
    }

    /// How many anomalies there are.
    pub fn anomalies(&self) -> usize {
        self.labels.partition_point(|&label| label)
    }

    /// Some of the rows.
    pub fn part(&self, rows: &[usize]) -> Self {
        Self {
            matrix: pick(&self.matrix, rows),
            labels: rows.iter().map(|&row| self.labels[row]).collect(),
            scores: rows.iter().map(|&row| self.scores[row]).collect(),
            sorted: Arc::clone(&self.sorted),
            stand_ins: 0,
            emphasis: rows.iter().map(|&row| self.emphasis[row]).collect(),
        }
    }

    /// At most `max_rows` rows: anomalies up to half of them, normal rows for the rest.
    pub fn at_most(self, params: &FunctionParams) -> Self {
        let anomalies = self.anomalies();
        let normals = self.labels.len() - anomalies;
        if self.labels.len() <= params.max_rows {
            return self;
        }
        let kept = anomalies.min(params.max_rows - normals.min(params.max_rows / 2));
        let normals = normals.min(params.max_rows - kept);
        let rows: Vec<usize> = (0..kept).chain(anomalies..anomalies + normals).collect();
        self.part(&rows)
    }

    /// The targets of a regression: 1 for an anomaly, 0 for a normal row.
    pub fn targets(&self) -> Vec<f64> {
        self.labels.iter().map(|&label| f64::from(u8::from(label))).collect()
    }

    /// The weights of rows in a regression: 1 for an anomaly, and both classes weigh the same in total. Rows that are not
    /// `known` have weight 0.
    pub fn weights(&self, known: impl Fn(usize) -> bool) -> Vec<f64> {
        let mut counts = [0.0; 2];
        (0..self.labels.len())
            .filter(|&row| known(row))
            .for_each(|row| counts[usize::from(self.labels[row])] += self.emphasis[row]);
        let weight = |row: usize| match (known(row), self.labels[row]) {
            (false, _) => 0.0,
            (true, true) => 1.0,
            (true, false) => self.emphasis[row] * counts[1] / counts[0],
        };
        (0..self.labels.len()).map(weight).collect()
    }

    /// How many folds the rows allow, at most so many; `None` without two rows of each label.
    pub fn enough_folds(&self, most: usize) -> Option<usize> {
        let anomalies = self.anomalies();
        Some(most.min(anomalies).min(self.labels.len() - anomalies)).filter(|&folds| folds > 1)
    }

    /// The fold of a row. Folds are stratified: both classes are dealt out in turn.
    pub fn fold(&self, row: usize, folds: usize) -> usize {
        // Anomalies come first.
        let anomalies = self.anomalies();
        if row < anomalies { row % folds } else { (row - anomalies) % folds }
    }

    /// Out-of-fold predictions: each row's comes from what was learned without its fold. `learn` is told which rows to
    /// learn from and predicts all rows.
    pub fn out_of_fold(
        &self,
        folds: usize,
        learn: impl Fn(&dyn Fn(usize) -> bool) -> Vec<f64> + Sync,
    ) -> Vec<f64> {
        let without = |held: usize| learn(&|row| self.fold(row, folds) != held);
        let values: Vec<Vec<f64>> = parallel::map_indices(folds, &without);
        (0..self.labels.len()).map(|row| values[self.fold(row, folds)][row]).collect()
    }

    /// For each fold, the rows to learn from and the rows held out.
    pub fn folds(&self, folds: usize) -> Vec<(Self, Self)> {
        let split = |held: usize| {
            let (out, kept): (Vec<usize>, Vec<usize>) =
                (0..self.labels.len()).partition(|&row| self.fold(row, folds) == held);
            (self.part(&kept), self.part(&out))
        };
        (0..folds).map(split).collect()
    }
}

/// The values of each column, of the first rows, in ascending order.
fn sorted(matrix: &Matrix, columns: usize) -> Vec<Vec<f32>> {
    let rows = matrix.rows().min(DISTRIBUTION_ROWS);
    let column = |column: usize| {
        let mut values: Vec<f32> = (0..rows).map(|row| matrix.row(row)[column]).collect();
        values.sort_unstable_by(f32::total_cmp);
        values
    };
    parallel::map_indices(columns, &column)
}

fn pick(matrix: &Matrix, rows: &[usize]) -> Matrix {
    let values = rows.iter().flat_map(|&row| matrix.row(row)).copied().collect();
    Matrix { width: matrix.width, values }
}
