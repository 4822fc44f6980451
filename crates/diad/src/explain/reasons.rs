//! The reasons for scores, as sentences.

use super::{Contributions, Explainer};
use crate::Result;
use crate::encode::Oddities;
use crate::parallel;
use crate::table::Table;

/// A reason for a score: a term that raises it, in words.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The term, by its place in [`Explainer::terms`].
    pub term: usize,
    /// Its columns, one or two, by their places in [`crate::encode::Encoder::columns`].
    pub columns: Vec<usize>,
    /// What it adds to the score, more than 0.
    pub contribution: f64,
    /// A sentence without its full stop, such as "TSH = 0.53, higher than 99.7 % of rows". Names and categories stand in it
    /// as they are in the table.
    pub text: String,
}

/// Scores of rows and the reasons for each.
#[derive(Debug, Clone, Default)]
pub struct Reasons {
    explained: Contributions,
    rows: Vec<Vec<Reason>>,
}

impl Reasons {
    /// The scores, the same as from [`crate::Detector::score`].
    pub fn scores(&self) -> &[f32] {
        self.explained.scores()
    }

    /// The cells of the rows that do not fit their columns.
    pub fn oddities(&self) -> &Oddities {
        self.explained.oddities()
    }

    /// The reasons for a row's score, the one that adds most first; fewer than asked for where no more terms raise it.
    pub fn row(&self, row: usize) -> &[Reason] {
        &self.rows[row]
    }

    /// The reasons of all rows.
    pub fn rows(&self) -> &[Vec<Reason>] {
        &self.rows
    }
}

impl Explainer<'_> {
    /// The scores of the rows of a table, and for each row at most so many reasons: the terms that raise its score most, in
    /// words.
    ///
    /// ```
    /// use diad::{Params, explain::Explainer, table::Table};
    ///
    /// let mut x: Vec<f64> = (0..200).map(|i| f64::from(i % 20)).collect();
    /// x[123] = 100.0;
    /// let table = Table::new(vec!["x".into()], vec![x])?;
    /// let detector = Params::default().with_steps(50).trees(20).fit(&table)?;
    /// let reasons = Explainer::new(&detector).reasons(&table, 3)?;
    /// assert!(reasons.row(123)[0].text.starts_with("x = 100, "));
    /// assert_eq!(reasons.scores(), detector.score(&table)?);
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Explainer::contributions`].
    pub fn reasons(&self, table: &Table, most: usize) -> Result<Reasons> {
        let mut reasons = Reasons::default();
        let found = self.detector.find(table)?;
        self.contributions_of(&found, &mut reasons.explained);
        let row = |row: usize| {
            let reason = |(term, contribution): (usize, f64)| {
                let columns = self.terms[term].columns.clone();
                let values: Vec<f64> = columns.iter().map(|&column| found.columns[column][row]).collect();
                Reason { term, contribution, text: self.describe(term, &values), columns }
            };
            raising(reasons.explained.row(row), most).into_iter().map(reason).collect()
        };
        reasons.rows = parallel::map_indices(table.rows(), &row);
        reasons.explained.oddities = self.noted(found, table);
        Ok(reasons)
    }
}

/// The terms that raise a score most, at most so many, with what they add.
fn raising(contributions: &[f64], most: usize) -> Vec<(usize, f64)> {
    let mut best: Vec<(usize, f64)> = Vec::with_capacity(most.min(contributions.len()));
    for (term, &contribution) in contributions.iter().enumerate() {
        let full = best.len() == most;
        if contribution <= 0.0 || most == 0 || full && contribution <= best[most - 1].1 {
            continue;
        }
        best.truncate(most - usize::from(full));
        let place = best.partition_point(|(_, known)| *known >= contribution);
        best.insert(place, (term, contribution));
    }
    best
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against sorting all of them.
        #[test]
        fn the_largest_come_first(contributions in prop::collection::vec(-3i8..6, 0..30), most in 0usize..6) {
            let contributions: Vec<f64> = contributions.into_iter().map(f64::from).collect();
            let mut sorted: Vec<(usize, f64)> = contributions.iter().copied().enumerate().collect();
            sorted.retain(|(_, contribution)| *contribution > 0.0);
            sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
            sorted.truncate(most);
            prop_assert_eq!(raising(&contributions, most), sorted);
        }
    }
}
