//! Portable random numbers: xoshiro256++ streams, one for each purpose and index, seeded by SplitMix64
//! from the fit's seed. The same seed gives the same numbers on every machine.

use std::collections::HashMap;

use rand_core::Rng as _;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// What a stream of random numbers is for; streams of different purposes are independent.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    /// Feature subsets, logits, keys, queries of a layer.
    Parameters = 1,
    /// The quantiles at which thresholds start.
    Thresholds = 2,
    /// The order in which rows are drawn.
    Shuffle = 3,
    /// Uniform points.
    Uniform = 4,
    /// Trees left out of a step's loss.
    Dropout = 5,
    /// Rows from which the scales of the columns are found.
    Sample = 6,
    /// Rows from which the tables are made.
    TableRows = 7,
    /// Columns of very wide tables of which pairs are looked for.
    Pairs = 8,
    /// Labelled rows of a step.
    Tuning = 9,
    /// Validation rows that choose what a tuned score consists of.
    Bootstrap = 10,
    /// Steps of curves learned from labels.
    BoostedSteps = 11,
    /// Rows that are cut apart in planes of two columns, and how.
    Isolation = 12,
    /// Rows that are held out to calibrate scores.
    Calibration = 14,
}

/// One stream of random numbers.
#[derive(Debug, Clone)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of a seed for a purpose and an index, such as a step.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mixed = splitmix(splitmix(seed ^ splitmix(purpose as u64)) ^ index);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// Uniform on [0, 1) in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Two numbers uniform on [-1, 1) in steps of 2⁻²³.
    pub fn signed_pair(&mut self) -> [f32; 2] {
        let bits = self.0.next_u64();
        let scale = 1.0 / (1 << 23) as f32;
        [(bits >> 40) as f32 * scale - 1.0, ((bits >> 8) & 0xff_ffff) as f32 * scale - 1.0]
    }

    /// Uniform on 0..bound, without bias to speak of (bound ≪ 2⁶⁴).
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.0.next_u64()) * bound as u128) >> 64) as usize
    }

    /// A standard normal number (Box-Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        radius * libm::cos(std::f64::consts::TAU * self.unit())
    }

    /// Moves a uniformly random sample of `count` items to the front (partial Fisher-Yates).
    pub fn shuffle_front<T>(&mut self, items: &mut [T], count: usize) {
        for i in 0..count.min(items.len()) {
            let j = i + self.below(items.len() - i);
            items.swap(i, j);
        }
    }

    /// A uniformly random sample of `count` of the numbers below `all`: those that [`Stream::shuffle_front`] moves to the front of all
    /// of them, in that order, without a list of all of them.
    pub fn draw(&mut self, all: usize, count: usize) -> Vec<usize> {
        // What has been moved to a place, where that is not its own number.
        let mut moved: HashMap<usize, usize> = HashMap::new();
        let mut drawn = |i: usize| {
            let j = i + self.below(all - i);
            let left = moved.remove(&i).unwrap_or(i);
            if i == j { left } else { moved.insert(j, left).unwrap_or(j) }
        };
        (0..count.min(all)).map(&mut drawn).collect()
    }
}

fn splitmix(x: u64) -> u64 {
    let mut z = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
