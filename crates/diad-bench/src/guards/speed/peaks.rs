//! What the machine can do at most.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;

/// Chains of multiply-adds side by side, enough to hide their latency.
const CHAINS: usize = 16;
const LANES: usize = 16;
const FACTOR: f32 = 0.999;
const SUMMAND: f32 = 0.0011;
/// Bytes read again and again: they fit a core's own cache…
pub const NEAR: usize = 512 << 10;
/// … or no cache at all.
pub const FAR: usize = 256 << 20;

/// Multiply-adds of all threads together, in GFLOP/s.
pub fn multiply_adds() -> f64 {
    const ROUNDS: usize = 20_000_000;
    let threads = rayon::current_num_threads();
    let start = Instant::now();
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
        black_box(chains(black_box(ROUNDS)));
    });
    (2 * CHAINS * LANES * ROUNDS * threads) as f64 / start.elapsed().as_secs_f64() / 1e9
}

/// Runs the chains with the widest vectors there are.
fn chains(rounds: usize) -> f32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_reduce_add_ps, _mm512_set1_ps,
        };
        #[target_feature(enable = "avx512f")]
        fn wide(rounds: usize) -> f32 {
            let (factor, summand) = (_mm512_set1_ps(black_box(FACTOR)), _mm512_set1_ps(black_box(SUMMAND)));
            let mut chains = [_mm512_set1_ps(1.0); CHAINS];
            for _ in 0..rounds {
                for chain in &mut chains {
                    *chain = _mm512_fmadd_ps(*chain, factor, summand);
                }
            }
            chains.iter().map(|&chain| _mm512_reduce_add_ps(chain)).sum()
        }
        #[target_feature(enable = "avx2,fma")]
        fn narrow(rounds: usize) -> f32 {
            let (factor, summand) = (_mm256_set1_ps(black_box(FACTOR)), _mm256_set1_ps(black_box(SUMMAND)));
            let mut chains = [[_mm256_set1_ps(1.0); 2]; CHAINS];
            for _ in 0..rounds {
                for chain in chains.as_flattened_mut() {
                    *chain = _mm256_fmadd_ps(*chain, factor, summand);
                }
            }
            let mut lanes = [[0.0f32; 8]; 2 * CHAINS];
            for (lanes, chain) in lanes.iter_mut().zip(chains.as_flattened()) {
                // SAFETY: both are eight 32-bit numbers.
                *lanes = unsafe { std::mem::transmute::<std::arch::x86_64::__m256, [f32; 8]>(*chain) };
            }
            lanes.iter().flatten().sum()
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the machine has the feature.
            return unsafe { wide(rounds) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the machine has both features.
            return unsafe { narrow(rounds) };
        }
    }
    plain(rounds)
}

/// The same with plain numbers.
fn plain(rounds: usize) -> f32 {
    let (factor, summand) = (black_box(FACTOR), black_box(SUMMAND));
    let mut chains = [[1.0_f32; LANES]; CHAINS];
    for _ in 0..rounds {
        for value in chains.as_flattened_mut() {
            *value = *value * factor + summand;
        }
    }
    chains.iter().flatten().sum()
}

/// Reads of all threads together from buffers of a size, in GB/s.
pub fn reads(size: usize) -> f64 {
    let threads = rayon::current_num_threads();
    let repeats = (1 << 30) / size;
    let buffers: Vec<Vec<u64>> = (0..threads).map(|_| vec![1; size / 8]).collect();
    let start = Instant::now();
    buffers.par_iter().with_max_len(1).for_each(|buffer| {
        for _ in 0..repeats {
            black_box(total(black_box(buffer)));
        }
    });
    (size * repeats * threads) as f64 / start.elapsed().as_secs_f64() / 1e9
}

/// Adds up a buffer, with the widest vectors there are so that the reading is what takes the time.
fn total(buffer: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn wide(buffer: &[u64]) -> u64 {
            buffer.iter().fold(0, |sum, &value| sum.wrapping_add(value))
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has the feature.
            return unsafe { wide(buffer) };
        }
    }
    buffer.iter().fold(0, |sum, &value| sum.wrapping_add(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_has_rates() {
        assert_eq!(total(&[1, 2, 3]), 6);
        assert!((plain(0) - (CHAINS * LANES) as f32).abs() < 1e-3);
        for rounds in [0, 1, 7] {
            assert!((chains(rounds) - plain(rounds)).abs() < 1e-2);
        }
    }
}
