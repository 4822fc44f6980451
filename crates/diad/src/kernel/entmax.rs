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
        let one = F::from_f64(1.0);
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
        self.candidates.sort_unstable_by(|a, b| b.0.to_f64().total_cmp(&a.0.to_f64()).then(a.1.cmp(&b.1)));
        let mut tau = self.candidates[0].0 - one;
        let (mut sum, mut squares) = (F::default(), F::default());
        for (rank, &(z, _)) in self.candidates.iter().enumerate() {
            let k = F::from_f64((rank + 1) as f64);
            sum += z;
            squares += z * z;
            let (mean, mean_square) = (sum / k, squares / k);
            let inside = (one - k * (mean_square - mean * mean)) / k;
            let candidate = mean - inside.max(F::default()).sqrt();
            if candidate <= z {
                tau = candidate;
            } else {
                break;
            }
        }
        self.candidates.retain(|&(z, _)| z > tau);
        self.candidates.sort_unstable_by_key(|&(_, i)| i);
        for &(z, i) in &self.candidates {
            emit(i, (z - tau) * (z - tau));
        }
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
