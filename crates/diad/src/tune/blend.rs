//! With a validation table: the score is blended from what was learned in several ways and from the parts of the first
//! score. Beginning from what is learned without such a table, what ranks its rows surely better is added, step by step.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::functions::Functions;
use super::lesson::Lesson;
use super::select::Ranked;
use super::{TuneParams, TuneProgress, pieces, weigh};
use crate::model::Combination;
use crate::{Detector, Error, Result};

/// Most pieces that are added.
const STEPS: usize = 10;
/// How much of a piece a step may add, against the spread of the score begun with.
const SIZES: [f64; 2] = [1.0, 1.0 / 3.0];
/// How many standard errors a gain must be above nothing.
const DOUBT: f64 = 1.0;

/// The blend that ranks the validation rows best.
pub fn blend(
    first: &Detector,
    lesson: &Lesson,
    validation: &Lesson,
    params: &TuneParams,
    observe: &mut dyn FnMut(TuneProgress) -> ControlFlow<()>,
) -> Result<Combination> {
    let others = others(params);
    let mut found = Vec::new();
    for done in 0..=others.len() {
        found.push(match done {
            0 => weigh::learn(first, lesson, params),
            _ => pieces::of(Functions::new(first, lesson, &others[done - 1]).learn().tables()),
        });
        if observe(TuneProgress { done: done + 1, all: others.len() + 1 }).is_break() {
            return Err(Error::Stopped);
        }
    }
    let learned = found.len();
    if params.prior > 0.0 {
        found.extend(pieces::parts(first));
        found.push(pieces::tails(first));
    }
    let scores: Vec<Vec<f32>> =
        found.iter().map(|piece| pieces::scored(first, piece, &validation.matrix)).collect();
    let mut blended = found[0].clone();
    for (piece, factor) in steps(&validation.labels, &scores, learned) {
        pieces::add(&mut blended, &found[piece], factor as f32);
    }
    Ok(blended)
}

/// Other settings: all columns alike, functions that go farther, fewer columns.
fn others(params: &TuneParams) -> [TuneParams; 3] {
    [
        TuneParams { rounds: 0, ..params.clone() },
        TuneParams { amplitude: 2.0 * params.amplitude, ..params.clone() },
        TuneParams { rounds: params.rounds + 4, ..params.clone() },
    ]
}

/// The pieces that are added to the first one, with their factors. After so many learned ones come parts of the first score, of
/// which there may be too much: they can be taken away, too.
fn steps(labels: &[bool], scores: &[Vec<f32>], learned: usize) -> Vec<(usize, f64)> {
    let spreads: Vec<f64> = scores.iter().map(|scores| spread(scores)).collect();
    let choices: Vec<(usize, f64)> = (1..scores.len())
        .filter(|&piece| spreads[piece] > 0.0)
        .flat_map(|piece| SIZES.map(|size| (piece, size * spreads[0] / spreads[piece])))
        .flat_map(|(piece, factor)| {
            let back = (piece >= learned).then_some((piece, -factor));
            [(piece, factor)].into_iter().chain(back)
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ranks_better_is_added() {
        let labels: Vec<bool> = (0..400).map(|row| row % 10 == 0).collect();
        let noise = |row: usize, step: usize| (row * step % 101) as f32 / 101.0;
        let begin: Vec<f32> = (0..400).map(|row| noise(row, 37)).collect();
        let tells: Vec<f32> =
            (0..400).map(|row| f32::from(u8::from(labels[row])) * 5.0 + noise(row, 53)).collect();
        let flat = vec![1.0; 400];
        let wrong: Vec<f32> = tells.iter().map(|score| -score).collect();
        assert_eq!(steps(&labels, &[begin.clone(), flat.clone(), wrong.clone()], 3), []);
        let back = steps(&labels, &[begin.clone(), flat.clone(), wrong.clone()], 2);
        assert!(
            !back.is_empty() && back.iter().all(|&(piece, factor)| piece == 2 && factor < 0.0),
            "{back:?}"
        );
        let taken = steps(&labels, &[begin, flat, wrong, tells], 4);
        assert!(
            !taken.is_empty() && taken.iter().all(|&(piece, factor)| piece == 3 && factor > 0.0),
            "{taken:?}"
        );
    }
}
