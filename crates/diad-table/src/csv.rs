//! Reads CSV: UTF-8 text with a header line, its cells separated by commas, semicolons, tabs or vertical bars.
//!
//! Blank lines are skipped, as most readers do, except in a table of one column, where a blank line between rows can
//! only be a missing value.

use std::io::{self, BufRead};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use csv_core::ReadRecordResult;
use memchr::{memchr, memchr_iter, memchr2};

use crate::budget::longest_row;
use crate::cells::Cells;
use crate::detect::Layout;
use crate::encoding::decoded;
use crate::header::Header;
use crate::notation::trimmed;
use crate::select::{self, Pick};
use crate::text::printable;
use crate::{About, Error, Reader, Result, Selection, Table, batch_rows};

/// Bytes by which the room for a row grows.
const ROOM: usize = 4096;

/// One row of so many may have too many cells.
const LONG_SHARE: u64 = 20;

/// Most columns of a table.
pub(crate) const MOST_COLUMNS: usize = 1 << 16;

pub(crate) struct CsvReader<R> {
    records: Records<R>,
    cells: Cells,
    picks: Vec<Pick>,
    names: Vec<String>,
    unread: Vec<String>,
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
        Self::laid_out(input, Layout { delimiter, before: 0, row_names: false, mark: 0 }, path, selection)
    }

    pub(crate) fn laid_out(input: R, layout: Layout, path: &Path, selection: &Selection) -> Result<Self> {
        let Layout { delimiter, before, row_names, mark } = layout;
        let mut records = Records::new(input, delimiter, path);
        if mark > 0 {
            records.skip_bytes(mark)?;
        }
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
        if before > 0 {
            about.notes.push(format!(
                "the table in {} starts at line {}; what is above it is not read",
                printable(&path.to_string_lossy()),
                records.line
            ));
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
        let picks = selection.resolve_in(&header)?;
        let names = picks.iter().map(|pick| header.names[pick.index].clone()).collect();
        let unread = select::unread(&header.names, &picks);
        cells.width = header.names.len();
        Ok(Self {
            records,
            cells,
            picks,
            names,
            unread,
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
        let ends = &mut self.cells.ends;
        if found < expected {
            self.short.add(line);
            ends.resize(before + expected, self.cells.bytes.len());
            return Ok(());
        }
        let end = ends[before + expected - 1];
        let more = &self.cells.bytes[end..];
        if !more.trim_ascii().is_empty() {
            self.long.add(line);
            // Where many rows have too many cells, the separator or the line of names is not what it seems.
            if self.long.rows * LONG_SHARE > self.rows {
                return Err(Error::Ragged { line, found, expected });
            }
        }
        ends.truncate(before + expected);
        self.cells.bytes.truncate(end);
        Ok(())
    }
}

impl<R: BufRead> Reader for CsvReader<R> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn unread(&self) -> &[String] {
        &self.unread
    }

    fn about(&self) -> About {
        let mut about = self.about.clone();
        if self.cells.foreign.load(Ordering::Relaxed) || self.records.foreign {
            let path = printable(&self.records.path.to_string_lossy());
            about.notes.push(format!("{path} is not in UTF-8; it is read as Windows-1252"));
        }
        about.notes.extend(self.short.note("few", "those that lack are missing values"));
        about.notes.extend(self.long.note("many", "those beyond the last name are not read"));
        about
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.cells.width);
        if !std::mem::take(&mut self.has_row) {
            self.cells.clear();
        }
        while !self.cells.is_full(most) {
            if let Some(line) = self.blanks.next() {
                self.cells.ends.push(self.cells.bytes.len());
                self.cells.lines.push(line);
                continue;
            }
            if let Some((cell, line)) = self.held.take() {
                self.cells.bytes.extend(cell);
                self.cells.ends.push(self.cells.bytes.len());
                self.cells.lines.push(line);
                continue;
            }
            let (row, before) = (self.cells.rows(), self.cells.ends.len());
            if !self.records.advance(&mut self.cells)? {
                break;
            }
            let (found, expected) = (self.cells.ends.len() - before, self.cells.width);
            self.rows += 1;
            if found != expected {
                self.fit_row(before, found)?;
            }
            // The blank lines before a row of one cell are rows of their own, but not those before the first row.
            if expected == 1 && (self.any_rows || row > 0) {
                self.blanks = std::mem::take(&mut self.records.blank_lines);
                if !self.blanks.is_empty() {
                    let start = before.checked_sub(1).map_or(0, |last| self.cells.ends[last]);
                    self.held = Some((self.cells.bytes.split_off(start), self.records.line));
                    self.cells.ends.truncate(before);
                    self.cells.lines.truncate(row);
                }
            }
        }
        if self.cells.rows() == 0 {
            let path = self.records.path.clone();
            return if self.any_rows { Ok(None) } else { Err(Error::NoRows { path }) };
        }
        self.any_rows = true;
        self.cells.batch(&self.names, &self.picks).map(Some)
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

/// The rows of a CSV file, one at a time, each with the line it starts at.
struct Records<R> {
    input: R,
    path: PathBuf,
    core: csv_core::Reader,
    /// Line of the current row, counted from 1.
    line: u64,
    /// The blank lines just before the current row.
    blank_lines: Range<u64>,
    next_line: u64,
    last_byte: u8,
    delimiter: u8,
    /// Whether the first row, before which there may be a byte order mark, was read.
    started: bool,
    /// Whether a name was not UTF-8.
    foreign: bool,
}

impl<R: BufRead> Records<R> {
    fn new(input: R, delimiter: u8, path: &Path) -> Self {
        Self {
            input,
            path: path.to_owned(),
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            line: 1,
            blank_lines: 0..0,
            next_line: 1,
            last_byte: b'\n',
            delimiter,
            started: false,
            foreign: false,
        }
    }

    /// Skips the first line, of so many bytes.
    fn skip_bytes(&mut self, mut count: usize) -> Result<()> {
        while count > 0 {
            let read = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?.len();
            let skipped = read.min(count);
            if skipped == 0 {
                break;
            }
            self.input.consume(skipped);
            count -= skipped;
        }
        self.next_line += 1;
        Ok(())
    }

    /// Adds the next row to `cells`; `false` at the end of the file.
    fn advance(&mut self, cells: &mut Cells) -> Result<bool> {
        self.skip_blank_lines()?;
        self.line = self.next_line;
        if self.started && self.take_plain_line(cells)? {
            return Ok(true);
        }
        self.started = true;
        self.core.set_line(self.next_line);
        // Both vectors are longer than what is in them while the parser writes; they are cut at the end.
        let (start, first) = (cells.bytes.len(), cells.ends.len());
        let (mut length, mut count) = (start, first);
        cells.bytes.resize(start + ROOM, 0);
        cells.ends.resize(first + cells.width.max(64) + 1, 0);
        let found = loop {
            let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
            let at_end = input.is_empty();
            // A line feed ends the last row as the end of the file would, but not inside quotation marks.
            let input = if at_end { b"\n" } else { input };
            let (result, taken, written, ended) =
                self.core.read_record(input, &mut cells.bytes[length..], &mut cells.ends[count..]);
            if let Some(&byte) = taken.checked_sub(1).and_then(|last| input.get(last)) {
                self.last_byte = byte;
            }
            self.input.consume(if at_end { 0 } else { taken });
            length += written;
            count += ended;
            match result {
                ReadRecordResult::InputEmpty if at_end && written > 0 => {
                    return Err(Error::OpenQuote { line: self.line });
                }
                ReadRecordResult::InputEmpty if at_end => break false,
                ReadRecordResult::InputEmpty => {}
                // A longer row is most likely a quotation mark that is never closed.
                ReadRecordResult::OutputFull if length - start >= longest_row() => {
                    let (line, column) = (self.line, count - first + 1);
                    return Err(Error::LongRow { line, column, most: longest_row() >> 20 });
                }
                ReadRecordResult::OutputFull => {
                    cells.bytes.resize(length + (length - start).max(ROOM), 0);
                }
                ReadRecordResult::OutputEndsFull => cells.ends.resize(count + (count - first).max(64), 0),
                ReadRecordResult::Record => {
                    // The core counts line feeds; one that follows a carriage return is not counted again.
                    self.next_line = self.core.line() + u64::from(self.last_byte == b'\r');
                    break true;
                }
                ReadRecordResult::End => break false,
            }
        };
        if found {
            cells.ends[first..count].iter_mut().for_each(|end| *end += start);
            cells.lines.push(self.line);
        } else {
            (length, count) = (start, first);
        }
        cells.bytes.truncate(length);
        cells.ends.truncate(count);
        Ok(found)
    }

    /// Adds a row without quotation marks whose line is in the buffer as a whole; `false` if the next row is none.
    fn take_plain_line(&mut self, cells: &mut Cells) -> Result<bool> {
        let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
        let Some(end) = memchr(b'\n', input) else { return Ok(false) };
        let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]);
        if memchr2(b'"', b'\r', line).is_some() {
            return Ok(false);
        }
        let mut start = 0;
        for place in memchr_iter(self.delimiter, line).chain([line.len()]) {
            cells.bytes.extend_from_slice(&line[start..place]);
            cells.ends.push(cells.bytes.len());
            start = place + 1;
        }
        cells.lines.push(self.line);
        self.input.consume(end + 1);
        self.last_byte = b'\n';
        self.next_line += 1;
        Ok(true)
    }

    /// Skips the rest of the last line's end and the blank lines after it, counting lines.
    fn skip_blank_lines(&mut self) -> Result<()> {
        self.blank_lines = 0..0;
        loop {
            let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
            let Some(&byte) = input.first() else { return Ok(()) };
            if byte != b'\n' && byte != b'\r' {
                return Ok(());
            }
            let ends_line_before = byte == b'\n' && self.last_byte == b'\r';
            if !ends_line_before {
                if self.blank_lines.is_empty() {
                    self.blank_lines.start = self.next_line;
                }
                self.next_line += 1;
                self.blank_lines.end = self.next_line;
            }
            self.last_byte = byte;
            self.input.consume(1);
        }
    }

    /// The cells of the only row in `cells` as text.
    fn texts(&mut self, cells: &Cells) -> Vec<String> {
        let starts = std::iter::once(0).chain(cells.ends.iter().copied());
        let text = |(start, &end): (usize, &usize)| {
            let (text, plain) = decoded(&cells.bytes[start..end]);
            self.foreign |= !plain;
            trimmed(&text).to_owned()
        };
        starts.zip(&cells.ends).map(text).collect()
    }
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::File { action: "read", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BATCH_ROWS, Place, ReadAs, Values};

    fn open(text: &[u8]) -> Result<CsvReader<&[u8]>> {
        CsvReader::new(text, b',', Path::new("t.csv"), &Selection::all())
    }

    fn first(text: &[u8]) -> Result<Table> {
        Ok(open(text)?.next_batch()?.expect("a first batch"))
    }

    #[test]
    fn numbers_are_read_whatever_the_line_ends() {
        let expected =
            Table::new(vec!["a".into(), "b c".into()], vec![vec![1.0, -2.5e3], vec![0.5, 4.0]]).unwrap();
        for text in [
            "a,b c\n1,.5\n-2.5e3,4\n",
            "a,b c\r\n1,0.5\r\n-2.5e3,4",
            "\u{feff}a, b c \n\n 1,\"0.5\"\n\n\n-2500 , +4\n\n",
            "a,b c\r1,0.5\r-2500,4",
        ] {
            assert_eq!(first(text.as_bytes()).unwrap(), expected, "{text:?}");
        }
    }

    #[test]
    fn lines_are_counted_past_blank_lines_and_line_breaks_in_cells() {
        for (text, line) in [
            ("a,b\n1,2\n3,x\n", 3),
            ("a,b\r\n1,2\r\n3,x\r\n", 3),
            ("\n\na,b\n1,2\n\n\n3,x\n", 7),
            ("a,b\r\n\r\n1,2\r\n\r\n3,x", 5),
            ("a,\"b\nb\"\n1,2\n3,x", 4),
            ("a,b\r1,2\r3,x\r", 3),
            ("\r\ra,b\r1,2\r\r\r3,x\r", 7),
            ("a,\"b\r\nb\"\r\n1,2\r\n3,x", 4),
            ("a,b\r\n1,2\n\r\n\n3,x", 5),
        ] {
            let numbers = Selection::all().reading("b", ReadAs::Numbers).reading("b\nb", ReadAs::Numbers);
            let numbers = numbers.reading("b\r\nb", ReadAs::Numbers);
            let mut reader = CsvReader::new(text.as_bytes(), b',', Path::new("t.csv"), &numbers).unwrap();
            match reader.next_batch() {
                Err(Error::NotNumber { place: Place::Line(found), .. }) => {
                    assert_eq!(found, line, "{text:?}")
                }
                other => panic!("{text:?} gives {other:?}"),
            }
        }
    }

    #[test]
    fn decimal_commas_are_read_between_semicolons_alone() {
        let read = |text: &str, delimiter| {
            let path = Path::new("t.csv");
            let mut reader = CsvReader::new(text.as_bytes(), delimiter, path, &Selection::all()).unwrap();
            reader.next_batch().unwrap().unwrap()
        };
        let table = read("a;b;c\n1,5;x,1;10\n-2;y,2;0,5\n", b';');
        assert_eq!((table.column(0), table.column(2)), (&[1.5, -2.0][..], &[10.0, 0.5][..]));
        assert_eq!(table.values(1).text(0), Some("x,1"));
        assert_eq!(read("a;b\n1,5;2\n2.5;3\n", b';').values(0).text(1), Some("2.5"), "points and commas");
        assert_eq!(read("a,b\n\"1,5\",2\n\"2,5\",3\n", b',').values(0).text(0), Some("1,5"));
    }

    #[test]
    fn missing_values_are_nan() {
        let table = first(b"a,b,c\n,NA,nan\n1,null,N/A\n").unwrap();
        assert!(table.column(0)[0].is_nan() && table.column(1).iter().all(|value| value.is_nan()));
        assert_eq!(table.place(1), Place::Line(3));
        let gap = first(b"a\n\n1\n\n\n2\n").unwrap();
        assert!(gap.column(0)[1].is_nan() && gap.column(0)[2].is_nan());
        assert_eq!((gap.rows(), gap.place(1), gap.place(3)), (4, Place::Line(4), Place::Line(6)));
        assert_eq!(first(b"a\n1\n2\n\n\n").unwrap().rows(), 2);
        assert_eq!(first(b"a\r\n1\r\n2\r\n\r\n").unwrap().rows(), 2);
    }

    #[test]
    fn the_header_line_is_checked() {
        assert!(matches!(open(b""), Err(Error::EmptyFile { .. })));
        assert!(matches!(open(b"\n\r\n"), Err(Error::EmptyFile { .. })));
        let numbers = first(b"1.5,2,3\n4,5,6\n").unwrap();
        assert_eq!(
            (numbers.names(), numbers.column(0)),
            (&["column 1", "column 2", "column 3"].map(String::from)[..], &[1.5, 4.0][..])
        );
        assert_eq!(first(b"a,b,a\n1,2,3\n").unwrap().names(), ["a", "b", "a (2)"]);
        assert_eq!(first(b"a,na\xefve\n1,2\n").unwrap().names(), ["a", "naïve"]);
        assert_eq!(first(b"0,1,2\n4,5,6\n").unwrap().names(), ["0", "1", "2"]);
    }

    /// Any number of blank lines is read in batches of ordinary size.
    #[test]
    fn blank_lines_take_no_room() {
        let text = format!("a\n1\n{}2\n\n3\n", "\n".repeat(3 * BATCH_ROWS));
        let mut reader = open(text.as_bytes()).unwrap();
        let (mut rows, mut present) = (0, Vec::new());
        while let Some(batch) = reader.next_batch().unwrap() {
            assert!(batch.rows() <= BATCH_ROWS);
            for (row, value) in batch.column(0).iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                present.push((rows + row, *value, batch.place(row)));
            }
            rows += batch.rows();
        }
        let last = 3 * BATCH_ROWS as u64;
        let place = |row: u64, value: f64| (row as usize, value, Place::Line(row + 2));
        assert_eq!(rows, 3 * BATCH_ROWS + 4);
        assert_eq!(present, [place(0, 1.0), place(last + 1, 2.0), place(last + 3, 3.0)]);
    }

    #[test]
    fn bad_rows_are_errors() {
        assert!(matches!(first(b"a,b\n"), Err(Error::NoRows { .. })));
        assert!(matches!(first(b"a,b\n1,2,3\n"), Err(Error::Ragged { line: 2, found: 3, expected: 2 })));
        assert_eq!(first(b"a,b\n1,caf\xe9\n").unwrap().values(1).text(0), Some("café"));
        let mut endless = b"a,b\n1,2\n3,\"".to_vec();
        endless.resize(longest_row() + 5000, b'x');
        assert!(matches!(first(&endless), Err(Error::LongRow { line: 3, column: 2, .. })));
    }

    #[test]
    fn rows_of_other_lengths_are_read_where_they_have_one_reading() {
        let text = format!("a,b\n{}3\n4,5,,\n6,7,8\n", "1,2\n".repeat(30));
        let mut reader = open(text.as_bytes()).unwrap();
        let table = reader.next_batch().unwrap().unwrap();
        assert_eq!(
            (table.rows(), table.column(0)[30], table.column(1)[31], table.column(1)[32]),
            (33, 3.0, 5.0, 7.0)
        );
        assert!(table.column(1)[30].is_nan());
        assert_eq!(
            reader.about().notes,
            [
                "line 32 has too few cells; those that lack are missing values",
                "line 34 has too many cells; those beyond the last name are not read"
            ]
        );
    }

    #[test]
    fn texts_times_and_numbers_are_told_apart() {
        let table = first(b"n,w,t,m\n1,a,2024-01-31,7\n,b,,x\n2.5,,2024-02-01 06:00,\n3,a,NA,?\n").unwrap();
        assert!(matches!(table.values(0), Values::Numbers(_)));
        assert!(matches!(table.values(2), Values::Times(times) if times[2] - times[0] == 30.0 * 3600.0));
        let words: Vec<Option<&str>> = (0..4).map(|row| table.values(1).text(row)).collect();
        assert_eq!(words, [Some("a"), Some("b"), None, Some("a")]);
        let mixed: Vec<Option<&str>> = (0..4).map(|row| table.values(3).text(row)).collect();
        assert_eq!(mixed, [Some("7"), Some("x"), None, None]);
        let texts = Selection::only(["n"]).reading("n", ReadAs::Texts);
        let mut reader = CsvReader::new(&b"n\n01\n1\n"[..], b',', Path::new("t.csv"), &texts).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap().values(0).text(0), Some("01"));
    }

    #[test]
    fn an_open_quotation_mark_is_an_error_in_any_column() {
        let read = |text: &str| {
            let mut reader =
                CsvReader::new(text.as_bytes(), b',', Path::new("t.csv"), &Selection::except(&["name"]))?;
            Ok(reader.next_batch()?.expect("rows").column(0).to_vec())
        };
        for (text, line) in [
            ("x,name\n1,\"Bob\n2,Eve\n3,Tom\n", 2),
            ("x,name\n1,Bob\n2,\"Eve\n3,Tom", 3),
            ("name,x\nBob,1\nEve,\"2\nTom,3\n", 3),
            ("x,name\n1,\"Bob\"\"\n2,Eve\n", 2),
            ("x,name\n1,Bob\n2,\"", 3),
            ("x,\"name\n1,Bob\n2,Eve\n", 1),
        ] {
            let error: Error = read(text).unwrap_err();
            assert!(matches!(error, Error::OpenQuote { line: found } if found == line), "{text:?}: {error}");
        }
        for text in [
            "x,name\n1,\"Bob\n\nEve\"\n\"2\",\"To\"\"m\"\n",
            "x,name\n1,\"Bob\"\n2,\"Eve\nTom\"",
            "x,name\r\n1,Bob\r\n2,\"Eve\"\"\r\n\"",
        ] {
            assert_eq!(read(text).unwrap(), [1.0, 2.0], "{text:?}");
        }
    }

    #[test]
    fn columns_that_are_not_selected_may_hold_anything() {
        let selection = Selection::except(&["name"]);
        let text = b"name,x\n\"a, b\nc\",1\n\xff\xfe,2\n";
        let mut reader = CsvReader::new(&text[..], b',', Path::new("t.csv"), &selection).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap().column(0), [1.0, 2.0]);
        assert!(reader.next_batch().unwrap().is_none());
    }

    #[test]
    fn a_wide_table_has_short_batches() {
        assert_eq!([0, 1, 512, 1024, 10_000_000].map(batch_rows), [8192, 8192, 8192, 4096, 1]);
    }

    /// A buffer of a few bytes never has a whole line, so that every row goes the long way.
    #[test]
    fn plain_lines_are_read_as_all_others_are() {
        let mut state = 7u64;
        for case in 0..20_000 {
            let marks = [b"a", b"1", b",", b",", b"\n", b"\n", b"\r", b"\"", b" ", b"."];
            let mut text = b"x,y\n".to_vec();
            for _ in 0..case % 40 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                text.extend(marks[(state >> 40) as usize % marks.len()]);
            }
            let read = |capacity: usize| {
                let input = io::BufReader::with_capacity(capacity, &text[..]);
                let mut reader = CsvReader::new(input, b',', Path::new("t.csv"), &Selection::all())?;
                let table = reader.next_batch()?.expect("rows");
                let cell = |index| (0..table.rows()).map(move |row| (row, index));
                let cells = (0..2).flat_map(cell).map(|(row, index)| table.values(index).cell(row));
                let places = (0..table.rows()).map(|row| table.place(row));
                Ok::<_, Error>((cells.collect::<Vec<_>>(), places.collect::<Vec<_>>()))
            };
            let (long, plain) = (read(2), read(1 << 16));
            assert_eq!(
                long.map_err(|error| error.to_string()),
                plain.map_err(|error| error.to_string()),
                "{:?}",
                String::from_utf8_lossy(&text)
            );
        }
    }

    #[test]
    fn batches_follow_each_other() {
        let mut text = String::from("x\n");
        (0..2 * BATCH_ROWS + 5).for_each(|i| text.push_str(&format!("{i}\n")));
        let mut reader = open(text.as_bytes()).unwrap();
        let mut rows = Vec::new();
        while let Some(batch) = reader.next_batch().unwrap() {
            assert!(batch.column(0)[0] == rows.iter().sum::<usize>() as f64);
            rows.push(batch.rows());
        }
        assert_eq!(rows, [BATCH_ROWS, BATCH_ROWS, 5]);
    }
}
