//! A file that the Parquet library cannot be kept busy with. Headers are Thrift structures, and a few bytes of one
//! can announce a list of two thousand million truth values, which take no bytes and which the library would
//! nevertheless pass one by one; at the end of a file it would go on in the same way. No list in Parquet's headers
//! is one of truth values, so each header is looked through first, and reading beyond the end is an error.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Seek, SeekFrom};

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Bytes at the end of a file: the length of its footer, and `PAR1`.
const TAIL: u64 = 8;

/// Structures within structures; the library's own limit.
const DEPTH: u32 = 64;

pub(super) struct Guarded(File);

impl Guarded {
    pub(super) fn new(file: File) -> Result<Self> {
        let guarded = Self(file);
        if let Some(footer) = guarded.footer()? {
            look_through(guarded.from(footer)?)?;
        }
        Ok(guarded)
    }

    fn from(&self, start: u64) -> Result<UntilEnd> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(UntilEnd(BufReader::new(file)))
    }

    /// Where the footer starts; `None` if the file is too short for what its tail says, which the library will tell.
    fn footer(&self) -> Result<Option<u64>> {
        let Some(tail) = self.len().checked_sub(TAIL) else { return Ok(None) };
        let mut length = [0; 4];
        self.from(tail)?.read_exact(&mut length)?;
        Ok(tail.checked_sub(u64::from(u32::from_le_bytes(length))))
    }
}

impl Length for Guarded {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for Guarded {
    type T = UntilEnd;

    /// The library asks for the tail, and then only for places where the header of a page begins.
    fn get_read(&self, start: u64) -> Result<UntilEnd> {
        if start.checked_add(TAIL) != Some(self.len()) {
            look_through(self.from(start)?)?;
        }
        self.from(start)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<bytes::Bytes> {
        // Asked first, since the library makes room for all of them before it reads.
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            return Err(ParquetError::EOF("it ends in the middle of a page".into()));
        }
        self.0.get_bytes(start, length)
    }
}

/// What is read before the end of the file; beyond it is an error.
pub(super) struct UntilEnd(BufReader<File>);

impl Read for UntilEnd {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(ErrorKind::UnexpectedEof.into()),
            count => Ok(count),
        }
    }
}

/// Passes over one structure in Thrift's compact protocol.
fn look_through(reader: impl Read) -> Result<()> {
    Walk(reader).structure(DEPTH).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => ParquetError::EOF("it ends in the middle of a header".into()),
        _ => ParquetError::General(error.to_string()),
    })
}

struct Walk<R>(R);

impl<R: Read> Walk<R> {
    fn structure(&mut self, depth: u32) -> std::io::Result<()> {
        if depth == 0 {
            return Err(impossible());
        }
        loop {
            let field = self.byte()?;
            if field == 0 {
                return Ok(());
            }
            if field >> 4 == 0 {
                self.varint()?; // the field's number, where it is not close to the last one's
            }
            if !is_truth(field & 0xf) {
                self.value(field & 0xf, depth - 1)?;
            }
        }
    }

    fn value(&mut self, kind: u8, depth: u32) -> std::io::Result<()> {
        match kind {
            3 => self.pass(1),
            4..=6 => self.varint().map(drop),
            7 => self.pass(8),
            8 => {
                let length = self.varint()?;
                self.pass(length)
            }
            9 | 10 => {
                let header = self.byte()?;
                let count = if header >> 4 == 15 { self.varint()? } else { u64::from(header >> 4) };
                self.elements(count, &[header & 0xf], depth)
            }
            11 => match self.varint()? {
                0 => Ok(()),
                count => {
                    let kinds = self.byte()?;
                    self.elements(count, &[kinds >> 4, kinds & 0xf], depth)
                }
            },
            12 => self.structure(depth),
            13 => self.pass(16),
            _ => Err(impossible()),
        }
    }

    /// So many times one value of each kind. Each takes at least a byte, so that the file's length bounds this.
    fn elements(&mut self, count: u64, kinds: &[u8], depth: u32) -> std::io::Result<()> {
        if depth == 0 || count > 0 && kinds.iter().any(|&kind| is_truth(kind)) {
            return Err(impossible());
        }
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, depth - 1)?;
            }
        }
        Ok(())
    }

    fn byte(&mut self) -> std::io::Result<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn varint(&mut self) -> std::io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(impossible())
    }

    fn pass(&mut self, count: u64) -> std::io::Result<()> {
        let passed = std::io::copy(&mut self.0.by_ref().take(count), &mut std::io::sink())?;
        if passed < count { Err(ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
    }
}

fn is_truth(kind: u8) -> bool {
    matches!(kind, 1 | 2)
}

fn impossible() -> Error {
    Error::new(ErrorKind::InvalidData, "a header announces what no table has")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(bytes: &[u8]) -> std::result::Result<(), String> {
        look_through(bytes).map_err(|error| error.to_string())
    }

    #[test]
    fn ordinary_structures_are_passed() {
        assert_eq!(walk(&[0]), Ok(()));
        // 1: -1, 2: true, 3: "ab", 4: [1, 2], 5: {1: 7}, 6: {1: 2}
        let all = [0x15, 1, 0x11, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0x1c, 0x15, 14, 0, 0x1b, 1, 0x55, 2, 4, 0];
        assert_eq!(walk(&all), Ok(()));
        for end in 0..all.len() {
            assert!(walk(&all[..end]).is_err_and(|message| message.contains("in the middle")), "{end}");
        }
    }

    #[test]
    fn lists_that_take_no_bytes_are_refused() {
        for list in [&[0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 7, 0][..], &[0x19, 0x12, 0], &[0x1b, 1, 0x12, 0]] {
            assert!(walk(list).is_err_and(|message| message.contains("no table has")), "{list:?}");
        }
    }

    #[test]
    fn endless_lists_and_depths_end() {
        for kind in [3, 5, 7, 8, 9, 12, 13] {
            assert!(walk(&[0x19, 0xf0 | kind, 0xff, 0xff, 0xff, 0xff, 7, 0]).is_err(), "{kind}");
        }
        for nested in [0x1c, 0x19] {
            assert!(walk(&[nested; 1000]).is_err());
        }
        assert!(walk(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_err());
    }
}
