//! What a training needs to resume after a step, without anything that follows from settings and data.

use super::trainer::Trainer;
use crate::model::{Model, Selectors};
use crate::{Error, Result};

/// A training after some steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Steps done.
    pub step: u64,
    /// Whether the trees have chosen their features.
    pub hardened: bool,
    /// Parameters and moments, layer after layer, as bits.
    pub words: Vec<u32>,
}

/// Keeps snapshots of one fit.
pub trait Keeper {
    /// The snapshot to resume from.
    fn resume(&mut self) -> Result<Option<Snapshot>>;
    /// The error for a snapshot of another fit.
    fn misfit(&self) -> Error;
    /// Whether a snapshot is wanted now.
    fn is_due(&mut self) -> bool;
    /// Keeps a snapshot.
    fn keep(&mut self, snapshot: &Snapshot) -> Result<()>;
}

impl Snapshot {
    /// The training as it is after `step` steps.
    pub fn of(trainer: &mut Trainer<f32>, step: usize) -> Self {
        let hardened = is_hard(&trainer.model);
        let mut words = Vec::new();
        trainer.visit_state(&mut |tensor| words.extend(tensor.iter().map(|value| value.to_bits())));
        for layer in &trainer.model.layers {
            if let Selectors::Fixed(pairs) = &layer.selectors {
                words.extend(pairs.iter().flatten());
            }
        }
        Self { step: step as u64, hardened, words }
    }

    /// Restores this state in a new training; false if the sizes differ.
    #[must_use]
    pub fn restore(&self, trainer: &mut Trainer<f32>) -> bool {
        if self.hardened {
            trainer.model.harden();
        }
        let (mut words, mut fits) = (self.words.as_slice(), true);
        trainer.visit_state(&mut |tensor| match words.split_at_checked(tensor.len()) {
            Some((own, rest)) => {
                tensor.iter_mut().zip(own).for_each(|(value, &bits)| *value = f32::from_bits(bits));
                fits &= tensor.iter().all(|value| value.is_finite());
                words = rest;
            }
            None => fits = false,
        });
        let features = trainer.model.shape.features;
        for layer in &mut trainer.model.layers {
            if let Selectors::Fixed(pairs) = &mut layer.selectors {
                let Some((own, rest)) = words.split_at_checked(2 * pairs.len()) else { return false };
                fits &= own.iter().all(|&feature| (feature as usize) < features);
                pairs.iter_mut().zip(own.chunks_exact(2)).for_each(|(pair, own)| pair.copy_from_slice(own));
                words = rest;
            }
        }
        trainer.set_steps(self.step as usize);
        fits && words.is_empty()
    }
}

fn is_hard(model: &Model<f32>) -> bool {
    model.layers.iter().all(|layer| matches!(layer.selectors, Selectors::Fixed(_)))
}
