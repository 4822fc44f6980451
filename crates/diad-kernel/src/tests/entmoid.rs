//! What the tests of the kernels and of the training split by.

/// The two-class 1.5-entmax as the method states it: what a plain twin of a tree splits by.
pub fn entmoid(x: f64) -> f64 {
    let a = x.abs();
    let mut tau = (a + (8.0 - a * a).max(0.0).sqrt()) / 2.0;
    if tau <= a {
        tau = 2.0;
    }
    let r = (tau - a).max(0.0).powi(2) / 4.0;
    if x >= 0.0 { 1.0 - r } else { r }
}
