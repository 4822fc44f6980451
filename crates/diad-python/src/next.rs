//! Which rows to label next.

use diad::calibrate::{Querying, next_rows};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;

use crate::input::with_columns;
use crate::model::{Model, known};
use crate::run::run;

/// Of each row its number, its score, what its label is expected to be, and what carries the score.
type Asked = Vec<(usize, f64, f64, String)>;

#[pymethods]
impl Model {
    /// The rows that are most worth a label, by the labels so far: 1, 0, and -1 or NaN where nothing is known.
    #[pyo3(signature = (table, count, labels=None, threads=None))]
    fn next_rows(
        &self,
        table: &Bound<'_, PyAny>,
        count: usize,
        labels: Option<PyReadonlyArray1<'_, f64>>,
        threads: Option<usize>,
    ) -> PyResult<Asked> {
        let labels = labels.as_ref().map(known).transpose()?;
        let next = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run(table.py(), threads, None, |monitor| {
                let source = monitor.watch(&view);
                let mut querying = Querying::new(&self.detector, &source)?;
                let rows = querying.scores().len();
                if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != rows) {
                    return Err(diad::Error::LabelCount { labels: labels.len(), rows });
                }
                for (row, label) in labels.into_iter().flatten().enumerate() {
                    label.map_or(Ok(()), |label| querying.tell(row, label))?;
                }
                next_rows(self.explainer(), &source, &querying, count)
            })
        })?;
        let told = |next: diad::calibrate::Next| {
            (next.row, f64::from(next.score), f64::from(next.expected), next.sentence)
        };
        Ok(next.into_iter().map(told).collect())
    }
}
