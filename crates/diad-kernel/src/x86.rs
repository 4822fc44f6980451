//! AVX2 and AVX-512 forms of [`Simd`].
//!
//! Safety: a value of these types is made only by the tables of `super`, whose functions are handed out after the
//! machine was found to have the features; the intrinsics need nothing else.

use std::arch::x86_64::*;

use super::simd::{Lane, Simd};

#[derive(Debug, Clone, Copy)]
pub struct Avx512(());
#[derive(Debug, Clone, Copy)]
pub struct Avx2(());

impl Avx512 {
    /// # Safety
    /// The machine must have AVX-512F.
    #[inline(always)]
    pub unsafe fn assume() -> Self {
        Self(())
    }
}

impl Avx2 {
    /// # Safety
    /// The machine must have AVX2 and FMA.
    #[inline(always)]
    pub unsafe fn assume() -> Self {
        Self(())
    }
}

/// The shared end of both reductions: eight lanes to one.
#[inline(always)]
fn sum8(v: __m256) -> f32 {
    // SAFETY: only reached from a vector type whose existence proves AVX.
    unsafe {
        let four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
        let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
        _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
    }
}

/// So many numbers at a time: taken up, and multiplied and added.
macro_rules! taken_up {
    ($count:literal of $vector:ty, $name:ident = $load:ident, $fma:ident = $fused:ident) => {
        #[inline(always)]
        fn $name(self, numbers: &[f32; $count]) -> $vector {
            // SAFETY: `self` proves AVX; the numbers are there.
            unsafe { $load(numbers.as_ptr()) }
        }
        #[inline(always)]
        fn $fma(self, a: $vector, b: $vector, c: $vector) -> $vector {
            // SAFETY: `self` proves FMA.
            unsafe { $fused(a, b, c) }
        }
    };
}

/// Four and eight numbers at a time, the same for both.
macro_rules! fours_and_eights {
    () => {
        taken_up!(4 of __m128, four = _mm_loadu_ps, four_fma = _mm_fmadd_ps);
        taken_up!(8 of __m256, eight = _mm256_loadu_ps, eight_fma = _mm256_fmadd_ps);
        #[inline(always)]
        fn four_into(self, q: __m128, totals: &mut [f64; 4]) {
            // SAFETY: `self` proves AVX; four totals are there.
            unsafe {
                let sum = _mm256_add_pd(_mm256_loadu_pd(totals.as_ptr()), _mm256_cvtps_pd(q));
                _mm256_storeu_pd(totals.as_mut_ptr(), sum);
            }
        }
        #[inline(always)]
        fn eight_into(self, o: __m256, totals: &mut [f64; 4]) {
            self.four_into(self.eight_fold(o), totals);
        }
        #[inline(always)]
        fn eight_fold(self, o: __m256) -> __m128 {
            // SAFETY: `self` proves AVX.
            unsafe { _mm_add_ps(_mm256_castps256_ps128(o), _mm256_extractf128_ps::<1>(o)) }
        }
        #[inline(always)]
        fn four_sums(self, [a, b, c, d]: [__m128; 4]) -> __m128 {
            // SAFETY: `self` proves more than is needed.
            unsafe {
                let ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
                let cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
                _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab))
            }
        }
    };
}

macro_rules! binary512 {
    ($($name:ident = $intrinsic:ident),*) => {$(
        #[inline(always)]
        fn $name(self, a: __m512, b: __m512) -> __m512 {
            // SAFETY: `self` proves AVX-512F.
            unsafe { $intrinsic(a, b) }
        }
    )*};
}

impl Simd for Avx512 {
    type F = f32;
    type V = __m512;
    type Q = __m128;
    type O = __m256;
    #[inline(always)]
    fn splat(self, x: f32) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_set1_ps(x) }
    }
    #[inline(always)]
    fn load(self, lane: &Lane<f32>) -> __m512 {
        // SAFETY: `self` proves AVX-512F; a lane is 64 aligned bytes.
        unsafe { _mm512_load_ps(lane.0.as_ptr()) }
    }
    #[inline(always)]
    fn store(self, v: __m512, lane: &mut Lane<f32>) {
        // SAFETY: as `load`.
        unsafe { _mm512_store_ps(lane.0.as_mut_ptr(), v) }
    }
    binary512!(
        add = _mm512_add_ps,
        sub = _mm512_sub_ps,
        mul = _mm512_mul_ps,
        div = _mm512_div_ps,
        min = _mm512_min_ps,
        max = _mm512_max_ps
    );
    #[inline(always)]
    fn fma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn fnma(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_fnmadd_ps(a, b, c) }
    }
    #[inline(always)]
    fn sqrt(self, a: __m512) -> __m512 {
        // SAFETY: `self` proves AVX-512F.
        unsafe { _mm512_sqrt_ps(a) }
    }
    #[inline(always)]
    fn sum(self, a: __m512) -> f32 {
        // SAFETY: `self` proves AVX-512F.
        unsafe {
            let high = _mm256_castpd_ps(_mm512_extractf64x4_pd::<1>(_mm512_castps_pd(a)));
            sum8(_mm256_add_ps(_mm512_castps512_ps256(a), high))
        }
    }
    fours_and_eights!();
}

macro_rules! binary256 {
    ($($name:ident = $intrinsic:ident),*) => {$(
        #[inline(always)]
        fn $name(self, a: Self::V, b: Self::V) -> Self::V {
            // SAFETY: `self` proves AVX2.
            unsafe { [$intrinsic(a[0], b[0]), $intrinsic(a[1], b[1])] }
        }
    )*};
}

impl Simd for Avx2 {
    type F = f32;
    type V = [__m256; 2];
    type Q = __m128;
    type O = __m256;
    #[inline(always)]
    fn splat(self, x: f32) -> Self::V {
        // SAFETY: `self` proves AVX2.
        unsafe { [_mm256_set1_ps(x); 2] }
    }
    #[inline(always)]
    fn load(self, lane: &Lane<f32>) -> Self::V {
        // SAFETY: `self` proves AVX2; a lane is two aligned vectors.
        unsafe { [_mm256_load_ps(lane.0.as_ptr()), _mm256_load_ps(lane.0.as_ptr().add(8))] }
    }
    #[inline(always)]
    fn store(self, v: Self::V, lane: &mut Lane<f32>) {
        // SAFETY: as `load`.
        unsafe {
            _mm256_store_ps(lane.0.as_mut_ptr(), v[0]);
            _mm256_store_ps(lane.0.as_mut_ptr().add(8), v[1]);
        }
    }
    binary256!(
        add = _mm256_add_ps,
        sub = _mm256_sub_ps,
        mul = _mm256_mul_ps,
        div = _mm256_div_ps,
        min = _mm256_min_ps,
        max = _mm256_max_ps
    );
    #[inline(always)]
    fn fma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: `self` proves FMA.
        unsafe { [_mm256_fmadd_ps(a[0], b[0], c[0]), _mm256_fmadd_ps(a[1], b[1], c[1])] }
    }
    #[inline(always)]
    fn fnma(self, a: Self::V, b: Self::V, c: Self::V) -> Self::V {
        // SAFETY: `self` proves FMA.
        unsafe { [_mm256_fnmadd_ps(a[0], b[0], c[0]), _mm256_fnmadd_ps(a[1], b[1], c[1])] }
    }
    #[inline(always)]
    fn sqrt(self, a: Self::V) -> Self::V {
        // SAFETY: `self` proves AVX2.
        unsafe { [_mm256_sqrt_ps(a[0]), _mm256_sqrt_ps(a[1])] }
    }
    #[inline(always)]
    fn sum(self, a: Self::V) -> f32 {
        // SAFETY: `self` proves AVX2.
        sum8(unsafe { _mm256_add_ps(a[0], a[1]) })
    }
    fours_and_eights!();
}
