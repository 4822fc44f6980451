//! With a validation table: the score is blended from what was learned in several ways and from the parts of the first
//! score. Beginning from what is learned without such a table, what ranks samples of its rows better is added, step by step.

use rayon::prelude::*;

use super::basis::Basis;
use super::functions::Functions;
use super::lesson::Lesson;
use super::stairs::Stairs;
use super::weigh::LEARNED;
use super::{FunctionParams, Observe, TuneProgress, pieces, weigh};
use crate::metrics::roc_auc;
use crate::rng::{Purpose, Stream};
use crate::score::additive::Additive;
use crate::{Detector, Error, Result};

/// Most pieces that are added.
const STEPS: usize = 10;
/// How much of a piece a step may add, against the spread of the score begun with.
const SIZES: [f64; 2] = [1.0, 1.0 / 3.0];
/// Samples of the validation rows that choose, each for itself; what is added is the mean of their choices.
const VOTES: u64 = 8;
/// Most rows of a sample, of each label: anomalies, normal rows.
const SAMPLE: [usize; 2] = [1500, 4000];

/// The blend that ranks the validation rows best.
pub fn blend(
    first: &Detector,
    lesson: &Lesson,
    validation: &Lesson,
    params: &FunctionParams,
    observe: Observe,
) -> Result<Additive> {
    let known = lesson.at_most(params);
    let basis = Basis::new(first, &known);
    let others = others(params);
    let mut found = Vec::new();
    let all = others.len() + 2;
    for done in 0..all {
        found.push(match done {
            0 => weigh::learn(first, &known, &basis, params),
            1 => Additive::of_part(LEARNED, 1.0, Stairs::new(&basis, &known, params).tables()),
            _ => {
                let learned = Functions::new(&basis, &known, &others[done - 2]).learn();
                Additive::of_part(LEARNED, 1.0, learned.tables())
            }
        });
        if observe(TuneProgress { done: done + 1, all }).is_break() {
            return Err(Error::Stopped);
        }
    }
    let learned = found.len();
    if params.prior > 0.0 {
        found.extend(pieces::parts(first));
        found.push(Additive::of_part(LEARNED, 1.0, pieces::tails(first)));
    }
    let scores: Vec<Vec<f32>> =
        found.iter().map(|piece| pieces::scored(first, piece, &validation.matrix)).collect();
    let mut blended = found[0].clone();
    for (piece, factor) in votes(&validation.labels, &scores, learned, params.seed) {
        blended.add(&found[piece], factor as f32);
    }
    Ok(blended)
}

/// Other settings: all columns alike, functions that go farther, fewer columns.
fn others(params: &FunctionParams) -> [FunctionParams; 3] {
    [
        FunctionParams { rounds: 0, ..params.clone() },
        FunctionParams { amplitude: 2.0 * params.amplitude, ..params.clone() },
        FunctionParams { rounds: params.rounds + 4, ..params.clone() },
    ]
}

/// A piece, and what it is multiplied by before it is added.
type Choice = (usize, f64);

/// The pieces that are added to the first one, with their factors: the mean of what samples of the rows, drawn with replacement,
/// would add. What only some rows speak for is added by some samples only. After so many learned pieces come parts of the first
/// score, of which there may be too much: they can be taken away, too.
fn votes(labels: &[bool], scores: &[Vec<f32>], learned: usize, seed: u64) -> Vec<Choice> {
    let spreads: Vec<f64> = scores.iter().map(|scores| pieces::mean_and_spread(scores)[1]).collect();
    let choices: Vec<Choice> = (1..scores.len())
        .filter(|&piece| spreads[piece] > 0.0)
        .flat_map(|piece| SIZES.map(|size| (piece, size * spreads[0] / spreads[piece])))
        .flat_map(|(piece, factor)| {
            let back = (piece >= learned).then_some((piece, -factor));
            [(piece, factor)].into_iter().chain(back)
        })
        .collect();
    let of = |label: bool| (0..labels.len()).filter(|&row| labels[row] == label).collect::<Vec<usize>>();
    let classes = [of(true), of(false)];
    let vote = |vote: u64| {
        let mut random = Stream::new(seed, Purpose::Votes, vote);
        let mut rows = Vec::new();
        for (class, most) in classes.iter().zip(SAMPLE) {
            rows.extend((0..class.len().min(most)).map(|_| class[random.below(class.len())]));
        }
        let labels: Vec<bool> = rows.iter().map(|&row| labels[row]).collect();
        let scores: Vec<Vec<f32>> =
            scores.iter().map(|scores| rows.iter().map(|&row| scores[row]).collect()).collect();
        steps(&labels, &scores, &choices)
    };
    let taken: Vec<Vec<Choice>> = (0..VOTES).into_par_iter().map(vote).collect();
    taken.into_iter().flatten().map(|(piece, factor)| (piece, factor / VOTES as f64)).collect()
}

/// What is added step by step, as long as rows are ranked better by it.
fn steps(labels: &[bool], scores: &[Vec<f32>], choices: &[Choice]) -> Vec<Choice> {
    let with = |total: &[f32], (piece, factor): Choice| -> Vec<f32> {
        total.iter().zip(&scores[piece]).map(|(total, score)| total + factor as f32 * score).collect()
    };
    let area = |scores: &[f32]| roc_auc(labels, scores).unwrap_or(0.5);
    let mut total = scores[0].clone();
    let mut reached = area(&total);
    let mut taken = Vec::new();
    for _ in 0..STEPS {
        let mut best = None;
        for &choice in choices {
            let found = area(&with(&total, choice));
            if found > reached {
                (best, reached) = (Some(choice), found);
            }
        }
        let Some(choice) = best else { break };
        total = with(&total, choice);
        taken.push(choice);
    }
    taken
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
        assert_eq!(votes(&labels, &[begin.clone(), flat.clone(), wrong.clone()], 3, 0), []);
        let back = votes(&labels, &[begin.clone(), flat.clone(), wrong.clone()], 2, 0);
        assert!(
            !back.is_empty() && back.iter().all(|&(piece, factor)| piece == 2 && factor < 0.0),
            "{back:?}"
        );
        let taken = votes(&labels, &[begin, flat, wrong, tells], 4, 0);
        assert!(
            !taken.is_empty() && taken.iter().all(|&(piece, factor)| piece == 3 && factor > 0.0),
            "{taken:?}"
        );
    }
}
