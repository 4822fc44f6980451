//! Reads Arrow's files (also called Feather) and streams: flat columns of numbers, truth values, texts, times and
//! dictionaries of these.
//!
//! Bytes from a stranger are hostile: room is made for what was read, never for what is announced.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufRead;
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::budget::largest_piece;
use crate::compression;
use crate::csv::MOST_COLUMNS;
use crate::header::Header;
use crate::select::{Pick, not_read};
use crate::{About, Error, Origin, Place, Reader, Result, Selection, Table, Texts, Values, batch_rows};
use column::Stored;
use dictionary::Dictionary;
use flat::{Flat, Items};
use messages::{Blocks, Fault, Messages, Stream};
use schema::{Field, Kind, Taken};

mod column;
mod dictionary;
mod flat;
mod messages;
mod schema;

pub(crate) use messages::MAGIC;

/// Rows of a batch that may have no bytes of their own: those of columns without any value, or of no columns. A file of a few bytes
/// could announce any number.
const MOST_BARE_ROWS: usize = 1 << 22;

/// Bytes of text that a file may give, however small it is, and how many times as many as are read of it.
const ROOM: u64 = 256 << 20;
const GROWTH: u64 = 4096;

const CUT_OFF: &str = "it is cut off";
const SENSELESS: &str = if compression::IS_READ {
    "its parts contradict each other"
} else {
    "its parts contradict each other or are compressed, which this build does not read"
};

pub(crate) struct ArrowReader<'a> {
    messages: Box<dyn Messages + 'a>,
    path: PathBuf,
    ended: bool,
    names: Vec<String>,
    unread: Vec<String>,
    notes: Vec<String>,
    columns: Vec<Column>,
    dictionaries: HashMap<i64, Dictionary>,
    /// Bytes of text that may still be given. Rows that name the same long texts again and again would make a file of a few
    /// bytes a table without end.
    room: u64,
    /// Rows of the current batch and those given so far.
    rows: usize,
    given: usize,
    next_row: u64,
}

/// One selected column.
struct Column {
    pick: Pick,
    name: String,
    field: Field,
    /// Entries before its own in the lists of a batch.
    before: Taken,
    stored: Option<Stored>,
}

impl<'a> ArrowReader<'a> {
    /// Reads a file.
    pub(crate) fn file(file: File, path: &Path, selection: &Selection) -> Result<Self> {
        let (messages, fields) = Blocks::open(file).map_err(|fault| said(fault, path))?;
        Self::new(Box::new(messages), &fields, path, selection)
    }

    /// Reads a stream.
    pub(crate) fn stream(input: impl BufRead + 'a, path: &Path, selection: &Selection) -> Result<Self> {
        let (messages, fields) = Stream::open(input).map_err(|fault| said(fault, path))?;
        Self::new(Box::new(messages), &fields, path, selection)
    }

    fn new(
        messages: Box<dyn Messages + 'a>,
        fields: &[Field],
        path: &Path,
        selection: &Selection,
    ) -> Result<Self> {
        if fields.len() > MOST_COLUMNS {
            return Err(Error::TooManyColumns { found: fields.len(), most: MOST_COLUMNS });
        }
        let mut reader = Self {
            messages,
            path: path.to_owned(),
            ended: false,
            names: Vec::new(),
            unread: Vec::new(),
            notes: Vec::new(),
            columns: Vec::new(),
            dictionaries: HashMap::new(),
            room: ROOM,
            rows: 0,
            given: 0,
            next_row: 0,
        };
        reader.select(fields, selection)?;
        Ok(reader)
    }

    fn select(&mut self, fields: &[Field], selection: &Selection) -> Result<()> {
        let mut before = Vec::with_capacity(fields.len());
        let mut taken = Taken::default();
        for field in fields {
            before.push(taken);
            taken = taken.add(field.taken);
        }
        let header = Header::new(fields.iter().map(|field| field.name.clone()).collect());
        let chosen = selection.choose(&header)?;
        self.unread = chosen.unread;
        for pick in chosen.picks {
            let field = fields[pick.index].clone();
            if let Kind::Other(kind) = field.kind {
                if selection.may_leave_out(&pick) {
                    self.notes.push(not_read(&field.name, kind));
                    self.unread.push(field.name);
                    continue;
                }
                return Err(Error::NotNumeric { column: field.name, kind: kind.into() });
            }
            let (before, name) = (before[pick.index], header.names[pick.index].clone());
            self.columns.push(Column { pick, name, field, before, stored: None });
        }
        self.names = self.columns.iter().map(|column| column.name.clone()).collect();
        Ok(())
    }

    fn senseless(&self) -> Error {
        said(Fault::Damaged(SENSELESS), &self.path)
    }

    /// Reads on to the next batch with rows; false at the end.
    fn advance(&mut self) -> Result<bool> {
        while !self.ended {
            let message = self.messages.next().map_err(|fault| said(fault, &self.path))?;
            let Some(message) = message else {
                self.ended = true;
                break;
            };
            let read = (message.header.len() + message.body.len()) as u64;
            self.room = self.room.saturating_add(read.saturating_mul(GROWTH));
            let understood = match message.kind {
                messages::Kind::Schema => None,
                messages::Kind::Dictionary => self.add_dictionary(&message.header, &message.body),
                messages::Kind::Rows => self.add_rows(&message.header, &message.body),
                messages::Kind::Other => Some(()),
            };
            understood.ok_or_else(|| self.senseless())?;
            if self.rows > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn add_rows(&mut self, message: &[u8], body: &[u8]) -> Option<()> {
        let batch = Batch::new(Flat::root(message)?.table(2)?, body)?;
        if self.columns.is_empty() && !batch.may_be_bare() {
            return None;
        }
        for column in &mut self.columns {
            let kind = column.field.dictionary.map_or(column.field.kind, |(_, index)| index);
            column.stored = Some(batch.column(kind, column.before)?);
        }
        (self.rows, self.given) = (batch.rows, 0);
        Some(())
    }

    fn add_dictionary(&mut self, message: &[u8], body: &[u8]) -> Option<()> {
        let dictionary = Flat::root(message)?.table(2)?;
        let (id, more) = (dictionary.long(0), dictionary.byte(2, 0) != 0);
        let mut users = self.columns.iter();
        let users = users.find(|column| column.field.dictionary.is_some_and(|(known, _)| known == id));
        let Some(user) = users else { return Some(()) };
        let batch = Batch::new(dictionary.table(1)?, body)?;
        let stored = batch.column(user.field.kind, Taken::default())?;
        let added = stored.values(0..batch.rows, user.pick.read_as, &mut self.room)?;
        match self.dictionaries.get_mut(&id) {
            Some(known) if more => known.add(added),
            _ => {
                self.dictionaries.insert(id, Dictionary::new(added));
                Some(())
            }
        }
    }

    /// Some rows of a column of the current batch.
    fn values(&self, column: &Column, rows: Range<usize>, room: &mut u64) -> Result<Values> {
        let stored = column.stored.as_ref().ok_or_else(|| self.senseless())?;
        let first = self.next_row;
        let values = match column.field.dictionary {
            None => stored.values(rows, column.pick.read_as, room),
            Some((id, _)) => {
                let indices = rows.map(|row| stored.index(row));
                match self.dictionaries.get(&id) {
                    Some(dictionary) => dictionary.look_up(indices, room),
                    None => Dictionary::new(Values::Texts(Texts::default())).look_up(indices, room),
                }
            }
        };
        let values = values.ok_or_else(|| self.senseless())?;
        let place = |row: usize| Place::Row(first + row as u64);
        values.picked(&column.pick, &column.name, &place)
    }
}

impl Reader for ArrowReader<'_> {
    crate::source::names_in!(self);

    fn about(&self) -> About {
        About { notes: self.notes.clone(), ..About::default() }
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        if self.given == self.rows {
            self.rows = 0;
            if !self.advance()? {
                let none = self.next_row == 0;
                return if none { Err(Error::NoRows { path: self.path.clone() }) } else { Ok(None) };
            }
        }
        let end = self.rows.min(self.given + batch_rows(self.columns.len()));
        let rows = self.given..end;
        let mut room = self.room;
        let columns = self.columns.iter().map(|column| self.values(column, rows.clone(), &mut room));
        let columns = columns.collect::<Result<Vec<Values>>>()?;
        self.room = room;
        let origin = Origin::FirstRow(self.next_row);
        self.next_row += rows.len() as u64;
        self.given = end;
        Ok(Some(Table::batch(&self.names, columns, rows.len(), origin)))
    }
}

fn said(fault: Fault, path: &Path) -> Error {
    match fault {
        Fault::Damaged(reason) => Error::Arrow { path: path.to_owned(), reason },
        Fault::Unreadable(source) => Error::file("read", path, source),
    }
}

/// The lists of a batch of rows or of a dictionary.
struct Batch<'a> {
    rows: usize,
    nodes: Items<'a>,
    buffers: Items<'a>,
    /// How many further buffers each view has.
    views: Items<'a>,
    /// How buffers are compressed, if they are.
    codec: Option<u8>,
    body: &'a [u8],
}

impl<'a> Batch<'a> {
    fn new(flat: Flat<'a>, body: &'a [u8]) -> Option<Self> {
        let codec = flat.table(3).map(|compression| compression.byte(0, 0));
        Some(Self {
            rows: usize::try_from(flat.long(0)).ok()?,
            nodes: flat.items(1, 16)?,
            buffers: flat.items(2, 16)?,
            views: flat.items(4, 8)?,
            codec,
            body,
        })
    }

    /// Whether there are so few rows that they may have no bytes of their own.
    fn may_be_bare(&self) -> bool {
        self.rows <= MOST_BARE_ROWS.max(self.body.len())
    }

    /// A column of a kind that is read, after what comes before it.
    fn column(&self, kind: Kind, before: Taken) -> Option<Stored> {
        if kind == Kind::Null && !self.may_be_bare() {
            return None;
        }
        if self.nodes.long(before.nodes, 2, 0)? != i64::try_from(self.rows).ok()? {
            return None;
        }
        let further = |view: usize| usize::try_from(self.views.long(view, 1, 0)?).ok();
        let earlier = (0..before.views).map(further).sum::<Option<usize>>()?;
        let first = before.buffers.checked_add(earlier)?;
        let count = match kind {
            Kind::Null => 0,
            Kind::Text { .. } => 3,
            Kind::TextView => further(before.views)?.checked_add(2)?,
            _ => 2,
        };
        // A bitmap of all rows may be left out, and then has no bytes.
        let end = first.checked_add(count).filter(|&end| end <= self.buffers.len())?;
        let buffers = (first..end).map(|index| self.buffer(index)).collect::<Option<Vec<_>>>()?;
        Stored::new(kind, self.rows, buffers)
    }

    fn buffer(&self, index: usize) -> Option<Vec<u8>> {
        let part = |place| self.buffers.long(index, 2, place).and_then(|n| usize::try_from(n).ok());
        let (start, length) = (part(0)?, part(1)?);
        let bytes = self.body.get(start..start.checked_add(length)?)?;
        let Some(codec) = self.codec else { return Some(bytes.to_vec()) };
        if bytes.is_empty() {
            return Some(Vec::new());
        }
        let (size, rest) = bytes.split_first_chunk()?;
        let size = match i64::from_le_bytes(*size) {
            -1 => return Some(rest.to_vec()),
            size => u64::try_from(size).ok().filter(|&size| size <= largest_piece())?,
        };
        compression::part(codec, rest, size)
    }
}
