//! A tuning that is being prepared.

use super::{Labelled, Observe, Tuned};
use crate::{Detector, Learner, Result};

impl Detector {
    /// A detector that has learned from labels, beginning from this one. The order of the labelled rows does not matter.
    ///
    /// ```
    /// use diad::{Labelled, Params, table::Table};
    ///
    /// // Values around 0 are common; of the labelled rows, those at 3 are the anomalies, those at -3 are not.
    /// let x: Vec<f64> = (0..90).map(|i| if i % 30 == 7 { 3.0 } else if i % 30 == 9 { -3.0 } else { f64::from(i % 5) / 9.0 }).collect();
    /// let label = x.iter().enumerate().map(|(i, &x)| if i < 60 { f64::from(u8::from(x == 3.0)) } else { f64::NAN }).collect();
    /// let table = Table::new(vec!["x".into(), "label".into()], vec![x, label])?;
    /// let first = Params::default().with_steps(20).trees(8).batch(32).fitting(&table).ignore("label").run()?;
    ///
    /// let labelled = Labelled::read(&first, &table, "label")?;
    /// let tuned = first.tune(&labelled)?;
    /// let scores = tuned.detector.score(&table)?;
    /// assert!(scores[67] > scores[69], "the unlabelled row at 3 scores higher than the one at -3");
    /// assert_eq!(tuned.detector.origin().map(|origin| origin.model), Some(first.identity()?));
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If this detector is a tuned one, no row is labelled as an anomaly, or there are neither normal nor unlabelled rows.
    pub fn tune(&self, labelled: &Labelled) -> Result<Tuned> {
        self.tuning(labelled).run()
    }

    /// A tuning with options: the learner, validation rows, progress, cross-validation.
    ///
    /// ```no_run
    /// # fn tuned(first: &diad::Detector, labelled: &diad::Labelled, checked: &diad::Labelled) -> diad::Result<diad::Detector> {
    /// use diad::FunctionParams;
    ///
    /// let learner = FunctionParams::default().prior(1.0);
    /// let tuned = first.tuning(labelled).learner(learner).validation(checked).run()?;
    /// # Ok(tuned.detector)
    /// # }
    /// ```
    pub fn tuning<'a>(&'a self, labelled: &'a Labelled) -> Tuning<'a> {
        Tuning {
            detector: self,
            labelled,
            learner: Learner::default(),
            validation: None,
            observe: None,
            cross_validate: false,
        }
    }
}

/// A tuning that is being prepared; see [`Detector::tuning`].
#[must_use = "a tuning does nothing until it is run"]
pub struct Tuning<'a> {
    pub(super) detector: &'a Detector,
    pub(super) labelled: &'a Labelled,
    pub(super) learner: Learner,
    pub(super) validation: Option<&'a Labelled>,
    pub(super) observe: Option<Observe<'a>>,
    pub(super) cross_validate: bool,
}

impl<'a> Tuning<'a> {
    /// Uses this learner, with its settings.
    pub fn learner(self, learner: impl Into<Learner>) -> Self {
        Self { learner: learner.into(), ..self }
    }

    /// Selects the ensemble that ranks these other labelled rows best.
    pub fn validation(self, rows: impl Into<Option<&'a Labelled>>) -> Self {
        Self { validation: rows.into(), ..self }
    }

    /// Reports progress to `observe`, which may stop the tuning. It then ends with
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub fn progress(self, observe: Observe<'a>) -> Self {
        Self { observe: Some(observe), ..self }
    }

    /// Cross-validates as well: each labelled row is scored by a tuning that has not seen its fold. See
    /// [`Tuned::cross_validation`].
    pub fn cross_validate(self) -> Self {
        Self { cross_validate: true, ..self }
    }

    /// Learns from the labels.
    ///
    /// # Errors
    /// As [`Detector::tune`], or if the validation rows lack one of the labels, a setting is out of range, or it was stopped.
    pub fn run(self) -> Result<Tuned> {
        self.learn()
    }
}
