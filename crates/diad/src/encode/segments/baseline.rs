//! What is usual in each segment for one column, as far as the table tells it: empirical Bayes.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::encode::column::Asinh;

/// A number so many standard deviations from the others of its segment does not say what is usual there.
const FAR: f64 = 4.0;
/// Beyond so many standard deviations, a distance counts by its logarithm: one segment whose numbers hardly vary must not
/// stretch the scale on which all others are seen.
const PLAIN: f64 = 8.0;
/// The largest number that a number becomes, of which the square roots of sums of squares are numbers too.
const LARGEST: f64 = 1e150;
/// The bounds of how many rows what is known of all segments is worth.
const WORTH: RangeInclusive<f64> = 1e-6..=1e9;
/// The least deviation within segments, as a share of that of the whole column: the same number again and again is no proof that it
/// will never change.
const LEAST_DEVIATION: f64 = 1e-3;

/// What is usual in each segment for one of the encoder's columns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Which column.
    pub column: u32,
    pub scale: Asinh,
    /// The middle of all segments, the variance within a segment, and how many rows each is worth.
    pub middle: f64,
    pub variance: f64,
    pub middle_rows: f64,
    pub variance_rows: f64,
    /// The rows of each segment that have a number, and the mean and the variance of their places.
    pub rows: Vec<u32>,
    pub segments: Vec<[f32; 2]>,
    /// Whether some number is frequent, so that it must become the same one in the training and afterwards.
    #[serde(skip)]
    pub is_stepped: bool,
}

/// What is known of a segment: how many rows have a number, and the mean and the variance of their places.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    rows: f64,
    mean: f64,
    variance: f64,
}

impl Known {
    /// Of a segment that the training did not have.
    pub const NOTHING: Self = Self { rows: 0.0, mean: 0.0, variance: 0.0 };
}

impl Baseline {
    /// Whether it is such as a fit makes of so many segments.
    pub fn is_valid(&self, segments: usize) -> bool {
        let sane = |number: f64| number.is_finite() && number.abs() <= 1e12;
        self.segments.len() == segments
            && self.rows.len() == segments
            && self.scale.median.is_finite()
            && self.scale.spread.is_normal()
            && self.scale.spread > 0.0
            && sane(self.middle)
            && sane(self.variance)
            && self.variance.is_normal()
            && self.variance > 0.0
            && WORTH.contains(&self.middle_rows)
            && WORTH.contains(&self.variance_rows)
            && self.segments.iter().flatten().all(|&number| sane(f64::from(number)))
            && self.segments.iter().all(|&[_, variance]| variance >= 0.0)
    }

    /// What is known of a segment.
    pub fn of(&self, segment: usize) -> Known {
        let [mean, variance] = self.segments[segment].map(f64::from);
        Known { rows: f64::from(self.rows[segment]), mean, variance }
    }

    /// What would be known of a segment without one of its rows.
    pub fn without(&self, segment: usize, value: f64) -> Known {
        let Known { rows, mean, variance } = self.of(segment);
        let (place, left) = (self.scale.apply(value), rows - 1.0);
        if left < 1.0 {
            return Known::NOTHING;
        }
        let squares = rows * variance - (place - mean) * (place - mean) * rows / left;
        Known { rows: left, mean: (rows * mean - place) / left, variance: (squares / left).max(0.0) }
    }

    /// Whether a number of a segment is so far from the others that it does not say what is usual.
    pub fn is_far(&self, value: f64, segment: usize) -> bool {
        self.distance(value, self.without(segment, value)).abs() > FAR
    }

    /// A value of a segment as the value that is as rare among all segments.
    pub fn relative(&self, value: f64, known: Known) -> f64 {
        let distance = self.distance(value, known);
        let off = match distance.abs() {
            far if far > PLAIN => (PLAIN + libm::log1p(far - PLAIN)).copysign(distance),
            _ => distance,
        };
        let place = self.middle + off * self.variance.sqrt();
        let farthest = libm::log(LARGEST) - libm::log(self.scale.spread).max(0.0);
        let number = self.scale.median + self.scale.spread * libm::sinh(place.clamp(-farthest, farthest));
        number.clamp(-LARGEST, LARGEST)
    }

    /// How far a new value is from what is usual in its segment, in standard deviations of a normal distribution.
    fn distance(&self, value: f64, Known { rows, mean, variance }: Known) -> f64 {
        let trust = if rows > 0.0 { rows / (rows + self.middle_rows) } else { 0.0 };
        let middle = self.middle + trust * (mean - self.middle);
        let degrees = (rows - 1.0).max(0.0);
        let within = match self.variance_rows + degrees {
            all if all.is_finite() && all > 0.0 => {
                (self.variance_rows * self.variance + rows * variance) / all
            }
            _ => self.variance,
        };
        // A new row is off by its own deviation and by what is not known of the middle.
        let new = within.max(LEAST_DEVIATION * LEAST_DEVIATION * self.variance)
            * (1.0 + 1.0 / (rows + self.middle_rows));
        normal((self.scale.apply(value) - middle) / new.sqrt(), self.variance_rows + degrees)
    }

    /// What is usual in each of some segments, of which rows, mean and squared distances are known, and how far they differ.
    pub fn among(column: u32, scale: Asinh, segments: &[[f64; 3]]) -> Self {
        let rows: f64 = segments.iter().map(|[rows, ..]| rows).sum();
        let middle = segments.iter().map(|[rows, mean, _]| rows * mean).sum::<f64>() / rows.max(1.0);
        let all: f64 =
            segments.iter().map(|[rows, mean, squares]| squares + rows * (mean - middle).powi(2)).sum();
        let whole = all / (rows - 1.0).max(1.0);
        let several = || segments.iter().filter(|[rows, ..]| *rows >= 2.0);
        let degrees: f64 = several().map(|[rows, ..]| rows - 1.0).sum();
        let pooled = several().map(|[.., squares]| squares).sum::<f64>() / degrees.max(1.0);
        let least = (LEAST_DEVIATION * LEAST_DEVIATION * whole).max(f64::MIN_POSITIVE);
        let (variance, variance_rows) = variances(segments, pooled.max(least));
        // Between the means, beside what they differ by chance.
        let present: Vec<&[f64; 3]> = segments.iter().filter(|[rows, ..]| *rows > 0.0).collect();
        let count = present.len() as f64;
        let centre = present.iter().map(|[_, mean, _]| mean).sum::<f64>() / count.max(1.0);
        let spread =
            present.iter().map(|[_, mean, _]| (mean - centre).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let chance = present.iter().map(|[rows, ..]| pooled / rows).sum::<f64>() / count.max(1.0);
        let between = spread - chance;
        // Where the means do not differ beyond chance, no segment has one of its own.
        let middle_rows = if between > 0.0 { pooled / between } else { f64::INFINITY };
        let middle_rows = middle_rows.clamp(*WORTH.start(), *WORTH.end());
        let rows = segments.iter().map(|[rows, ..]| *rows as u32).collect();
        let segments = segments
            .iter()
            .map(
                |&[rows, mean, squares]| {
                    if rows > 0.0 { [mean as f32, (squares / rows) as f32] } else { [centre as f32, 0.0] }
                },
            )
            .collect();
        let is_stepped = false;
        Self {
            column,
            scale,
            middle: centre,
            variance,
            middle_rows,
            variance_rows,
            rows,
            segments,
            is_stepped,
        }
    }
}

/// The variance within a segment, and how many degrees of freedom it is worth beside those of a segment: the moments of the logarithms
/// of the segments' variances, as if these were drawn from a scaled inverse chi-squared distribution.
fn variances(segments: &[[f64; 3]], pooled: f64) -> (f64, f64) {
    let logs: Vec<[f64; 2]> = segments
        .iter()
        .filter(|[rows, ..]| *rows >= 3.0)
        .map(|&[rows, _, squares]| {
            let half = (rows - 1.0) / 2.0;
            let variance = (squares / (rows - 1.0)).max(1e-5 * pooled);
            [libm::log(variance) - digamma(half) + libm::log(half), trigamma(half)]
        })
        .collect();
    if logs.len() < 3 {
        return (pooled, *WORTH.end());
    }
    let count = logs.len() as f64;
    let mean = logs.iter().map(|[log, _]| log).sum::<f64>() / count;
    let spread = logs.iter().map(|[log, _]| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let excess = spread - logs.iter().map(|[_, chance]| chance).sum::<f64>() / count;
    if excess <= 0.0 {
        return (libm::exp(mean).max(1e-5 * pooled), *WORTH.end());
    }
    let half = trigamma_inverse(excess);
    (
        libm::exp(mean + digamma(half) - libm::log(half)).max(1e-5 * pooled),
        (2.0 * half).clamp(*WORTH.start(), *WORTH.end()),
    )
}

/// A number drawn from Student's distribution as one that is as rare in the normal distribution (Wallace 1959).
fn normal(t: f64, degrees: f64) -> f64 {
    if degrees >= 1e6 {
        return t;
    }
    let size = (degrees * libm::log1p(t * t / degrees)).sqrt();
    ((8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * size).copysign(t)
}

/// The derivative of the logarithm of the gamma function, of a number above 0.
fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + libm::log(x) - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
}

/// The derivative of that.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// Where [`trigamma`], which falls, has a value above 0.
fn trigamma_inverse(wanted: f64) -> f64 {
    let (mut low, mut high) = (1e-8f64, 1e9f64);
    for _ in 0..200 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > wanted { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_functions_are_those_of_tables() {
        // 99 % of Student's distribution with 5 and 30 degrees of freedom, and of the normal distribution.
        for (t, degrees) in [(3.364_93, 5.0), (2.457_26, 30.0)] {
            assert!((normal(t, degrees) - 2.326_35).abs() < 0.01, "{}", normal(t, degrees));
        }
        // Abramowitz and Stegun, tables 6.1 and 6.4: psi(1), psi(1.5), psi'(1), psi'(2.5).
        for (found, wanted) in [
            (digamma(1.0), -0.577_215_664_9),
            (digamma(1.5), 0.036_489_973_98),
            (trigamma(1.0), 1.644_934_066_8),
            (trigamma(2.5), 0.490_357_756_2),
        ] {
            assert!((found - wanted).abs() < 1e-9, "{found} {wanted}");
        }
        for x in [0.01, 0.7, 3.0, 250.0] {
            assert!((trigamma_inverse(trigamma(x)) / x - 1.0).abs() < 1e-6, "{x}");
        }
    }
}
