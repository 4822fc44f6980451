//! Tables of Python objects, read as the cells of a file.

use std::collections::HashMap;
use std::ops::Range;

use diad::table::{Cells, ColumnView, ReadAs, Values};
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use super::Columns;

/// A column of cells. One with a value that is no cell is refused when it is read, since it may be one to be left out.
#[derive(Default)]
struct Gathered {
    cells: Vec<String>,
    /// The type of the first value that is no cell.
    refused: Option<String>,
}

impl Gathered {
    fn of(values: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        let mut gathered = Self::default();
        values.iter().try_for_each(|value| gathered.push(value))?;
        Ok(gathered)
    }

    fn push(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let cell = cell(value)?;
        if cell.is_none() && self.refused.is_none() {
            self.refused = Some(value.get_type().name()?.to_string());
        }
        self.cells.push(cell.unwrap_or_default());
        Ok(())
    }

    fn boxed(self) -> Box<dyn ColumnView> {
        match self.refused {
            Some(kind) => Box::new(Refused { kind, rows: self.cells.len() }),
            None => Box::new(Cells::new(self.cells)),
        }
    }
}

struct Refused {
    kind: String,
    rows: usize,
}

impl ColumnView for Refused {
    fn len(&self) -> usize {
        self.rows
    }

    fn read(&self, name: &str, _rows: Range<usize>, _wanted: ReadAs) -> diad::table::Result<Values> {
        Err(diad::table::Error::NotNumeric { column: name.to_owned(), kind: self.kind.clone() })
    }
}

/// Rows as dictionaries: their keys are the columns, and what a row lacks is missing.
pub fn of_dictionaries(rows: &[Bound<'_, PyDict>]) -> PyResult<Columns<'static>> {
    let mut names: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut columns: Vec<Gathered> = Vec::new();
    for (row, dictionary) in rows.iter().enumerate() {
        for (key, value) in dictionary.iter() {
            let Ok(key) = key.cast::<PyString>() else {
                let shown = diad::table::printable(&key.repr()?.to_string());
                return Err(PyTypeError::new_err(format!(
                    "row {row} (counted from 0): the key {shown} is not a text; the keys are the names of the columns"
                )));
            };
            let key = key.to_string_lossy().into_owned();
            let place = *places.entry(key.clone()).or_insert_with(|| {
                names.push(key);
                columns.push(Gathered::default());
                columns.len() - 1
            });
            columns[place].cells.resize(row, String::new());
            columns[place].push(&value)?;
        }
    }
    columns.iter_mut().for_each(|column| column.cells.resize(rows.len(), String::new()));
    Ok(Columns { names: Some(names), columns: columns.into_iter().map(Gathered::boxed).collect() })
}

/// An array of objects or texts, column after column.
pub fn of_objects(array: &Bound<'_, PyUntypedArray>) -> PyResult<Columns<'static>> {
    let columns: Vec<Vec<Bound<'_, PyAny>>> = array.getattr("T")?.call_method0("tolist")?.extract()?;
    let columns = columns.iter().map(|column| of_list(column)).collect::<PyResult<_>>()?;
    Ok(Columns { names: None, columns })
}

/// A list of objects as a column.
pub fn of_list(values: &[Bound<'_, PyAny>]) -> PyResult<Box<dyn ColumnView>> {
    Gathered::of(values).map(Gathered::boxed)
}

/// A category as text: a number as it would be typed, and anything else as the cell of a file.
pub fn level(value: &Bound<'_, PyAny>) -> PyResult<String> {
    if value.cast::<PyBool>().is_err()
        && value.cast::<PyString>().is_err()
        && value.cast::<PyInt>().is_err()
        && let Ok(number) = value.extract::<f64>()
    {
        return Ok(if number.is_nan() { String::new() } else { number.to_string() });
    }
    match cell(value)? {
        Some(cell) => Ok(cell),
        None => Ok(value.str()?.to_string()),
    }
}

/// A value as the text of a cell; nothing if it holds others, or has no way of its own to be written.
fn cell(value: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let text = |value: &Bound<'_, PyAny>| Ok(Some(value.str()?.to_string_lossy().into_owned()));
    if value.is_none() {
        return Ok(Some(String::new()));
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(Some(if truth.is_true() { "true" } else { "false" }.into()));
    }
    if value.cast::<PyString>().is_ok()
        || value.cast_exact::<PyInt>().is_ok()
        || value.cast_exact::<PyFloat>().is_ok()
    {
        return text(value);
    }
    if value.hasattr("isoformat")? {
        // What is not equal to itself, such as pandas' NaT, is missing.
        return if value.eq(value)? {
            text(&value.call_method0("isoformat")?)
        } else {
            Ok(Some(String::new()))
        };
    }
    if value.hasattr("dtype")? && value.hasattr("item")? && value.getattr("ndim")?.extract::<usize>()? == 0 {
        let item = value.call_method0("item")?;
        return if item.get_type().is(value.get_type()) { text(value) } else { cell(&item) };
    }
    // Durations in seconds.
    if value.hasattr("total_seconds")? {
        return cell(&value.call_method0("total_seconds")?);
    }
    // Such as decimal numbers, pandas' sign for a missing value, intervals and identifiers: what is written in its own way and
    // holds nothing else.
    let (kind, plain) = (value.get_type(), value.py().get_type::<PyAny>());
    let own = |name: &str| Ok::<_, PyErr>(!kind.getattr(name)?.is(&plain.getattr(name)?));
    let holds = value.hasattr("__len__")? || value.hasattr("__iter__")? || value.is_callable();
    let complex = value.hasattr("imag")? && !value.hasattr("__float__")?;
    if !holds && !complex && (own("__str__")? || own("__repr__")?) { text(value) } else { Ok(None) }
}
