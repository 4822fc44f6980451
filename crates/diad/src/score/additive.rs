//! The score as data: a sum of parts, each of them functions of one or two features.

use crate::function::Functions;

/// The name of the part made of the trees.
pub const TREES: &str = "trees";
/// The name of the part that says how far out values lie.
pub const TAILS: &str = "tails";
/// The name of the part that says which values do not go together: nothing of one column alone.
pub const SURPRISE: &str = "surprise";

/// The name of the part that people have added.
pub const EDITS: &str = "edits";

/// A part of the score, as it is kept and added up. The trait `Part` makes them.
#[derive(Debug, Clone, PartialEq)]
pub struct Summand {
    /// Its name.
    pub name: String,
    /// Its factor in the score.
    pub factor: f32,
    /// The standard deviation of its values over the training rows, before the factor; 0 if unknown.
    pub deviation: f32,
    /// Its functions. The part called [`TREES`] also has the mean of the trees.
    pub functions: Functions,
}

/// A score: the sum of its parts, each times its factor, less a constant.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Additive {
    /// The parts.
    pub parts: Vec<Summand>,
    /// The constant that is subtracted.
    pub shift: f32,
}

impl Additive {
    /// The mean of the trees, times a factor.
    pub fn of_trees(factor: f32) -> Self {
        Self::of_part(TREES, factor, Functions::default())
    }

    /// A single part.
    pub fn of_part(name: &str, factor: f32, functions: Functions) -> Self {
        Self { parts: vec![Summand { name: name.to_owned(), factor, deviation: 0.0, functions }], shift: 0.0 }
    }

    /// The factor of the mean of the trees.
    pub fn tree_factor(&self) -> f32 {
        self.parts.iter().filter(|part| part.name == TREES).map(|part| part.factor).sum()
    }

    /// The share of each part in the score: its standard deviation over the training rows, relative to the sum over all parts.
    /// Empty if the deviations are not known.
    pub fn shares(&self) -> Vec<(&str, f64)> {
        let deviation = |part: &Summand| f64::from(part.factor.abs()) * f64::from(part.deviation);
        let total: f64 = self.parts.iter().map(deviation).sum();
        let shares = self.parts.iter().map(|part| (part.name.as_str(), deviation(part) / total));
        if total > 0.0 { shares.collect() } else { Vec::new() }
    }

    /// The functions of all parts, added up.
    pub fn functions(&self) -> Functions {
        let mut sum = Functions::default();
        self.parts.iter().for_each(|part| sum.add(&part.functions, part.factor));
        sum
    }

    /// The same score with only some functions of each part, such as those of one feature.
    pub fn keeping(&self, kept: impl Fn(&Functions) -> Functions) -> Self {
        let part = |part: &Summand| Summand { functions: kept(&part.functions), ..part.clone() };
        Self { parts: self.parts.iter().filter(|part| part.name != TREES).map(part).collect(), shift: 0.0 }
    }

    /// Adds another score times a factor, part by part; its shift is left out.
    pub fn add(&mut self, other: &Self, factor: f32) {
        for part in &other.parts {
            let own = match self.parts.iter().position(|own| own.name == part.name) {
                Some(own) => &mut self.parts[own],
                None => {
                    let factor = if part.name == TREES { 0.0 } else { 1.0 };
                    self.parts.push(Summand {
                        name: part.name.clone(),
                        factor,
                        deviation: 0.0,
                        functions: Functions::default(),
                    });
                    let last = self.parts.len() - 1;
                    &mut self.parts[last]
                }
            };
            let times = factor * part.factor;
            if part.name == TREES {
                own.factor += times;
            } else {
                own.functions.add(&part.functions, times / own.factor);
            }
        }
    }
}
