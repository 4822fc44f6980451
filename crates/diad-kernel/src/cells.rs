//! Functions that are parabolas on the cells of axes, and sums of products of them: what a compiled score is made of.

use super::simd::{Lane, Simd};
use super::{LANES, Real};

/// Rows looked up at a time.
const ROWS: usize = 4;
/// Products added up in single precision before the sum goes on in double precision.
const RUN: usize = 8;
/// Products whose sums are worked out side by side, if these are wanted; runs have whole ones of them.
const FOUR: usize = 4;
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

impl PairCells {
    /// The functions from a slot on.
    fn factors(&self, slot: usize) -> Factors {
        Factors {
            axes: self.axes.map(|axis| axis as u32),
            places: self.places.map(|place| (place + slot * SLOT) as u32),
        }
    }
}

/// Some functions of two axes, side by side, that are multiplied one by one.
#[derive(Debug, Clone, Copy)]
struct Factors {
    axes: [u32; 2],
    places: [u32; 2],
}

/// The functions of all axes, and which are multiplied.
#[derive(Debug, Clone, Default)]
pub struct CellFunctions<F> {
    axes: Vec<AxisCells<F>>,
    pairs: Vec<PairCells>,
    /// What is in the pairs, two slots at a time, ...
    eights: Vec<Factors>,
    /// ... and the slots that are left.
    fours: Vec<Factors>,
    /// Lanes of a row's values.
    lanes: usize,
}

impl<F> CellFunctions<F> {
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
        for pair @ &PairCells { axes: both, places, slots } in &pairs {
            for (axis, place) in both.into_iter().zip(places) {
                assert!(place + slots * SLOT <= axes[axis].width * LANES, "slots are within their axis");
            }
            eights.extend((0..slots / 2).map(|two| pair.factors(2 * two)));
            fours.extend((slots % 2 == 1).then(|| pair.factors(slots - 1)));
        }
        // Behind the axes are zeros.
        let nothing = Factors { axes: [axes.len() as u32; 2], places: [0; 2] };
        for factors in [&mut eights, &mut fours] {
            factors.resize(factors.len().next_multiple_of(FOUR), nothing);
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

/// To which terms the functions and products of [`CellFunctions`] belong.
#[derive(Debug, Clone)]
pub struct Terms {
    /// What is in every term.
    constants: Vec<f64>,
    /// The terms of the axes' own functions.
    own: Vec<u32>,
    eights: Vec<Four>,
    fours: Vec<Four>,
}

/// The terms of four products.
#[derive(Debug, Clone)]
struct Four {
    terms: [u32; FOUR],
    /// Whether each term is the one after the last.
    follow: bool,
}

impl Terms {
    /// Terms with a constant each, of which `pieces` has those of all axes, then of all pairs.
    ///
    /// # Panics
    /// If there are not as many axes and pairs as in the cells, or a term does not exist.
    pub fn new<F>(cells: &CellFunctions<F>, pieces: &[usize], constants: Vec<f64>) -> Self {
        let (own, pairs) = pieces.split_at(cells.axes.len());
        assert!(pairs.len() == cells.pairs.len(), "all have their terms");
        assert!(pieces.iter().all(|&term| term < constants.len()), "terms exist");
        let fours = |count: fn(usize) -> usize| {
            let slots = cells.pairs.iter().map(|pair| count(pair.slots));
            let terms: Vec<u32> =
                pairs.iter().zip(slots).flat_map(|(&term, n)| std::iter::repeat_n(term as u32, n)).collect();
            let four = |terms: &[u32]| {
                let follow = terms.len() == FOUR && terms.windows(2).all(|two| two[0] + 1 == two[1]);
                // What is not there has nothing, whatever its term.
                let terms = std::array::from_fn(|i| terms.get(i).copied().unwrap_or(0));
                Four { terms, follow }
            };
            terms.chunks(FOUR).map(four).collect()
        };
        let own = own.iter().map(|&term| term as u32).collect();
        Self { own, eights: fours(|slots| slots / 2), fours: fours(|slots| slots % 2), constants }
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
                    // SAFETY: each of the rows has as many numbers as its axis has functions, and `CellFunctions::new` has checked
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

/// As [`add_products`], with the same sums to the last bit, and what each product gives to its term.
macro_rules! give_products {
    ($s:ident, $rows:ident, $factors:expr, $terms:expr, $count:literal, $load:ident, $fma:ident, $fold:ident, $into:ident,
     $sums:ident, $out:ident, $width:ident, $given:ident) => {
        for (run, fours) in $factors.chunks(RUN).zip($terms.chunks(RUN / FOUR)) {
            let nothing = $s.$load(&[S::F::ZERO; $count]);
            let mut run_sums = [nothing; ROWS];
            for (factors, to) in run.chunks_exact(FOUR).zip(fours) {
                let mut products = [[$s.four(&[S::F::ZERO; SLOT]); FOUR]; ROWS];
                for i in 0..FOUR {
                    let Factors { axes, places } = &factors[i];
                    let (first, second) = (&$rows[axes[0] as usize], &$rows[axes[1] as usize]);
                    for r in 0..ROWS {
                        // SAFETY: as in `add_products`.
                        let (a, b) = unsafe {
                            (
                                $s.$load(&*first[r].add(places[0] as usize).cast::<[S::F; $count]>()),
                                $s.$load(&*second[r].add(places[1] as usize).cast::<[S::F; $count]>()),
                            )
                        };
                        run_sums[r] = $s.$fma(a, b, run_sums[r]);
                        products[r][i] = $s.$fold($s.$fma(a, b, nothing));
                    }
                }
                let [a, b, c, d] = products;
                let products = [$s.four_sums(a), $s.four_sums(b), $s.four_sums(c), $s.four_sums(d)];
                for r in 0..$given {
                    let out = &mut $out[r * $width..(r + 1) * $width];
                    if to.follow {
                        if let Some(four) = out[to.terms[0] as usize..].first_chunk_mut() {
                            $s.four_into(products[r], four);
                        }
                        continue;
                    }
                    let mut four = [0.0; FOUR];
                    $s.four_into(products[r], &mut four);
                    for (&term, product) in to.terms.iter().zip(four) {
                        out[term as usize] += product;
                    }
                }
            }
            for r in 0..ROWS {
                $s.$into(run_sums[r], &mut $sums[r]);
            }
        }
    };
}

/// As [`sums`], and what each term has in them, row after row. The terms must be those of these cells.
#[inline(always)]
pub fn parts<S: Simd>(
    s: S,
    (cells, terms): (&CellFunctions<S::F>, &Terms),
    (starts, shares, stride): (&[u32], &[S::F], usize),
    space: &mut CellSpace<S::F>,
    totals: &mut [f64],
    out: &mut [f64],
) {
    let width = terms.constants.len();
    let all = terms.own.len() == cells.axes.len() && out.len() == totals.len() * width;
    assert!(all, "they belong together");
    for (block, totals) in totals.chunks_mut(ROWS).enumerate() {
        let (first, given) = (block * ROWS, totals.len());
        let own = evaluate(s, cells, (&starts[first..], &shares[first..], stride), space);
        let rows = &space.rows;
        let out = &mut out[first * width..][..given * width];
        for r in 0..given {
            let out = &mut out[r * width..(r + 1) * width];
            out.copy_from_slice(&terms.constants);
            for (&term, row) in terms.own.iter().zip(rows) {
                // SAFETY: the first value of an axis is that of its own function.
                out[term as usize] += unsafe { *row[r] }.to_f64();
            }
        }
        let mut sums = [[0.0; SLOT]; ROWS];
        give_products!(
            s,
            rows,
            &cells.eights,
            terms.eights,
            8,
            eight,
            eight_fma,
            eight_fold,
            eight_into,
            sums,
            out,
            width,
            given
        );
        give_products!(
            s,
            rows,
            &cells.fours,
            terms.fours,
            4,
            four,
            four_fma,
            four_fold,
            four_into,
            sums,
            out,
            width,
            given
        );
        add_up(totals, &sums, &own);
    }
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
    cells: &CellFunctions<S::F>,
    (starts, shares, stride): (&[u32], &[S::F], usize),
    space: &mut CellSpace<S::F>,
    totals: &mut [f64],
) {
    for (block, totals) in totals.chunks_mut(ROWS).enumerate() {
        let first = block * ROWS;
        let own = evaluate(s, cells, (&starts[first..], &shares[first..], stride), space);
        let rows = &space.rows;
        let mut sums = [[0.0; SLOT]; ROWS];
        add_products!(s, rows, &cells.eights, 8, eight, eight_fma, eight_into, sums);
        add_products!(s, rows, &cells.fours, 4, four, four_fma, four_into, sums);
        add_up(totals, &sums, &own);
    }
}

#[inline(always)]
fn add_up(totals: &mut [f64], sums: &[[f64; SLOT]; ROWS], own: &[f64; ROWS]) {
    for ((total, sum), own) in totals.iter_mut().zip(sums).zip(own) {
        *total = (sum[0] + sum[2]) + (sum[1] + sum[3]) + own;
    }
}

/// The values of all functions of the first rows, and the sums of the axes' own.
#[inline(always)]
fn evaluate<S: Simd>(
    s: S,
    cells: &CellFunctions<S::F>,
    (starts, shares, stride): (&[u32], &[S::F], usize),
    space: &mut CellSpace<S::F>,
) -> [f64; ROWS] {
    let lanes = cells.lanes;
    let CellSpace { values, rows } = space;
    // Zeros behind all.
    values.resize(lanes * ROWS + 1, Lane::default());
    rows.resize(cells.axes.len() + 1, [std::ptr::null(); ROWS]);
    values[lanes * ROWS] = Lane::default();
    rows[cells.axes.len()] = [values[lanes * ROWS].0.as_ptr(); ROWS];
    let mut own = [0.0; ROWS];
    for ((index, axis), rows) in cells.axes.iter().enumerate().zip(rows.iter_mut()) {
        let first = index * stride;
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
            for (((out, constant), linear), square) in out.iter_mut().zip(constant).zip(linear).zip(square) {
                let slope = s.fma(share, s.load(square), s.load(linear));
                s.store(s.fma(share, slope, s.load(constant)), out);
            }
            own[r] += out[0].0[0].to_f64();
            rows[r] = out.as_ptr().cast();
        }
    }
    own
}
