//! Columns to the scaled matrix the model sees, and back to words.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::table::{Source, Table};

/// Rows of scaled features, row after row: what the model is trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Features per row.
    pub width: usize,
    /// `rows × width` values.
    pub values: Vec<f32>,
}

impl Matrix {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        if self.width == 0 { 0 } else { self.values.len() / self.width }
    }
    /// One row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.width..(index + 1) * self.width]
    }
}

/// One feature's name and range in the training data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// The column's name.
    pub name: String,
    /// Smallest training value, scaled to -1.
    pub min: f64,
    /// Largest training value, scaled to 1.
    pub max: f64,
}

/// Knows which columns are features and how each is scaled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Encoder {
    features: Vec<Feature>,
}

impl Encoder {
    /// Gathers the ranges of all columns but the `ignored` ones in one streaming pass.
    pub fn fit(source: &dyn Source, ignored: &[&str]) -> Result<Self> {
        let _ = (source, ignored);
        todo!()
    }
    /// The features, in the order the model sees them.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }
    /// Encodes a whole source.
    pub fn encode(&self, source: &dyn Source) -> Result<Matrix> {
        let _ = source;
        todo!()
    }
    /// Encodes one batch, appending to `out`. Columns are found by name, whatever their order.
    pub fn encode_batch(&self, batch: &Table, out: &mut Vec<f32>) -> Result<()> {
        let _ = (batch, out);
        todo!()
    }
}
