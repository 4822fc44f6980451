//! Tables as NumPy files, so that all programs start from the same numbers.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use diad::table::Table;

/// Writes the rows as one float32 array in C order.
pub fn write_rows(path: &Path, table: &Table) -> Result<()> {
    let columns = table.names().len();
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(&header("<f4", &format!("({}, {columns})", table.rows())))?;
    for row in 0..table.rows() {
        for column in 0..columns {
            out.write_all(&(table.column(column)[row] as f32).to_le_bytes())?;
        }
    }
    Ok(out.flush()?)
}

/// Writes labels as one array of bytes.
pub fn write_labels(path: &Path, labels: &[f64]) -> Result<()> {
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(&header("|u1", &format!("({},)", labels.len())))?;
    let bytes: Vec<u8> = labels.iter().map(|&label| u8::from(label > 0.5)).collect();
    out.write_all(&bytes)?;
    Ok(out.flush()?)
}

/// The header of version 1 of the format, padded to a multiple of 64 bytes.
fn header(kind: &str, shape: &str) -> Vec<u8> {
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while !(10 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_numpys() {
        let bytes = header("<f4", "(3, 2)");
        assert_eq!(bytes.len() % 64, 0);
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        assert_eq!(usize::from(bytes[8]) + 256 * usize::from(bytes[9]), bytes.len() - 10);
        assert!(
            bytes.ends_with(b"\n")
                && bytes[10..].starts_with(b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }")
        );
    }
}
