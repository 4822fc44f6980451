//! Settings by their names.

use diad::{Params, TuneParams};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use serde_json::{Map, Value};

use crate::error::raise;

/// The settings of a fit: a preset, and what is given instead of it.
pub fn params(preset: &str, given: &Bound<'_, PyDict>, seed: u64) -> PyResult<Params> {
    let preset = match preset {
        "default" => Params::default(),
        "paper" => Params::paper(),
        other => {
            let other = diad::table::quoted(other);
            return Err(PyValueError::new_err(format!(
                "preset is {other}, but it must be \"default\" or \"paper\""
            )));
        }
    };
    let given = values(given)?;
    let steps = given.get("steps").and_then(Value::as_u64);
    let preset = steps.map_or(preset.clone(), |steps| preset.with_steps(steps as usize));
    let params = Params { seed, ..merged(&preset, given)? };
    params.validate().map_err(raise)?;
    Ok(params)
}

/// The settings of a tuning.
pub fn tune_params(given: &Bound<'_, PyDict>, seed: u64) -> PyResult<TuneParams> {
    let params = TuneParams { seed, ..merged(&TuneParams::default(), values(given)?)? };
    params.validate().map_err(raise)?;
    Ok(params)
}

/// Values by name; None stands for what is not given.
fn values(given: &Bound<'_, PyDict>) -> PyResult<Map<String, Value>> {
    let mut values = Map::new();
    for (name, value) in given.iter().filter(|(_, value)| !value.is_none()) {
        let name: String = name.extract()?;
        let value = value_of(&value).ok_or_else(|| {
            PyTypeError::new_err(format!("{name} is {}, but it must be a number or a word", shown(&value)))
        })?;
        values.insert(name, value);
    }
    Ok(values)
}

fn shown(value: &Bound<'_, PyAny>) -> String {
    value
        .repr()
        .map_or_else(|_| "something unknown".into(), |text| diad::table::printable(&text.to_string_lossy()))
}

fn value_of(value: &Bound<'_, PyAny>) -> Option<Value> {
    if let Ok(truth) = value.cast::<PyBool>() {
        return Some(truth.is_true().into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Some(text.to_string_lossy().into_owned().into());
    }
    if value.cast::<PyInt>().is_ok() {
        return value.extract::<i64>().ok().map(Value::from);
    }
    if let Ok(number) = value.cast::<PyFloat>() {
        return serde_json::Number::from_f64(number.value()).map(Value::Number);
    }
    // A number of NumPy.
    let item = value.call_method0("item").ok()?;
    if item.is(value) { None } else { value_of(&item) }
}

/// Settings with some of them replaced.
fn merged<T: serde::Serialize + serde::de::DeserializeOwned>(
    preset: &T,
    given: Map<String, Value>,
) -> PyResult<T> {
    let plain = serde_json::to_value(preset);
    let mut merged = plain.ok().and_then(|plain| plain.as_object().cloned()).unwrap_or_default();
    for (name, value) in given {
        if !merged.contains_key(&name) {
            return Err(PyTypeError::new_err(format!("there is no setting {}", diad::table::quoted(&name))));
        }
        let before = merged.insert(name.clone(), value.clone());
        let fits: Result<T, _> = serde_json::from_value(Value::Object(merged.clone()));
        if fits.is_err() {
            let kind = match before {
                Some(Value::Number(number)) if number.is_u64() => "a whole number",
                Some(Value::Number(_)) => "a number",
                Some(Value::Bool(_)) => "true or false",
                Some(Value::String(word)) => {
                    return Err(PyValueError::new_err(format!(
                        "{name} is {value}, but it must be a word such as {word:?}"
                    )));
                }
                _ => "something else",
            };
            return Err(PyTypeError::new_err(format!("{name} is {value}, but it must be {kind}")));
        }
    }
    serde_json::from_value(Value::Object(merged)).map_err(|error| PyValueError::new_err(error.to_string()))
}
