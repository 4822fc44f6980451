//! The compiled score of a detector.

use std::borrow::Cow;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::{Detector, Work};
use crate::compiled::{Compiled, Cursor, Sources, compile};
use crate::encode::Scaler;
use crate::model::BLOCK_ROWS;

impl Detector {
    /// Finds out whether the finished score can be compiled, and how well.
    pub(crate) fn certified(self) -> Self {
        let compiled = self.compile();
        let bound = compiled.as_ref().map(Compiled::bound);
        Self { bound, compiled: OnceLock::from(compiled), ..self }
    }

    /// Takes over what an earlier [`Detector::certified`] found.
    pub(crate) fn bounded(self, bound: Option<f64>) -> Self {
        Self { bound, compiled: OnceLock::new(), ..self }
    }

    fn compile(&self) -> Option<Compiled> {
        let Self { encoder, model, wiring, combination, profile, .. } = self;
        compile(Sources { encoder, model, wiring, combination, profile }, profile.scores.deviation())
    }

    /// The compiled score, where it is to be used.
    pub(crate) fn compiled(&self) -> Option<&Compiled> {
        if self.exact || self.bound.is_none() {
            return None;
        }
        self.compiled.get_or_init(|| self.compile()).as_ref()
    }

    /// The same detector, which scores and explains with the trees themselves from now on, not with tables made of them.
    /// Slower by a factor of five or so; scores differ by no more than [`Detector::bound`], and rounding.
    #[must_use]
    pub fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }

    /// The most by which a score can differ from the exact one, whatever the row, beside the rounding of single
    /// precision. Nothing for a model whose scores are always exact: one with several layers of trees, one that tables of a
    /// sensible size cannot come close enough to, or one of an older version.
    pub fn bound(&self) -> Option<f64> {
        self.bound
    }

    /// The standard deviation of the scores of the training rows, as far as the model remembers them.
    pub fn score_deviation(&self) -> f64 {
        self.profile.scores.deviation()
    }

    /// The scores of a block for which work has begun, as [`Detector::score_into`] gives them, if these are compiled.
    pub(crate) fn compiled_scores(&self, work: &mut Work, scores: &mut [f32]) {
        if let Some(compiled) = self.compiled() {
            compiled.scores(self.wiring.kernels(), &mut work.cursor, scores);
        }
    }

    /// Compiled scores of the rows of a table, whose columns were found by [`Encoder::find`].
    pub(super) fn look_up(
        &self,
        compiled: &Compiled,
        columns: &[Cow<'_, [f64]>],
        scalers: &[Scaler],
        scores: &mut [f32],
    ) {
        let features = self.encoder.features();
        scores.par_chunks_mut(BLOCK_ROWS).enumerate().for_each_init(
            Cursor::default,
            |cursor, (index, scores)| {
                let rows = index * BLOCK_ROWS..index * BLOCK_ROWS + scores.len();
                let mut x = [0.0; BLOCK_ROWS];
                for (axis, &feature) in compiled.features().iter().enumerate() {
                    let column = &columns[features[feature as usize].column as usize][rows.clone()];
                    scalers[feature as usize].scale_all(column, &mut x);
                    compiled.find(axis, &x[..scores.len()], cursor);
                }
                compiled.scores(self.wiring.kernels(), cursor, scores);
            },
        );
    }
}
