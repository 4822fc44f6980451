//! Anomaly detection for tables that people trust.
#![doc = include_str!("../../../README.md")]

mod checkpoint;
pub mod encode;
mod error;
pub mod explain;
#[cfg(not(feature = "kernels"))]
mod kernel;
#[cfg(feature = "kernels")]
pub mod kernel;
pub mod metrics;
mod model;
mod params;
mod parts;
mod persist;
mod profile;
mod recipe;
mod rng;
mod score;
pub mod table;
mod train;
mod tune;

pub use checkpoint::Checkpoints;
pub use error::{CheckpointFault, Error, ModelFault, Result};
pub use params::{Params, Scale};
pub use score::Detector;
pub use train::{Progress, Work, fit};
pub use tune::{Digest, Labelled, Learner, Loss, Origin, TuneParams, TuneProgress, Tuned};
