#![doc = include_str!("../README.md")]

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
mod train;
mod tune;

pub use checkpoint::Checkpoints;
/// Tables: readers of files, tables in memory, and the columns of other programs.
pub use diad_table as table;
pub use error::{CheckpointFault, Error, ModelFault, Result};
pub use params::{Params, Scale};
pub use score::Detector;
pub use train::{Progress, Work, fit};
pub use tune::{Digest, Labelled, Learner, Loss, Origin, TuneParams, TuneProgress, Tuned};
