//! The settings of a fit.

use std::collections::BTreeMap;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Error, Result};

/// In which scale the model sees a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// The smallest and the largest value at the ends, all others in proportion.
    Linear,
    /// Proportional near the median, logarithmic far from it, so that a few huge values do not squeeze all others
    /// into a corner. Columns of two values stay linear.
    Bent,
    /// Both: every tree chooses.
    Both,
}

/// Every setting of a fit.
///
/// ```
/// use diad::Params;
///
/// let params = Params { trees: 50, ..Params::default() };
/// assert!(params.validate().is_ok());
/// assert_eq!(Params::paper().trees, 300);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    /// In which scale the model sees columns.
    pub scale: Scale,
    /// Weight of the trees in the score. With 0 none are trained.
    pub weight_trees: f64,
    /// Weight of how far into the tails of its columns a row lies.
    pub weight_tails: f64,
    /// Weight of how soon a row is alone when rows are cut apart at random, in planes of two columns.
    pub weight_isolation: f64,
    /// Weight of the same with cuts that look for small groups of rows.
    pub weight_clusters: f64,
    /// Weight of how much rarer two values are together than their columns alone would have it.
    pub weight_surprise: f64,
    /// Layers of trees. A layer's trees may build on the outputs of all earlier layers.
    pub layers: usize,
    /// Trees in each layer.
    pub trees: usize,
    /// Trees of a layer that build on the same earlier trees. Where there are more, they form several groves, and a tree builds
    /// on earlier trees of its own grove alone, so that the work grows with the trees and not with their square.
    pub grove: usize,
    /// Splits in each tree; a tree has 2^depth leaves.
    pub depth: usize,
    /// Outputs of each tree: the first is its score, all are offered to later layers.
    pub outputs: usize,
    /// Length of the attention keys and queries between layers.
    pub attention: usize,
    /// Share of the features a tree may choose from (at least two).
    pub feature_share: f64,
    /// Most features a tree may use: 2 for a GA²M, 1 for a GAM.
    pub interactions: usize,
    /// Rows per training step, and uniform points per step.
    pub batch: usize,
    /// Training steps.
    pub steps: usize,
    /// Steps over which the learning rate rises from 0 to `learning_rate`.
    pub warmup: usize,
    /// Adam's learning rate after the warm-up.
    pub learning_rate: f64,
    /// Steps over which the temperature falls from 1 to `min_temperature`.
    pub anneal: usize,
    /// The temperature of the splits after annealing, in training and in scoring.
    pub min_temperature: f64,
    /// Added to the count and the volume of every leaf.
    pub smoothing: f64,
    /// Share of the new sparsity in each update of the leaf weights.
    pub damping: f64,
    /// Chance that a tree is left out of the loss at a step.
    pub dropout: f64,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            scale: Scale::Both,
            weight_trees: 4.0 / 3.0,
            weight_tails: 1.0,
            weight_isolation: 1.0,
            weight_clusters: 1.0,
            weight_surprise: 1.0,
            layers: 1,
            outputs: 1,
            grove: 100,
            feature_share: 0.15,
            steps: 1000,
            warmup: 500,
            anneal: 500,
            ..Self::paper()
        }
    }
}

impl Params {
    /// The settings of the paper: trees alone, in the linear scale.
    pub fn paper() -> Self {
        Self {
            scale: Scale::Linear,
            weight_trees: 1.0,
            weight_tails: 0.0,
            weight_isolation: 0.0,
            weight_clusters: 0.0,
            weight_surprise: 0.0,
            layers: 3,
            trees: 300,
            grove: 300,
            depth: 4,
            outputs: 2,
            attention: 12,
            feature_share: 0.4,
            interactions: 2,
            batch: 2048,
            steps: 2000,
            warmup: 1000,
            learning_rate: 1e-3,
            anneal: 1000,
            min_temperature: 0.1,
            smoothing: 50.0,
            damping: 0.1,
            dropout: 0.75,
            seed: 0,
        }
    }

    /// The same settings for so many steps: few steps shorten the warm-up and the annealing to half of them.
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

    /// Every setting by the name of its option on the command line, with its value as it is typed.
    ///
    /// ```
    /// use diad::Params;
    ///
    /// assert!(Params::default().listed().contains(&("feature-share".into(), "0.15".into())));
    /// ```
    pub fn listed(&self) -> Vec<(String, String)> {
        fn shown<T: Serialize>(name: &str, value: &T) -> (String, String) {
            let text = match serde_json::to_value(value) {
                Ok(serde_json::Value::String(text)) => text,
                Ok(value) => value.to_string(),
                Err(error) => error.to_string(),
            };
            (name.replace('_', "-"), text)
        }
        macro_rules! listed {
            ($($name:ident)*) => { vec![$(shown(stringify!($name), &self.$name),)*] };
        }
        listed!(
            scale weight_trees weight_tails weight_isolation weight_clusters weight_surprise layers trees grove depth
            outputs attention feature_share interactions batch steps warmup learning_rate anneal min_temperature smoothing damping
            dropout seed
        )
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting outside its range and the range.
    pub fn validate(&self) -> Result<()> {
        fn check(ok: bool, name: &'static str, value: impl ToString, must: &'static str) -> Result<()> {
            if ok { Ok(()) } else { Err(Error::Setting { name, value: value.to_string(), must }) }
        }
        let weights = [
            ("weight-trees", self.weight_trees),
            ("weight-tails", self.weight_tails),
            ("weight-isolation", self.weight_isolation),
            ("weight-clusters", self.weight_clusters),
            ("weight-surprise", self.weight_surprise),
        ];
        for (name, weight) in weights {
            check((0.0..=1e6).contains(&weight), name, weight, "from 0 to 1000000")?;
        }
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        check(total >= 1e-6, "weight-trees", self.weight_trees, "above 0 where all other weights are 0")?;
        check(
            total > self.weight_surprise || self.interactions > 1,
            "weight-trees",
            self.weight_trees,
            "above 0 where only surprise has a weight, which is of pairs, and interactions are 1",
        )?;
        check((1..=8).contains(&self.layers), "layers", self.layers, "from 1 to 8")?;
        check((1..=5000).contains(&self.trees), "trees", self.trees, "from 1 to 5000")?;
        check((1..=5000).contains(&self.grove), "grove", self.grove, "from 1 to 5000")?;
        check((1..=6).contains(&self.depth), "depth", self.depth, "from 1 to 6")?;
        check((1..=8).contains(&self.outputs), "outputs", self.outputs, "from 1 to 8")?;
        check((1..=256).contains(&self.attention), "attention", self.attention, "from 1 to 256")?;
        check(
            self.feature_share > 0.0 && self.feature_share <= 1.0,
            "feature-share",
            self.feature_share,
            "above 0 and at most 1",
        )?;
        check(
            (1..=2).contains(&self.interactions),
            "interactions",
            self.interactions,
            "1 (GAM) or 2 (GA2M)",
        )?;
        check((16..=1 << 16).contains(&self.batch), "batch", self.batch, "from 16 to 65536")?;
        // What attention and a batch may need at worst, so that no settings, also not those of a model file from a
        // stranger, ask for more memory than a machine has.
        let attended =
            self.trees * self.trees.min(self.grove) * (self.layers * (self.layers - 1) / 2) * self.outputs;
        check(attended <= 1 << 28, "trees", self.trees, "fewer for so many layers and outputs")?;
        let held = self.batch * self.layers * self.trees * self.outputs;
        check(held <= 1 << 29, "batch", self.batch, "smaller for so many trees")?;
        check((1..=10_000_000).contains(&self.steps), "steps", self.steps, "from 1 to 10000000")?;
        check(self.warmup <= self.steps, "warmup", self.warmup, "at most the number of steps")?;
        check(
            self.learning_rate >= 0.0 && self.learning_rate <= 1.0,
            "learning-rate",
            self.learning_rate,
            "from 0 to 1",
        )?;
        check(self.anneal < self.steps, "anneal", self.anneal, "below the number of steps")?;
        check(
            self.min_temperature >= 1e-3 && self.min_temperature <= 1.0,
            "min-temperature",
            self.min_temperature,
            "from 0.001 to 1",
        )?;
        check(
            self.smoothing >= 1e-6 && self.smoothing <= 1e9,
            "smoothing",
            self.smoothing,
            "from 1e-6 to 1e9",
        )?;
        check(self.damping > 0.0 && self.damping <= 1.0, "damping", self.damping, "above 0 and at most 1")?;
        check((0.0..1.0).contains(&self.dropout), "dropout", self.dropout, "from 0 to below 1")
    }
}

/// The settings of a model file. Those of the first version have weights of parts that are no more.
pub(crate) fn of_any_version<'de, D: Deserializer<'de>>(file: D) -> std::result::Result<Params, D::Error> {
    const NO_MORE: [&str; 4] = ["weight_columns", "weight_relations", "weight_cuts", "relation_strength"];
    let mut settings = BTreeMap::<String, Scalar>::deserialize(file)?;
    let mut first = false;
    for name in NO_MORE {
        first |= settings.remove(name).is_some();
    }
    if first {
        for name in ["weight_isolation", "weight_clusters", "weight_surprise"] {
            settings.entry(name.into()).or_insert(Scalar(0.0.into()));
        }
    }
    let settings = settings.into_iter().map(|(name, Scalar(value))| (name, value));
    serde_json::from_value(settings.collect()).map_err(D::Error::custom)
}

/// A number or a word: all that settings are. Lists and maps are refused before room is made for them.
struct Scalar(serde_json::Value);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(file: D) -> std::result::Result<Self, D::Error> {
        file.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, text: &mut std::fmt::Formatter) -> std::fmt::Result {
        text.write_str("a number or a word")
    }

    fn visit_u64<E>(self, value: u64) -> std::result::Result<Scalar, E> {
        Ok(Scalar(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Scalar, E> {
        Ok(Scalar(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> std::result::Result<Scalar, E> {
        Ok(Scalar(value.into()))
    }
}
