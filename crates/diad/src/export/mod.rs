//! A finished score for other programs: as documented JSON, as a statement of SQL, as an ONNX graph.
//!
//! All of them are written from one [`Plan`], the score as plain data in double precision, and carry the digest of the model and rows
//! with known scores. See docs/exports.md.

mod build;
mod check;
mod evaluate;
mod onnx;
mod plan;
mod sql;

use crate::origin::Digest;
use crate::table::Source;
use crate::{Detector, Error, Result};

pub use check::{MOST_ROWS, NEAR};
pub use plan::{Cell, Check, Curve, FORMAT, Feature, Grid, Input, InputKind, Plan, Side, Term, Tree};
pub use sql::{Dialect, Statement};

impl Plan {
    /// The score of a detector as plain data. `digest` is that of its file, [`Detector::identity`]; the rows to check an export by are
    /// the first ones of `table`, or made up.
    ///
    /// ```
    /// use diad::{Params, export::Plan, table::Table};
    ///
    /// let table = Table::new(vec!["x".into()], vec![(0..40).map(|i| f64::from(i % 7)).collect()])?;
    /// let detector = Params::default().with_steps(10).trees(4).fit(&table)?;
    /// let plan = Plan::new(&detector, detector.identity()?, Some(&table))?;
    /// let near = |(row, score): (&Vec<_>, &f32)| (plan.score(row) - f64::from(*score)).abs() < 1e-5;
    /// assert!(plan.check.rows.iter().zip(&plan.check.scores).all(near));
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the score is no sum of functions of one and two columns, as with several layers of trees, or the table cannot be read.
    pub fn new(detector: &Detector, digest: Digest, table: Option<&dyn Source>) -> Result<Self> {
        Self::of(detector, digest)?.checked(detector, table)
    }

    /// The plan as JSON.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn to_json(&self) -> Result<String> {
        Ok(json(self)? + "\n")
    }
}

fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Export { reason: error.to_string() })
}

#[cfg(test)]
mod tests;
