//! The settings of a tuning.

use serde::{Deserialize, Serialize};

use super::Loss;
use crate::{Error, Result};

/// How a detector learns from labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learner {
    /// New curves and grids are added to the score: the most likely smooth functions, given the labels, and curves of steps.
    Functions,
    /// The paper's: the trees are moved downhill by Adam.
    Descent,
}

/// Every setting of a tuning.
///
/// ```
/// use diad::{Learner, TuneParams};
///
/// let params = TuneParams { learner: Learner::Descent, steps: 100, ..TuneParams::default() };
/// assert!(params.validate().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneParams {
    /// How it learns.
    pub learner: Learner,
    /// What one unit of the first score counts, as log odds, before held-out labels say otherwise. With 0 the first score is
    /// forgotten.
    pub prior: f64,
    /// How far the new functions may go, as a standard deviation of log odds.
    pub amplitude: f64,
    /// Share of the pairs of columns in what the new functions may do.
    pub pair_share: f64,
    /// How often the columns' shares are set anew from what each turned out to be good for.
    pub rounds: usize,
    /// How many steps new curves are made of, beside the smooth functions.
    pub stairs: usize,
    /// How far it may count in all that values lie far out, as a standard deviation of log odds.
    pub tails: f64,
    /// Most labelled rows new functions and steps are learned from: all anomalies, as many normal rows as there is room for.
    pub most_rows: usize,
    /// The loss of the descent.
    pub loss: Loss,
    /// By how much an anomaly must score higher than a normal row, for the loss of pairs.
    pub margin: f64,
    /// Whether a batch has as many anomalies as normal rows.
    pub upsample: bool,
    /// Whether only the weights of leaves are moved.
    pub freeze_structure: bool,
    /// Most steps of the descent.
    pub steps: usize,
    /// Rows of each step.
    pub batch: usize,
    /// Adam's learning rate.
    pub learning_rate: f64,
    /// Seed of what is drawn at random: steps of curves, validation rows, batches.
    pub seed: u64,
}

impl Default for TuneParams {
    fn default() -> Self {
        Self {
            learner: Learner::Functions,
            prior: 0.6,
            amplitude: 6.0,
            pair_share: 0.8,
            rounds: 2,
            stairs: 300,
            tails: 1.0,
            most_rows: 1500,
            loss: Loss::Auc,
            margin: 1.0,
            upsample: true,
            freeze_structure: false,
            steps: 400,
            batch: 512,
            learning_rate: 2e-3,
            seed: 0,
        }
    }
}

impl TuneParams {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting outside its range and the range.
    pub fn validate(&self) -> Result<()> {
        fn check(ok: bool, name: &'static str, value: impl ToString, must: &'static str) -> Result<()> {
            if ok { Ok(()) } else { Err(Error::Setting { name, value: value.to_string(), must }) }
        }
        check((0.0..=1e3).contains(&self.prior), "prior", self.prior, "from 0 to 1000")?;
        let amplitude = (1e-3..=1e3).contains(&self.amplitude);
        check(amplitude, "amplitude", self.amplitude, "from 0.001 to 1000")?;
        check((0.0..=1.0).contains(&self.pair_share), "pair-share", self.pair_share, "from 0 to 1")?;
        check(self.rounds <= 100, "rounds", self.rounds, "at most 100")?;
        check(self.stairs <= 100_000, "stairs", self.stairs, "at most 100000")?;
        check((0.0..=1e3).contains(&self.tails), "tails", self.tails, "from 0 to 1000")?;
        check((2..=20_000).contains(&self.most_rows), "most-rows", self.most_rows, "from 2 to 20000")?;
        check((0.0..=1e3).contains(&self.margin), "margin", self.margin, "from 0 to 1000")?;
        check((1..=1_000_000).contains(&self.steps), "steps", self.steps, "from 1 to 1000000")?;
        check((2..=1 << 16).contains(&self.batch), "batch", self.batch, "from 2 to 65536")?;
        let rate = self.learning_rate > 0.0 && self.learning_rate <= 1.0;
        check(rate, "learning-rate", self.learning_rate, "above 0 and at most 1")
    }
}
