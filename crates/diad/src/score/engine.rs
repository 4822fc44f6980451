//! Which of the two engines a detector uses, and its compiled score.

use std::borrow::Cow;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

use super::Detector;
use super::additive::{SURPRISE, Summand};
use super::compiled::{Compiled, Cursor, LARGEST_SHARE, Sources, compile};
use super::exact::Exact;
use super::pieces::Pieces;
use super::purify::{self, Moved};
use crate::encode::Scaler;
use crate::kernel::Terms;
use crate::model::BLOCK_ROWS;
use crate::parallel::{self, Spaces};

/// Tuned scores are several times as spread out as those they come from, and so would be what their tables are off: as many times
/// as much for the many rows whose score is near 0. The tables of a wider score are made as for one of this standard deviation.
const TUNED_DEVIATION: f64 = 1.0;

/// What computes a score.
#[derive(Clone, Copy)]
pub(crate) enum Engine<'a> {
    /// The trees by their forward pass, curves and grids by look-up.
    Exact(Exact<'a>),
    /// Tables made of all of them.
    Tables(&'a Compiled),
}

impl<'a> Deref for Engine<'a> {
    type Target = dyn Pieces + 'a;

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Exact(exact) => exact,
            Self::Tables(compiled) => *compiled,
        }
    }
}

impl Detector {
    /// Finds out whether the finished score can be compiled, and how well.
    pub(crate) fn certified(self) -> Self {
        let compiled = self.compile(None);
        let bound = compiled.as_ref().map(Compiled::bound);
        Self { bound, compiled: OnceLock::from(compiled), ..self }
    }

    /// Reuses what an earlier [`Detector::certified`] found.
    pub(crate) fn bounded(self, bound: Option<f64>) -> Self {
        Self { bound, compiled: OnceLock::new(), ..self }
    }

    /// The tables; of a model from a file, those that have the bound it was written with.
    fn compile(&self, known: Option<f64>) -> Option<Compiled> {
        let Self { encoder, model, wiring, additive, functions, profile, held, .. } = self;
        let (tree_factor, shift) = (additive.tree_factor(), additive.shift);
        if model.shape.layers > 1 {
            return None;
        }
        let nodes = purify::nodes(encoder, profile);
        let moved = self.moved(&nodes);
        let (moved, nodes) = (&moved[..], &nodes[..]);
        let held = *held;
        let sources =
            Sources { encoder, model, wiring, tree_factor, shift, functions, profile, moved, nodes, held };
        let deviation = profile.scores.deviation();
        let is_wide = self.origin.is_some() && deviation > TUNED_DEVIATION;
        let may_be_close = known.is_none_or(|bound| bound <= LARGEST_SHARE * TUNED_DEVIATION);
        let close = (is_wide && may_be_close).then(|| compile(sources, TUNED_DEVIATION)).flatten();
        close.or_else(|| compile(sources, deviation))
    }

    /// What is moved from pairs of columns to either of them, given at the nodes of [`purify::nodes`].
    pub(crate) fn moved(&self, nodes: &[Vec<f32>]) -> Vec<Moved> {
        let aside: Vec<&Summand> = self.additive.parts.iter().filter(|part| part.name == SURPRISE).collect();
        purify::moved(self.exact(), &aside, (&self.encoder, &self.profile), nodes)
    }

    /// The engine that is used: tables, unless exact scores are asked for or tables cannot be close enough to them.
    pub(crate) fn engine(&self) -> Engine<'_> {
        let wanted = !self.exact && self.bound.is_some();
        let compiled =
            if wanted { self.compiled.get_or_init(|| self.compile(self.bound)).as_ref() } else { None };
        compiled.map_or_else(|| Engine::Exact(self.exact()), Engine::Tables)
    }

    /// The same detector, scoring and explaining with the trees themselves instead of tables made from them. About five
    /// times slower; scores differ by no more than [`Detector::bound`] and rounding.
    #[must_use]
    pub fn exactly(self) -> Self {
        Self { exact: true, ..self }
    }

    /// An upper bound of the difference between any row's score and the exact one, apart from single-precision rounding.
    /// `None` for a model whose scores are always exact: one with several layers of trees, one that tables of a
    /// reasonable size cannot approximate closely enough, or one of an older version.
    pub fn bound(&self) -> Option<f64> {
        self.bound
    }

    /// The standard deviation of the scores of the training rows, estimated from what the model remembers of them.
    pub fn score_deviation(&self) -> f64 {
        self.profile.scores.deviation()
    }

    /// Compiled scores of the rows of a table, whose columns were found by [`Encoder::find`].
    pub(super) fn look_up(
        &self,
        compiled: &Compiled,
        (columns, scalers): (&[Cow<'_, [f64]>], &[Scaler]),
        scores: &mut [f32],
    ) {
        let cursors = Spaces::default();
        parallel::for_each(scores.chunks_mut(BLOCK_ROWS), &|index, scores| {
            let rows = index * BLOCK_ROWS..index * BLOCK_ROWS + scores.len();
            cursors.with(Cursor::default, |cursor| {
                self.find_rows(compiled, (columns, scalers), rows, cursor);
                compiled.scores(self.wiring.kernels(), cursor, scores);
            });
        });
    }

    /// As [`Detector::look_up`], and the contribution of each term to the score of each row, row after row.
    pub(crate) fn look_up_parts(
        &self,
        (compiled, terms): (&Compiled, &Terms),
        (columns, scalers): (&[Cow<'_, [f64]>], &[Scaler]),
        scores: &mut [f32],
        values: &mut [f64],
    ) {
        let width = values.len() / scores.len().max(1);
        let blocks = scores.chunks_mut(BLOCK_ROWS).zip(values.chunks_mut(BLOCK_ROWS * width.max(1)));
        let cursors = Spaces::default();
        parallel::for_each(blocks, &|index, (scores, values)| {
            let rows = index * BLOCK_ROWS..index * BLOCK_ROWS + scores.len();
            cursors.with(Cursor::default, |cursor| {
                self.find_rows(compiled, (columns, scalers), rows, cursor);
                compiled.parts((self.wiring.kernels(), terms), cursor, scores, values);
            });
        });
    }

    /// Finds the cells of some rows on all axes.
    fn find_rows(
        &self,
        compiled: &Compiled,
        (columns, scalers): (&[Cow<'_, [f64]>], &[Scaler]),
        rows: Range<usize>,
        cursor: &mut Cursor,
    ) {
        let (features, mut x) = (self.encoder.features(), [0.0; BLOCK_ROWS]);
        for (axis, &feature) in compiled.features().iter().enumerate() {
            let column = &columns[features[feature as usize].column as usize][rows.clone()];
            scalers[feature as usize].scale_all(column, &mut x);
            compiled.find(axis, &x[..rows.len()], cursor);
        }
    }
}
