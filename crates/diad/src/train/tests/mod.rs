//! Tests of the training engine: golden values, plain twins, finite differences, determinism.

mod determinism;
mod differences;
mod golden;
mod naive;
mod noise;
mod support;
mod twin;
