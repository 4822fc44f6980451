//! One soft oblivious tree over a block of rows: leaf sums, outputs and derivatives in one pass, with no
//! array of rows × leaves.
//!
//! A split is entmoid15(x) = ½ + x·√(8-x²)/8 for |x| ≤ 2 and 0 or 1 beyond, with the derivative
//! (4-x²)/(4√(8-x²)). The 2^C leaf weights of a row are the outer product of P, over the first half of
//! the splits, and Q, over the others: leaf `i + j·|P|` is `P[i]·Q[j]`, the first split the fastest index.

use super::simd::{Lane, Simd};

/// A tree's splits and the two values of every row that they look at.
#[derive(Debug, Clone, Copy)]
pub struct Splits<'a, F> {
    /// Values for the odd and the even splits.
    pub values: [&'a [Lane<F>]; 2],
    /// One threshold per split.
    pub thresholds: &'a [F],
    /// One steepness per split: exp(-log slope) / temperature.
    pub steepness: &'a [F],
}

/// One output of a tree and where its rows go.
#[derive(Debug)]
pub struct Output<'a, F> {
    /// One weight per leaf.
    pub weights: &'a [F],
    /// One value per row.
    pub rows: &'a mut [Lane<F>],
}

/// The derivative of the loss by one output of a tree, row by row.
#[derive(Debug, Clone, Copy)]
pub struct Upstream<'a, F> {
    /// The output's leaf weights.
    pub weights: &'a [F],
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

/// The position of a row on one split's sigmoid, clamped to its sloped part.
#[inline(always)]
fn position<S: Simd>(s: S, value: S::V, threshold: S::V, steepness: S::V, two: S::V) -> S::V {
    let x = s.mul(s.sub(value, threshold), steepness);
    let minus_two = s.sub(s.sub(two, two), two);
    s.max(s.min(x, two), minus_two)
}

/// Products of `[H, 1-H]` over the splits, starting from `unit`.
#[inline(always)]
fn expand<S: Simd, const C: usize, const N: usize>(s: S, unit: S::V, h: &[S::V]) -> [S::V; N] {
    let mut e = [unit; N];
    let mut size = 1;
    for &hc in h.iter().take(C) {
        for i in 0..size {
            let left = s.mul(e[i], hc);
            e[i + size] = s.sub(e[i], left);
            e[i] = left;
        }
        size *= 2;
    }
    e
}

/// The reverse of [`expand`] from a unit of one: the derivatives by each H, given those by each product.
#[inline(always)]
fn contract<S: Simd, const C: usize, const N: usize>(
    s: S,
    one: S::V,
    h: &[S::V],
    mut r: [S::V; N],
    out: &mut [S::V],
) {
    let mut size = N / 2;
    for c in (0..C).rev() {
        let prefix = prefix_products::<S, N>(s, one, h, c);
        let mut sum = s.sub(one, one);
        for i in 0..size {
            let difference = s.sub(r[i], r[i + size]);
            sum = s.fma(prefix[i], difference, sum);
            r[i] = s.fma(h[c], difference, r[i + size]);
        }
        out[c] = sum;
        size /= 2;
    }
}

#[inline(always)]
fn prefix_products<S: Simd, const N: usize>(s: S, one: S::V, h: &[S::V], splits: usize) -> [S::V; N] {
    let mut e = [one; N];
    let mut size = 1;
    for &hc in h.iter().take(splits) {
        for i in 0..size {
            let left = s.mul(e[i], hc);
            e[i + size] = s.sub(e[i], left);
            e[i] = left;
        }
        size *= 2;
    }
    e
}

/// Adds each row's leaf weights times its `row_weight` to `sums` (where wanted) and writes the outputs.
#[inline(always)]
pub fn forward<
    S: Simd,
    const SUMS: bool,
    const CP: usize,
    const CQ: usize,
    const NP: usize,
    const NQ: usize,
>(
    s: S,
    splits: &Splits<S::F>,
    row_weights: &[Lane<S::F>],
    sums: &mut [S::F],
    outputs: &mut [Output<S::F>],
) {
    let f = <S::F as super::Real>::from_f64;
    let (half, eighth, one, two, eight) =
        (s.splat(f(0.5)), s.splat(f(0.125)), s.splat(f(1.0)), s.splat(f(2.0)), s.splat(f(8.0)));
    let mut accumulators = [[s.splat(f(0.0)); NP]; NQ];
    let n = row_weights.len();
    let values = [&splits.values[0][..n], &splits.values[1][..n]];
    let thresholds = &splits.thresholds[..CP + CQ];
    let steepness = &splits.steepness[..CP + CQ];
    for r in 0..n {
        let v = [s.load(&values[0][r]), s.load(&values[1][r])];
        let mut h = [half; 8];
        for c in 0..CP + CQ {
            let x = position(s, v[c & 1], s.splat(thresholds[c]), s.splat(steepness[c]), two);
            let root = s.sqrt(s.fnma(x, x, eight));
            h[c] = s.fma(s.mul(x, eighth), root, half);
        }
        let p = expand::<S, CP, NP>(s, s.load(&row_weights[r]), &h[..CP]);
        let q = expand::<S, CQ, NQ>(s, one, &h[CP..CP + CQ]);
        if SUMS {
            for j in 0..NQ {
                for i in 0..NP {
                    accumulators[j][i] = s.fma(p[i], q[j], accumulators[j][i]);
                }
            }
        }
        for output in outputs.iter_mut() {
            let w = &output.weights[..NP * NQ];
            let mut total = s.splat(f(0.0));
            for j in 0..NQ {
                let mut inner = s.mul(p[0], s.splat(w[j * NP]));
                for i in 1..NP {
                    inner = s.fma(p[i], s.splat(w[j * NP + i]), inner);
                }
                total = s.fma(q[j], inner, total);
            }
            s.store(total, &mut output.rows[r]);
        }
    }
    if SUMS {
        for j in 0..NQ {
            for i in 0..NP {
                sums[j * NP + i] += s.sum(accumulators[j][i]);
            }
        }
    }
}

/// Derivatives through the splits. `gains` are the derivatives of the loss by each leaf's sum (empty: none);
/// `upstream` those by the tree's outputs. Rows of weight 0 count for nothing.
#[inline(always)]
pub fn backward<S: Simd, const CP: usize, const CQ: usize, const NP: usize, const NQ: usize>(
    s: S,
    splits: &Splits<S::F>,
    row_weights: &[Lane<S::F>],
    gains: &[S::F],
    upstream: &[Upstream<S::F>],
    gradients: &mut Gradients<S::F>,
) {
    let f = <S::F as super::Real>::from_f64;
    let (zero, half, eighth, quarter) =
        (s.splat(f(0.0)), s.splat(f(0.5)), s.splat(f(0.125)), s.splat(f(0.25)));
    let (one, two, four, eight) = (s.splat(f(1.0)), s.splat(f(2.0)), s.splat(f(4.0)), s.splat(f(8.0)));
    let n = row_weights.len();
    let values = [&splits.values[0][..n], &splits.values[1][..n]];
    let both = &mut gradients.both[..n];
    let thresholds = &splits.thresholds[..CP + CQ];
    let steepness = &splits.steepness[..CP + CQ];
    let mut by_position = [zero; 8];
    let mut by_slope = [zero; 8];
    for r in 0..n {
        let v = [s.load(&values[0][r]), s.load(&values[1][r])];
        let (mut x, mut h, mut derivative) = ([zero; 8], [half; 8], [zero; 8]);
        for c in 0..CP + CQ {
            x[c] = position(s, v[c & 1], s.splat(thresholds[c]), s.splat(steepness[c]), two);
            let root = s.sqrt(s.fnma(x[c], x[c], eight));
            h[c] = s.fma(s.mul(x[c], eighth), root, half);
            derivative[c] = s.div(s.mul(quarter, s.fnma(x[c], x[c], four)), root);
        }
        let p = expand::<S, CP, NP>(s, one, &h[..CP]);
        let q = expand::<S, CQ, NQ>(s, one, &h[CP..CP + CQ]);
        let mut rp = [zero; NP];
        let mut rq = [zero; NQ];
        let mut scale = s.load(&row_weights[r]);
        match (gains.is_empty(), upstream) {
            (false, []) => weigh(s, &gains[..NP * NQ], &p, &q, &mut rp, &mut rq),
            (true, [up]) => {
                weigh(s, &up.weights[..NP * NQ], &p, &q, &mut rp, &mut rq);
                scale = s.mul(scale, s.load(&up.rows[r]));
            }
            (no_gains, ups) => {
                let mut leaf = [[zero; NP]; NQ];
                if !no_gains {
                    for j in 0..NQ {
                        for i in 0..NP {
                            leaf[j][i] = s.splat(gains[j * NP + i]);
                        }
                    }
                }
                for up in ups {
                    let (d, weights) = (s.load(&up.rows[r]), &up.weights[..NP * NQ]);
                    for j in 0..NQ {
                        for i in 0..NP {
                            leaf[j][i] = s.fma(d, s.splat(weights[j * NP + i]), leaf[j][i]);
                        }
                    }
                }
                for j in 0..NQ {
                    for i in 0..NP {
                        rp[i] = s.fma(leaf[j][i], q[j], rp[i]);
                        rq[j] = s.fma(leaf[j][i], p[i], rq[j]);
                    }
                }
            }
        }
        let mut by_h = [zero; 8];
        contract::<S, CP, NP>(s, one, &h[..CP], rp, &mut by_h[..CP]);
        contract::<S, CQ, NQ>(s, one, &h[CP..CP + CQ], rq, &mut by_h[CP..CP + CQ]);
        let mut by_value = [zero; 2];
        for c in 0..CP + CQ {
            let by_x = s.mul(s.mul(by_h[c], derivative[c]), scale);
            by_position[c] = s.add(by_position[c], by_x);
            by_slope[c] = s.fma(by_x, x[c], by_slope[c]);
            by_value[c & 1] = s.fma(by_x, s.splat(steepness[c]), by_value[c & 1]);
        }
        s.store(s.add(by_value[0], by_value[1]), &mut both[r]);
        if let Some([first, second]) = &mut gradients.values {
            s.store(by_value[0], &mut first[r]);
            s.store(by_value[1], &mut second[r]);
        }
    }
    for c in 0..CP + CQ {
        gradients.thresholds[c] += -(s.sum(by_position[c]) * steepness[c]);
        gradients.log_slopes[c] += -s.sum(by_slope[c]);
    }
}

/// `rp[i] += Σ_j w[i + j·NP]·q[j]` and `rq[j] += Σ_i w[i + j·NP]·p[i]`.
#[inline(always)]
fn weigh<S: Simd, const NP: usize, const NQ: usize>(
    s: S,
    weights: &[S::F],
    p: &[S::V; NP],
    q: &[S::V; NQ],
    rp: &mut [S::V; NP],
    rq: &mut [S::V; NQ],
) {
    for j in 0..NQ {
        for i in 0..NP {
            let weight = s.splat(weights[j * NP + i]);
            rp[i] = s.fma(weight, q[j], rp[i]);
            rq[j] = s.fma(weight, p[i], rq[j]);
        }
    }
}
