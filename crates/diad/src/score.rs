//! The trained, immutable detector: scores rows.
use std::ops::Range;
use std::path::Path;

use crate::encode::Encoder;
use crate::encode::Matrix;
use crate::kernel::{Isa, LANES, Lane};
use crate::model::{
    BLOCK_LANES, BLOCK_ROWS, Block, Combination, Forward, Lookup, Model, Places, Scratch, Wiring,
};
use crate::params::Params;
use crate::table::Table;
use crate::{Error, Result, persist};
use rayon::prelude::*;

/// A trained anomaly detector.
#[derive(Debug)]
pub struct Detector {
    encoder: Encoder,
    params: Params,
    model: Model<f32>,
    wiring: Wiring<f32>,
    training_rows: u64,
    combination: Combination,
    lookup: Lookup,
}

impl Detector {
    /// A detector of a trained model.
    pub(crate) fn new(params: Params, encoder: Encoder, model: Model<f32>, training_rows: u64) -> Self {
        let mut wiring = Wiring::new(&model, Isa::detect());
        wiring.keep_links = false;
        wiring.update(&model, params.min_temperature as f32);
        Self {
            encoder,
            params,
            model,
            wiring,
            training_rows,
            combination: Combination::default(),
            lookup: Lookup::default(),
        }
    }

    /// Adds tables to the score.
    pub(crate) fn with(self, combination: Combination) -> Self {
        Self { lookup: Lookup::new(&combination.tables), combination, ..self }
    }

    /// Scores of encoded rows, one for each.
    pub(crate) fn score_encoded(&self, rows: &Matrix, scores: &mut [f32]) {
        let width = rows.width;
        self.score_blocks(scores, |block, rows_of_block| {
            let values = &rows.values[rows_of_block.start * width..rows_of_block.end * width];
            block.fill_rows(values.chunks_exact(width));
        });
    }

    /// Scores block by block; `fill` gives each block its rows.
    fn score_blocks(&self, scores: &mut [f32], fill: impl Fn(&mut Block<f32>, Range<usize>) + Sync) {
        let forward = Forward { model: &self.model, wiring: &self.wiring };
        let width = self.encoder.features().len();
        let trees = self.model.shape.all_trees();
        let share = self.combination.tree_factor / trees.max(1) as f32;
        scores.par_chunks_mut(BLOCK_ROWS).enumerate().for_each_init(
            || {
                let total = vec![Lane::default(); BLOCK_LANES];
                (Block::new(width), Scratch::default(), total, Places::default())
            },
            |(block, scratch, total, places), (index, scores)| {
                fill(block, index * BLOCK_ROWS..index * BLOCK_ROWS + scores.len());
                let total = &mut total[..block.lanes()];
                total.fill(Lane::default());
                if trees > 0 {
                    forward.score(block, scratch, total);
                }
                for value in total.iter_mut().flat_map(|lane| &mut lane.0) {
                    *value = *value * share - self.combination.shift;
                }
                self.lookup.add_to(block.x(), total, places);
                for (score, i) in scores.iter_mut().zip(0..) {
                    *score = total[i / LANES].0[i % LANES];
                }
            },
        );
    }

    /// Settings, encoder, trees and how they are combined with tables.
    pub(crate) fn parts(&self) -> (&Params, &Encoder, &Model<f32>, &Combination) {
        (&self.params, &self.encoder, &self.model, &self.combination)
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

    /// Scores of the rows of `table`, higher = more anomalous, written into `scores`, one for each row. A row's
    /// score does not depend on the rows around it.
    ///
    /// # Errors
    /// If a feature is missing from the table, a value is missing or infinite, or `scores` is not as long as the
    /// table.
    pub fn score_into(&self, table: &Table, scores: &mut [f32]) -> Result<()> {
        if scores.len() != table.rows() {
            return Err(Error::Room { rows: table.rows(), room: scores.len() });
        }
        let columns = self.encoder.find(table)?;
        let scalers = self.encoder.scalers();
        self.score_blocks(scores, |block, rows| {
            let features = self.encoder.features().iter().zip(&scalers);
            block.fill_columns(
                rows.len(),
                features.map(|(feature, scaler)| {
                    let column = &columns[feature.column as usize][rows.clone()];
                    column.iter().map(|&value| scaler.scale(value))
                }),
            );
        });
        Ok(())
    }

    /// Scores of the rows of `table`, higher = more anomalous.
    ///
    /// # Errors
    /// As [`Detector::score_into`].
    pub fn score(&self, table: &Table) -> Result<Vec<f32>> {
        let mut scores = vec![0.0; table.rows()];
        self.score_into(table, &mut scores)?;
        Ok(scores)
    }

    /// Writes the model file: to a temporary file beside `path`, which then takes its place.
    ///
    /// # Errors
    /// If the file cannot be written; an earlier file of that name is then still there.
    pub fn save(&self, path: &Path) -> Result<()> {
        persist::save(self, path)
    }

    /// Reads a model file and checks everything in it.
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, is damaged, or was written by a newer version.
    pub fn load(path: &Path) -> Result<Self> {
        persist::load(path)
    }
}

#[cfg(test)]
mod tests;
