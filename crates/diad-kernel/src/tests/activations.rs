//! 1.5-entmax and its derivative: a plain twin by sorting, golden values, and the laws it obeys.

use proptest::prelude::*;

use super::super::{Entmax, Real, entmax15_backward};
use super::{close, floats, golden, numbers, random, real};

/// By the definition: try every support, the largest logits first, and take the one that fits.
fn sorted_entmax(logits: &[f64]) -> Vec<f64> {
    let mut z: Vec<f64> = logits.iter().map(|z| z / 2.0).collect();
    z.sort_by(|a, b| b.total_cmp(a));
    let mut tau = f64::NAN;
    for k in 1..=z.len() {
        let n = k as f64;
        let mean = z[..k].iter().sum::<f64>() / n;
        let spread = z[..k].iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let candidate = mean - ((1.0 - spread).max(0.0) / n).sqrt();
        if spread <= 1.0 && candidate <= z[k - 1] {
            tau = candidate;
        }
    }
    logits.iter().map(|x| (x / 2.0 - tau).max(0.0).powi(2)).collect()
}

/// All probabilities, with zeros outside the support. The support must come in ascending order.
fn dense<F: Real>(logits: &[F]) -> Vec<F> {
    let mut all = vec![F::default(); logits.len()];
    let mut last = None;
    Entmax::default().support(logits, |i, p| {
        assert!(last < Some(i));
        last = Some(i);
        assert!(p > F::default(), "the support holds positive probabilities only");
        all[i as usize] = p;
    });
    all
}

/// The derivatives by all logits of Σ g·p, from the definition of p as the maximum of a concave function: the
/// Jacobian is diag(s) - s sᵀ/Σs with s = √p.
fn dense_backward(p: &[f64], g: &[f64]) -> Vec<f64> {
    let s: Vec<f64> = p.iter().map(|p| p.sqrt()).collect();
    let total: f64 = s.iter().sum();
    let entry = |i: usize, j: usize| if i == j { s[i] - s[i] * s[j] / total } else { -s[i] * s[j] / total };
    (0..p.len()).map(|i| (0..p.len()).map(|j| entry(i, j) * g[j]).sum()).collect()
}

fn check<F: Real>(logits: &[f64], gradient: &[f64], tolerance: f64) {
    let want = sorted_entmax(logits);
    let got = dense(&real::<F>(logits));
    close("entmax15", &got, &want, tolerance);
    let support: Vec<usize> = (0..got.len()).filter(|&i| got[i] > F::default()).collect();
    let probabilities: Vec<F> = support.iter().map(|&i| got[i]).collect();
    let mut by_logit: Vec<F> = support.iter().map(|&i| F::from_f64(gradient[i])).collect();
    entmax15_backward(&probabilities, &mut by_logit);
    let exact: Vec<f64> = got.iter().map(|p| p.to_f64()).collect();
    let want = dense_backward(&exact, gradient);
    close("derivative", &by_logit, &support.iter().map(|&i| want[i]).collect::<Vec<_>>(), tolerance);
}

#[test]
fn entmax_agrees_with_sorting() {
    for (count, reach) in (1..70).flat_map(|n| [0.1, 1.0, 4.0, 40.0].map(|reach| (n, reach))) {
        let mut random = random(count as u64);
        let logits = numbers(&mut random, count, reach);
        let gradient = numbers(&mut random, count, 1.0);
        check::<f64>(&logits, &gradient, 1e-13);
        check::<f32>(&logits, &gradient, 1e-5);
    }
}

#[test]
fn golden_entmax() {
    let [input, output, upstream, by_input] = golden("entmax15");
    let rows = input.as_array().unwrap().len();
    for row in 0..rows {
        let (logits, gradient) = (floats(&input[row]), floats(&upstream[row]));
        let p = dense(&logits);
        close("entmax15", &p, &floats(&output[row]), 1e-12);
        let support: Vec<usize> = (0..p.len()).filter(|&i| p[i] > 0.0).collect();
        let mut by_logit: Vec<f64> = support.iter().map(|&i| gradient[i]).collect();
        entmax15_backward(&support.iter().map(|&i| p[i]).collect::<Vec<_>>(), &mut by_logit);
        let mut all = vec![0.0; p.len()];
        support.iter().zip(by_logit).for_each(|(&i, g)| all[i] = g);
        close("derivative", &all, &floats(&by_input[row]), 1e-12);
    }
}

#[test]
fn no_logits_no_support() {
    assert!(dense::<f32>(&[]).is_empty());
}

proptest! {
    /// The sum to 1e-4 in single precision: with many equal logits the closed form of the threshold loses digits.
    #[test]
    fn entmax_is_a_distribution(seed: u64, count in 1usize..100, reach in 0.01f64..50.0) {
        let logits = real::<f32>(&numbers(&mut random(seed), count, reach));
        let p = dense(&logits);
        let total: f64 = p.iter().map(|&p| f64::from(p)).sum();
        prop_assert!((total - 1.0).abs() < 1e-4, "sums to {}", total);
        let double = logits.iter().map(|&z| f64::from(z)).collect::<Vec<_>>();
        prop_assert!((dense(&double).iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let max = logits.iter().copied().fold(f32::MIN, f32::max);
        for (z, p) in logits.iter().zip(&p) {
            prop_assert!(*p >= 0.0 && (*p == 0.0 || max - z < 2.0), "{} at {} below the largest", p, max - z);
        }
    }

    #[test]
    fn entmax_does_not_care_for_order(seed: u64, count in 1usize..60, reach in 0.01f64..6.0) {
        let mut random = random(seed);
        let logits = numbers(&mut random, count, reach);
        let mut order: Vec<usize> = (0..count).collect();
        random.shuffle(&mut order);
        let shuffled: Vec<f64> = order.iter().map(|&i| logits[i]).collect();
        let (p, q) = (dense(&logits), dense(&shuffled));
        for (k, &i) in order.iter().enumerate() {
            prop_assert!((q[k] - p[i]).abs() < 1e-13);
        }
    }

    #[test]
    fn entmax_does_not_care_for_a_shift(seed: u64, count in 1usize..60, shift in -100.0f64..100.0) {
        let logits = numbers(&mut random(seed), count, 2.0);
        let moved: Vec<f64> = logits.iter().map(|z| z + shift).collect();
        for (a, b) in dense(&logits).iter().zip(dense(&moved)) {
            prop_assert!((a - b).abs() < 1e-12);
        }
    }

    #[test]
    fn ties_get_the_same_share(seed: u64, count in 2usize..60, levels in 1usize..5) {
        let mut random = random(seed);
        let logits: Vec<f32> = (0..count).map(|_| random.below(levels) as f32 * 0.3).collect();
        let p = dense(&logits);
        for i in 0..count {
            for j in (0..i).filter(|&j| logits[i] == logits[j]) {
                prop_assert_eq!(p[i].to_bits(), p[j].to_bits());
            }
        }
    }
}
