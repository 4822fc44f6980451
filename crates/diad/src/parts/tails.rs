//! Tails: how far out each value lies in its own column. Kin to ECOD, with a tail law.
//!
//! A number is as surprising as the share of rows at or beyond it is small, towards the nearer end, times the unevenness of the
//! column, and more where it lies further out than its rank explains: the outermost rows tell how an exponential tail in the
//! column's scale would go on, which is a Pareto tail where that scale is logarithmic. A category, or one of few numbers, is as
//! surprising as the share of rows whose value is as rare or rarer is small, and more where it is rarer than values usually are. What is added is the square: one value that is
//! strange counts for more than several that are somewhat unusual.

use super::column::{Column, FEW, nodes};
use super::{Part, Sample, dates};
use crate::Params;
use crate::function::{Curve, Functions, spaced};
use crate::parallel;
use crate::score::additive::TAILS;

/// By how much the logarithm of a tail may change from node to node.
const STEP: f64 = 0.1;
/// Equally spaced nodes besides.
const SPACED: usize = 32;
/// The least mean excess of a tail, of a range of 2.
const LEAST_EXCESS: f64 = 0.02;

/// Tails of single columns.
pub struct Tails;

impl Part for Tails {
    named!(TAILS, weight_tails);

    fn functions(&self, sample: &Sample, _: &Params) -> Functions {
        let features = (0..).zip(&sample.columns).filter(|(_, column)| column.varies_in_table());
        let features: Vec<u32> = features.map(|(feature, _)| feature).collect();
        let curve = |&feature: &u32| curve(feature, &sample.columns[feature as usize]);
        Functions { curves: parallel::map(&features, &curve), grids: Vec::new() }
    }
}

fn curve(feature: u32, column: &Column) -> Curve {
    if column.is_date {
        return dates::curve(feature, column);
    }
    let rows = column.sorted.len();
    // A place that no row has counts as half a row.
    let log = |beyond: usize| -libm::log((beyond as f64).max(0.5) / rows as f64);
    if column.is_category() {
        let values = rarities(column, &column.places).into_iter().map(square).collect();
        return Curve { feature, nodes: column.places.clone(), values, beyond: [0.0; 2] };
    }
    let outward = |side: f64| move |&x: &f32| side * f64::from(x);
    let tails = [
        Tail::new(-1.0, column.sorted.iter().map(outward(-1.0))),
        Tail::new(1.0, column.sorted.iter().rev().map(outward(1.0))),
    ];
    let values = if column.is_mark { Some(vec![-1.0, 1.0]) } else { column.distinct(FEW) };
    let (nodes, surprises): (Vec<f32>, Vec<f64>) = match values {
        Some(values) => {
            let surprises = rarities(column, &values);
            (values, surprises)
        }
        None => {
            let unevenness = column.unevenness();
            let surprise = |&x: &f32| {
                let [below, up_to] = column.ranks(x);
                let rank = log(up_to.min(rows - below));
                let law = tails.iter().map(|tail| tail.surprise(f64::from(x))).fold(0.0, f64::max);
                // How much further out it lies than its rank explains, as far as so many rows can tell.
                let further = (law - rank).clamp(0.0, libm::log(rows as f64));
                unevenness.max((further / rank).min(1.0)) * rank + further
            };
            let nodes = tail_nodes(&column.sorted);
            let surprises = nodes.iter().map(surprise).collect();
            (nodes, surprises)
        }
    };
    let ends = [surprises[0], surprises[surprises.len() - 1]].map(|end| end.max(log(0)));
    let beyond = [0, 1].map(|side| (2.0 * ends[side] / tails[side].excess) as f32);
    Curve { feature, values: surprises.into_iter().map(square).collect(), nodes, beyond }
}

fn square(surprise: f64) -> f32 {
    (surprise * surprise) as f32
}

/// How surprising each of few values is: minus the logarithm of the share of rows whose value is as rare or rarer, and how much rarer
/// it is than the values of rows are on average. Rows are those of the table where they were counted.
fn rarities(column: &Column, values: &[f32]) -> Vec<f64> {
    let counts: Vec<u64> = if column.counts.is_empty() {
        values
            .iter()
            .map(|&value| {
                let [below, up_to] = column.ranks(value);
                (up_to - below) as u64
            })
            .collect()
    } else {
        column.counts.clone()
    };
    let rows = counts.iter().sum::<u64>() as f64;
    // A value that no row has counts as half a row of the sample, and no other is rarer: numbers are told by no more rows.
    let least = 0.5 / column.sorted.len() as f64;
    let log = |count: u64| -libm::log((count as f64 / rows).max(least));
    let entropy: f64 = counts.iter().map(|&count| count as f64 / rows * log(count)).sum();
    let rarity = |&own: &u64| {
        let as_rare = counts.iter().filter(|&&other| other <= own).sum();
        log(as_rare) + (log(own) - entropy).max(0.0)
    };
    counts.iter().map(rarity).collect()
}

/// One end of a column: an exponential tail fitted to its outermost rows, as many as the square root of all.
struct Tail {
    /// 1 for the upper end, -1 for the lower one, whose values count from there with the other sign.
    side: f64,
    /// Where it starts.
    start: f64,
    /// How surprising rows beyond its start are at least.
    rarity: f64,
    /// The mean distance of rows beyond its start from it, told from the median, which a few rows far away do not move.
    excess: f64,
}

impl Tail {
    /// From the values of one side, the outermost first.
    fn new(side: f64, mut inward: impl ExactSizeIterator<Item = f64>) -> Self {
        let rows = inward.len() as f64;
        let mut outermost: Vec<f64> = inward.by_ref().take(rows.sqrt() as usize).collect();
        let rarity = libm::log(rows / outermost.len() as f64);
        let start = inward.next().unwrap_or(outermost[0]);
        outermost.retain(|&value| value > start);
        let median = outermost.get(outermost.len() / 2).map_or(0.0, |value| value - start);
        Self { side, start, rarity, excess: (median / std::f64::consts::LN_2).max(LEAST_EXCESS) }
    }

    /// How surprising a value is if the tail goes on like that; not at all before it starts.
    fn surprise(&self, x: f64) -> f64 {
        let beyond = self.side * x - self.start;
        if beyond > 0.0 { self.rarity + beyond / self.excess } else { 0.0 }
    }
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

    /// Told plainly from an exponential law: the surprise of its own rows is that of their ranks.
    #[test]
    fn an_exponential_tail_goes_on_as_it_is() {
        let values: Vec<f64> = (0..10_000).map(|i| -libm::log((f64::from(i) + 0.5) / 1e4) / 10.0).collect();
        let tail = Tail::new(1.0, values.iter().copied());
        assert!((tail.excess / 0.1 - 1.0).abs() < 0.1, "{}", tail.excess);
        let at = |share: f64| tail.surprise(-libm::log(share) / 10.0);
        assert!((at(1e-3) + libm::log(1e-3)).abs() < 0.5 && at(0.5) == 0.0);
    }

    #[test]
    fn a_row_far_from_all_others_stands_out_more_than_the_first_of_many() {
        let curve_of = |last: f32| {
            let even = (0..1000).map(|i| i as f32 / 1000.0 - 1.0);
            curve(0, &Column::of_numbers(even.chain([last]).collect(), None))
        };
        let (near, far) = (curve_of(0.001), curve_of(1.0));
        assert!(far.at(1.0) > 4.0 * near.at(0.001), "{} {}", far.at(1.0), near.at(0.001));
        assert!(far.at(1.0) <= 4.0 * f64::from(square(libm::log(1001.0))), "but not without an end");
    }

    #[test]
    fn of_few_numbers_the_rare_one_stands_out_wherever_it_lies() {
        let days = (0..1000).map(|i| [-1.0, -0.5, 0.5, 1.0][i % 4]).chain([0.0]);
        let curve = curve(0, &Column::of_numbers(days.collect(), None));
        assert!(curve.at(0.0) > 40.0 && [-1.0, -0.5, 0.5, 1.0].iter().all(|&x| curve.at(x) < 3.0));
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

    /// The sample has the same rows of each: what tells them apart was counted in the table. None is rarer than half a row of the sample.
    #[test]
    fn categories_and_gaps_are_as_rare_as_in_the_whole_table() {
        let places = vec![-1.0, -0.4, 0.2, 0.6, 1.0];
        let values = || [-1.0, -0.4, 0.2].iter().flat_map(|&place| vec![place; 100]).collect();
        let curve_of = |counts: Vec<u64>| {
            let mut column = Column::of_categories(values(), places.clone());
            column.counts = counts;
            curve(0, &column)
        };
        let curve_of_table = curve_of(vec![900_000, 50_000, 49_000, 1, 0]);
        let values = &curve_of_table.values;
        assert!(values[0] < values[1] && values[1] < values[2] && values[2] < values[3], "{values:?}");
        assert_eq!(values[3], values[4], "one row of a million, and none");
        assert_eq!(curve_of(vec![100, 100, 100, 0, 0]).values, curve_of(Vec::new()).values);
        let mut marks = Column::of_marks(vec![-1.0; 300]);
        marks.counts = vec![999_000, 1000];
        assert!(!marks.varies() && marks.varies_in_table());
        let [there, gap] = [-1.0, 1.0].map(|mark| curve(0, &marks).at(mark));
        assert!(gap > 20.0 && there < 0.1, "{gap} {there}");
    }
}
