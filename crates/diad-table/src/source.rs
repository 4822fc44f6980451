//! What can be read batch by batch.

use std::ops::Range;

use crate::{Result, Selection, Table};

/// Rows per batch, at most.
pub const BATCH_ROWS: usize = 8192;

/// Cells per batch, at most, so that a batch of a very wide table stays small.
const BATCH_CELLS: usize = 1 << 22;

/// Rows per batch of a table with that many selected columns.
pub(crate) fn batch_rows(columns: usize) -> usize {
    (BATCH_CELLS / columns.max(1)).clamp(1, BATCH_ROWS)
}

/// What a reader found out about its source, beside the values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// What was odd, a sentence each.
    pub notes: Vec<String>,
    /// Names that were given to columns without one.
    pub unnamed: Vec<String>,
    /// Whether cells are separated by semicolons.
    pub semicolons: bool,
    /// Columns that the source itself calls categories.
    pub categories: Vec<String>,
}

/// Yields a table batch by batch, in file order.
pub trait Reader {
    /// Names of the selected columns, known before the first batch.
    fn names(&self) -> &[String];
    /// Names of the columns that are not selected, where the reader knows them.
    fn unread(&self) -> &[String] {
        &[]
    }
    /// What was found out about the source so far, beside its values.
    fn about(&self) -> About {
        About::default()
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

/// The names of a [`Reader`] that keeps them in its fields `names` and `unread`, or in those of a field.
macro_rules! names_in {
    ($reader:ident $(. $field:ident)?) => {
        fn names(&$reader) -> &[String] {
            &$reader$(.$field)?.names
        }

        fn unread(&$reader) -> &[String] {
            &$reader$(.$field)?.unread
        }
    };
}
pub(crate) use names_in;

/// Something that can be read from the start as often as wanted: a file or a table in memory.
pub trait Source {
    /// Starts reading the selected columns from the first row.
    ///
    /// # Errors
    /// If the source cannot be read or lacks a selected column.
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>>;

    /// What tells whether it has changed since, where it can change.
    fn version(&self) -> Option<Version> {
        None
    }

    /// The selected columns of any rows, for several threads at once, where the source can.
    ///
    /// # Errors
    /// If the source lacks a selected column.
    fn share(&self, _selection: &Selection) -> Result<Option<Box<dyn Shared + '_>>> {
        Ok(None)
    }
}

/// What tells whether a file is as it was: its length, when it was last written to, and which file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version {
    pub(crate) length: u64,
    pub(crate) written: Option<std::time::SystemTime>,
    pub(crate) identity: u64,
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
