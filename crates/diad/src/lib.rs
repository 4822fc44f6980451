#![doc = include_str!("../README.md")]

/// Shows a type in the words that one of its methods gives.
macro_rules! shown_by {
    ($type:ty, $words:ident) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.$words())
            }
        }
    };
}

mod alert;
pub mod calibrate;
mod calibration;
mod checkpoint;
mod edit;
pub mod encode;
mod error;
pub mod explain;
#[cfg(feature = "export")]
pub mod export;
mod fit;
mod function;
mod linear;
pub mod metrics;
mod model;
mod origin;
mod parallel;
mod parts;
mod persist;
mod profile;
mod recipe;
mod rng;
mod score;
pub mod settings;
#[cfg(test)]
mod tests;
mod train;
mod tune;
mod whole;

pub use alert::{Alert, Period};
pub use calibration::{Calibration, PValue};
pub use checkpoint::Checkpoints;
use diad_kernel as kernel;
/// Tables: readers of files, tables in memory, and the columns of other programs.
pub use diad_table as table;
pub use edit::Edit;
pub use error::{CheckpointFault, Error, ModelFault, Naming, Result};
pub use fit::{Fitting, Training};
pub use origin::{Digest, Origin};
pub use parallel::on_this_thread;
pub use score::Detector;
pub use settings::{DescentParams, FunctionParams, Learner, Loss, Params, Scale};
pub use train::{Progress, Work};
pub use tune::{Labelled, NamedLabels, TuneProgress, Tuned, Tuning};
pub use whole::WholeFile;
