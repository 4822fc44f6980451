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
        let one = F::from_f64(1.0);
        let half = F::from_f64(0.5);
        let mut leaders = [F::default(); LANES];
        let starts = lane_maxima(logits, &mut leaders);
        let leaders = &leaders[..starts];
        let max = leaders.iter().fold(leaders[0], |a, &z| a.max(z));
        // With fewer logits τ can only be lower: that of a few leaders bounds that of all from below.
        self.candidates.clear();
        self.candidates.extend(leaders.iter().map(|&z| ((z - max) * half, 0)).filter(|&(z, _)| z > -one));
        let bound = self.threshold(-one);
        self.candidates.clear();
        for (chunk, start) in logits.chunks(LANES).zip((0u32..).step_by(LANES)) {
            if chunk.iter().fold(false, |any, &z| any | ((z - max) * half > bound)) {
                let scaled = chunk.iter().map(|&z| (z - max) * half).zip(start..);
                self.candidates.extend(scaled.filter(|&(z, _)| z > bound));
            }
        }
        let tau = self.threshold(bound);
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
    /// The left side is convex and falling in τ and at least 1 at `tau`, which is below the root and below all
    /// candidates; Newton's method from there rises to the root without passing it, and whatever falls below on the
    /// way is out; on the support that remains the root has a closed form.
    fn threshold(&mut self, mut tau: F) -> F {
        let (zero, one) = (F::default(), F::from_f64(1.0));
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

/// The largest of every sixteenth number, from sixteen starts or as many as there are numbers.
fn lane_maxima<F: Real>(values: &[F], best: &mut [F; LANES]) -> usize {
    let starts = values.len().min(LANES);
    best[..starts].copy_from_slice(&values[..starts]);
    for chunk in values.chunks(LANES).skip(1) {
        for (b, &z) in best.iter_mut().zip(chunk) {
            *b = b.max(z);
        }
    }
    starts
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
