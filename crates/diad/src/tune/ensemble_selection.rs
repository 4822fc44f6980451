//! Ensemble selection on a validation table: starting from the stacked score, candidates that rank the validation rows better
//! are added greedily. It is bagged: bootstrap samples of the rows choose on their own, and their choices are averaged.

use super::basis::Basis;
use super::components::Components;
use super::examples::Examples;
use super::functions::{Functions, Learned};
use super::stacking::{LEARNED, Stacking};
use super::{FunctionParams, Observe, TuneProgress};
use crate::metrics::{mean_and_deviation, roc_auc};
use crate::parallel;
use crate::rng::{Purpose, Stream};
use crate::score::additive::Additive;
use crate::{Detector, Error, Result};

/// Most candidates that a sample adds.
const STEPS: usize = 10;
/// How much of a candidate a step may add, relative to the standard deviation of the stacked score.
const SIZES: [f64; 2] = [1.0, 1.0 / 3.0];
/// Bootstrap samples of the validation rows.
const SAMPLES: u64 = 8;
/// Most rows of a sample, of each label: anomalies, normal rows.
const SAMPLE_ROWS: [usize; 2] = [1500, 4000];
/// Candidates learned from labels: the stacked score, the boosted steps, and smooth functions with other settings.
const LEARNED_CANDIDATES: usize = 5;

/// What candidates are made of.
pub struct Ensemble<'a> {
    /// The detector that is tuned.
    pub detector: &'a Detector,
    /// The components of its score.
    pub components: &'a Components,
    /// The labelled rows.
    pub examples: &'a Examples,
    /// Functions of their columns.
    pub basis: &'a Basis,
    /// The base learners, stacked.
    pub stacking: &'a Stacking<'a>,
    /// The settings.
    pub params: &'a FunctionParams,
}

impl Ensemble<'_> {
    /// The score that ranks the validation rows best.
    pub fn select(&self, validation: &Examples, observe: Observe) -> Result<Additive> {
        let mut candidates = self.learned(observe)?;
        if self.params.prior > 0.0 {
            candidates.extend(self.components.parts.iter().cloned());
            candidates.push(Additive::of_part(LEARNED, 1.0, self.components.tails.clone()));
        }
        let scores: Vec<Vec<f32>> = candidates
            .iter()
            .map(|candidate| self.detector.score_component(candidate, &validation.matrix))
            .collect();
        let mut selected = candidates[0].clone();
        for (candidate, factor) in bagged(&validation.labels, &scores, LEARNED_CANDIDATES, self.params.seed) {
            selected.add(&candidates[candidate], factor as f32);
        }
        Ok(selected)
    }

    /// The candidates learned from labels. The other settings of smooth functions: equal shares of all columns, twice the
    /// amplitude, fewer columns.
    fn learned(&self, observe: Observe) -> Result<Vec<Additive>> {
        let Self { examples, basis, stacking, params, .. } = self;
        let mut done = 0;
        let mut tell = || {
            done += 1;
            match observe(TuneProgress { done, all: LEARNED_CANDIDATES }).is_break() {
                true => Err(Error::Stopped),
                false => Ok(()),
            }
        };
        let part = |learned: Learned| Additive::of_part(LEARNED, 1.0, learned.tables());
        let boosted_steps = stacking.boosted_steps();
        let stacked = stacking.score(&boosted_steps);
        tell()?;
        tell()?;
        let equal_shares = part(stacking.functions.learn(0));
        tell()?;
        let wide = FunctionParams { amplitude: 2.0 * params.amplitude, ..(*params).clone() };
        let wide = part(Functions::new(basis, examples, &wide).learn(params.rounds));
        tell()?;
        let few_columns = part(stacking.functions.learn(params.rounds + 4));
        tell()?;
        Ok(vec![stacked, boosted_steps, equal_shares, wide, few_columns])
    }
}

/// A candidate, and the factor it is added with.
type Choice = (usize, f64);

/// The mean of what bootstrap samples of the rows add to the first candidate, so that what only a few rows support counts
/// little. After the learned candidates come parts of the unsupervised score, which can also be subtracted.
fn bagged(labels: &[bool], scores: &[Vec<f32>], learned: usize, seed: u64) -> Vec<Choice> {
    let deviations: Vec<f64> = scores.iter().map(|scores| mean_and_deviation(scores).1).collect();
    let choices: Vec<Choice> = (1..scores.len())
        .filter(|&candidate| deviations[candidate] > 0.0)
        .flat_map(|candidate| SIZES.map(|size| (candidate, size * deviations[0] / deviations[candidate])))
        .flat_map(|(candidate, factor)| {
            let back = (candidate >= learned).then_some((candidate, -factor));
            [(candidate, factor)].into_iter().chain(back)
        })
        .collect();
    let of = |label: bool| (0..labels.len()).filter(|&row| labels[row] == label).collect::<Vec<usize>>();
    let classes = [of(true), of(false)];
    let choose = |sample: u64| {
        let mut random = Stream::new(seed, Purpose::Bootstrap, sample);
        let mut rows = Vec::new();
        for (class, most) in classes.iter().zip(SAMPLE_ROWS) {
            rows.extend((0..class.len().min(most)).map(|_| class[random.below(class.len())]));
        }
        let labels: Vec<bool> = rows.iter().map(|&row| labels[row]).collect();
        let scores: Vec<Vec<f32>> =
            scores.iter().map(|scores| rows.iter().map(|&row| scores[row]).collect()).collect();
        greedy(&labels, &scores, &choices)
    };
    let taken = parallel::map_indices(SAMPLES as usize, &|sample| choose(sample as u64));
    taken.into_iter().flatten().map(|(candidate, factor)| (candidate, factor / SAMPLES as f64)).collect()
}

/// Adds the best choice, again and again, as long as the ranking improves.
fn greedy(labels: &[bool], scores: &[Vec<f32>], choices: &[Choice]) -> Vec<Choice> {
    let with = |total: &[f32], (candidate, factor): Choice| -> Vec<f32> {
        total.iter().zip(&scores[candidate]).map(|(total, score)| total + factor as f32 * score).collect()
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
        assert_eq!(bagged(&labels, &[begin.clone(), flat.clone(), wrong.clone()], 3, 0), []);
        let back = bagged(&labels, &[begin.clone(), flat.clone(), wrong.clone()], 2, 0);
        assert!(
            !back.is_empty() && back.iter().all(|&(candidate, factor)| candidate == 2 && factor < 0.0),
            "{back:?}"
        );
        let taken = bagged(&labels, &[begin, flat, wrong, tells], 4, 0);
        assert!(
            !taken.is_empty() && taken.iter().all(|&(candidate, factor)| candidate == 3 && factor > 0.0),
            "{taken:?}"
        );
    }
}
