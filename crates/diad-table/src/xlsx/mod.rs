//! Reads a sheet of an Excel workbook: the first one that holds a table, or the one that is named.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use calamine::{Cell, Data, Range, Reader as _, Xlsx, XlsxError};

use crate::budget::memory_limit;
use crate::cells::Cells;
use crate::csv::MOST_COLUMNS;
use crate::header::{Header, Repeated};
use crate::select::Chosen;
use crate::text::{printable, quoted};
use crate::{About, Clock, Error, Reader, Result, Selection, Table, batch_rows};
use layout::{Layout, Likeness, layout, total_row};

mod layout;

/// Sheets that a note names.
const SHOWN: usize = 8;

/// The share of the memory, as one over this, that a workbook may take beside its sheets: all its texts are read at once.
const ASIDE: usize = 16;

/// Days from the start of 1900, as Excel counts them, to that of 1970.
const EPOCH: f64 = 25_569.0;

/// The cells of a sheet, and where its table is.
type Sheet = (Range<Data>, Layout);
/// A sheet that was chosen, one before it that was not, and what the first holds.
type Chose = (String, Option<String>, Option<Sheet>);

pub(crate) struct XlsxReader {
    path: PathBuf,
    sheet: Range<Data>,
    /// The next row of the sheet, and the line that its first row has.
    next: usize,
    first_line: u64,
    cells: Cells,
    chosen: Chosen,
    about: About,
    /// Where rows end, the first column, and the names as they are written.
    end: usize,
    left: usize,
    names: Vec<String>,
    repeated: Repeated,
}

impl XlsxReader {
    pub(crate) fn new(file: File, path: &Path, sheet: Option<&str>, selection: &Selection) -> Result<Self> {
        let damaged =
            |error: &dyn std::fmt::Display| Error::Excel { path: path.to_owned(), reason: error.to_string() };
        let aside = aside(&file, memory_limit() / ASIDE).map_err(|error| damaged(&error))?;
        if !aside {
            return Err(Error::LargeBook { path: path.to_owned(), most: (memory_limit() / ASIDE) >> 20 });
        }
        if !is_workbook(&file).map_err(|error| damaged(&error))? {
            let kind = "an archive but not a workbook (unpack it first)";
            return Err(Error::FileKind { path: path.to_owned(), kind });
        }
        let mut book = Xlsx::new(BufReader::new(file)).map_err(|error| damaged(&error))?;
        let sheets = book.sheet_names();
        if let Some(name) = sheet.filter(|name| !sheets.iter().any(|known| known == name)) {
            return Err(Error::NoSheet { path: path.to_owned(), name: name.to_owned(), known: sheets });
        }
        let most = memory_limit() / 2;
        let mut load = |name: &str| match cells_within(&mut book, name, most) {
            Ok(Some(range)) => Ok(layout(&range).map(|layout| (range, layout))),
            Ok(None) => {
                Err(Error::LargeSheet { path: path.to_owned(), name: name.to_owned(), most: most >> 20 })
            }
            Err(error) => Err(damaged(&error)),
        };
        let (name, passed, found) = match sheet {
            Some(name) => (name.to_owned(), None, load(name)?),
            None => first_table(&sheets, selection, &mut load)?,
        };
        let Some(found) = found else {
            return Err(Error::EmptyFile { path: path.to_owned() });
        };
        let layout = found.1;
        let Layout { top, left, right, .. } = layout;
        if right - left > MOST_COLUMNS {
            return Err(Error::TooManyColumns { found: right - left, most: MOST_COLUMNS });
        }
        let names = names_of(&found);
        let (range, _) = found;
        let header = Header::new(names.clone());
        let mut about = About { notes: header.notes(), unnamed: header.given(), ..About::default() };
        let file = printable(&path.to_string_lossy());
        if let Some(passed) = passed {
            let known: Vec<String> = sheets.iter().take(SHOWN).map(|name| quoted(name)).collect();
            let more = if sheets.len() > SHOWN { " and others" } else { "" };
            about.notes.push(format!(
                "the sheets of {file} are {}{more}; {} is read, since {} seems to hold no table; --sheet names another",
                known.join(", "),
                quoted(&name),
                quoted(&passed),
            ));
        } else if sheet.is_none() && sheets.len() > 1 {
            about.notes.push(format!("{file} has {} sheets; {} is read", sheets.len(), quoted(&name)));
        }
        let first_line = range.start().map_or(0, |(row, _)| u64::from(row)) + 1;
        if top > 0 {
            about.notes.push(format!(
                "the table in sheet {} starts at row {}; the rows above it are skipped",
                quoted(&name),
                first_line + top as u64
            ));
        }
        let total = total_row(&range, &layout);
        if let Some(row) = total {
            about.notes.push(format!(
                "row {} of sheet {} has the sums of the others; it is left out",
                first_line + row as u64,
                quoted(&name)
            ));
        }
        let chosen = selection.choose(&header)?;
        let cells = Cells { width: right - left, ..Cells::default() };
        let path = path.to_owned();
        let (next, end, repeated) = (top + 1, total.unwrap_or(range.height()), Repeated::default());
        Ok(Self { path, sheet: range, next, end, left, first_line, names, repeated, cells, chosen, about })
    }
}

/// The first sheet that is a table, or has the columns asked for; else the first that is not empty. If it is not the first that is not
/// empty, that one is named too.
fn first_table(
    sheets: &[String],
    selection: &Selection,
    load: &mut dyn FnMut(&str) -> Result<Option<Sheet>>,
) -> Result<Chose> {
    let mut first: Option<&String> = None;
    for name in sheets {
        let Some(found) = load(name)? else { continue };
        let fits = || selection.names_some() && selection.fits(&Header::new(names_of(&found)).names);
        if found.1.likeness == Likeness::Table || fits() {
            return Ok((name.clone(), first.cloned(), Some(found)));
        }
        first = first.or(Some(name));
    }
    match first {
        Some(name) => Ok((name.clone(), None, load(name)?)),
        None => Ok((String::new(), None, None)),
    }
}

/// The names of the columns of a sheet, as they are written.
fn names_of((range, layout): &Sheet) -> Vec<String> {
    (layout.left..layout.right).map(|column| text(range.get((layout.top, column)))).collect()
}

impl Reader for XlsxReader {
    crate::source::names_in!(self.chosen);

    fn about(&self) -> About {
        let mut about = self.about.clone();
        about.notes.extend(self.repeated.note("row"));
        about
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let none_before = self.next > 0 && self.cells.rows() == 0;
        loop {
            self.gather();
            let any = self.cells.rows() > 0;
            self.repeated.leave_out(&self.names, &mut self.cells);
            match (any, self.cells.rows()) {
                (true, 0) => {}
                (false, _) if none_before => return Err(Error::NoRows { path: self.path.clone() }),
                (false, _) => return Ok(None),
                _ => return self.cells.batch(&self.chosen).map(Some),
            }
        }
    }
}

impl XlsxReader {
    /// Fills a batch. Rows without anything are blank lines.
    fn gather(&mut self) {
        let most = batch_rows(self.cells.width);
        self.cells.clear();
        while self.next < self.end && !self.cells.is_full(most) {
            let row = self.next;
            self.next += 1;
            let before = (self.cells.bytes.len(), self.cells.spans.len());
            for column in 0..self.cells.width {
                let start = self.cells.bytes.len();
                self.cells.bytes.extend(text(self.sheet.get((row, self.left + column))).as_bytes());
                self.cells.end_cell(start);
            }
            if self.cells.bytes.len() == before.0 {
                self.cells.spans.truncate(before.1);
            } else {
                self.cells.lines.push(self.first_line + row as u64);
            }
        }
    }
}

/// Whether an archive has a sheet in it.
fn is_workbook(file: &File) -> zip::result::ZipResult<bool> {
    let archive = zip::ZipArchive::new(BufReader::new(file))?;
    let is_sheet = |name: &str| name.to_ascii_lowercase().contains("worksheets/");
    Ok(archive.file_names().any(|name| name.is_ok_and(|name| is_sheet(&name))))
}

/// Whether what a workbook has beside its sheets, its texts above all, takes no more than so many bytes. It is unpacked to tell, since
/// an archive may say anything of its parts.
fn aside(file: &File, most: usize) -> zip::result::ZipResult<bool> {
    let mut archive = zip::ZipArchive::new(BufReader::new(file))?;
    let mut left = most as u64;
    for index in 0..archive.len() {
        let part = archive.by_index(index)?;
        let name = part.name()?.into_owned();
        if name.starts_with("xl/worksheets/") || name.starts_with("xl/media/") {
            continue;
        }
        let length = std::io::copy(&mut part.take(left + 1), &mut std::io::sink())?;
        match left.checked_sub(length) {
            Some(rest) => left = rest,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The cells of a sheet; nothing if they would take more than so many bytes. The empty ones between the others count too.
fn cells_within<R: Read + Seek>(
    book: &mut Xlsx<R>,
    sheet: &str,
    most: usize,
) -> std::result::Result<Option<Range<Data>>, XlsxError> {
    let mut reader = book.worksheet_cells_reader(sheet)?;
    let (mut cells, mut bytes) = (Vec::new(), 0usize);
    let (mut low, mut high) = ([u32::MAX; 2], [0u32; 2]);
    while let Some(cell) = reader.next_cell()? {
        let (row, column) = cell.get_position();
        let value = Data::from(cell.get_value().clone());
        if value == Data::Empty {
            continue;
        }
        for (index, place) in [row, column].into_iter().enumerate() {
            low[index] = low[index].min(place);
            high[index] = high[index].max(place);
        }
        let extent = |index: usize| (high[index] - low[index]) as usize + 1;
        let area = extent(0).saturating_mul(extent(1)).saturating_mul(size_of::<Data>());
        bytes += size_of::<Cell<Data>>();
        bytes += match &value {
            Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => text.len(),
            _ => 0,
        };
        if bytes.saturating_add(area) > most {
            return Ok(None);
        }
        cells.push(Cell::new((row, column), value));
    }
    Ok(Some(Range::from_sparse(cells)))
}

/// A cell as it would be written in a CSV file.
fn text(cell: Option<&Data>) -> String {
    match cell {
        None | Some(Data::Empty | Data::Error(_)) => String::new(),
        Some(Data::String(text) | Data::DateTimeIso(text)) => text.trim().to_owned(),
        Some(Data::Float(number)) => number.to_string(),
        Some(Data::Int(number)) => number.to_string(),
        Some(Data::Bool(truth)) => truth.to_string(),
        Some(Data::DateTime(moment)) if moment.is_datetime() => written(moment.as_f64()),
        Some(Data::DateTime(span)) => Clock::Seconds.words((span.as_f64() * 86_400e3).round() / 1e3),
        Some(other) => other.to_string(),
    }
}

/// A day of Excel's calendar as ISO 8601 has it, to the millisecond, which is as far as its digits go; before 1900 there is only
/// a time of day.
fn written(days: f64) -> String {
    let seconds = (days * 86_400e3).round() / 1e3 - if days < 1.0 { 0.0 } else { EPOCH * 86_400.0 };
    let stamp = crate::time::iso(seconds);
    if days < 1.0 { stamp.get(11..).unwrap_or("00:00:00").to_owned() } else { stamp }
}

#[cfg(test)]
mod tests;
