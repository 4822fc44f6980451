//! The trained, immutable detector: scores rows.
use std::path::Path;

use crate::Result;
use crate::encode::Encoder;
use crate::params::Params;
use crate::table::Table;

/// A trained anomaly detector.
#[derive(Debug, Clone)]
pub struct Detector {
    pub(crate) encoder: Encoder,
    pub(crate) params: Params,
}

impl Detector {
    /// How columns become features.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }
    /// The settings it was trained with.
    pub fn params(&self) -> &Params {
        &self.params
    }
    /// Rows it was trained on.
    pub fn training_rows(&self) -> u64 {
        todo!()
    }
    /// Scores of the rows of `table`, higher = more anomalous, written into `scores` (one per row).
    pub fn score_into(&self, table: &Table, scores: &mut [f32]) -> Result<()> {
        let _ = (table, scores);
        todo!()
    }
    /// Scores of the rows of `table`.
    pub fn score(&self, table: &Table) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; table.rows()];
        self.score_into(table, &mut scores)?;
        Ok(scores)
    }
    /// Writes the model file (to a temporary file first, then renamed).
    pub fn save(&self, path: &Path) -> Result<()> {
        let _ = path;
        todo!()
    }
    /// Reads and validates a model file.
    pub fn load(path: &Path) -> Result<Self> {
        let _ = path;
        todo!()
    }
}
