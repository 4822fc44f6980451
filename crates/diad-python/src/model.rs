//! The detector as an object of Python: converts, calls, and names errors.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use diad::calibrate::Rarities;
use diad::encode::{Column, Encoder, Kind};
use diad::{Alert, Detector, Error, Labelled, metrics};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::engine;
use crate::error::{raise, raise_fitting, warn};
use crate::explain::Explained;
use crate::input::{Columns, Frame, Taken, with_columns};
use crate::roles::{self, Place};
use crate::run::run;
use crate::settings;

/// A trained model. Immutable.
#[pyclass(frozen, module = "diad._diad")]
pub struct Model {
    pub detector: Arc<Detector>,
    /// The names of the columns of the training table, where that is known.
    names: Option<Vec<String>>,
    /// The terms, worked out when they are first asked for.
    pub explained: OnceLock<Explained>,
    /// How rare scores are, likewise.
    pub rarities: OnceLock<Rarities>,
}

impl Model {
    fn new(detector: Detector, names: Option<Vec<String>>) -> Self {
        Self { detector: Arc::new(detector), names, explained: OnceLock::new(), rarities: OnceLock::new() }
    }

    /// Another detector of the same table.
    pub fn with(&self, detector: Detector) -> Self {
        Self::new(detector, self.names.clone())
    }

    /// The columns of a table without names are those of the training table. So are those of a table with other names, if the
    /// training table had none.
    pub fn view<'a>(&self, columns: Columns<'a>) -> PyResult<diad::table::View<'a>> {
        let by_position = columns.names.as_ref().is_some_and(|names| self.by_position(names));
        let columns = if by_position { Columns { names: None, ..columns } } else { columns };
        columns.view(|width| self.names_for(width))
    }

    fn names_for(&self, width: usize) -> diad::Result<Vec<String>> {
        match &self.names {
            Some(names) if names.len() == width => Ok(names.clone()),
            Some(names) => Err(Error::ColumnCount { found: width, expected: names.len() }),
            None => self.detector.encoder().names_for(width),
        }
    }

    fn sources(&self) -> impl Iterator<Item = &str> {
        let encoder = self.detector.encoder();
        encoder.columns().iter().map(Column::source).chain(encoder.segments().map(|(column, _)| column))
    }

    /// Whether a table with these names is matched by position: it has as many columns as the training table, which had no names.
    fn by_position(&self, names: &[String]) -> bool {
        let has = |source: &str| names.iter().any(|name| name == source);
        !self.sources().all(has)
            && self.names_for(names.len()).is_ok_and(|known| known == Encoder::plain_names(names.len()))
    }
}

/// The detector in the bytes of a model file.
fn detector(bytes: &[u8]) -> PyResult<Detector> {
    Detector::from_bytes(bytes)
        .map_err(|fault| PyValueError::new_err(format!("cannot use these bytes as a model: {fault}")))
}

/// Whether the names of a table are texts; those of a data frame may be numbers.
fn is_named(table: &Bound<'_, PyAny>) -> bool {
    if let Ok(taken) = table.cast::<Taken>() {
        return is_named(taken.get().table.bind(table.py()));
    }
    table.cast::<Frame>().map_or(true, |frame| frame.get().named)
}

/// What a fit comes from: the model, how many columns its table had, and whether these had names.
type Fitted = (Model, usize, bool);

#[pymethods]
impl Model {
    /// Trains a model on a table, or on a sample of one whose rows were counted by [`crate::engine::counting`].
    #[staticmethod]
    #[pyo3(signature = (table, preset, settings, seed, roles, threads=None, callback=None, counted=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords of Python")]
    fn fit(
        table: &Bound<'_, PyAny>,
        preset: &str,
        settings: &Bound<'_, PyDict>,
        seed: u64,
        roles: [Vec<Place>; 4],
        threads: Option<usize>,
        callback: Option<&Bound<'_, PyAny>>,
        counted: Option<Vec<u8>>,
    ) -> PyResult<Fitted> {
        let py = table.py();
        let params = settings::params(preset, settings, seed)?;
        let counted = counted.as_deref().map(engine::read_counts).transpose()?;
        let (fitted, notes) = with_columns(table, |columns| {
            let named = columns.names.is_some() && is_named(table);
            let view = columns.view(|width| Ok(Encoder::plain_names(width)))?;
            let roles = roles::of(&roles, view.names())?;
            let done = run(py, threads, callback, |monitor| {
                let (table, mut observe) = (monitor.watch(&view), |progress| monitor.step(progress));
                let fit = || {
                    let mut fitting = params.fitting(&table).roles(roles).progress(&mut observe);
                    if let Some(counted) = counted {
                        fitting = fitting.sampled_from(counted);
                    }
                    let training = fitting.read()?;
                    let notes = training.notes().to_vec();
                    Ok((training.run()?, notes))
                };
                Ok(fit())
            })?;
            let (detector, notes) = done.map_err(raise_fitting)?;
            let names = view.names().to_vec();
            let width = names.len();
            Ok(((Self::new(detector, Some(names)), width, named), notes))
        })?;
        let left_out = fitted.0.detector.encoder().left_out().iter();
        let left_out: Vec<String> = left_out.filter_map(roles::left_out).collect();
        warn(py, notes.into_iter().chain(left_out))?;
        Ok(fitted)
    }

    /// Whether a table with these columns is matched by position, and which of its columns the model does not know.
    fn strange(&self, names: Vec<String>) -> (bool, Vec<String>) {
        if self.by_position(&names) {
            return (true, Vec::new());
        }
        let encoder = self.detector.encoder();
        let known = |name: &String| match &self.names {
            Some(names) => names.contains(name),
            None => {
                self.sources().any(|source| source == name)
                    || encoder.ignored().contains(name)
                    || encoder.left_out().iter().any(|column| column.name == *name)
            }
        };
        (false, names.into_iter().filter(|name| !known(name)).collect())
    }

    /// Scores of the rows of a table.
    #[pyo3(signature = (table, threads=None))]
    fn score<'py>(
        &self,
        table: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let py = table.py();
        let (scores, oddities) = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run(py, threads, None, |monitor| self.detector.score_all_noting::<f64>(&monitor.watch(&view)))
        })?;
        warn(py, oddities.sentences())?;
        Ok(PyArray1::from_vec(py, scores))
    }

    /// A model that has learned from labels: 1, 0, and -1 or NaN where nothing is known. Also the areas under the ROC curve of
    /// held-out labels, before and after.
    #[pyo3(signature = (table, labels, settings, seed, threads=None, validation=None))]
    fn tune(
        &self,
        table: &Bound<'_, PyAny>,
        labels: PyReadonlyArray1<'_, f64>,
        settings: &Bound<'_, PyDict>,
        seed: u64,
        threads: Option<usize>,
        validation: Option<(Bound<'_, PyAny>, PyReadonlyArray1<'_, f64>)>,
    ) -> PyResult<(Self, Option<[f64; 2]>)> {
        let py = table.py();
        let learner = settings::learner(settings, seed)?;
        let labelled = self.labelled(table, &labels, threads)?;
        let validation =
            validation.map(|(table, labels)| self.labelled(&table, &labels, threads)).transpose()?;
        warn(py, labelled.oddities(validation.as_ref()))?;
        let tuned = run(py, threads, None, |monitor| {
            let mut observe = |progress| monitor.tuning(progress);
            let tuning = self.detector.tuning(&labelled).learner(learner).validation(validation.as_ref());
            tuning.progress(&mut observe).run()
        })?;
        Ok((self.with(tuned.detector), tuned.validation))
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.detector.to_bytes().map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model of the bytes of a model file, and the names of the columns of its training table, if they are known.
    #[staticmethod]
    #[pyo3(signature = (bytes, names=None))]
    fn from_bytes(bytes: &[u8], names: Option<Vec<String>>) -> PyResult<Self> {
        Ok(Self::new(detector(bytes)?, names))
    }

    /// Writes the model file, with a rule for alerts of this share of the rows, unless the model has one of another kind.
    #[pyo3(signature = (path, share=None))]
    fn save(&self, path: PathBuf, share: Option<f64>) -> PyResult<()> {
        let is_new = |share: &f64| match self.detector.alert() {
            None => true,
            Some(Alert::Share(stored)) => stored != *share,
            Some(_) => false,
        };
        let Some(share) = share.filter(is_new) else {
            return self.detector.save(&path).map_err(raise);
        };
        let bytes = self.detector.to_bytes().map_err(|fault| PyValueError::new_err(fault.to_string()))?;
        let copy = detector(&bytes)?;
        copy.alerting(Some(Alert::Share(share))).save(&path).map_err(raise)
    }

    /// Reads a model file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        Ok(Self::new(Detector::load(&path).map_err(raise)?, None))
    }

    /// The names of the columns of the training table, where they are known.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.names.clone()
    }

    /// The names of the columns of the training table, also those of a model from a file, where none was left out.
    #[getter]
    fn training_names(&self) -> Option<Vec<String>> {
        let encoder = self.detector.encoder();
        let whole = encoder.left_out().is_empty() && encoder.ignored().is_empty();
        let mut sources: Vec<String> = self.sources().map(str::to_owned).collect();
        sources.dedup();
        self.names.clone().or_else(|| whole.then_some(sources))
    }

    /// Whether the training table had no names, as far as that can be told.
    #[getter]
    fn plain(&self) -> bool {
        let plain = |name: &str| name.strip_prefix('x').is_some_and(|digits| digits.parse::<u32>().is_ok());
        self.sources().all(plain)
    }

    /// The column of segments, if numbers count by what is usual in theirs.
    #[getter]
    fn by(&self) -> Option<&str> {
        self.detector.encoder().segments().map(|(column, _)| column)
    }

    /// For each column the model looks at, that of the table it comes from.
    #[getter(sources)]
    fn listed_sources(&self) -> Vec<String> {
        self.sources().map(str::to_owned).collect()
    }

    /// The columns the model looks at.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.detector.encoder().columns().iter().map(|column| column.name.clone()).collect()
    }

    /// The columns of categories.
    #[getter]
    fn categories(&self) -> Vec<String> {
        let category = |column: &&Column| matches!(column.kind, Kind::Category { .. });
        self.detector.encoder().columns().iter().filter(category).map(|column| column.name.clone()).collect()
    }

    /// Columns that were left out, and why.
    #[getter]
    fn left_out(&self) -> Vec<(String, String)> {
        let left_out = self.detector.encoder().left_out().iter();
        left_out.map(|column| (column.name.clone(), column.reason.to_string())).collect()
    }

    /// Every setting of the fit, as text.
    #[getter]
    fn settings(&self) -> Vec<(String, String)> {
        self.detector.params().listed()
    }

    /// Rows it was trained on.
    #[getter]
    fn training_rows(&self) -> u64 {
        self.detector.training_rows()
    }

    /// Anomalies and normal rows it has learned from, if it is tuned.
    #[getter]
    fn origin(&self) -> Option<(u64, u64)> {
        self.detector.origin().map(|origin| (origin.anomalies, origin.normals))
    }

    /// How sure it is that rows are among the most anomalous ones, by how many of so many rows score no higher.
    #[staticmethod]
    fn confidence<'py>(
        py: Python<'py>,
        below: PyReadonlyArray1<'py, i64>,
        rows: u64,
        contamination: f64,
    ) -> Bound<'py, PyArray1<f64>> {
        let sure = |&below: &i64| metrics::confidence(below.max(0) as u64, rows, contamination);
        PyArray1::from_iter(py, below.as_array().iter().map(sure))
    }
}

impl Model {
    fn labelled(
        &self,
        table: &Bound<'_, PyAny>,
        labels: &PyReadonlyArray1<'_, f64>,
        threads: Option<usize>,
    ) -> PyResult<Labelled> {
        let labels = known(labels)?;
        with_columns(table, |columns| {
            let view = self.view(columns)?;
            run(table.py(), threads, None, |monitor| {
                Labelled::of(&self.detector, &monitor.watch(&view), labels)
            })
        })
    }
}

/// Labels: 1, 0, and -1 or NaN where nothing is known.
pub fn known(labels: &PyReadonlyArray1<'_, f64>) -> PyResult<Vec<Option<bool>>> {
    let label = |(row, &label): (usize, &f64)| match label {
        1.0 => Ok(Some(true)),
        0.0 => Ok(Some(false)),
        label if label.is_nan() || label == -1.0 => Ok(None),
        other => Err(PyValueError::new_err(format!(
            "label {other} of row {row} (counted from 0) is not a label; write 1 for an anomaly, 0 for a normal row, and \
             -1 or NaN where nothing is known"
        ))),
    };
    labels.as_array().iter().enumerate().map(label).collect()
}
