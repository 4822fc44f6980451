//! What a function of two variables says of each of them alone.

/// How much less than the others a node weighs that no training row is near. Its values then follow from the others.
const NEXT_TO_NOTHING: f64 = 1e-9;
/// Keeps the equations solvable where one variable determines the other.
const RIDGE: f64 = 1e-10;
/// Corrections of the rounding of the solution.
const SWEEPS: usize = 4;

/// Two functions of one variable whose sum is nearest to a function of two: without them, the mean over every row and
/// every column of the table is 0. `values` and `weights` have `across` columns.
pub fn margins(values: &[f64], weights: &[f64], across: usize) -> [Vec<f64>; 2] {
    let weights = filled(weights, across);
    let down = values.len() / across;
    let rows: Vec<f64> = weights.chunks(across).map(|row| row.iter().sum()).collect();
    let columns: Vec<f64> = (0..across).map(|j| weights.iter().skip(j).step_by(across).sum()).collect();
    let row_means = |b: &[f64]| -> Vec<f64> {
        let mean = |i: usize| {
            (0..across).map(|j| weights[i * across + j] * (values[i * across + j] - b[j])).sum::<f64>()
                / rows[i]
        };
        (0..down).map(mean).collect()
    };
    let column_means = |a: &[f64]| -> Vec<f64> {
        let mean = |j: usize| {
            (0..down).map(|i| weights[i * across + j] * (values[i * across + j] - a[i])).sum::<f64>()
                / columns[j]
        };
        (0..across).map(mean).collect()
    };
    // a = row means of (values - b) and b = column means of (values - a) give equations for a alone, which leave a
    // constant open; it is chosen so that a has mean 0.
    let right = row_means(&column_means(&vec![0.0; down]));
    let total: f64 = rows.iter().sum();
    let mut matrix = vec![0.0; down * down];
    for i in 0..down {
        for k in 0..down {
            let both = (0..across).map(|j| weights[i * across + j] * weights[k * across + j] / columns[j]);
            let same = if i == k { 1.0 + RIDGE } else { 0.0 };
            matrix[i * down + k] = same - both.sum::<f64>() / rows[i] + rows[k] / total;
        }
    }
    let mut a = solve(matrix, right);
    let mut b = column_means(&a);
    for _ in 0..SWEEPS {
        a = row_means(&b);
        b = column_means(&a);
    }
    [a, b]
}

/// Weights that add up to 1, with next to nothing in rows and columns that have none.
fn filled(weights: &[f64], across: usize) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let mut filled: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
    let rows: Vec<f64> = filled.chunks(across).map(|row| row.iter().sum()).collect();
    let columns: Vec<f64> = (0..across).map(|j| filled.iter().skip(j).step_by(across).sum()).collect();
    for (node, weight) in filled.iter_mut().enumerate() {
        let (row, column) = (rows[node / across], columns[node % across]);
        if row == 0.0 || column == 0.0 {
            *weight = NEXT_TO_NOTHING * (row + column + NEXT_TO_NOTHING);
        }
    }
    filled
}

/// Solves linear equations by elimination with pivots.
fn solve(mut matrix: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    let n = right.len();
    for step in 0..n {
        let size = |row: &usize| matrix[row * n + step].abs();
        let pivot = (step..n).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(step);
        for k in 0..n {
            matrix.swap(step * n + k, pivot * n + k);
        }
        right.swap(step, pivot);
        let divisor = matrix[step * n + step];
        if divisor == 0.0 {
            continue;
        }
        for row in step + 1..n {
            let factor = matrix[row * n + step] / divisor;
            for k in step..n {
                matrix[row * n + k] -= factor * matrix[step * n + k];
            }
            right[row] -= factor * right[step];
        }
    }
    for step in (0..n).rev() {
        let known: f64 = (step + 1..n).map(|k| matrix[step * n + k] * right[k]).sum();
        let divisor = matrix[step * n + step];
        right[step] = if divisor == 0.0 { 0.0 } else { (right[step] - known) / divisor };
    }
    right
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The largest weighted mean over a row or column of what is left of the values.
    fn largest_margin(values: &[f64], weights: &[f64], across: usize) -> f64 {
        let [a, b] = margins(values, weights, across);
        let left: Vec<f64> =
            values.iter().enumerate().map(|(node, v)| v - a[node / across] - b[node % across]).collect();
        let mean = |nodes: &[usize]| {
            let total: f64 = nodes.iter().map(|&node| weights[node]).sum();
            let sum: f64 = nodes.iter().map(|&node| weights[node] * left[node]).sum();
            if total > 0.0 { (sum / total).abs() } else { 0.0 }
        };
        let down = values.len() / across;
        let rows = (0..down).map(|i| mean(&(0..across).map(|j| i * across + j).collect::<Vec<_>>()));
        let columns = (0..across).map(|j| mean(&(0..down).map(|i| i * across + j).collect::<Vec<_>>()));
        rows.chain(columns).fold(0.0, f64::max)
    }

    #[test]
    fn an_additive_table_has_nothing_left() {
        let values: Vec<f64> =
            (0..12).map(|node| f64::from(node / 4) * 3.0 + f64::from(node % 4).powi(2)).collect();
        let weights: Vec<f64> = (0..12).map(|node| f64::from(node * 7 % 5 + 1)).collect();
        let [a, b] = margins(&values, &weights, 4);
        for (node, value) in values.iter().enumerate() {
            assert!((value - a[node / 4] - b[node % 4]).abs() < 1e-9);
        }
    }

    #[test]
    fn one_variable_may_determine_the_other() {
        let weights: Vec<f64> = (0..16).map(|node| f64::from(u8::from(node / 4 == node % 4))).collect();
        let values: Vec<f64> = (0..16).map(|node| f64::from(node * node % 7)).collect();
        assert!(largest_margin(&values, &weights, 4) < 1e-9);
        let [a, b] = margins(&values, &weights, 4);
        assert!(a.iter().chain(&b).all(|v| v.abs() < 100.0), "{a:?} {b:?}");
    }

    proptest! {
        #[test]
        fn no_row_and_no_column_has_a_mean(
            (across, cells) in (2usize..6, 2usize..6).prop_flat_map(|(down, across)| {
                (Just(across), prop::collection::vec((-10.0f64..10.0, prop_oneof![Just(0.0), 0.001f64..5.0]), down * across))
            }),
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = cells.into_iter().unzip();
            prop_assume!(weights.iter().sum::<f64>() > 0.0);
            prop_assert!(largest_margin(&values, &weights, across) < 1e-7);
        }
    }
}
