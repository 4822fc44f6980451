//! One soft oblivious tree over a block of rows: sums, outputs and derivatives in one pass, with no array of
//! rows × leaves.
//!
//! A split is entmoid15, which for x = 2u is H = (1 + a)/2 with a = u·√(2-u²) for |u| ≤ 1 and a = ±1 beyond;
//! da/du = 2(1-u²)/√(2-u²). A leaf's weight is a product of (1 ± a)/2 over the splits. Multiplied out, the
//! weighted sum of the leaves is a polynomial in the a's with one coefficient for each set of splits, and the
//! sums over rows of all leaf weights follow from the sums of all products of a's, the moments: coefficients and
//! moments are the Walsh-Hadamard transforms of weights and leaf sums ([`super::walsh`]). In that basis a row
//! costs half the arithmetic. Sets are bit masks, the first split the lowest bit.

use super::simd::{Lane, Simd};

/// A tree's splits and the two values of every row that they look at.
#[derive(Debug, Clone, Copy)]
pub struct Splits<'a, F> {
    /// Values for the odd and the even splits.
    pub values: [&'a [Lane<F>]; 2],
    /// Added to both.
    pub added: &'a [Lane<F>],
    /// One threshold per split.
    pub thresholds: &'a [F],
    /// One steepness per split: exp(-log slope) / temperature / 2.
    pub steepness: &'a [F],
}

/// One output of a tree and where its rows go.
#[derive(Debug)]
pub struct Output<'a, F> {
    /// One coefficient per set of splits.
    pub coefficients: &'a [F],
    /// One value per row.
    pub rows: &'a mut [Lane<F>],
    /// Where each value is added as well; may be empty.
    pub total: &'a mut [Lane<F>],
}

/// The derivative of the loss by one output of a tree, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Upstream<'a, F> {
    /// The output's coefficients.
    pub coefficients: &'a [F],
    /// One derivative per row.
    pub rows: &'a [Lane<F>],
}

/// Where a backward pass puts its results. The sums are added to.
#[derive(Debug)]
pub struct Gradients<'a, F> {
    /// By whatever is added to both values, row by row.
    pub both: &'a mut [Lane<F>],
    /// By each of the two values, row by row, where wanted.
    pub values: Option<[&'a mut [Lane<F>]; 2]>,
    /// By the thresholds.
    pub thresholds: &'a mut [F],
    /// By the log slopes.
    pub log_slopes: &'a mut [F],
}

/// u: the position of a row on one split's sigmoid, cut to its sloped part.
#[inline(always)]
fn position<S: Simd>(
    s: S,
    value: S::V,
    threshold: S::V,
    steepness: S::V,
    one: S::V,
    minus_one: S::V,
) -> S::V {
    s.max(s.min(s.mul(s.sub(value, threshold), steepness), one), minus_one)
}

/// Products over the sets of `C` splits, all times `unit`.
#[inline(always)]
fn products<S: Simd, const C: usize, const N: usize>(s: S, unit: S::V, a: &[S::V]) -> [S::V; N] {
    let mut product = [unit; N];
    for c in 0..C {
        for i in 0..1 << c {
            product[i + (1 << c)] = s.mul(product[i], a[c]);
        }
    }
    product
}

/// Evaluates a polynomial given by one coefficient for each set of the splits `a[from..]`.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(s: S, mut t: [S::V; N], a: &[S::V], from: usize, to: usize) -> S::V {
    let mut size = 1 << (to - from);
    for &ac in &a[from..to] {
        size /= 2;
        for i in 0..size {
            t[i] = s.fma(ac, t[2 * i + 1], t[2 * i]);
        }
    }
    t[0]
}

/// Adds each row's products of splits times its weight to `moments` (where wanted) and writes the outputs. The
/// sets of all splits are pairs of a set of the first `CP` and a set of the other `CQ`.
#[inline(always)]
pub fn forward<
    S: Simd,
    const SUMS: bool,
    const CP: usize,
    const CQ: usize,
    const NP: usize,
    const NQ: usize,
    const N: usize,
>(
    s: S,
    splits: &Splits<S::F>,
    row_weights: &[Lane<S::F>],
    moments: &mut [S::F],
    outputs: &mut [Output<S::F>],
) {
    let f = <S::F as super::Real>::from_f64;
    let (zero, one, minus_one, two) = (s.splat(f(0.0)), s.splat(f(1.0)), s.splat(f(-1.0)), s.splat(f(2.0)));
    let mut sums = [[zero; NP]; NQ];
    let n = row_weights.len();
    let (values, added) = ([&splits.values[0][..n], &splits.values[1][..n]], &splits.added[..n]);
    let thresholds = &splits.thresholds[..CP + CQ];
    let steepness = &splits.steepness[..CP + CQ];
    for r in 0..n {
        let plus = s.load(&added[r]);
        let v = [s.add(s.load(&values[0][r]), plus), s.add(s.load(&values[1][r]), plus)];
        let mut a = [zero; 8];
        for c in 0..CP + CQ {
            let u = position(s, v[c & 1], s.splat(thresholds[c]), s.splat(steepness[c]), one, minus_one);
            a[c] = s.mul(u, s.sqrt(s.fnma(u, u, two)));
        }
        if SUMS {
            let p = products::<S, CP, NP>(s, s.load(&row_weights[r]), &a[..CP]);
            let q = products::<S, CQ, NQ>(s, one, &a[CP..CP + CQ]);
            for i in 0..NP {
                sums[0][i] = s.add(p[i], sums[0][i]);
            }
            for j in 1..NQ {
                for i in 0..NP {
                    sums[j][i] = s.fma(p[i], q[j], sums[j][i]);
                }
            }
        }
        for output in outputs.iter_mut() {
            let coefficients = &output.coefficients[..N];
            let mut t = [zero; N];
            for i in 0..N / 2 {
                t[i] = s.fma(a[0], s.splat(coefficients[2 * i + 1]), s.splat(coefficients[2 * i]));
            }
            let value = polynomial(s, t, &a, 1, CP + CQ);
            s.store(value, &mut output.rows[r]);
            if let Some(total) = output.total.get_mut(r) {
                s.store(s.add(s.load(total), value), total);
            }
        }
    }
    if SUMS {
        for j in 0..NQ {
            for i in 0..NP {
                moments[j * NP + i] += s.sum(sums[j][i]);
            }
        }
    }
}

/// Derivatives through the splits. `gains` are the coefficients by which each set's moment enters the loss
/// (empty: none); `upstream` the derivatives by the tree's outputs. Rows of weight 0 count for nothing.
#[inline(always)]
pub fn backward<S: Simd, const C: usize, const N: usize>(
    s: S,
    splits: &Splits<S::F>,
    row_weights: &[Lane<S::F>],
    gains: &[S::F],
    upstream: &[Upstream<S::F>],
    gradients: &mut Gradients<S::F>,
) {
    let f = <S::F as super::Real>::from_f64;
    let (zero, one, minus_one, two) = (s.splat(f(0.0)), s.splat(f(1.0)), s.splat(f(-1.0)), s.splat(f(2.0)));
    let n = row_weights.len();
    let (values, added) = ([&splits.values[0][..n], &splits.values[1][..n]], &splits.added[..n]);
    let both = &mut gradients.both[..n];
    let thresholds = &splits.thresholds[..C];
    let steepness = &splits.steepness[..C];
    // With a single source its coefficients are the same in every row; others are added row by row.
    let nothing = [f(0.0); N];
    let (alone, only, others) = match (gains, upstream) {
        ([], [up]) => (up.coefficients, Some(up), &[][..]),
        ([], ups) => (&nothing[..], None, ups),
        (gains, ups) => (gains, None, ups),
    };
    let mut by_position = [zero; C];
    let mut by_slope = [zero; C];
    for r in 0..n {
        let plus = s.load(&added[r]);
        let v = [s.add(s.load(&values[0][r]), plus), s.add(s.load(&values[1][r]), plus)];
        let (mut u, mut a, mut root) = ([zero; C], [zero; C], [one; C]);
        for c in 0..C {
            u[c] = position(s, v[c & 1], s.splat(thresholds[c]), s.splat(steepness[c]), one, minus_one);
            root[c] = s.sqrt(s.fnma(u[c], u[c], two));
            a[c] = s.mul(u[c], root[c]);
        }
        let mut scale = s.mul(two, s.load(&row_weights[r]));
        let mut coefficients = spread(s, alone);
        if let Some(up) = only {
            scale = s.mul(scale, s.load(&up.rows[r]));
        }
        for up in others {
            let (d, weights) = (s.load(&up.rows[r]), &up.coefficients[..N]);
            for i in 0..N {
                coefficients[i] = s.fma(d, s.splat(weights[i]), coefficients[i]);
            }
        }
        let by_a = slopes::<S, C, N>(s, coefficients, one, &a);
        let inverse = inverses::<S, C>(s, one, &root);
        let mut by_value = [zero; 2];
        for c in 0..C {
            let derivative = s.mul(s.fnma(u[c], u[c], one), s.mul(scale, inverse[c]));
            let by_u = s.mul(by_a[c], derivative);
            by_position[c] = s.add(by_position[c], by_u);
            by_slope[c] = s.fma(by_u, u[c], by_slope[c]);
            by_value[c & 1] = s.fma(by_u, s.splat(steepness[c]), by_value[c & 1]);
        }
        s.store(s.add(by_value[0], by_value[1]), &mut both[r]);
        if let Some([first, second]) = &mut gradients.values {
            s.store(by_value[0], &mut first[r]);
            s.store(by_value[1], &mut second[r]);
        }
    }
    for c in 0..C {
        gradients.thresholds[c] += -(s.sum(by_position[c]) * steepness[c]);
        gradients.log_slopes[c] += -s.sum(by_slope[c]);
    }
}

#[inline(always)]
fn spread<S: Simd, const N: usize>(s: S, coefficients: &[S::F]) -> [S::V; N] {
    let coefficients = &coefficients[..N];
    let mut spread = [s.splat(coefficients[0]); N];
    for i in 1..N {
        spread[i] = s.splat(coefficients[i]);
    }
    spread
}

/// The derivatives of a polynomial by each a. By the first split it is Σ over sets of the others of their product
/// times the coefficient of the set with the first added; then the first split is multiplied out.
#[inline(always)]
fn slopes<S: Simd, const C: usize, const N: usize>(
    s: S,
    mut t: [S::V; N],
    one: S::V,
    a: &[S::V; C],
) -> [S::V; C] {
    let mut product = [one; N];
    for c in 1..C {
        product[1 << (c - 1)] = a[c];
        for i in 1..1 << (c - 1) {
            product[i + (1 << (c - 1))] = s.mul(product[i], a[c]);
        }
    }
    let mut by_a = [one; C];
    for c in 0..C {
        let mut sum = t[1];
        for i in 1..1 << (C - 1 - c) {
            sum = s.fma(product[i << c], t[2 * i + 1], sum);
        }
        by_a[c] = sum;
        for i in 0..1 << (C - 1 - c) {
            t[i] = s.fma(a[c], t[2 * i + 1], t[2 * i]);
        }
    }
    by_a
}

/// One over each root, with one division for two of them.
#[inline(always)]
fn inverses<S: Simd, const C: usize>(s: S, one: S::V, root: &[S::V; C]) -> [S::V; C] {
    let mut inverse = *root;
    for c in (0..C).step_by(2) {
        if c + 1 < C {
            let product = s.div(one, s.mul(root[c], root[c + 1]));
            inverse[c] = s.mul(product, root[c + 1]);
            inverse[c + 1] = s.mul(product, root[c]);
        } else {
            inverse[c] = s.div(one, root[c]);
        }
    }
    inverse
}
