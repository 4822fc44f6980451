//! Tables of Python as sources of the library, without copies where that is possible.

mod array;
mod arrow;
mod cells;
mod frame;
mod sparse;
mod taken;

pub use arrow::Held;
use diad::table::{ColumnView, View};
pub use frame::Frame;
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
pub use taken::{Taken, take};

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

/// Calls `use_columns` with the columns of `table`: an array, a data frame, a sparse matrix, rows as dictionaries, or lists of
/// numbers.
pub fn with_columns<R>(
    table: &Bound<'_, PyAny>,
    use_columns: impl FnOnce(Columns<'_>) -> PyResult<R>,
) -> PyResult<R> {
    let py = table.py();
    if let Ok(array) = table.cast::<PyUntypedArray>() {
        return array::with_array(array, use_columns);
    }
    if let Ok(held) = table.cast::<Held>() {
        return use_columns(held.get().columns());
    }
    if let Ok(frame) = table.cast::<Frame>() {
        return frame.get().with(py, use_columns);
    }
    if let Ok(taken) = table.cast::<Taken>() {
        return taken.get().with(py, Box::new(use_columns));
    }
    let held = hold(table.clone())?;
    if !held.is(table) {
        return with_columns(&held, use_columns);
    }
    if let Some(rows) = dictionaries(table)? {
        return use_columns(cells::of_dictionaries(&rows)?);
    }
    if table.hasattr("tocsc")? && table.hasattr("nnz")? {
        return sparse::with_sparse(table, use_columns);
    }
    if table.cast::<PyList>().is_ok() || table.cast::<PyTuple>().is_ok() || table.hasattr("__array__")? {
        let array = table.py().import("numpy")?.call_method1("asarray", (table,))?;
        return array::with_array(array.cast::<PyUntypedArray>()?, use_columns);
    }
    let kind = table.get_type().name()?;
    if table.cast::<PyString>().is_ok() || table.hasattr("__fspath__")? {
        return Err(PyTypeError::new_err(format!(
            "a table of type {kind} is not supported; read the file first, such as with pandas.read_csv"
        )));
    }
    if table.cast::<PyDict>().is_ok() {
        return Err(PyTypeError::new_err(
            "a table of type dict is not supported; give pandas.DataFrame of it if it has columns, and a list of it if it is a row",
        ));
    }
    Err(PyTypeError::new_err(format!(
        "a table of type {kind} is not supported; give an array, a data frame or a list of dictionaries"
    )))
}

/// A table that can be read more than once, with its names at hand: a data frame is taken apart, what Arrow hands over is held,
/// everything else is returned as it is.
#[pyfunction]
pub fn hold(table: Bound<'_, PyAny>) -> PyResult<Bound<'_, PyAny>> {
    let py = table.py();
    let is_ready = table.cast::<PyUntypedArray>().is_ok()
        || table.cast::<Held>().is_ok()
        || table.cast::<Frame>().is_ok()
        || table.cast::<Taken>().is_ok();
    if is_ready {
        return Ok(table);
    }
    // Types are asked: pandas looks for what it lacks among the names of columns, and works out what it has.
    let kind = table.get_type();
    if kind.hasattr("iloc")? && kind.hasattr("dtypes")? && !kind.hasattr("to_frame")? {
        return Ok(Bound::new(py, Frame::of(&table)?)?.into_any());
    }
    if kind.hasattr("to_frame")? {
        return Err(PyTypeError::new_err(
            "a series is one column, and a table has rows and columns; give series.to_frame(), or series.to_frame().T if it is a row",
        ));
    }
    if kind.hasattr("collect_schema")? && !by_arrow(&table)? {
        return Err(PyTypeError::new_err("a lazy frame has no rows yet; give frame.collect()"));
    }
    if by_arrow(&table)? {
        return Ok(Bound::new(py, Held::of(&table)?)?.into_any());
    }
    Ok(table)
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
