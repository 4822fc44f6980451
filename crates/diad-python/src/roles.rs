//! What is said of columns: by their names, or by their places.

use diad::encode::{LeftOut, Reason, Roles};
use diad::table::quoted;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A column: its name, or its place, counted from 0. Of a list for all columns, a place in it and its
/// length.
#[derive(FromPyObject)]
pub enum Place {
    Name(String),
    Index(i64),
    Listed((usize, usize)),
}

impl Place {
    fn name(&self, names: &[String]) -> PyResult<String> {
        let index = match self {
            Self::Name(name) => return Ok(name.clone()),
            Self::Listed((place, count)) => {
                let found = names.get(*place).filter(|_| *count == names.len());
                return found.cloned().ok_or_else(|| {
                    let width = names.len();
                    PyValueError::new_err(format!(
                        "feature_types has a length of {count}, but the table has {width} columns; give a kind for each"
                    ))
                });
            }
            Self::Index(index) => *index,
        };
        // A data frame may be one whose names are numbers.
        let written = index.to_string();
        if names.contains(&written) {
            return Ok(written);
        }
        let place = if index < 0 { index + names.len() as i64 } else { index };
        let found = usize::try_from(place).ok().and_then(|place| names.get(place));
        found.cloned().ok_or_else(|| {
            let width = names.len();
            PyValueError::new_err(format!(
                "there is no column {index}; the table has {width} columns, and the first is column 0"
            ))
        })
    }
}

/// Columns to ignore, to take as categories, to take as numbers, and that of segments.
pub fn of([ignored, categorical, numeric, by]: &[Vec<Place>; 4], names: &[String]) -> PyResult<Roles> {
    let mut roles = Roles::default();
    for place in ignored {
        roles = roles.ignore(place.name(names)?);
    }
    for place in categorical {
        roles = roles.categorical(place.name(names)?);
    }
    for place in numeric {
        roles = roles.numeric(place.name(names)?);
    }
    for place in by {
        roles = roles.by(place.name(names)?);
    }
    Ok(roles)
}

/// What to say of a column that was left out, though nobody asked for it. One of the same value in all rows goes without saying.
pub fn left_out(LeftOut { name, reason, .. }: &LeftOut) -> Option<String> {
    let name = quoted(name);
    let keep = match reason {
        Reason::Constant => return None,
        Reason::AllMissing => String::new(),
        _ => format!("; keep it with numeric=[{name}] or categorical=[{name}], or name it in ignore"),
    };
    Some(format!("column {name} is left out, because {reason}{keep}"))
}
