//! The trained, immutable detector: an additive score and the two engines that compute it, the exact one and tables.

pub(crate) mod additive;
pub(crate) mod compiled;
mod engine;
mod exact;
mod lookup;
mod odd;
pub(crate) mod pieces;
pub(crate) mod purify;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

use crate::Params;
use crate::alert::Alert;
use crate::calibration::{Calibration, MOST_SCORES};
use crate::encode::{Encoder, Found, Oddities, Scaler};
use crate::function::Functions;
use crate::kernel::Lane;
use crate::model::{BLOCK_LANES, Block, Model, Scratch, Wiring};
use crate::origin::Origin;
use crate::parallel::{self, Spaces};
use crate::profile::{Profile, Usual};
use crate::table::{Selection, Source, Table, Values};
use crate::{Error, Result};
use additive::Additive;
use compiled::{Compiled, Cursor};
pub(crate) use engine::Engine;
use lookup::{Lookup, Places};
use odd::Penalties;

/// Rows that a thread reads and scores at a time.
const SHARED_ROWS: usize = 2048;

/// A trained anomaly detector.
#[derive(Debug)]
pub struct Detector {
    encoder: Encoder,
    params: Params,
    model: Model<f32>,
    wiring: Wiring<f32>,
    training_rows: u64,
    additive: Additive,
    /// The functions of all parts, added up.
    functions: Functions,
    lookup: Lookup,
    /// Whether a value beyond the training range counts as its end, but for curves that go on beyond it. So it is but in
    /// models of the first version.
    held: bool,
    profile: Profile,
    origin: Option<Origin>,
    calibration: Option<Calibration>,
    /// A calibration told from the profile, where there is none.
    remembered: OnceLock<Calibration>,
    alert: Option<Alert>,
    /// What people have changed, as it is written.
    edits: Vec<String>,
    /// The largest difference between the compiled score and the exact one, where it is small enough to be used.
    bound: Option<f64>,
    /// The compiled score, made when it is first needed.
    compiled: OnceLock<Option<Compiled>>,
    exact: bool,
    /// Whether cells that do not fit their columns are errors.
    strict: bool,
    penalties: Penalties,
    /// How columns are scaled, found out when it is first needed.
    scalers: OnceLock<Vec<Scaler>>,
}

/// A block of rows on its way through the pieces of a score.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) block: Block<f32>,
    scratch: Scratch<f32>,
    places: Places,
    cursor: Cursor,
    /// A piece in single precision, before its factor.
    singles: Vec<Lane<f32>>,
    /// What a piece adds to the score.
    added: Vec<Lane<f64>>,
}

impl Workspace {
    pub(crate) fn new(features: usize) -> Self {
        Self {
            block: Block::new(features),
            scratch: Scratch::default(),
            places: Places::default(),
            cursor: Cursor::default(),
            singles: vec![Lane::default(); BLOCK_LANES],
            added: vec![Lane::default(); BLOCK_LANES],
        }
    }

    /// A piece that is there in single precision, times its factor.
    fn times(&mut self, factor: f64) -> &[Lane<f64>] {
        let added = &mut self.added[..self.block.lanes()];
        for (added, single) in added.iter_mut().zip(&self.singles) {
            added.0 = single.0.map(|value| f64::from(value) * factor);
        }
        added
    }
}

impl Detector {
    /// A detector of a trained model.
    pub(crate) fn new(params: Params, encoder: Encoder, model: Model<f32>, training_rows: u64) -> Self {
        let wiring = exact::wired(&model, params.final_temperature());
        let profile = Profile::unknown(encoder.columns().len());
        let penalties = Penalties::new(encoder.columns().len());
        Self {
            encoder,
            params,
            model,
            wiring,
            training_rows,
            additive: Additive::default(),
            functions: Functions::default(),
            lookup: Lookup::default(),
            held: true,
            profile,
            origin: None,
            calibration: None,
            remembered: OnceLock::new(),
            alert: None,
            edits: Vec::new(),
            bound: None,
            compiled: OnceLock::new(),
            exact: false,
            strict: false,
            penalties,
            scalers: OnceLock::new(),
        }
    }

    /// The same detector with another score.
    pub(crate) fn with(self, additive: Additive) -> Self {
        let functions = additive.functions();
        let penalties = Penalties::new(self.encoder.columns().len());
        Self { lookup: Lookup::new(&functions), functions, additive, penalties, ..self }
    }

    /// The same detector, whose trees follow values beyond the training range or not.
    pub(crate) fn holding(self, held: bool) -> Self {
        Self { held, ..self }
    }

    /// Whether a value beyond the training range counts as its end, but for curves that go on beyond it.
    pub(crate) fn held(&self) -> bool {
        self.held
    }

    /// No row scores less, unless rounding makes it.
    pub(crate) fn least(&self) -> f64 {
        let trees = self.model.least() * f64::from(self.additive.tree_factor());
        trees + self.functions.least() - f64::from(self.additive.shift)
    }

    /// The score as data.
    pub(crate) fn additive(&self) -> &Additive {
        &self.additive
    }

    /// The functions of all parts, added up.
    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Remembers what the training rows were like.
    pub(crate) fn remembering(self, profile: Profile) -> Self {
        let penalties = Penalties::new(self.encoder.columns().len());
        Self { profile, penalties, remembered: OnceLock::new(), scalers: OnceLock::new(), ..self }
    }

    /// What it remembers about the training rows.
    pub(crate) fn profile(&self) -> &Profile {
        &self.profile
    }

    /// A detector of the same columns and training rows with other trees and another score.
    pub(crate) fn with_model(&self, model: Model<f32>, additive: Additive) -> Self {
        let detector = Self::new(self.params.clone(), self.encoder.clone(), model, self.training_rows);
        detector.with(additive).remembering(self.profile.clone()).holding(self.held).alerting(self.alert)
    }

    /// Where it came from, if it was tuned.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Remembers where it came from.
    pub(crate) fn coming_from(self, origin: Origin) -> Self {
        Self { origin: Some(origin), ..self }
    }

    /// How unusual scores are: p-values and percentiles. Models that no calibration came with tell it from what they remember of
    /// the scores of their training rows.
    pub fn calibration(&self) -> &Calibration {
        self.calibration.as_ref().unwrap_or_else(|| {
            self.remembered.get_or_init(|| {
                let count = (self.training_rows as usize).clamp(1, MOST_SCORES);
                let score = |i: usize| self.profile.scores.quantile((i as f64 + 0.5) / count as f64);
                Calibration::of_training((0..count).map(score).collect())
            })
        })
    }

    /// The same detector, calibrated by the scores of other rows than it remembers.
    #[must_use]
    pub fn calibrated(self, calibration: Calibration) -> Self {
        Self { calibration: Some(calibration), ..self }
    }

    /// The same detector, which knows what terms usually contribute.
    pub(crate) fn knowing(mut self, usual: Vec<Usual>) -> Self {
        self.profile.usual = usual;
        self
    }

    /// The calibration, if one was kept.
    pub(crate) fn kept_calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// The edits that were made, as they are written; see [`Edit`](crate::Edit).
    pub fn edits(&self) -> &[String] {
        &self.edits
    }

    /// The same detector, which knows that it was edited.
    pub(crate) fn noting_edits(self, edits: Vec<String>) -> Self {
        Self { edits, ..self }
    }

    /// Which rows are alerts, if that is stored in the model.
    pub fn alert(&self) -> Option<Alert> {
        self.alert
    }

    /// The same detector with another rule for alerts, or none.
    #[must_use]
    pub fn alerting(self, alert: Option<Alert>) -> Self {
        Self { alert, ..self }
    }

    /// What flows where among the trees.
    #[cfg(feature = "export")]
    pub(crate) fn wiring(&self) -> &Wiring<f32> {
        &self.wiring
    }

    /// Gives a block some rows of a table, whose columns were found by [`Encoder::find`].
    pub(crate) fn fill_block(
        &self,
        block: &mut Block<f32>,
        columns: &[Cow<'_, [f64]>],
        scalers: &[Scaler],
        rows: Range<usize>,
    ) {
        let features = self.encoder.features().iter().zip(scalers);
        block.fill_columns(
            rows.len(),
            features.map(|(feature, scaler)| {
                let column = &columns[feature.column as usize][rows.clone()];
                column.iter().map(|&value| scaler.scale(value))
            }),
        );
    }

    /// The trees.
    pub(crate) fn model(&self) -> &Model<f32> {
        &self.model
    }

    /// How columns become features.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The settings it was trained with.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The same detector, of a table of so many rows, if those it was made from are a sample of them.
    pub(crate) fn sampled_from(mut self, rows: u64) -> Self {
        if rows > self.training_rows {
            self.training_rows = rows;
            // A sample does not tell what is next to the ends.
            self.profile.next.iter_mut().for_each(|next| *next = [-1.0, 1.0]);
        }
        self
    }

    /// Rows of the table it was trained on.
    pub fn training_rows(&self) -> u64 {
        self.training_rows
    }

    /// The same detector, with cells that do not fit their column as errors: those that cannot be read, are infinite, or are
    /// missing in a column that had no gaps in training. Otherwise such a cell counts as a value of its own, rarer than all others.
    #[must_use]
    pub fn strictly(self) -> Self {
        Self { strict: true, ..self }
    }

    /// The columns to read from a table that is to be scored.
    pub fn selection(&self) -> Selection {
        if self.strict { self.encoder.selection() } else { self.encoder.lenient_selection() }
    }

    /// The columns of a table. If the detector is strict, every cell of them fits.
    pub(crate) fn find<'a>(&self, table: &'a Table) -> Result<Found<'a>> {
        let found = self.encoder.find(table)?;
        if self.strict { found.or_refuse(self.encoder.columns(), table) } else { Ok(found) }
    }

    /// Scores of the rows of `table`, higher = more anomalous, written into `scores`, one for each row. A row's
    /// score does not depend on the rows around it.
    ///
    /// # Errors
    /// If a feature is missing from the table, `scores` is not as long as the table, or the detector is strict and a cell does
    /// not fit its column.
    pub fn score_into(&self, table: &Table, scores: &mut [f32]) -> Result<()> {
        self.score_noting(table, scores, &mut Oddities::default())
    }

    /// As [`Detector::score_into`], and notes the cells that do not fit their columns. The rows are those after the ones noted
    /// before.
    ///
    /// # Errors
    /// As [`Detector::score_into`].
    pub fn score_noting(&self, table: &Table, scores: &mut [f32], oddities: &mut Oddities) -> Result<()> {
        if scores.len() != table.rows() {
            return Err(Error::Room { rows: table.rows(), room: scores.len() });
        }
        let found = self.find(table)?;
        match self.engine() {
            Engine::Tables(compiled) => self.look_up(compiled, (&found.columns, self.scalers()), scores),
            Engine::Exact(_) => self.score_exactly(&found, scores),
        }
        self.add_odd(&found, scores);
        oddities.note(&self.encoder, table, found);
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

    /// Scores of all rows of a source, higher = more anomalous. Reads it batch by batch, several at once if the source can.
    ///
    /// # Errors
    /// As [`Detector::score_into`], or if the source cannot be read.
    pub fn score_all(&self, source: &dyn Source) -> Result<Vec<f32>> {
        self.score_all_as(source)
    }

    /// As [`Detector::score_all`], as numbers of another type, such as `f64`.
    ///
    /// # Errors
    /// As [`Detector::score_all`].
    pub fn score_all_as<T: From<f32> + Clone + Send>(&self, source: &dyn Source) -> Result<Vec<T>> {
        self.score_all_noting(source).map(|(scores, _)| scores)
    }

    /// As [`Detector::score_all_as`], with the cells that do not fit their columns.
    ///
    /// # Errors
    /// As [`Detector::score_all`].
    pub fn score_all_noting<T: From<f32> + Clone + Send>(
        &self,
        source: &dyn Source,
    ) -> Result<(Vec<T>, Oddities)> {
        let mut oddities = Oddities::default();
        let convert = |scores: &mut [T], found: &[f32]| {
            scores.iter_mut().zip(found).for_each(|(score, &found)| *score = found.into());
        };
        if let Some(shared) = source.share(&self.selection())? {
            let mut scores = vec![T::from(0.0); shared.rows()];
            // Made before there are many threads that would wait for it.
            self.engine();
            let part = |start: usize, found: &mut [f32]| {
                let mut oddities = Oddities::default();
                self.score_noting(&shared.batch(start..start + found.len())?, found, &mut oddities)?;
                Ok(oddities)
            };
            let chunks = scores.chunks_mut(SHARED_ROWS);
            let mut done: Vec<Result<Oddities>> = chunks.map(|_| Ok(Oddities::default())).collect();
            let spaces = Spaces::default();
            parallel::for_each(scores.chunks_mut(SHARED_ROWS).zip(&mut done), &|index, (scores, done)| {
                spaces.with(Vec::new, |found| {
                    found.resize(scores.len(), 0.0);
                    *done = part(index * SHARED_ROWS, found);
                    convert(scores, found);
                });
            });
            // The error reported is that of the first rows, whichever thread failed first.
            for more in done {
                oddities.append(more?);
            }
            return Ok((scores, oddities));
        }
        let mut reader = source.open(&self.selection())?;
        let mut scores = Vec::with_capacity(reader.rows().map_or(0, |rows| rows as usize));
        let mut found = Vec::new();
        while let Some(batch) = reader.next_batch()? {
            found.resize(batch.rows(), 0.0);
            self.score_noting(&batch, &mut found, &mut oddities)?;
            scores.extend(found.iter().map(|&found| T::from(found)));
        }
        Ok((scores, oddities))
    }

    /// Some rows of a source, in the order asked for, with a column for each of the encoder's.
    ///
    /// # Errors
    /// If there is no such row, or as [`Encoder::find_table`].
    pub fn pick(&self, source: &dyn Source, rows: &[usize]) -> Result<Table> {
        let mut places: HashMap<usize, Vec<usize>> = HashMap::new();
        rows.iter().enumerate().for_each(|(place, &row)| places.entry(row).or_default().push(place));
        let names: Vec<String> = self.encoder.columns().iter().map(|column| column.name.clone()).collect();
        let mut columns = vec![vec![f64::NAN; rows.len()]; names.len()];
        let mut reader = source.open(&self.selection())?;
        let mut first = 0;
        while let Some(batch) = reader.next_batch()? {
            let batch = self.encoder.table_of(self.find(&batch)?)?;
            for row in 0..batch.rows() {
                for &place in places.get(&(first + row)).into_iter().flatten() {
                    columns
                        .iter_mut()
                        .enumerate()
                        .for_each(|(c, column)| column[place] = batch.column(c)[row]);
                }
            }
            first += batch.rows();
        }
        if let Some(&row) = rows.iter().find(|&&row| row >= first) {
            return Err(Error::NoSuchRow { row, rows: first });
        }
        Ok(Table::of(names, columns.into_iter().map(Values::Encoded).collect())?)
    }
}

/// Adds a piece to a total.
pub(crate) fn add(total: &mut [Lane<f64>], piece: &[Lane<f64>]) {
    for (total, piece) in total.iter_mut().zip(piece) {
        for (total, value) in total.0.iter_mut().zip(&piece.0) {
            *total += value;
        }
    }
}

#[cfg(test)]
mod tests;
