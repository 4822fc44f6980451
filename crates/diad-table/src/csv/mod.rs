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
use crate::header::{Header, Repeated};
use crate::select::Chosen;
use crate::text::printable;
use crate::{About, Error, Reader, Result, Selection, Table, batch_rows};
use crate::{fixed, spaces};
use records::Records;

mod block;
mod records;

/// One row of so many may have too many cells.
const LONG_SHARE: u64 = 20;

/// Most columns of a table.
pub(crate) const MOST_COLUMNS: usize = 1 << 16;

pub(crate) struct CsvReader<R> {
    rows: Rows<R>,
    chosen: Chosen,
    about: About,
    /// The rows of the next batch, and whether all of them could be read; nothing before the first batch.
    gathered: Option<Result<()>>,
    cells: Cells,
    /// Room for the rows after those.
    next: Cells,
    foreign: bool,
    any_rows: bool,
}

/// The rows of a table, each of as many cells as there are names.
struct Rows<R> {
    records: Records<R>,
    /// Blank lines that are rows of their own, of which there may be very many, and the row after them.
    blanks: Range<u64>,
    held: Option<(Vec<u8>, u64)>,
    read: u64,
    /// Rows with too few and with too many cells.
    short: Misfits,
    long: Misfits,
    /// Whether a line below the names was read.
    begun: bool,
    /// The names as they are written, and rows that have them once more.
    names: Vec<String>,
    repeated: Repeated,
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
        if delimiter == fixed::MARK {
            let path = printable(&path.to_string_lossy());
            about.notes.push(format!("the columns of {path} are told apart by their places in the lines"));
        }
        if first.len() == 1 && first[0].trim().contains("  ") {
            about.notes.push(format!(
                "the lines of {} seem to have several cells, but where each ends is not certain, so a line is one cell; put commas \
                 between cells",
                printable(&path.to_string_lossy())
            ));
        }
        if row_names {
            first.insert(0, String::new());
        }
        let is_row = !row_names && holds_only_numbers(&first);
        let names = if is_row { Vec::new() } else { first.clone() };
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
        if !is_row {
            cells.clear();
        }
        let (short, long, repeated) = Default::default();
        let next = Cells { width: cells.width, decimal_comma: cells.decimal_comma, ..Cells::default() };
        Ok(Self {
            rows: Rows {
                records,
                blanks: 0..0,
                held: None,
                read: u64::from(is_row),
                begun: is_row,
                short,
                long,
                names,
                repeated,
            },
            chosen,
            about,
            gathered: None,
            cells,
            next,
            foreign: false,
            any_rows: false,
        })
    }
}

impl<R: BufRead> Rows<R> {
    /// Fills a batch with rows that do not have the names once more.
    fn gather(&mut self, cells: &mut Cells) -> Result<()> {
        loop {
            self.fill(cells)?;
            let any = cells.rows() > 0;
            self.repeated.leave_out(&self.names, cells);
            if !any || cells.rows() > 0 {
                return Ok(());
            }
            cells.clear();
        }
    }

    fn fill(&mut self, cells: &mut Cells) -> Result<()> {
        let most = batch_rows(cells.width);
        while !cells.is_full(most) {
            if let Some(line) = self.blanks.next() {
                cells.end_cell(cells.bytes.len());
                cells.lines.push(line);
                continue;
            }
            if let Some((cell, line)) = self.held.take() {
                let start = cells.bytes.len();
                cells.bytes.extend(cell);
                cells.end_cell(start);
                cells.lines.push(line);
                continue;
            }
            // In a table of one column, blank lines are rows.
            if cells.width > 1 {
                let before = cells.rows();
                let taken = self.records.take_block(cells, most)?;
                self.read += taken;
                if taken > 0 {
                    self.leave_out_rule(cells, before);
                    continue;
                }
            }
            let (row, before) = (cells.rows(), cells.spans.len());
            if !self.records.advance(cells)? {
                break;
            }
            let (found, expected) = (cells.spans.len() - before, cells.width);
            if self.is_rule(cells, before..cells.spans.len()) {
                cells.spans.truncate(before);
                cells.lines.truncate(row);
                self.begun = true;
                continue;
            }
            self.begun = true;
            self.read += 1;
            if found != expected {
                self.fit_row(cells, before, found)?;
            }
            // The blank lines before a row of one cell are rows of their own, but not those before the first row.
            if expected == 1 && self.read > 1 {
                self.blanks = std::mem::take(&mut self.records.blank_lines);
                if !self.blanks.is_empty() {
                    let start = cells.spans[before].0 as usize;
                    self.held = Some((cells.bytes.split_off(start), self.records.line));
                    cells.spans.truncate(before);
                    cells.lines.truncate(row);
                }
            }
        }
        Ok(())
    }

    /// Whether cells between vertical bars are a line that is drawn as databases and documents do: dashes with a plus where columns
    /// meet, or, right below the names, a cell of dashes for each. Other rows of marks may be values.
    fn is_rule(&self, cells: &Cells, row: Range<usize>) -> bool {
        if self.records.delimiter != b'|' {
            return false;
        }
        let cell = |&(start, end): &(u32, u32)| cells.bytes[start as usize..end as usize].trim_ascii();
        let mut row: &[(u32, u32)] = &cells.spans[row];
        // A bar at the start or end of a line makes an empty cell.
        while let [first, rest @ ..] = row
            && cell(first).is_empty()
        {
            row = rest;
        }
        while let [rest @ .., last] = row
            && cell(last).is_empty()
        {
            row = rest;
        }
        let all = |marks: &[u8], span: &(u32, u32)| cell(span).iter().all(|byte| marks.contains(byte));
        let is_dashes = |span| cell(span).len() >= 3 && cell(span).contains(&b'-') && all(b"-:", span);
        match row {
            [] => false,
            [only] if cell(only).contains(&b'+') => {
                let drawn = cell(only).windows(2).any(|two| two == b"--" || two == b"==");
                drawn && all(b"-+=:", only)
            }
            _ => !self.begun && row.iter().all(is_dashes),
        }
    }

    /// Leaves out the first of some rows if it is a drawn line below the names.
    fn leave_out_rule(&mut self, cells: &mut Cells, from: usize) {
        let place = from * cells.width..(from + 1) * cells.width;
        if !self.begun && self.is_rule(cells, place.clone()) {
            cells.spans.drain(place);
            cells.lines.remove(from);
        }
        self.begun = true;
    }

    /// Gives the last row as many cells as there are names. Cells that lack are missing; empty ones too many tell nothing.
    fn fit_row(&mut self, cells: &mut Cells, before: usize, found: usize) -> Result<()> {
        let (line, expected) = (self.records.line, cells.width);
        let spans = &mut cells.spans;
        if found < expected {
            self.short.add(line);
            let end = cells.bytes.len() as u32;
            spans.resize(before + expected, (end, end));
            return Ok(());
        }
        let end = spans[before + expected - 1].1 as usize;
        let more = &cells.bytes[end..];
        if !more.trim_ascii().is_empty() {
            self.long.add(line);
            // Where many rows have too many cells, the separator or the line of names is not what it seems.
            if self.long.rows * LONG_SHARE > self.read {
                return Err(Error::Ragged { line, found, expected });
            }
        }
        spans.truncate(before + expected);
        cells.bytes.truncate(end);
        Ok(())
    }
}

impl<R: BufRead + Send> Reader for CsvReader<R> {
    crate::source::names_in!(self.chosen);

    fn about(&self) -> About {
        let (mut about, rows) = (self.about.clone(), &self.rows);
        if self.foreign || rows.records.foreign {
            let path = printable(&rows.records.path.to_string_lossy());
            about.notes.push(format!("{path} is not in UTF-8; it is read as Windows-1252"));
        }
        about.notes.extend(rows.repeated.note("line"));
        about.notes.extend(rows.short.note("few", "the rest are treated as missing"));
        about.notes.extend(rows.long.note("many", "cells beyond the last column are ignored"));
        about
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let Self { rows, chosen, cells, next, .. } = self;
        let gathered = self.gathered.take().unwrap_or_else(|| rows.gather(cells));
        gathered?;
        if cells.rows() == 0 {
            let path = rows.records.path.clone();
            return if self.any_rows { Ok(None) } else { Err(Error::NoRows { path }) };
        }
        self.any_rows = true;
        // The rows after these are cut into cells while these become values.
        next.clear();
        let (batch, gathered) = rayon::join(|| cells.batch(chosen), || rows.gather(next));
        self.gathered = Some(gathered);
        self.foreign |= self.cells.foreign.load(Ordering::Relaxed);
        self.next.first = self.cells.first;
        std::mem::swap(&mut self.cells, &mut self.next);
        batch.map(Some)
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
