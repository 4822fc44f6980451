//! How the settings were found: searches and ablations, and the whole paper by one command. Nothing here is run to guard against regressions.

pub mod reproduce;
mod sensitivity;
pub mod tuning;
