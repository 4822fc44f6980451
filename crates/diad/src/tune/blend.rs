//! With a validation table: the score is blended from what was learned in several ways and from the parts of the first
//! score. Beginning from what is learned without such a table, what ranks its rows surely better is added, step by step.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::basis::nodes_of;
use super::functions;
use super::lesson::Lesson;
use super::select::Ranked;
use super::{TuneParams, TuneProgress};
use crate::encode::Column;
use crate::model::{Combination, Curve, Grid, Tables};
use crate::profile::Spread;
use crate::{Detector, Error, Result};

/// Most pieces that are added.
const STEPS: usize = 10;
/// How much of a piece a step may add, against the spread of the score begun with.
const SIZES: [f64; 2] = [1.0, 1.0 / 3.0];
/// How many standard errors a gain must be above nothing.
const DOUBT: f64 = 0.5;
/// The smallest share of rows that a tail knows of.
const LEAST_SHARE: f64 = 1.0 / 8192.0;

/// The blend that ranks the validation rows best.
pub fn blend(
    first: &Detector,
    lesson: &Lesson,
    validation: &Lesson,
    params: &TuneParams,
    observe: &mut dyn FnMut(TuneProgress) -> ControlFlow<()>,
) -> Result<Combination> {
    let settings = settings(params);
    let mut pieces = Vec::new();
    for (done, settings_now) in settings.iter().enumerate() {
        let learned = functions::learn(first, lesson, settings_now);
        pieces.push(match done {
            0 => functions::combine(first, learned, params.prior > 0.0),
            _ => Combination { tables: learned, ..Combination::default() },
        });
        if observe(TuneProgress { done: done + 1, all: settings.len() }).is_break() {
            return Err(Error::Stopped);
        }
    }
    if params.prior > 0.0 {
        pieces.extend(parts(first));
    }
    let (_, _, model, _) = first.parts();
    let scores: Vec<Vec<f32>> = pieces
        .iter()
        .map(|piece| {
            let mut scores = vec![0.0; validation.labels.len()];
            first.with_model(model.clone(), piece.clone()).score_encoded(&validation.matrix, &mut scores);
            scores
        })
        .collect();
    let mut blended = pieces[0].clone();
    for (piece, factor) in steps(&validation.labels, &scores) {
        add(&mut blended, &pieces[piece], factor as f32);
    }
    Ok(blended)
}

/// The settings given, and others: all columns alike, functions that go farther, fewer columns.
fn settings(params: &TuneParams) -> [TuneParams; 4] {
    [
        params.clone(),
        TuneParams { rounds: 0, ..params.clone() },
        TuneParams { amplitude: 2.0 * params.amplitude, ..params.clone() },
        TuneParams { rounds: params.rounds + 4, ..params.clone() },
    ]
}

/// What the first score consists of: its trees, its curves, its grids; and how far a row lies in the tails of its columns.
fn parts(first: &Detector) -> Vec<Combination> {
    let (_, _, _, score) = first.parts();
    let of = |curves: &[Curve], grids: &[_]| Combination {
        tables: Tables { curves: curves.to_vec(), grids: grids.to_vec() },
        ..Combination::default()
    };
    vec![
        Combination { tree_factor: score.tree_factor, ..Combination::default() },
        of(&score.tables.curves, &[]),
        of(&[], &score.tables.grids),
        of(&tails(first), &[]),
    ]
}

/// For each column the logarithm of one over the share of rows at or beyond a value, towards the nearer end; for
/// categories, of those as rare or rarer.
fn tails(first: &Detector) -> Vec<Curve> {
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
    columns.filter(|(_, (column, _))| column.min < column.max).map(curve).collect()
}

/// The pieces that are added to the first one, with their factors.
fn steps(labels: &[bool], scores: &[Vec<f32>]) -> Vec<(usize, f64)> {
    let spreads: Vec<f64> = scores.iter().map(|scores| spread(scores)).collect();
    let choices: Vec<(usize, f64)> = (1..scores.len())
        .filter(|&piece| spreads[piece] > 0.0)
        .flat_map(|piece| SIZES.map(|size| (piece, size * spreads[0] / spreads[piece])))
        .collect();
    let with = |total: &[f32], (piece, factor): (usize, f64)| -> Vec<f32> {
        total.iter().zip(&scores[piece]).map(|(total, score)| total + factor as f32 * score).collect()
    };
    let mut total = scores[0].clone();
    let mut ranked = Ranked::of(labels, &total);
    let mut taken = Vec::new();
    for _ in 0..STEPS {
        let tried = choices.par_iter().map(|&choice| Ranked::of(labels, &with(&total, choice)));
        let tried: Vec<Ranked> = tried.collect();
        let Some(best) = ranked.surely_better(&tried, DOUBT) else { break };
        total = with(&total, choices[best]);
        ranked = tried[best].clone();
        taken.push(choices[best]);
    }
    taken
}

fn spread(scores: &[f32]) -> f64 {
    let n = scores.len().max(1) as f64;
    let mean = scores.iter().map(|&score| f64::from(score)).sum::<f64>() / n;
    (scores.iter().map(|&score| (f64::from(score) - mean).powi(2)).sum::<f64>() / n).sqrt()
}

/// Adds so much of a piece.
fn add(total: &mut Combination, piece: &Combination, factor: f32) {
    total.tree_factor += factor * piece.tree_factor;
    for curve in &piece.tables.curves {
        let values = curve.values.iter().map(|value| factor * value).collect();
        functions::add_curve(&mut total.tables.curves, Curve { values, ..curve.clone() });
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
        let (_, _, model, score) = detector.parts();
        let rows = super::super::Labelled::read(&detector, &table(50, |_, _| true), "label").unwrap();
        let scored = |combination: Combination| {
            let mut scores = vec![0.0; 50];
            detector.with_model(model.clone(), combination).score_encoded(rows.matrix(), &mut scores);
            scores
        };
        let pieces = parts(&detector);
        let mut total = Combination { shift: score.shift, ..Combination::default() };
        pieces[..3].iter().for_each(|piece| add(&mut total, piece, 1.0));
        assert_eq!(&total, score);
        add(&mut total, &pieces[3], 2.0);
        let [whole, plain, tails] = [total, score.clone(), pieces[3].clone()].map(scored);
        for ((whole, plain), tail) in whole.iter().zip(&plain).zip(&tails) {
            assert!((whole - plain - 2.0 * tail).abs() < 1e-4, "{whole} is not {plain} + 2 x {tail}");
        }
    }

    #[test]
    fn tails_rise_towards_both_ends() {
        let detector = first(2, Scale::Both);
        for curve in tails(&detector) {
            let [low, high] = [curve.values[0], *curve.values.last().unwrap()];
            let middle = curve.values.iter().copied().fold(f32::INFINITY, f32::min);
            assert!(low > middle + 1.0 && high > middle + 1.0, "{curve:?}");
            assert!(curve.values.iter().all(|value| (0.0..10.0).contains(value)));
        }
    }

    #[test]
    fn only_what_ranks_better_is_added() {
        let labels: Vec<bool> = (0..400).map(|row| row % 10 == 0).collect();
        let noise = |row: usize, step: usize| (row * step % 101) as f32 / 101.0;
        let begin: Vec<f32> = (0..400).map(|row| noise(row, 37)).collect();
        let tells: Vec<f32> =
            (0..400).map(|row| f32::from(u8::from(labels[row])) * 5.0 + noise(row, 53)).collect();
        let flat = vec![1.0; 400];
        let wrong: Vec<f32> = tells.iter().map(|score| -score).collect();
        assert_eq!(steps(&labels, &[begin.clone(), flat.clone(), wrong.clone()]), []);
        let taken = steps(&labels, &[begin, flat, wrong, tells]);
        assert!(
            !taken.is_empty() && taken.iter().all(|&(piece, factor)| piece == 3 && factor > 0.0),
            "{taken:?}"
        );
    }
}
