//! The two scalar types the kernels are written for: `f32` in production, `f64` to check derivatives.

use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

use super::{Isa, Kernels};

/// A floating-point scalar.
pub trait Real:
    Copy
    + Debug
    + Default
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + Sum
    + 'static
{
    /// Nothing.
    const ZERO: Self;
    /// Rounds to this type.
    fn from_f64(x: f64) -> Self;
    /// Widens; exact.
    fn to_f64(self) -> f64;
    /// `self * a + b` in one rounding, which is slow where the machine cannot.
    fn mul_add(self, a: Self, b: Self) -> Self;
    /// `self * a + b` in one rounding where the machine has it.
    #[inline(always)]
    fn fused(self, a: Self, b: Self) -> Self {
        if cfg!(any(target_feature = "fma", target_arch = "aarch64")) {
            self.mul_add(a, b)
        } else {
            self * a + b
        }
    }
    /// IEEE square root.
    fn sqrt(self) -> Self;
    /// Natural logarithm of a positive, normal number; the same bits on every machine.
    fn ln(self) -> Self;
    /// Exponential; the same bits on every machine.
    fn exp(self) -> Self;
    /// The smaller of two numbers.
    fn min(self, other: Self) -> Self {
        if self < other { self } else { other }
    }
    /// The larger of two numbers.
    fn max(self, other: Self) -> Self {
        if self > other { self } else { other }
    }
}

/// A scalar the kernels are compiled for. Those of `f64` only tests use, and compiling them takes long.
pub trait Vectorized: Real {
    /// The kernels of this type for an instruction set.
    fn kernels(isa: Isa) -> &'static Kernels<Self>;
}

/// What both types do by the same words.
macro_rules! arithmetic {
    ($real:ty) => {
        const ZERO: Self = 0.0;
        #[inline(always)]
        fn from_f64(x: f64) -> Self {
            x as $real
        }
        #[inline(always)]
        fn to_f64(self) -> f64 {
            self as f64
        }
        #[inline(always)]
        fn mul_add(self, a: Self, b: Self) -> Self {
            <$real>::mul_add(self, a, b)
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            <$real>::sqrt(self)
        }
    };
}

impl Real for f32 {
    arithmetic!(f32);
    /// Mantissa in [√½, √2), then the polynomial of ln(1+f)/f, without table or branch so that a loop
    /// over it becomes vector code. Error below 2 units in the last place.
    #[inline(always)]
    fn ln(self) -> Self {
        const P: [f32; 9] = [
            7.037_683_6e-2,
            -1.151_461e-1,
            1.167_699_9e-1,
            -1.242_014_1e-1,
            1.424_932_3e-1,
            -1.666_805_8e-1,
            2.000_071_5e-1,
            -2.499_999_4e-1,
            0.333_333_3,
        ];
        let bits = self.to_bits();
        let offset = bits.wrapping_sub(0x3f35_04f3);
        let exponent = (offset as i32 >> 23) as f32;
        let f = f32::from_bits((offset & 0x007f_ffff).wrapping_add(0x3f35_04f3)) - 1.0;
        let square = f * f;
        let mut poly = P[0];
        for c in &P[1..] {
            poly = poly * f + c;
        }
        let tail = f * square * poly - 2.121_944_4e-4 * exponent - 0.5 * square;
        f + tail + 0.693_359_4 * exponent
    }
    #[inline(always)]
    fn exp(self) -> Self {
        libm::expf(self)
    }
}

impl Real for f64 {
    arithmetic!(f64);
    #[inline(always)]
    fn ln(self) -> Self {
        libm::log(self)
    }
    #[inline(always)]
    fn exp(self) -> Self {
        libm::exp(self)
    }
}

impl Vectorized for f32 {
    fn kernels(isa: Isa) -> &'static Kernels<Self> {
        isa.kernels_f32()
    }
}

impl Vectorized for f64 {
    // Inlined, so that only a program that uses them, as tests do, compiles them.
    #[inline]
    fn kernels(_: Isa) -> &'static Kernels<Self> {
        &super::PortableSet::<f64>::TABLE
    }
}
