//! CSV: a cell with a separator, a quotation mark or a line break is quoted, all others are as they are.

use std::borrow::Cow;
use std::io::Write;
use std::ops::Range;

use anyhow::Result;
use rayon::prelude::*;

use super::{Cells, Column, Other, Writer};

/// Rows that are made text by one thread at a time.
const PIECE: usize = 1024;

pub struct Csv<W: Write> {
    out: W,
    started: bool,
    buffer: Vec<u8>,
}

impl<W: Write> Csv<W> {
    pub fn new(out: W) -> Self {
        Self { out, started: false, buffer: Vec::new() }
    }
}

fn put(buffer: &mut Vec<u8>, text: &str) {
    buffer.extend_from_slice(quoted(text).as_bytes());
}

fn quoted(text: &str) -> Cow<'_, str> {
    match text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        true => Cow::Owned(format!("\"{}\"", text.replace('"', "\"\""))),
        false => Cow::Borrowed(text),
    }
}

/// The words of a column as they are written.
fn words<'a>(column: &Column<'a>) -> Vec<Cow<'a, str>> {
    let Cells::Words(words, _) = column.cells else { return Vec::new() };
    words.iter().map(|&word| quoted(word)).collect()
}

/// Some rows as text, with the words of each column.
fn lines(columns: &[Column], words: &[Vec<Cow<str>>], rows: Range<usize>) -> Result<Vec<u8>> {
    let mut buffer = Vec::with_capacity(rows.len() * columns.len() * 12);
    for row in rows {
        for (place, (column, words)) in columns.iter().zip(words).enumerate() {
            if place > 0 {
                buffer.push(b',');
            }
            if let Cells::Words(_, codes) = column.cells {
                buffer.extend_from_slice(words.get(codes[row] as usize).map_or(&[], |word| word.as_bytes()));
                continue;
            }
            match column.cells.put_number(row, &mut buffer)? {
                None => {}
                Some(Other::Truth(is)) => buffer.push(if is { b'1' } else { b'0' }),
                Some(Other::Number(text, _)) => put(&mut buffer, text),
                Some(Other::Text(text)) => put(&mut buffer, text.unwrap_or_default()),
            }
        }
        buffer.push(b'\n');
    }
    Ok(buffer)
}

impl<W: Write + Send> Writer for Csv<W> {
    fn add(&mut self, columns: &[Column]) -> Result<()> {
        let buffer = &mut self.buffer;
        buffer.clear();
        // The header waits for the first rows, so that an unreadable table gives no output at all.
        if !std::mem::replace(&mut self.started, true) {
            for (place, column) in columns.iter().enumerate() {
                if place > 0 {
                    buffer.push(b',');
                }
                put(buffer, column.name);
            }
            buffer.push(b'\n');
        }
        let rows = columns.first().map_or(0, |column| column.cells.len());
        let pieces: Vec<Range<usize>> =
            (0..rows).step_by(PIECE).map(|start| start..rows.min(start + PIECE)).collect();
        let words: Vec<Vec<Cow<str>>> = columns.iter().map(words).collect();
        let written: Result<Vec<Vec<u8>>> =
            pieces.into_par_iter().map(|rows| lines(columns, &words, rows)).collect();
        self.out.write_all(buffer)?;
        for lines in &written? {
            self.out.write_all(lines)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_rows_are_in_order() {
        let cells: Vec<u64> = (0..5000).collect();
        let mut out = Vec::new();
        let mut csv = Csv::new(&mut out);
        csv.add(&[Column { name: "n", cells: Cells::Whole(&cells) }]).unwrap();
        let expected: String = cells.iter().map(|n| format!("{n}\n")).collect();
        assert_eq!(String::from_utf8(out).unwrap(), "n\n".to_owned() + &expected);
    }
}
