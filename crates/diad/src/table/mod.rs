//! Tables of numbers with named columns, in memory or streamed from a file. Knows nothing else.

use crate::Result;

/// A table, or one batch of a streamed table: named columns of equal length.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Table {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
}

impl Table {
    /// A table of the given columns.
    ///
    /// # Errors
    /// If a name repeats or the columns differ in length.
    pub fn new(names: Vec<String>, columns: Vec<Vec<f64>>) -> Result<Self> {
        Ok(Self { names, columns })
    }
    /// Column names, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }
    /// The values of column `index`.
    pub fn column(&self, index: usize) -> &[f64] {
        &self.columns[index]
    }
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, Vec::len)
    }
}

/// Yields a table batch by batch, in file order.
pub trait Reader {
    /// Column names, known before the first batch.
    fn names(&self) -> &[String];
    /// The next rows, or `None` at the end.
    fn next_batch(&mut self) -> Result<Option<Table>>;
}

/// Something that can be read from the start as often as wanted: a file or a table in memory.
pub trait Source {
    /// Starts reading from the first row.
    fn open(&self) -> Result<Box<dyn Reader + '_>>;
}
