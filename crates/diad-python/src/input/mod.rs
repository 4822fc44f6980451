//! Tables of Python as sources of the library, without copies where that is possible.

mod array;
mod arrow;
mod cells;
mod chunks;

pub use arrow::Held;
use diad::table::{ColumnView, View};
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::error::raise;

/// The columns of a table, and their names where it has any.
pub struct Columns<'a> {
    pub names: Option<Vec<String>>,
    pub columns: Vec<Box<dyn ColumnView + 'a>>,
}

impl<'a> Columns<'a> {
    /// The table. `plain` names the columns of one without names.
    pub fn view(self, plain: impl FnOnce(usize) -> diad::Result<Vec<String>>) -> PyResult<View<'a>> {
        let names = match self.names {
            Some(names) => names,
            None => plain(self.columns.len()).map_err(raise)?,
        };
        View::new(names, self.columns).map_err(raise)
    }
}

/// Calls `use_columns` with the columns of `table`: an array, a data frame, rows as dictionaries, or lists of numbers.
pub fn with_columns<R>(
    table: &Bound<'_, PyAny>,
    use_columns: impl FnOnce(Columns<'_>) -> PyResult<R>,
) -> PyResult<R> {
    if let Ok(array) = table.cast::<PyUntypedArray>() {
        return array::with_array(array, use_columns);
    }
    if let Ok(held) = table.cast::<Held>() {
        return use_columns(held.get().columns());
    }
    if by_arrow(table)? {
        return match Held::of(table)? {
            Some(held) => use_columns(held.columns()),
            None => use_columns(cells::of_frame(table)?),
        };
    }
    if let Some(rows) = dictionaries(table)? {
        return use_columns(cells::of_dictionaries(&rows)?);
    }
    if table.hasattr("toarray")? && table.hasattr("nnz")? {
        return Err(PyTypeError::new_err("sparse tables are not read; call toarray() first"));
    }
    if table.cast::<PyList>().is_ok() || table.cast::<PyTuple>().is_ok() || table.hasattr("__array__")? {
        let array = table.py().import("numpy")?.call_method1("asarray", (table,))?;
        return array::with_array(array.cast::<PyUntypedArray>()?, use_columns);
    }
    let kind = table.get_type().name()?;
    Err(PyTypeError::new_err(format!(
        "a table of type {kind} is not read; give an array, a data frame or a list of dictionaries"
    )))
}

/// A table that can be read more than once: what Arrow hands over is held, everything else is returned as it is.
#[pyfunction]
pub fn hold(table: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    if table.cast::<PyUntypedArray>().is_ok() || table.cast::<Held>().is_ok() || !by_arrow(&table)? {
        return Ok(table);
    }
    match Held::of(&table)? {
        Some(held) => Ok(Bound::new(table.py(), held)?.into_any()),
        None => Ok(table),
    }
}

fn by_arrow(table: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(table.hasattr("__arrow_c_stream__")? || table.hasattr("__arrow_c_array__")?)
}

/// The rows of a list of dictionaries; nothing if it is none.
fn dictionaries<'py>(table: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyDict>>>> {
    let Ok(list) = table.cast::<PyList>() else { return Ok(None) };
    if list.iter().next().is_none_or(|first| first.cast::<PyDict>().is_err()) {
        return Ok(None);
    }
    let row = |row: Bound<'py, PyAny>| {
        row.cast_into::<PyDict>().map_err(|_| {
            PyTypeError::new_err("some rows are dictionaries and some are not; make them the same")
        })
    };
    list.iter().map(row).collect::<PyResult<Vec<_>>>().map(Some)
}
