//! The settings of a fit.

use super::{Kind, Value, Word, require, wrong_kind};
use crate::Result;

/// The temperature of hard splits.
const HARD: f64 = 1e-6;

words! {
    /// The scale in which the model sees columns.
    pub enum Scale {
        /// Linear between the smallest and the largest value
        Linear = "linear",
        /// Inverse hyperbolic sine: linear near the median, logarithmic far from it, so that a few huge values do not
        /// squeeze all others together; columns of two values stay linear
        Asinh = "asinh",
        /// Both, as two features that every tree can choose from
        Both = "both",
    }
}

words! {
    /// How the temperature falls while the trees choose their features.
    pub enum Annealing {
        /// By the same amount at every step
        Linear = "linear",
        /// By the same factor at every step
        Logarithmic = "logarithmic",
    }
}

words! {
    /// Whose selectors learn from how well two trees match.
    pub enum MatchGradient {
        /// Those of both trees
        Both = "both",
        /// Those of the later tree alone
        Later = "later",
    }
}

words! {
    /// How the sparsities of leaves become leaf weights.
    pub enum LeafScale {
        /// Scaled to [-1, 1] over all trees of a layer
        Layer = "layer",
        /// Scaled to [-1, 1] in each tree
        Tree = "tree",
        /// The paper's formula to the letter: twice the sparsity over its range in the tree, less 1
        Literal = "literal",
        /// As they are
        None = "none",
    }
}

words! {
    /// What splits are once annealing is over.
    pub enum FinalSplits {
        /// Soft, at the final temperature
        Soft = "soft",
        /// Hard: a row goes left or right
        Hard = "hard",
    }
}

settings! {
    /// Every setting of a fit.
    ///
    /// ```
    /// use diad::Params;
    ///
    /// let params = Params::default().trees(50).seed(7);
    /// assert!(params.validate().is_ok());
    /// assert_eq!(Params::paper().trees, 300);
    /// ```
    pub struct Params {
        /// Scale of the columns: linear, asinh (which keeps huge values from squeezing all others together), or both
        scale: Scale = Scale::Both, paper Scale::Linear, [any];
        /// Weight of the trees; 0 trains none
        weight_trees: f64 = 1.0, [from 0 to 1000000];
        /// Weight of the tails: how far out a value lies in its column
        weight_tails: f64 = 1.0, paper 0.0, [from 0 to 1000000];
        /// Weight of isolation: how soon cuts of two columns isolate a row
        weight_isolation: f64 = 1.0, paper 0.0, [from 0 to 1000000];
        /// Weight of surprise: how much rarer two values are together than if their columns were independent
        weight_surprise: f64 = 1.0, paper 0.0, [from 0 to 1000000];
        /// Layers of trees; a layer's trees may build on the outputs of all earlier layers
        layers: usize = 1, paper 3, [from 1 to 8];
        /// Trees in each layer
        trees: usize = 300, [from 1 to 5000];
        /// Trees of a layer that attend to the same earlier trees; more trees form several groves, so that the work is
        /// linear in the number of trees, not quadratic
        grove: usize = 100, paper 300, [from 1 to 5000];
        /// Splits in each tree; a tree has 2^depth leaves
        depth: usize = 4, [from 1 to 6];
        /// Outputs of each tree: the first is its score, all are offered to later layers
        outputs: usize = 1, paper 2, [from 1 to 8];
        /// Length of the attention keys and queries between layers
        attention: usize = 12, [from 1 to 256];
        /// Share of the features a tree may choose from (at least two)
        feature_share: f64 = 0.15, paper 0.4, [above 0 to 1];
        /// Maximum number of features a tree may use: 2 for a GA²M, 1 for a GAM
        interactions: usize = 2, [from 1 to 2, "1 (GAM) or 2 (GA2M)"];
        /// Rows per training step, and uniform points per step
        batch: usize = 2048, [from 16 to 65536];
        /// Training steps; warm-up and annealing are shortened to at most half of them
        steps: usize = 1000, paper 2000, [from 1 to 10000000];
        /// Steps over which the learning rate rises to its full value
        warmup: usize = 500, paper 1000, ["at most the number of steps"];
        /// Adam's learning rate after the warm-up
        learning_rate: f64 = 1e-3, [from 0 to 1];
        /// Steps over which the temperature falls from 1 to its minimum
        anneal: usize = 500, paper 1000, ["below the number of steps"];
        /// How the temperature falls: linear, or logarithmic, which is faster at first
        annealing: Annealing = Annealing::Linear, before Annealing::Linear, [any];
        /// Temperature of the splits after annealing, in training and in scoring
        min_temperature: f64 = 0.1, [from 0.001 to 1];
        /// Splits after annealing, in training and in scoring: soft at the final temperature, or hard
        final_splits: FinalSplits = FinalSplits::Soft, before FinalSplits::Soft, [any];
        /// Whose selectors learn from how well two trees match: those of both, or of the later tree alone
        match_gradient: MatchGradient = MatchGradient::Both, before MatchGradient::Both, [any];
        /// Added to the count and the volume of every leaf
        smoothing: f64 = 50.0, [from 1e-6 to 1e9];
        /// Share of the new sparsity in each update of the leaf weights
        damping: f64 = 0.1, [above 0 to 1];
        /// How the sparsities of leaves become their weights: scaled over the layer, over each tree, by the paper's formula to the
        /// letter, or not at all
        leaf_scale: LeafScale = LeafScale::Layer, paper LeafScale::None, before LeafScale::Layer, [any];
        /// Probability that a tree is left out of the loss at a step
        dropout: f64 = 0.75, [from 0 to below 1];
        /// Random seed
        seed: u64 = 0, [any];
    }
}

impl Params {
    /// The settings of the paper: trees alone, in the linear scale.
    pub fn paper() -> Self {
        Self::with_values_of_the_paper()
    }

    /// The same settings with another number of steps; warm-up and annealing are shortened to at most half of them.
    ///
    /// ```
    /// use diad::Params;
    ///
    /// let quick = Params::default().with_steps(100);
    /// assert_eq!((quick.steps, quick.warmup, quick.anneal), (100, 50, 50));
    /// ```
    pub fn with_steps(self, steps: usize) -> Self {
        Self { steps, warmup: self.warmup.min(steps / 2), anneal: self.anneal.min(steps / 2), ..self }
    }

    /// The temperature of the splits once annealing is over. Hard splits are soft ones on so narrow a stretch that only a value
    /// which is the threshold itself lies on it.
    pub(crate) fn final_temperature(&self) -> f64 {
        match self.final_splits {
            FinalSplits::Soft => self.min_temperature,
            FinalSplits::Hard => HARD,
        }
    }

    /// The temperature after a share of the annealing.
    pub(crate) fn temperature(&self, annealed: f64) -> f64 {
        match self.annealing {
            _ if annealed >= 1.0 => self.final_temperature(),
            Annealing::Linear => 1.0 + annealed * (self.min_temperature - 1.0),
            Annealing::Logarithmic => libm::pow(self.min_temperature, annealed),
        }
    }

    /// A preset by its name, with settings given by theirs. If the steps are among them, the preset's warm-up and annealing are
    /// shortened to at most half of them.
    ///
    /// ```
    /// use diad::{Params, settings::Value};
    ///
    /// let given = [("steps", Value::Count(100)), ("trees", Value::Count(50))];
    /// assert_eq!(Params::of("paper", given)?, Params::paper().with_steps(100).trees(50));
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such preset or setting, or a value is of the wrong kind or out of its range.
    pub fn of<'a>(preset: &str, given: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let wrong = || wrong_kind("preset", Kind::Word(Self::PRESETS), &Value::Word(preset.to_owned()));
        let mut params = match preset {
            "default" => Self::default(),
            "paper" => Self::paper(),
            _ => return Err(wrong()),
        };
        let given: Vec<(&str, Value)> = given.into_iter().collect();
        if let Some((_, Value::Count(steps))) = given.iter().find(|(name, _)| *name == "steps") {
            params = params.with_steps(usize::try_from(*steps).unwrap_or(usize::MAX));
        }
        for (name, value) in &given {
            params.set(name, value)?;
        }
        params.validate()?;
        Ok(params)
    }

    /// The presets that settings start from.
    pub const PRESETS: &[Word] = &[
        Word { name: "default", help: "The best over many tables" },
        Word { name: "paper", help: "The paper's: only trees, in three layers, trained twice as long" },
    ];

    /// Every setting by the name of its option on the command line, with its value as it is typed.
    ///
    /// ```
    /// use diad::Params;
    ///
    /// assert!(Params::default().listed().contains(&("feature-share".into(), "0.15".into())));
    /// ```
    pub fn listed(&self) -> Vec<(String, String)> {
        self.values().into_iter().map(|(name, value)| (name.replace('_', "-"), value.typed())).collect()
    }

    /// Checks every setting against its range, and against the others.
    ///
    /// # Errors
    /// Names the first setting outside its range and the range.
    pub fn validate(&self) -> Result<()> {
        self.check_ranges()?;
        let weight = |(name, value): (&str, Value)| match value {
            Value::Number(weight) if name.starts_with("weight_") => Some(weight),
            _ => None,
        };
        let total: f64 = self.values().into_iter().filter_map(weight).sum();
        let trees = self.weight_trees;
        require(total >= 1e-6, "weight_trees", trees, "above 0 if all other weights are 0")?;
        require(
            total > self.weight_surprise || self.interactions > 1,
            "weight_trees",
            trees,
            "above 0 if only surprise, which needs pairs, has a weight and interactions are 1",
        )?;
        // What attention and a batch may need at worst, so that no settings, also not those of a model file from a
        // stranger, ask for more memory than a machine has.
        let attended =
            self.trees * self.trees.min(self.grove) * (self.layers * (self.layers - 1) / 2) * self.outputs;
        require(attended <= 1 << 28, "trees", self.trees, "fewer for so many layers and outputs")?;
        let held = self.batch * self.layers * self.trees * self.outputs;
        require(held <= 1 << 29, "batch", self.batch, "smaller for so many trees")?;
        require(self.warmup <= self.steps, "warmup", self.warmup, "at most the number of steps")?;
        require(self.anneal < self.steps, "anneal", self.anneal, "below the number of steps")
    }
}
