//! The rows of a CSV file, one at a time.

use std::io::{self, BufRead};
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::block::Blocks;
use csv_core::ReadRecordResult;
use memchr::{memchr, memchr_iter, memchr2};

use crate::budget::longest_row;
use crate::cells::Cells;
use crate::encoding::decoded;
use crate::notation::trimmed;
use crate::{Error, Result};

/// Bytes by which the room for a row grows.
const ROOM: usize = 4096;

/// The rows of a CSV file, one at a time, each with the line it starts at.
pub(super) struct Records<R> {
    pub(super) input: R,
    pub(super) path: PathBuf,
    core: csv_core::Reader,
    /// Line of the current row, counted from 1.
    pub(super) line: u64,
    /// The blank lines just before the current row.
    pub(super) blank_lines: Range<u64>,
    pub(super) next_line: u64,
    pub(super) last_byte: u8,
    pub(super) delimiter: u8,
    /// Where the cells of a row end, while it is read.
    ends: Vec<usize>,
    pub(super) blocks: Blocks,
    /// Whether the first row, before which there may be a byte order mark, was read.
    pub(super) started: bool,
    /// Whether a name was not UTF-8.
    pub(super) foreign: bool,
}

impl<R: BufRead> Records<R> {
    /// Those of an input before which there were so many lines.
    pub(super) fn new(input: R, delimiter: u8, lines: u64, path: &Path) -> Self {
        Self {
            input,
            path: path.to_owned(),
            core: csv_core::ReaderBuilder::new().delimiter(delimiter).build(),
            line: lines + 1,
            blank_lines: 0..0,
            next_line: lines + 1,
            last_byte: b'\n',
            delimiter,
            ends: Vec::new(),
            blocks: Blocks::default(),
            started: false,
            foreign: false,
        }
    }

    /// Adds the next row to `cells`; `false` at the end of the file.
    pub(super) fn advance(&mut self, cells: &mut Cells) -> Result<bool> {
        self.skip_blank_lines()?;
        self.line = self.next_line;
        if self.started && self.take_plain_line(cells)? {
            return Ok(true);
        }
        self.started = true;
        self.core.set_line(self.next_line);
        // Both vectors are longer than what is in them while the parser writes; they are cut at the end.
        let start = cells.bytes.len();
        let (mut length, mut count) = (start, 0);
        cells.bytes.resize(start + ROOM, 0);
        if self.ends.is_empty() {
            self.ends.resize(cells.width.max(64) + 1, 0);
        }
        let found = loop {
            let input = self.input.fill_buf().map_err(|source| unreadable(&self.path, source))?;
            let at_end = input.is_empty();
            // A line feed ends the last row as the end of the file would, but not inside quotation marks.
            let input = if at_end { b"\n" } else { input };
            let (result, taken, written, ended) =
                self.core.read_record(input, &mut cells.bytes[length..], &mut self.ends[count..]);
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
                    let (line, column) = (self.line, count + 1);
                    return Err(Error::LongRow { line, column, most: longest_row() >> 20 });
                }
                ReadRecordResult::OutputFull => {
                    cells.bytes.resize(length + (length - start).max(ROOM), 0);
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(count + count.max(64), 0),
                ReadRecordResult::Record => {
                    // The core counts line feeds; one that follows a carriage return is not counted again.
                    self.next_line = self.core.line() + u64::from(self.last_byte == b'\r');
                    break true;
                }
                ReadRecordResult::End => break false,
            }
        };
        if found {
            let mut before = start;
            for end in &self.ends[..count] {
                cells.spans.push((before as u32, (start + end) as u32));
                before = start + end;
            }
            cells.lines.push(self.line);
        } else {
            length = start;
        }
        cells.bytes.truncate(length);
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
            let before = cells.bytes.len();
            cells.bytes.extend_from_slice(&line[start..place]);
            cells.end_cell(before);
            start = place + 1;
        }
        cells.lines.push(self.line);
        self.input.consume(end + 1);
        self.last_byte = b'\n';
        self.next_line += 1;
        Ok(true)
    }

    /// Skips the rest of the last line's end and the blank lines after it, counting lines.
    pub(super) fn skip_blank_lines(&mut self) -> Result<()> {
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
    pub(super) fn texts(&mut self, cells: &Cells) -> Vec<String> {
        let text = |&(start, end): &(u32, u32)| {
            let (text, plain) = decoded(&cells.bytes[start as usize..end as usize]);
            self.foreign |= !plain;
            trimmed(&text).to_owned()
        };
        cells.spans.iter().map(text).collect()
    }
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> Error {
    Error::File { action: "read", path: path.to_owned(), source }
}
