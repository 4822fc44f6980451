//! Tables with named columns of numbers, texts or times, in memory or streamed from a file. Knows nothing else.
//!
//! A [`Source`] can be read from its first row as often as wanted: a [`FileSource`], a [`Table`] in memory, or a [`View`] of
//! columns that are elsewhere. A [`Selection`] says which columns are read, and as what; the other columns may hold anything.
//!
//! ```
//! use diad::table::{Reader, Selection, Source, Table};
//!
//! let table = Table::new(vec!["x".into(), "y".into()], vec![vec![1.0, 2.0], vec![3.0, 4.0]])?;
//! let mut reader = table.open(&Selection::except(&["x"]))?;
//! let batch = reader.next_batch()?.expect("the table has rows");
//! assert_eq!(batch.names(), ["y"]);
//! assert_eq!(batch.column(0), [3.0, 4.0]);
//! # Ok::<(), diad::Error>(())
//! ```

use std::fmt;
use std::ops::Range;

use crate::{Error, Result};

mod arrow;
mod cells;
mod csv;
mod detect;
mod file;
mod json;
mod parquet;
mod select;
mod time;
mod values;
mod view;

pub use crate::error::quoted;
pub use file::{FileSource, read_stream};
#[doc(hidden)]
pub use parquet::panic_is_caught;
pub use select::{ReadAs, Selection};
pub use time::TimePart;
pub use values::{Texts, Values};
pub use view::{Cells, ColumnView, View};

/// Rows per batch, at most.
pub const BATCH_ROWS: usize = 8192;

/// Cells per batch, at most, so that a batch of a very wide table stays small.
const BATCH_CELLS: usize = 1 << 22;

/// Rows per batch of a table with that many selected columns.
fn batch_rows(columns: usize) -> usize {
    (BATCH_CELLS / columns.max(1)).clamp(1, BATCH_ROWS)
}

/// Where a row stands in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1.
    Line(u64),
    /// A row, counted from 0.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row} (counted from 0)"),
        }
    }
}

/// How the rows of a batch are found again in their source.
#[derive(Debug, Clone)]
enum Origin {
    FirstRow(u64),
    Lines(Vec<u64>),
}

/// A table, or one batch of a streamed table: named columns of equal length. A missing number is NaN.
///
/// Two tables are equal if their names and values are.
#[derive(Debug, Clone)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Values>,
    rows: usize,
    origin: Origin,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.columns == other.columns && self.rows == other.rows
    }
}

impl Default for Table {
    fn default() -> Self {
        Self { names: Vec::new(), columns: Vec::new(), rows: 0, origin: Origin::FirstRow(0) }
    }
}

impl Table {
    /// A table of columns of numbers.
    ///
    /// # Errors
    /// If a name repeats or the columns differ in length.
    pub fn new(names: Vec<String>, columns: Vec<Vec<f64>>) -> Result<Self> {
        Self::of(names, columns.into_iter().map(Values::Numbers).collect())
    }

    /// A table of columns of any kind.
    ///
    /// ```
    /// use diad::table::{Table, Texts, Values};
    ///
    /// let jobs: Texts = [Some("baker"), None, Some("baker")].into_iter().collect();
    /// let columns = vec![Values::Numbers(vec![31.0, f64::NAN, 58.0]), Values::Texts(jobs)];
    /// let table = Table::of(vec!["age".into(), "job".into()], columns)?;
    /// assert_eq!(table.values(1).text(0), Some("baker"));
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a name repeats or the columns differ in length.
    pub fn of(names: Vec<String>, columns: Vec<Values>) -> Result<Self> {
        if names.len() != columns.len() {
            return Err(Error::NameCount { names: names.len(), columns: columns.len() });
        }
        select::check_names(&names)?;
        let rows = columns.first().map_or(0, Values::len);
        for (name, column) in names.iter().zip(&columns) {
            if column.len() != rows {
                return Err(Error::ColumnLength { name: name.clone(), found: column.len(), expected: rows });
            }
        }
        Ok(Self { names, columns, rows, origin: Origin::FirstRow(0) })
    }

    /// A batch of a reader. The reader answers for names that differ and columns of `rows` values.
    fn batch(names: &[String], columns: Vec<Values>, rows: usize, origin: Origin) -> Self {
        debug_assert!(names.len() == columns.len() && columns.iter().all(|column| column.len() == rows));
        Self { names: names.to_vec(), columns, rows, origin }
    }

    /// Column names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The values of column `index`.
    pub fn values(&self, index: usize) -> &Values {
        &self.columns[index]
    }

    /// The numbers of column `index`; none where it holds texts or times.
    pub fn column(&self, index: usize) -> &[f64] {
        self.columns[index].numbers().unwrap_or_default()
    }

    /// The numbers of the column of that name, if there is one.
    pub fn column_named(&self, name: &str) -> Option<&[f64]> {
        self.names.iter().position(|known| known == name).map(|index| self.column(index))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Where row `row` of this batch stands in the source it came from.
    pub fn place(&self, row: usize) -> Place {
        match &self.origin {
            Origin::FirstRow(first) => Place::Row(first + row as u64),
            Origin::Lines(lines) => Place::Line(lines[row]),
        }
    }
}

/// Yields a table batch by batch, in file order.
pub trait Reader {
    /// Names of the selected columns, known before the first batch.
    fn names(&self) -> &[String];
    /// Names of the columns that are not selected, where the reader knows them.
    fn unread(&self) -> &[String] {
        &[]
    }
    /// Number of rows in all, where the source knows it without reading them.
    fn rows(&self) -> Option<u64> {
        None
    }
    /// The next rows, at most [`BATCH_ROWS`] of them, or `None` at the end.
    ///
    /// # Errors
    /// Names the first cell or row that cannot be read.
    fn next_batch(&mut self) -> Result<Option<Table>>;
}

/// Something that can be read from the start as often as wanted: a file or a table in memory.
pub trait Source {
    /// Starts reading the selected columns from the first row.
    ///
    /// # Errors
    /// If the source cannot be read or lacks a selected column.
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>>;

    /// The selected columns of any rows, for several threads at once, where the source can.
    ///
    /// # Errors
    /// If the source lacks a selected column.
    fn share(&self, _selection: &Selection) -> Result<Option<Box<dyn Shared + '_>>> {
        Ok(None)
    }
}

/// Rows that can be read in any order, by several threads at once.
pub trait Shared: Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// Some of them.
    ///
    /// # Errors
    /// Names the first cell or row that cannot be read.
    fn batch(&self, rows: Range<usize>) -> Result<Table>;
}

impl Source for Table {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        let picks = selection.resolve(&self.names)?;
        let names = picks.iter().map(|pick| self.names[pick.index].clone()).collect();
        let unread = select::unread(&self.names, &picks);
        Ok(Box::new(Slices { table: self, picks, names, unread, next: 0 }))
    }
}

struct Slices<'a> {
    table: &'a Table,
    picks: Vec<select::Pick>,
    names: Vec<String>,
    unread: Vec<String>,
    next: usize,
}

impl Reader for Slices<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn unread(&self) -> &[String] {
        &self.unread
    }

    fn rows(&self) -> Option<u64> {
        Some(self.table.rows() as u64)
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let start = self.next;
        let end = self.table.rows().min(start + batch_rows(self.picks.len()));
        if start == end {
            return Ok(None);
        }
        self.next = end;
        let slice = |pick: &select::Pick| {
            let values = self.table.columns[pick.index].slice(start..end);
            values.read_as(pick.read_as, &self.table.names[pick.index], &|row| self.table.place(start + row))
        };
        let columns = self.picks.iter().map(slice).collect::<Result<Vec<Values>>>()?;
        let origin = match &self.table.origin {
            Origin::FirstRow(first) => Origin::FirstRow(first + start as u64),
            Origin::Lines(lines) => Origin::Lines(lines[start..end].to_vec()),
        };
        Ok(Some(Table::batch(&self.names, columns, end - start, origin)))
    }
}

/// Text from the data as it may be shown in a terminal: control characters, and characters that
/// cannot be seen or change the direction or the lines of the text, are written as escapes.
///
/// ```
/// assert_eq!(diad::table::printable("a\tb\u{1b}[2J"), "a\\tb\\u{1b}[2J");
/// assert_eq!(diad::table::printable("naïve 値"), "naïve 値");
/// ```
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() || is_invisible(c) {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_cannot_be_seen_are_escaped() {
        let one = ['\u{ad}', '\u{61c}', '\u{180e}', '\u{feff}'];
        let ranges = [
            '\u{0}'..='\u{1f}',
            '\u{7f}'..='\u{9f}',
            '\u{200b}'..='\u{200f}',
            '\u{2028}'..='\u{202e}',
            '\u{2060}'..='\u{2069}',
            '\u{fff9}'..='\u{fffb}',
            '\u{e0000}'..='\u{e007f}',
        ];
        for c in one.into_iter().chain(ranges.into_iter().flatten()) {
            let shown = printable(&c.to_string());
            assert!(shown.starts_with('\\') && shown.is_ascii(), "{:x} is shown as {shown}", u32::from(c));
        }
        let seen = "a-b ‐ “ß” ع 値 🙂 \\ \u{fffd}";
        assert_eq!(printable(seen), seen);
    }
}
