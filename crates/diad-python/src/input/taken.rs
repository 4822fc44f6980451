//! Some rows of a table, in ascending order, each as often as it is named.

use std::ops::Range;

use diad::table::{ColumnView, ReadAs, Texts, Values};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use super::{Columns, with_columns};

/// A table and the rows of it that are taken.
#[pyclass(frozen, module = "diad._diad")]
pub struct Taken {
    pub table: Py<PyAny>,
    rows: Vec<usize>,
}

impl Taken {
    /// Calls `use_columns` with the columns of the rows that are taken.
    pub fn with<R>(
        &self,
        py: Python<'_>,
        // Not generic: the rows that are taken may be those of a table whose rows are taken.
        use_columns: Box<dyn FnOnce(Columns<'_>) -> PyResult<R> + '_>,
    ) -> PyResult<R> {
        with_columns(self.table.bind(py), |Columns { names, columns }| {
            let column = |column| Box::new(Rows { column, rows: &self.rows }) as Box<dyn ColumnView + '_>;
            let columns = columns.into_iter().map(column).collect();
            use_columns(Columns { names, columns })
        })
    }
}

/// The rows of a table with these numbers, which must not descend.
#[pyfunction]
pub fn take(table: Py<PyAny>, rows: PyReadonlyArray1<'_, i64>) -> Taken {
    Taken { table, rows: rows.as_array().iter().map(|&row| row.max(0) as usize).collect() }
}

struct Rows<'a> {
    column: Box<dyn ColumnView + 'a>,
    rows: &'a [usize],
}

impl ColumnView for Rows<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn is_category(&self) -> bool {
        self.column.is_category()
    }

    fn read(&self, name: &str, rows: Range<usize>, wanted: ReadAs) -> diad::table::Result<Values> {
        let wanted_rows = &self.rows[rows];
        let (Some(&first), Some(&last)) = (wanted_rows.first(), wanted_rows.last()) else {
            return self.column.read(name, 0..0, wanted);
        };
        // Rows in between that are not taken are read in vain, but a column is read by ranges.
        let last = last.min(self.column.len().saturating_sub(1));
        let found = self.column.read(name, first..last + 1, wanted)?;
        let at = |&row: &usize| row - first;
        let numbers = |values: &[f64]| wanted_rows.iter().map(|row| values[at(row)]).collect();
        Ok(match &found {
            Values::Numbers(values) => Values::Numbers(numbers(values)),
            Values::Times(values) => Values::Times(numbers(values)),
            Values::Encoded(values) => Values::Encoded(numbers(values)),
            Values::Texts(texts) => {
                wanted_rows.iter().map(|row| texts.get(at(row))).collect::<Texts>().into()
            }
        })
    }
}
