//! What is compared: ways of tuning DIAD.

use diad::{DescentParams, FunctionParams, Learner, Loss};
use serde::Serialize;

/// Which labelled rows a variant may use to choose its settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Validation {
    /// None.
    None,
    /// The first so many of four parts of the validation rows.
    Quarters(usize),
}

/// One way of tuning.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Its name in the tables.
    pub name: &'static str,
    /// The settings that are tried; the one that ranks the validation rows best is taken.
    pub learners: Vec<Learner>,
    /// The validation rows.
    pub validation: Validation,
    /// Whether normal rows have no labels.
    pub anomalies_only: bool,
}

impl Variant {
    /// One setting, with labels of both kinds.
    pub fn new(name: &'static str, learner: impl Into<Learner>, validation: Validation) -> Self {
        Self { name, learners: vec![learner.into()], validation, anomalies_only: false }
    }

    /// The settings as stored runs know them: those of both learners, the idle ones at their defaults.
    pub fn stored(&self) -> Vec<impl Serialize> {
        self.learners.iter().map(Stored::of).collect()
    }
}

/// One record of the settings of both learners, from which the digests of stored runs are made.
#[derive(Serialize)]
struct Stored {
    learner: &'static str,
    prior: f64,
    amplitude: f64,
    pair_share: f64,
    rounds: usize,
    #[serde(rename = "stairs")]
    boosted_steps: usize,
    tails: f64,
    #[serde(rename = "most_rows")]
    max_rows: usize,
    loss: Loss,
    margin: f64,
    upsample: bool,
    freeze_structure: bool,
    steps: usize,
    batch: usize,
    learning_rate: f64,
    seed: u64,
}

impl Stored {
    fn of(learner: &Learner) -> Self {
        let (functions, descent, seed) = match learner {
            Learner::Descent(params) => (FunctionParams::default(), params.clone(), params.seed),
            Learner::Functions(params) => (params.clone(), DescentParams::default(), params.seed),
            _ => Default::default(),
        };
        let FunctionParams { prior, amplitude, pair_share, rounds, boosted_steps, tails, max_rows, .. } =
            functions;
        let DescentParams { loss, margin, upsample, freeze_structure, steps, batch, learning_rate, .. } =
            descent;
        Self {
            learner: learner.name(),
            prior,
            amplitude,
            pair_share,
            rounds,
            boosted_steps,
            tails,
            max_rows,
            loss,
            margin,
            upsample,
            freeze_structure,
            steps,
            batch,
            learning_rate,
            seed,
        }
    }
}

/// All validation rows.
pub const ALL: Validation = Validation::Quarters(4);
/// The row of the first model.
pub const UNTUNED: &str = "DIAD, no labels";
/// The row the others are compared with.
pub const DIAD: &str = "DIAD";

/// The default way.
pub fn functions() -> FunctionParams {
    FunctionParams::default()
}

/// The default way without the first score.
pub fn forgetful() -> FunctionParams {
    functions().prior(0.0)
}

/// The variants of the main table.
pub fn few_labels() -> Vec<Variant> {
    vec![
        Variant::new(DIAD, functions(), ALL),
        Variant::new("DIAD, no validation", functions(), Validation::None),
        Variant::new("DIAD w/o PT", forgetful(), ALL),
    ]
}
