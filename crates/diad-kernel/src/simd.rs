//! Sixteen numbers at a time, on whatever the machine has. Every implementation computes the same
//! operations in the same order, so machines with fused multiply-add agree to the last bit.

use super::Real;

/// Numbers per lane group.
pub const LANES: usize = 16;

/// Sixteen values of consecutive rows (or trees), aligned for the widest vector.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Lane<F>(pub [F; LANES]);

impl<F: Real> Default for Lane<F> {
    fn default() -> Self {
        Self([F::default(); LANES])
    }
}

/// Vector arithmetic on sixteen lanes. A value of the type is proof that the machine supports it.
pub trait Simd: Copy {
    type F: Real;
    type V: Copy;
    /// Four numbers.
    type Q: Copy;
    /// Eight numbers.
    type O: Copy;
    fn splat(self, x: Self::F) -> Self::V;
    fn load(self, lane: &Lane<Self::F>) -> Self::V;
    fn store(self, v: Self::V, lane: &mut Lane<Self::F>);
    fn add(self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`.
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    /// `c - a * b`.
    fn fnma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn div(self, a: Self::V, b: Self::V) -> Self::V;
    fn min(self, a: Self::V, b: Self::V) -> Self::V;
    fn max(self, a: Self::V, b: Self::V) -> Self::V;
    fn sqrt(self, a: Self::V) -> Self::V;
    /// The sum of all lanes: lane i with i+8, then i+4, i+2, i+1.
    fn sum(self, a: Self::V) -> Self::F;
    fn four(self, numbers: &[Self::F; 4]) -> Self::Q;
    /// `a * b + c`.
    fn four_fma(self, a: Self::Q, b: Self::Q, c: Self::Q) -> Self::Q;
    /// Adds each to one of the totals.
    fn four_into(self, q: Self::Q, totals: &mut [f64; 4]);
    fn eight(self, numbers: &[Self::F; 8]) -> Self::O;
    /// `a * b + c`.
    fn eight_fma(self, a: Self::O, b: Self::O, c: Self::O) -> Self::O;
    /// Adds each of the first four, with the one four further on, to one of the totals.
    fn eight_into(self, o: Self::O, totals: &mut [f64; 4]);
    /// The sum of each.
    fn four_sums(self, quads: [Self::Q; 4]) -> Self::Q;
    /// The first four, each with the one four further on added.
    fn eight_fold(self, o: Self::O) -> Self::Q;
    /// All four.
    #[inline(always)]
    fn four_fold(self, q: Self::Q) -> Self::Q {
        q
    }
}

/// Plain loops over arrays, for any machine and for `f64`.
#[derive(Debug, Clone, Copy)]
pub struct Portable<F>(pub std::marker::PhantomData<F>);

macro_rules! lanewise {
    ($name:ident, |$a:ident, $b:ident| $body:expr) => {
        #[inline(always)]
        fn $name(self, a: Self::V, b: Self::V) -> Self::V {
            std::array::from_fn(|i| {
                let ($a, $b) = (a[i], b[i]);
                $body
            })
        }
    };
}

/// So many numbers at a time: taken up, and multiplied and added.
macro_rules! taken_up {
    ($count:literal, $name:ident, $fma:ident) => {
        #[inline(always)]
        fn $name(self, numbers: &[F; $count]) -> [F; $count] {
            *numbers
        }
        #[inline(always)]
        fn $fma(self, a: [F; $count], b: [F; $count], c: [F; $count]) -> [F; $count] {
            std::array::from_fn(|i| a[i].fused(b[i], c[i]))
        }
    };
}

impl<F: Real> Simd for Portable<F> {
    type F = F;
    type V = [F; LANES];
    type Q = [F; 4];
    type O = [F; 8];
    #[inline(always)]
    fn splat(self, x: F) -> Self::V {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, lane: &Lane<F>) -> Self::V {
        lane.0
    }
    #[inline(always)]
    fn store(self, v: Self::V, lane: &mut Lane<F>) {
        lane.0 = v;
    }
    lanewise!(add, |a, b| a + b);
    lanewise!(sub, |a, b| a - b);
    lanewise!(mul, |a, b| a * b);
    lanewise!(div, |a, b| a / b);
    lanewise!(min, |a, b| a.min(b));
    lanewise!(max, |a, b| a.max(b));
    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        std::array::from_fn(|i| a[i].fused(b[i], c[i]))
    }
    #[inline(always)]
    fn fnma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        std::array::from_fn(|i| (-a[i]).fused(b[i], c[i]))
    }
    #[inline(always)]
    fn sqrt(self, a: Self::V) -> Self::V {
        a.map(F::sqrt)
    }
    #[inline(always)]
    fn sum(self, mut a: Self::V) -> F {
        for width in [8, 4, 2, 1] {
            for i in 0..width {
                a[i] += a[i + width];
            }
        }
        a[0]
    }
    taken_up!(4, four, four_fma);
    taken_up!(8, eight, eight_fma);
    #[inline(always)]
    fn four_into(self, q: [F; 4], totals: &mut [f64; 4]) {
        for i in 0..4 {
            totals[i] += q[i].to_f64();
        }
    }
    #[inline(always)]
    fn eight_into(self, o: [F; 8], totals: &mut [f64; 4]) {
        for i in 0..4 {
            totals[i] += (o[i] + o[i + 4]).to_f64();
        }
    }
    #[inline(always)]
    fn four_sums(self, quads: [[F; 4]; 4]) -> [F; 4] {
        quads.map(|q| (q[0] + q[2]) + (q[1] + q[3]))
    }
    #[inline(always)]
    fn eight_fold(self, o: [F; 8]) -> [F; 4] {
        std::array::from_fn(|i| o[i] + o[i + 4])
    }
}
