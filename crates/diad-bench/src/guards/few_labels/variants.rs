//! What is compared: ways of tuning DIAD.

use diad::TuneParams;

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
    /// One setting, with labels of both kinds.
    pub fn new(name: &'static str, params: TuneParams, validation: Validation) -> Self {
        Self { name, params: vec![params], validation, anomalies_only: false }
    }
}

/// All validation rows.
pub const ALL: Validation = Validation::Quarters(4);
/// The row of the first model.
pub const UNTUNED: &str = "DIAD, no labels";
/// The row the others are compared with.
pub const DIAD: &str = "DIAD";

/// The default way.
pub fn functions() -> TuneParams {
    TuneParams::default()
}

/// The default way without the first score.
pub fn forgetful() -> TuneParams {
    TuneParams { prior: 0.0, ..functions() }
}

/// The variants of the main table.
pub fn few_labels() -> Vec<Variant> {
    vec![
        Variant::new(DIAD, functions(), ALL),
        Variant::new("DIAD, no validation", functions(), Validation::None),
        Variant::new("DIAD w/o PT", forgetful(), ALL),
    ]
}
