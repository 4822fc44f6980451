//! One training step: forward over blocks, the objective, backward over blocks, Adam, leaf weights.

use super::adam::{Moments, Step};
use super::backward::{BackwardScratch, Direct, backward};
use super::pid::{Pid, scaled, update_leaf_weights};
use super::plan::Plan;
use super::structure::{LayerGradient, parameter_gradients};
use super::work::Work;
use crate::kernel::{Isa, Real, Vectorized, walsh};
use crate::model::{Block, Forward, Model, Scratch, Selectors, Wiring};
use crate::parallel::{self, Spaces};
use crate::settings::{LeafScale, MatchGradient};

/// What one step is to do.
#[derive(Debug, Clone, Copy)]
pub struct StepPlan<'a> {
    /// Temperature of selectors and splits.
    pub temperature: f64,
    /// Learning rate.
    pub learning_rate: f64,
    /// Added to every leaf's count and volume.
    pub smoothing: f64,
    /// Share of the new sparsity in the leaf weights.
    pub damping: f64,
    /// Average share of trees left out of the loss.
    pub dropout: f64,
    /// How sparsities become leaf weights.
    pub leaf_scale: LeafScale,
    /// Whose selectors learn from how well two trees match.
    pub match_gradient: MatchGradient,
    /// The trees in the loss.
    pub keep: &'a [bool],
}

/// The Adam state of one layer.
#[derive(Debug, Clone, Default)]
struct LayerMoments<F> {
    logits: [Moments<F>; 2],
    thresholds: Moments<F>,
    log_slopes: Moments<F>,
    keys: Moments<F>,
    queries: Moments<F>,
}

/// A model in training.
#[derive(Debug)]
pub struct Trainer<F: 'static> {
    /// The model.
    pub model: Model<F>,
    /// Its wiring at the last step.
    pub wiring: Wiring<F>,
    /// The objective at the last step.
    pub pid: Pid<F>,
    plan: Plan<F>,
    moments: Vec<LayerMoments<F>>,
    steps: usize,
    row_sums: Vec<F>,
    volume_sums: Vec<F>,
    /// Leaf sums of each block, and its share of the gradient.
    block_sums: Vec<Vec<F>>,
    partials: Vec<Vec<F>>,
    scratch: Spaces<Scratch<F>>,
    backward_scratch: Spaces<BackwardScratch<F>>,
}

impl<F: Real> Trainer<F> {
    /// A trainer of a model whose parameters have been set.
    pub fn new(model: Model<F>, isa: Isa) -> Self
    where
        F: Vectorized,
    {
        let wiring = Wiring::new(&model, isa);
        let moments = vec![LayerMoments::default(); model.shape.layers];
        Self {
            model,
            wiring,
            pid: Pid::default(),
            plan: Plan::default(),
            moments,
            steps: 0,
            row_sums: Vec::new(),
            volume_sums: Vec::new(),
            block_sums: Vec::new(),
            partials: Vec::new(),
            scratch: Spaces::default(),
            backward_scratch: Spaces::default(),
        }
    }

    /// One step on a batch of rows and as many uniform points.
    pub fn step(&mut self, rows: &mut [Block<F>], points: &mut [Block<F>], step: StepPlan) {
        let gradients = self.gradients(rows, points, step, false);
        self.move_parameters(&gradients, step.learning_rate);
        let shape = self.model.shape;
        let per_layer = shape.trees * shape.leaves();
        let damping = if self.steps == 1 { 1.0 } else { step.damping };
        for (layer, sparsity) in self.model.layers.iter_mut().zip(self.pid.sparsity.chunks_exact(per_layer)) {
            let weights = &mut layer.leaf_weights;
            let scaled = scaled(sparsity, shape.leaves(), step.leaf_scale);
            update_leaf_weights(weights, &scaled, shape.leaves(), shape.outputs, F::from_f64(damping));
        }
    }

    /// The gradient of the objective. Leaves the leaf sums and the objective behind.
    pub fn gradients(
        &mut self,
        rows: &mut [Block<F>],
        points: &mut [Block<F>],
        step: StepPlan,
        leaf_gradients: bool,
    ) -> Vec<LayerGradient<F>> {
        let temperature = F::from_f64(step.temperature);
        self.wiring.separate = leaf_gradients;
        self.wiring.update(&self.model, temperature);
        self.plan.update(&self.model, &self.wiring, step.keep, leaf_gradients);
        self.plan.match_gradient = step.match_gradient;
        self.begin(rows.len(), points.len());
        let shape = self.model.shape;
        // Grove by grove, so that what the forward pass leaves behind is still in the caches when the backward pass needs it.
        for grove in 0..shape.groves() {
            self.forward(rows, points, grove);
            let in_grove = |layer| {
                (0..shape.in_layer(grove)).map(move |t| shape.earlier(layer) + grove * shape.grove + t)
            };
            let trees = (0..shape.layers).flat_map(in_grove);
            self.pid.evaluate(trees, [&self.row_sums, &self.volume_sums], shape.leaves(), step);
            self.backward(rows, points, step.keep, grove);
        }
        add_up(&mut self.partials);
        parameter_gradients(&self.model, &self.wiring, &self.plan, &self.partials[0], temperature)
    }

    /// What the last step computed on `rows` rows and points.
    pub fn work(&self, rows: usize) -> Work {
        Work::of_step(&self.model, &self.wiring, &self.plan, rows)
    }

    /// Makes room for the sums of a step.
    fn begin(&mut self, row_blocks: usize, point_blocks: usize) {
        let zero = |sums: &mut Vec<F>, len: usize| {
            sums.clear();
            sums.resize(len, F::default());
        };
        let leaves = self.model.shape.all_trees() * self.model.shape.leaves();
        self.pid.begin(leaves);
        zero(&mut self.row_sums, leaves);
        zero(&mut self.volume_sums, leaves);
        self.block_sums.resize(row_blocks + point_blocks, Vec::new());
        self.partials.resize(row_blocks + point_blocks, Vec::new());
        let gradients = self.plan.gradient_len();
        parallel::for_each(self.block_sums.iter_mut(), &|_, sums| zero(sums, leaves));
        parallel::for_each(self.partials.iter_mut(), &|_, partial| zero(partial, gradients));
    }

    /// Leaf sums of rows and points in the trees of a grove, summed block by block in order.
    fn forward(&mut self, rows: &mut [Block<F>], points: &mut [Block<F>], grove: usize) {
        let forward = Forward { model: &self.model, wiring: &self.wiring };
        let (order, leaves) = (self.wiring.order_of(grove), self.model.shape.leaves());
        let (scratch, wanted) = (&self.scratch, &self.plan.wanted);
        let row_blocks = rows.len();
        let blocks = rows.iter_mut().chain(points).zip(&mut self.block_sums);
        parallel::for_each(blocks, &|_, (block, sums)| {
            scratch.with(Scratch::default, |s| forward.trees(order, block, s, sums, wanted));
        });
        let (of_rows, of_points) = self.block_sums.split_at(row_blocks);
        for (total, blocks) in [(&mut self.row_sums, of_rows), (&mut self.volume_sums, of_points)] {
            for &tree in order {
                let range = tree as usize * leaves..(tree as usize + 1) * leaves;
                let total = &mut total[range.clone()];
                for block in blocks {
                    total.iter_mut().zip(&block[range.clone()]).for_each(|(total, sum)| *total += *sum);
                }
                walsh(total);
                // The transform rounds: an empty leaf may come out below zero, by more than a small smoothing.
                total.iter_mut().for_each(|sum| *sum = sum.max(F::default()));
            }
        }
    }

    /// Block gradients of the trees of a grove, each added to its own of `partials`.
    fn backward(&mut self, rows: &[Block<F>], points: &[Block<F>], keep: &[bool], grove: usize) {
        let forward = Forward { model: &self.model, wiring: &self.wiring };
        let order = self.wiring.order_of(grove);
        let (plan, pid, scratch) = (&self.plan, &self.pid, &self.backward_scratch);
        parallel::for_each(self.partials.iter_mut(), &|i, partial| {
            let (block, gains) = if i < rows.len() {
                (&rows[i], &pid.row_gains)
            } else {
                (&points[i - rows.len()], &pid.volume_gains)
            };
            let direct = Direct::Leaves { gains, trees: keep };
            scratch.with(BackwardScratch::default, |s| {
                backward(forward, order, plan, block, direct, s, partial);
            });
        });
    }

    /// One Adam step on everything but the leaf weights. One-hot selectors stay as they are.
    fn move_parameters(&mut self, gradients: &[LayerGradient<F>], learning_rate: f64) {
        self.steps += 1;
        let step = Step::new(self.steps, learning_rate);
        for ((layer, moments), gradient) in self.model.layers.iter_mut().zip(&mut self.moments).zip(gradients)
        {
            if let Selectors::Soft(soft) = &mut layer.selectors {
                for s in 0..2 {
                    step.apply(&mut moments.logits[s], &mut soft.logits[s], &gradient.logits[s]);
                }
            }
            step.apply(&mut moments.thresholds, &mut layer.thresholds, &gradient.thresholds);
            step.apply(&mut moments.log_slopes, &mut layer.log_slopes, &gradient.log_slopes);
            step.apply(&mut moments.keys, &mut layer.keys, &gradient.keys);
            step.apply(&mut moments.queries, &mut layer.queries, &gradient.queries);
        }
    }

    /// Every number that a step starts from and changes, tensor after tensor in a fixed order. The features that trees
    /// have chosen for good are not among them.
    pub fn visit_state(&mut self, visit: &mut dyn FnMut(&mut [F])) {
        for (layer, moments) in self.model.layers.iter_mut().zip(&mut self.moments) {
            if let Selectors::Soft(soft) = &mut layer.selectors {
                for (logits, moments) in soft.logits.iter_mut().zip(&mut moments.logits) {
                    visit(logits);
                    moments.visit(logits.len(), visit);
                }
            }
            for (tensor, moments) in [
                (&mut layer.thresholds, &mut moments.thresholds),
                (&mut layer.log_slopes, &mut moments.log_slopes),
                (&mut layer.keys, &mut moments.keys),
                (&mut layer.queries, &mut moments.queries),
            ] {
                visit(tensor);
                moments.visit(tensor.len(), visit);
            }
            visit(&mut layer.leaf_weights);
        }
    }

    /// Says how many steps were done.
    pub fn set_steps(&mut self, steps: usize) {
        self.steps = steps;
    }

    /// Leaf sums of the rows at the last step, `[tree][leaf]`.
    #[cfg(test)]
    pub fn row_sums(&self) -> &[F] {
        &self.row_sums
    }

    /// Leaf sums of the uniform points at the last step.
    #[cfg(test)]
    pub fn volume_sums(&self) -> &[F] {
        &self.volume_sums
    }
}

/// Adds all vectors to the first, in order.
fn add_up<F: Real>(parts: &mut [Vec<F>]) {
    const CHUNK: usize = 4096;
    let Some((total, others)) = parts.split_first_mut() else { return };
    parallel::for_each(total.chunks_mut(CHUNK), &|i, chunk| {
        for other in others.iter() {
            for (t, &o) in chunk.iter_mut().zip(&other[i * CHUNK..]) {
                *t += o;
            }
        }
    });
}
