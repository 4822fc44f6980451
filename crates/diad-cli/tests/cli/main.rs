//! The `diad` program as a user meets it.

mod alerts;
mod bad_input;
mod catalogue;
mod checkpoint;
mod commands;
mod common;
mod demo;
mod disk;
mod explain;
mod export;
mod faults;
mod logs;
mod mismatches;
mod report;
mod tune;
