//! What engines that hold the data need of a model: rows judged batch by batch, and counts that are put together elsewhere.

use std::sync::Arc;

use diad::calibrate::{Counted, Drifting, Judge, Rarities};
use diad::encode::{Counted as Cells, Counting, Encoder, Survey};
use diad::table::Source;
use diad::{Alert, Calibration};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::raise;
use crate::input::with_columns;
use crate::model::Model;
use crate::roles::{self, Place};
use crate::run::{run, run_here};

/// Scores of rows, their percentiles, p-values and severities, by their places in `SEVERITIES`, whether they are alerts, and
/// reason after reason.
type Judged<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<u8>>,
    Option<Bound<'py, PyArray1<bool>>>,
    Texts<'py>,
);

/// Reason after reason, a text for each row that has so many.
type Texts<'py> = Vec<Vec<Option<Bound<'py, PyString>>>>;

/// How the rows of a larger table are to be counted of which these are a sample, for [`count_rows`].
#[pyfunction]
pub fn counting<'py>(table: &Bound<'py, PyAny>, roles: [Vec<Place>; 4]) -> PyResult<Bound<'py, PyBytes>> {
    let py = table.py();
    let counting = with_columns(table, |columns| {
        let view = columns.view(|width| Ok(Encoder::plain_names(width)))?;
        let roles = roles::of(&roles, view.names())?;
        run(py, None, None, |monitor| Ok(Counting::new(&Survey::of(&monitor.watch(&view), &roles)?)))
    })?;
    written(py, &counting)
}

/// What some tables hold: ranges, gaps and categories of their rows.
#[pyfunction]
pub fn count_rows<'py>(counting: &[u8], tables: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    let py = tables.py();
    let mut counting: Counting = read_counts(counting)?;
    for table in tables.try_iter()? {
        with_columns(&table?, |columns| {
            let view = columns.view(|width| Ok(Encoder::plain_names(width)))?;
            run_here(py, || counting.add(&view))
        })?;
    }
    written(py, &counting.counted())
}

/// What tables hold that were counted apart, put together.
#[pyfunction]
pub fn add_counts<'py>(
    py: Python<'py>,
    counting: &[u8],
    counted: Vec<Vec<u8>>,
) -> PyResult<Bound<'py, PyBytes>> {
    let mut counting: Counting = read_counts(counting)?;
    for part in &counted {
        let part: Cells = read_counts(part)?;
        counting.append(part).map_err(raise)?;
    }
    written(py, &counting.counted())
}

/// Counts as they travel.
fn written<'py>(py: Python<'py>, counts: &impl Serialize) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = serde_json::to_vec(counts).map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Counts that have travelled.
pub fn read_counts<T: DeserializeOwned>(bytes: &[u8]) -> PyResult<T> {
    serde_json::from_slice(bytes)
        .map_err(|error| PyValueError::new_err(format!("these are not counts of rows: {error}")))
}

#[pymethods]
impl Model {
    /// The rule by which single rows are alerts: the given one, or that of the model.
    #[pyo3(signature = (alert=None))]
    fn rule(&self, alert: Option<&str>) -> PyResult<Option<String>> {
        let given = alert.map(str::parse::<Alert>).transpose().map_err(PyValueError::new_err)?;
        match given.or(self.detector.alert()) {
            Some(rule) if !rule.is_of_the_model() => Err(PyValueError::new_err(format!(
                "the rule {rule} looks at a whole table, and rows are judged one by one here; give alert='share=1%' or alert='p=0.001'"
            ))),
            rule => Ok(rule.map(|rule| rule.to_string())),
        }
    }

    /// Scores of some rows, on this thread alone.
    fn score_here<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let py = table.py();
        let scores = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run_here(py, || Ok(self.detector.score_all_noting::<f64>(&view)?.0))
        })?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// Judges some rows, each by itself, as `diad score` does, on this thread alone.
    #[pyo3(signature = (table, reasons=0, alert=None))]
    fn judge<'py>(
        &self,
        table: &Bound<'py, PyAny>,
        reasons: usize,
        alert: Option<&str>,
    ) -> PyResult<Judged<'py>> {
        let py = table.py();
        let alert = alert.map(str::parse::<Alert>).transpose().map_err(PyValueError::new_err)?;
        let rarities = self.rarities.get_or_init(|| Rarities::new(self.detector.calibration()));
        let judged = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run_here(py, || {
                let judge = Judge::new(&self.detector, rarities).alerting(alert);
                match reasons {
                    0 => judge.judge(&view),
                    _ => judge.explaining(self.explainer(), reasons).judge(&view),
                }
            })
        })?;
        let rarities = || judged.rarities.iter();
        let text = |reasons: &Vec<Option<Arc<str>>>| {
            reasons.iter().map(|text| text.as_deref().map(|text| PyString::new(py, text))).collect()
        };
        let alerts = judged.alerts.map(|alerts| PyArray1::from_vec(py, alerts));
        Ok((
            PyArray1::from_iter(py, judged.scores.iter().map(|&score| f64::from(score))),
            PyArray1::from_iter(py, rarities().map(|rarity| rarity.percentile)),
            PyArray1::from_iter(py, rarities().map(|rarity| rarity.p_value)),
            PyArray1::from_iter(py, rarities().map(|rarity| rarity.severity as u8)),
            alerts,
            judged.reasons.iter().map(text).collect(),
        ))
    }

    /// Counts the rows of some tables for [`Model::drift`].
    fn count_drift<'py>(&self, tables: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let py = tables.py();
        let mut counted = self.explain(py, |explainer| Ok(Drifting::new(explainer).counted()))?;
        for table in tables.try_iter()? {
            let so_far = counted;
            counted = with_columns(&table?, |columns| {
                let view = self.view(columns)?;
                run_here(py, || self.counting(so_far, &view))
            })?;
        }
        written(py, &counted)
    }

    /// What has changed, by counts that were made apart, as the JSON of `diad drift`.
    fn drift(&self, py: Python<'_>, counted: Vec<Vec<u8>>) -> PyResult<String> {
        let read = |bytes: &Vec<u8>| read_counts(bytes);
        let counted: Vec<Counted> = counted.iter().map(read).collect::<PyResult<_>>()?;
        self.explain(py, |explainer| {
            let mut drifting = Drifting::new(explainer);
            counted.into_iter().try_for_each(|part| drifting.append(part))?;
            Ok(drifting.finish().json(explainer).to_string())
        })
    }

    /// The same model, with percentiles and p-values by these scores of rows it has not seen.
    fn calibrated(&self, scores: PyReadonlyArray1<'_, f32>) -> PyResult<Self> {
        let calibration = Calibration::new(scores.as_array().to_vec(), true);
        let calibration = calibration
            .ok_or_else(|| PyValueError::new_err("a calibration needs finite scores; give some"))?;
        let bytes = self.detector.to_bytes().map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        let detector =
            diad::Detector::from_bytes(&bytes).map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        Ok(self.with(detector.calibrated(calibration)))
    }
}

impl Model {
    fn counting(&self, so_far: Counted, table: &dyn Source) -> diad::Result<Counted> {
        let mut drifting = Drifting::new(self.explainer());
        drifting.append(so_far)?;
        let mut reader = table.open(&self.detector.selection())?;
        while let Some(batch) = reader.next_batch()? {
            drifting.add(&batch, None)?;
        }
        Ok(drifting.counted())
    }
}
