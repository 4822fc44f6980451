//! What is compared: ways of tuning DIAD.

use diad::{Learner, Loss, TuneParams};

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
    pub params: Vec<TuneParams>,
    /// The validation rows.
    pub validation: Validation,
    /// Whether normal rows have no labels.
    pub anomalies_only: bool,
}

impl Variant {
    fn new(name: &'static str, params: TuneParams, validation: Validation) -> Self {
        Self { name, params: vec![params], validation, anomalies_only: false }
    }
}

/// All validation rows.
const ALL: Validation = Validation::Quarters(4);
/// The row of the first model.
pub const UNTUNED: &str = "DIAD, no labels";
/// The row the others are compared with.
pub const DIAD: &str = "DIAD";

fn functions() -> TuneParams {
    TuneParams::default()
}

fn forgetful() -> TuneParams {
    TuneParams { prior: 0.0, ..functions() }
}

fn descent(loss: Loss) -> TuneParams {
    TuneParams { learner: Learner::Descent, loss, margin: 0.0, ..TuneParams::default() }
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
    let with = |params: TuneParams| TuneParams { learner: Learner::Functions, ..params };
    let mut all = few_labels();
    all.extend([
        Variant::new("no pairs, no validation", with(TuneParams { pair_share: 0.0, ..functions() }), none),
        Variant::new("equal shares, no validation", with(TuneParams { rounds: 0, ..functions() }), none),
        Variant::new("no stairs, no validation", with(TuneParams { stairs: 0, ..functions() }), none),
        Variant::new("no tails, no validation", with(TuneParams { tails: 0.0, ..functions() }), none),
        Variant::new("no first score, no validation", forgetful(), none),
        Variant {
            anomalies_only: true,
            ..Variant::new("only anomalies labelled, no validation", functions(), none)
        },
        Variant {
            params: vec![descent(Loss::Auc), descent(Loss::Bce)],
            ..Variant::new("descent, both losses", descent(Loss::Auc), ALL)
        },
        Variant::new("descent, only AUC", descent(Loss::Auc), ALL),
        Variant::new("descent, only BCE", descent(Loss::Bce), ALL),
        Variant::new("descent, margin 1", TuneParams { margin: 1.0, ..descent(Loss::Auc) }, ALL),
        Variant::new("descent, no upsampling", TuneParams { upsample: false, ..descent(Loss::Auc) }, ALL),
        Variant::new(
            "descent, only leaf weights",
            TuneParams { freeze_structure: true, ..descent(Loss::Auc) },
            ALL,
        ),
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
            for params in variants.iter().flat_map(|variant| &variant.params) {
                params.validate().expect("settings in range");
            }
        }
    }
}
