//! 1.5-entmax, a sparse softmax: p = max(z/2 - τ, 0)² with τ such that p sums to one.

use super::{LANES, Real};

/// Computes sparse 1.5-entmax distributions, reusing its scratch space.
#[derive(Debug, Clone, Default)]
pub struct Entmax<F> {
    candidates: Vec<(F, u32)>,
}

impl<F: Real> Entmax<F> {
    /// The support of entmax15(logits) in ascending order of index, with its probabilities.
    pub fn support(&mut self, logits: &[F], mut emit: impl FnMut(u32, F)) {
        if logits.is_empty() {
            return;
        }
        let half = F::from_f64(0.5);
        let max = maximum(logits);
        // τ ≥ max/2 - 1, so nothing two or more below the maximum can be in the support.
        let floor = max - F::from_f64(2.0);
        self.candidates.clear();
        for (chunk, start) in logits.chunks(LANES).zip((0u32..).step_by(LANES)) {
            if chunk.iter().fold(false, |any, &z| any | (z > floor)) {
                for (&z, i) in chunk.iter().zip(start..).filter(|(z, _)| **z > floor) {
                    self.candidates.push(((z - max) * half, i));
                }
            }
        }
        let tau = self.threshold();
        for &(z, i) in &self.candidates {
            if z > tau {
                emit(i, (z - tau) * (z - tau));
            }
        }
    }
}

impl<F: Real> Entmax<F> {
    /// τ with Σ max(z - τ, 0)² = 1 over the candidates, whose largest is 0. Leaves only the support behind.
    ///
    /// The left side is convex and falling in τ and at least 1 at τ = -1, so Newton's method from there rises to
    /// the root without passing it, and whatever falls below on the way is out; on the support that remains the
    /// root has a closed form.
    fn threshold(&mut self) -> F {
        let (zero, one) = (F::default(), F::from_f64(1.0));
        let mut tau = -one;
        loop {
            let (mut sum, mut squares, mut smallest) = (zero, zero, zero);
            for &(z, _) in &self.candidates {
                let above = z - tau;
                sum += above;
                squares += above * above;
                smallest = smallest.min(z);
            }
            // The root if the support were this one: of k·d² - 2·sum·d + squares - 1 = 0, with d = root - tau.
            let k = F::from_f64(self.candidates.len() as f64);
            let discriminant = (sum * sum - k * (squares - one)).max(zero);
            let root = tau + (squares - one) / (sum + discriminant.sqrt());
            let next = tau + (squares - one) / (sum + sum);
            if root < smallest || next <= tau {
                return root;
            }
            tau = next;
            self.candidates.retain(|&(z, _)| z > tau);
        }
    }
}

/// The largest of some numbers, lane by lane so that it becomes vector code.
fn maximum<F: Real>(values: &[F]) -> F {
    let mut best = [values[0]; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (b, &z) in best.iter_mut().zip(chunk) {
            *b = b.max(z);
        }
    }
    best.iter().chain(rest).fold(values[0], |a, &z| a.max(z))
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
