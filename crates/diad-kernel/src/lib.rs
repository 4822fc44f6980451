#![doc = include_str!("../README.md")]
//!
//! Every kernel is written once over one trait of vectors; [`Kernels`] is the table of the chosen instruction set. All `unsafe` of the
//! detector is in this crate.

mod asinh;
mod cells;
mod columns;
mod entmax;
mod real;
mod simd;
mod tree;
mod walsh;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::marker::PhantomData;
use std::sync::OnceLock;

pub use asinh::{AsinhScale, asinh, spreads};
pub use cells::{AxisCells, CellFunctions, CellSpace, PairCells, SLOT, Terms};
pub use columns::Columns;
pub use entmax::{Entmax, entmax15_backward};
pub use real::{Real, Vectorized};
use simd::Portable;
pub use simd::{LANES, Lane};
pub use tree::{Gradients, Output, Splits, Upstream};
pub use walsh::walsh;

/// An instruction set the kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isa {
    /// 512-bit vectors.
    Avx512,
    /// 256-bit vectors with fused multiply-add.
    Avx2,
    /// Plain loops.
    Portable,
}

/// The kernels of one scalar type for one instruction set.
#[derive(Debug)]
#[expect(clippy::type_complexity, reason = "the types are the documentation of a table of functions")]
pub struct Kernels<F: 'static> {
    /// Moments and outputs of a tree.
    pub tree_moments: fn(usize, &Splits<F>, &[Lane<F>], &mut [F], &mut [Output<F>]),
    /// Outputs of a tree.
    pub tree_outputs: fn(usize, &Splits<F>, &[Lane<F>], &mut [Output<F>]),
    /// Derivatives of a tree.
    pub tree_backward: fn(usize, &Splits<F>, &[Lane<F>], &[F], &[Upstream<F>], &mut Gradients<F>),
    /// Weighted sum of columns.
    pub combine: fn(&mut [Lane<F>], &[Lane<F>], Columns<F>, &[u32], &[F]),
    /// Dot products with columns.
    pub dots: fn(&mut [F], &[Lane<F>], Columns<F>, &[u32]),
    /// Logarithms.
    pub shifted_ln: fn(&mut [Lane<F>], F),
    /// Sums of products of functions of cells.
    pub cell_sums: fn(&CellFunctions<F>, (&[u32], &[F], usize), &mut CellSpace<F>, &mut [f64]),
    /// The same, and what each term has in them.
    pub cell_parts:
        fn((&CellFunctions<F>, &Terms), (&[u32], &[F], usize), &mut CellSpace<F>, &mut [f64], &mut [f64]),
    /// Bends and scales a column.
    pub scale_asinh: fn(&AsinhScale, &[f64], &mut [f32]),
}

impl Isa {
    /// The best set this machine has.
    pub fn detect() -> Self {
        Self::available()[0]
    }

    /// The sets this machine has, best first.
    pub fn available() -> &'static [Self] {
        const ALL: &[Isa] = &[Isa::Avx512, Isa::Avx2, Isa::Portable];
        // Each machine with a set has those after it.
        static FIRST: OnceLock<usize> = OnceLock::new();
        let first = *FIRST.get_or_init(|| {
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
                return usize::from(!avx512);
            }
            ALL.len() - 1
        });
        &ALL[first..]
    }

    /// The single-precision kernels of this set. A set the machine lacks gives the portable ones.
    pub fn kernels_f32(self) -> &'static Kernels<f32> {
        #[cfg(target_arch = "x86_64")]
        if Isa::available().contains(&self) {
            match self {
                Isa::Avx512 => return &avx512::TABLE,
                Isa::Avx2 => return &avx2::TABLE,
                Isa::Portable => {}
            }
        }
        &PortableSet::<f32>::TABLE
    }
}

/// Calls a forward kernel with the depth as a constant.
macro_rules! forward_by_depth {
    ($depth:expr, [$simd:ty, $moments:literal], ($($arg:expr),*)) => {
        match $depth {
            1 => tree::forward::<$simd, $moments, 1, 0, 2, 1, 2>($($arg),*),
            2 => tree::forward::<$simd, $moments, 1, 1, 2, 2, 4>($($arg),*),
            3 => tree::forward::<$simd, $moments, 2, 1, 4, 2, 8>($($arg),*),
            4 => tree::forward::<$simd, $moments, 2, 2, 4, 4, 16>($($arg),*),
            5 => tree::forward::<$simd, $moments, 3, 2, 8, 4, 32>($($arg),*),
            6 => tree::forward::<$simd, $moments, 3, 3, 8, 8, 64>($($arg),*),
            depth => unreachable!("settings allow a depth of 1 to 6, not {depth}"),
        }
    };
}

/// Calls the backward kernel with the depth as a constant.
macro_rules! backward_by_depth {
    ($depth:expr, $simd:ty, ($($arg:expr),*)) => {
        match $depth {
            1 => tree::backward::<$simd, 1, 2>($($arg),*),
            2 => tree::backward::<$simd, 2, 4>($($arg),*),
            3 => tree::backward::<$simd, 3, 8>($($arg),*),
            4 => tree::backward::<$simd, 4, 16>($($arg),*),
            5 => tree::backward::<$simd, 5, 32>($($arg),*),
            6 => tree::backward::<$simd, 6, 64>($($arg),*),
            depth => unreachable!("settings allow a depth of 1 to 6, not {depth}"),
        }
    };
}

/// The kernels as plain loops over arrays, for any scalar type.
struct PortableSet<F>(PhantomData<F>);

impl<F: Real> PortableSet<F> {
    const TABLE: Kernels<F> = Kernels {
        tree_moments: |depth, splits, weights, moments, outputs| {
            let s: Portable<F> = Portable(PhantomData);
            forward_by_depth!(depth, [Portable<F>, true], (s, splits, weights, moments, outputs))
        },
        tree_outputs: |depth, splits, weights, outputs| {
            let s: Portable<F> = Portable(PhantomData);
            forward_by_depth!(depth, [Portable<F>, false], (s, splits, weights, &mut [], outputs))
        },
        tree_backward: |depth, splits, weights, gains, upstream, gradients| {
            let s: Portable<F> = Portable(PhantomData);
            backward_by_depth!(depth, Portable<F>, (s, splits, weights, gains, upstream, gradients))
        },
        combine: |out, base, columns, indices, weights| {
            columns::combine(Portable(PhantomData), out, base, columns, indices, weights);
        },
        dots: |out, rows, columns, indices| {
            columns::dots(Portable(PhantomData), out, rows, columns, indices);
        },
        shifted_ln: |lanes, shift| columns::shifted_ln(lanes, shift),
        cell_sums: |cells, places, space, totals| {
            cells::sums(Portable(PhantomData), cells, places, space, totals);
        },
        cell_parts: |cells, places, space, totals, out| {
            cells::parts(Portable(PhantomData), cells, places, space, totals, out);
        },
        scale_asinh: |scale, values, scaled| asinh::scale_all(scale, values, scaled),
    };
}

/// A module with the single-precision kernels compiled for the vectors of one instruction set.
#[cfg(target_arch = "x86_64")]
macro_rules! table {
    ($module:ident, $simd:ty, $token:expr, $feature:literal) => {
        mod $module {
            use super::*;

            /// The kernels of this vector type; handed out only after detection.
            pub static TABLE: Kernels<f32> = Kernels {
                // SAFETY: the table is reached only on a machine that has the features.
                tree_moments: |d, t, w, m, o| unsafe { tree_moments(d, t, w, m, o) },
                // SAFETY: as above.
                tree_outputs: |d, t, w, o| unsafe { tree_outputs(d, t, w, o) },
                // SAFETY: as above.
                tree_backward: |d, t, w, g, u, o| unsafe { tree_backward(d, t, w, g, u, o) },
                // SAFETY: as above.
                combine: |o, b, c, i, w| unsafe { combine(o, b, c, i, w) },
                // SAFETY: as above.
                dots: |o, r, c, i| unsafe { dots(o, r, c, i) },
                // SAFETY: as above.
                shifted_ln: |l, s| unsafe { shifted_ln(l, s) },
                // SAFETY: as above.
                cell_sums: |c, p, v, t| unsafe { cell_sums(c, p, v, t) },
                // SAFETY: as above.
                cell_parts: |c, p, v, t, o| unsafe { cell_parts(c, p, v, t, o) },
                // SAFETY: as above.
                scale_asinh: |b, v, s| unsafe { scale_asinh(b, v, s) },
            };

            #[target_feature(enable = $feature)]
            unsafe fn tree_moments(
                depth: usize,
                splits: &Splits<f32>,
                row_weights: &[Lane<f32>],
                moments: &mut [f32],
                outputs: &mut [Output<f32>],
            ) {
                let s: $simd = $token;
                forward_by_depth!(depth, [$simd, true], (s, splits, row_weights, moments, outputs))
            }

            #[target_feature(enable = $feature)]
            unsafe fn tree_outputs(
                depth: usize,
                splits: &Splits<f32>,
                row_weights: &[Lane<f32>],
                outputs: &mut [Output<f32>],
            ) {
                let s: $simd = $token;
                forward_by_depth!(depth, [$simd, false], (s, splits, row_weights, &mut [], outputs))
            }

            #[target_feature(enable = $feature)]
            unsafe fn tree_backward(
                depth: usize,
                splits: &Splits<f32>,
                row_weights: &[Lane<f32>],
                gains: &[f32],
                upstream: &[Upstream<f32>],
                gradients: &mut Gradients<f32>,
            ) {
                let s: $simd = $token;
                backward_by_depth!(depth, $simd, (s, splits, row_weights, gains, upstream, gradients))
            }

            #[target_feature(enable = $feature)]
            unsafe fn combine(
                out: &mut [Lane<f32>],
                base: &[Lane<f32>],
                columns: Columns<f32>,
                indices: &[u32],
                weights: &[f32],
            ) {
                let s: $simd = $token;
                columns::combine(s, out, base, columns, indices, weights);
            }

            #[target_feature(enable = $feature)]
            unsafe fn dots(out: &mut [f32], rows: &[Lane<f32>], columns: Columns<f32>, indices: &[u32]) {
                let s: $simd = $token;
                columns::dots(s, out, rows, columns, indices);
            }

            #[target_feature(enable = $feature)]
            unsafe fn shifted_ln(lanes: &mut [Lane<f32>], shift: f32) {
                columns::shifted_ln(lanes, shift);
            }

            #[target_feature(enable = $feature)]
            unsafe fn cell_sums(
                cells: &CellFunctions<f32>,
                places: (&[u32], &[f32], usize),
                space: &mut CellSpace<f32>,
                totals: &mut [f64],
            ) {
                let s: $simd = $token;
                cells::sums(s, cells, places, space, totals);
            }

            #[target_feature(enable = $feature)]
            unsafe fn cell_parts(
                cells: (&CellFunctions<f32>, &Terms),
                places: (&[u32], &[f32], usize),
                space: &mut CellSpace<f32>,
                totals: &mut [f64],
                out: &mut [f64],
            ) {
                let s: $simd = $token;
                cells::parts(s, cells, places, space, totals, out);
            }

            #[target_feature(enable = $feature)]
            unsafe fn scale_asinh(scale: &AsinhScale, values: &[f64], scaled: &mut [f32]) {
                asinh::scale_all(scale, values, scaled);
            }
        }
    };
}

// SAFETY of `assume` in both: each use stands in a function compiled for, and reached only with, the features.
#[cfg(target_arch = "x86_64")]
table!(avx512, x86::Avx512, unsafe { x86::Avx512::assume() }, "avx512f,avx512vl,avx2,fma");
#[cfg(target_arch = "x86_64")]
table!(avx2, x86::Avx2, unsafe { x86::Avx2::assume() }, "avx2,fma");

#[cfg(test)]
mod tests;
