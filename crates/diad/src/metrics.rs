//! How well scores rank labelled anomalies.
//!
//! Both measures look only at the order of the scores; a higher score means more anomalous.

/// The area under the ROC curve: the chance that an anomaly scores higher than a normal row, where a tie
/// counts one half. `None` if there are no anomalies or no normal rows.
///
/// ```
/// let labels = [false, false, true, true];
/// assert_eq!(diad::metrics::roc_auc(&labels, &[0.1, 0.4, 0.35, 0.8]), Some(0.75));
/// assert_eq!(diad::metrics::roc_auc(&[true, true], &[0.1, 0.2]), None);
/// ```
///
/// # Panics
/// If there is not one score per label.
pub fn roc_auc(labels: &[bool], scores: &[f32]) -> Option<f64> {
    let anomalies = count(labels)?;
    let normals = labels.len() - anomalies;
    if normals == 0 {
        return None;
    }
    // A group of equal scores from the top: its anomalies win against all normal rows below it, and half
    // against the normal rows within it.
    let (mut wins, mut normals_below) = (0.0, normals);
    for group in groups(labels, scores) {
        normals_below -= group.normals;
        wins += group.anomalies as f64 * (normals_below as f64 + group.normals as f64 / 2.0);
    }
    Some(wins / (anomalies as f64 * normals as f64))
}

/// The average precision: the sum over the distinct scores, from the highest, of the precision among the
/// rows that score at least as high, times the share of all anomalies found at that score. `None` if
/// there are no anomalies.
///
/// ```
/// let labels = [false, false, true, true];
/// let found = diad::metrics::average_precision(&labels, &[0.1, 0.4, 0.35, 0.8]);
/// assert!((found.unwrap() - 5.0 / 6.0).abs() < 1e-12);
/// ```
///
/// # Panics
/// If there is not one score per label.
pub fn average_precision(labels: &[bool], scores: &[f32]) -> Option<f64> {
    let anomalies = count(labels)?;
    let (mut sum, mut found, mut rows) = (0.0, 0, 0);
    for group in groups(labels, scores) {
        found += group.anomalies;
        rows += group.anomalies + group.normals;
        sum += group.anomalies as f64 * (found as f64 / rows as f64);
    }
    Some(sum / anomalies as f64)
}

/// An interval that the average precision lies in with 95 %, had the rows been drawn anew: by 400 bootstrap samples, the same every time.
/// `None` if there are no anomalies.
///
/// ```
/// let labels: Vec<bool> = (0..500).map(|i| i % 10 == 0).collect();
/// let scores: Vec<f32> = (0..500).map(|i| if i % 10 == 0 { 5.0 } else { 0.0 } + (i * 37 % 101) as f32 / 20.0).collect();
/// let ap = diad::metrics::average_precision(&labels, &scores).unwrap();
/// let [low, high] = diad::metrics::average_precision_interval(&labels, &scores).unwrap();
/// assert!(low < ap && ap < high && high - low < 0.3);
/// ```
///
/// # Panics
/// If there is not one score per label.
pub fn average_precision_interval(labels: &[bool], scores: &[f32]) -> Option<[f64; 2]> {
    const SAMPLES: u64 = 400;
    assert_eq!(labels.len(), scores.len(), "one score per label");
    count(labels)?;
    let order = top(scores, scores.len());
    let sample = |number: u64| {
        let mut state = number.wrapping_mul(0xD1B5_4A32_D192_ED03);
        // Rows of equal score count together; each row comes as often as a Poisson number of mean 1 says.
        let (mut sum, mut found, mut rows, mut place) = (0.0, 0.0, 0.0, 0);
        while place < order.len() {
            let (score, mut here) = (scores[order[place]], 0.0);
            while let Some(&row) = order.get(place).filter(|&&row| scores[row] == score) {
                let times = poisson(&mut state);
                rows += times;
                here += if labels[row] { times } else { 0.0 };
                place += 1;
            }
            found += here;
            if rows > 0.0 {
                sum += here * (found / rows);
            }
        }
        if found > 0.0 { sum / found } else { 0.0 }
    };
    let mut found: Vec<f64> = (1..=SAMPLES).map(sample).collect();
    found.sort_unstable_by(f64::total_cmp);
    Some([found[(SAMPLES / 40) as usize], found[(SAMPLES - 1 - SAMPLES / 40) as usize]])
}

/// A Poisson number of mean 1, from a SplitMix64 stream.
fn poisson(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let unit = ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64;
    let (mut share, mut term, mut number) = (libm::exp(-1.0), libm::exp(-1.0), 0.0);
    while unit >= share && number < 20.0 {
        number += 1.0;
        term /= number;
        share += term;
    }
    number
}

/// The rows with the highest scores, the highest first; of equal scores, the earlier row.
///
/// ```
/// assert_eq!(diad::metrics::top(&[0.5, 2.0, 1.0], 2), [1, 2]);
/// ```
pub fn top(scores: &[f32], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    let higher = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
    if (1..order.len()).contains(&count) {
        order.select_nth_unstable_by(count, higher);
    }
    order.truncate(count);
    order.sort_unstable_by(higher);
    order
}

/// The correlation (Pearson's) of two columns of numbers: 1 if one rises in proportion to the other, 0 if they have
/// nothing to do with each other or one of them does not vary.
///
/// ```
/// let correlation = diad::metrics::correlation(&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]);
/// assert!((correlation - 1.0).abs() < 1e-12);
/// ```
///
/// # Panics
/// If they are not of the same length.
pub fn correlation(first: &[f32], second: &[f32]) -> f64 {
    assert_eq!(first.len(), second.len(), "as many numbers");
    let mean = |values: &[f32]| {
        values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len().max(1) as f64
    };
    let (a, b) = (mean(first), mean(second));
    let mut products = [0.0; 3];
    for (&x, &y) in first.iter().zip(second) {
        let (x, y) = (f64::from(x) - a, f64::from(y) - b);
        products.iter_mut().zip([x * x, x * y, y * y]).for_each(|(sum, product)| *sum += product);
    }
    let [xx, xy, yy] = products;
    let spread = xx.sqrt() * yy.sqrt();
    if spread > 0.0 { (xy / spread).clamp(-1.0, 1.0) } else { 0.0 }
}

/// How sure it is that a row is among the `contamination` (a share) most anomalous ones, had the training rows been drawn
/// anew: `below` of the `rows` training rows score no higher. After Perini, Vercruyssen and Davis, *Quantifying the confidence
/// of anomaly detectors in their example-wise predictions* (ECML PKDD 2020).
///
/// ```
/// let confidence = |below| diad::metrics::confidence(below, 100, 0.1);
/// assert!(confidence(99) > 0.99 && confidence(50) < 0.01);
/// ```
pub fn confidence(below: u64, rows: u64, contamination: f64) -> f64 {
    let chance = (1 + below) as f64 / (2 + rows) as f64;
    // At least `normal + 1` of `rows` draws succeed.
    let outliers = (rows as f64 * contamination) as u64;
    let normal = rows.saturating_sub(outliers);
    if normal >= rows { 0.0 } else { incomplete_beta(chance, (normal + 1) as f64, (rows - normal) as f64) }
}

/// The regularised incomplete beta function, by its continued fraction (Lentz).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    const TERMS: u32 = 100_000;
    if x <= 0.0 || x >= 1.0 {
        return f64::from(u8::from(x >= 1.0));
    }
    // The fraction converges quickly on this side only.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let logarithm =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = d;
    for m in (1..TERMS).map(f64::from) {
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let before = fraction;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            fraction *= d * c;
        }
        if (fraction - before).abs() <= 1e-15 * fraction.abs() {
            break;
        }
    }
    libm::exp(logarithm) * fraction / a
}

/// The number of anomalies, unless it is 0.
fn count(labels: &[bool]) -> Option<usize> {
    let anomalies = labels.iter().filter(|&&label| label).count();
    (anomalies > 0).then_some(anomalies)
}

/// Rows of equal score.
struct Group {
    anomalies: usize,
    normals: usize,
}

/// The groups of equal scores, the highest first.
fn groups(labels: &[bool], scores: &[f32]) -> Vec<Group> {
    assert_eq!(labels.len(), scores.len(), "one score per label");
    // Adding 0 makes -0 and 0 the same to `total_cmp`.
    let mut rows: Vec<(f32, bool)> =
        scores.iter().map(|score| score + 0.0).zip(labels.iter().copied()).collect();
    rows.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    rows.chunk_by(|a, b| a.0.total_cmp(&b.0).is_eq())
        .map(|rows| {
            let anomalies = rows.iter().filter(|row| row.1).count();
            Group { anomalies, normals: rows.len() - anomalies }
        })
        .collect()
}

/// The mean and the standard deviation of values.
pub(crate) fn mean_and_deviation(values: &[f32]) -> (f64, f64) {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / n;
    let square = |&value: &f32| (f64::from(value) - mean) * (f64::from(value) - mean);
    (mean, (values.iter().map(square).sum::<f64>() / n).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn confidences_are_tails_of_binomial_distributions() {
        // scipy.stats.binom.sf(n - int(n * c), n, (1 + k) / (2 + n)) of SciPy 1.17.1
        for (below, rows, contamination, expected) in [
            (95, 100, 0.1, 0.930041626159861),
            (89, 100, 0.1, 0.24751402718643867),
            (100, 100, 0.1, 0.9999999363800685),
            (0, 100, 0.1, 0.0),
            (7000, 7200, 0.05, 1.0),
            (6830, 7200, 0.05, 0.2733862059489055),
            (950000, 1000000, 0.05, 0.49771193467411584),
            (949500, 1000000, 0.05, 0.010933808908832488),
            (500, 1000, 0.5, 0.48738749091081973),
        ] {
            let found = confidence(below, rows, contamination);
            assert!((found - expected).abs() <= 1e-9 * expected.max(1e-3), "{below} of {rows}: {found}");
        }
        assert_eq!(confidence(10, 10, 0.05), 0.0);
    }

    // scikit-learn 1.9.1: roc_auc_score and average_precision_score of the example below.
    const SKLEARN_AUC: f64 = 0.5421006944444444;
    const SKLEARN_AP: f64 = 0.38249900776697476;

    /// Labels and scores with ties of row `i`, made of integers so that other programs can make the same.
    fn example() -> (Vec<bool>, Vec<f32>) {
        let labels = (0..200u64).map(|i| (i * i * 7 + 3) % 11 < 3).collect();
        let scores = (0..200u64).map(|i| ((i * 37 + i * i * 5) % 53) as f32 / 8.0).collect();
        (labels, scores)
    }

    #[test]
    fn values_agree_with_scikit_learn() {
        let (labels, scores) = example();
        assert!((roc_auc(&labels, &scores).unwrap() - SKLEARN_AUC).abs() < 1e-12);
        assert!((average_precision(&labels, &scores).unwrap() - SKLEARN_AP).abs() < 1e-12);
    }

    #[test]
    fn one_class_alone_has_no_area() {
        assert_eq!(roc_auc(&[], &[]), None);
        assert_eq!(roc_auc(&[false], &[1.0]), None);
        assert_eq!(roc_auc(&[true], &[1.0]), None);
        assert_eq!(average_precision(&[false], &[1.0]), None);
        assert_eq!(average_precision(&[true], &[1.0]), Some(1.0));
    }

    #[test]
    fn all_ties_are_a_coin_toss() {
        assert_eq!(roc_auc(&[true, false, false], &[0.0, -0.0, 0.0]), Some(0.5));
    }

    fn plain_auc(labels: &[bool], scores: &[f32]) -> f64 {
        let (mut wins, mut pairs) = (0.0, 0.0);
        for (a, _) in labels.iter().enumerate().filter(|row| *row.1) {
            for (n, _) in labels.iter().enumerate().filter(|row| !*row.1) {
                pairs += 1.0;
                wins += if scores[a] > scores[n] { 1.0 } else { f64::from(scores[a] == scores[n]) / 2.0 };
            }
        }
        wins / pairs
    }

    fn plain_average_precision(labels: &[bool], scores: &[f32]) -> f64 {
        let anomalies = || labels.iter().zip(scores).filter(|row| *row.0);
        let precision = |least: f32| {
            let found = anomalies().filter(|row| *row.1 >= least).count();
            found as f64 / scores.iter().filter(|&&score| score >= least).count() as f64
        };
        anomalies().map(|row| precision(*row.1)).sum::<f64>() / anomalies().count() as f64
    }

    proptest! {
        #[test]
        fn values_agree_with_plain_counting(
            rows in proptest::collection::vec((any::<bool>(), -4i8..4), 2..60),
        ) {
            let labels: Vec<bool> = rows.iter().map(|row| row.0).collect();
            let scores: Vec<f32> = rows.iter().map(|row| f32::from(row.1) / 3.0).collect();
            if let Some(auc) = roc_auc(&labels, &scores) {
                prop_assert!((auc - plain_auc(&labels, &scores)).abs() < 1e-12);
            }
            if let Some(precision) = average_precision(&labels, &scores) {
                prop_assert!((precision - plain_average_precision(&labels, &scores)).abs() < 1e-12);
            }
        }
    }
}
