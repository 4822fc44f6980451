//! Counts of rows that were made apart, such as on several machines, put together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::columns::Counts;
use super::sums::Sums;
use super::{Drifting, group_of};
use crate::{Error, Result};

/// What was counted of some rows: with that of other rows, counted elsewhere, it says what has changed in all of them.
///
/// ```
/// use diad::{Params, calibrate::Drifting, explain::Explainer, table::Table};
///
/// let table = |from| Table::new(vec!["x".into()], vec![(from..from + 1000).map(|i| f64::from(i * 37 % 101)).collect()]);
/// let detector = Params::default().with_steps(20).trees(10).fit(&table(0)?)?;
/// let explainer = Explainer::new(&detector);
/// let mut all = Drifting::new(&explainer);
/// for from in [0, 1000] {
///     let mut part = Drifting::new(&explainer);
///     part.add(&table(from)?, None)?;
///     all.append(part.counted())?;
/// }
/// assert_eq!(all.finish().rows, 2000);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    sums: Sums,
    columns: Vec<Counts>,
    groups: BTreeMap<String, Sums>,
}

impl Drifting<'_> {
    /// What was counted so far, to be added elsewhere with [`Drifting::append`].
    pub fn counted(self) -> Counted {
        let columns = self.tallies.into_iter().map(|tally| tally.counts).collect();
        Counted { sums: self.sums, columns, groups: self.groups }
    }

    /// Adds what was counted of other rows with the same model. Sums of numbers are rounded, so that their last digits depend on the order.
    ///
    /// # Errors
    /// If it was counted with another model.
    pub fn append(&mut self, counted: Counted) -> Result<()> {
        let Counted { sums, columns, groups } = counted;
        let terms = self.sums.terms.len();
        let is_ours = std::iter::once(&sums).chain(groups.values()).all(|sums| sums.terms.len() == terms)
            && columns.len() == self.tallies.len()
            && self.tallies.iter().zip(&columns).all(|(tally, counts)| tally.counts.is_like(counts));
        if !is_ours {
            return Err(Error::CountedElsewhere);
        }
        self.sums.append(&sums);
        self.tallies.iter_mut().zip(columns).for_each(|(tally, counts)| tally.counts.append(counts));
        groups.iter().for_each(|(name, sums)| group_of(&mut self.groups, name, terms).append(sums));
        Ok(())
    }
}
