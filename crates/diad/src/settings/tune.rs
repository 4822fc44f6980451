//! The settings of a tuning: one struct for each way to learn.

use super::{Kind, Setting, Value, Word, unknown, wrong_kind};
use crate::{Error, Result};

words! {
    /// The loss that descent minimises.
    pub enum Loss {
        /// Hinge loss over pairs of an anomaly and a normal row
        Auc = "auc",
        /// Binary cross-entropy
        Bce = "bce",
    }
}

settings! {
    /// The settings of learning by functions.
    ///
    /// ```
    /// use diad::FunctionParams;
    ///
    /// assert!(FunctionParams::default().prior(0.0).validate().is_ok());
    /// ```
    pub struct FunctionParams {
        /// Log odds per unit of the unsupervised score, before held-out labels adjust it; 0 discards that score
        prior: f64 = 0.6, [from 0 to 1000];
        /// Prior standard deviation of the learned functions, in log odds
        amplitude: f64 = 6.0, [from 0.001 to 1000];
        /// Share of the prior variance that goes to pairs of columns
        pair_share: f64 = 0.8, [from 0 to 1];
        /// Rounds in which columns are reweighted by how informative they turned out to be
        rounds: usize = 2, [at most 100];
        /// Boosting steps of the step curves that are learned beside the smooth functions; 0 for none
        boosted_steps: usize = 300, [at most 100000];
        /// Prior standard deviation of the weights of the columns' tails, in log odds; 0 for none
        tails: f64 = 1.0, [from 0 to 1000];
        /// Maximum number of labelled rows to learn from: all anomalies first, then normal rows
        max_rows: usize = 1500, [from 2 to 20000];
        /// Random seed
        seed: u64 = 0, [any];
    }
}

settings! {
    /// The settings of learning by descent.
    ///
    /// ```
    /// use diad::{DescentParams, Loss};
    ///
    /// assert!(DescentParams::default().loss(Loss::Bce).steps(100).validate().is_ok());
    /// ```
    pub struct DescentParams {
        /// Loss of the descent
        loss: Loss = Loss::Auc, [any];
        /// Margin by which an anomaly should outscore a normal row, for the loss auc
        margin: f64 = 1.0, paper 0.0, [from 0 to 1000];
        /// Whether batches are balanced: as many anomalies as normal rows
        upsample: bool = true, [any];
        /// Whether splits are frozen and only leaf weights are trained
        freeze_structure: bool = false, [any];
        /// Maximum number of steps
        steps: usize = 400, [from 1 to 1000000];
        /// Rows per step
        batch: usize = 512, [from 2 to 65536];
        /// Adam's learning rate
        learning_rate: f64 = 2e-3, [above 0 to 1];
        /// Random seed
        seed: u64 = 0, [any];
    }
}

impl FunctionParams {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting outside its range and the range.
    pub fn validate(&self) -> Result<()> {
        self.check_ranges()
    }
}

impl DescentParams {
    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting outside its range and the range.
    pub fn validate(&self) -> Result<()> {
        self.check_ranges()
    }
}

/// How a detector learns from labels, and the settings of that way.
///
/// ```
/// use diad::{DescentParams, FunctionParams, Learner};
///
/// assert_eq!(Learner::default(), Learner::Functions(FunctionParams::default()));
/// assert_eq!(Learner::from(DescentParams::default()).name(), "descent");
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Learner {
    /// Adds curves and grids to the score: a Gaussian process over smooth functions, boosted steps, and weights of tails,
    /// stacked.
    Functions(FunctionParams),
    /// The paper's: fine-tunes the trees with Adam.
    Descent(DescentParams),
}

impl Default for Learner {
    fn default() -> Self {
        Self::Functions(FunctionParams::default())
    }
}

impl From<FunctionParams> for Learner {
    fn from(params: FunctionParams) -> Self {
        Self::Functions(params)
    }
}

impl From<DescentParams> for Learner {
    fn from(params: DescentParams) -> Self {
        Self::Descent(params)
    }
}

const FUNCTIONS: Word = Word { name: "functions", help: "Add curves and grids to the score" };
const DESCENT: Word = Word { name: "descent", help: "Fine-tune the trees with Adam, as in the paper" };

impl Learner {
    /// The ways to learn.
    pub const NAMES: &[Word] = &[FUNCTIONS, DESCENT];

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Functions(_) => FUNCTIONS.name,
            Self::Descent(_) => DESCENT.name,
        }
    }

    /// Every setting of every learner, with the names of those it applies to.
    pub fn declared() -> Vec<(&'static Setting, Vec<&'static str>)> {
        let mut all: Vec<(&Setting, Vec<&str>)> = Vec::new();
        let functions = FunctionParams::declared().iter().map(|setting| (setting, FUNCTIONS.name));
        let descent = DescentParams::declared().iter().map(|setting| (setting, DESCENT.name));
        for (setting, learner) in functions.chain(descent) {
            match all.iter_mut().find(|(known, _)| known.name == setting.name) {
                Some((_, learners)) => learners.push(learner),
                None => all.push((setting, vec![learner])),
            }
        }
        all
    }

    /// A learner by its name, with settings given by theirs. Without a name it is `functions`, or `descent` where a loss is
    /// given.
    ///
    /// ```
    /// use diad::{DescentParams, Learner, Loss, settings::Value};
    ///
    /// let learner = Learner::of(None, [("loss", Value::Word("bce".into()))])?;
    /// assert_eq!(learner, DescentParams::default().loss(Loss::Bce).into());
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such learner or setting, a setting applies to another learner, or a value is of the wrong kind or out of
    /// its range.
    pub fn of<'a>(name: Option<&str>, given: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let given: Vec<(&str, Value)> = given.into_iter().collect();
        let mut learner = match name {
            Some("functions") => Self::Functions(FunctionParams::default()),
            Some("descent") => Self::Descent(DescentParams::default()),
            Some(other) => {
                let other = Value::Word(other.to_owned());
                return Err(wrong_kind("learner", Kind::Word(Self::NAMES), &other));
            }
            None if given.iter().any(|(name, _)| *name == "loss") => Self::Descent(DescentParams::default()),
            None => Self::default(),
        };
        for (name, value) in &given {
            learner.set(name, value)?;
        }
        learner.validate()?;
        Ok(learner)
    }

    /// Sets a setting by its name. Its range is checked by [`Learner::validate`].
    ///
    /// # Errors
    /// If there is no such setting, it applies to another learner, or the value is of another kind.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<()> {
        let all = Self::declared();
        match all.iter().find(|(setting, _)| setting.name == name) {
            None => return Err(unknown(name, all.iter().map(|(setting, _)| setting.name))),
            Some((setting, learners)) if !learners.contains(&self.name()) => {
                return Err(Error::OtherLearner { name: setting.name, learner: learners[0] });
            }
            Some(_) => {}
        }
        match self {
            Self::Functions(params) => params.set(name, value),
            Self::Descent(params) => params.set(name, value),
        }
    }

    /// Checks every setting against its range.
    ///
    /// # Errors
    /// Names the first setting outside its range and the range.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Functions(params) => params.validate(),
            Self::Descent(params) => params.validate(),
        }
    }

    /// The same learner with this seed.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        match self {
            Self::Functions(params) => params.seed(seed).into(),
            Self::Descent(params) => params.seed(seed).into(),
        }
    }
}
