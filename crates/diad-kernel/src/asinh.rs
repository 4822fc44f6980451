//! The asinh scale of columns, without tables or branches, so that loops over it are vectorised. Nothing here is fused, so every machine computes the same bits.

/// The asinh scale of a column: asinh of the distance from the median in spreads, with its range mapped to [-1, 1].
#[derive(Debug, Clone, Copy)]
pub struct AsinhScale {
    /// The distance from the median at which the logarithm takes over.
    pub spread: f64,
    /// The median.
    pub median: f64,
    /// The asinh of the smallest training value.
    pub low: f64,
    /// From there to the asinh of the largest.
    pub range: f64,
    /// Scaled values stay within this.
    pub most: f64,
    /// What a missing number becomes.
    pub gap: f32,
}

/// The natural logarithm of a number of at least 1: the method of fdlibm, for which the error is below 1 unit in the last place. Of
/// infinity it is that of 2^1024.
#[inline(always)]
fn ln(x: f64) -> f64 {
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const EVEN: [f64; 3] = [0.153_138_376_992_093_73, 0.222_221_984_321_497_84, 0.399_999_999_994_094_2];
    const ODD: [f64; 4] =
        [0.147_981_986_051_165_86, 0.181_835_721_616_180_5, 0.285_714_287_436_623_9, 0.666_666_666_666_673_5];
    // The exponent for which what is left lies from √½ to √2.
    const OFFSET: u64 = 0x3fe6_a09e_667f_3bcd;
    // A number whose last bits are those of a small integer.
    const WHOLE: u64 = 0x4330_0000_0000_0000;
    let offset = x.to_bits().wrapping_sub(OFFSET);
    // Not below 0, since x is at least 1.
    let exponent = f64::from_bits((offset >> 52) | WHOLE) - f64::from_bits(WHOLE);
    let f = f64::from_bits((offset & 0x000f_ffff_ffff_ffff).wrapping_add(OFFSET)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w * (EVEN[2] + w * (EVEN[1] + w * EVEN[0]));
    let odd = z * (ODD[3] + w * (ODD[2] + w * (ODD[1] + w * ODD[0])));
    let half = 0.5 * f * f;
    exponent * LN2_HIGH - ((half - (s * (half + (even + odd)) + exponent * LN2_LOW)) - f)
}

/// The inverse hyperbolic sine. Accurate to the last bits of 1, not of its own result near 0.
#[inline(always)]
pub fn asinh(x: f64) -> f64 {
    let size = x.abs();
    let large = size > 1e150;
    let sum = if large { size } else { size + (size * size + 1.0).sqrt() };
    let rest = if large { std::f64::consts::LN_2 } else { 0.0 };
    (ln(if sum > 1.0 { sum } else { 1.0 }) + rest).copysign(x)
}

/// How many spreads a value lies above the median. The difference is taken first, which is exact where both are close together beside
/// their size; and of halves, so that it is finite.
#[inline(always)]
pub fn spreads(value: f64, median: f64, spread: f64) -> f64 {
    (value * 0.5 - median * 0.5) / (spread * 0.5)
}

impl AsinhScale {
    /// A value of the column, scaled.
    #[inline(always)]
    pub fn scale(&self, value: f64) -> f32 {
        let place = asinh(spreads(value, self.median, self.spread));
        let scaled = (place - self.low) / self.range * 2.0 - 1.0;
        let scaled = if scaled < self.most { scaled } else { self.most };
        let scaled = if scaled > -self.most { scaled } else { -self.most };
        if value.is_nan() { self.gap } else { scaled as f32 }
    }
}

/// Scales many values.
#[inline(always)]
pub fn scale_all(scale: &AsinhScale, values: &[f64], scaled: &mut [f32]) {
    for (scaled, &value) in scaled.iter_mut().zip(values) {
        *scaled = scale.scale(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Isa;

    #[test]
    fn the_inverse_hyperbolic_sine_is_that_of_libm() {
        let sizes =
            (-320..309).flat_map(|power| [1.0, 1.7, 4.2, 9.9].map(|m| m * libm::pow(10.0, f64::from(power))));
        let near = (0..2000).map(|i| f64::from(i) / 200.0);
        for x in sizes.chain(near).filter(|x| x.is_finite()).flat_map(|x| [x, -x]) {
            let (found, plain) = (asinh(x), libm::asinh(x));
            assert!(
                (found - plain).abs() <= 4e-16 * plain.abs().max(1.0),
                "{found} instead of {plain} at {x}"
            );
            assert_eq!(found.is_sign_negative(), x.is_sign_negative());
        }
        assert!(asinh(f64::INFINITY) > asinh(f64::MAX) - 1e-9);
    }

    #[test]
    fn every_machine_scales_to_the_same_bits() {
        let values: Vec<f64> = (0..1003)
            .map(|i| if i % 50 == 7 { f64::NAN } else { libm::sinh(f64::from(i) / 30.0 - 10.0) })
            .collect();
        let scale = AsinhScale { spread: 0.3, median: 0.21, low: -2.0, range: 9.0, most: 1e30, gap: 0.25 };
        for &isa in Isa::available() {
            let mut scaled = vec![f32::NAN; values.len()];
            (isa.kernels_f32().scale_asinh)(&scale, &values, &mut scaled);
            for (found, &value) in scaled.iter().zip(&values) {
                assert_eq!(found.to_bits(), scale.scale(value).to_bits(), "{value} on {isa:?}");
            }
        }
    }
}
