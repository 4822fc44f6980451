//! What a score can be put together from.

use super::basis::nodes_of;
use crate::Detector;
use crate::encode::{Column, Matrix};
use crate::function::{Curve, Functions};
use crate::profile::Spread;
use crate::score::additive::Additive;

/// The smallest share of rows that a tail knows of.
const LEAST_SHARE: f64 = 1.0 / 8192.0;

/// What the first score consists of: its trees, its functions of one column, those of two.
pub fn parts(first: &Detector) -> [Additive; 3] {
    let score = first.additive();
    [
        Additive::of_trees(score.tree_factor()),
        score.keeping(|functions| Functions { curves: functions.curves.clone(), grids: Vec::new() }),
        score.keeping(|functions| Functions { curves: Vec::new(), grids: functions.grids.clone() }),
    ]
}

/// How far a row lies in the tails of its columns: for each column the logarithm of one over the share of rows at or beyond a
/// value, towards the nearer end; for categories, of those as rare or rarer.
pub fn tails(first: &Detector) -> Functions {
    let encoder = first.encoder();
    let columns = encoder.columns().iter().zip(&first.profile().columns).enumerate();
    let curve = |(feature, (column, spread)): (usize, (&Column, &Spread))| {
        let nodes = nodes_of(first.functions(), feature as u32);
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

/// What a piece gives some rows.
pub fn scored(first: &Detector, piece: &Additive, matrix: &Matrix) -> Vec<f32> {
    super::scored(&first.with_model(first.model().clone(), piece.clone()), matrix)
}

/// The mean and the standard deviation of values.
pub fn mean_and_spread(values: &[f32]) -> [f64; 2] {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / n;
    [mean, (values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>() / n).sqrt()]
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
        parts(&detector).iter().for_each(|piece| total.add(piece, 1.0));
        let tails = Additive::of_part("more", 1.0, tails(&detector));
        total.add(&tails, 2.0);
        let [whole, plain, tails] =
            [&total, score, &tails].map(|piece| scored(&detector, piece, rows.matrix()));
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
