//! What scores are made of.

use std::sync::Arc;

use diad::Detector;
use diad::encode::Kind;
use diad::explain::{Axis, Explainer, Replacement};
use diad::metrics::top;
use diad::table::Table;
use diad_report::{Report, Rows, ordinary_rows};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::warn;
use crate::input::with_columns;
use crate::model::Model;
use crate::run::run;

self_cell::self_cell!(
    /// A detector and its terms.
    pub struct Explained {
        owner: Arc<Detector>,
        #[covariant]
        dependent: Explainer,
    }
);

/// Contributions of the terms to the scores of rows, and the scores.
type Contributed<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>);

/// For each term its name, the places of its columns and its importance.
type Terms = Vec<(String, Vec<usize>, f64)>;

/// Texts for each row and column.
type Words = Vec<Vec<String>>;

/// What a report is asked for.
#[derive(FromPyObject)]
struct Asked {
    top: usize,
    rows: Option<Vec<usize>>,
    model_name: String,
    table_name: String,
    threshold: Option<f64>,
}

#[pymethods]
impl Model {
    /// The constant part of every score, and for each term its name, the places of its columns and its importance.
    fn terms(&self, py: Python<'_>) -> PyResult<(f64, Terms)> {
        self.explain(py, |explainer| {
            let term = |(index, term): (usize, &diad::explain::Term)| {
                (explainer.name(index), term.columns().to_vec(), term.importance())
            };
            Ok((explainer.intercept(), explainer.terms().iter().enumerate().map(term).collect()))
        })
    }

    /// What each term contributes to the scores of the rows of a table, and the scores.
    #[pyo3(signature = (table, threads=None))]
    fn contributions<'py>(
        &self,
        table: &Bound<'py, PyAny>,
        threads: Option<usize>,
    ) -> PyResult<Contributed<'py>> {
        let py = table.py();
        let (terms, explained) = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run(py, threads, None, |monitor| {
                let explainer = self.explainer();
                Ok((explainer.terms().len(), explainer.contributions_all(&monitor.watch(&view))?))
            })
        })?;
        warn(py, explained.oddities().sentences())?;
        let values =
            PyArray1::from_slice(py, explained.values()).reshape([explained.scores().len(), terms])?;
        Ok((values, PyArray1::from_iter(py, explained.scores().iter().map(|&score| f64::from(score)))))
    }

    /// A term as a plot has it: its axes, what it contributes there, row after row, and where and what a missing number does.
    fn shape<'py>(&self, py: Python<'py>, term: usize, cells: usize) -> PyResult<Bound<'py, PyDict>> {
        let (axes, values, missing) = self.explain(py, |explainer| {
            let columns = explainer.terms()[term].columns();
            let (positions, values, missing) = match columns {
                [_] => {
                    let line = explainer.line(term);
                    (vec![line.positions], line.values, explainer.missing(term))
                }
                _ => {
                    let surface = explainer.surface(term, cells);
                    (surface.positions.to_vec(), surface.values, None)
                }
            };
            let axes =
                columns.iter().zip(positions).map(|(&column, at)| Shown::new(explainer, column, at, cells));
            Ok((axes.collect::<Vec<Shown>>(), values, missing))
        })?;
        let shape = PyDict::new(py);
        shape.set_item(
            "axes",
            axes.into_iter().map(|axis| axis.dictionary(py)).collect::<PyResult<Vec<_>>>()?,
        )?;
        shape.set_item("values", PyArray1::from_vec(py, values))?;
        shape.set_item("missing", missing.map(|score| (Axis::MISSING, score)))?;
        Ok(shape)
    }

    /// The values of the model's columns in the rows of a table in words, and how each stands among the training rows.
    fn words(&self, table: &Bound<'_, PyAny>) -> PyResult<(Words, Words)> {
        with_columns(table, |columns| {
            let view = self.view(columns)?;
            let rows: Vec<usize> = (0..view.rows()).collect();
            self.explain(table.py(), |explainer| {
                let picked = self.detector.pick(&view, &rows)?;
                let columns = || 0..picked.names().len();
                let words =
                    |&row: &usize| columns().map(|c| explainer.words(c, picked.column(c)[row])).collect();
                let standing = |&row: &usize| {
                    columns().map(|c| explainer.standing(c, picked.column(c)[row]).to_string()).collect()
                };
                Ok((rows.iter().map(words).collect(), rows.iter().map(standing).collect()))
            })
        })
    }

    /// The values of the model's columns in the rows of a table as numbers; those of categories are their places.
    fn numbers<'py>(&self, table: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let py = table.py();
        let (rows, columns) = with_columns(table, |columns| {
            let view = self.view(columns)?;
            let rows: Vec<usize> = (0..view.rows()).collect();
            let picked = run(py, None, None, |monitor| self.detector.pick(&monitor.watch(&view), &rows))?;
            let columns: Vec<f64> =
                (0..picked.names().len()).flat_map(|column| picked.column(column)).copied().collect();
            Ok((rows.len(), columns))
        })?;
        let width = self.detector.encoder().columns().len();
        PyArray1::from_vec(py, columns).reshape([width, rows])
    }

    /// Changes of one or two columns that bring the score of the row of a table below a threshold.
    fn counterfactuals<'py>(
        &self,
        table: &Bound<'py, PyAny>,
        threshold: f32,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let py = table.py();
        let found = with_columns(table, |columns| {
            let view = self.view(columns)?;
            let rows = view.rows();
            if rows != 1 {
                return Err(PyValueError::new_err(format!("the table has {rows} rows; give one of them")));
            }
            self.explain(py, |explainer| {
                let picked = self.detector.pick(&view, &[0])?;
                let values: Vec<f64> =
                    (0..picked.names().len()).map(|column| picked.column(column)[0]).collect();
                explainer.counterfactuals(&values, threshold)
            })
        })?;
        let change = |replacement: &Replacement| {
            let column = &self.detector.encoder().columns()[replacement.column];
            let value = |value: f64| -> PyResult<Bound<'py, PyAny>> {
                match column.kind {
                    _ if value.is_nan() => Ok(py.None().into_bound(py)),
                    Kind::Number => Ok(value.into_pyobject(py)?.into_any()),
                    _ => Ok(column.words(value).into_pyobject(py)?.into_any()),
                }
            };
            Ok((column.name.clone(), value(replacement.from)?, value(replacement.to)?))
        };
        let shown = |found: &diad::explain::Counterfactual| {
            let shown = PyDict::new(py);
            let changes = found.replacements.iter().map(change).collect::<PyResult<Vec<_>>>()?;
            shown.set_item("changes", changes)?;
            shown.set_item("score", f64::from(found.score))?;
            shown.set_item("distance", found.distance)?;
            Ok(shown)
        };
        found.iter().map(shown).collect()
    }

    /// The score that a share of the training rows do not exceed.
    fn score_quantile(&self, py: Python<'_>, share: f64) -> PyResult<f64> {
        self.explain(py, |explainer| Ok(f64::from(explainer.score_quantile(share))))
    }

    /// The share of training rows with a lower score than each of these.
    fn score_standing<'py>(
        &self,
        py: Python<'py>,
        scores: PyReadonlyArray1<'py, f64>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let scores = scores.as_array();
        let below = self.explain(py, |explainer| {
            Ok(scores.iter().map(|&score| explainer.score_standing(score as f32)).collect())
        })?;
        Ok(PyArray1::from_vec(py, below))
    }

    /// The report of a table as an HTML page, with the given rows listed, or those with the highest scores.
    #[pyo3(signature = (table, asked, labels=None, before=None))]
    fn report(
        &self,
        table: &Bound<'_, PyAny>,
        asked: Asked,
        labels: Option<Vec<bool>>,
        before: Option<&Self>,
    ) -> PyResult<String> {
        let (html, oddities) = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run(table.py(), None, None, |monitor| {
                let source = monitor.watch(&view);
                let explainer = self.explainer();
                let before = before.map(Self::explainer);
                let (scores, oddities) = self.detector.score_all_noting(&source)?;
                if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != scores.len()) {
                    return Err(diad::Error::LabelCount { labels: labels.len(), rows: scores.len() });
                }
                let mut numbers = asked.rows.unwrap_or_else(|| top(&scores, asked.top));
                let listed = numbers.len();
                numbers.extend(ordinary_rows(&scores, self.detector.encoder().columns().len()));
                let picked = self.detector.pick(&source, &numbers)?;
                let report = Report {
                    explainer,
                    before,
                    model_name: asked.model_name,
                    table_name: asked.table_name,
                    settings: self.detector.params().listed(),
                    scores: &scores,
                    labels: labels.as_deref(),
                    threshold: asked.threshold.map(|threshold| threshold as f32),
                    rule: None,
                    rows: Rows { numbers: &numbers, table: &picked, kept: &Table::default() },
                    listed,
                    identifier: None,
                };
                Ok((report.html()?, oddities))
            })
        })?;
        warn(table.py(), oddities.sentences())?;
        Ok(html)
    }
}

impl Model {
    pub fn explain<T: Send>(
        &self,
        py: Python<'_>,
        ask: impl FnOnce(&Explainer<'_>) -> diad::Result<T> + Send,
    ) -> PyResult<T> {
        match self.explained.get() {
            // What is worked out already needs no threads.
            Some(explained) => py.detach(|| ask(explained.borrow_dependent())).map_err(crate::error::raise),
            None => run(py, None, None, |_| ask(self.explainer())),
        }
    }

    /// The terms, worked out once. Two threads may both do it, and the first to end is kept: one must not wait for the other
    /// while it runs tasks of the other.
    pub fn explainer(&self) -> &Explainer<'_> {
        if self.explained.get().is_none() {
            let _ = self
                .explained
                .set(Explained::new(self.detector.clone(), |detector| Explainer::new(detector)));
        }
        self.explained
            .get_or_init(|| Explained::new(self.detector.clone(), |detector| Explainer::new(detector)))
            .borrow_dependent()
    }
}

/// A column as the axis of a plot.
struct Shown {
    name: String,
    categorical: bool,
    /// From 0 to 1, and the values there as numbers and in words.
    positions: Vec<f64>,
    values: Vec<f64>,
    words: Vec<String>,
    /// Marks with their positions.
    ticks: Vec<(f64, String)>,
    /// Shares of the training rows in equal parts of the axis, or of each category.
    density: Vec<f64>,
}

impl Shown {
    fn new(explainer: &Explainer<'_>, column: usize, positions: Vec<f64>, bins: usize) -> Self {
        let axis = explainer.axis(column);
        let values: Vec<f64> = positions.iter().map(|&position| axis.value(position)).collect();
        let detector = explainer.detector();
        let given = &detector.encoder().columns()[column];
        let density = match &given.kind {
            Kind::Category { levels, .. } => {
                let rows = |&position: &f64| levels.get(position as usize).map_or(0, |level| level.rows);
                let share = |position| rows(position) as f64 / detector.training_rows().max(1) as f64;
                values.iter().map(share).collect()
            }
            _ => explainer.density(column, bins),
        };
        Self {
            name: given.name.clone(),
            categorical: !axis.categories.is_empty(),
            words: values.iter().map(|&value| explainer.words(column, value)).collect(),
            ticks: axis.ticks().into_iter().map(|tick| (tick.position, tick.label)).collect(),
            density,
            positions,
            values,
        }
    }

    fn dictionary(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let shown = PyDict::new(py);
        shown.set_item("name", self.name)?;
        shown.set_item("categorical", self.categorical)?;
        shown.set_item("positions", PyArray1::from_vec(py, self.positions))?;
        shown.set_item("values", PyArray1::from_vec(py, self.values))?;
        shown.set_item("words", self.words)?;
        shown.set_item("ticks", self.ticks)?;
        shown.set_item("density", PyArray1::from_vec(py, self.density))?;
        Ok(shown)
    }
}
