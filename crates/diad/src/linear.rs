//! Linear equations that are too many to be solved by elimination.

/// When a solution is good enough: after so many steps, or once what is left of the equations is this small in comparison with
/// their right sides.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Most steps.
    pub steps: usize,
    /// The share of the right sides that may be left.
    pub left: f64,
}

/// Solves a symmetric positive definite system by conjugate gradients. `multiply` gives its product with a vector; `ease`, the
/// preconditioner, what a vector of right sides would give if the unknowns had nothing to do with each other.
pub fn conjugate_gradients(
    right: &[f64],
    limits: Limits,
    mut multiply: impl FnMut(&[f64], &mut [f64]),
    ease: impl Fn(&[f64], &mut [f64]),
) -> Vec<f64> {
    let inner = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut solution = vec![0.0; right.len()];
    let mut residual = right.to_vec();
    let mut eased = vec![0.0; right.len()];
    ease(&residual, &mut eased);
    let mut direction = eased.clone();
    let mut product = vec![0.0; right.len()];
    let mut size = inner(&residual, &eased);
    let enough = size * limits.left * limits.left;
    for _ in 0..limits.steps {
        if size <= enough {
            break;
        }
        multiply(&direction, &mut product);
        let step = size / inner(&direction, &product);
        solution.iter_mut().zip(&direction).for_each(|(x, d)| *x += step * d);
        residual.iter_mut().zip(&product).for_each(|(r, p)| *r -= step * p);
        ease(&residual, &mut eased);
        let next = inner(&residual, &eased);
        direction.iter_mut().zip(&eased).for_each(|(d, e)| *d = e + next / size * *d);
        size = next;
    }
    solution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With a preconditioner and without, and where there is nothing to solve.
    #[test]
    fn a_system_is_solved() {
        let row = |i: usize| (0..9).map(move |j| if i == j { 3.0 } else { 1.0 / (1 + i + j) as f64 });
        let multiply = |x: &[f64], out: &mut [f64]| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = row(i).zip(x).map(|(a, x)| a * x).sum());
        };
        let wanted: Vec<f64> = (0..9).map(|i| f64::from(i * i % 7) - 2.5).collect();
        let mut right = vec![0.0; 9];
        multiply(&wanted, &mut right);
        let limits = Limits { steps: 100, left: 1e-12 };
        let solutions = [
            conjugate_gradients(&right, limits, multiply, |x, out| out.copy_from_slice(x)),
            conjugate_gradients(&right, limits, multiply, |x, out| {
                out.iter_mut().zip(x).for_each(|(out, x)| *out = x / 3.0);
            }),
        ];
        for found in solutions {
            assert!(found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
        }
        let nothing = conjugate_gradients(&[0.0; 9], limits, multiply, |x, out| out.copy_from_slice(x));
        assert_eq!(nothing, [0.0; 9]);
    }
}
