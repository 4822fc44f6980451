//! Random numbers that are the same everywhere.

use crate::data::mix;

/// A stream of random numbers.
#[derive(Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: mix(seed) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.state)
    }

    /// A number from 0 up to 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A whole number below the limit.
    pub fn below(&mut self, limit: usize) -> usize {
        ((self.share() * limit as f64) as usize).min(limit.saturating_sub(1))
    }

    /// A number of the standard normal law.
    pub fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.share(), self.share());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    /// One of the items, each as often as its weight says.
    pub fn weighted<'a, T>(&mut self, items: &'a [T], weight: impl Fn(&T) -> u32) -> &'a T {
        let total: u32 = items.iter().map(&weight).sum();
        let mut place = self.below(total as usize) as u32;
        for item in items {
            if place < weight(item) {
                return item;
            }
            place -= weight(item);
        }
        &items[items.len() - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_numbers_and_normal_ones_are_normal() {
        let numbers = |seed| {
            let mut random = Random::new(seed);
            (0..20_000).map(|_| random.normal()).collect::<Vec<_>>()
        };
        let first = numbers(1);
        assert_eq!(first, numbers(1));
        assert_ne!(first, numbers(2));
        let mean = first.iter().sum::<f64>() / 2e4;
        let square = first.iter().map(|value| value * value).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.05, "{mean} {square}");
    }

    #[test]
    fn items_come_by_their_weights() {
        let mut random = Random::new(3);
        let counts = (0..10_000).filter(|_| random.weighted(&[("a", 1), ("b", 3)], |item| item.1).0 == "b");
        let share = counts.count() as f64 / 1e4;
        assert!((share - 0.75).abs() < 0.02, "{share}");
    }
}
