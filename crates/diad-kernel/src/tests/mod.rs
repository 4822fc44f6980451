//! Every kernel against a plain twin that shares no code with it, in double precision and, on every
//! instruction set of the machine, in single precision; and the laws of the two activations.

mod activations;
mod columns;
mod entmoid;
mod tree;

use serde_json::Value;

use self::entmoid::entmoid;
use super::{Isa, Kernels, LANES, Lane, Real, Vectorized};

/// What a check does with one scalar type: its kernels, their name, and the largest error allowed, relative to
/// the largest value expected.
trait Check {
    fn run<F: Real>(&self, kernels: &Kernels<F>, name: &str, tolerance: f64);
}

/// Runs a check in double precision to 1e-12 and in single precision to 4e-6 on every set.
fn on_every_set(check: &impl Check) {
    check.run::<f64>(f64::kernels(Isa::Portable), "f64", 1e-12);
    for &isa in Isa::available() {
        check.run::<f32>(f32::kernels(isa), &format!("{isa:?}"), 4e-6);
    }
}

/// Both sets with fused multiply-add, where the machine has both; they must agree to the last bit.
fn fused_sets() -> Option<[&'static Kernels<f32>; 2]> {
    let both = [Isa::Avx2, Isa::Avx512];
    both.iter().all(|isa| Isa::available().contains(isa)).then(|| both.map(Isa::kernels_f32))
}

/// SplitMix64: numbers that are the same on every machine.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in 0..items.len() {
            let j = i + self.below(items.len() - i);
            items.swap(i, j);
        }
    }
}

fn random(seed: u64) -> Stream {
    Stream(seed)
}

/// Numbers within ±`reach` that both scalar types hold exactly.
fn numbers(random: &mut Stream, count: usize, reach: f64) -> Vec<f64> {
    (0..count).map(|_| f64::from(((random.unit() * 2.0 - 1.0) * reach) as f32)).collect()
}

fn real<F: Real>(values: &[f64]) -> Vec<F> {
    values.iter().map(|&x| F::from_f64(x)).collect()
}

/// Whole lanes of values.
fn lanes<F: Real>(values: &[f64]) -> Vec<Lane<F>> {
    values.chunks(LANES).map(|part| Lane(std::array::from_fn(|i| F::from_f64(part[i])))).collect()
}

fn unlaned<F: Real>(lanes: &[Lane<F>]) -> Vec<F> {
    lanes.iter().flat_map(|lane| lane.0).collect()
}

fn close<F: Real>(what: &str, got: &[F], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}: length");
    let scale = want.iter().fold(1.0f64, |a, b| a.max(b.abs()));
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let error = (g.to_f64() - w).abs();
        assert!(error <= tolerance * scale, "{what}[{i}]: got {g:?}, want {w}, error {error:e}");
    }
}

/// Inputs, outputs, derivatives by the outputs and by the inputs of an activation in `fixtures/golden`.
fn golden(activation: &str) -> [Value; 4] {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/golden/activations.json");
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    ["input", "output", "upstream", "grad_input"].map(|part| file[activation][part].clone())
}

fn floats(values: &Value) -> Vec<f64> {
    values.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}
