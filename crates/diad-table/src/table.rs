//! A table in memory, or one batch of a streamed one.

use std::fmt;

use crate::select::{self, Selection};
use crate::source::{Reader, Source, batch_rows};
use crate::{Error, Result, Values};

/// Where a row stands in its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A line of a text file, counted from 1, and the row that starts there, counted from 0.
    Line(u64, u64),
    /// A row, counted from 0.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line, row) => write!(f, "line {line}, row {row}"),
            Self::Row(row) => write!(f, "row {row} (counted from 0)"),
        }
    }
}

/// How the rows of a batch are found again in their source.
#[derive(Debug, Clone)]
pub(crate) enum Origin {
    FirstRow(u64),
    /// The number of the first row, and the line of each.
    Lines(u64, Vec<u64>),
}

/// A table, or one batch of a streamed table: named columns of equal length. A missing number is NaN.
///
/// Two tables are equal if their names and values are.
#[derive(Debug, Clone)]
pub struct Table {
    names: Vec<String>,
    pub(crate) columns: Vec<Values>,
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
    /// use diad_table::{Table, Texts, Values};
    ///
    /// let jobs: Texts = [Some("baker"), None, Some("baker")].into_iter().collect();
    /// let columns = vec![Values::Numbers(vec![31.0, f64::NAN, 58.0]), Values::Texts(jobs)];
    /// let table = Table::of(vec!["age".into(), "job".into()], columns)?;
    /// assert_eq!(table.values(1).text(0), Some("baker"));
    /// # Ok::<(), diad_table::Error>(())
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
    pub(crate) fn batch(names: &[String], columns: Vec<Values>, rows: usize, origin: Origin) -> Self {
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
            Origin::Lines(first, lines) => Place::Line(lines[row], first + row as u64),
        }
    }
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
    crate::source::names_in!(self);

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
            values.picked(pick, &self.table.names[pick.index], &|row| self.table.place(start + row))
        };
        let columns = self.picks.iter().map(slice).collect::<Result<Vec<Values>>>()?;
        let origin = match &self.table.origin {
            Origin::FirstRow(first) => Origin::FirstRow(first + start as u64),
            Origin::Lines(first, lines) => Origin::Lines(first + start as u64, lines[start..end].to_vec()),
        };
        Ok(Some(Table::batch(&self.names, columns, end - start, origin)))
    }
}
