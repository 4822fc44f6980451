//! The trees: how sparse the data are where the row lies, by soft trees of one or two columns that were trained to tell
//! sparse regions from dense ones. The method of the paper; [`crate::train`] trains them.

use super::{Part, Sample};
use crate::Params;
use crate::function::Functions;
use crate::score::additive::TREES;

/// The trees.
pub struct Trees;

impl Part for Trees {
    named!(TREES, weight_trees);

    fn functions(&self, _: &Sample, _: &Params) -> Functions {
        Functions::default()
    }
}
