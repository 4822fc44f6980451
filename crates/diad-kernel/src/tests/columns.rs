//! Sums of columns, dot products and logarithms against plain loops.

use proptest::prelude::*;

use super::super::{Columns, Kernels, LANES, Real};
use super::{Check, close, fused_sets, lanes, numbers, on_every_set, random, real, unlaned};

const COLUMNS: usize = 7;

/// Rows, a table with longer columns than rows, and some of its columns with weights.
struct Case {
    rows: usize,
    stride: usize,
    table: Vec<f64>,
    base: Vec<f64>,
    indices: Vec<u32>,
    weights: Vec<f64>,
}

impl Case {
    fn new(seed: u64, groups: usize, used: usize) -> Self {
        let mut random = random(seed);
        let stride = groups + seed as usize % 3;
        Self {
            rows: groups * LANES,
            stride,
            table: numbers(&mut random, COLUMNS * stride * LANES, 2.0),
            base: numbers(&mut random, groups * LANES, 2.0),
            indices: (0..used).map(|_| random.below(COLUMNS) as u32).collect(),
            weights: numbers(&mut random, used, 1.0),
        }
    }

    fn column(&self, i: usize) -> &[f64] {
        &self.table[self.indices[i] as usize * self.stride * LANES..][..self.rows]
    }

    fn combined<F: Real>(&self, kernels: &Kernels<F>, with_base: bool) -> Vec<F> {
        let (table, weights) = (lanes(&self.table), real::<F>(&self.weights));
        let mut out = lanes::<F>(&vec![9.0; self.rows]);
        let base = if with_base { lanes(&self.base) } else { Vec::new() };
        let columns = Columns { lanes: &table, stride: self.stride };
        (kernels.combine)(&mut out, &base, columns, &self.indices, &weights);
        unlaned(&out)
    }

    fn products<F: Real>(&self, kernels: &Kernels<F>) -> Vec<F> {
        let (table, rows) = (lanes(&self.table), lanes(&self.base));
        let mut out = real::<F>(&self.weights);
        (kernels.dots)(&mut out, &rows, Columns { lanes: &table, stride: self.stride }, &self.indices);
        out
    }
}

impl Check for Case {
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64) {
        for with_base in [false, true] {
            let mut want = if with_base { self.base.clone() } else { vec![0.0; self.rows] };
            for i in 0..self.indices.len() {
                want.iter_mut().zip(self.column(i)).for_each(|(w, x)| *w += self.weights[i] * x);
            }
            close(&format!("{name}: combine"), &self.combined(kernels, with_base), &want, tolerance);
        }
        let dot = |i: usize| {
            self.weights[i] + self.base.iter().zip(self.column(i)).map(|(a, b)| a * b).sum::<f64>()
        };
        let want: Vec<f64> = (0..self.indices.len()).map(dot).collect();
        close(&format!("{name}: dots"), &self.products(kernels), &want, tolerance);
    }
}

fn cases() -> impl Iterator<Item = Case> {
    (1..=17).flat_map(|groups| {
        [0, 1, 3, 4, 5, 11].map(|used| Case::new((groups * 20 + used) as u64, groups, used))
    })
}

#[test]
fn columns_agree_with_plain_loops() {
    for case in cases() {
        on_every_set(&case);
    }
}

#[test]
fn fused_sets_agree_to_the_last_bit() {
    let Some([avx2, avx512]) = fused_sets() else { return };
    for case in cases() {
        assert_eq!(case.combined(avx2, true), case.combined(avx512, true));
        assert_eq!(case.products(avx2), case.products(avx512));
    }
}

struct Logarithms(Vec<f64>, f64);

impl Check for Logarithms {
    /// To 3e-7 in single precision.
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64) {
        let shift = F::from_f64(self.1);
        let mut got = lanes::<F>(&self.0);
        (kernels.shifted_ln)(&mut got, shift);
        let want = |&x: &f64| (F::from_f64(x) + shift).to_f64().ln();
        close(
            &format!("{name}: ln"),
            &unlaned(&got),
            &self.0.iter().map(want).collect::<Vec<_>>(),
            tolerance.min(3e-7),
        );
    }
}

#[test]
fn logarithms_of_matches() {
    for groups in [1, 4, 5] {
        let matches =
            numbers(&mut random(groups as u64), groups * LANES, 0.5).iter().map(|m| m + 0.5).collect();
        on_every_set(&Logarithms(matches, 1e-6));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    /// Every positive, normal number. The exponents next to one are drawn as often as all others together, for
    /// there the logarithm is small and its relative error would show.
    #[test]
    fn single_precision_logarithm(exponent in prop_oneof![1u32..255, 125u32..129], mantissa in 0u32..1 << 23) {
        let x = f32::from_bits(exponent << 23 | mantissa);
        let exact = libm::log(f64::from(x));
        let error = (f64::from(Real::ln(x)) - exact).abs();
        prop_assert!(error <= 3e-7 * exact.abs(), "ln({}): error {:e} of {}", x, error, exact);
    }
}
