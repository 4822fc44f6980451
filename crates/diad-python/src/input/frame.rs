//! Data frames of pandas: numbers, truth values and times are read where they are, the rest by Arrow or cell by cell.

use std::ops::Range;

use diad::table::{ColumnView, ReadAs, Texts, Values};
use numpy::{PyReadonlyArray1, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::array::{self, Kept};
use super::{Columns, Held, cells};

/// A data frame of pandas, its columns taken apart by `diad._frames`.
#[pyclass(frozen, module = "diad._diad")]
pub struct Frame {
    #[pyo3(get)]
    names: Vec<String>,
    /// Whether all names are texts.
    #[pyo3(get)]
    pub named: bool,
    columns: Vec<Py<PyAny>>,
    rows: usize,
}

impl Frame {
    /// Takes a data frame apart.
    pub fn of(frame: &Bound<'_, PyAny>) -> PyResult<Self> {
        let taken = frame.py().import("diad._frames")?.call_method1("columns", (frame,))?;
        let (names, named, columns) = taken.extract()?;
        Ok(Self { names, named, columns, rows: frame.len()? })
    }

    /// Calls `use_columns` with its columns.
    pub fn with<R>(
        &self,
        py: Python<'_>,
        use_columns: impl FnOnce(Columns<'_>) -> PyResult<R>,
    ) -> PyResult<R> {
        let mut sources = Vec::with_capacity(self.columns.len());
        for (name, column) in self.names.iter().zip(&self.columns) {
            sources.push(Source::of(column.bind(py), name)?);
        }
        let columns = sources.iter_mut().map(Source::view).collect();
        use_columns(Columns { names: Some(self.names.clone()), columns })
    }
}

#[pymethods]
impl Frame {
    fn __len__(&self) -> usize {
        self.rows
    }
}

/// A column: an array that is kept while it is read, or values of its own.
enum Source<'py> {
    Array(Box<dyn Kept + 'py>),
    Own(Option<Box<dyn ColumnView>>),
}

impl<'py> Source<'py> {
    fn of(column: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(array) = column.cast::<PyUntypedArray>() {
            return array::kept(array, name).map(Self::Array);
        }
        if let Ok(pair) = column.cast::<PyTuple>() {
            let (codes, levels): (Bound<'py, PyAny>, Vec<Bound<'py, PyAny>>) = pair.extract()?;
            let codes = codes.call_method1("astype", ("int64",))?;
            let codes: PyReadonlyArray1<'py, i64> = codes.extract()?;
            let levels = levels.iter().map(|level| cells::level(level)).collect::<PyResult<_>>()?;
            let codes = codes.as_array().to_vec();
            return Ok(Self::Own(Some(Box::new(Categories { codes, levels }))));
        }
        if let Ok(list) = column.cast::<PyList>() {
            let values: Vec<Bound<'py, PyAny>> = list.extract()?;
            return Ok(Self::Own(Some(cells::of_list(&values)?)));
        }
        let held = Held::of(column)?;
        Ok(Self::Own(held.columns().columns.into_iter().next()))
    }

    fn view(&mut self) -> Box<dyn ColumnView + '_> {
        match self {
            Self::Array(kept) => kept.view(),
            // Taken once, since every column is viewed once.
            Self::Own(own) => own.take().unwrap_or_else(|| Box::new(&[0.0; 0][..])),
        }
    }
}

/// Categories by their codes; below 0 is a missing one.
struct Categories {
    codes: Vec<i64>,
    levels: Vec<String>,
}

impl ColumnView for Categories {
    fn len(&self) -> usize {
        self.codes.len()
    }

    fn is_category(&self) -> bool {
        true
    }

    fn read(&self, _name: &str, rows: Range<usize>, _wanted: ReadAs) -> diad::table::Result<Values> {
        let text = |&code: &i64| {
            usize::try_from(code).ok().and_then(|code| self.levels.get(code)).map(String::as_str)
        };
        Ok(Texts::of_cells(self.codes[rows].iter().map(text)).into())
    }
}
