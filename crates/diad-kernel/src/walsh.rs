//! From leaves to sets of splits and back. See [`super::tree`].

use super::Real;

/// The Walsh-Hadamard transform divided by its length, in place: leaf weights to polynomial coefficients, moments
/// to leaf sums.
pub fn walsh<F: Real>(values: &mut [F]) {
    let n = values.len();
    debug_assert!(n.is_power_of_two());
    let mut half = 1;
    while half < n {
        for start in (0..n).step_by(2 * half) {
            for i in start..start + half {
                let (x, y) = (values[i], values[i + half]);
                values[i] = x + y;
                values[i + half] = x - y;
            }
        }
        half *= 2;
    }
    let scale = F::from_f64(1.0 / n as f64);
    for value in values {
        *value = *value * scale;
    }
}
