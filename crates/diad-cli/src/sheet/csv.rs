//! CSV: a cell with a separator, a quotation mark or a line break is quoted, all others are as they are.

use std::io::Write;

use anyhow::Result;

use super::{Column, Other, Writer};

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
    if text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r')) {
        buffer.push(b'"');
        buffer.extend(text.replace('"', "\"\"").bytes());
        buffer.push(b'"');
    } else {
        buffer.extend_from_slice(text.as_bytes());
    }
}

impl<W: Write> Writer for Csv<W> {
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
        for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
            for (place, column) in columns.iter().enumerate() {
                if place > 0 {
                    buffer.push(b',');
                }
                match column.cells.put_number(row, buffer)? {
                    None => {}
                    Some(Other::Word(word)) => buffer.extend_from_slice(word.as_bytes()),
                    Some(Other::Truth(is)) => buffer.push(if is { b'1' } else { b'0' }),
                    Some(Other::Text(text)) => put(buffer, text.unwrap_or_default()),
                }
            }
            buffer.push(b'\n');
        }
        Ok(self.out.write_all(buffer)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}
