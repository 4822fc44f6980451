//! How the settings were found: searches and ablations. Nothing here is run to guard against regressions.

pub mod tuning;
