//! Fitting the model to a table without labels.
use std::ops::ControlFlow;

use crate::{Detector, Params, Result};
use crate::encode::Encoder;
use crate::encode::Matrix;

/// Where a fit stands, after each step.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// The loss of this step, per tree in the loss.
    pub loss: f64,
    /// The temperature of this step.
    pub temperature: f64,
}

/// Trains a detector on an encoded matrix. `observe` is called after each step and may stop the fit.
pub fn fit(
    params: &Params,
    encoder: Encoder,
    matrix: &Matrix,
    observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Detector> {
    let _ = (params, encoder, matrix, observe);
    todo!()
}
