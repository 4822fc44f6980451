//! What each part of tuning is good for, and smaller validation parts.

use diad::{DescentParams, Learner, Loss};

use crate::guards::few_labels::Topic;
use crate::guards::few_labels::tables::{PaperRow, Results, plain};
use crate::guards::few_labels::variants::{ALL, Validation, Variant, few_labels, forgetful, functions};

const PAPER_ABLATION: [PaperRow; 6] = [
    ("paper: DIAD", None, [89.4, 90.0, 90.4, 89.4, 91.0]),
    ("paper: only AUC", None, [88.9, 89.4, 90.0, 89.1, 90.7]),
    ("paper: only BCE", None, [88.8, 89.3, 89.4, 88.3, 89.2]),
    ("paper: unnormalized sparsity", None, [84.1, 85.6, 85.7, 84.2, 85.6]),
    ("paper: no upsampling", None, [88.6, 89.1, 89.4, 88.5, 90.1]),
    ("paper: only leaf weights", None, [84.8, 85.7, 86.6, 85.7, 88.3]),
];

const PAPER_VALIDATION: [PaperRow; 6] = [
    ("paper: DIAD, 4 %", None, [89.0, 89.3, 89.7, 89.1, 90.4]),
    ("paper: DIAD, 8 %", None, [89.2, 89.7, 90.0, 89.2, 90.6]),
    ("paper: DIAD, 16 %", None, [89.4, 90.0, 90.4, 89.4, 91.0]),
    ("paper: DIAD w/o PT, 4 %", None, [85.4, 87.1, 86.9, 86.4, 87.9]),
    ("paper: DIAD w/o PT, 8 %", None, [85.7, 86.9, 88.0, 86.9, 87.5]),
    ("paper: DIAD w/o PT, 16 %", None, [86.2, 87.6, 88.3, 87.2, 88.8]),
];

/// Parts of the default way left out, then the paper's way and its parts.
#[derive(Debug)]
pub struct Ablation;

/// The share of rows that settings are chosen by.
#[derive(Debug)]
pub struct ValidationSize;

fn descent(loss: Loss) -> DescentParams {
    DescentParams::default().loss(loss).margin(0.0)
}

/// Both losses with each of the paper's learning rates.
fn searched() -> Vec<Learner> {
    [5e-3, 2e-3, 1e-3, 5e-4]
        .into_iter()
        .flat_map(|rate| [Loss::Auc, Loss::Bce].map(|loss| descent(loss).learning_rate(rate).into()))
        .collect()
}

impl Topic for Ablation {
    const NAME: &'static str = "ablation";

    fn variants() -> Vec<Variant> {
        let none = Validation::None;
        let mut all = few_labels();
        all.extend([
            Variant::new("no pairs, no validation", functions().pair_share(0.0), none),
            Variant::new("equal shares, no validation", functions().rounds(0), none),
            Variant::new("no boosted steps, no validation", functions().boosted_steps(0), none),
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
            Variant {
                learners: searched(),
                ..Variant::new("descent, the paper's search", descent(Loss::Auc), ALL)
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

    fn text(results: &Results, variants: &[Variant]) -> (String, usize) {
        let about = "Parts of the default way of tuning are left out, then the paper's way: descent, with the paper's margin of 0 \
            unless it says otherwise. The paper's row without normalized sparsity has no counterpart here.";
        plain(results, variants, "Ablation", about, &PAPER_ABLATION)
    }
}

impl Topic for ValidationSize {
    const NAME: &'static str = "validation-size";

    fn variants() -> Vec<Variant> {
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

    fn text(results: &Results, variants: &[Variant]) -> (String, usize) {
        let about =
            "The share of all rows that settings may be chosen by. A part without both labels is not used.";
        plain(results, variants, "Smaller validation parts", about, &PAPER_VALIDATION)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_differ_and_settings_are_valid() {
        for variants in [few_labels(), Ablation::variants(), ValidationSize::variants()] {
            let names: HashSet<_> = variants.iter().map(|variant| variant.name).collect();
            assert_eq!(names.len(), variants.len());
            for learner in variants.iter().flat_map(|variant| &variant.learners) {
                learner.validate().expect("settings in range");
            }
        }
    }
}
