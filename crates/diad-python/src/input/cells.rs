//! Tables of Python objects, read as the cells of a file.

use std::collections::HashMap;

use diad::table::{Cells, ColumnView};
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use super::Columns;
use crate::error::raise;

/// Rows as dictionaries: their keys are the columns, and what a row lacks is missing.
pub fn of_dictionaries(rows: &[Bound<'_, PyDict>]) -> PyResult<Columns<'static>> {
    let mut names: Vec<String> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut columns: Vec<Vec<String>> = Vec::new();
    for (row, dictionary) in rows.iter().enumerate() {
        for (key, value) in dictionary.iter() {
            let key: String = key.extract()?;
            let place = *places.entry(key.clone()).or_insert_with(|| {
                names.push(key.clone());
                columns.push(Vec::new());
                columns.len() - 1
            });
            columns[place].resize(row, String::new());
            columns[place].push(cell(&value, &key, row)?);
        }
    }
    columns.iter_mut().for_each(|column| column.resize(rows.len(), String::new()));
    Ok(Columns { names: Some(names), columns: columns.into_iter().map(boxed).collect() })
}

/// An array of objects or texts, column after column.
pub fn of_objects(array: &Bound<'_, PyUntypedArray>) -> PyResult<Columns<'static>> {
    let columns: Vec<Vec<Bound<'_, PyAny>>> = array.getattr("T")?.call_method0("tolist")?.extract()?;
    let column =
        |(index, column): (usize, Vec<Bound<'_, PyAny>>)| cells(&column, &format!("x{index}")).map(boxed);
    let columns = columns.into_iter().enumerate().map(column).collect::<PyResult<_>>()?;
    Ok(Columns { names: None, columns })
}

/// A data frame of pandas where pyarrow is not installed.
pub fn of_frame(frame: &Bound<'_, PyAny>) -> PyResult<Columns<'static>> {
    let (mut names, mut columns) = (Vec::new(), Vec::new());
    for item in frame.call_method0("items")?.try_iter()? {
        let (name, column): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        let name = name.str()?.to_string();
        let values: Vec<Bound<'_, PyAny>> = column.call_method0("tolist")?.extract()?;
        columns.push(boxed(cells(&values, &name)?));
        names.push(name);
    }
    Ok(Columns { names: Some(names), columns })
}

fn boxed(cells: Vec<String>) -> Box<dyn ColumnView> {
    Box::new(Cells::new(cells))
}

fn cells(values: &[Bound<'_, PyAny>], name: &str) -> PyResult<Vec<String>> {
    values.iter().enumerate().map(|(row, value)| cell(value, name, row)).collect()
}

/// A value as the text of a cell.
fn cell(value: &Bound<'_, PyAny>, name: &str, row: usize) -> PyResult<String> {
    if value.is_none() {
        return Ok(String::new());
    }
    if let Ok(truth) = value.cast::<PyBool>() {
        return Ok(if truth.is_true() { "true" } else { "false" }.into());
    }
    if value.cast::<PyString>().is_ok()
        || value.cast_exact::<PyInt>().is_ok()
        || value.cast_exact::<PyFloat>().is_ok()
    {
        return Ok(value.str()?.to_string());
    }
    if value.hasattr("isoformat")? {
        // What is not equal to itself, such as pandas' NaT, is missing.
        return if value.eq(value)? { value.call_method0("isoformat")?.extract() } else { Ok(String::new()) };
    }
    if value.hasattr("dtype")? && value.hasattr("item")? && value.getattr("ndim")?.extract::<usize>()? == 0 {
        let item = value.call_method0("item")?;
        if item.cast::<PyBool>().is_ok()
            || item.cast::<PyString>().is_ok()
            || item.cast::<PyFloat>().is_ok()
            || item.cast::<PyInt>().is_ok()
        {
            return cell(&item, name, row);
        }
    }
    // Such as decimal numbers, and pandas' sign for a missing value.
    let numeric = value.hasattr("__float__")? && !value.hasattr("__len__")?;
    if numeric || value.repr()?.to_str()? == "<NA>" {
        return Ok(value.str()?.to_string());
    }
    Err(raise(diad::table::Error::Nested { column: name.to_owned(), line: row as u64 + 1 }))
}
