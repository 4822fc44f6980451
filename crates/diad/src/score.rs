//! The trained, immutable detector: scores rows.
use std::path::Path;

use crate::encode::Encoder;
use crate::encode::Matrix;
use crate::kernel::{Isa, LANES, Lane};
use crate::model::{BLOCK_LANES, BLOCK_ROWS, Block, Forward, Model, Scratch, Tables, Wiring};
use crate::params::Params;
use crate::table::Table;
use crate::{Result, persist};
use rayon::prelude::*;

/// A trained anomaly detector.
#[derive(Debug)]
pub struct Detector {
    encoder: Encoder,
    params: Params,
    model: Model<f32>,
    wiring: Wiring<f32>,
    training_rows: u64,
    tables: Tables,
    /// What the mean of the trees is multiplied by, and what is taken from the sum.
    tree_factor: f32,
    shift: f32,
}

impl Detector {
    /// A detector of a trained model.
    pub(crate) fn new(params: Params, encoder: Encoder, model: Model<f32>, training_rows: u64) -> Self {
        let mut wiring = Wiring::new(&model, Isa::detect());
        wiring.update(&model, params.min_temperature as f32);
        Self {
            encoder,
            params,
            model,
            wiring,
            training_rows,
            tables: Tables::default(),
            tree_factor: 1.0,
            shift: 0.0,
        }
    }

    /// Adds tables to the score.
    pub(crate) fn set_tables(&mut self, tables: Tables, tree_factor: f32, shift: f32) {
        (self.tables, self.tree_factor, self.shift) = (tables, tree_factor, shift);
    }
    /// Scores of encoded rows, higher = more anomalous, written into `scores`.
    pub fn score_encoded(&self, rows: &Matrix, scores: &mut [f32]) {
        let forward = Forward { model: &self.model, wiring: &self.wiring };
        let width = rows.width;
        let share = self.tree_factor / self.model.shape.all_trees() as f32;
        scores.par_chunks_mut(BLOCK_ROWS).zip(rows.values.par_chunks(BLOCK_ROWS * width)).for_each_init(
            || (Block::new(width), Scratch::default(), vec![Lane::default(); BLOCK_LANES]),
            |(block, scratch, total), (scores, values)| {
                block.fill_rows(values.chunks_exact(width));
                forward.score(block, scratch, total);
                let lanes = block.lanes();
                for value in total[..lanes].iter_mut().flat_map(|lane| &mut lane.0) {
                    *value = *value * share - self.shift;
                }
                self.tables.add_to(block.x(), &mut total[..lanes]);
                for (score, i) in scores.iter_mut().zip(0..) {
                    *score = total[i / LANES].0[i % LANES];
                }
            },
        );
    }
    /// Settings, encoder and model.
    pub(crate) fn parts(&self) -> (&Params, &Encoder, &Model<f32>) {
        (&self.params, &self.encoder, &self.model)
    }
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
        self.training_rows
    }
    /// Scores of the rows of `table`, higher = more anomalous, written into `scores` (one per row).
    pub fn score_into(&self, table: &Table, scores: &mut [f32]) -> Result<()> {
        let mut rows = Matrix { width: self.encoder.features().len(), values: Vec::new() };
        self.encoder.encode_batch(table, &mut rows.values)?;
        self.score_encoded(&rows, scores);
        Ok(())
    }
    /// Scores of the rows of `table`.
    pub fn score(&self, table: &Table) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; table.rows()];
        self.score_into(table, &mut scores)?;
        Ok(scores)
    }
    /// Writes the model file (to a temporary file first, then renamed).
    pub fn save(&self, path: &Path) -> Result<()> {
        persist::save(self, path)
    }
    /// Reads and validates a model file.
    pub fn load(path: &Path) -> Result<Self> {
        persist::load(path)
    }
}

#[cfg(test)]
mod tests;
