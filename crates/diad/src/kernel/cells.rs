//! Functions that are parabolas on the cells of axes, and sums of products of them: what a compiled score is made of.

use super::simd::{Lane, Simd};
use super::{LANES, Real};

/// Rows looked up at a time.
const ROWS: usize = 4;
/// Products added up in single precision before the sum goes on in double precision.
const RUN: usize = 8;
/// Numbers in a slot.
pub const SLOT: usize = 4;

/// All functions of one axis, side by side in lanes.
#[derive(Debug, Clone)]
pub struct AxisCells<F> {
    /// Of each cell the constant, the linear and the quadratic coefficients of all functions, `width` lanes each.
    pub table: Vec<Lane<F>>,
    /// Lanes of functions. The first function of all is the axis's own, which is not multiplied.
    pub width: usize,
    /// The lane of a row's values at which those of this axis start.
    at: usize,
}

impl<F> AxisCells<F> {
    /// The functions of an axis.
    pub fn new(table: Vec<Lane<F>>, width: usize) -> Self {
        Self { table, width, at: 0 }
    }
}

/// Functions of two axes that are multiplied, one by one.
#[derive(Debug, Clone, Copy)]
pub struct PairCells {
    /// The axes.
    pub axes: [usize; 2],
    /// Of either, the place of the first function.
    pub places: [usize; 2],
    /// How many slots there are, one after another.
    pub slots: usize,
}

/// Some functions of two axes, side by side, that are multiplied one by one.
#[derive(Debug, Clone, Copy)]
struct Factors {
    axes: [u32; 2],
    places: [u32; 2],
}

/// The functions of all axes, and which are multiplied.
#[derive(Debug, Clone, Default)]
pub struct Cells<F> {
    axes: Vec<AxisCells<F>>,
    pairs: Vec<PairCells>,
    /// What is in the pairs, two slots at a time, ...
    eights: Vec<Factors>,
    /// ... and the slots that are left.
    fours: Vec<Factors>,
    /// Lanes of a row's values.
    lanes: usize,
}

impl<F> Cells<F> {
    /// All functions and pairs.
    ///
    /// # Panics
    /// If a pair looks at functions that are not there.
    pub fn new(mut axes: Vec<AxisCells<F>>, pairs: Vec<PairCells>) -> Self {
        let mut lanes = 0;
        for axis in &mut axes {
            assert!(axis.width > 0, "an axis has its own function");
            axis.at = lanes;
            lanes += axis.width;
        }
        let (mut eights, mut fours) = (Vec::new(), Vec::new());
        for &PairCells { axes: both, places, slots } in &pairs {
            for (axis, place) in both.into_iter().zip(places) {
                assert!(place + slots * SLOT <= axes[axis].width * LANES, "slots are within their axis");
            }
            let from = |slot: usize| Factors {
                axes: both.map(|axis| axis as u32),
                places: places.map(|place| (place + slot * SLOT) as u32),
            };
            eights.extend((0..slots / 2).map(|two| from(2 * two)));
            fours.extend((slots % 2 == 1).then(|| from(slots - 1)));
        }
        Self { axes, pairs, eights, fours, lanes }
    }

    /// The axes.
    pub fn axes(&self) -> &[AxisCells<F>] {
        &self.axes
    }

    /// The pairs.
    pub fn pairs(&self) -> &[PairCells] {
        &self.pairs
    }
}

/// Working space: values of rows, and where those of each axis and row are.
#[derive(Debug)]
pub struct CellSpace<F> {
    values: Vec<Lane<F>>,
    rows: Vec<[*const F; ROWS]>,
}

impl<F> Default for CellSpace<F> {
    fn default() -> Self {
        Self { values: Vec::new(), rows: Vec::new() }
    }
}

// SAFETY: the pointers are written before they are read in every call that uses the space.
unsafe impl<F: Send> Send for CellSpace<F> {}

/// Adds the products of all factors, so many functions each, to the sums of the rows.
macro_rules! add_products {
    ($s:ident, $rows:ident, $factors:expr, $count:literal, $load:ident, $fma:ident, $into:ident, $sums:ident) => {
        for run in $factors.chunks(RUN) {
            let mut run_sums = [$s.$load(&[S::F::ZERO; $count]); ROWS];
            for factors in run {
                let (first, second) = (&$rows[factors.axes[0] as usize], &$rows[factors.axes[1] as usize]);
                for r in 0..ROWS {
                    // SAFETY: each of the rows has as many numbers as its axis has functions, and `Cells::new` has checked
                    // that those of the factors are among them.
                    let (a, b) = unsafe {
                        (
                            &*first[r].add(factors.places[0] as usize).cast::<[S::F; $count]>(),
                            &*second[r].add(factors.places[1] as usize).cast::<[S::F; $count]>(),
                        )
                    };
                    run_sums[r] = $s.$fma($s.$load(a), $s.$load(b), run_sums[r]);
                }
            }
            for r in 0..ROWS {
                $s.$into(run_sums[r], &mut $sums[r]);
            }
        }
    };
}

/// Adds up the own functions of all axes and all products for some rows. Of each axis and row, `starts` has the first lane
/// of the cell in the axis's table and `shares` how far into the cell the row lies, `[axis][row]` with `stride` rows to an
/// axis, a multiple of 16.
///
/// Where a row lies on a node, its values are the constants of the cell, and are not copied: a column of few values, which
/// all are nodes, costs nothing but its products.
#[inline(always)]
pub fn sums<S: Simd>(
    s: S,
    cells: &Cells<S::F>,
    (starts, shares, stride): (&[u32], &[S::F], usize),
    space: &mut CellSpace<S::F>,
    totals: &mut [f64],
) {
    let lanes = cells.lanes;
    let CellSpace { values, rows } = space;
    values.resize(lanes * ROWS, Lane::default());
    rows.resize(cells.axes.len(), [std::ptr::null(); ROWS]);
    for (block, totals) in totals.chunks_mut(ROWS).enumerate() {
        let mut own = [0.0; ROWS];
        for ((index, axis), rows) in cells.axes.iter().enumerate().zip(rows.iter_mut()) {
            let first = index * stride + block * ROWS;
            let (starts, shares) = (&starts[first..first + ROWS], &shares[first..first + ROWS]);
            let width = axis.width;
            for r in 0..ROWS {
                let start = starts[r] as usize;
                let cell = &axis.table[start..start + 3 * width];
                if shares[r] == S::F::ZERO {
                    own[r] += cell[0].0[0].to_f64();
                    rows[r] = cell.as_ptr().cast();
                    continue;
                }
                let out = &mut values[r * lanes + axis.at..][..width];
                let share = s.splat(shares[r]);
                let (constant, rest) = cell.split_at(width);
                let (linear, square) = rest.split_at(width);
                for (((out, constant), linear), square) in
                    out.iter_mut().zip(constant).zip(linear).zip(square)
                {
                    let slope = s.fma(share, s.load(square), s.load(linear));
                    s.store(s.fma(share, slope, s.load(constant)), out);
                }
                own[r] += out[0].0[0].to_f64();
                rows[r] = out.as_ptr().cast();
            }
        }
        let mut sums = [[0.0; SLOT]; ROWS];
        add_products!(s, rows, &cells.eights, 8, eight, eight_fma, eight_into, sums);
        add_products!(s, rows, &cells.fours, 4, four, four_fma, four_into, sums);
        for ((total, sum), own) in totals.iter_mut().zip(sums).zip(own) {
            *total = (sum[0] + sum[2]) + (sum[1] + sum[3]) + own;
        }
    }
}
