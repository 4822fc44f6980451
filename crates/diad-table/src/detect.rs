//! What a file is, told from its first bytes.

use std::cell::RefCell;

use crate::encoding;
use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

/// What separates cells, in the order of preference.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Rows that are looked at for the separator.
const ROWS: usize = 50;

/// What the first bytes of a file say it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Gzip,
    Zstd,
    Parquet,
    Arrow,
    Csv,
    JsonLines,
    Utf16,
    /// Something that is not read, in words.
    Other(&'static str),
}

pub(crate) fn format(start: &[u8]) -> Format {
    match start {
        [0x1f, 0x8b, ..] => Format::Gzip,
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Format::Zstd,
        [b'P', b'A', b'R', b'1', ..] => Format::Parquet,
        [b'P', b'K', 3, 4, ..] => Format::Other("a ZIP archive or a spreadsheet"),
        [b'B', b'Z', b'h', ..] => Format::Other("compressed with bzip2"),
        [0xfd, b'7', b'z', b'X', b'Z', ..] => Format::Other("compressed with xz"),
        [b'A', b'R', b'R', b'O', b'W', b'1', ..] | [0xff, 0xff, 0xff, 0xff, ..] => Format::Arrow,
        _ if encoding::utf16(start).is_some() => Format::Utf16,
        [b'F', b'E', b'A', b'1', ..] => Format::Other("a Feather file of version 1"),
        [b'D', b'I', b'A', b'D', b'\r', b'\n', 0x1a, b'\n', ..] => Format::Other("a model of diad"),
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => Format::Other("a database"),
        _ => match start.trim_ascii_start() {
            [b'{', ..] => Format::JsonLines,
            [b'[', ..] if serde_json_array(start) => Format::Other("a JSON array"),
            _ => Format::Csv,
        },
    }
}

/// Whether `[` starts a JSON array rather than a column name.
fn serde_json_array(start: &[u8]) -> bool {
    matches!(start.trim_ascii_start()[1..].trim_ascii_start(), [b'{' | b'[', ..])
}

/// What separates the cells: what most often cuts the first rows into the same number of cells, two or more. A comma
/// if nothing does.
pub(crate) fn delimiter(start: &[u8], whole: bool) -> u8 {
    PARSERS.with_borrow_mut(|parsers| best_delimiter(start, whole, parsers))
}

fn best_delimiter(start: &[u8], whole: bool, parsers: &mut [Reader]) -> u8 {
    let mut best = (0, b',');
    for (delimiter, parser) in DELIMITERS.into_iter().zip(parsers) {
        parser.reset();
        let widths = widths(start, parser, whole);
        let Some(&header) = widths.first() else { continue };
        let same = widths.iter().filter(|&&width| width == header).count();
        // As many cells as possible in as many rows as possible; a separator that cuts nothing counts nothing.
        let score = (header - 1) * same * same / widths.len();
        if score > best.0 {
            best = (score, delimiter);
        }
    }
    best.1
}

thread_local! {
    /// A parser for each separator. Making one takes longer than reading a few rows.
    static PARSERS: RefCell<[Reader; DELIMITERS.len()]> =
        RefCell::new(DELIMITERS.map(|delimiter| ReaderBuilder::new().delimiter(delimiter).build()));
}

/// Cells in each of the first rows. The last row is left out if it may be cut off.
fn widths(start: &[u8], reader: &mut Reader, whole: bool) -> Vec<usize> {
    let (mut input, mut widths, mut count) = (start, Vec::new(), 0);
    let (mut output, mut ends) = ([0; 4096], [0; 1024]);
    while widths.len() < ROWS {
        let (result, taken, _, ended) = reader.read_record(input, &mut output, &mut ends);
        input = &input[taken..];
        count += ended;
        match result {
            ReadRecordResult::Record => {
                widths.push(count);
                count = 0;
            }
            ReadRecordResult::InputEmpty if whole || widths.is_empty() => {
                // The end of the input ends the row.
                let (result, _, _, ended) = reader.read_record(&[], &mut output, &mut ends);
                if matches!(result, ReadRecordResult::Record) {
                    widths.push(count + ended);
                }
                break;
            }
            ReadRecordResult::InputEmpty | ReadRecordResult::End => break,
            ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {}
        }
    }
    widths
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
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text:?}");
        }
        assert_eq!(delimiter(b"a;b;c\n1,1;2,2;3,3\n4,4;", false), b';');
    }

    #[test]
    fn formats_are_told_apart() {
        assert_eq!(format(b"  {\"a\":1}"), Format::JsonLines);
        assert_eq!(format(b"[{\"a\":1}]"), Format::Other("a JSON array"));
        assert_eq!(format(b"[a],b\n"), Format::Csv);
        assert_eq!(format(b"PAR1"), Format::Parquet);
        assert_eq!(format(b"ARROW1\0\0"), Format::Arrow);
        assert_eq!(format(b"\xff\xff\xff\xff\x78\0\0\0"), Format::Arrow);
    }
}
