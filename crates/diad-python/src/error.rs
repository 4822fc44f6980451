//! The library's errors as Python's.

use diad::{Error, table};
use pyo3::PyErr;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};

/// An error with the sentence the command line would give, but for the names of settings.
pub fn raise(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let sentence = error.to_string();
    match error {
        Error::Table(table::Error::File { .. }) => PyOSError::new_err(sentence),
        Error::Table(table::Error::NotNumeric { .. } | table::Error::Nested { .. }) => {
            PyTypeError::new_err(sentence)
        }
        Error::Memory { .. } => PyMemoryError::new_err(sentence),
        Error::Stopped | Error::Diverged | Error::TuningDiverged => PyRuntimeError::new_err(sentence),
        Error::SettingKind { .. } | Error::UnknownSetting { .. } => PyTypeError::new_err(sentence),
        _ => PyValueError::new_err(sentence),
    }
}
