//! Where the messages of Arrow data come from: a stream, which has them one after the other, or a file, whose footer says
//! where each is.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::flat::Flat;
use super::schema::{self, Field};
use super::{CUT_OFF, SENSELESS};

/// First and last bytes of a file.
pub(crate) const MAGIC: &[u8] = b"ARROW1";
/// Bytes of a message without its body, or of a footer, at most.
const LONGEST_MESSAGE: u64 = 256 << 20;

/// What a message says of itself whose compression is that of a version before it was settled.
const OLD_COMPRESSION: &[u8] = b"ARROW:experimental_compression";

/// Why there is no next message.
pub(super) enum Fault {
    Damaged(&'static str),
    Unreadable(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Unreadable(error)
    }
}

/// What a message may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Schema,
    Dictionary,
    Rows,
    Other,
}

/// A message and its body.
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) header: Vec<u8>,
    pub(super) body: Vec<u8>,
}

pub(super) trait Messages {
    /// The next message; nothing at the end.
    fn next(&mut self) -> Result<Option<Message>, Fault>;
}

/// The messages of a stream.
pub(super) struct Stream<R>(R);

impl<R: BufRead> Stream<R> {
    /// The stream and its columns.
    pub(super) fn open(input: R) -> Result<(Self, Vec<Field>), Fault> {
        let mut stream = Self(input);
        match stream.next()? {
            Some(Message { kind: Kind::Schema, header, .. }) => {
                let flat = Flat::root(&header).and_then(|root| root.table(2));
                let fields = schema::fields(flat.ok_or(Fault::Damaged(SENSELESS))?);
                Ok((stream, fields.map_err(Fault::Damaged)?))
            }
            _ => Err(Fault::Damaged("it does not start with a schema")),
        }
    }
}

impl<R: BufRead> Messages for Stream<R> {
    fn next(&mut self) -> Result<Option<Message>, Fault> {
        read_message(&mut self.0)
    }
}

/// The messages of a file, dictionaries first.
pub(super) struct Blocks {
    file: BufReader<File>,
    /// Where the messages are, the next one last.
    places: Vec<u64>,
}

impl Blocks {
    /// The file and its columns.
    pub(super) fn open(file: File) -> Result<(Self, Vec<Field>), Fault> {
        let mut file = BufReader::new(file);
        let tail = (MAGIC.len() + 4) as u64;
        let length = file.seek(SeekFrom::End(0))?;
        let Some(end) = length.checked_sub(tail) else { return Err(Fault::Damaged(CUT_OFF)) };
        file.seek(SeekFrom::Start(end))?;
        let tail = take(&mut file, tail)?;
        let (size, magic) = tail.split_first_chunk().ok_or(Fault::Damaged(CUT_OFF))?;
        let start = end.checked_sub(u64::from(u32::from_le_bytes(*size)));
        let Some(start) = start.filter(|start| magic == MAGIC && end - start <= LONGEST_MESSAGE) else {
            return Err(Fault::Damaged(CUT_OFF));
        };
        file.seek(SeekFrom::Start(start))?;
        let footer = take(&mut file, end - start)?;
        let (fields, places) = read_footer(&footer)?;
        Ok((Self { file, places }, fields))
    }
}

fn read_footer(footer: &[u8]) -> Result<(Vec<Field>, Vec<u64>), Fault> {
    const DAMAGED: Fault = Fault::Damaged(SENSELESS);
    let footer = Flat::root(footer).ok_or(DAMAGED)?;
    let fields = schema::fields(footer.table(1).ok_or(DAMAGED)?).map_err(Fault::Damaged)?;
    let mut places = Vec::new();
    for list in [2, 3] {
        let blocks = footer.items(list, 24).ok_or(DAMAGED)?;
        for index in 0..blocks.len() {
            let place = blocks.long(index, 3, 0).and_then(|place| u64::try_from(place).ok());
            places.push(place.ok_or(DAMAGED)?);
        }
    }
    places.reverse();
    Ok((fields, places))
}

impl Messages for Blocks {
    fn next(&mut self) -> Result<Option<Message>, Fault> {
        let Some(place) = self.places.pop() else { return Ok(None) };
        self.file.seek(SeekFrom::Start(place))?;
        match read_message(&mut self.file)? {
            None => Err(Fault::Damaged(CUT_OFF)),
            message => Ok(message),
        }
    }
}

/// The next message of a stream; nothing at its end, which may be said or just be there.
fn read_message(input: &mut impl BufRead) -> Result<Option<Message>, Fault> {
    if input.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let mut length = take(input, 4)?;
    if length == [0xff; 4] {
        length = take(input, 4)?;
    }
    let length = length.try_into().map(u32::from_le_bytes).unwrap_or(0);
    if length == 0 {
        return Ok(None);
    }
    if u64::from(length) > LONGEST_MESSAGE {
        return Err(Fault::Damaged(SENSELESS));
    }
    let header = take(input, length.into())?;
    if memchr::memmem::find(&header, OLD_COMPRESSION).is_some() {
        return Err(Fault::Damaged("it is compressed as Arrow 0.17 did"));
    }
    let root = Flat::root(&header).ok_or(Fault::Damaged(SENSELESS))?;
    let body = u64::try_from(root.long(3)).map_err(|_| Fault::Damaged(SENSELESS))?;
    let kind = match root.byte(1, 0) {
        1 => Kind::Schema,
        2 => Kind::Dictionary,
        3 => Kind::Rows,
        _ => Kind::Other,
    };
    Ok(Some(Message { kind, body: take(input, body)?, header }))
}

/// The next bytes; room is made only for those that are there.
fn take(input: &mut impl Read, count: u64) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    input.take(count).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == count { Ok(bytes) } else { Err(Fault::Damaged(CUT_OFF)) }
}
