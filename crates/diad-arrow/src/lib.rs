#![doc = include_str!("../README.md")]

/// Arrays of Arrow 59.
#[cfg(feature = "arrow-59")]
pub mod arrow_59;
/// Arrays of Arrow 60.
#[cfg(feature = "arrow-60")]
pub mod arrow_60;
