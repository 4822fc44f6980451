//! Means, standard errors, medians and ranks.

/// The mean, or `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// The standard error of the mean, or `None` with fewer than two values.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let count = values.len() as f64;
    let centre = mean(values)?;
    let variance = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (count - 1.0);
    Some((variance / count).sqrt())
}

/// The standard deviation of a sample, or `None` with fewer than two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    standard_error(values).map(|error| error * (values.len() as f64).sqrt())
}

/// The value below which that share of the values lies, between two of them by a straight line; `None` of nothing.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

/// The median, or `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        count if count % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

/// The rank of each value, 1 for the largest. Equal values share the mean of their ranks.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    let mut found = vec![0.0; values.len()];
    let mut start = 0;
    while start < order.len() {
        let tied = order[start..].iter().take_while(|&&i| values[i] == values[order[start]]).count();
        for &i in &order[start..start + tied] {
            found[i] = start as f64 + (tied + 1) as f64 / 2.0;
        }
        start += tied;
    }
    found
}

/// Pearson's correlation, or `None` where a column does not vary.
pub fn correlation(a: &[f64], b: &[f64]) -> Option<f64> {
    let (mean_a, mean_b) = (mean(a)?, mean(b)?);
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        a.iter().zip(b).map(|(a, b)| of(a - mean_a, b - mean_b)).sum()
    };
    let scale = (sum(&|a, _| a * a) * sum(&|_, b| b * b)).sqrt();
    (scale > 0.0).then(|| sum(&|a, b| a * b) / scale)
}

/// The mean over the sets of each method's rank, from a column of figures for each method; empty without sets. Figures
/// are compared at the precision of one decimal.
pub fn mean_ranks(columns: &[Vec<f64>]) -> Vec<f64> {
    let sets = columns.first().map_or(0, Vec::len);
    let by_set: Vec<_> = (0..sets)
        .map(|set| ranks(&columns.iter().map(|column| round1(column[set])).collect::<Vec<_>>()))
        .collect();
    (0..columns.len())
        .filter_map(|place| mean(&by_set.iter().map(|ranks| ranks[place]).collect::<Vec<_>>()))
        .collect()
}

/// Rounded to one decimal, the precision of the paper's tables.
pub fn round1(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_the_mean_rank() {
        assert_eq!(ranks(&[70.0, 90.0, 80.0]), [3.0, 1.0, 2.0]);
        assert_eq!(ranks(&[100.0, 90.0, 100.0, 100.0]), [2.0, 4.0, 2.0, 2.0]);
        assert_eq!(ranks(&[5.0, 5.0]), [1.5, 1.5]);
        assert!(ranks(&[]).is_empty());
    }

    #[test]
    fn standard_error_divides_the_sample_deviation_by_the_root_of_the_count() {
        // The sample variance of 2, 4, 4, 6 is 8/3; the standard error is sqrt(8/3/4).
        let error = standard_error(&[2.0, 4.0, 4.0, 6.0]).expect("four values have one");
        assert!((error - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12, "{error}");
        assert_eq!(standard_error(&[3.0]), None);
    }

    #[test]
    fn median_of_odd_and_even_counts() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn quantiles_lie_between_values() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.25), Some(1.5));
        assert_eq!(quantile(&[3.0], 0.05), Some(3.0));
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(deviation(&[1.0, 3.0]), Some(2.0_f64.sqrt()));
    }

    #[test]
    fn correlation_is_one_along_a_line() {
        let along = correlation(&[1.0, 2.0, 4.0], &[3.0, 5.0, 9.0]).expect("both vary");
        assert!((along - 1.0).abs() < 1e-12);
        assert_eq!(correlation(&[1.0, 2.0], &[3.0, 3.0]), None);
        assert_eq!(correlation(&[], &[]), None);
    }

    #[test]
    fn mean_of_nothing_is_none() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0]), Some(1.5));
    }
}
