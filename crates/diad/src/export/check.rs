//! Rows whose scores are known, so that whoever runs an export can see that it does what the model does.

use super::plan::{Cell, Check, InputKind, Plan};
use crate::encode::{Column, Encoder, Oddity};
use crate::table::{Source, Table, Texts, Values};
use crate::{Detector, Error, Result};

/// Most rows that are kept.
pub const MOST_ROWS: usize = 1000;
/// How far a score may be from the exact one, relative to it or to 1.
pub const NEAR: f64 = 1e-5;

impl Plan {
    /// Takes up rows with their scores: those of a table, or some at the edges of what the model knows.
    ///
    /// # Errors
    /// If the table cannot be read or has no such rows, or if the plan is not near the exact score, which a defect of this program would be.
    pub(super) fn checked(mut self, detector: &Detector, table: Option<&dyn Source>) -> Result<Self> {
        let (rows_are, rows) = match table {
            Some(table) => ("the first rows of a table", self.rows_of(detector, table)?),
            None => ("made up, at the edges of what the model knows", self.edges(detector.encoder())),
        };
        let known = self.table_of(&rows)?;
        let (found, mut scores) = (detector.find(&known)?, vec![0.0; rows.len()]);
        detector.score_exactly(&found, &mut scores);
        detector.add_odd(&found, &mut scores);
        for (index, (row, score)) in rows.iter().zip(&scores).enumerate() {
            let (found, score) = (self.score(row), f64::from(*score));
            if (found - score).abs() > NEAR * score.abs().max(1.0) {
                let reason = format!(
                    "row {index} has score {score}, but the exported functions give {found}; please report this defect"
                );
                return Err(Error::Export { reason });
            }
        }
        self.check = Check { rows_are: rows_are.to_owned(), rows, scores };
        Ok(self)
    }

    /// The first rows of a table. Those with cells that cannot be read are passed over, since a typed column cannot hold them.
    fn rows_of(&self, detector: &Detector, table: &dyn Source) -> Result<Vec<Vec<Cell>>> {
        let mut rows = Vec::new();
        let mut reader = table.open(&detector.selection())?;
        while let Some(batch) = reader.next_batch()? {
            let found = detector.find(&batch)?;
            let sources: Vec<&str> = detector.encoder().columns().iter().map(|c| c.source()).collect();
            let place = |name: &str| batch.names().iter().position(|other| other == name);
            let columns: Vec<(Option<usize>, Option<usize>)> = (self.inputs.iter())
                .map(|input| (place(&input.name), sources.iter().position(|source| *source == input.name)))
                .collect();
            for row in 0..batch.rows() {
                if rows.len() == MOST_ROWS {
                    return Ok(rows);
                }
                if found.odd.iter().any(|odd| odd.row == row && odd.oddity == Oddity::Unreadable) {
                    continue;
                }
                let cell = |((given, known), kind): (&(Option<usize>, Option<usize>), InputKind)| {
                    let Some(values) = given.map(|given| batch.values(given)) else { return Cell::Missing };
                    match (kind, values, known) {
                        (InputKind::Number, _, Some(known)) if !matches!(values, Values::Numbers(_)) => {
                            number(found.columns[*known][row])
                        }
                        (InputKind::Category, ..) => values.cell(row).map_or(Cell::Missing, Cell::Text),
                        (_, Values::Numbers(values) | Values::Times(values), _) => number(values[row]),
                        _ => Cell::Missing,
                    }
                };
                rows.push(columns.iter().zip(self.inputs.iter().map(|input| input.kind)).map(cell).collect());
            }
        }
        if rows.is_empty() {
            let reason = "the table to check with has no rows that can be read; give another".to_owned();
            return Err(Error::Export { reason });
        }
        Ok(rows)
    }

    /// Rows that are typical, at either end, beyond it, far beyond it, missing, infinite, nought, and of texts that are not known.
    fn edges(&self, encoder: &Encoder) -> Vec<Vec<Cell>> {
        let shares = [0.5, 0.0, 1.0, 0.25, 1.5, -0.5, 1e9, -1e9];
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let named = |name: &str, share: f64| {
            let levels = columns(encoder, name).flat_map(|column| column.levels());
            let names: Vec<&str> = levels.filter_map(|level| level.name.as_deref()).collect();
            let known = names.len().saturating_sub(1) as f64 * share;
            if share > 1.0 { None } else { names.get(known.max(0.0) as usize).map(|&name| name.to_owned()) }
        };
        let between = |name: &str, date: bool, share: f64| {
            let column = columns(encoder, name).find(|column| column.is_date() || !date);
            let (low, high) = column.map_or((0.0, 1.0), |column| (column.min, column.max));
            low * (1.0 - share) + high * share
        };
        for share in shares {
            rows.push(self.each(|name, kind| match kind {
                InputKind::Category => {
                    Cell::Text(named(name, share).unwrap_or_else(|| "\u{2205} unknown".to_owned()))
                }
                InputKind::Number => Cell::Number(between(name, false, share)),
                InputKind::Time => {
                    let days = between(name, true, share.clamp(-20.0, 20.0));
                    Cell::Number((days * 86_400.0).clamp(-6e10, 2e11).round())
                }
            }));
        }
        for special in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1e300] {
            rows.push(self.each(|name, kind| match kind {
                InputKind::Number => number(special),
                InputKind::Time if special == 0.0 => Cell::Number(0.0),
                InputKind::Category if special == 0.0 => Cell::Text(named(name, 0.0).unwrap_or_default()),
                _ => Cell::Missing,
            }));
        }
        rows
    }

    fn each(&self, cell: impl Fn(&str, InputKind) -> Cell) -> Vec<Cell> {
        self.inputs.iter().map(|input| cell(&input.name, input.kind)).collect()
    }

    /// Rows as a table.
    fn table_of(&self, rows: &[Vec<Cell>]) -> Result<Table> {
        let number = |cell: &Cell| if let Cell::Number(number) = cell { *number } else { f64::NAN };
        let column = |index: usize| match self.inputs[index].kind {
            InputKind::Number => Values::Numbers(rows.iter().map(|row| number(&row[index])).collect()),
            InputKind::Time => Values::Times(rows.iter().map(|row| number(&row[index])).collect()),
            InputKind::Category => {
                let text = |row: &Vec<Cell>| match &row[index] {
                    Cell::Text(text) => Some(text.clone()),
                    _ => None,
                };
                Values::Texts(rows.iter().map(text).collect::<Texts>())
            }
        };
        let names = self.inputs.iter().map(|input| input.name.clone()).collect();
        Ok(Table::of(names, (0..self.inputs.len()).map(column).collect())?)
    }
}

fn columns<'a>(encoder: &'a Encoder, name: &'a str) -> impl Iterator<Item = &'a Column> {
    encoder.columns().iter().filter(move |column| column.source() == name)
}

fn number(value: f64) -> Cell {
    if value.is_nan() { Cell::Missing } else { Cell::Number(value) }
}
