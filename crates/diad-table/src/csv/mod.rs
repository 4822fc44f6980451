//! Reads CSV: UTF-8 text with a header line, its cells separated by commas, semicolons, tabs or vertical bars.
//!
//! Blank lines are skipped, as most readers do, except in a table of one column, where a blank line between rows can
//! only be a missing value.

use std::io::BufRead;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::cells::Cells;
use crate::detect::Layout;
use crate::header::Header;
use crate::select::Chosen;
use crate::spaces;
use crate::text::printable;
use crate::{About, Error, Reader, Result, Selection, Table, batch_rows};
use records::Records;

mod block;
mod records;

/// One row of so many may have too many cells.
const LONG_SHARE: u64 = 20;

/// Most columns of a table.
pub(crate) const MOST_COLUMNS: usize = 1 << 16;

pub(crate) struct CsvReader<R> {
    records: Records<R>,
    cells: Cells,
    chosen: Chosen,
    about: About,
    /// Whether the cells hold the first row already.
    has_row: bool,
    any_rows: bool,
    /// Blank lines that are rows of their own, of which there may be very many, and the row after them.
    blanks: Range<u64>,
    held: Option<(Vec<u8>, u64)>,
    rows: u64,
    /// Rows with too few and with too many cells.
    short: Misfits,
    long: Misfits,
}

/// Rows whose number of cells is not that of the names.
#[derive(Debug, Default)]
struct Misfits {
    rows: u64,
    first: u64,
}

impl Misfits {
    fn add(&mut self, line: u64) {
        if self.rows == 0 {
            self.first = line;
        }
        self.rows += 1;
    }

    /// What is done about them, in words.
    fn note(&self, many: &str, done: &str) -> Option<String> {
        match self.rows {
            0 => None,
            1 => Some(format!("line {} has too {many} cells; {done}", self.first)),
            rows => {
                Some(format!("{rows} rows have too {many} cells, the first in line {}; {done}", self.first))
            }
        }
    }
}

impl<R: BufRead> CsvReader<R> {
    #[cfg(test)]
    fn new(input: R, delimiter: u8, path: &Path, selection: &Selection) -> Result<Self> {
        let layout =
            Layout { delimiter, before: 0, row_names: false, skipped: 0, lines: 0, commented: false };
        Self::laid_out(input, layout, path, selection)
    }

    /// A reader of an input from which what the layout skips is gone.
    pub(crate) fn laid_out(input: R, layout: Layout, path: &Path, selection: &Selection) -> Result<Self> {
        let Layout { delimiter, before, row_names, lines, commented, .. } = layout;
        let mut records = Records::new(input, delimiter, lines, path);
        // Programs write semicolons where the comma is the decimal mark.
        let mut cells = Cells { decimal_comma: delimiter == b';', ..Cells::default() };
        if !records.advance(&mut cells)? {
            return Err(Error::EmptyFile { path: path.to_owned() });
        }
        for _ in 0..before {
            cells.clear();
            if !records.advance(&mut cells)? {
                return Err(Error::EmptyFile { path: path.to_owned() });
            }
        }
        let mut first = records.texts(&cells);
        check_width(first.len())?;
        let mut about = About { semicolons: delimiter == b';', ..About::default() };
        if commented {
            let path = printable(&path.to_string_lossy());
            about.notes.push(format!("the lines above the table in {path} that start with # are skipped"));
        }
        if before > 0 {
            about.notes.push(format!(
                "the table in {} starts at line {}; the lines above it are skipped",
                printable(&path.to_string_lossy()),
                records.line
            ));
        }
        if delimiter == spaces::MARK {
            let path = printable(&path.to_string_lossy());
            about.notes.push(format!("white space separates the cells of {path}"));
        }
        if row_names {
            first.insert(0, String::new());
        }
        let is_row = !row_names && holds_only_numbers(&first);
        let header = if is_row {
            about.notes.push(format!(
                "the first line of {} holds only numbers, so it is read as a row; the columns are called \"column 1\" and so on",
                printable(&path.to_string_lossy())
            ));
            Header::absent(first.len())
        } else {
            Header::new(first)
        };
        about.notes.extend(header.notes());
        if !is_row {
            about.unnamed = header.given();
        }
        let chosen = selection.choose(&header)?;
        cells.width = header.names.len();
        Ok(Self {
            records,
            cells,
            chosen,
            about,
            has_row: is_row,
            any_rows: false,
            blanks: 0..0,
            held: None,
            rows: 0,
            short: Misfits::default(),
            long: Misfits::default(),
        })
    }
}

impl<R: BufRead> CsvReader<R> {
    /// Gives the last row as many cells as there are names. Cells that lack are missing; empty ones too many tell nothing.
    fn fit_row(&mut self, before: usize, found: usize) -> Result<()> {
        let (line, expected) = (self.records.line, self.cells.width);
        let spans = &mut self.cells.spans;
        if found < expected {
            self.short.add(line);
            let end = self.cells.bytes.len() as u32;
            spans.resize(before + expected, (end, end));
            return Ok(());
        }
        let end = spans[before + expected - 1].1 as usize;
        let more = &self.cells.bytes[end..];
        if !more.trim_ascii().is_empty() {
            self.long.add(line);
            // Where many rows have too many cells, the separator or the line of names is not what it seems.
            if self.long.rows * LONG_SHARE > self.rows {
                return Err(Error::Ragged { line, found, expected });
            }
        }
        spans.truncate(before + expected);
        self.cells.bytes.truncate(end);
        Ok(())
    }
}

impl<R: BufRead> Reader for CsvReader<R> {
    crate::source::names_in!(self.chosen);

    fn about(&self) -> About {
        let mut about = self.about.clone();
        if self.cells.foreign.load(Ordering::Relaxed) || self.records.foreign {
            let path = printable(&self.records.path.to_string_lossy());
            about.notes.push(format!("{path} is not in UTF-8; it is read as Windows-1252"));
        }
        about.notes.extend(self.short.note("few", "the rest are treated as missing"));
        about.notes.extend(self.long.note("many", "cells beyond the last column are ignored"));
        about
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.cells.width);
        if !std::mem::take(&mut self.has_row) {
            self.cells.clear();
        }
        while !self.cells.is_full(most) {
            if let Some(line) = self.blanks.next() {
                self.cells.end_cell(self.cells.bytes.len());
                self.cells.lines.push(line);
                continue;
            }
            if let Some((cell, line)) = self.held.take() {
                let start = self.cells.bytes.len();
                self.cells.bytes.extend(cell);
                self.cells.end_cell(start);
                self.cells.lines.push(line);
                continue;
            }
            // In a table of one column, blank lines are rows.
            if self.cells.width > 1 {
                let taken = self.records.take_block(&mut self.cells, most)?;
                self.rows += taken;
                if taken > 0 {
                    continue;
                }
            }
            let (row, before) = (self.cells.rows(), self.cells.spans.len());
            if !self.records.advance(&mut self.cells)? {
                break;
            }
            let (found, expected) = (self.cells.spans.len() - before, self.cells.width);
            self.rows += 1;
            if found != expected {
                self.fit_row(before, found)?;
            }
            // The blank lines before a row of one cell are rows of their own, but not those before the first row.
            if expected == 1 && (self.any_rows || row > 0) {
                self.blanks = std::mem::take(&mut self.records.blank_lines);
                if !self.blanks.is_empty() {
                    let start = self.cells.spans[before].0 as usize;
                    self.held = Some((self.cells.bytes.split_off(start), self.records.line));
                    self.cells.spans.truncate(before);
                    self.cells.lines.truncate(row);
                }
            }
        }
        if self.cells.rows() == 0 {
            let path = self.records.path.clone();
            return if self.any_rows { Ok(None) } else { Err(Error::NoRows { path }) };
        }
        self.any_rows = true;
        self.cells.batch(&self.chosen).map(Some)
    }
}

fn check_width(columns: usize) -> Result<()> {
    if columns > MOST_COLUMNS {
        return Err(Error::TooManyColumns { found: columns, most: MOST_COLUMNS });
    }
    Ok(())
}

/// Whether a first line is a row of numbers rather than one of names.
fn holds_only_numbers(header: &[String]) -> bool {
    let numbers: Option<Vec<f64>> = header.iter().map(|name| name.parse().ok()).collect();
    // Programs that know no names write 0, 1, 2, … as names: those are fine.
    let counted = |numbers: &[f64]| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    numbers.is_some_and(|numbers| !(counted(&numbers) && (numbers[0] == 0.0 || numbers[0] == 1.0)))
}

#[cfg(test)]
mod tests;
