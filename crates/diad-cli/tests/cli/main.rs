//! The `diad` program as a user meets it.

mod bad_input;
mod catalogue;
mod commands;
mod common;
mod explain;
mod tune;
