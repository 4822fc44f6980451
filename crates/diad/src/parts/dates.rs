//! Places in time, of which the tails say something else than of numbers: new rows are always later than those of the training.
//!
//! A date adds nothing within the time of nearly all rows, nor as long a time before and after it. Further out it adds in proportion to
//! the logarithm of the distance, without an end: e² times as far as that, as much as a category that one row has. A few rows that lie far from all others do not stretch the time of the rest.

use super::column::Column;
use crate::function::Curve;

/// The share of the rows at either end that may lie anywhere, and how many at least.
const STRAY: f64 = 0.01;
const STRAY_ROWS: usize = 3;
/// The least time of nearly all rows, as a share of the time of all.
const LEAST: f64 = 0.02;
/// How many times the time of nearly all rows lies between the nodes of a curve.
pub const LENGTHS: f64 = 3.0;

/// The curve of a column of dates: its two nodes are the ends of the time that is ordinary.
pub fn curve(feature: u32, column: &Column) -> Curve {
    let sorted = &column.sorted;
    let last = sorted.len() - 1;
    let strays = ((STRAY * sorted.len() as f64) as usize).max(STRAY_ROWS).min(last / 4);
    let [first, low, high, end] = [0, strays, last - strays, last].map(|row| column.plain(sorted[row]));
    let length = (high - low).max(LEAST * (end - first));
    let nodes = vec![column.scaled(low - length), column.scaled(high + length)];
    let once = libm::log(sorted.len() as f64);
    let slope = (once * once / 2.0 * column.rate()) as f32;
    Curve { feature, values: vec![0.0; nodes.len()], nodes, beyond: [slope; 2] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_and_far_from_it_lies_what_is_strange() {
        let days: Vec<f32> = (0..1000).map(|i| i as f32 / 999.0 * 2.0 - 1.0).collect();
        let even = curve(0, &Column::of_dates(days.clone(), None));
        let at = [-2.9, -1.0, 0.3, 1.0, 2.9].map(|x| even.at(x));
        assert_eq!(at, [0.0; 5]);
        let further = [3.2, 10.0, 100.0, 1e6].map(|x| even.at(x));
        assert!(further[0] > 0.0 && further.windows(2).all(|two| two[0] < two[1]), "{further:?}");
        // One row far away from all others.
        let mut stray: Vec<f32> = days.iter().map(|day| day / 100.0 - 0.99).collect();
        stray.push(1.0);
        let stray = curve(0, &Column::of_dates(stray, None));
        assert!(stray.at(1.0) > 5.0 && stray.at(-0.99) == 0.0 && stray.at(-0.97) == 0.0, "{stray:?}");
    }

    #[test]
    fn few_rows_and_rows_of_one_day_have_a_curve() {
        for days in [vec![-1.0, 1.0], vec![-1.0, -1.0, 0.5, 1.0], [vec![-1.0; 500], vec![1.0]].concat()] {
            let curve = curve(0, &Column::of_dates(days, None));
            assert!(curve.nodes[0] < curve.nodes[1] && curve.nodes.iter().all(|node| node.is_finite()));
        }
    }
}
