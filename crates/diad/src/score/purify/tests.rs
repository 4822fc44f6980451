//! One solution, small, and the right one where columns are independent, tell each other, or are copies.

use proptest::prelude::*;

use super::*;

/// A pair of columns with weights of a table of cells, row after row.
fn pair(weights: &[f64], across: usize) -> Pair {
    let total: f64 = weights.iter().sum();
    let cells = weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0);
    let cells =
        cells.map(|(cell, weight)| Cell { at: [cell / across, cell % across], weight: weight / total });
    Pair::new(cells.collect(), [weights.len() / across, across])
}

/// The split of a table of values, and what it leaves to the pair.
fn split(values: &[f64], weights: &[f64], across: usize) -> ([Vec<f64>; 2], Vec<f64>) {
    let pair = pair(weights, across);
    let at = |point: usize| pair.point(point)[0] * across + pair.point(point)[1];
    let known: Vec<f64> = (0..pair.points()).map(|point| values[at(point)]).collect();
    let [a, b] = pair.split(&known);
    let left = values.iter().enumerate().map(|(cell, v)| v - a[cell / across] - b[cell % across]).collect();
    ([a, b], left)
}

#[test]
fn what_one_of_two_independent_columns_says_is_moved_to_it() {
    let (first, second) = ([1.0, -2.0, 4.0, 0.5], [0.0, 3.0, -1.0]);
    let shares = ([0.1, 0.2, 0.3, 0.4], [0.5, 0.3, 0.2]);
    let table =
        |f: &dyn Fn(usize, usize) -> f64| -> Vec<f64> { (0..12).map(|cell| f(cell / 3, cell % 3)).collect() };
    let weights = table(&|i, j| shares.0[i] * shares.1[j]);
    let values = table(&|i, j| 7.0 + first[i] + second[j]);
    let ([a, b], _) = split(&values, &weights, 3);
    let mean = |values: &[f64], shares: &[f64]| values.iter().zip(shares).map(|(v, s)| v * s).sum::<f64>();
    for (found, given, shares) in [(&a[..], &first[..], &shares.0[..]), (&b, &second, &shares.1)] {
        let middle = mean(given, shares);
        for (found, given) in found.iter().zip(given) {
            assert!((found * (1.0 + RIDGE) - (given - middle)).abs() < 1e-7, "{found} of {given}");
        }
    }
}

#[test]
fn what_no_row_shows_stays_with_the_pair() {
    // Country and currency: one tells the other, and the cells that no row has are large.
    let across = 48;
    let diagonal = |cell: usize| cell / across == cell % across;
    let weights: Vec<f64> = (0..across * across).map(|c| if diagonal(c) { 100.0 } else { 0.0 }).collect();
    let values: Vec<f64> = (0..across * across).map(|c| if diagonal(c) { 0.0 } else { 500.0 }).collect();
    let ([a, b], left) = split(&values, &weights, across);
    assert!(a.iter().chain(&b).all(|&moved| moved == 0.0));
    assert_eq!(left, values);
    // For rows that break the rule no more is moved than λ lets cancel: a tenth, where one row in a hundred does.
    let mut broken = weights;
    (broken[1], broken[5 * across + 7]) = (1.0, 1.0);
    let ([a, b], left) = split(&values, &broken, across);
    assert!(left[1] > 400.0 && left[5 * across + 7] > 400.0, "{} {}", left[1], left[5 * across + 7]);
    assert!(a.iter().chain(&b).all(|moved| moved.abs() < 50.0), "{a:?} {b:?}");
}

#[test]
fn copies_share_what_one_of_them_says() {
    let weights: Vec<f64> = (0..25).map(|cell| if cell / 5 == cell % 5 { 3.0 } else { 0.0 }).collect();
    let values: Vec<f64> = (0..25).map(|cell| f64::from(cell / 5 * (cell / 5))).collect();
    let ([a, b], left) = split(&values, &weights, 5);
    let mean = 6.0;
    for i in 0..5 {
        let said = (i * i) as f64 - mean;
        assert!(
            (a[i] - b[i]).abs() < 1e-8 && (a[i] - said / (2.0 + RIDGE)).abs() < 1e-7,
            "{} {}",
            a[i],
            b[i]
        );
        assert!((left[6 * i] - mean).abs() <= 0.025 * said.abs() + 1e-7);
    }
}

#[test]
fn a_value_that_no_row_has_meets_the_other_column_as_all_rows_do() {
    let weights = [1.0, 3.0, 0.0, 0.0, 2.0, 2.0];
    let values = [0.0, 0.0, 10.0, 20.0, 0.0, 0.0];
    let ([a, b], _) = split(&values, &weights, 2);
    assert!((a[1] - (10.0 * 0.375 + 20.0 * 0.625) / (1.0 + RIDGE)).abs() < 1e-7, "{a:?}");
    assert!(a[0] == 0.0 && a[2] == 0.0 && b.iter().all(|&b| b == 0.0), "{a:?} {b:?}");
}

/// The same equations solved by elimination.
fn plain(values: &[f64], weights: &[f64], across: usize) -> Vec<f64> {
    let down = values.len() / across;
    let (n, total) = (down + across, weights.iter().sum::<f64>());
    let mean = values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / total;
    let mut rows = vec![vec![0.0; n + 1]; n];
    for (cell, (value, weight)) in values.iter().zip(weights).enumerate() {
        let (i, j) = (cell / across, down + cell % across);
        for (own, other) in [(i, j), (j, i)] {
            rows[own][own] += (1.0 + RIDGE) * weight;
            rows[own][other] += weight;
            rows[own][n] += weight * (value - mean);
        }
    }
    for step in 0..n {
        for row in 0..n {
            if row != step {
                let known = rows[step].clone();
                let factor = rows[row][step] / known[step];
                rows[row]
                    .iter_mut()
                    .zip(known)
                    .skip(step)
                    .for_each(|(value, known)| *value -= factor * known);
            }
        }
    }
    (0..n).map(|i| rows[i][n] / rows[i][i]).collect()
}

proptest! {
    #[test]
    fn the_split_is_that_of_plain_elimination_and_no_larger_than_the_pair(
        (across, cells) in (2usize..6, 2usize..6).prop_flat_map(|(down, across)| {
            (Just(across), prop::collection::vec((-10.0f64..10.0, 0.001f64..5.0), down * across))
        }),
    ) {
        let (values, weights): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
        let ([a, b], left) = split(&values, &weights, across);
        for (found, plain) in a.iter().chain(&b).zip(plain(&values, &weights, across)) {
            prop_assert!((found - plain).abs() < 1e-6, "{} instead of {}", found, plain);
        }
        let total: f64 = weights.iter().sum();
        let mean = values.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>() / total;
        let square = |f: &dyn Fn(usize) -> f64| -> f64 { (0..values.len()).map(|c| weights[c] * f(c).powi(2)).sum() };
        let before = square(&|c| values[c] - mean);
        let after = square(&|c| left[c] - mean) + RIDGE * (square(&|c| a[c / across]) + square(&|c| b[c % across]));
        prop_assert!(after <= before * (1.0 + 1e-9));
    }
}
