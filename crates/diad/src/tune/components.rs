//! The components of the unsupervised score.

use super::basis::nodes_of;
use crate::Detector;
use crate::encode::Column;
use crate::function::{Curve, Functions};
use crate::profile::Spread;
use crate::score::additive::Additive;

/// The smallest tail probability.
const LEAST_SHARE: f64 = 1.0 / 8192.0;

/// What a tuned score may take from the unsupervised one.
#[derive(Debug)]
pub struct Components {
    /// Its trees, its functions of one column, those of two.
    pub parts: [Additive; 3],
    /// Its constant.
    pub shift: f32,
    /// How far a row lies in the tails of its columns: for each column minus the logarithm of the tail probability towards
    /// the nearer end; for a category, of the categories as rare or rarer.
    pub tails: Functions,
}

impl Components {
    /// The components of a detector's score.
    pub fn of(detector: &Detector) -> Self {
        let score = detector.additive();
        let parts = [
            Additive::of_trees(score.tree_factor()),
            score.keeping(|functions| Functions { curves: functions.curves.clone(), grids: Vec::new() }),
            score.keeping(|functions| Functions { curves: Vec::new(), grids: functions.grids.clone() }),
        ];
        Self { parts, shift: score.shift, tails: tails(detector) }
    }
}

fn tails(detector: &Detector) -> Functions {
    let encoder = detector.encoder();
    let columns = encoder.columns().iter().zip(&detector.profile().columns).enumerate();
    let curve = |(feature, (column, spread)): (usize, (&Column, &Spread))| {
        let nodes = nodes_of(detector.functions(), feature as u32);
        let tail = |&x: &f32| {
            let above = 1.0 - spread.below(x);
            let share = if column.levels().is_empty() { spread.up_to(x).min(above) } else { above };
            -libm::log(share.max(LEAST_SHARE)) as f32
        };
        Curve { feature: feature as u32, values: nodes.iter().map(tail).collect(), nodes, beyond: [0.0; 2] }
    };
    let curves = columns.filter(|(_, (column, _))| column.min < column.max).map(curve).collect();
    Functions { curves, grids: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{first, table};
    use super::*;
    use crate::Scale;

    #[test]
    fn the_parts_of_a_score_add_up_to_it() {
        let detector = first(2, Scale::Both);
        let score = detector.additive();
        let rows = super::super::Labelled::read(&detector, &table(50, |_, _| true), "label").unwrap();
        let mut total = Additive { shift: score.shift, ..Additive::default() };
        let components = Components::of(&detector);
        components.parts.iter().for_each(|part| total.add(part, 1.0));
        let tails = Additive::of_part("more", 1.0, components.tails);
        total.add(&tails, 2.0);
        let [whole, plain, tails] =
            [&total, score, &tails].map(|score| detector.score_component(score, rows.matrix()));
        for ((whole, plain), tail) in whole.iter().zip(&plain).zip(&tails) {
            assert!((whole - plain - 2.0 * tail).abs() < 1e-4, "{whole} is not {plain} + 2 x {tail}");
        }
    }

    #[test]
    fn tails_rise_towards_both_ends() {
        let detector = first(2, Scale::Both);
        for curve in tails(&detector).curves {
            let [low, high] = [curve.values[0], *curve.values.last().unwrap()];
            let middle = curve.values.iter().copied().fold(f32::INFINITY, f32::min);
            assert!(low > middle + 1.0 && high > middle + 1.0, "{curve:?}");
            assert!(curve.values.iter().all(|value| (0.0..10.0).contains(value)));
        }
    }
}
