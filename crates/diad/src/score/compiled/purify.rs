//! What a pair of columns says of one of them alone is given to that column: purification.

use std::collections::BTreeMap;

use super::build::{Draft, Products, Sources, side_by_side};
use super::factors::{Product, shortest};
use crate::function::{interpolate, locate};

/// How much less than the others a node weighs that no training row is near. Its values then follow from the others.
const NEXT_TO_NOTHING: f64 = 1e-9;
/// Keeps the equations solvable where one variable determines the other.
const RIDGE: f64 = 1e-10;
/// Corrections of the rounding of the solution.
const SWEEPS: usize = 4;

/// Moves what the products of each two columns say of one of them alone to its own function. Gives the products that are
/// left, and to how much those add up that are left out as too small, none of them more than `negligible`.
pub fn purify(
    sources: Sources,
    drafts: &mut [Draft],
    pairs: Vec<Products>,
    negligible: f64,
) -> (Vec<Products>, f64) {
    let column_of = |axis: usize| sources.encoder.features()[axis].column as usize;
    let mut by_columns: BTreeMap<[usize; 2], Vec<Products>> = BTreeMap::new();
    for pair in pairs {
        let mut columns = pair.0.map(column_of);
        columns.sort_unstable();
        by_columns.entry(columns).or_default().push(pair);
    }
    let by_columns: Vec<_> = by_columns.into_iter().collect();
    let purified = side_by_side(&by_columns, |(columns, pairs)| {
        (columns[0] != columns[1]).then(|| Purified::new(sources, drafts, *columns, pairs))
    });
    let (mut all, mut left_out) = (Vec::new(), 0.0);
    for ((columns, mut pairs), purified) in by_columns.into_iter().zip(purified) {
        if let Some(Purified { moved, mut products }) = purified {
            for (column, moved) in columns.into_iter().zip(moved) {
                drafts[column].own.iter_mut().zip(moved).for_each(|(own, moved)| *own += moved);
            }
            let kept = products.partition_point(|product| product.size > negligible);
            left_out += products.drain(kept..).map(|product| product.size).sum::<f64>();
            pairs.retain(|(axes, _)| *axes != columns);
            pairs.push((columns, products));
        }
        all.extend(pairs.into_iter().filter(|(_, products)| !products.is_empty()));
    }
    (all, left_out)
}

/// What two columns say together.
struct Purified {
    /// What is each column's own, at the points of its axis, which has the column's number.
    moved: [Vec<f64>; 2],
    /// What is left of the products of these two axes.
    products: Vec<Product>,
}

impl Purified {
    fn new(sources: Sources, drafts: &[Draft], columns: [usize; 2], pairs: &[Products]) -> Self {
        let (scalers, features) = (sources.encoder.scalers(), sources.encoder.features());
        let nodes = columns.map(|column| sources.profile.columns[column].nodes());
        // A function of an axis at the nodes of its column.
        let at_nodes = |axis: usize, values: &[f64], side: usize| -> Vec<f64> {
            let place = |node: &f32| scalers[axis].scale(scalers[columns[side]].original(*node));
            nodes[side].iter().map(|node| drafts[axis].at(values, place(node))).collect()
        };
        let across = nodes[1].len();
        let mut values = vec![0.0; nodes[0].len() * across];
        for (axes, products) in pairs {
            let turned = features[axes[0]].column as usize != columns[0];
            for Product { first, second, .. } in products {
                let (first, second) = match turned {
                    false => (at_nodes(axes[0], first, 0), at_nodes(axes[1], second, 1)),
                    true => (at_nodes(axes[1], second, 0), at_nodes(axes[0], first, 1)),
                };
                for (row, first) in values.chunks_exact_mut(across).zip(first) {
                    row.iter_mut().zip(&second).for_each(|(value, second)| *value += first * second);
                }
            }
        }
        let moved = margins(&values, &sources.profile.together(columns, [&nodes[0], &nodes[1]]), across);
        let moved = [0, 1].map(|side| {
            let at = |x: f64| interpolate(locate(x, &nodes[side]), &moved[side]);
            drafts[columns[side]].points().map(at).collect::<Vec<f64>>()
        });
        let own = pairs.iter().filter(|(axes, _)| *axes == columns).flat_map(|(_, products)| products);
        let (mut first, mut second): (Vec<Vec<f64>>, Vec<Vec<f64>>) =
            own.map(|product| (product.first.clone(), product.second.clone())).unzip();
        let negative = |values: &[f64]| values.iter().map(|value| -value).collect::<Vec<f64>>();
        first.extend([negative(&moved[0]), vec![1.0; moved[0].len()]]);
        second.extend([vec![1.0; moved[1].len()], negative(&moved[1])]);
        Self { products: shortest(&first, &second), moved }
    }
}

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
