//! The library's errors as Python's.

use std::io::{self, ErrorKind};

use diad::{Error, table};
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyMemoryError, PyOSError, PyPermissionError, PyRuntimeError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;

/// An error with the sentence the command line would give, but for the names of settings.
pub fn raise(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let sentence = error.to_string();
    named(&error, sentence)
}

/// As [`raise`], of a fit, which can leave a column out.
pub fn raise_fitting(error: Error) -> PyErr {
    let sentence = match error.column() {
        Some(column) if !column.is_empty() => {
            format!("{error}, or leave the column out with ignore=[{}]", table::quoted(column))
        }
        _ => error.to_string(),
    };
    named(&error, sentence)
}

/// Warns, in the frame of who calls the package.
pub fn warn(py: Python<'_>, sentences: impl IntoIterator<Item = String>) -> PyResult<()> {
    let sentences: Vec<String> = sentences.into_iter().collect();
    if !sentences.is_empty() {
        py.import("diad._convert")?.call_method1("warn", (sentences,))?;
    }
    Ok(())
}

/// The kind of error that Python itself has for a file.
fn of_system(source: &io::Error, sentence: String) -> PyErr {
    match source.kind() {
        ErrorKind::NotFound => PyFileNotFoundError::new_err(sentence),
        ErrorKind::PermissionDenied => PyPermissionError::new_err(sentence),
        ErrorKind::IsADirectory => PyIsADirectoryError::new_err(sentence),
        _ => PyOSError::new_err(sentence),
    }
}

fn named(error: &Error, sentence: String) -> PyErr {
    match error {
        Error::Table(table::Error::File { source, .. }) => of_system(source, sentence),
        Error::Table(table::Error::NotNumeric { .. } | table::Error::Nested { .. }) => {
            PyTypeError::new_err(sentence)
        }
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        Error::Stopped | Error::Diverged | Error::TuningDiverged => PyRuntimeError::new_err(sentence),
        Error::SettingKind { .. } | Error::UnknownSetting { .. } => PyTypeError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}
