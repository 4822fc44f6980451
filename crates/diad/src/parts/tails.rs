//! Tails: how far out each value lies in its own column. Kin to ECOD.
//!
//! A number adds minus the logarithm of the share of rows at or beyond it, towards the nearer end, times the unevenness of
//! the column; a category that of the share of rows whose category is as rare or rarer. Beyond the training range a number goes
//! on adding as an exponential tail in the column's scale would, with the mean excess of its outermost rows: a Pareto
//! tail where that scale is logarithmic.

use rayon::prelude::*;

use super::column::{Column, nodes};
use super::dates;
use super::{Part, Sample};
use crate::Params;
use crate::function::{Curve, Functions, spaced};
use crate::score::additive::TAILS;

/// By how much the logarithm of a tail may change from node to node.
const STEP: f64 = 0.1;
/// Equally spaced nodes besides.
const SPACED: usize = 32;
/// The share of the rows at either end whose excess tells how the tail goes on.
const TAIL: f64 = 0.05;
/// The least mean excess, of a range of 2.
const LEAST_EXCESS: f64 = 0.02;

/// Tails of single columns.
pub struct Tails;

impl Part for Tails {
    fn name(&self) -> &'static str {
        TAILS
    }

    fn weight(&self, params: &Params) -> f64 {
        params.weight_tails
    }

    fn functions(&self, sample: &Sample, _: &Params) -> Functions {
        let curve = |feature: u32| curve(feature, &sample.columns[feature as usize]);
        Functions { curves: sample.varied().into_par_iter().map(curve).collect(), grids: Vec::new() }
    }
}

fn curve(feature: u32, column: &Column) -> Curve {
    if column.is_date {
        return dates::curve(feature, column);
    }
    let n = column.sorted.len() as f64;
    // A place that no row has counts as half a row.
    let log = |rows: usize| -libm::log((rows as f64).max(0.5) / n);
    if column.is_category() {
        let value = |&place: &f32| log(as_rare(column, place)) as f32;
        let values = column.places.iter().map(value).collect();
        return Curve { feature, nodes: column.places.clone(), values, beyond: [0.0; 2] };
    }
    let nodes = tail_nodes(&column.sorted);
    let unevenness = column.unevenness();
    let value = |&x: &f32| {
        let [below, up_to] = column.ranks(x);
        (unevenness * log(up_to.min(column.sorted.len() - below))) as f32
    };
    let values = nodes.iter().map(value).collect();
    let beyond = excesses(column).map(|excess| (1.0 / excess.max(LEAST_EXCESS)) as f32);
    Curve { feature, nodes, values, beyond }
}

/// Rows whose category is as rare as the one at a place, or rarer.
fn as_rare(column: &Column, place: f32) -> usize {
    let rows = |place: f32| {
        let [below, up_to] = column.ranks(place);
        up_to - below
    };
    let own = rows(place);
    column.places.iter().map(|&other| rows(other)).filter(|&other| other <= own).sum()
}

/// The mean distance of the rows beyond the outermost quantiles from these, below and above.
fn excesses(column: &Column) -> [f64; 2] {
    let mean = |excesses: &mut dyn Iterator<Item = f64>| {
        let (sum, count) = excesses.fold((0.0, 0.0), |(sum, count), excess| (sum + excess, count + 1.0));
        sum / f64::max(count, 1.0)
    };
    let [low, high] = [TAIL, 1.0 - TAIL].map(|share| f64::from(column.quantile(share)));
    let values = || column.sorted.iter().map(|&value| f64::from(value));
    [
        mean(&mut values().take_while(|&value| value < low).map(|value| low - value)),
        mean(&mut values().rev().take_while(|&value| value > high).map(|value| value - high)),
    ]
}

/// Values between which the logarithm of a tail changes by no more than a step, and equally spaced ones.
fn tail_nodes(sorted: &[f32]) -> Vec<f32> {
    let n = sorted.len();
    let mut chosen = spaced(SPACED);
    let mut rank = 1.0;
    while rank < n as f64 {
        let rank_now = rank as usize;
        chosen.extend([sorted[rank_now - 1], sorted[n - rank_now]]);
        rank = (rank * libm::exp(STEP)).max(rank + 1.0);
    }
    nodes(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_far_out_add_more_and_beyond_the_range_more_still() {
        let values: Vec<f32> = (0..1000).map(|i| ((i as f32 / 999.0 - 0.5) * 3.0).tanh()).collect();
        let curve = curve(0, &Column::of_numbers(values, None));
        let at = [0.0, 0.5, 0.9, 1.0, 1.5, 11.0, 1e6].map(|x| curve.at(x));
        assert!(at.windows(2).all(|two| two[0] < two[1]), "{at:?}");
        assert!(curve.beyond[0] > 0.0 && curve.at(-3.0) > curve.at(-1.0));
    }

    #[test]
    fn of_two_categories_the_rarer_adds_no_less() {
        let places = vec![-1.0, -0.4, 0.1, 0.6, 1.0];
        let rows = [(-1.0, 60), (-0.4, 25), (0.1, 1), (0.6, 1)];
        let values = rows.iter().flat_map(|&(place, count)| vec![place; count]).collect();
        let curve = curve(0, &Column::of_categories(values, places));
        assert!(curve.values.windows(2).all(|two| two[0] <= two[1]), "{:?}", curve.values);
        assert_eq!(curve.values[2], curve.values[3], "two categories of one row each");
        assert!(curve.values[4] > curve.values[3], "one that no row has");
    }
}
