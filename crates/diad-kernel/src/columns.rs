//! Sparse combinations of columns: the values a tree looks at, the attention between trees, and their
//! derivatives. A column is a run of lanes in a table of equally spaced columns.

use super::Real;
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

/// `out = base + Σ_i weights[i] · column[indices[i]]`; an empty base counts as zero.
#[inline(always)]
pub fn combine<S: Simd>(
    s: S,
    out: &mut [Lane<S::F>],
    base: &[Lane<S::F>],
    columns: Columns<S::F>,
    indices: &[u32],
    weights: &[S::F],
) {
    let (sum, n) = (Sum { base, columns, indices, weights }, out.len());
    let mut start = 0;
    while start + 4 <= n {
        sum.at::<S, 4>(s, &mut out[start..start + 4], start);
        start += 4;
    }
    while start < n {
        sum.at::<S, 1>(s, &mut out[start..start + 1], start);
        start += 1;
    }
}

/// A weighted sum of columns and a base.
struct Sum<'a, F> {
    base: &'a [Lane<F>],
    columns: Columns<'a, F>,
    indices: &'a [u32],
    weights: &'a [F],
}

impl<F: Real> Sum<'_, F> {
    /// `N` lanes of it.
    #[inline(always)]
    fn at<S: Simd<F = F>, const N: usize>(&self, s: S, out: &mut [Lane<F>], start: usize) {
        let mut acc = [s.splat(F::default()); N];
        if !self.base.is_empty() {
            for (acc, base) in acc.iter_mut().zip(&self.base[start..start + N]) {
                *acc = s.load(base);
            }
        }
        for (&index, &weight) in self.indices.iter().zip(self.weights) {
            let first = index as usize * self.columns.stride + start;
            let column = &self.columns.lanes[first..first + N];
            let w = s.splat(weight);
            for k in 0..N {
                acc[k] = s.fma(w, s.load(&column[k]), acc[k]);
            }
        }
        for k in 0..N {
            s.store(acc[k], &mut out[k]);
        }
    }
}

/// `out[i] += rows · column[indices[i]]`.
#[inline(always)]
pub fn dots<S: Simd>(s: S, out: &mut [S::F], rows: &[Lane<S::F>], columns: Columns<S::F>, indices: &[u32]) {
    let whole = indices.len() / 4 * 4;
    for (out, indices) in out[..whole].chunks_exact_mut(4).zip(indices.chunks_exact(4)) {
        dots_at::<S, 4>(s, out, rows, columns, indices);
    }
    for (out, index) in out[whole..].chunks_exact_mut(1).zip(indices[whole..].chunks_exact(1)) {
        dots_at::<S, 1>(s, out, rows, columns, index);
    }
}

#[inline(always)]
fn dots_at<S: Simd, const N: usize>(
    s: S,
    out: &mut [S::F],
    rows: &[Lane<S::F>],
    columns: Columns<S::F>,
    indices: &[u32],
) {
    let n = rows.len();
    let mut acc = [s.splat(S::F::default()); N];
    let mut column = [rows; N];
    for k in 0..N {
        column[k] = columns.get(indices[k] as usize, n);
    }
    for r in 0..n {
        let v = s.load(&rows[r]);
        for k in 0..N {
            acc[k] = s.fma(v, s.load(&column[k][r]), acc[k]);
        }
    }
    for k in 0..N {
        out[k] += s.sum(acc[k]);
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
