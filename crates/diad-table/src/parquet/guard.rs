//! A file that can neither keep the Parquet library busy nor make it fill the memory.
//!
//! Headers are Thrift structures. A few bytes of one can announce a list of two thousand million truth values, which take
//! no bytes and which the library would nevertheless pass one by one; at the end of a file it would go on in the same way.
//! The header of a page can announce as many values of a dictionary, or bytes once unpacked, for which it would make room.
//! So each header is looked through first, and reading beyond the end is an error.

use std::fs::File;
use std::io::{BufReader, Error, ErrorKind, Read, Seek, SeekFrom};

use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

/// Bytes at the end of a file: the length of its footer, and `PAR1`.
const TAIL: u64 = 8;

/// Structures within structures; the library's own limit.
const DEPTH: u32 = 64;

/// Bytes that a page may have once unpacked, however few it takes in the file.
const PAGE: i64 = 64 << 20;

/// Bytes of a page in the file from which on it is unpacked beforehand. Smaller ones become no longer than [`PAGE`], since gzip
/// makes nothing more than about a thousand times longer.
const SMALL_PAGE: u64 = 1 << 16;

/// And how many times as many as in the file, beyond that.
const UNPACKED: i64 = 64;

pub(super) struct Guarded(File);

impl Guarded {
    pub(super) fn new(file: File) -> Result<Self> {
        let guarded = Self(file);
        if let Some(footer) = guarded.footer()? {
            look_through(guarded.from(footer)?, |_, _, _| ())?;
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
            check_page(self.from(start)?)?;
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

/// Checks the header of a page, and that what follows it becomes no longer than it says.
fn check_page(mut reader: impl Read) -> Result<()> {
    let (mut unpacked, mut packed, mut dictionary, mut levels) = (0, 0, 0, 0i64);
    look_through(&mut reader, |within, field, number| match (within, field) {
        (0, 2) => unpacked = number,
        (0, 3) => packed = number,
        (7, 1) => dictionary = number,
        // The levels of pages of the second kind are not compressed.
        (8, 5 | 6) => levels = levels.saturating_add(number),
        _ => (),
    })?;
    // A value of a dictionary takes a byte at least. Sizes below 0 are refused by the library.
    if unpacked > PAGE.max(UNPACKED.saturating_mul(packed)) || dictionary > unpacked {
        return Err(ParquetError::General("a page announces more than it can hold".into()));
    }
    match (u64::try_from(packed), u64::try_from(levels), u64::try_from(unpacked)) {
        (Ok(packed), Ok(levels), Ok(unpacked)) if packed > SMALL_PAGE && levels <= packed => {
            let mut page = reader.take(packed);
            std::io::copy(&mut page.by_ref().take(levels), &mut std::io::sink())?;
            check_length(page, unpacked.saturating_sub(levels))
        }
        _ => Ok(()),
    }
}

/// Refuses what gzip, or LZ4 in frames, makes longer than so many bytes: the library would make room for all of it. The other
/// codecs stop there.
fn check_length(mut page: impl Read, most: u64) -> Result<()> {
    let mut start = [0; 4];
    if page.read_exact(&mut start).is_err() {
        return Ok(());
    }
    let page = BufReader::new(start.chain(page));
    let mut unpacked: Box<dyn Read + '_> = match start {
        [0x1f, 0x8b, ..] => Box::new(flate2::read::MultiGzDecoder::new(page)),
        [0x04, 0x22, 0x4d, 0x18] => Box::new(lz4_flex::frame::FrameDecoder::new(page)),
        _ => return Ok(()),
    };
    // What is damaged is told by the library.
    match std::io::copy(&mut unpacked.by_ref().take(most + 1), &mut std::io::sink()) {
        Ok(length) if length > most => {
            Err(ParquetError::General("a page holds more than it announces".into()))
        }
        _ => Ok(()),
    }
}

/// Passes over one structure in Thrift's compact protocol, and tells the whole numbers in it and in the structures that are
/// its fields: the field in which they are, or 0, their own field, and the number.
fn look_through(reader: impl Read, tell: impl FnMut(i64, i64, i64)) -> Result<()> {
    Walk { reader, tell }.structure(DEPTH, 0).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => ParquetError::EOF("it ends in the middle of a header".into()),
        _ => ParquetError::General(error.to_string()),
    })
}

struct Walk<R, T> {
    reader: R,
    tell: T,
}

impl<R: Read, T: FnMut(i64, i64, i64)> Walk<R, T> {
    fn structure(&mut self, depth: u32, within: i64) -> std::io::Result<()> {
        if depth == 0 {
            return Err(impossible());
        }
        let mut field = 0_i64;
        loop {
            let header = self.byte()?;
            if header == 0 {
                return Ok(());
            }
            field = match header >> 4 {
                0 => self.number()?,
                more => field.saturating_add(i64::from(more)),
            };
            match header & 0xf {
                kind if is_truth(kind) => (),
                4..=6 => {
                    let number = self.number()?;
                    if depth + 2 > DEPTH {
                        (self.tell)(within, field, number);
                    }
                }
                12 => self.structure(depth - 1, field)?,
                kind => self.value(kind, depth - 1)?,
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
            12 => self.structure(depth, 0),
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
        self.reader.read_exact(&mut byte)?;
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

    fn number(&mut self) -> std::io::Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn pass(&mut self, count: u64) -> std::io::Result<()> {
        let passed = std::io::copy(&mut self.reader.by_ref().take(count), &mut std::io::sink())?;
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
        look_through(bytes, |_, _, _| ()).map_err(|error| error.to_string())
    }

    #[test]
    fn ordinary_structures_are_passed() {
        assert_eq!(walk(&[0]), Ok(()));
        // 1: -1, 2: true, 3: "ab", 4: [1, 2], 5: {1: 7}, 6: {1: 2}
        let all =
            [0x15, 1, 0x11, 0x18, 2, b'a', b'b', 0x19, 0x25, 2, 4, 0x1c, 0x15, 14, 0, 0x1b, 1, 0x55, 2, 4, 0];
        assert_eq!(walk(&all), Ok(()));
        for end in 0..all.len() {
            assert!(walk(&all[..end]).is_err_and(|message| message.contains("in the middle")), "{end}");
        }
    }

    #[test]
    fn numbers_are_told_with_their_fields() {
        // 1: -1, 3: {1: 7, 2: {1: 5}}, 20: 8, 21: [{1: 9}]
        let bytes = [0x15, 1, 0x2c, 0x15, 14, 0x1c, 0x15, 10, 0, 0, 5, 40, 16, 0x19, 0x1c, 0x15, 18, 0, 0];
        let mut told = Vec::new();
        look_through(&bytes[..], |within, field, number| told.push((within, field, number))).unwrap();
        assert_eq!(told, [(0, 1, -1), (3, 1, 7), (0, 20, 8)]);
    }

    #[test]
    fn pages_hold_what_they_announce() {
        let varint = |number: i64| {
            let (mut left, mut bytes) = ((number << 1 ^ number >> 63).cast_unsigned(), Vec::new());
            while left > 0x7f {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.push(left as u8);
            bytes
        };
        let page = |unpacked: i64, packed: i64, dictionary: i64| {
            let number = |header: u8, number: i64| [vec![header], varint(number)].concat();
            let inner = [vec![0x4c], number(0x15, dictionary), vec![0, 0]].concat();
            check_page(&[number(0x25, unpacked), number(0x15, packed), inner].concat()[..]).is_ok()
        };
        assert!(page(1000, 1000, 1000) && page(PAGE, 10, 3) && page(10 * PAGE, PAGE, 0));
        assert!(!page(1000, 1000, 1001) && !page(PAGE + 1, 10, 3) && !page(i64::MAX, 10, 0));
    }

    #[test]
    fn pages_that_grow_beyond_what_they_announce_are_refused() {
        use std::io::Write;
        let zeros = vec![0; 1 << 20];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&zeros).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        lz4.write_all(&zeros).unwrap();
        let lz4 = lz4.finish().unwrap();
        for page in [&gzip, &lz4] {
            let said = check_length(&page[..], 1000).unwrap_err().to_string();
            assert!(said.contains("holds more than it announces"), "{said}");
            assert!(check_length(&page[..], zeros.len() as u64).is_ok());
        }
        assert!(check_length(&[7; 100][..], 10).is_ok(), "another codec");
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
