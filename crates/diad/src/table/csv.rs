//! Reads CSV: comma-separated UTF-8 text with a header line.
//!
//! Blank lines are skipped, as most readers do, except in a table of one column, where a blank line
//! can only be a missing value.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use csv_core::ReadRecordResult;

use super::select::Pick;
use super::{Origin, Place, Reader, Selection, Table, batch_rows};
use crate::{Error, Result};

/// A row longer than this is taken for a quotation mark that is never closed.
const LONGEST_ROW: usize = 64 << 20;

pub(super) struct CsvReader<R> {
    records: Records<R>,
    width: usize,
    header: Vec<String>,
    picks: Vec<Pick>,
    names: Vec<String>,
    any_rows: bool,
}

impl<R: BufRead> CsvReader<R> {
    pub(super) fn new(input: R, path: &Path, selection: &Selection) -> Result<Self> {
        let mut records = Records::new(input, path);
        if !records.advance()? {
            return Err(Error::EmptyFile { path: path.to_owned() });
        }
        let header = records.texts()?;
        check_header(&header, path)?;
        let picks = selection.resolve(&header)?;
        let names = picks.iter().map(|pick| header[pick.index].clone()).collect();
        Ok(Self { records, width: header.len(), header, picks, names, any_rows: false })
    }

    fn cell(&self, pick: &Pick) -> Result<f64> {
        let bytes = self.records.cell(pick.index);
        if let (false, Some(number)) = (pick.is_label, whole_number(bytes)) {
            return Ok(number);
        }
        let place = Place::Line(self.records.line);
        let column = || self.header[pick.index].clone();
        let Ok(text) = std::str::from_utf8(bytes) else { return Err(self.records.not_utf8()) };
        if pick.is_label {
            let label = if pick.may_be_unknown { parse_known_label(text) } else { parse_label(text) };
            return label.ok_or_else(|| Error::Label { column: column(), place, cell: text.to_owned() });
        }
        parse_number(text).ok_or_else(|| Error::NotNumber { column: column(), place, cell: text.to_owned() })
    }
}

impl<R: BufRead> Reader for CsvReader<R> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.picks.len());
        let mut lines = Vec::new();
        let mut columns = vec![Vec::new(); self.picks.len()];
        while lines.len() < most && self.records.advance()? {
            let found = self.records.cells();
            if found != self.width {
                return Err(Error::Ragged { line: self.records.line, found, expected: self.width });
            }
            if let (1, Some(line)) = (self.width, self.records.blank_line) {
                return Err(Error::Missing { column: self.header[0].clone(), place: Place::Line(line) });
            }
            for (pick, column) in self.picks.iter().zip(&mut columns) {
                column.push(self.cell(pick)?);
            }
            lines.push(self.records.line);
        }
        if lines.is_empty() {
            let path = self.records.path.clone();
            return if self.any_rows { Ok(None) } else { Err(Error::NoRows { path }) };
        }
        self.any_rows = true;
        let rows = lines.len();
        Ok(Some(Table::batch(&self.names, columns, rows, Origin::Lines(lines))))
    }
}

/// Refuses a first line that is not a line of column names.
fn check_header(header: &[String], path: &Path) -> Result<()> {
    if let [only] = header {
        for (mark, separator) in [(';', "semicolons"), ('\t', "tabs"), ('|', "vertical bars")] {
            if only.contains(mark) {
                return Err(Error::Separator { path: path.to_owned(), separator });
            }
        }
    }
    let numbers: Option<Vec<f64>> = header.iter().map(|name| name.parse().ok()).collect();
    // Programs that know no names write 0, 1, 2, … as names: those are fine.
    let counted = |numbers: &[f64]| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0);
    match numbers {
        Some(numbers) if !(counted(&numbers) && (numbers[0] == 0.0 || numbers[0] == 1.0)) => {
            Err(Error::NoHeader { path: path.to_owned() })
        }
        _ => Ok(()),
    }
}

/// A short row of digits, the most common kind of cell, as its number.
fn whole_number(bytes: &[u8]) -> Option<f64> {
    const EXACT_DIGITS: usize = 15;
    if bytes.is_empty() || bytes.len() > EXACT_DIGITS {
        return None;
    }
    let mut number = 0u64;
    for byte in bytes {
        number = number * 10 + u64::from(byte.is_ascii_digit().then(|| byte - b'0')?);
    }
    Some(number as f64)
}

/// A number; NaN for a missing value; `None` for other text.
fn parse_number(text: &str) -> Option<f64> {
    const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "none"];
    match text.parse() {
        Ok(number) => Some(number),
        Err(_) => MISSING.iter().any(|word| text.eq_ignore_ascii_case(word)).then_some(f64::NAN),
    }
}

/// 1 for an anomaly, 0 for a normal row, `None` for other text.
pub(super) fn parse_label(text: &str) -> Option<f64> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word);
    match text.parse() {
        Ok(number) if number == 0.0 || number == 1.0 => Some(number),
        Ok(_) => None,
        Err(_) if ["true", "yes"].iter().any(is) => Some(1.0),
        Err(_) if ["false", "no"].iter().any(is) => Some(0.0),
        Err(_) => None,
    }
}

/// As [`parse_label`], and NaN for an empty cell or a word for a missing value.
pub(super) fn parse_known_label(text: &str) -> Option<f64> {
    parse_label(text).or_else(|| parse_number(text).filter(|number| number.is_nan()))
}

/// The rows of a CSV file, one at a time, each with the line it starts at.
struct Records<R> {
    input: R,
    path: PathBuf,
    core: csv_core::Reader,
    fields: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
    /// Line of the current row, counted from 1.
    line: u64,
    /// The first of the blank lines just before the current row.
    blank_line: Option<u64>,
    next_line: u64,
    last_byte: u8,
}

impl<R: BufRead> Records<R> {
    fn new(input: R, path: &Path) -> Self {
        Self {
            input,
            path: path.to_owned(),
            core: csv_core::Reader::new(),
            fields: vec![0; 4096],
            ends: vec![0; 64],
            count: 0,
            line: 1,
            blank_line: None,
            next_line: 1,
            last_byte: b'\n',
        }
    }

    /// Goes to the next row; `false` at the end of the file.
    fn advance(&mut self) -> Result<bool> {
        self.skip_blank_lines()?;
        self.line = self.next_line;
        self.core.set_line(self.next_line);
        let (mut length, mut count) = (0, 0);
        loop {
            let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
            let at_end = input.is_empty();
            // A line feed ends the last row as the end of the file would, but not inside quotation marks.
            let input = if at_end { b"\n" } else { input };
            let (result, taken, written, ended) =
                self.core.read_record(input, &mut self.fields[length..], &mut self.ends[count..]);
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
                ReadRecordResult::InputEmpty if at_end => return Ok(false),
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.fields.len() >= LONGEST_ROW => {
                    return Err(Error::OpenQuote { line: self.line });
                }
                ReadRecordResult::OutputFull => self.fields.resize(self.fields.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    self.count = count;
                    // The core counts line feeds; one that follows a carriage return is not counted again.
                    self.next_line = self.core.line() + u64::from(self.last_byte == b'\r');
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Skips the rest of the last line's end and the blank lines after it, counting lines.
    fn skip_blank_lines(&mut self) -> Result<()> {
        self.blank_line = None;
        loop {
            let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
            let Some(&byte) = input.first() else { return Ok(()) };
            if byte != b'\n' && byte != b'\r' {
                return Ok(());
            }
            let ends_line_before = byte == b'\n' && self.last_byte == b'\r';
            if !ends_line_before {
                self.blank_line.get_or_insert(self.next_line);
                self.next_line += 1;
            }
            self.last_byte = byte;
            self.input.consume(1);
        }
    }

    fn cells(&self) -> usize {
        self.count
    }

    /// A cell of the current row, without the white space around it.
    fn cell(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        self.fields[start..self.ends[index]].trim_ascii()
    }

    /// The cells of the current row as text.
    fn texts(&self) -> Result<Vec<String>> {
        let text = |index| std::str::from_utf8(self.cell(index)).map(str::to_owned);
        (0..self.count).map(text).collect::<std::result::Result<_, _>>().map_err(|_| self.not_utf8())
    }

    fn not_utf8(&self) -> Error {
        Error::NotUtf8 { path: self.path.clone(), line: self.line }
    }
}

fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::File { action: "read", path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::super::BATCH_ROWS;
    use super::*;

    fn open(text: &[u8]) -> Result<CsvReader<&[u8]>> {
        CsvReader::new(text, Path::new("t.csv"), &Selection::all())
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
            match first(text.as_bytes()) {
                Err(Error::NotNumber { place: Place::Line(found), .. }) => {
                    assert_eq!(found, line, "{text:?}")
                }
                other => panic!("{text:?} gives {other:?}"),
            }
        }
    }

    #[test]
    fn missing_values_are_nan() {
        let table = first(b"a,b,c\n,NA,nan\n1,null,N/A\n").unwrap();
        assert!(table.column(0)[0].is_nan() && table.column(1).iter().all(|value| value.is_nan()));
        assert_eq!(table.place(1), Place::Line(3));
        assert!(matches!(first(b"a\n1\n\n2\n"), Err(Error::Missing { place: Place::Line(3), .. })));
        assert_eq!(first(b"a\n1\n2\n\n\n").unwrap().rows(), 2);
        assert_eq!(first(b"a\r\n1\r\n2\r\n\r\n").unwrap().rows(), 2);
    }

    #[test]
    fn the_header_line_is_checked() {
        assert!(matches!(open(b""), Err(Error::EmptyFile { .. })));
        assert!(matches!(open(b"\n\r\n"), Err(Error::EmptyFile { .. })));
        assert!(matches!(open(b"1.5,2,3\n4,5,6\n"), Err(Error::NoHeader { .. })));
        assert!(matches!(open(b"a;b;c\n4;5;6\n"), Err(Error::Separator { .. })));
        assert!(matches!(open(b"a,b,a\n"), Err(Error::DuplicateColumn { .. })));
        assert!(matches!(open(b"a,\xff\n1,2\n"), Err(Error::NotUtf8 { line: 1, .. })));
        assert_eq!(first(b"0,1,2\n4,5,6\n").unwrap().names(), ["0", "1", "2"]);
    }

    #[test]
    fn bad_rows_are_errors() {
        assert!(matches!(first(b"a,b\n"), Err(Error::NoRows { .. })));
        assert!(matches!(first(b"a,b\n1,2\n3\n"), Err(Error::Ragged { line: 3, found: 1, expected: 2 })));
        assert!(matches!(first(b"a,b\n1,2,3\n"), Err(Error::Ragged { line: 2, found: 3, expected: 2 })));
        assert!(matches!(first(b"a,b\n1,\xff\n"), Err(Error::NotUtf8 { line: 2, .. })));
        let mut endless = b"a,b\n1,2\n3,\"".to_vec();
        endless.resize(LONGEST_ROW + 100, b'x');
        assert!(matches!(first(&endless), Err(Error::OpenQuote { line: 3 })));
    }

    #[test]
    fn an_open_quotation_mark_is_an_error_in_any_column() {
        let read = |text: &str| {
            let mut reader =
                CsvReader::new(text.as_bytes(), Path::new("t.csv"), &Selection::except(&["name"]))?;
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
        let mut reader = CsvReader::new(&text[..], Path::new("t.csv"), &selection).unwrap();
        assert_eq!(reader.next_batch().unwrap().unwrap().column(0), [1.0, 2.0]);
        assert!(reader.next_batch().unwrap().is_none());
    }

    #[test]
    fn labels_may_be_words() {
        let words = ["1", "0", "true", "FALSE", "Yes", "no", "1.0"].map(parse_label);
        assert_eq!(words, [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0].map(Some));
        assert_eq!(["2", "", "nan", "maybe"].map(parse_label), [None; 4]);
    }

    #[test]
    fn digits_are_read_as_any_number_is() {
        for text in ["0", "7", "007", "123456789012345"] {
            assert_eq!(whole_number(text.as_bytes()), text.parse().ok(), "{text}");
        }
        assert_eq!(
            ["", "1.5", "-1", "1234567890123456", "x"].map(|text| whole_number(text.as_bytes())),
            [None; 5]
        );
    }

    #[test]
    fn a_wide_table_has_short_batches() {
        assert_eq!([0, 1, 512, 1024, 10_000_000].map(batch_rows), [8192, 8192, 8192, 4096, 1]);
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
