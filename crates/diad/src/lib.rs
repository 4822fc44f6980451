//! Anomaly detection for tables that people trust.
#![doc = include_str!("../../../README.md")]

mod checkpoint;
mod compiled;
pub mod encode;
mod error;
pub mod explain;
mod fit;
#[cfg(not(feature = "kernels"))]
mod kernel;
#[cfg(feature = "kernels")]
pub mod kernel;
pub mod metrics;
mod model;
mod persist;
mod profile;
mod rng;
mod score;
pub mod settings;
pub mod table;
mod train;
mod tune;

pub use checkpoint::Checkpoints;
pub use error::{CheckpointFault, Dialect, Error, ModelFault, Result};
pub use fit::{Fitting, Training};
pub use score::Detector;
pub use settings::{DescentParams, FunctionParams, Learner, Loss, Params, Scale, ScorePart};
pub use train::{Progress, Work};
pub use tune::{Digest, Labelled, Origin, TuneProgress, Tuned, Tuning};
