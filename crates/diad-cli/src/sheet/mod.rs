//! Tables that are written: CSV, JSON Lines, Parquet and Excel workbooks, batch by batch.

mod csv;
mod digits;
mod json;
mod parquet;
mod xlsx;

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use diad::table::Notation;

use crate::output::shown;

/// A column of a batch that is written.
pub struct Column<'a> {
    pub name: &'a str,
    pub cells: Cells<'a>,
}

/// The cells of a column.
#[derive(Clone, Copy)]
pub enum Cells<'a> {
    /// Whole numbers.
    Whole(&'a [u64]),
    /// Scores.
    Scores(&'a [f32]),
    /// Numbers of which the same ones come again and again: each with its text, and of each row which one.
    Coded(&'a [f64], &'a [String], &'a [u32]),
    /// Texts of which the same ones come again and again, and of each row which one, or none where the number is beyond the last.
    Words(&'a [&'a str], &'a [u32]),
    /// Yes or no.
    Truths(&'a [bool]),
    /// Texts, of which some may be missing.
    Texts(&'a [Option<String>]),
    /// Numbers as texts in that notation, of which some may be missing, or no numbers after all.
    Numerals(&'a [Option<String>], &'a Notation),
}

impl Cells<'_> {
    pub fn len(&self) -> usize {
        match self {
            Self::Whole(cells) => cells.len(),
            Self::Scores(cells) => cells.len(),
            Self::Coded(_, _, codes) | Self::Words(_, codes) => codes.len(),
            Self::Truths(cells) => cells.len(),
            Self::Texts(cells) | Self::Numerals(cells, _) => cells.len(),
        }
    }

    /// Writes a cell that every text format writes alike: a number. Gives back what the others are to be written as.
    fn put_number(&self, row: usize, out: &mut Vec<u8>) -> Result<Option<Other<'_>>> {
        match self {
            Self::Whole(cells) => out.extend_from_slice(itoa::Buffer::new().format(cells[row]).as_bytes()),
            Self::Scores(cells) => digits::put(cells[row], out)?,
            Self::Coded(_, texts, codes) => out.extend_from_slice(texts[codes[row] as usize].as_bytes()),
            Self::Words(words, codes) => {
                return Ok(Some(Other::Text(words.get(codes[row] as usize).copied())));
            }
            Self::Truths(cells) => return Ok(Some(Other::Truth(cells[row]))),
            Self::Texts(cells) => return Ok(Some(Other::Text(cells[row].as_deref()))),
            Self::Numerals(cells, notation) => {
                let cell = cells[row].as_deref();
                let number = cell.and_then(|cell| Some((cell, number(cell, notation)?)));
                return Ok(Some(
                    number.map_or(Other::Text(cell), |(text, number)| Other::Number(text, number)),
                ));
            }
        }
        Ok(None)
    }
}

/// A cell that is no number.
enum Other<'a> {
    Truth(bool),
    /// A number by its text.
    Number(&'a str, f64),
    Text(Option<&'a str>),
}

/// The number that a text is.
fn number(text: &str, notation: &Notation) -> Option<f64> {
    notation.number(text).filter(|number| number.is_finite())
}

/// Writes a table.
pub trait Writer: Send {
    /// Writes some rows. The columns are the same in every batch, and the first batch starts the table.
    fn add(&mut self, columns: &[Column]) -> Result<()>;

    /// Ends the table.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Csv,
    Json,
    Parquet,
    Excel,
}

impl Format {
    /// By the ending of a file's name.
    pub fn of(path: &Path) -> Result<Self> {
        let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
        Ok(match ending.as_deref().and_then(|ending| ending.to_str()) {
            Some("csv") => Self::Csv,
            Some("jsonl" | "ndjson") => Self::Json,
            Some("parquet") => Self::Parquet,
            Some("xlsx") => Self::Excel,
            _ => bail!("cannot write {}: its name must end in .csv, .jsonl, .parquet or .xlsx", shown(path)),
        })
    }

    /// A writer to a file.
    pub fn writer<'w, W: Write + std::io::Seek + Send + 'w>(self, out: W) -> Result<Box<dyn Writer + 'w>> {
        Ok(match self {
            Self::Csv => Box::new(csv::Csv::new(out)),
            Self::Json => Box::new(json::Json::new(out)),
            Self::Parquet => Box::new(parquet::Parquet::new(out)),
            Self::Excel => Box::new(xlsx::Workbook::new(out)?),
        })
    }
}

/// A writer of CSV to a stream.
pub fn csv<'w>(out: impl Write + Send + 'w) -> Box<dyn Writer + 'w> {
    Box::new(csv::Csv::new(out))
}

#[cfg(test)]
mod tests;
