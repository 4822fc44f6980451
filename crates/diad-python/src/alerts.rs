//! Which rows of a table are alerts, why, and which of them belong together.

use diad::Alert;
use diad::calibrate::{Rarity, Threshold, groups};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::{raise, warn};
use crate::input::with_columns;
use crate::model::Model;
use crate::run::run;

/// The rule if none is given or stored, as for the groups of `diad score`.
const USUAL_RULE: Alert = Alert::Share(0.01);

/// An alert: its row, score, percentile, p-value and severity, its reasons, and the group it belongs to.
type Told = (usize, f64, f64, f64, &'static str, Vec<String>, String);

#[pymethods]
impl Model {
    /// The alerts of a table, the highest first, what the rule is and what people should know of it.
    #[pyo3(signature = (table, alert=None, reasons=3, time=None, threads=None))]
    fn alerts(
        &self,
        table: &Bound<'_, PyAny>,
        alert: Option<&str>,
        reasons: usize,
        time: Option<&str>,
        threads: Option<usize>,
    ) -> PyResult<(String, Option<String>, Vec<Told>)> {
        let py = table.py();
        let given = alert.map(str::parse::<Alert>).transpose().map_err(PyValueError::new_err)?;
        let rule = given.or(self.detector.alert()).unwrap_or(USUAL_RULE);
        let (threshold, told, oddities) = with_columns(table, |columns| {
            let view = self.view(columns)?;
            run(py, threads, None, |monitor| {
                let source = monitor.watch(&view);
                let (scores, oddities) = self.detector.score_all_noting::<f32>(&source)?;
                let threshold = Threshold::of_table(rule, &self.detector, &scores, &source, time)?;
                let mut rows: Vec<usize> =
                    (0..scores.len()).filter(|&row| threshold.is_alert(scores[row])).collect();
                rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
                let explainer = self.explainer();
                let picked = self.detector.pick(&source, &rows)?;
                let mut of_rows = vec![String::new(); rows.len()];
                for group in groups(explainer, &picked)? {
                    group.members.iter().for_each(|&member| of_rows[member].clone_from(&group.sentence));
                }
                let explained = explainer.reasons(&picked, reasons)?;
                let told: Vec<Told> = rows
                    .iter()
                    .zip(of_rows)
                    .enumerate()
                    .map(|(place, (&row, group))| {
                        let rarity = Rarity::of_score(self.detector.calibration(), scores[row]);
                        let reasons = explained.row(place).map(|reason| reason.text.to_owned());
                        let score = f64::from(scores[row]);
                        let severity = rarity.severity.name();
                        (row, score, rarity.percentile, rarity.p_value, severity, reasons.collect(), group)
                    })
                    .collect();
                Ok((threshold, told, oddities))
            })
        })?;
        warn(py, oddities.sentences())?;
        Ok((rule.to_string(), threshold.note, told))
    }

    /// The share of the rows that are alerts by the rule that is stored in the model, if that is what it says.
    #[getter]
    fn alert_share(&self) -> Option<f64> {
        match self.detector.alert() {
            Some(Alert::Share(share)) => Some(share),
            _ => None,
        }
    }

    /// The least score of an alert by the rule that is stored in the model; of a table with these scores, if the rule looks at all rows.
    #[pyo3(signature = (scores=None))]
    fn alert_threshold(&self, scores: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Option<f64>> {
        let Some(rule) = self.detector.alert() else { return Ok(None) };
        let calibration = self.detector.calibration();
        let threshold = match (Threshold::of_model(rule, calibration), scores) {
            (Some(threshold), _) => Some(threshold),
            (None, Some(scores)) => {
                let scores: Vec<f32> = scores.as_array().iter().map(|&score| score as f32).collect();
                Some(Threshold::find(rule, calibration, &scores, None).map_err(raise)?)
            }
            (None, None) => None,
        };
        Ok(threshold.map(|threshold| f64::from(threshold.score)))
    }
}
