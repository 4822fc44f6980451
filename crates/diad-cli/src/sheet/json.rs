//! JSON Lines: an object a row.

use std::io::Write;

use anyhow::Result;

use super::{Column, Other, Writer};

pub struct Json<W: Write> {
    out: W,
    buffer: Vec<u8>,
}

impl<W: Write> Json<W> {
    pub fn new(out: W) -> Self {
        Self { out, buffer: Vec::new() }
    }
}

impl<W: Write + Send> Writer for Json<W> {
    fn add(&mut self, columns: &[Column]) -> Result<()> {
        let buffer = &mut self.buffer;
        buffer.clear();
        let names: Vec<String> =
            columns.iter().map(|column| serde_json::Value::from(column.name).to_string()).collect();
        for row in 0..columns.first().map_or(0, |column| column.cells.len()) {
            for (place, (column, name)) in columns.iter().zip(&names).enumerate() {
                buffer.push(if place == 0 { b'{' } else { b',' });
                buffer.extend_from_slice(name.as_bytes());
                buffer.push(b':');
                match column.cells.put_number(row, buffer)? {
                    None => {}
                    Some(Other::Truth(is)) => write!(buffer, "{is}")?,
                    Some(Other::Number(_, number)) => write!(buffer, "{number}")?,
                    Some(Other::Text(text)) => serde_json::to_writer(&mut *buffer, &text)?,
                }
            }
            buffer.extend_from_slice(b"}\n");
        }
        Ok(self.out.write_all(buffer)?)
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        Ok(self.out.flush()?)
    }
}
