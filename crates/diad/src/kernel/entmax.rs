//! 1.5-entmax, a sparse softmax: p = max(z/2 - τ, 0)² with τ such that p sums to one.

use super::Real;

/// Computes sparse 1.5-entmax distributions, reusing its scratch space.
#[derive(Debug, Clone, Default)]
pub struct Entmax<F> {
    candidates: Vec<(F, u32)>,
}

impl<F: Real> Entmax<F> {
    /// The support of entmax15(logits) in ascending order of index, with its probabilities.
    pub fn support(&mut self, logits: &[F], mut emit: impl FnMut(u32, F)) {
        let half = F::from_f64(0.5);
        let Some(&first) = logits.first() else { return };
        let max = logits.iter().fold(first, |a, &b| a.max(b));
        // τ ≥ max/2 - 1, so nothing two or more below the maximum can be in the support.
        let floor = max - F::from_f64(2.0);
        self.candidates.clear();
        for (i, &z) in logits.iter().enumerate() {
            if z > floor {
                self.candidates.push(((z - max) * half, i as u32));
            }
        }
        let tau = self.threshold();
        self.candidates.retain(|&(z, _)| z > tau);
        for &(z, i) in &self.candidates {
            emit(i, (z - tau) * (z - tau));
        }
    }
}

impl<F: Real> Entmax<F> {
    /// τ with Σ max(z - τ, 0)² = 1 over the candidates, whose largest is 0.
    ///
    /// The left side is convex and falling in τ and at least 1 at τ = -1, so Newton's method from there rises to
    /// the root and finds the support; on the support the root has a closed form.
    fn threshold(&self) -> F {
        let (zero, one) = (F::default(), F::from_f64(1.0));
        let mut tau = -one;
        for _ in 0..64 {
            let (mut count, mut sum, mut squares, mut smallest) = (0, zero, zero, zero);
            for &(z, _) in &self.candidates {
                if z > tau {
                    count += 1;
                    sum += z - tau;
                    squares += (z - tau) * (z - tau);
                    smallest = smallest.min(z);
                }
            }
            // The root if the support were this one: of k·d² - 2·sum·d + squares - 1 = 0, with d = root - tau.
            let k = F::from_f64(f64::from(count));
            let discriminant = (sum * sum - k * (squares - one)).max(zero);
            let root = tau + (squares - one) / (sum + discriminant.sqrt());
            let next = tau + (squares - one) / (sum + sum);
            if root < smallest || next <= tau {
                return root;
            }
            tau = next;
        }
        tau
    }
}

/// The derivatives by the logits in the support, given the probabilities and the derivatives by them; in place.
pub fn entmax15_backward<F: Real>(probabilities: &[F], gradient: &mut [F]) {
    let (mut roots, mut weighted) = (F::default(), F::default());
    for (&p, &g) in probabilities.iter().zip(gradient.iter()) {
        let root = p.sqrt();
        roots += root;
        weighted += root * g;
    }
    let mean = weighted / roots;
    for (&p, g) in probabilities.iter().zip(gradient.iter_mut()) {
        *g = p.sqrt() * (*g - mean);
    }
}
