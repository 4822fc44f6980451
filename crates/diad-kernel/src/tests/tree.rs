//! The kernels of a tree against dense loops over rows × leaves.

use proptest::prelude::*;

use super::super::{Gradients, Kernels, LANES, Lane, Output, Real, Splits, Upstream, walsh};
use super::{
    Check, close, entmoid, floats, fused_sets, golden, lanes, numbers, on_every_set, random, real, unlaned,
};

/// A tree, rows and everything that can flow back into it.
struct Case {
    depth: usize,
    values: [Vec<f64>; 2],
    thresholds: Vec<f64>,
    steepness: Vec<f64>,
    row_weights: Vec<f64>,
    gains: Vec<f64>,
    /// Leaf weights and row derivatives of each output.
    outputs: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Case {
    fn new(seed: u64, depth: usize, groups: usize, outputs: usize, gains: bool) -> Self {
        let mut random = random(seed);
        let (rows, leaves) = (groups * LANES, 1 << depth);
        let mut row_weights = vec![1.0; rows];
        row_weights[rows - 3..].fill(0.0);
        Self {
            depth,
            values: [numbers(&mut random, rows, 1.5), numbers(&mut random, rows, 1.5)],
            thresholds: numbers(&mut random, depth, 1.0),
            steepness: numbers(&mut random, depth, 1.0).iter().map(|s| 1.5 + s).collect(),
            row_weights,
            gains: if gains { numbers(&mut random, leaves, 1.0) } else { Vec::new() },
            outputs: (0..outputs)
                .map(|_| (numbers(&mut random, leaves, 1.0), numbers(&mut random, rows, 1.0)))
                .collect(),
        }
    }

    fn rows(&self) -> usize {
        self.row_weights.len()
    }

    /// H of every split for one row, each with its derivative.
    fn sides(&self, row: usize) -> Vec<(f64, f64)> {
        let place = |c: usize| (self.values[c % 2][row] - self.thresholds[c]) * self.steepness[c];
        (0..self.depth).map(|c| (entmoid(place(c)), entmoid_slope(place(c)))).collect()
    }
}

/// The derivative of entmoid, from that of any 1.5-entmax: with s the roots of the probabilities, s₁s₂/(s₁+s₂).
fn entmoid_slope(x: f64) -> f64 {
    let (a, b) = (entmoid(x).sqrt(), (1.0 - entmoid(x)).sqrt());
    a * b / (a + b)
}

/// The factor of split `c` in a leaf.
fn factor(h: f64, leaf: usize, c: usize) -> f64 {
    if leaf >> c & 1 == 0 { h } else { 1.0 - h }
}

/// Leaf weights as coefficients of the sets of splits, or moments as leaf sums, by the definition: in a leaf, a
/// set has the sign of the number of its splits that go right.
fn transformed(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let sign = |a: usize, b: usize| if (a & b).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
    (0..n).map(|a| (0..n).map(|b| sign(a, b) * values[b]).sum::<f64>() / n as f64).collect()
}

/// `[row][leaf]`.
fn leaf_weights(case: &Case) -> Vec<Vec<f64>> {
    let row = |r: usize| {
        let sides = case.sides(r);
        let leaf = |l: usize| (0..case.depth).map(|c| factor(sides[c].0, l, c)).product::<f64>();
        (0..1 << case.depth).map(leaf).collect()
    };
    (0..case.rows()).map(row).collect()
}

/// Derivatives by both values (row by row), thresholds and log slopes.
fn plain_backward(case: &Case) -> [Vec<f64>; 4] {
    let (rows, depth) = (case.rows(), case.depth);
    let mut out = [vec![0.0; rows], vec![0.0; rows], vec![0.0; depth], vec![0.0; depth]];
    for r in 0..rows {
        let sides = case.sides(r);
        for l in 0..1usize << depth {
            let mut by_leaf = case.gains.get(l).copied().unwrap_or(0.0);
            by_leaf += case.outputs.iter().map(|(weights, by_row)| weights[l] * by_row[r]).sum::<f64>();
            for c in 0..depth {
                let others: f64 = (0..depth).filter(|&o| o != c).map(|o| factor(sides[o].0, l, o)).product();
                let sign = if l >> c & 1 == 0 { 1.0 } else { -1.0 };
                let by_place = case.row_weights[r] * by_leaf * others * sign * sides[c].1;
                out[c % 2][r] += by_place * case.steepness[c];
                out[2][c] -= by_place * case.steepness[c];
                out[3][c] -= by_place * (case.values[c % 2][r] - case.thresholds[c]) * case.steepness[c];
            }
        }
    }
    out
}

/// A case in one scalar type, run through the kernels.
struct Run<F> {
    moments: Vec<F>,
    outputs: Vec<Vec<F>>,
    outputs_alone: Vec<Vec<F>>,
    /// By both values together, by each of them, by thresholds and by log slopes.
    gradients: [Vec<F>; 5],
}

impl<F: Real> Run<F> {
    fn leaf_sums(&self) -> Vec<f64> {
        transformed(&self.moments.iter().map(|m| m.to_f64() - START).collect::<Vec<_>>())
    }
}

/// What the sums hold before a kernel adds to them.
const START: f64 = 0.25;

fn run<F: Real>(case: &Case, kernels: &Kernels<F>) -> Run<F> {
    let (rows, leaves, groups) = (case.rows(), 1 << case.depth, case.rows() / LANES);
    // A part of both values comes from elsewhere.
    let less = |values: &[f64]| values.iter().map(|v| v - START).collect::<Vec<f64>>();
    let values = [lanes::<F>(&less(&case.values[0])), lanes(&less(&case.values[1]))];
    let added = vec![Lane([F::from_f64(START); LANES]); groups];
    // The kernels work with half the place on the sigmoid.
    let halves: Vec<f64> = case.steepness.iter().map(|s| s / 2.0).collect();
    let (thresholds, steepness) = (real::<F>(&case.thresholds), real(&halves));
    let row_weights = lanes::<F>(&case.row_weights);
    let values = [&values[0][..], &values[1][..]];
    let splits = Splits { values, added: &added, thresholds: &thresholds, steepness: &steepness };
    let weights: Vec<Vec<F>> = case.outputs.iter().map(|(weights, _)| real(&transformed(weights))).collect();
    let by_rows: Vec<Vec<Lane<F>>> = case.outputs.iter().map(|(_, by_row)| lanes(by_row)).collect();

    let mut moments = vec![F::from_f64(START); leaves];
    let mut with_sums = vec![vec![Lane::default(); groups]; weights.len()];
    let mut alone = with_sums.clone();
    let bind = |rows: &mut [Vec<Lane<F>>], run: &mut dyn FnMut(&mut [Output<F>])| {
        let mut totals = vec![added.clone(); weights.len()];
        let columns = weights.iter().zip(rows.iter_mut()).zip(&mut totals);
        let outputs = columns.map(|((coefficients, rows), total)| Output { coefficients, rows, total });
        run(&mut outputs.collect::<Vec<_>>());
        for (total, row) in totals.iter().flatten().zip(rows.iter().flatten()) {
            assert_eq!(total.0, row.0.map(|value| F::from_f64(START) + value));
        }
    };
    bind(&mut with_sums, &mut |o| (kernels.tree_moments)(case.depth, &splits, &row_weights, &mut moments, o));
    bind(&mut alone, &mut |o| (kernels.tree_outputs)(case.depth, &splits, &row_weights, o));

    let upstream: Vec<Upstream<F>> =
        weights.iter().zip(&by_rows).map(|(coefficients, rows)| Upstream { coefficients, rows }).collect();
    let (mut both, mut first, mut second) =
        (vec![Lane::default(); groups], vec![Lane::default(); groups], vec![Lane::default(); groups]);
    let mut by_thresholds = vec![F::from_f64(START); case.depth];
    let mut by_slopes = by_thresholds.clone();
    let mut gradients = Gradients {
        both: &mut both,
        values: Some([&mut first, &mut second]),
        thresholds: &mut by_thresholds,
        log_slopes: &mut by_slopes,
    };
    let gains = real::<F>(&transformed(&case.gains));
    (kernels.tree_backward)(case.depth, &splits, &row_weights, &gains, &upstream, &mut gradients);

    // Once more without the two values: the rest may not change.
    let (mut both2, mut thresholds2, mut slopes2) =
        (both.clone(), vec![F::from_f64(START); case.depth], vec![F::from_f64(START); case.depth]);
    let mut fewer =
        Gradients { both: &mut both2, values: None, thresholds: &mut thresholds2, log_slopes: &mut slopes2 };
    (kernels.tree_backward)(case.depth, &splits, &row_weights, &gains, &upstream, &mut fewer);
    assert_eq!((&both, &by_thresholds, &by_slopes), (&both2, &thresholds2, &slopes2));

    let columns = |columns: &[Vec<Lane<F>>]| columns.iter().map(|c| unlaned(c)).collect::<Vec<_>>();
    assert_eq!(unlaned(&both).len(), rows);
    Run {
        moments,
        outputs: columns(&with_sums),
        outputs_alone: columns(&alone),
        gradients: [unlaned(&both), unlaned(&first), unlaned(&second), by_thresholds, by_slopes],
    }
}

impl Check for Case {
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64) {
        let got = run::<F>(self, kernels);
        let name = format!("{name}, depth {}, {} rows", self.depth, self.rows());
        let e = leaf_weights(self);
        let weighted = |l: usize| (0..self.rows()).map(|r| self.row_weights[r] * e[r][l]).sum::<f64>();
        close(
            &format!("{name}: sums"),
            &got.leaf_sums(),
            &(0..1 << self.depth).map(weighted).collect::<Vec<_>>(),
            tolerance,
        );
        for (k, (weights, _)) in self.outputs.iter().enumerate() {
            let output = |r: usize| e[r].iter().zip(weights).map(|(e, w)| e * w).sum::<f64>();
            let want: Vec<f64> = (0..self.rows()).map(output).collect();
            close(&format!("{name}: output {k}"), &got.outputs[k], &want, tolerance);
            assert_eq!(got.outputs[k], got.outputs_alone[k], "{name}: output {k} with and without sums");
        }
        let [first, second, thresholds, slopes] = plain_backward(self);
        let both: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
        let added = |sums: Vec<f64>| sums.iter().map(|s| s + START).collect::<Vec<f64>>();
        let want = [both, first, second, added(thresholds), added(slopes)];
        for (part, (got, want)) in ["both", "first", "second", "thresholds", "log slopes"]
            .iter()
            .zip(got.gradients.iter().zip(&want))
        {
            close(&format!("{name}: by {part}"), got, want, tolerance);
        }
    }
}

/// Gains alone, one output alone, and both together take different paths through the backward kernel.
fn cases() -> impl Iterator<Item = Case> {
    let ways = [(0, true), (1, false), (2, false), (1, true), (3, true)];
    let sizes = (1..=6).flat_map(move |depth| [1, 4, 9].map(|groups| (depth, groups)));
    sizes.flat_map(move |(depth, groups)| {
        ways.into_iter().enumerate().map(move |(i, (outputs, gains))| {
            Case::new((depth * 100 + groups * 10 + i) as u64, depth, groups, outputs, gains)
        })
    })
}

#[test]
fn trees_agree_with_dense_loops() {
    for case in cases() {
        on_every_set(&case);
    }
}

#[test]
fn fast_transform_agrees_with_the_definition() {
    for depth in 0..=6 {
        let values = numbers(&mut random(depth as u64), 1 << depth, 1.0);
        let (mut double, mut single) = (values.clone(), real::<f32>(&values));
        walsh(&mut double);
        walsh(&mut single);
        close("f64", &double, &transformed(&values), 1e-15);
        close("f32", &single, &transformed(&values), 1e-6);
    }
}

#[test]
fn fused_sets_agree_to_the_last_bit() {
    let Some([avx2, avx512]) = fused_sets() else { return };
    let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for case in cases() {
        let (a, b) = (run::<f32>(&case, avx2), run::<f32>(&case, avx512));
        assert_eq!(bits(&a.moments), bits(&b.moments));
        for (a, b) in a.outputs.iter().chain(&a.gradients).zip(b.outputs.iter().chain(&b.gradients)) {
            assert_eq!(bits(a), bits(b));
        }
    }
}

/// entmoid15 as the kernels compute it: the first leaf of a tree of one split, and the second.
fn kernel_entmoid<F: Real>(kernels: &Kernels<F>, x: F) -> [f64; 2] {
    let (zero, one) = (F::default(), F::from_f64(1.0));
    let values = [Lane([x; LANES])];
    let mut weight = Lane([zero; LANES]);
    weight.0[5] = one;
    let mut moments = [zero; 2];
    let (added, steepness) = (&[Lane([zero; LANES])], &[F::from_f64(0.5)]);
    let splits = Splits { values: [&values, &values], added, thresholds: &[zero], steepness };
    (kernels.tree_moments)(1, &splits, &[weight], &mut moments, &mut []);
    walsh(&mut moments);
    moments.map(F::to_f64)
}

struct GoldenEntmoid;

impl Check for GoldenEntmoid {
    /// To 1e-11 at best: the reference program keeps a derivative of 1e-12 where there is none.
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64) {
        let [input, output, upstream, by_input] = golden("entmoid15").map(|values| floats(&values));
        let tolerance = tolerance.max(1e-11);
        for i in 0..input.len() {
            let x = F::from_f64(input[i]);
            let (values, one, zero) = ([Lane([x; LANES])], F::from_f64(1.0), F::default());
            close(&format!("{name}: entmoid15"), &kernel_entmoid(kernels, x)[..1], &output[i..=i], tolerance);
            let (added, steepness) = (&[Lane([zero; LANES])], &[F::from_f64(0.5)]);
            let splits = Splits { values: [&values, &values], added, thresholds: &[zero], steepness };
            let mut both = [Lane::default()];
            let (thresholds, log_slopes) = (&mut [zero], &mut [zero]);
            let mut gradients = Gradients { both: &mut both, values: None, thresholds, log_slopes };
            let mut gains = [F::from_f64(upstream[i]), zero];
            walsh(&mut gains);
            (kernels.tree_backward)(1, &splits, &[Lane([one; LANES])], &gains, &[], &mut gradients);
            close(&format!("{name}: derivative"), &both[0].0[..1], &by_input[i..=i], tolerance);
        }
    }
}

#[test]
fn golden_entmoid() {
    on_every_set(&GoldenEntmoid);
}

struct Sigmoid(f64, f64);

impl Check for Sigmoid {
    /// To 1.5e-7 in single precision, which is one rounding of a number near one.
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64) {
        let slack = if tolerance < 1e-9 { 1e-15 } else { 1.5e-7 };
        let (low, high) = (self.0.min(self.1), self.0.max(self.1));
        let [h, rest] = kernel_entmoid(kernels, F::from_f64(low));
        let [mirrored, _] = kernel_entmoid(kernels, F::from_f64(-low));
        let [next, _] = kernel_entmoid(kernels, F::from_f64(high));
        let exact = entmoid(F::from_f64(low).to_f64());
        assert!((h - exact).abs() <= 2.0 * slack, "{name}: entmoid({low}) = {h}, not {exact}");
        assert!(-slack <= h && h <= 1.0 + slack, "{name}: entmoid({low}) = {h}");
        assert!((h + rest - 1.0).abs() <= slack && (h + mirrored - 1.0).abs() <= slack, "{name} at {low}");
        assert!(h <= next + slack, "{name}: falls from {low} to {high}");
        if low <= -2.0 {
            assert_eq!([h, rest], [0.0, 1.0]);
        }
    }
}

struct WholeRows(Case);

impl Check for WholeRows {
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64) {
        let total: f64 = run::<F>(&self.0, kernels).leaf_sums().iter().sum();
        let rows: f64 = self.0.row_weights.iter().sum();
        assert!((total - rows).abs() <= tolerance * (1.0 + rows), "{name}: {total} of {rows} rows");
    }
}

proptest! {
    #[test]
    fn entmoid_is_a_sigmoid(a in -3.0f64..3.0, b in -3.0f64..3.0) {
        on_every_set(&Sigmoid(a, b));
    }

    #[test]
    fn leaf_sums_add_up_to_the_row_weights(seed: u64, depth in 1usize..=6, groups in 1usize..=5) {
        let mut case = Case::new(seed, depth, groups, 0, true);
        case.row_weights = numbers(&mut random(!seed), groups * LANES, 0.5).iter().map(|w| w + 0.5).collect();
        on_every_set(&WholeRows(case));
    }
}
