//! Sparse combinations of columns: the values a tree looks at, the attention between trees, and their
//! derivatives. A column is a run of lanes in a table of equally spaced columns.

use super::simd::{Lane, Simd};

/// A table of columns, each `stride` lanes after the last.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a, F> {
    /// All columns.
    pub lanes: &'a [Lane<F>],
    /// Lanes from one column to the next.
    pub stride: usize,
}

impl<'a, F> Columns<'a, F> {
    /// The first `n` lanes of column `index`.
    #[inline(always)]
    pub fn get(&self, index: usize, n: usize) -> &'a [Lane<F>] {
        &self.lanes[index * self.stride..index * self.stride + n]
    }
}

/// `out += Σ_i weights[i] · column[indices[i]]`.
#[inline(always)]
pub fn combine<S: Simd>(
    s: S,
    out: &mut [Lane<S::F>],
    columns: Columns<S::F>,
    indices: &[u32],
    weights: &[S::F],
) {
    let n = out.len();
    let mut start = 0;
    while start + 4 <= n {
        let mut acc =
            [s.load(&out[start]), s.load(&out[start + 1]), s.load(&out[start + 2]), s.load(&out[start + 3])];
        for (&index, &weight) in indices.iter().zip(weights) {
            let column = &columns.get(index as usize, n)[start..start + 4];
            let w = s.splat(weight);
            for k in 0..4 {
                acc[k] = s.fma(w, s.load(&column[k]), acc[k]);
            }
        }
        for k in 0..4 {
            s.store(acc[k], &mut out[start + k]);
        }
        start += 4;
    }
    for r in start..n {
        let mut acc = s.load(&out[r]);
        for (&index, &weight) in indices.iter().zip(weights) {
            acc = s.fma(s.splat(weight), s.load(&columns.get(index as usize, n)[r]), acc);
        }
        s.store(acc, &mut out[r]);
    }
}

/// `out[i] += rows · column[indices[i]]`.
#[inline(always)]
pub fn dots<S: Simd>(s: S, out: &mut [S::F], rows: &[Lane<S::F>], columns: Columns<S::F>, indices: &[u32]) {
    let n = rows.len();
    let zero = s.splat(<S::F as super::Real>::from_f64(0.0));
    for (target, &index) in out.iter_mut().zip(indices) {
        let column = columns.get(index as usize, n);
        let mut acc = [zero; 2];
        for r in 0..n {
            acc[r & 1] = s.fma(s.load(&rows[r]), s.load(&column[r]), acc[r & 1]);
        }
        *target += s.sum(s.add(acc[0], acc[1]));
    }
}

/// `ln(x + shift)` of every value, in place.
#[inline(always)]
pub fn shifted_ln<F: super::Real>(lanes: &mut [Lane<F>], shift: F) {
    for lane in lanes {
        for x in &mut lane.0 {
            *x = (*x + shift).ln();
        }
    }
}
