//! The exact engine: trees by their forward pass, curves and grids by look-up, added up in double precision.

use std::ops::Range;

use super::additive::{Additive, Summand};
use super::lookup::Lookup;
use super::pieces::{Pieces, Wanted};
use super::{Detector, Workspace, add};
use crate::encode::{Found, Matrix};
use crate::function::Functions;
use crate::kernel::{Isa, LANES, Lane};
use crate::metrics::mean_and_deviation;
use crate::model::{BLOCK_LANES, BLOCK_ROWS, Block, Forward, Model, Wiring};
use crate::parallel::{self, Spaces};

/// A score as the exact engine computes it. Borrows everything, so that a component of a score, or the same score with other
/// trees, is evaluated without a detector of its own.
///
/// It is the sum of pieces: groups of trees of the same features, then curves, then grids.
#[derive(Clone, Copy)]
pub(crate) struct Exact<'a> {
    pub model: &'a Model<f32>,
    pub wiring: &'a Wiring<f32>,
    pub functions: &'a Functions,
    pub lookup: &'a Lookup,
    pub tree_factor: f32,
    pub shift: f32,
    pub held: bool,
}

impl Pieces for Exact<'_> {
    fn pieces(&self) -> usize {
        self.wiring.groups().len() + self.functions.curves.len() + self.functions.grids.len()
    }

    fn piece_features(&self, piece: usize) -> [u32; 2] {
        let (groups, functions) = (self.wiring.groups(), self.functions);
        if let Some(group) = groups.get(piece) {
            let wiring = &self.wiring.trees[group[0] as usize];
            return [wiring.features[0][0], wiring.features[1][0]];
        }
        let function = piece - groups.len();
        match functions.curves.get(function) {
            Some(curve) => [curve.feature; 2],
            None => functions.grids[function - functions.curves.len()].features,
        }
    }

    fn constant(&self) -> f64 {
        -f64::from(self.shift)
    }

    fn begin(&self, work: &mut Workspace) {
        self.lookup.find_places(work.block.x(), work.block.lanes(), &mut work.places);
        if self.held {
            work.block.clamp();
        }
    }

    fn begin_at(&self, wanted: Wanted, points: Range<usize>, work: &mut Workspace) {
        let Workspace { block, places, .. } = work;
        let value = |row: usize, k: usize| (wanted.value)(points.start + row, k);
        block.fill_features(points.len(), wanted.features, value);
        let groups = self.wiring.groups().len();
        for function in wanted.pieces.iter().filter_map(|piece| piece.checked_sub(groups)) {
            self.lookup.find_places_of(function, block.x(), block.lanes(), places);
        }
        if self.held {
            block.clamp_features(wanted.features);
        }
    }

    fn piece<'w>(&self, piece: usize, work: &'w mut Workspace) -> &'w [Lane<f64>] {
        let (groups, lanes) = (self.wiring.groups(), work.block.lanes());
        if let Some(group) = groups.get(piece) {
            let forward = Forward { model: self.model, wiring: self.wiring };
            forward.sum(group, &mut work.block, &mut work.scratch, &mut work.singles[..lanes]);
            return work.times(f64::from(self.tree_factor) / self.model.shape.all_trees() as f64);
        }
        let Workspace { block, places, added, .. } = work;
        let added = &mut added[..lanes];
        self.lookup.fill((self.functions, piece - groups.len()), block.x(), places, added);
        added
    }
}

impl Exact<'_> {
    /// Scores of rows of `width` features, block by block; `fill` gives each block its rows.
    pub fn score_blocks(
        &self,
        width: usize,
        scores: &mut [f32],
        fill: impl Fn(&mut Block<f32>, Range<usize>) + Sync,
    ) {
        // Trees that do not count are not evaluated.
        let first = if self.tree_factor == 0.0 { self.wiring.groups().len() } else { 0 };
        let score = |index: usize, scores: &mut [f32], (work, total): &mut (Workspace, Vec<Lane<f64>>)| {
            fill(&mut work.block, index * BLOCK_ROWS..index * BLOCK_ROWS + scores.len());
            self.begin(work);
            let total = &mut total[..work.block.lanes()];
            total.fill(Lane([0.0 - f64::from(self.shift); LANES]));
            for piece in first..self.pieces() {
                add(total, self.piece(piece, work));
            }
            for (score, i) in scores.iter_mut().zip(0..) {
                *score = total[i / LANES].0[i % LANES] as f32;
            }
        };
        let spaces = Spaces::default();
        parallel::for_each(scores.chunks_mut(BLOCK_ROWS), &|index, scores| {
            let new = || (Workspace::new(width), vec![Lane::default(); BLOCK_LANES]);
            spaces.with(new, |space| score(index, scores, space));
        });
    }

    fn score_encoded(&self, rows: &Matrix, scores: &mut [f32]) {
        let width = rows.width;
        self.score_blocks(width, scores, |block, rows_of_block| {
            let values = &rows.values[rows_of_block.start * width..rows_of_block.end * width];
            block.fill_rows(None, values.chunks_exact(width));
        });
    }
}

impl Detector {
    /// Its own score, exactly.
    pub(super) fn exact(&self) -> Exact<'_> {
        Exact {
            model: &self.model,
            wiring: &self.wiring,
            functions: &self.functions,
            lookup: &self.lookup,
            tree_factor: self.additive.tree_factor(),
            shift: self.additive.shift,
            held: self.held,
        }
    }

    /// Exact scores of rows whose columns were found, whichever engine the detector uses; cells that do not fit count as the median.
    pub(crate) fn score_exactly(&self, found: &Found, scores: &mut [f32]) {
        let scalers = self.scalers();
        let fill = |block: &mut Block<f32>, rows| self.fill_block(block, &found.columns, scalers, rows);
        self.exact().score_blocks(self.encoder.features().len(), scores, fill);
    }

    /// Exact scores of encoded rows, one for each.
    pub(crate) fn score_encoded(&self, rows: &Matrix, scores: &mut [f32]) {
        self.exact().score_encoded(rows, scores);
    }

    /// Another score, such as one part of this one, of encoded rows. Its trees are those of this detector.
    pub(crate) fn score_component(&self, component: &Additive, rows: &Matrix) -> Vec<f32> {
        let functions = component.functions();
        let (lookup, tree_factor) = (Lookup::new(&functions), component.tree_factor());
        let exact = Exact {
            functions: &functions,
            lookup: &lookup,
            tree_factor,
            shift: component.shift,
            ..self.exact()
        };
        let mut scores = vec![0.0; rows.rows()];
        exact.score_encoded(rows, &mut scores);
        scores
    }

    /// The same detector with the standard deviation of each part over these rows filled in.
    pub(crate) fn measuring_parts(mut self, rows: &Matrix) -> Self {
        for part in 0..self.additive.parts.len() {
            let alone = Summand { factor: 1.0, ..self.additive.parts[part].clone() };
            let scores = self.score_component(&Additive { parts: vec![alone], shift: 0.0 }, rows);
            self.additive.parts[part].deviation = mean_and_deviation(&scores).1 as f32;
        }
        self
    }

    /// The share of each part in the score, by name: the standard deviation of the part over the training rows, relative to
    /// the sum over all parts. Of a tuned model, over the rows it was tuned with. Empty for a model of an older version.
    ///
    /// ```
    /// use diad::{Params, table::Table};
    ///
    /// let table = Table::new(vec!["x".into()], vec![(0..40).map(|i| f64::from(i % 7)).collect()])?;
    /// let detector = Params::default().with_steps(10).trees(4).fit(&table)?;
    /// let total: f64 = detector.part_shares().iter().map(|(_, share)| share).sum();
    /// assert!((total - 1.0).abs() < 1e-9);
    /// # Ok::<(), diad::Error>(())
    /// ```
    pub fn part_shares(&self) -> Vec<(&str, f64)> {
        self.additive.shares()
    }

    /// This score of encoded rows with other trees.
    pub(crate) fn score_with_trees(&self, model: &Model<f32>, rows: &Matrix) -> Vec<f32> {
        let wiring = wired(model, self.params.final_temperature());
        let mut scores = vec![0.0; rows.rows()];
        Exact { model, wiring: &wiring, ..self.exact() }.score_encoded(rows, &mut scores);
        scores
    }
}

/// The wiring of trees that are no longer trained.
pub(super) fn wired(model: &Model<f32>, temperature: f64) -> Wiring<f32> {
    let mut wiring = Wiring::new(model, Isa::detect());
    wiring.keep_links = false;
    wiring.update(model, temperature as f32);
    wiring
}
