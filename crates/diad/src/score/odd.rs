//! Rows with cells that do not fit their columns: scored as if the cell were typical, plus what such a cell counts.

use std::sync::OnceLock;

use super::{Detector, Workspace};
use crate::encode::{Found, Kind, Oddity, Scaler};
use crate::kernel::LANES;
use crate::score::additive::TAILS;
use crate::score::pieces::Pieces;

/// The number of categories of a column that are tried, the rarest first.
const CATEGORIES: usize = 64;
/// Quantiles at which the other columns are held while values are tried.
const SHARES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];
/// Values at either end of a column that are tried, beside those of its nodes.
const ENDS: usize = 8;

/// What a cell that does not fit adds to the score, for each column, worked out when it is first needed.
#[derive(Debug, Default)]
pub(super) struct Penalties(Vec<OnceLock<f64>>);

impl Penalties {
    pub(super) fn new(columns: usize) -> Self {
        Self((0..columns).map(|_| OnceLock::new()).collect())
    }
}

impl Detector {
    /// The scales of the features. A number that does not fit counts as the median.
    pub(crate) fn scalers(&self) -> &[Scaler] {
        self.scalers.get_or_init(|| self.make_scalers())
    }

    fn make_scalers(&self) -> Vec<Scaler> {
        let (scalers, columns) = (self.encoder.scalers(), self.encoder.columns());
        let features = self.encoder.features().iter().zip(&scalers);
        let scaler = |(feature, scaler): (&crate::encode::Feature, &Scaler)| {
            let column = feature.column as usize;
            match columns[column].gaps {
                Some(_) => scaler.clone(),
                None => scaler.clone().standing_in(scaler.scale(self.typical(&scalers[column], column))),
            }
        };
        features.map(scaler).collect()
    }

    /// The value of a column that stands for all: the median, of a time its part of the median time, or the most frequent category.
    fn typical(&self, scaler: &Scaler, column: usize) -> f64 {
        self.encoder.columns()[column].typical.unwrap_or_else(|| self.at_share(scaler, column, 0.5))
    }

    /// The value that a share of the rows does not exceed; of categories the most frequent.
    fn at_share(&self, scaler: &Scaler, column: usize, share: f64) -> f64 {
        let given = &self.encoder.columns()[column];
        match given.kind {
            Kind::Category { .. } => 0.0,
            _ => {
                let middle = self.profile.columns.get(column).map_or(0.0, |spread| spread.quantile(share));
                scaler.original(middle).clamp(given.min, given.max)
            }
        }
    }

    /// Adds to the scores of rows what cells that do not fit count.
    pub(crate) fn add_odd(&self, found: &Found, scores: &mut [f32]) {
        for odd in &found.odd {
            scores[odd.row] += self.penalty(odd.column) as f32;
        }
    }

    /// What a cell that does not fit its column adds to a score in which the median stands for it: the most that values of the
    /// column add to each piece of the score, wherever the other columns are. So it is no less than what the rarest of them
    /// adds, nor less than any value can add in the tails.
    pub(crate) fn penalty(&self, column: usize) -> f64 {
        *self.penalties.0[column].get_or_init(|| self.find_penalty(column))
    }

    /// One block of rows, on this thread: others may be waiting for it.
    fn find_penalty(&self, column: usize) -> f64 {
        let (exact, features, scalers) = (self.exact(), self.encoder.features(), self.scalers());
        let looks = |piece: usize| {
            let pair = exact.piece_features(piece);
            pair.iter().any(|&feature| features[feature as usize].column as usize == column)
        };
        let mut tried = self.tried(&scalers[column], column);
        tried.push(Oddity::Unreadable.mark());
        let odd = tried.len() - 1;
        let mut work = Workspace::new(features.len());
        let pieces: Vec<usize> = (0..exact.pieces()).filter(|&piece| looks(piece)).collect();
        if pieces.is_empty() {
            return 0.0;
        }
        let mut most = vec![0.0; pieces.len()];
        for share in SHARES {
            let filled = features.iter().zip(scalers).map(|(feature, scaler)| {
                let of = feature.column as usize;
                let other = scaler.scale(self.at_share(&scalers[of], of, share));
                tried.iter().map(move |&value| if of == column { scaler.scale(value) } else { other })
            });
            work.block.fill_columns(tried.len(), filled);
            exact.begin(&mut work);
            for (most, &piece) in most.iter_mut().zip(&pieces) {
                let values = exact.piece(piece, &mut work);
                let value = |row: usize| values[row / LANES].0[row % LANES];
                *most = (0..odd).map(|row| value(row) - value(odd)).fold(*most, f64::max);
            }
        }
        most.iter().sum::<f64>().max(self.unseen())
    }

    /// Values of a column, the rarest among them.
    fn tried(&self, scaler: &Scaler, column: usize) -> Vec<f64> {
        let given = &self.encoder.columns()[column];
        let positions = given.positions();
        if positions > 0 {
            return (positions.saturating_sub(CATEGORIES)..=positions)
                .map(|position| position as f64)
                .collect();
        }
        let Some(spread) = self.profile.columns.get(column) else { return vec![given.min, given.max] };
        let values = spread.values();
        let ends = values.iter().take(ENDS).chain(values.iter().rev().take(ENDS)).copied();
        let tried = spread.nodes().into_iter().chain(ends).chain([-1.0, 1.0]);
        tried.map(|value| scaler.original(value).clamp(given.min, given.max)).collect()
    }

    /// The most that the tails add within the training range: twice the surprise at a value that no row has, squared.
    fn unseen(&self) -> f64 {
        let tails = self.additive.parts.iter().find(|part| part.name == TAILS);
        let rows = self.training_rows.max(1) as f64;
        let surprise = 2.0 * libm::log(2.0 * rows);
        tails.map_or(0.0, |part| f64::from(part.factor) * surprise * surprise)
    }
}
