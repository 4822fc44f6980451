//! Rows judged one by one, wherever they are.

use std::sync::Arc;

use super::{Rarities, Rarity, Threshold};
use crate::explain::Explainer;
use crate::table::Source;
use crate::{Alert, Detector, Result};

/// Judges rows one by one, each by itself, so that it does not matter which others are at hand: what an engine needs that holds
/// the rows. The result is that of `diad score`.
///
/// ```
/// use diad::{Alert, Params, calibrate::{Judge, Rarities}, table::Table};
///
/// let mut x: Vec<f64> = (0..400).map(|i| f64::from(i % 40)).collect();
/// x[123] = 1000.0;
/// let table = Table::new(vec!["x".into()], vec![x])?;
/// let detector = Params::default().with_steps(20).trees(10).fit(&table)?;
///
/// let rarities = Rarities::new(detector.calibration());
/// let judged = Judge::new(&detector, &rarities).alerting(Some(Alert::Share(0.01))).judge(&table)?;
/// assert_eq!(judged.scores, detector.score(&table)?);
/// assert!(judged.alerts.is_some_and(|alerts| alerts[123] && !alerts[124]));
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug)]
pub struct Judge<'a> {
    detector: &'a Detector,
    rarities: &'a Rarities,
    threshold: Option<Threshold>,
    /// Who gives reasons, and how many.
    reasons: Option<(&'a Explainer<'a>, usize)>,
}

/// What is known of some rows.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Judged {
    /// Their scores.
    pub scores: Vec<f32>,
    /// How rare these are.
    pub rarities: Vec<Rarity>,
    /// Whether they are alerts, if there is a rule.
    pub alerts: Option<Vec<bool>>,
    /// The first reason of each row, the second of each, and so on; nothing where a row has fewer.
    pub reasons: Vec<Vec<Option<Arc<str>>>>,
}

impl<'a> Judge<'a> {
    /// By a detector; `rarities` are those of its calibration.
    pub fn new(detector: &'a Detector, rarities: &'a Rarities) -> Self {
        Self { detector, rarities, threshold: None, reasons: None }
    }

    /// Also says which rows are alerts, by a rule that looks at single rows; see [`Alert::is_of_the_model`].
    #[must_use]
    pub fn alerting(self, rule: Option<Alert>) -> Self {
        let threshold = rule.and_then(|rule| Threshold::of_model(rule, self.detector.calibration()));
        Self { threshold, ..self }
    }

    /// Also gives so many reasons; `explainer` is of the same detector.
    #[must_use]
    pub fn explaining(self, explainer: &'a Explainer<'a>, most: usize) -> Self {
        Self { reasons: Some((explainer, most)), ..self }
    }

    /// Judges all rows of a table.
    ///
    /// # Errors
    /// As [`Detector::score_all`].
    pub fn judge(&self, table: &dyn Source) -> Result<Judged> {
        let (scores, reasons) = match self.reasons {
            Some((explainer, most)) if most > 0 => self.explained(explainer, most, table)?,
            _ => (self.detector.score_all(table)?, Vec::new()),
        };
        let alert = |threshold: &Threshold| scores.iter().map(|&score| threshold.is_alert(score)).collect();
        Ok(Judged {
            rarities: scores.iter().map(|&score| self.rarities.of(score)).collect(),
            alerts: self.threshold.as_ref().map(alert),
            scores,
            reasons,
        })
    }

    /// The scores of all rows, and reason after reason.
    #[expect(clippy::type_complexity, reason = "two fields of what is given")]
    fn explained(
        &self,
        explainer: &Explainer,
        most: usize,
        table: &dyn Source,
    ) -> Result<(Vec<f32>, Vec<Vec<Option<Arc<str>>>>)> {
        let mut reader = table.open(&self.detector.selection())?;
        let mut scores = Vec::new();
        let mut reasons = vec![Vec::new(); most];
        while let Some(batch) = reader.next_batch()? {
            let found = explainer.reasons(&batch, most)?;
            scores.extend_from_slice(found.scores());
            for (number, reasons) in reasons.iter_mut().enumerate() {
                reasons.extend(found.codes(number).map(|code| found.sentences().get(code as usize).cloned()));
            }
        }
        Ok((scores, reasons))
    }
}
