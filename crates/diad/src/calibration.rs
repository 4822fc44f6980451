//! How unusual a score is: its p-value among the scores of rows that the model did not see.
//!
//! A p-value is the share of ordinary rows that score as high, counted as conformal prediction counts: the row itself is one of
//! them. If new rows are like those of the calibration, no more than a share α of them has a p-value of α or less. Anomalies among
//! the rows of the calibration make p-values larger, never smaller.

/// Most scores that are kept.
pub const MOST_SCORES: usize = 10_000;
/// Fewest scores that a tail is fitted to, and the share of all scores that it is fitted to.
const LEAST_TAIL: usize = 10;
const TAIL_SHARE: f64 = 0.1;
/// The heaviest tail that is fitted: beyond it there would be no mean.
const HEAVIEST: f64 = 0.9;

/// The scores of rows like those of the training, and what follows from them for other scores.
///
/// ```
/// use diad::Calibration;
///
/// let calibration = Calibration::new((0..99).map(|score| score as f32).collect(), true).expect("some scores");
/// assert_eq!(calibration.p_value(49.5).value, 0.5);
/// assert_eq!(calibration.counted(1000.0), 0.01);
/// assert!(calibration.p_value(1000.0).is_fitted && calibration.p_value(1000.0).value < 0.01);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Ascending, at least one.
    scores: Vec<f32>,
    unseen: bool,
    tail: Option<Tail>,
}

/// The share of ordinary rows that score as high as a row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PValue {
    /// The share.
    pub value: f64,
    /// Whether the score lies beyond all of the calibration, so that the share comes from a tail fitted to the highest of them.
    pub is_fitted: bool,
}

/// How scores go on beyond the highest: by a generalised Pareto law.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Tail {
    /// Where it starts: the highest score.
    start: f64,
    scale: f64,
    shape: f64,
}

impl Calibration {
    /// A calibration of these scores; nothing if there are none, or one is not a number. Of rows that the model did not see
    /// (`unseen`), or of the rows it was trained on, which score somewhat lower than new ones.
    pub fn new(mut scores: Vec<f32>, unseen: bool) -> Option<Self> {
        if scores.is_empty() || scores.iter().any(|score| !score.is_finite()) {
            return None;
        }
        scores.sort_unstable_by(f32::total_cmp);
        let tail = Tail::of(&scores);
        Some(Self { scores, unseen, tail })
    }

    /// A calibration of what is remembered of the scores of training rows.
    pub(crate) fn of_training(mut scores: Vec<f32>) -> Self {
        scores.retain(|score| score.is_finite());
        Self::new(scores, false).unwrap_or(Self { scores: vec![0.0], unseen: false, tail: None })
    }

    /// The scores, ascending.
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// Whether the scores are of rows that the model did not see.
    pub fn is_unseen(&self) -> bool {
        self.unseen
    }

    /// How many of the scores are lower: the rank of a score among them.
    pub fn rank(&self, score: f32) -> usize {
        self.scores.partition_point(|&known| known < score)
    }

    /// The p-value as it is counted: never less than 1 / (number of scores + 1). What is counted on is exact whatever the scores
    /// are like; false discovery rates need it.
    pub fn counted(&self, score: f32) -> f64 {
        self.counted_at(self.rank(score))
    }

    /// The counted p-value of the scores of a rank.
    pub fn counted_at(&self, rank: usize) -> f64 {
        (1 + self.scores.len() - rank) as f64 / (1 + self.scores.len()) as f64
    }

    /// The p-value: as it is counted, and beyond the highest score by a fitted tail, which never ends: it is above 0.
    pub fn p_value(&self, score: f32) -> PValue {
        let rank = self.rank(score);
        match self.tail.filter(|_| rank == self.scores.len()) {
            Some(tail) => {
                let value = (self.counted_at(rank) * tail.beyond(f64::from(score))).max(f64::MIN_POSITIVE);
                PValue { value, is_fitted: true }
            }
            None => PValue { value: self.counted_at(rank), is_fitted: false },
        }
    }

    /// The share of ordinary rows, in %, that score lower: 100 less the p-value.
    pub fn percentile(&self, score: f32) -> f64 {
        100.0 * (1.0 - self.p_value(score).value)
    }

    /// The score from which on p-values are no larger than `p`: alerts are scores above or at it.
    pub fn score_at(&self, p: f64) -> f32 {
        let all = self.scores.len();
        let mut rank = ((1.0 - p).clamp(0.0, 1.0) * (all + 1) as f64) as usize;
        while rank <= all && self.counted_at(rank) > p {
            rank += 1;
        }
        // A score above so many of them, and no higher, has that rank.
        match (rank.checked_sub(1), self.tail) {
            (None, _) => f32::NEG_INFINITY,
            (Some(last), _) if rank <= all => self.scores[last].next_up(),
            (_, Some(tail)) => tail.at(p / self.counted_at(all)) as f32,
            (_, None) => f32::INFINITY,
        }
    }
}

impl Tail {
    /// Fits a tail to the highest scores, by probability-weighted moments (Hosking and Wallis 1987). It never ends: a shape below 0
    /// counts as 0.
    fn of(sorted: &[f32]) -> Option<Self> {
        let count = ((TAIL_SHARE * sorted.len() as f64).ceil() as usize).max(LEAST_TAIL);
        let below = sorted.len().checked_sub(count + 1)?;
        let origin = f64::from(sorted[below]);
        let excesses: Vec<f64> = sorted[below + 1..].iter().map(|&score| f64::from(score) - origin).collect();
        let n = count as f64;
        let mean = excesses.iter().sum::<f64>() / n;
        let weighted = |(place, excess): (usize, &f64)| (1.0 - (place as f64 + 0.65) / n) * excess;
        let second = excesses.iter().enumerate().map(weighted).sum::<f64>() / n;
        if mean <= 0.0 {
            return None;
        }
        let shape = (2.0 - mean / (mean - 2.0 * second).max(1e-12 * mean)).clamp(0.0, HEAVIEST);
        let start = f64::from(sorted[sorted.len() - 1]);
        let scale = mean * (1.0 - shape) + shape * (start - origin);
        Some(Self { start, scale, shape })
    }

    /// The share of the scores beyond its start that are as high.
    fn beyond(&self, score: f64) -> f64 {
        let excess = (score - self.start).max(0.0) / self.scale;
        if self.shape < 1e-6 {
            libm::exp(-excess)
        } else {
            libm::pow(1.0 + self.shape * excess, -1.0 / self.shape)
        }
    }

    /// The score that a share of those beyond its start reach.
    fn at(&self, share: f64) -> f64 {
        let excess = if self.shape < 1e-6 {
            -libm::log(share)
        } else {
            (libm::pow(share, -self.shape) - 1.0) / self.shape
        };
        self.start + self.scale * excess
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn exponential(count: usize, seed: u64) -> Vec<f32> {
        let mut random = Stream::new(seed, Purpose::Shuffle, 0);
        (0..count).map(|_| -libm::log(1.0 - random.unit()) as f32).collect()
    }

    #[test]
    fn p_values_are_counted_with_the_row_itself() {
        let calibration = Calibration::new(vec![3.0, 1.0, 2.0], true).unwrap();
        let plain = |score: f32| (1 + [1.0, 2.0, 3.0].iter().filter(|&&s| s >= score).count()) as f64 / 4.0;
        for score in [0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5] {
            assert_eq!(calibration.counted(score), plain(score));
            assert_eq!(calibration.p_value(score), PValue { value: plain(score), is_fitted: false });
        }
        assert!(Calibration::new(vec![], true).is_none() && Calibration::new(vec![f32::NAN], true).is_none());
    }

    #[test]
    fn a_threshold_is_the_least_score_with_such_a_p_value() {
        let calibration = Calibration::new(exponential(500, 1), true).unwrap();
        for p in [1.0, 0.9, 0.2, 0.05, 0.01, 0.0021, 0.0019, 1e-4, 1e-6] {
            let score = calibration.score_at(p);
            assert!(calibration.p_value(score).value <= p * (1.0 + 1e-5), "{p}");
            if score.is_finite() {
                let lower = score - 1e-4 * score.abs();
                assert!(calibration.p_value(lower).value > p, "{p}: {score}");
            }
        }
        let small = Calibration::new(vec![1.0, 2.0], true).unwrap();
        assert_eq!(small.score_at(0.1), f32::INFINITY);
    }

    /// Beyond the highest of 2,000 scores, the fitted tail is about that of the law they came from.
    #[test]
    fn the_tail_goes_on_as_the_scores_do() {
        for (name, power) in [("exponential", 1.0), ("squared", 2.0)] {
            let law = |x: f64| libm::pow(x, power) / (power * power);
            let scores = exponential(2000, 2).into_iter().map(|x| law(f64::from(x)) as f32);
            let calibration = Calibration::new(scores.collect(), true).unwrap();
            for share in [1e-4, 1e-5] {
                let found = calibration.p_value(law(-libm::log(share)) as f32);
                assert!(found.is_fitted && (0.2..8.0).contains(&(found.value / share)), "{name} {found:?}");
            }
        }
    }

    #[test]
    fn p_values_fall_with_the_score() {
        let calibration = Calibration::new(exponential(300, 3), true).unwrap();
        let values: Vec<f64> = (0..2000).map(|i| calibration.p_value(i as f32 / 50.0).value).collect();
        assert!(values.windows(2).all(|two| two[0] >= two[1]) && values[1999] < 1e-3);
    }

    #[test]
    fn scores_that_are_all_the_same_have_no_tail() {
        let calibration = Calibration::new(vec![1.0; 200], true).unwrap();
        assert_eq!(calibration.p_value(2.0), PValue { value: 1.0 / 201.0, is_fitted: false });
        assert_eq!(calibration.counted(1.0), 1.0);
    }
}
