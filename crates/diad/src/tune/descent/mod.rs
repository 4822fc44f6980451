//! Learning by descent, as the paper has it: Adam moves the trees so that labelled anomalies score higher.

use std::ops::ControlFlow;

use super::examples::Examples;
use super::{DescentParams, Observe, TuneProgress};
use crate::encode::Matrix;
use crate::kernel::{Isa, LANES, Lane, Real, Vectorized};
use crate::metrics::roc_auc;
use crate::model::{BLOCK_LANES, BLOCK_ROWS, Block, Forward, Model, Scratch, Wiring};
use crate::rng::{Purpose, Stream};
use crate::score::additive::Additive;
use crate::train::adam::{Moments, Step};
use crate::train::backward::{BackwardScratch, Direct, backward};
use crate::train::plan::Plan;
use crate::train::structure::{LayerGradient, parameter_gradients};
use crate::{Detector, Error, Result};

/// Steps between two looks at how well rows held out are ranked.
const LOOK_EVERY: usize = 20;
/// Looks without a better result after which it ends.
const PATIENCE: usize = 8;
/// Parts of the labelled rows that are held out in turn where there is no validation table.
const FOLDS: usize = 3;

/// Moves the trees of a detector. The number of steps is the one at which rows held out are ranked best: those of the
/// validation table, or else each part of the labelled rows in turn. No step at all is one of the choices.
pub fn descend(
    detector: &Detector,
    examples: &Examples,
    validation: Option<&Examples>,
    params: &DescentParams,
    observe: Observe,
) -> Result<Model<f32>> {
    if let Some(validation) = validation {
        let run = Run::new(detector, examples, params);
        let (looks, models) = run.follow(Some(validation), params.steps, true, observe)?;
        let best = best(&looks);
        return models.into_iter().nth(best).ok_or(Error::TuningDiverged);
    }
    let folds = FOLDS.min(examples.anomalies()).min(examples.labels.len() - examples.anomalies());
    if folds < 2 {
        // Nothing can be held out: a few steps, which move little.
        return Run::new(detector, examples, params).to(LOOK_EVERY.min(params.steps), observe);
    }
    let mut sums: Vec<f64> = Vec::new();
    for (kept, held_out) in examples.folds(folds) {
        let (looks, _) =
            Run::new(detector, &kept, params).follow(Some(&held_out), params.steps, false, observe)?;
        sums.resize(sums.len().max(looks.len()), 0.0);
        let last = looks.last().copied().unwrap_or(0.0);
        for (look, sum) in sums.iter_mut().enumerate() {
            *sum += looks.get(look).copied().unwrap_or(last) / folds as f64;
        }
    }
    let steps = (best(&sums) * LOOK_EVERY).min(params.steps);
    Run::new(detector, examples, params).to(steps, observe)
}

/// The first of the best looks.
fn best(looks: &[f64]) -> usize {
    (0..looks.len()).fold(0, |best, look| if looks[look] > looks[best] { look } else { best })
}

/// Trees on their way.
struct Run<'a> {
    detector: &'a Detector,
    examples: &'a Examples,
    params: &'a DescentParams,
    /// What curves, grids and the shift give to each row of the examples.
    rest: Vec<f64>,
}

impl<'a> Run<'a> {
    fn new(detector: &'a Detector, examples: &'a Examples, params: &'a DescentParams) -> Self {
        let alone = Additive::of_trees(detector.additive().tree_factor());
        let trees = detector.score_component(&alone, &examples.matrix);
        let rest = examples
            .scores
            .iter()
            .zip(&trees)
            .map(|(all, trees)| f64::from(*all) - f64::from(*trees))
            .collect();
        Self { detector, examples, params, rest }
    }

    /// The trees after so many steps.
    fn to(&self, steps: usize, observe: Observe) -> Result<Model<f32>> {
        let mut trees = self.trees();
        for step in 0..steps {
            self.step(&mut trees, step);
            self.tell(step, steps, observe)?;
        }
        sane(trees.model)
    }

    /// Goes on until rows held out are not ranked better for a while. Returns how well they were ranked at each look, the
    /// first before any step, and the trees of each look if they are to be kept.
    fn follow(
        &self,
        held_out: Option<&Examples>,
        steps: usize,
        keep: bool,
        observe: Observe,
    ) -> Result<(Vec<f64>, Vec<Model<f32>>)> {
        let mut trees = self.trees();
        let (mut looks, mut models) = (Vec::new(), Vec::new());
        for step in 0..=steps {
            if step % LOOK_EVERY == 0 {
                let model = sane(trees.model.clone())?;
                if let Some(held_out) = held_out {
                    looks.push(self.rank(&model, held_out));
                }
                if keep {
                    models.push(model);
                }
                if looks.len() > best(&looks) + PATIENCE {
                    break;
                }
            }
            if step < steps {
                self.step(&mut trees, step);
                self.tell(step, steps, observe)?;
            }
        }
        Ok((looks, models))
    }

    fn tell(&self, step: usize, steps: usize, observe: Observe) -> Result<()> {
        match observe(TuneProgress { done: step + 1, all: steps }) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::Stopped),
        }
    }

    fn rank(&self, model: &Model<f32>, examples: &Examples) -> f64 {
        let scores = self.detector.score_with_trees(model, &examples.matrix);
        roc_auc(&examples.labels, &scores).unwrap_or(0.5)
    }

    fn trees(&self) -> Trees<f32> {
        Trees::new(self.detector.model().clone(), self.detector.params().final_temperature())
    }

    fn step(&self, trees: &mut Trees<f32>, step: usize) {
        let rows = self.draw(step);
        let examples = self.examples.part(&rows);
        let rest: Vec<f64> = rows.iter().map(|&row| self.rest[row]).collect();
        let factor = f64::from(self.detector.additive().tree_factor());
        let slopes =
            |scores: &[f64]| self.params.loss.evaluate(&examples.labels, scores, self.params.margin).1;
        let gradients = trees.gradients(&examples.matrix, &rest, factor, slopes);
        trees.apply(&gradients, self.params);
    }

    /// The rows of a step: as many anomalies as normal rows, or any.
    fn draw(&self, step: usize) -> Vec<usize> {
        let mut random = Stream::new(self.params.seed, Purpose::Tuning, step as u64);
        let (all, anomalies) = (self.examples.labels.len(), self.examples.anomalies());
        let batch = self.params.batch;
        if !self.params.upsample {
            let mut rows: Vec<usize> = (0..all).collect();
            random.shuffle_front(&mut rows, batch);
            rows.truncate(batch);
            return rows;
        }
        let half = (batch / 2).max(1);
        let mut rows: Vec<usize> = (0..half).map(|_| random.below(anomalies)).collect();
        let mut normals: Vec<usize> = (anomalies..all).collect();
        random.shuffle_front(&mut normals, half);
        normals.truncate(half);
        rows.extend(normals);
        rows
    }
}

fn sane(model: Model<f32>) -> Result<Model<f32>> {
    if model.is_sane() { Ok(model) } else { Err(Error::TuningDiverged) }
}

/// The Adam state of one layer.
#[derive(Debug, Clone, Default)]
struct LayerMoments<F> {
    thresholds: Moments<F>,
    log_slopes: Moments<F>,
    leaf_weights: Moments<F>,
    keys: Moments<F>,
    queries: Moments<F>,
}

/// Trees that are moved.
struct Trees<F: 'static> {
    model: Model<F>,
    wiring: Wiring<F>,
    plan: Plan<F>,
    moments: Vec<LayerMoments<F>>,
    temperature: f64,
    steps: usize,
}

impl<F: Real> Trees<F> {
    fn new(model: Model<F>, temperature: f64) -> Self
    where
        F: Vectorized,
    {
        let mut wiring = Wiring::new(&model, Isa::detect());
        wiring.separate = true;
        let moments = (0..model.shape.layers).map(|_| LayerMoments::default()).collect();
        Self { model, wiring, plan: Plan::default(), moments, temperature, steps: 0 }
    }

    /// The gradient of a loss of the scores: `factor` times the mean of the trees, plus the rest. `slopes` gives the
    /// derivatives of the loss by the scores.
    fn gradients(
        &mut self,
        rows: &Matrix,
        rest: &[f64],
        factor: f64,
        slopes: impl FnOnce(&[f64]) -> Vec<f64>,
    ) -> Vec<LayerGradient<F>> {
        let temperature = F::from_f64(self.temperature);
        let trees = self.model.shape.all_trees();
        self.wiring.update(&self.model, temperature);
        self.plan.update(&self.model, &self.wiring, &vec![true; trees], true);
        let forward = Forward { model: &self.model, wiring: &self.wiring };
        let share = factor / trees.max(1) as f64;
        let mut total = vec![Lane::default(); BLOCK_LANES];
        let (mut blocks, mut scores) = (Vec::new(), Vec::new());
        for part in rows.values.chunks(BLOCK_ROWS * rows.width) {
            let mut block = Block::new(rows.width);
            block.fill_rows(None, part.chunks_exact(rows.width));
            forward.sum(&self.wiring.order, &mut block, &mut Scratch::default(), &mut total);
            let count = part.len() / rows.width;
            scores.extend((0..count).map(|i| share * total[i / LANES].0[i % LANES].to_f64()));
            blocks.push(block);
        }
        scores.iter_mut().zip(rest).for_each(|(score, rest)| *score += rest);
        let slopes = slopes(&scores);
        let mut sums = vec![F::default(); self.plan.gradient_len()];
        let mut scratch = BackwardScratch::default();
        for (block, slopes) in blocks.iter().zip(slopes.chunks(BLOCK_ROWS)) {
            let mut lanes = vec![Lane::default(); block.lanes()];
            for (i, slope) in slopes.iter().enumerate() {
                lanes[i / LANES].0[i % LANES] = F::from_f64(share * slope);
            }
            backward(
                forward,
                &self.wiring.order,
                &self.plan,
                block,
                Direct::Rows(&lanes),
                &mut scratch,
                &mut sums,
            );
        }
        parameter_gradients(&self.model, &self.wiring, &self.plan, &sums, temperature)
    }

    /// One step of Adam.
    fn apply(&mut self, gradients: &[LayerGradient<F>], params: &DescentParams) {
        self.steps += 1;
        let step = Step::new(self.steps, params.learning_rate);
        for ((layer, moments), gradient) in self.model.layers.iter_mut().zip(&mut self.moments).zip(gradients)
        {
            step.apply(&mut moments.leaf_weights, &mut layer.leaf_weights, &gradient.leaf_weights);
            if !params.freeze_structure {
                step.apply(&mut moments.thresholds, &mut layer.thresholds, &gradient.thresholds);
                step.apply(&mut moments.log_slopes, &mut layer.log_slopes, &gradient.log_slopes);
                step.apply(&mut moments.keys, &mut layer.keys, &gradient.keys);
                step.apply(&mut moments.queries, &mut layer.queries, &gradient.queries);
            }
        }
    }
}

#[cfg(test)]
mod tests;
