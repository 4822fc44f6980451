//! Surprise: how much rarer two values are together than they would be if their columns knew nothing of each other. Kin
//! to pointwise mutual information.
//!
//! Each column is cut into bins of about as many rows, or one for each of few values or frequent categories. A pair of bins
//! adds the square of the logarithm of the expected over the observed rows, one row added to both, where fewer than expected
//! came. A pair of columns counts by the square root of their mutual information, as far as it is beyond chance.

use super::bins::{Bins, Joint};
use super::{Part, Sample};
use crate::Params;
use crate::function::{Functions, Grid};
use crate::parallel;
use crate::score::additive::SURPRISE;

/// Rows added to what is expected and to what is observed.
const SMOOTHING: f64 = 1.0;
/// How many standard deviations more than by chance columns must tell of each other.
const BEYOND_CHANCE: f64 = 4.0;
/// Where surprise varies less, in squares of natural logarithms, it is chance: few rows in many bins.
const CHANCE: f64 = 0.5;

/// Surprise at pairs of values.
pub struct Surprise;

impl Part for Surprise {
    named!(SURPRISE, weight_surprise);

    fn least_deviation(&self) -> f64 {
        CHANCE
    }

    fn functions(&self, sample: &Sample, params: &Params) -> Functions {
        let pairs = sample.pairs(params);
        let grid =
            |&features: &[u32; 2]| grid(features, features.map(|feature| &sample.bins[feature as usize]));
        Functions { curves: Vec::new(), grids: parallel::map(&pairs, &grid).into_iter().flatten().collect() }
    }
}

/// What two columns say together, unless they tell no more of each other than by chance.
fn grid(features: [u32; 2], bins: [&Bins; 2]) -> Option<Grid> {
    let joint = Joint::new(bins, 1);
    let chance = (joint.freedom() + BEYOND_CHANCE * (2.0 * joint.freedom()).sqrt()) / (2.0 * joint.rows());
    let weight = (joint.information() - chance).max(0.0).sqrt();
    if weight == 0.0 {
        return None;
    }
    let value = |a: u16, b: u16| {
        let [expected, observed] = joint.cell(a, b);
        let rarer = libm::log((expected + SMOOTHING) / (observed + SMOOTHING)).max(0.0);
        (weight * rarer * rarer) as f32
    };
    let values = bins[0].of_nodes.iter().flat_map(|&a| bins[1].of_nodes.iter().map(move |&b| (a, b)));
    let values = values.map(|(a, b)| value(a, b)).collect();
    Some(Grid { features, nodes: bins.map(|bins| bins.nodes.clone()), values })
}

#[cfg(test)]
mod tests {
    use super::super::column::{Column, FEW};
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
