//! Tests of the training engine: golden values, plain twins, finite differences, determinism.

mod golden;
