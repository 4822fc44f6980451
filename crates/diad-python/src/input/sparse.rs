//! Sparse matrices of SciPy, read column by column: a batch of rows is all that is ever written out.

use std::ops::Range;

use diad::table::{ColumnView, ReadAs, Values};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Columns;

/// The entries of a column, by rows in ascending order; all others are 0.
struct Entries<'a> {
    rows: &'a [i64],
    values: &'a [f64],
    length: usize,
}

impl ColumnView for Entries<'_> {
    fn len(&self) -> usize {
        self.length
    }

    fn read(&self, _name: &str, rows: Range<usize>, _wanted: ReadAs) -> diad::table::Result<Values> {
        let mut numbers = vec![0.0; rows.len()];
        let place = |row: usize| self.rows.partition_point(|&entry| (entry as usize) < row);
        for entry in place(rows.start)..place(rows.end) {
            // Entries of the same place add up.
            numbers[self.rows[entry] as usize - rows.start] += self.values[entry];
        }
        Ok(Values::Numbers(numbers))
    }
}

/// Calls `use_columns` with the columns of a sparse matrix.
pub fn with_sparse<R>(
    matrix: &Bound<'_, PyAny>,
    use_columns: impl FnOnce(Columns<'_>) -> PyResult<R>,
) -> PyResult<R> {
    let py = matrix.py();
    let (length, width): (usize, usize) = matrix.getattr("shape")?.extract()?;
    // By columns, and the rows of each in ascending order: a copy, unless it is so already.
    let matrix = matrix.call_method0("tocsc")?.call_method0("sorted_indices")?;
    let uncopied = PyDict::new(py);
    uncopied.set_item("copy", false)?;
    let plain =
        |name: &str, kind: &str| matrix.getattr(name)?.call_method("astype", (kind,), Some(&uncopied));
    let values: PyReadonlyArray1<'_, f64> = plain("data", "float64")?.extract()?;
    let rows: PyReadonlyArray1<'_, i64> = plain("indices", "int64")?.extract()?;
    let starts: PyReadonlyArray1<'_, i64> = plain("indptr", "int64")?.extract()?;
    let (values, rows, starts) = (values.as_slice()?, rows.as_slice()?, starts.as_slice()?);
    let column = |column: usize| {
        let entries = starts[column] as usize..starts[column + 1] as usize;
        Box::new(Entries { rows: &rows[entries.clone()], values: &values[entries], length })
            as Box<dyn ColumnView + '_>
    };
    use_columns(Columns { names: None, columns: (0..width).map(column).collect() })
}
