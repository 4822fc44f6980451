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
    fn new(name: &'static str, learner: impl Into<Learner>, validation: Validation) -> Self {
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
    stairs: usize,
    tails: f64,
    most_rows: usize,
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
        let FunctionParams { prior, amplitude, pair_share, rounds, stairs, tails, most_rows, .. } = functions;
        let DescentParams { loss, margin, upsample, freeze_structure, steps, batch, learning_rate, .. } =
            descent;
        Self {
            learner: learner.name(),
            prior,
            amplitude,
            pair_share,
            rounds,
            stairs,
            tails,
            most_rows,
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
const ALL: Validation = Validation::Quarters(4);
/// The row of the first model.
pub const UNTUNED: &str = "DIAD, no labels";
/// The row the others are compared with.
pub const DIAD: &str = "DIAD";

fn functions() -> FunctionParams {
    FunctionParams::default()
}

fn forgetful() -> FunctionParams {
    functions().prior(0.0)
}

fn descent(loss: Loss) -> DescentParams {
    DescentParams::default().loss(loss).margin(0.0)
}

/// The variants of the main table.
pub fn few_labels() -> Vec<Variant> {
    vec![
        Variant::new(DIAD, functions(), ALL),
        Variant::new("DIAD, no validation", functions(), Validation::None),
        Variant::new("DIAD w/o PT", forgetful(), ALL),
    ]
}

/// The variants of the ablation: parts of the default way left out, then the paper's way and its parts.
pub fn ablation() -> Vec<Variant> {
    let none = Validation::None;
    let mut all = few_labels();
    all.extend([
        Variant::new("no pairs, no validation", functions().pair_share(0.0), none),
        Variant::new("equal shares, no validation", functions().rounds(0), none),
        Variant::new("no stairs, no validation", functions().stairs(0), none),
        Variant::new("no tails, no validation", functions().tails(0.0), none),
        Variant::new("no first score, no validation", forgetful(), none),
        Variant {
            anomalies_only: true,
            ..Variant::new("only anomalies labelled, no validation", functions(), none)
        },
        Variant {
            learners: vec![descent(Loss::Auc).into(), descent(Loss::Bce).into()],
            ..Variant::new("descent, both losses", descent(Loss::Auc), ALL)
        },
        Variant::new("descent, only AUC", descent(Loss::Auc), ALL),
        Variant::new("descent, only BCE", descent(Loss::Bce), ALL),
        Variant::new("descent, margin 1", descent(Loss::Auc).margin(1.0), ALL),
        Variant::new("descent, no upsampling", descent(Loss::Auc).upsample(false), ALL),
        Variant::new("descent, only leaf weights", descent(Loss::Auc).freeze_structure(true), ALL),
        Variant::new("descent, no validation", descent(Loss::Auc), none),
    ]);
    all
}

/// The variants of the table of smaller validation parts.
pub fn validation_sizes() -> Vec<Variant> {
    let size = |name, params, quarters| Variant::new(name, params, Validation::Quarters(quarters));
    vec![
        size("DIAD, 4 %", functions(), 1),
        size("DIAD, 8 %", functions(), 2),
        size("DIAD, 16 %", functions(), 4),
        size("DIAD w/o PT, 4 %", forgetful(), 1),
        size("DIAD w/o PT, 8 %", forgetful(), 2),
        size("DIAD w/o PT, 16 %", forgetful(), 4),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_differ_and_settings_are_valid() {
        for variants in [few_labels(), ablation(), validation_sizes()] {
            let names: HashSet<_> = variants.iter().map(|variant| variant.name).collect();
            assert_eq!(names.len(), variants.len());
            for learner in variants.iter().flat_map(|variant| &variant.learners) {
                learner.validate().expect("settings in range");
            }
        }
    }
}
