//! What a file is, told from its first bytes.

use std::cell::RefCell;

use memchr::memchr;

use crate::{comments, encoding, fixed, spaces};
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// What separates cells, in the order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Rows that are looked at for the separator.
const ROWS: usize = 50;

/// What the first bytes of a file say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Bzip2,
    Zstd,
    Parquet,
    Arrow,
    Csv,
    /// JSON: objects, or lists in a list.
    Json,
    Utf16,
    /// An archive, as Excel workbooks are.
    Zip,
    /// Something that is not read, in words.
    Other(&'static str),
}

pub(crate) fn format(start: &[u8]) -> Format {
    match start {
        [0x1f, 0x8b, ..] => Format::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Format::Zstd,
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        [b'P', b'K', 3, 4, ..] => Format::Zip,
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', ..] => Format::Bzip2,
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Format::Other("compressed with xz"),
        [0xd0, 0xcf, 0x11, 0xe0, ..] => Format::Other("an old Excel workbook (.xls) or one with a password"),
        [0x89, b'H', b'D', b'F', ..] => Format::Other("an HDF5 file"),
        [b'O', b'b', b'j', 1, ..] => Format::Other("an Avro file"),
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] => Format::Other("text in UTF-32"),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Format::Arrow,
        _ if encoding::utf16(start).is_some() => Format::Utf16,
        [b'F', b'E', b'A', b'1', ..] => Format::Other("a Feather file of version 1"),
        [b'D', b'I', b'A', b'D', b'\r', b'\n', 0x1a, b'\n', ..] => Format::Other("a model of diad"),
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => Format::Other("a database"),
        _ if is_binary(start) => Format::Other("a binary file of another program"),
        _ => match start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start() {
            [b'<', b'?', b'x', b'm', b'l', ..] => Format::Other("XML"),
            page if is_web_page(page) => Format::Other("a web page"),
            [b'{', ..] => Format::Json,
            [b'[', rest @ ..] => match rest.trim_ascii_start() {
                [b'{', ..] => Format::Json,
                [b'[', rest @ ..] if starts_value(rest.trim_ascii_start()) => Format::Json,
                // A column name may start so.
                _ => Format::Csv,
            },
            _ => Format::Csv,
        },
    }
}

/// Whether text begins as a value of JSON does, or as the end of a list without any.
fn starts_value(start: &[u8]) -> bool {
    let words = [&b"null"[..], b"true", b"false", b"NaN"];
    matches!(start, [b'"' | b'-' | b'0'..=b'9' | b'[' | b']' | b'{', ..])
        || words.iter().any(|word| start.starts_with(word))
}

/// Whether text begins as web pages do. The name of a column may start with < as well.
fn is_web_page(start: &[u8]) -> bool {
    const BEGINNINGS: [&[u8]; 6] = [b"<!doctype", b"<!--", b"<html", b"<head", b"<body", b"<table"];
    BEGINNINGS
        .iter()
        .any(|begin| start.get(..begin.len()).is_some_and(|text| text.eq_ignore_ascii_case(begin)))
}

/// Whether bytes are no text: one in fifty is null, which text in UTF-8 has none of.
fn is_binary(start: &[u8]) -> bool {
    const SHARE: usize = 50;
    memchr::memchr_iter(0, start).count() * SHARE > start.len()
}

/// How a CSV file is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// What separates cells.
    pub(crate) delimiter: u8,
    /// Rows before the line of names, such as a title.
    pub(crate) before: usize,
    /// Whether every row has one more cell than there are names: a name of the row, as R writes it.
    pub(crate) row_names: bool,
    /// Bytes before all that, and the lines that end in them: comments, or one by which a program says what separates cells.
    pub(crate) skipped: usize,
    pub(crate) lines: u64,
    /// Whether they are comments.
    pub(crate) commented: bool,
}

/// How a CSV file is laid out. What separates cells is what most often cuts the first rows into the same number of cells,
/// two or more; or else white space, where that is certain; or else a comma.
pub(crate) fn layout(start: &[u8], whole: bool) -> Layout {
    let comments = comments::above(start, whole);
    if comments.bytes > 0 {
        let below = uncommented(&start[comments.bytes..], whole);
        return Layout {
            skipped: comments.bytes,
            lines: comments.lines,
            commented: comments.lines > 0,
            ..below
        };
    }
    uncommented(start, whole)
}

/// How a CSV file without comments above it is laid out.
pub(crate) fn uncommented(start: &[u8], whole: bool) -> Layout {
    if let Some((delimiter, mark)) = said_delimiter(start) {
        let widths = PARSERS.with_borrow_mut(|parsers| {
            let place = DELIMITERS.iter().position(|&known| known == delimiter)?;
            parsers[place].reset();
            Some(rows(&start[mark..], &mut parsers[place], whole))
        });
        let (before, row_names) = shape(&widths.unwrap_or_default());
        return Layout { delimiter, before, row_names, skipped: mark, lines: 1, commented: false };
    }
    PARSERS.with_borrow_mut(|parsers| best_layout(start, whole, parsers))
}

/// What separates cells, and the length of the line that says so: `sep=;`, which Excel writes and reads.
fn said_delimiter(start: &[u8]) -> Option<(u8, usize)> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start);
    let skipped = start.len() - text.len();
    let line = text.get(..memchr(b'\n', text)?)?;
    let said = line.trim_ascii_end();
    let said = match said {
        [b'"', said @ .., b'"'] => said,
        // A tab at the end is the separator, not white space.
        _ if line.ends_with(b"=\t") || line.ends_with(b"=\t\r") => &line[..5.min(line.len())],
        said => said,
    };
    let [s, e, p, b'=', delimiter] = said else { return None };
    let is_sep = [*s, *e, *p].eq_ignore_ascii_case(b"sep");
    (is_sep && DELIMITERS.contains(delimiter)).then_some((*delimiter, skipped + line.len() + 1))
}

fn best_layout(start: &[u8], whole: bool, parsers: &mut [Reader]) -> Layout {
    let (mut best, mut even) = (
        (0, Layout { delimiter: b',', before: 0, row_names: false, skipped: 0, lines: 0, commented: false }),
        false,
    );
    for (delimiter, parser) in DELIMITERS.into_iter().zip(parsers) {
        parser.reset();
        let rows = rows(start, parser, whole);
        if rows.is_empty() {
            continue;
        }
        let (before, row_names) = shape(&rows);
        let widths: Vec<usize> = rows[before..].iter().map(|row| row.cells).collect();
        let cells = widths[0] + usize::from(row_names);
        // A line of names may have a separator at its end that the rows do not have.
        let shorter = widths.iter().filter(|&&width| width == cells - 1).count();
        // Rows may have one at their end that the line of names does not have.
        let fits = |row: &&Row| row.cells == cells || (row.cells == cells + 1 && row.filled <= cells);
        let same = rows[before..].iter().filter(fits).count();
        let same = if before > 0 { same.max(shorter) } else { same };
        // As many cells as possible in as many rows as possible; a separator that cuts nothing counts nothing.
        let score = (cells - 1) * same * same / widths.len();
        if score > best.0 {
            best = (score, Layout { delimiter, before, row_names, skipped: 0, lines: 0, commented: false });
            even = same == widths.len();
        }
    }
    // Tabs and spaces may be mixed.
    let doubtful = best.0 == 0 || (best.1.delimiter == b'\t' && !even);
    if !doubtful {
        return best.1;
    }
    let fixed = || (best.0 == 0 && fixed::places(start, whole).is_some()).then_some(fixed::LAYOUT);
    spaces::layout(start, whole).or_else(fixed).unwrap_or(best.1)
}

/// One of the first rows.
#[derive(Debug, Clone, Copy)]
struct Row {
    cells: usize,
    /// Cells up to the last that is not empty.
    filled: usize,
    /// Whether one of them starts as numbers and dates do.
    has_numbers: bool,
}

/// Rows before the line of names, and whether all rows have one cell more than that line.
fn shape(rows: &[Row]) -> (usize, bool) {
    /// Rows that tell of a shape, at least.
    const TELLING: usize = 5;
    const MOST_BEFORE: usize = 20;
    let widths: Vec<usize> = rows.iter().map(|row| row.cells).collect();
    if widths.len() < TELLING {
        return (0, false);
    }
    let count = |width: usize| widths.iter().filter(|&&found| found == width).count();
    let usual = widths.iter().copied().max_by_key(|&width| (count(width), width)).unwrap_or(1);
    let has_row_names = |names: usize| {
        // Where the last cell of every row is empty, rows have a separator at their end that the line of names does not have.
        let below = &rows[names + 1..];
        widths[names] + 1 == usual
            && usual > 2
            && below.iter().all(|row| row.cells == usual)
            && below.iter().any(|row| row.filled == usual)
    };
    // A title stands before the table if it is narrower and most of what follows is not.
    let narrower = widths.iter().take(MOST_BEFORE).take_while(|&&width| width + 1 < usual).count();
    // Programs that write all rows alike fill up a title with empty cells. What follows it must look like names: without numbers, which
    // the rows below have.
    let padded = rows.iter().take(MOST_BEFORE).take_while(|row| row.filled * 2 < usual).count();
    let named = |names: usize| {
        let below = rows.get(names + 1..).unwrap_or_default();
        let is_named = |row: &Row| row.filled * 2 > usual && !row.has_numbers;
        rows.get(names).is_some_and(is_named)
            && below.iter().filter(|row| row.has_numbers).count() * 2 > below.len()
    };
    let before = match (narrower, padded) {
        (0, padded) if named(padded) => padded,
        (narrower, _) => narrower,
    };
    let before = if before < MOST_BEFORE && count(usual) * 2 > widths.len() { before } else { 0 };
    (before, before + TELLING <= widths.len() + 1 && has_row_names(before))
}

thread_local! {
    /// A parser for each separator. Making one takes longer than reading a few rows.
    static PARSERS: RefCell<[Reader; DELIMITERS.len()]> =
        RefCell::new(DELIMITERS.map(|delimiter| ReaderBuilder::new().delimiter(delimiter).build()));
}

/// Whether a cell starts as numbers, amounts and dates do.
fn starts_as_number(cell: &[u8]) -> bool {
    let cell = String::from_utf8_lossy(cell);
    let sign = |c: char| c.is_whitespace() || matches!(c, '-' | '+' | '(' | '.' | '$' | '€' | '£' | '¥');
    cell.trim_start_matches(sign).starts_with(|c: char| c.is_ascii_digit())
}

/// The first rows. The last one is left out if it may be cut off.
fn rows(start: &[u8], reader: &mut Reader, whole: bool) -> Vec<Row> {
    const NONE: Row = Row { cells: 0, filled: 0, has_numbers: false };
    let (mut input, mut rows, mut row) = (start, Vec::new(), NONE);
    // Bytes of the row that were written before, and up to the last cell that has ended.
    let (mut offset, mut before) = (0, 0);
    let (mut output, mut ends) = ([0; 4096], [0; 1024]);
    let mut is_ended = false;
    while rows.len() < ROWS {
        let (result, taken, written, ended) =
            reader.read_record(if is_ended { &[] } else { input }, &mut output, &mut ends);
        input = &input[if is_ended { 0 } else { taken }..];
        for &end in &ends[..ended] {
            row.cells += 1;
            if end > before {
                row.filled = row.cells;
                let cell = before.checked_sub(offset).and_then(|from| output.get(from..end - offset));
                row.has_numbers |= cell.is_some_and(starts_as_number);
            }
            before = end;
        }
        offset += written;
        match result {
            ReadRecordResult::Record => {
                rows.push(std::mem::replace(&mut row, NONE));
                (offset, before) = (0, 0);
            }
            // The end of the input ends the row.
            ReadRecordResult::InputEmpty if !is_ended && (whole || rows.is_empty()) => is_ended = true,
            ReadRecordResult::InputEmpty | ReadRecordResult::End => break,
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_told_apart() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;4,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3", b'|'),
            ("\"x;y\",b\n\"1;2;3\",4\n", b','),
            ("name\nBob\n", b','),
            ("a;b\n", b';'),
            ("a;b", b';'),
            ("", b','),
            ("\"age\";\"job\"\r\n56;\"a, b\"\r\n", b';'),
        ] {
            assert_eq!(layout(text.as_bytes(), true).delimiter, expected, "{text:?}");
        }
        assert_eq!(layout(b"a;b;c\n1,1;2,2;3,3\n4,4;", false).delimiter, b';');
    }

    #[test]
    fn titles_row_names_and_excel_s_first_line_are_told() {
        let found = |text: &str| {
            let Layout { delimiter, before, row_names, skipped, .. } = layout(text.as_bytes(), true);
            (delimiter, before, row_names, skipped)
        };
        let rows = "1;2;3\n".repeat(6);
        assert_eq!(found(&format!("sep=;\na;b;c\n{rows}")), (b';', 0, false, 6));
        assert_eq!(found("\u{feff}SEP=\t\r\na\tb\n1\t2\n"), (b'\t', 0, false, 10));
        assert_eq!(found(&format!("A title\n\nand more, of it\na;b;c\n{rows}")), (b';', 2, false, 0));
        assert_eq!(found(&format!("a;b\n{rows}")), (b';', 0, true, 0));
        assert_eq!(found(&format!("a;b;c\n{rows}")), (b';', 0, false, 0));
        assert_eq!(found("a,b\n1,2,3\n"), (b',', 0, false, 0));
        assert_eq!(found(&format!("a;b;c\n{}", "1;2;;\n4;5;6;\n".repeat(6))), (b';', 0, false, 0));
        // Filled up with empty cells, as spreadsheets write them.
        let rows = "1,2,3,4,5\n".repeat(6);
        let titles = ",,,,\nA title,,,,\nPlace:,here,,,\n";
        assert_eq!(found(&format!("{titles}a,b,c,d,e\n{rows}")), (b',', 3, false, 0));
        assert_eq!(found(&format!("a,,,,\n{rows}")), (b',', 0, false, 0));
        assert_eq!(found(&format!("a,b,c,d,e\n1,,,,\n2,,,,\n{rows}")), (b',', 0, false, 0));
        // Names that are mostly missing, above rows that could be names.
        for row in ["red,big,blue,x,y\n", "a,\"1,5\",5 %,$5,2024-01-01\n"] {
            assert_eq!(found(&format!("name,,,,\n{}", row.repeat(20))), (b',', 0, false, 0));
        }
    }

    #[test]
    fn formats_are_told_apart() {
        assert_eq!(format(b"  {\"a\":1}"), Format::Json);
        assert_eq!(format(b"[ {\"a\":1}]"), Format::Json);
        assert_eq!([format(b"[[1]]"), format(b"[\n [null]]"), format(b"[[\"a\"]]")], [Format::Json; 3]);
        assert_eq!(format(b"[[a]],b\n"), Format::Csv);
        assert_eq!(format(b"[a],b\n"), Format::Csv);
        assert_eq!(format(b"PAR1"), Format::Parquet);
        assert!(matches!(format(b"\xd0\xcf\x11\xe0\xa1\xb1"), Format::Other(kind) if kind.contains(".xls")));
        assert_eq!(format(b"a,b\0\0\0\0"), Format::Other("a binary file of another program"));
        assert_eq!(format(b"\n<!DOCTYPE HTML><p>a</p>"), Format::Other("a web page"));
        assert_eq!(format(b"<?xml version=\"1.0\"?>"), Format::Other("XML"));
        assert_eq!(format(b"<a>,b\n"), Format::Csv);
        assert_eq!(format(b"<lod,b,note\n1,2,<b>y</b>\n"), Format::Csv);
        assert_eq!(format(b"ARROW1\0\0"), Format::Arrow);
        assert_eq!(format(b"\xff\xff\xff\xff\x78\0\0\0"), Format::Arrow);
    }
}
