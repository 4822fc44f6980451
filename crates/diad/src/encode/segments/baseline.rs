//! What is usual in each segment for one column, as far as the table tells it: empirical Bayes.

use serde::{Deserialize, Serialize};

use crate::encode::column::Asinh;

/// Most distance from the median, on the asinh scale: what lies further has no size that is a number.
const FARTHEST: f64 = 700.0;
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
}

impl Baseline {
    /// A value among a segment of so many rows as the same value among all segments.
    pub fn relative(&self, value: f64, (rows, [mean, variance]): (f64, [f64; 2])) -> f64 {
        let trust = if rows > 0.0 { rows / (rows + self.middle_rows) } else { 0.0 };
        let middle = self.middle + trust * (mean - self.middle);
        let degrees = (rows - 1.0).max(0.0);
        let squares = if rows > 0.0 { rows * variance } else { 0.0 };
        let within = match self.variance_rows + degrees {
            all if all.is_finite() && all > 0.0 => (self.variance_rows * self.variance + squares) / all,
            _ => self.variance,
        };
        // A new row is off by its own deviation and by what is not known of the middle.
        let new = within.max(LEAST_DEVIATION * LEAST_DEVIATION * self.variance)
            * (1.0 + 1.0 / (rows + self.middle_rows));
        let off = normal((self.scale.apply(value) - middle) / new.sqrt(), self.variance_rows + degrees);
        let place = self.middle + off * self.variance.sqrt();
        self.scale.median + self.scale.spread * libm::sinh(place.clamp(-FARTHEST, FARTHEST))
    }

    /// What a segment has without one of its rows.
    pub fn without(rows: f64, [mean, variance]: [f64; 2], place: f64) -> (f64, [f64; 2]) {
        let left = rows - 1.0;
        if left < 1.0 {
            return (0.0, [0.0; 2]);
        }
        let squares = rows * variance - (place - mean) * (place - mean) * rows / left;
        (left, [(rows * mean - place) / left, (squares / left).max(0.0)])
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
        let middle_rows = if between > 0.0 { (pooled / between).clamp(1e-6, 1e9) } else { 1e9 };
        let rows = segments.iter().map(|[rows, ..]| *rows as u32).collect();
        let segments = segments
            .iter()
            .map(
                |&[rows, mean, squares]| {
                    if rows > 0.0 { [mean as f32, (squares / rows) as f32] } else { [centre as f32, 0.0] }
                },
            )
            .collect();
        Self { column, scale, middle: centre, variance, middle_rows, variance_rows, rows, segments }
    }
}

/// The variance within a segment, and how many degrees of freedom it is worth beside those of a segment: the moments of the logarithms
/// of the segments' variances, as if these were drawn from a scaled inverse chi-squared distribution.
fn variances(segments: &[[f64; 3]], pooled: f64) -> (f64, f64) {
    const MOST: f64 = 1e9;
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
        return (pooled, MOST);
    }
    let count = logs.len() as f64;
    let mean = logs.iter().map(|[log, _]| log).sum::<f64>() / count;
    let spread = logs.iter().map(|[log, _]| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let excess = spread - logs.iter().map(|[_, chance]| chance).sum::<f64>() / count;
    if excess <= 0.0 {
        return (libm::exp(mean).max(1e-5 * pooled), MOST);
    }
    let half = trigamma_inverse(excess);
    (libm::exp(mean + digamma(half) - libm::log(half)).max(1e-5 * pooled), (2.0 * half).min(MOST))
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
