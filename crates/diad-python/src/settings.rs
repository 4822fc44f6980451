//! Settings by their names.

use diad::settings::{Kind, Setting, Value};
use diad::{Error, Learner, Params};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::error::raise;

/// The settings of a fit: a preset, and what is given instead of it.
pub fn params(preset: &str, given: &Bound<'_, PyDict>, seed: u64) -> PyResult<Params> {
    let given = values(given)?;
    let given = given.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let declared = || Params::declared().iter();
    Ok(Params::of(preset, given).map_err(|error| raise_setting(error, declared()))?.seed(seed))
}

/// An error about a setting. A whole number below 0 is one, though none that a count could be.
fn raise_setting<'a>(error: Error, mut declared: impl Iterator<Item = &'a Setting>) -> PyErr {
    match &error {
        Error::SettingKind { name, value, .. } if value.parse::<i64>().is_ok_and(|number| number < 0) => {
            let range = declared.find(|setting| setting.name == *name).and_then(|setting| setting.range);
            let must = range.unwrap_or("0 or more");
            PyValueError::new_err(format!("{name} is {value}, but it must be {must}"))
        }
        _ => raise(error),
    }
}

/// The way to learn from labels: its name may be given as `learner`.
pub fn learner(given: &Bound<'_, PyDict>, seed: u64) -> PyResult<Learner> {
    let (named, given): (Vec<_>, Vec<_>) =
        values(given)?.into_iter().partition(|(name, _)| name == "learner");
    let name = named.first().map(|(_, value)| value.to_string());
    let given = given.iter().map(|(name, value)| (name.as_str(), value.clone()));
    Ok(Learner::of(name.as_deref(), given).map_err(raise)?.seed(seed))
}

/// A setting as documentation shows it: its name, what values it takes, its default and the paper's value as Python writes them,
/// its range, and its help.
pub type Described = (&'static str, String, String, Option<String>, Option<&'static str>, &'static str);

/// Every setting but the seed, which is given as `random_state`.
pub fn described<'a>(settings: impl IntoIterator<Item = &'a Setting>) -> Vec<Described> {
    let one = |setting: &Setting| {
        let kind = match setting.kind {
            Kind::Count => "int".to_owned(),
            Kind::Number => "float".to_owned(),
            Kind::Switch => "bool".to_owned(),
            Kind::Word(words) => {
                words.iter().map(|word| format!("{:?}", word.name)).collect::<Vec<_>>().join(" or ")
            }
            _ => "object".to_owned(),
        };
        let paper = setting.paper.as_ref().map(written);
        (setting.name, kind, written(&setting.default), paper, setting.range, setting.help)
    };
    settings.into_iter().filter(|setting| setting.name != "seed").map(one).collect()
}

/// A value as Python writes it.
fn written(value: &Value) -> String {
    match value {
        Value::Switch(true) => "True".into(),
        Value::Switch(false) => "False".into(),
        Value::Word(word) => format!("{word:?}"),
        other => other.typed(),
    }
}

/// Values by name; None stands for what is not given.
fn values(given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, Value)>> {
    let given = given.iter().filter(|(_, value)| !value.is_none());
    given
        .map(|(name, value)| {
            let name: String = name.extract()?;
            match value_of(&value) {
                Some(value) => Ok((name, value)),
                None => Err(PyTypeError::new_err(format!(
                    "{name} is {}, but it must be a number or a word",
                    shown(&value)
                ))),
            }
        })
        .collect()
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value
        .repr()
        .map_or_else(|_| "something unknown".into(), |text| diad::table::printable(&text.to_string_lossy()))
}

fn value_of(value: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Some(Value::Switch(truth.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Some(Value::Word(text.to_string_lossy().into_owned()));
    }
    if value.cast::<PyInt>().is_ok() {
        // No setting takes a whole number below 0; a number may be one.
        let count = value.extract::<u64>().ok().map(Value::Count);
        return count.or_else(|| value.extract::<i64>().ok().map(|number| Value::Number(number as f64)));
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return Some(Value::Number(number.value()));
    }
    // A number of NumPy.
    let item = value.call_method0("item").ok()?;
    if item.is(value) { None } else { value_of(&item) }
}
