//! Scored rows on their way to a file.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Result;
use diad::Calibration;
use diad::calibrate::{Rarity, Severity, Threshold};
use diad::explain::Reasons;
use diad::table::Notation;
use rayon::prelude::*;

use crate::log;
use crate::sheet::{Cells, Column, Writer};

/// From these shares of rows on a table looks unlike the training: from percentile 95 on, and from 99 on.
const UNLIKE: [(f64, f64); 2] = [(95.0, 0.1), (99.0, 0.03)];
/// Fewer rows tell nothing of the table they are from.
const LEAST_ROWS: u64 = 100;
/// How many standard errors they must be beyond what is usual.
const SURE: f64 = 4.0;

/// A kept column of the table.
#[derive(Clone)]
pub struct Kept {
    pub name: String,
    pub is_id: bool,
    /// How the model reads it, if it reads it as numbers.
    pub notation: Option<Notation>,
    pub cells: Vec<Option<String>>,
}

/// The reasons of some rows, as sentences.
#[derive(Default)]
pub struct Told {
    sentences: Vec<Arc<str>>,
    /// Reason after reason, of each row which sentence, or none.
    codes: Vec<Vec<u32>>,
}

impl Told {
    pub fn new(reasons: &Reasons, count: usize) -> Self {
        let codes = (0..count).map(|number| reasons.codes(number).collect()).collect();
        Self { sentences: reasons.sentences().to_vec(), codes }
    }

    /// Takes rows to their places among so many.
    fn take(&mut self, other: &Self, place: impl Fn(usize) -> Option<usize>, all: usize) {
        self.codes.resize_with(other.codes.len(), || vec![u32::MAX; all]);
        let mut own: HashMap<u32, u32> = HashMap::new();
        for (to, from) in self.codes.iter_mut().zip(&other.codes) {
            for (row, code) in from.iter().enumerate() {
                let (Some(place), Some(sentence)) = (place(row), other.sentences.get(*code as usize)) else {
                    continue;
                };
                to[place] = *own.entry(*code).or_insert_with(|| {
                    self.sentences.push(Arc::clone(sentence));
                    self.sentences.len() as u32 - 1
                });
            }
        }
    }
}

/// Scored rows.
#[derive(Default)]
pub struct Found {
    pub scores: Vec<f32>,
    pub kept: Vec<Kept>,
    pub told: Told,
}

impl Found {
    /// Takes rows of a batch to their places among so many.
    pub fn take(&mut self, batch: Self, place: impl Fn(usize) -> Option<usize>, all: usize) {
        if self.scores.len() != all {
            let empty = |kept: &Kept| Kept { cells: vec![None; all], ..kept.clone() };
            self.kept = batch.kept.iter().map(empty).collect();
            self.scores = vec![0.0; all];
        }
        let Self { scores, kept, told } = batch;
        self.told.take(&told, &place, all);
        for (own, more) in self.kept.iter_mut().zip(kept) {
            for (row, cell) in more.cells.into_iter().enumerate() {
                if let Some(place) = place(row) {
                    own.cells[place] = cell;
                }
            }
        }
        for (row, score) in scores.into_iter().enumerate() {
            if let Some(place) = place(row) {
                self.scores[place] = score;
            }
        }
    }

    /// Writes the rows, numbered as given.
    pub fn write(
        &self,
        rows: &[u64],
        standings: &mut Standings,
        threshold: Option<&Threshold>,
        writer: &mut dyn Writer,
    ) -> Result<()> {
        let codes = standings.codes(&self.scores);
        let alerts: Option<Vec<bool>> =
            threshold.map(|threshold| self.scores.iter().map(|&score| threshold.is_alert(score)).collect());
        let own = ["row", "score", "percentile", "p_value", "severity", "alert"];
        let reasons: Vec<String> =
            (1..=self.told.codes.len()).map(|number| format!("reason_{number}")).collect();
        // A kept column that has the name of one of ours is told apart.
        let names: Vec<String> = self
            .kept
            .iter()
            .map(|kept| match own.contains(&kept.name.as_str()) || reasons.contains(&kept.name) {
                true => format!("table_{}", kept.name),
                false => kept.name.clone(),
            })
            .collect();
        let cells = || names.iter().zip(&self.kept);
        let mut columns: Vec<Column> = Vec::new();
        for (name, kept) in cells().filter(|(_, kept)| kept.is_id) {
            columns.push(Column { name, cells: Cells::Texts(&kept.cells) });
        }
        columns.push(Column { name: "row", cells: Cells::Whole(rows) });
        columns.push(Column { name: "score", cells: Cells::Scores(&self.scores) });
        let (percentiles, p_values) = (&standings.percentiles, &standings.p_values);
        columns
            .push(Column { name: "percentile", cells: Cells::Coded(&percentiles.0, &percentiles.1, &codes) });
        columns.push(Column { name: "p_value", cells: Cells::Coded(&p_values.0, &p_values.1, &codes) });
        columns.push(Column { name: "severity", cells: Cells::Words(&standings.severities, &codes) });
        if let Some(alerts) = &alerts {
            columns.push(Column { name: "alert", cells: Cells::Truths(alerts) });
        }
        let sentences: Vec<&str> = self.told.sentences.iter().map(|sentence| &**sentence).collect();
        for (name, codes) in reasons.iter().zip(&self.told.codes) {
            columns.push(Column { name, cells: Cells::Words(&sentences, codes) });
        }
        for (name, kept) in cells().filter(|(_, kept)| !kept.is_id) {
            let cells = match &kept.notation {
                Some(notation) => Cells::Numerals(&kept.cells, notation),
                None => Cells::Texts(&kept.cells),
            };
            columns.push(Column { name, cells });
        }
        writer.add(&columns)
    }
}

/// What scores stand for: each rank among the calibration has a percentile, a p-value and a severity, and so has each score beyond it.
pub struct Standings<'a> {
    calibration: &'a Calibration,
    /// Numbers and their texts, by code.
    percentiles: (Vec<f64>, Vec<String>),
    p_values: (Vec<f64>, Vec<String>),
    severities: Vec<&'static str>,
    /// Rows from each of the percentiles of [`UNLIKE`] on.
    beyond: [u64; UNLIKE.len()],
}

impl<'a> Standings<'a> {
    pub fn new(calibration: &'a Calibration) -> Self {
        let mut standings = Self {
            calibration,
            percentiles: Default::default(),
            p_values: Default::default(),
            severities: Vec::new(),
            beyond: [0; UNLIKE.len()],
        };
        for rank in 0..calibration.scores().len() {
            standings.push(calibration.counted_at(rank));
        }
        standings
    }

    fn push(&mut self, p: f64) {
        let rarity = Rarity::of(p);
        self.severities.push(rarity.severity.name());
        for ((numbers, texts), number) in
            [(&mut self.p_values, rarity.p_value), (&mut self.percentiles, rarity.percentile)]
        {
            numbers.push(number);
            texts.push(number.to_string());
        }
    }

    /// The codes of scores.
    pub fn codes(&mut self, scores: &[f32]) -> Vec<u32> {
        let all = self.calibration.scores().len();
        // Those of scores beyond the calibration are forgotten with their batch.
        self.severities.truncate(all);
        [&mut self.percentiles, &mut self.p_values].into_iter().for_each(|(numbers, texts)| {
            numbers.truncate(all);
            texts.truncate(all);
        });
        let ranks: Vec<usize> =
            scores.par_iter().with_min_len(1024).map(|&score| self.calibration.rank(score)).collect();
        let starts =
            UNLIKE.map(|(from, _)| self.percentiles.0.partition_point(|&percentile| percentile < from));
        for (count, start) in self.beyond.iter_mut().zip(starts) {
            *count += ranks.iter().filter(|&&rank| rank >= start).count() as u64;
        }
        let code = |(rank, &score): (usize, &f32)| {
            if rank < all {
                return rank as u32;
            }
            self.push(self.calibration.p_value(score).value);
            self.severities.len() as u32 - 1
        };
        ranks.into_iter().zip(scores).map(code).collect()
    }

    /// Says in one line when far more rows are unusual than would be among rows like those of the training.
    pub fn note_if_unlike(&self, rows: u64) {
        if rows < LEAST_ROWS {
            return;
        }
        let (all, known) = (rows as f64, self.calibration.scores().len() as f64);
        for ((from, most), &count) in UNLIKE.iter().zip(&self.beyond) {
            let (share, usual) = (count as f64 / all.max(1.0), 1.0 - from / 100.0);
            let error = (usual * (1.0 - usual) * (1.0 / all.max(1.0) + 1.0 / known)).sqrt();
            if share > *most && share > usual + SURE * error {
                let severity = Severity::of(*from);
                log::note(&format!(
                    "the table looks unlike the training: {:.1} % of its rows are {severity} or more, where {:.0} % would be usual; \
                     see diad drift",
                    100.0 * share,
                    100.0 * usual
                ));
                return;
            }
        }
    }
}
