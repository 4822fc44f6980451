//! What a score can be put together from.

use super::basis::nodes_of;
use crate::Detector;
use crate::encode::{Column, Matrix};
use crate::model::{Combination, Curve, Grid, Tables};
use crate::profile::Spread;

/// The smallest share of rows that a tail knows of.
const LEAST_SHARE: f64 = 1.0 / 8192.0;

/// What the first score consists of: its trees, its curves, its grids.
pub fn parts(first: &Detector) -> [Combination; 3] {
    let (_, _, _, score) = first.parts();
    let of = |curves: &[Curve], grids: &[Grid]| of(Tables { curves: curves.to_vec(), grids: grids.to_vec() });
    [
        Combination { tree_factor: score.tree_factor, ..Combination::default() },
        of(&score.tables.curves, &[]),
        of(&[], &score.tables.grids),
    ]
}

/// How far a row lies in the tails of its columns: for each column the logarithm of one over the share of rows at or beyond a
/// value, towards the nearer end; for categories, of those as rare or rarer.
pub fn tails(first: &Detector) -> Combination {
    let (_, encoder, _, score) = first.parts();
    let columns = encoder.columns().iter().zip(&first.profile().columns).enumerate();
    let curve = |(feature, (column, spread)): (usize, (&Column, &Spread))| {
        let nodes = nodes_of(&score.tables, feature as u32);
        let tail = |&x: &f32| {
            let above = 1.0 - spread.below(x);
            let share = if column.levels().is_empty() { spread.up_to(x).min(above) } else { above };
            -libm::log(share.max(LEAST_SHARE)) as f32
        };
        Curve { feature: feature as u32, values: nodes.iter().map(tail).collect(), nodes }
    };
    let curves = columns.filter(|(_, (column, _))| column.min < column.max).map(curve).collect();
    of(Tables { curves, grids: Vec::new() })
}

/// Functions alone.
pub fn of(tables: Tables) -> Combination {
    Combination { tables, ..Combination::default() }
}

/// What a piece gives some rows.
pub fn scored(first: &Detector, piece: &Combination, matrix: &Matrix) -> Vec<f32> {
    let (_, _, model, _) = first.parts();
    super::scored(&first.with_model(model.clone(), piece.clone()), matrix)
}

/// The mean and the standard deviation of values.
pub fn mean_and_spread(values: &[f32]) -> [f64; 2] {
    let n = values.len().max(1) as f64;
    let mean = values.iter().map(|&value| f64::from(value)).sum::<f64>() / n;
    [mean, (values.iter().map(|&value| (f64::from(value) - mean).powi(2)).sum::<f64>() / n).sqrt()]
}

/// Adds so much of a piece. Curves of the same feature, and grids of the same features and nodes, become one.
pub fn add(total: &mut Combination, piece: &Combination, factor: f32) {
    total.tree_factor += factor * piece.tree_factor;
    for curve in &piece.tables.curves {
        let values = curve.values.iter().map(|value| factor * value);
        match total.tables.curves.iter_mut().find(|known| known.feature == curve.feature) {
            Some(known) => known.values.iter_mut().zip(values).for_each(|(known, value)| *known += value),
            None => {
                let values = values.collect();
                total.tables.curves.push(Curve { values, ..curve.clone() });
            }
        }
    }
    for grid in &piece.tables.grids {
        let same = |known: &&mut Grid| known.features == grid.features && known.nodes == grid.nodes;
        let values = grid.values.iter().map(|value| factor * value);
        match total.tables.grids.iter_mut().find(same) {
            Some(known) => known.values.iter_mut().zip(values).for_each(|(known, value)| *known += value),
            None => {
                let values = values.collect();
                total.tables.grids.push(Grid { values, ..grid.clone() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{first, table};
    use super::*;
    use crate::Scale;

    #[test]
    fn the_parts_of_a_score_add_up_to_it() {
        let detector = first(2, Scale::Both);
        let (_, _, _, score) = detector.parts();
        let rows = super::super::Labelled::read(&detector, &table(50, |_, _| true), "label").unwrap();
        let mut total = Combination { shift: score.shift, ..Combination::default() };
        parts(&detector).iter().for_each(|piece| add(&mut total, piece, 1.0));
        assert_eq!(&total, score);
        let tails = tails(&detector);
        add(&mut total, &tails, 2.0);
        let [whole, plain, tails] =
            [&total, score, &tails].map(|piece| scored(&detector, piece, rows.matrix()));
        for ((whole, plain), tail) in whole.iter().zip(&plain).zip(&tails) {
            assert!((whole - plain - 2.0 * tail).abs() < 1e-4, "{whole} is not {plain} + 2 x {tail}");
        }
    }

    #[test]
    fn tails_rise_towards_both_ends() {
        let detector = first(2, Scale::Both);
        for curve in tails(&detector).tables.curves {
            let [low, high] = [curve.values[0], *curve.values.last().unwrap()];
            let middle = curve.values.iter().copied().fold(f32::INFINITY, f32::min);
            assert!(low > middle + 1.0 && high > middle + 1.0, "{curve:?}");
            assert!(curve.values.iter().all(|value| (0.0..10.0).contains(value)));
        }
    }
}
