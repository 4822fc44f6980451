//! What each term contributes to the scores of rows.

use std::borrow::Cow;
use std::ops::Range;

use super::Explainer;
use crate::Result;
use crate::encode::{Found, Matrix, Oddities};
use crate::function::{interpolate, locate};
use crate::kernel::{LANES, Lane};
use crate::model::{BLOCK_LANES, BLOCK_ROWS, Block};
use crate::parallel::{self, Spaces};
use crate::score::{Engine, Workspace, add};
use crate::table::{Source, Table};

/// Scores of rows and what each term contributes to them.
#[derive(Debug, Clone, Default)]
pub struct Contributions {
    terms: usize,
    scores: Vec<f32>,
    values: Vec<f64>,
    pub(super) oddities: Oddities,
}

impl Contributions {
    /// The scores, the same as from [`crate::Detector::score`].
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// The cells of the rows that do not fit their columns.
    pub fn oddities(&self) -> &Oddities {
        &self.oddities
    }

    /// What each term contributes to a row's score, in the order of [`Explainer::terms`].
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.terms..(row + 1) * self.terms]
    }

    /// The contributions of all rows, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The terms of a row with their contributions, the largest ones first, whatever their sign.
    pub fn sorted(&self, row: usize) -> Vec<(usize, f64)> {
        let mut sorted: Vec<(usize, f64)> = self.row(row).iter().copied().enumerate().collect();
        sorted.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        sorted
    }
}

/// Working space of one thread.
struct Space {
    work: Workspace,
    score: Vec<Lane<f64>>,
    /// Term after term.
    totals: Vec<Lane<f64>>,
    /// For each column and row, the node below its value and the share of the next one.
    places: Vec<(usize, f64)>,
}

impl Explainer<'_> {
    /// The contributions of all terms to the scores of the rows of `table`: for each row, the intercept and its
    /// contributions add up to its score.
    ///
    /// # Errors
    /// As [`crate::Detector::score_into`].
    pub fn contributions(&self, table: &Table) -> Result<Contributions> {
        let mut contributions = Contributions::default();
        self.contributions_into(table, &mut contributions)?;
        Ok(contributions)
    }

    /// As [`Explainer::contributions`], in the room of earlier ones, which are lost. That of as many rows is used again.
    ///
    /// # Errors
    /// As [`Explainer::contributions`].
    pub fn contributions_into(&self, table: &Table, contributions: &mut Contributions) -> Result<()> {
        let found = self.detector.find(table)?;
        self.contributions_of(&found, contributions);
        contributions.oddities = self.noted(found, table);
        Ok(())
    }

    /// The cells of a table that do not fit their columns.
    pub(super) fn noted(&self, found: Found, table: &Table) -> Oddities {
        let mut oddities = Oddities::default();
        oddities.note(self.detector.encoder(), table, found);
        oddities
    }

    /// The contributions to the scores of rows whose columns were found.
    pub(super) fn contributions_of(&self, found: &Found, contributions: &mut Contributions) {
        let columns = &found.columns;
        let (terms, rows) = (self.terms.len(), columns.first().map_or(0, |column| column.len()));
        if contributions.scores.len() != rows || contributions.values.len() != rows * terms {
            (contributions.scores, contributions.values) = (vec![0.0; rows], vec![0.0; rows * terms]);
        }
        contributions.terms = terms;
        let Contributions { scores, values, .. } = contributions;
        match (self.detector.engine(), &self.compiled) {
            (Engine::Tables(compiled), Some(apart)) => {
                self.detector.look_up_parts((compiled, apart), (columns, self.scalers), scores, values);
            }
            _ => self.take_apart(columns, scores, values),
        }
        for odd in &found.odd {
            // What counts in a score is looked at by a term.
            if let Some(term) = self.find(&[odd.column]) {
                values[odd.row * terms + term] += self.detector.penalty(odd.column);
                scores[odd.row] += self.detector.penalty(odd.column) as f32;
            }
        }
    }

    /// The contributions piece by piece: those of the trees themselves, and the plain way for all.
    pub(super) fn take_apart(&self, columns: &[Cow<'_, [f64]>], scores: &mut [f32], values: &mut [f64]) {
        let fill =
            |block: &mut Block<f32>, rows| self.detector.fill_block(block, columns, self.scalers, rows);
        self.take_blocks_apart(fill, scores, values);
    }

    /// As [`Explainer::contributions`], of encoded rows.
    pub(crate) fn contributions_encoded(&self, rows: &Matrix) -> Contributions {
        let (terms, width) = (self.terms.len(), rows.width);
        let mut scores = vec![0.0; rows.rows()];
        let mut values = vec![0.0; rows.rows() * terms];
        let fill = |block: &mut Block<f32>, part: Range<usize>| {
            block.fill_rows(None, rows.values[part.start * width..part.end * width].chunks_exact(width));
        };
        self.take_blocks_apart(fill, &mut scores, &mut values);
        Contributions { terms, scores, values, oddities: Oddities::default() }
    }

    /// The contributions to rows, of which `fill` gives each block its own.
    fn take_blocks_apart(
        &self,
        fill: impl Fn(&mut Block<f32>, Range<usize>) + Sync,
        scores: &mut [f32],
        values: &mut [f64],
    ) {
        let terms = self.terms.len();
        let term_of = self.term_of_pieces();
        let space = || Space {
            work: Workspace::new(self.scalers.len()),
            score: vec![Lane::default(); BLOCK_LANES],
            totals: vec![Lane::default(); BLOCK_LANES * terms],
            places: vec![(0, 0.0); BLOCK_ROWS * self.nodes.len()],
        };
        let blocks = values.chunks_mut(BLOCK_ROWS * terms.max(1)).zip(scores.chunks_mut(BLOCK_ROWS));
        let spaces = Spaces::default();
        parallel::for_each(blocks, &|index, (values, scores)| {
            let rows = index * BLOCK_ROWS..index * BLOCK_ROWS + scores.len();
            spaces.with(space, |space| {
                fill(&mut space.work.block, rows);
                self.take_block_apart(&term_of, space, values, scores);
            });
        });
    }

    /// As [`Explainer::contributions`], of all rows of a source, read batch by batch.
    ///
    /// # Errors
    /// As [`Explainer::contributions`], or if the source cannot be read.
    pub fn contributions_all(&self, source: &dyn Source) -> Result<Contributions> {
        let mut all = Contributions { terms: self.terms.len(), ..Contributions::default() };
        let mut part = Contributions::default();
        let mut reader = source.open(&self.detector.selection())?;
        while let Some(batch) = reader.next_batch()? {
            self.contributions_into(&batch, &mut part)?;
            all.scores.extend_from_slice(&part.scores);
            all.values.extend_from_slice(&part.values);
            all.oddities.append(std::mem::take(&mut part.oddities));
        }
        Ok(all)
    }

    pub(super) fn term_of_pieces(&self) -> Vec<usize> {
        let mut term_of = vec![0; self.detector.engine().pieces()];
        for (term, given) in self.terms.iter().enumerate() {
            given.pieces.iter().for_each(|&piece| term_of[piece] = term);
        }
        term_of
    }

    /// The contributions to the rows of one block.
    fn take_block_apart(&self, term_of: &[usize], space: &mut Space, values: &mut [f64], scores: &mut [f32]) {
        let Space { work, score, totals, places } = space;
        let (lanes, terms, engine) = (work.block.lanes(), self.terms.len(), self.detector.engine());
        let score = &mut score[..lanes];
        score.fill(Lane([engine.constant(); LANES]));
        let totals = &mut totals[..lanes * terms];
        for (total, term) in totals.chunks_exact_mut(lanes).zip(&self.terms) {
            total.fill(Lane([-term.mean; LANES]));
        }
        engine.begin(work);
        // The same sum in the same order as for a score, and by terms beside it.
        for (piece, &term) in term_of.iter().enumerate() {
            let piece = engine.piece(piece, work);
            add(score, piece);
            add(&mut totals[term * lanes..(term + 1) * lanes], piece);
        }
        let rows = scores.len();
        for (column, places) in places.chunks_exact_mut(BLOCK_ROWS).enumerate() {
            // The first features are the columns, one after another.
            let x = work.block.x().get(column, lanes).iter().flat_map(|lane| &lane.0);
            for (place, &x) in places[..rows].iter_mut().zip(x) {
                *place = locate(f64::from(x), &self.nodes[column]);
            }
        }
        for (index, (total, term)) in totals.chunks_exact_mut(lanes).zip(&self.terms).enumerate() {
            let flat = total.iter_mut().flat_map(|lane| &mut lane.0);
            for (row, total) in flat.take(rows).enumerate() {
                for (&column, moved) in term.columns.iter().zip(&term.moved) {
                    *total -= interpolate(places[column * BLOCK_ROWS + row], moved);
                }
                values[row * terms + index] = *total;
            }
        }
        for (row, slot) in scores.iter_mut().enumerate() {
            *slot = score[row / LANES].0[row % LANES] as f32;
        }
    }
}
