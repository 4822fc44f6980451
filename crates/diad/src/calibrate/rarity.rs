//! How rare a score is among ordinary rows, as it is written.

use super::Severity;
use crate::calibration::Calibration;

/// Sentences do not tell p-values below this one from each other.
const HARDLY: f64 = 1e-6;

/// How rare a score is among ordinary rows: rounded, so that it is the same number wherever it is written.
///
/// ```
/// use diad::calibrate::{Severity, Rarity};
///
/// let rarity = Rarity::of(0.004_321_98);
/// assert_eq!((rarity.p_value, rarity.percentile), (0.004_322, 99.5678));
/// assert_eq!(rarity.severity, Severity::Rare);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Rarity {
    /// The share of ordinary rows that score as high, with four significant digits.
    pub p_value: f64,
    /// The share of ordinary rows that score lower, in %, with as many places as tell it from 100.
    pub percentile: f64,
    /// How severe that is.
    pub severity: Severity,
}

impl Rarity {
    /// That of a score with such a p-value.
    pub fn of(p: f64) -> Self {
        let p_value: f64 = format!("{p:.3e}").parse().unwrap_or(p);
        let percentile = 100.0 * (1.0 - p_value);
        let places = (2.0 - p_value.log10()).ceil().clamp(2.0, 12.0) as usize;
        Self {
            p_value,
            percentile: format!("{percentile:.places$}").parse().unwrap_or(percentile),
            severity: Severity::of(percentile),
        }
    }

    /// That of a score.
    pub fn of_score(calibration: &Calibration, score: f32) -> Self {
        Self::of(calibration.p_value(score).value)
    }

    /// In words: "rare, higher than 99.57 % of ordinary rows".
    ///
    /// ```
    /// use diad::calibrate::Rarity;
    ///
    /// assert_eq!(Rarity::of(0.0043).sentence(), "rare, higher than 99.57 % of ordinary rows");
    /// ```
    pub fn sentence(&self) -> String {
        if self.p_value < HARDLY {
            return format!("{}, higher than more than 99.9999 % of ordinary rows", self.severity);
        }
        // Two digits of the rest: 99.57 %, as 0.43 % of ordinary rows score as high.
        let places = (1.0 - (100.0 * self.p_value).log10()).ceil().max(0.0) as usize;
        let share = 100.0 * (1.0 - self.p_value);
        format!("{}, higher than {share:.places$} % of ordinary rows", self.severity)
    }
}

/// How rare the scores of all ranks among a calibration are, worked out once.
#[derive(Debug, Clone)]
pub struct Rarities {
    calibration: Calibration,
    ranks: Vec<Rarity>,
}

impl Rarities {
    /// Those of a calibration.
    pub fn new(calibration: &Calibration) -> Self {
        let ranks = (0..calibration.scores().len()).map(|rank| Rarity::of(calibration.counted_at(rank)));
        Self { ranks: ranks.collect(), calibration: calibration.clone() }
    }

    /// How rare a score is.
    pub fn of(&self, score: f32) -> Rarity {
        let rank = self.calibration.rank(score);
        self.ranks.get(rank).copied().unwrap_or_else(|| Rarity::of_score(&self.calibration, score))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_as_rare_as_its_p_value_says() {
        let calibration = Calibration::new((0..500).map(|i| i as f32 / 7.0).collect(), true).unwrap();
        let rarities = Rarities::new(&calibration);
        for score in [-1.0, 0.0, 3.3, 50.0, 71.0, 71.3, 80.0, 1e4] {
            assert_eq!(rarities.of(score), Rarity::of(calibration.p_value(score).value), "{score}");
        }
    }

    #[test]
    fn sentences_have_as_many_digits_as_people_read() {
        let shares = [1.0, 0.5, 0.052, 0.002_062, 0.000_103, 1e-20, 2e-306].map(|p| Rarity::of(p).sentence());
        let least = "more than 99.9999 %";
        for (sentence, share) in
            shares.iter().zip(["0 %", "50 %", "94.8 %", "99.79 %", "99.990 %", least, least])
        {
            assert!(sentence.contains(&format!("higher than {share}")), "{sentence}");
        }
    }

    #[test]
    fn places_tell_a_percentile_from_one_hundred() {
        let percentiles = [1.0, 0.5, 0.05, 1.23456e-7].map(|p| Rarity::of(p).percentile.to_string());
        assert_eq!(percentiles, ["0", "50", "95", "99.99998765"]);
    }
}
