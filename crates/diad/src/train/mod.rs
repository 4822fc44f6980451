//! Training the trees on rows without labels. Knows the model and encoded matrices.

pub(crate) mod adam;
pub(crate) mod backward;
mod pid;
pub(crate) mod plan;
mod sampler;
pub(crate) mod snapshot;
mod start;
pub(crate) mod structure;
mod trainer;
mod work;

use std::ops::ControlFlow;

use crate::encode::Matrix;
use crate::kernel::Isa;
use crate::model::Model;
use crate::rng::{Purpose, Stream};
use crate::{Error, Params, Result};
use sampler::Sampler;
use snapshot::{Keeper, Snapshot};
use trainer::{StepPlan, Trainer};
pub use work::Work;

/// The state of a fit after a step.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// The loss of this step per tree in it: minus the mean of Σ V²/D. At -1 a tree has found nothing.
    pub loss: f64,
    /// The temperature of this step.
    pub temperature: f64,
    /// What this step had to compute.
    pub work: Work,
}

/// Called after each step; may stop the training.
pub type Observe<'a> = &'a mut (dyn FnMut(Progress) -> ControlFlow<()> + 'a);

/// Trains the trees on some features of an encoded matrix, resuming from what a keeper has and giving it snapshots. `observe` is called after
/// each step and may stop the training.
///
/// # Errors
/// If a setting is out of range, the matrix has fewer than two rows, the training was stopped, or it diverged.
pub(crate) fn train(
    params: &Params,
    (matrix, features): (&Matrix, &[u32]),
    keeper: Option<&mut dyn Keeper>,
    observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Model<f32>> {
    params.validate()?;
    let rows = matrix.rows();
    if !(2..=u32::MAX as usize).contains(&rows) {
        return Err(Error::TooFewRows { rows });
    }
    let model = fit_model(params, (matrix, features), Isa::detect(), keeper, observe)?;
    tracing::info!("trained the trees");
    Ok(model)
}

fn fit_model(
    params: &Params,
    (matrix, chosen): (&Matrix, &[u32]),
    isa: Isa,
    mut keeper: Option<&mut dyn Keeper>,
    observe: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Model<f32>> {
    if params.weight_trees == 0.0 {
        return Ok(start::random_model(params, matrix.width, chosen));
    }
    let mut sampler = Sampler::new(matrix, params.batch, params.seed);
    let mut trainer = Trainer::<f32>::new(start::random_model(params, matrix.width, chosen), isa);
    let mut done = 0;
    if let Some(keeper) = &mut keeper
        && let Some(kept) = keeper.resume()?
    {
        done = usize::try_from(kept.step).unwrap_or(usize::MAX);
        let chosen = done > params.anneal;
        if done > params.steps || kept.hardened != chosen || !kept.restore(&mut trainer) {
            return Err(keeper.misfit());
        }
        sampler.skip(done);
    }
    for step in done..params.steps {
        let annealed = if params.anneal == 0 { 1.0 } else { (step as f64 / params.anneal as f64).min(1.0) };
        let temperature = params.temperature(annealed);
        if annealed >= 1.0 {
            trainer.model.harden();
        }
        sampler.draw(step, trainer.model.chosen_features().as_deref());
        if step == 0 {
            start::place_splits(&mut trainer, &mut sampler.rows, params.seed, temperature as f32);
        }
        let keep = kept_trees(params, step);
        let plan = StepPlan {
            temperature,
            learning_rate: params.learning_rate * ((step + 1) as f64 / params.warmup.max(1) as f64).min(1.0),
            smoothing: params.smoothing,
            damping: params.damping,
            dropout: params.dropout,
            leaf_scale: params.leaf_scale,
            match_gradient: params.match_gradient,
            keep: &keep,
        };
        trainer.step(&mut sampler.rows, &mut sampler.points, plan);
        let kept = keep.iter().filter(|&&k| k).count().max(1) as f64;
        let loss = trainer.pid.loss * (1.0 - params.dropout) / kept;
        let work = trainer.work(2 * params.batch.min(matrix.rows()));
        let stop =
            observe(Progress { step: step + 1, steps: params.steps, loss, temperature, work }).is_break();
        if let Some(keeper) = &mut keeper
            && (keeper.is_due() || stop)
        {
            keeper.keep(&Snapshot::of(&mut trainer, step + 1))?;
        }
        if stop {
            return Err(Error::Stopped);
        }
    }
    if trainer.model.is_sane() { Ok(trainer.model) } else { Err(Error::Diverged) }
}

/// The trees in the loss at a step.
fn kept_trees(params: &Params, step: usize) -> Vec<bool> {
    let mut random = Stream::new(params.seed, Purpose::Dropout, step as u64);
    (0..params.layers * params.trees).map(|_| random.unit() >= params.dropout).collect()
}

#[cfg(test)]
mod tests;
