//! Surprise: how much rarer two values are together than they would be if their columns knew nothing of each other. Kin
//! to pointwise mutual information.
//!
//! Each column is cut into bins of about as many rows, or one for each of few values or frequent categories. A pair of bins
//! adds the square of the logarithm of the expected over the observed rows, one row added to both, where fewer than expected
//! came. A pair of columns counts by the square root of their mutual information, as far as it is beyond chance.

use super::column::{Column, FEW, nodes};
use super::{Part, Sample};
use crate::Params;
use crate::function::{Functions, Grid};
use crate::parallel;
use crate::score::additive::SURPRISE;

/// Most categories that have a bin of their own.
const CATEGORIES: usize = 48;
/// Rows added to what is expected and to what is observed.
const SMOOTHING: f64 = 1.0;
/// How many standard deviations more than by chance columns must tell of each other.
const BEYOND_CHANCE: f64 = 4.0;
/// Where surprise varies less, in squares of natural logarithms, it is chance: few rows in many bins.
const CHANCE: f64 = 0.5;
/// How wide the step from one bin to the next is, of a range of 2.
const STEP: f32 = 1.0 / (1 << 20) as f32;

/// Surprise at pairs of values.
pub struct Surprise;

impl Part for Surprise {
    named!(SURPRISE, weight_surprise);

    fn least_deviation(&self) -> f64 {
        CHANCE
    }

    fn functions(&self, sample: &Sample, params: &Params) -> Functions {
        let bins = parallel::map(&sample.columns, &Bins::new);
        let pairs = sample.pairs_with_gaps(params);
        let grid = |&features: &[u32; 2]| grid(features, features.map(|feature| &bins[feature as usize]));
        Functions { curves: Vec::new(), grids: parallel::map(&pairs, &grid).into_iter().flatten().collect() }
    }
}

/// A column cut into bins.
struct Bins {
    /// The bin of each row.
    of_rows: Vec<u16>,
    count: usize,
    /// Where its grids have nodes, and of each node the bin.
    nodes: Vec<f32>,
    of_nodes: Vec<u16>,
}

impl Bins {
    fn new(column: &Column) -> Self {
        let most = if column.is_category() { CATEGORIES } else { FEW };
        let (edges, nodes) = match (column.is_category(), column.distinct(most)) {
            // Between places there is nothing, so that an edge may lie anywhere between them.
            (true, _) => {
                let own = column.places.len().min(most);
                let edges: Vec<f32> =
                    column.places[..own].windows(2).map(|two| middle(two[0], two[1])).collect();
                (edges, column.places.clone())
            }
            (false, Some(values)) => {
                (values.windows(2).map(|two| middle(two[0], two[1])).collect(), nodes(values))
            }
            (false, None) => {
                let mut edges: Vec<f32> =
                    (1..most).map(|i| column.quantile(i as f64 / most as f64)).collect();
                edges.dedup();
                // Every bin has a row: the one at its edge, or, in the last one, the largest.
                edges.retain(|&edge| Some(&edge) != column.sorted.last());
                let steps = edges.iter().flat_map(|&edge| [edge, edge + STEP]);
                let nodes = nodes([-1.0, 1.0].into_iter().chain(steps).collect());
                (edges, nodes)
            }
        };
        let bin = |x: &f32| edges.partition_point(|edge| edge < x) as u16;
        let of_nodes = nodes.iter().map(bin).collect();
        Self { of_rows: column.values.iter().map(bin).collect(), count: edges.len() + 1, nodes, of_nodes }
    }
}

fn middle(a: f32, b: f32) -> f32 {
    a + (b - a) / 2.0
}

/// What two columns say together, unless they tell no more of each other than by chance.
fn grid(features: [u32; 2], bins: [&Bins; 2]) -> Option<Grid> {
    let across = bins[1].count;
    let mut observed = vec![0.0f64; bins[0].count * across];
    for (&a, &b) in bins[0].of_rows.iter().zip(&bins[1].of_rows) {
        observed[usize::from(a) * across + usize::from(b)] += 1.0;
    }
    let rows = bins[0].of_rows.len() as f64;
    let first: Vec<f64> = observed.chunks(across).map(|row| row.iter().sum()).collect();
    let second: Vec<f64> = (0..across).map(|j| observed.iter().skip(j).step_by(across).sum()).collect();
    let expected = |cell: usize| first[cell / across] * second[cell % across] / rows;
    let told = |cell: usize| match observed[cell] {
        0.0 => 0.0,
        found => found / rows * libm::log(found / expected(cell)),
    };
    let freedom = ((bins[0].count - 1) * (bins[1].count - 1)) as f64;
    let chance = (freedom + BEYOND_CHANCE * (2.0 * freedom).sqrt()) / (2.0 * rows);
    let weight = ((0..observed.len()).map(told).sum::<f64>() - chance).max(0.0).sqrt();
    if weight == 0.0 {
        return None;
    }
    let value = |a: u16, b: u16| {
        let cell = usize::from(a) * across + usize::from(b);
        let rarer = libm::log((expected(cell) + SMOOTHING) / (observed[cell] + SMOOTHING)).max(0.0);
        (weight * rarer * rarer) as f32
    };
    let values = bins[0].of_nodes.iter().flat_map(|&a| bins[1].of_nodes.iter().map(move |&b| (a, b)));
    let values = values.map(|(a, b)| value(a, b)).collect();
    Some(Grid { features, nodes: bins.map(|bins| bins.nodes.clone()), values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, Stream};

    fn normal(seed: u64) -> Vec<f32> {
        let mut random = Stream::new(seed, Purpose::Shuffle, 0);
        (0..4000).map(|_| (random.normal() / 4.0).clamp(-1.0, 1.0) as f32).collect()
    }

    fn bins(values: Vec<f32>) -> Bins {
        Bins::new(&Column::of_numbers(values, None))
    }

    #[test]
    fn columns_that_know_nothing_of_each_other_say_nothing() {
        assert!(grid([0, 1], [&bins(normal(1)), &bins(normal(2))]).is_none());
    }

    #[test]
    fn values_that_never_come_together_surprise() {
        let a = normal(3);
        let b = a.iter().zip(normal(4)).map(|(a, noise)| a + noise / 8.0).collect();
        let grid = grid([0, 1], [&bins(a), &bins(b)]).unwrap();
        assert!(grid.at(0.4, -0.4) > 1.0 && grid.at(0.4, 0.4) == 0.0);
    }

    /// Every row lies in the bin of the nodes around it.
    #[test]
    fn steps_lie_at_the_edges_of_bins() {
        let values = normal(5);
        let bins = bins(values.clone());
        assert_eq!(bins.count, FEW);
        for (value, bin) in values.iter().zip(&bins.of_rows) {
            let (node, share) = crate::function::locate(f64::from(*value), &bins.nodes);
            let near = if share < 0.5 { bins.of_nodes[node] } else { bins.of_nodes[node + 1] };
            assert!(near == *bin || share > 0.0 && share < 1.0, "{value}");
        }
    }
}
