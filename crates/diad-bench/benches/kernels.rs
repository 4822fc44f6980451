//! Every inner loop by itself, on one thread, beside what the machine can do at most:
//!
//!     cargo bench -p diad-bench --bench kernels
//!
//! prints the times and writes `docs/benchmarks/kernels.md`.

#[cfg_attr(test, expect(unused_imports, reason = "its tests are run elsewhere"))]
#[path = "../src/guards/speed/peaks.rs"]
mod peaks;

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput};
use diad_kernel::{
    AsinhScale, AxisCells, CellFunctions, CellSpace, Columns, Entmax, Gradients, Isa, Kernels, LANES, Lane,
    Output, PairCells, SLOT, Splits, Terms, Upstream, entmax15_backward, walsh,
};

/// Rows of a block, and their lanes.
const ROWS: usize = 256;
const BLOCK: usize = ROWS / LANES;
/// Splits and leaves of a tree.
const DEPTH: usize = 4;
const LEAVES: usize = 1 << DEPTH;
/// Columns that are added up.
const COLUMNS: usize = 64;
/// Axes of a compiled score, cells of each, and all pairs of them with one slot each.
const AXES: usize = 10;
const CELLS: usize = 64;
const PAIRS: usize = AXES * (AXES - 1) / 2;

/// What one call does, counted from how the loop is written: a multiply-add, a root and a division count as 2, 1 and 1.
struct Kernel {
    name: &'static str,
    flops: usize,
    /// Bytes read and written, wherever they are.
    bytes: usize,
}

struct Bench {
    criterion: Criterion,
    done: Vec<Kernel>,
}

impl Bench {
    fn run(&mut self, name: &'static str, flops: usize, bytes: usize, mut call: impl FnMut()) {
        let mut group = self.criterion.benchmark_group("kernels");
        group.throughput(Throughput::Bytes(bytes as u64));
        group.bench_function(name, |bencher| bencher.iter(&mut call));
        group.finish();
        self.done.push(Kernel { name, flops, bytes });
    }
}

/// Numbers between -1 and 1 without any order.
fn numbers(count: usize, seed: u32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(12_345);
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn lanes(count: usize, seed: u32) -> Vec<Lane<f32>> {
    let numbers = numbers(count * LANES, seed);
    numbers.chunks_exact(LANES).map(|sixteen| Lane(std::array::from_fn(|i| sixteen[i]))).collect()
}

fn trees(bench: &mut Bench, kernels: &Kernels<f32>) {
    let values = [lanes(BLOCK, 1), lanes(BLOCK, 2)];
    let (added, weights) = (vec![Lane([0.0; LANES]); BLOCK], vec![Lane([1.0; LANES]); BLOCK]);
    let (thresholds, steepness) = (numbers(DEPTH, 3), vec![1.5; DEPTH]);
    let splits = Splits {
        values: [&values[0], &values[1]],
        added: &added,
        thresholds: &thresholds,
        steepness: &steepness,
    };
    let (coefficients, gains, upstream) = (numbers(LEAVES, 4), numbers(LEAVES, 5), lanes(BLOCK, 6));
    let column = ROWS * size_of::<f32>();
    // Per row: the position and root of each split, then all products, or the polynomial.
    let (positions, polynomial) = (8 * DEPTH, 2 * (LEAVES - 1));
    let mut moments = vec![0.0; LEAVES];
    bench.run("tree, sums of leaves", ROWS * (2 + positions + 2 * LEAVES), 4 * column, || {
        (kernels.tree_moments)(DEPTH, black_box(&splits), &weights, &mut moments, &mut []);
    });
    let (mut rows, mut total) = (lanes(BLOCK, 7), Vec::new());
    bench.run("tree, outputs", ROWS * (2 + positions + polynomial), 5 * column, || {
        let mut outputs = [Output { coefficients: &coefficients, rows: &mut rows, total: &mut total }];
        (kernels.tree_outputs)(DEPTH, black_box(&splits), &weights, &mut outputs);
    });
    let slopes = 2 * (LEAVES - 1) + 2 * (LEAVES - 1 - DEPTH) + LEAVES / 2 - DEPTH;
    let mut both = lanes(BLOCK, 8);
    let mut sums = [vec![0.0; DEPTH], vec![0.0; DEPTH]];
    bench.run("tree, derivatives", ROWS * (2 + DEPTH * (8 + 12) + slopes), 5 * column, || {
        let [by_thresholds, log_slopes] = &mut sums;
        let mut gradients =
            Gradients { both: &mut both, values: None, thresholds: by_thresholds, log_slopes };
        let upstream = [Upstream { coefficients: &coefficients, rows: &upstream }];
        (kernels.tree_backward)(DEPTH, black_box(&splits), &weights, &gains, &upstream, &mut gradients);
    });
}

fn columns(bench: &mut Bench, kernels: &Kernels<f32>) {
    let table = lanes(BLOCK * COLUMNS, 9);
    let columns = Columns { lanes: &table, stride: BLOCK };
    let indices: Vec<u32> = (0..COLUMNS as u32).map(|i| i * 7 % COLUMNS as u32).collect();
    let (weights, rows) = (numbers(COLUMNS, 10), lanes(BLOCK, 11));
    let (mut out, mut sums) = (lanes(BLOCK, 12), vec![0.0; COLUMNS]);
    let (flops, bytes) = (2 * COLUMNS * ROWS, (COLUMNS + 1) * ROWS * size_of::<f32>());
    bench.run("weighted sum of 64 columns", flops, bytes, || {
        (kernels.combine)(&mut out, &[], black_box(columns), &indices, &weights);
    });
    bench.run("products with 64 columns", flops, bytes, || {
        (kernels.dots)(&mut sums, &rows, black_box(columns), &indices);
    });
    let positive: Vec<Lane<f32>> = rows.iter().map(|lane| Lane(lane.0.map(|x| x + 1.5))).collect();
    let mut logarithms = positive.clone();
    bench.run("logarithms", 0, 2 * ROWS * size_of::<f32>(), || {
        logarithms.copy_from_slice(&positive);
        (kernels.shifted_ln)(black_box(&mut logarithms), 0.5);
    });
    let (scale, values) = (
        AsinhScale { spread: 2.0, median: 0.2, low: -3.0, range: 6.0, most: 4.0, gap: 0.0 },
        numbers(ROWS, 13).iter().map(|&x| f64::from(x) * 10.0).collect::<Vec<f64>>(),
    );
    let mut scaled = vec![0.0; ROWS];
    bench.run("scale of a column", 0, ROWS * (size_of::<f64>() + size_of::<f32>()), || {
        (kernels.scale_asinh)(black_box(&scale), &values, &mut scaled);
    });
}

fn selectors(bench: &mut Bench) {
    let logits = numbers(200, 14);
    let mut entmax = Entmax::default();
    bench.run("1.5-entmax of 200", 0, logits.len() * size_of::<f32>(), || {
        let mut sum = 0.0;
        entmax.support(black_box(&logits), |_, share| sum += share);
        black_box(sum);
    });
    let mut shares = vec![0.0; logits.len()];
    entmax.support(&logits, |index, share| shares[index as usize] = share);
    let mut gradient = numbers(200, 15);
    bench.run("its derivative", 0, 2 * logits.len() * size_of::<f32>(), || {
        entmax15_backward(black_box(&shares), &mut gradient);
    });
    let mut leaves = numbers(LEAVES, 16);
    bench.run("transform of 16 leaves", LEAVES * (DEPTH + 1), 2 * LEAVES * size_of::<f32>(), || {
        walsh(black_box(&mut leaves));
    });
}

fn tables(bench: &mut Bench, kernels: &Kernels<f32>) {
    let width = (SLOT + SLOT * (AXES - 1)).div_ceil(LANES);
    let axes: Vec<AxisCells<f32>> =
        (0..AXES as u32).map(|axis| AxisCells::new(lanes(3 * width * CELLS, 20 + axis), width)).collect();
    let mut next = [SLOT; AXES];
    let mut pairs = Vec::new();
    for a in 0..AXES {
        for b in a + 1..AXES {
            pairs.push(PairCells { axes: [a, b], places: [next[a], next[b]], slots: 1 });
            next[a] += SLOT;
            next[b] += SLOT;
        }
    }
    let cells = CellFunctions::new(axes, pairs);
    let place = |x: f32| ((x + 1.0) / 2.0 * CELLS as f32) as usize % CELLS;
    let random = numbers(AXES * ROWS, 40);
    let starts: Vec<u32> = random.iter().map(|&x| (place(x) * 3 * width) as u32).collect();
    let shares: Vec<f32> = numbers(AXES * ROWS, 41).iter().map(|x| x.abs()).collect();
    let (mut space, mut totals) = (CellSpace::default(), vec![0.0; ROWS]);
    let flops = ROWS * (AXES * width * LANES * 4 + PAIRS * SLOT * 2);
    let bytes = ROWS * (AXES * width * LANES * 4 + PAIRS * SLOT * 2) * size_of::<f32>();
    bench.run("looking up scores, 10 axes, 45 pairs", flops, bytes, || {
        (kernels.cell_sums)(&cells, black_box((&starts[..], &shares[..], ROWS)), &mut space, &mut totals);
    });
    let pieces: Vec<usize> = (0..AXES + PAIRS).collect();
    let terms = Terms::new(&cells, &pieces, vec![0.0; pieces.len()]);
    let mut out = vec![0.0; ROWS * pieces.len()];
    let more = ROWS * (PAIRS * (2 * SLOT - 1) + pieces.len());
    let written = ROWS * pieces.len() * size_of::<f64>();
    bench.run("the same with all terms", flops + more, bytes + written, || {
        let places = black_box((&starts[..], &shares[..], ROWS));
        (kernels.cell_parts)((&cells, &terms), places, &mut space, &mut totals, &mut out);
    });
}

/// The mean time of a kernel in seconds, as criterion has written it.
fn seconds(folder: &Path, name: &str) -> Option<f64> {
    // As criterion names folders.
    let safe: String = name.chars().map(|c| if "?\"/\\*<>:|^".contains(c) { '_' } else { c }).collect();
    let text = std::fs::read_to_string(folder.join("kernels").join(safe).join("new/estimates.json")).ok()?;
    let estimates: serde_json::Value = serde_json::from_str(&text).ok()?;
    Some(estimates["mean"]["point_estimate"].as_f64()? / 1e9)
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("target/criterion");
    let criterion = Criterion::default().output_directory(&folder).configure_from_args();
    let mut bench = Bench { criterion, done: Vec::new() };
    let kernels = Isa::detect().kernels_f32();
    trees(&mut bench, kernels);
    columns(&mut bench, kernels);
    selectors(&mut bench);
    tables(&mut bench, kernels);
    bench.criterion.final_summary();
    // `cargo test` only looks whether everything runs.
    if std::env::args().any(|argument| argument == "--test") || !std::env::args().any(|a| a == "--bench") {
        return;
    }
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread");
    let (most, near, far) =
        alone.install(|| (peaks::multiply_adds(), peaks::reads(peaks::NEAR), peaks::reads(peaks::FAR)));
    let mut text = format!(
        "# Inner loops\n\n\
         Each by itself on one thread with {:?} instructions, called again and again, so that what it reads is in the nearest cache that holds it. \
         Operations and bytes are counted from how the loops are written. Of the machine's limits in the same run: {most:.0} GFLOP/s \
         (multiply-adds in registers), {near:.0} GB/s (reads from a core's own cache, with which they are compared) and {far:.0} GB/s \
         (reads from memory).\n\n\
         `cargo bench -p diad-bench --bench kernels`\n\n\
         | loop | time, ns | GFLOP/s | of the limit | GB/s | of the limit |\n|---|---:|---:|---:|---:|---:|\n",
        Isa::detect()
    );
    for Kernel { name, flops, bytes } in &bench.done {
        let Some(seconds) = seconds(&folder, name) else { continue };
        let rate = |count: usize, limit: f64| match count {
            0 => "– | –".to_string(),
            _ => {
                let rate = count as f64 / seconds / 1e9;
                format!("{rate:.1} | {:.0} %", 100.0 * rate / limit)
            }
        };
        let (flops, bytes) = (rate(*flops, most), rate(*bytes, near));
        let _ = writeln!(text, "| {name} | {:.0} | {flops} | {bytes} |", seconds * 1e9);
    }
    print!("\n{text}");
    if let Err(error) = std::fs::write(root.join("docs/benchmarks/kernels.md"), text) {
        eprintln!("cannot write docs/benchmarks/kernels.md: {error}");
    }
}
