//! Adam: state, and a pure step.

use crate::kernel::Real;

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The moments of one group of parameters.
#[derive(Debug, Clone, Default)]
pub struct Moments<F> {
    first: Vec<F>,
    second: Vec<F>,
}

impl<F: Real> Moments<F> {
    /// Both moments of a group of `count` parameters.
    pub fn visit(&mut self, count: usize, visit: &mut dyn FnMut(&mut [F])) {
        for moment in [&mut self.first, &mut self.second] {
            moment.resize(count, F::default());
            visit(moment);
        }
    }
}

/// The factors of one step, the same for every group.
#[derive(Debug, Clone, Copy)]
pub struct Step<F> {
    rate: F,
    root: F,
}

impl<F: Real> Step<F> {
    /// The factors of step `count` (from 1) at a learning rate.
    pub fn new(count: usize, learning_rate: f64) -> Self {
        let correction = |beta: f64| 1.0 - libm::pow(beta, count as f64);
        Self {
            rate: F::from_f64(learning_rate / correction(BETA1)),
            root: F::from_f64(1.0 / correction(BETA2).sqrt()),
        }
    }

    /// Moves `parameters` against `gradient`.
    pub fn apply(&self, moments: &mut Moments<F>, parameters: &mut [F], gradient: &[F]) {
        moments.first.resize(parameters.len(), F::default());
        moments.second.resize(parameters.len(), F::default());
        let (keep1, take1) = (F::from_f64(BETA1), F::from_f64(1.0 - BETA1));
        let (keep2, take2) = (F::from_f64(BETA2), F::from_f64(1.0 - BETA2));
        let epsilon = F::from_f64(EPSILON);
        let state = moments.first.iter_mut().zip(&mut moments.second);
        for ((p, &g), (m, v)) in parameters.iter_mut().zip(gradient).zip(state) {
            *m = keep1 * *m + take1 * g;
            *v = keep2 * *v + take2 * g * g;
            *p = *p - self.rate * *m / (v.sqrt() * self.root + epsilon);
        }
    }
}
