//! Reads a sheet of an Excel workbook: the first one that is not empty, or the one that is named. Its first row that is not empty has the names.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use calamine::{Cell, Data, Range, Reader as _, Xlsx, XlsxError};

use crate::budget::memory_limit;
use crate::cells::Cells;
use crate::csv::MOST_COLUMNS;
use crate::header::Header;
use crate::select::Chosen;
use crate::text::{printable, quoted};
use crate::{About, Clock, Error, Reader, Result, Selection, Table, batch_rows};

/// The share of the memory, as one over this, that a workbook may take beside its sheets: all its texts are read at once.
const ASIDE: usize = 16;

/// Days from the start of 1900, as Excel counts them, to that of 1970.
const EPOCH: f64 = 25_569.0;

pub(crate) struct XlsxReader {
    path: PathBuf,
    sheet: Range<Data>,
    /// The next row of the sheet, and the line that its first row has.
    next: usize,
    first_line: u64,
    cells: Cells,
    chosen: Chosen,
    about: About,
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
        let wanted = match sheet {
            Some(wanted) => sheets.iter().filter(|name| *name == wanted).cloned().collect(),
            None => sheets.clone(),
        };
        if let (Some(name), true) = (sheet, wanted.is_empty()) {
            return Err(Error::NoSheet { path: path.to_owned(), name: name.to_owned(), known: sheets });
        }
        let most = memory_limit() / 2;
        // The first sheet that has something in it.
        let mut found = None;
        for name in wanted {
            let range = cells_within(&mut book, &name, most).map_err(|error| damaged(&error))?;
            let Some(range) = range else {
                return Err(Error::LargeSheet { path: path.to_owned(), name, most: most >> 20 });
            };
            if !range.is_empty() {
                found = Some((name, range));
                break;
            }
        }
        let Some((name, range)) = found else {
            return Err(Error::EmptyFile { path: path.to_owned() });
        };
        let (height, width) = range.get_size();
        let start = range.start().map_or(0, |(row, _)| row as usize);
        let filled =
            |row: usize| (0..width).filter(|&column| !text(range.get((row, column))).is_empty()).count();
        // A title above the table has fewer cells than its names.
        let most = (0..height.min(50)).map(filled).max().unwrap_or(0);
        let Some(top) = (0..height.min(50)).find(|&row| filled(row) * 2 > most) else {
            return Err(Error::EmptyFile { path: path.to_owned() });
        };
        if width > MOST_COLUMNS {
            return Err(Error::TooManyColumns { found: width, most: MOST_COLUMNS });
        }
        let header = Header::new((0..width).map(|column| text(range.get((top, column)))).collect());
        let mut about = About { notes: header.notes(), unnamed: header.given(), ..About::default() };
        if sheet.is_none() && sheets.len() > 1 {
            about.notes.push(format!(
                "{} has {} sheets; {} is read",
                printable(&path.to_string_lossy()),
                sheets.len(),
                quoted(&name)
            ));
        }
        let chosen = selection.choose(&header)?;
        let cells = Cells { width, ..Cells::default() };
        let first_line = start as u64 + 1;
        let path = path.to_owned();
        Ok(Self { path, sheet: range, next: top + 1, first_line, cells, chosen, about })
    }
}

impl Reader for XlsxReader {
    crate::source::names_in!(self.chosen);

    fn about(&self) -> About {
        self.about.clone()
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.cells.width);
        let height = self.sheet.height();
        let none_before = self.next > 0 && self.cells.rows() == 0;
        self.cells.clear();
        while self.next < height && !self.cells.is_full(most) {
            let row = self.next;
            self.next += 1;
            let before = (self.cells.bytes.len(), self.cells.spans.len());
            for column in 0..self.cells.width {
                let start = self.cells.bytes.len();
                self.cells.bytes.extend(text(self.sheet.get((row, column))).as_bytes());
                self.cells.end_cell(start);
            }
            // Rows without anything are blank lines.
            if self.cells.bytes.len() == before.0 {
                self.cells.spans.truncate(before.1);
            } else {
                self.cells.lines.push(self.first_line + row as u64);
            }
        }
        match self.cells.rows() {
            0 if none_before => Err(Error::NoRows { path: self.path.clone() }),
            0 => Ok(None),
            _ => self.cells.batch(&self.chosen).map(Some),
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
mod tests {
    use super::*;

    /// Texts of a workbook are read at once, before any sheet is.
    #[test]
    fn a_workbook_of_endless_texts_is_refused() {
        use std::io::Write;
        let mut file = tempfile::tempfile().unwrap();
        let mut archive = zip::ZipWriter::new(&mut file);
        let options = zip::write::SimpleFileOptions::default();
        archive.start_file("xl/sharedStrings.xml", options).unwrap();
        let texts = b"<si><t>x</t></si>".repeat(1 << 16);
        (0..20).for_each(|_| archive.write_all(&texts).unwrap());
        archive.finish().unwrap();
        assert!(file.metadata().unwrap().len() < 1 << 20);
        assert!(!aside(&file, 20 * texts.len() - 1).unwrap());
        assert!(aside(&file, 20 * texts.len()).unwrap());
    }

    #[test]
    fn a_sheet_takes_no_more_than_its_share_of_the_memory() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/tables/same.xlsx");
        let mut book = Xlsx::new(BufReader::new(File::open(path).unwrap())).unwrap();
        let sheet = book.sheet_names()[0].clone();
        assert!(cells_within(&mut book, &sheet, 10_000).unwrap().is_none());
        let range = cells_within(&mut book, &sheet, 64 << 20).unwrap().unwrap();
        assert_eq!(range, book.worksheet_range(&sheet).unwrap());
    }
}
