#![doc = include_str!("../README.md")]

mod arguments;
mod function;
mod rows;
mod scorer;

use std::path::Path;

use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
/// The library that models come from.
pub use diad;
pub use scorer::Scorer;

/// Makes the model of a file the functions `diad_score` and `diad_judge` of SQL: [`Scorer::register`] of [`Scorer::open`].
///
/// # Errors
/// If the file cannot be read, or as [`Scorer::register`].
pub fn register(ctx: &SessionContext, model: impl AsRef<Path>) -> Result<()> {
    Scorer::open(model)?.register(ctx)
}

/// An error of the library, as one of DataFusion.
fn raised(error: impl Into<diad::Error>) -> DataFusionError {
    DataFusionError::External(Box::new(error.into()))
}

/// An error of a query, which is one sentence.
fn misused<T>(sentence: String) -> Result<T> {
    Err(DataFusionError::Plan(sentence))
}
