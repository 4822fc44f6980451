//! The reasons for scores, as sentences.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::{Contributions, Explainer};
use crate::Result;
use crate::encode::Oddities;
use crate::parallel;
use crate::table::Table;

/// A reason for a score: a term that raises it, in words.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
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

/// Sentences that are remembered from table to table, about: what was said last is forgotten when there are more.
const REMEMBERED: usize = 1 << 16;

/// What a sentence is about: a term, and the bits of the values of its columns.
type About = (usize, [u64; 2]);

/// Sentences that were made before: rows of a large table say the same things again and again.
#[derive(Debug, Default)]
pub(super) struct Sentences(Mutex<HashMap<About, String>>);

impl Sentences {
    /// Those there are; other threads find none meanwhile.
    fn take(&self) -> HashMap<About, String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, sentences: HashMap<About, String>) {
        if sentences.len() <= REMEMBERED {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = sentences;
        }
    }
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
        let raised = parallel::map_indices(table.rows(), &|row| raising(reasons.explained.row(row), most));
        let about = |row: usize, term: usize| -> About {
            let mut bits = [0; 2];
            let columns = self.terms[term].columns.iter();
            bits.iter_mut()
                .zip(columns)
                .for_each(|(bits, &column)| *bits = found.columns[column][row].to_bits());
            (term, bits)
        };
        let mut sentences = self.sentences.take();
        let mut missing = Vec::new();
        for (row, raised) in raised.iter().enumerate() {
            for &(term, _) in raised {
                let about = about(row, term);
                sentences.entry(about).or_insert_with(|| {
                    missing.push(about);
                    String::new()
                });
            }
        }
        let made = parallel::map(&missing, &|&(term, bits): &About| {
            self.describe(term, &bits.map(f64::from_bits)[..self.terms[term].columns.len()])
        });
        sentences.extend(missing.into_iter().zip(made));
        reasons.rows = parallel::map_indices(table.rows(), &|row| {
            let reason = |&(term, contribution): &(usize, f64)| {
                let text = sentences[&about(row, term)].clone();
                Reason { term, contribution, text, columns: self.terms[term].columns.clone() }
            };
            raised[row].iter().map(reason).collect()
        });
        self.sentences.put(sentences);
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
    use crate::Params;

    /// Sentences that are remembered are those that would be made anew, also of other tables.
    #[test]
    fn sentences_are_those_of_the_row() {
        let table = |shift: u32| {
            let x = (0..600).map(|i| f64::from((i + shift) * 37 % 90)).collect();
            let y =
                (0..600).map(|i| if i % 7 == 3 { f64::NAN } else { f64::from((i + shift) % 5) }).collect();
            Table::new(vec!["x".into(), "y".into()], vec![x, y]).unwrap()
        };
        let detector = Params::default().with_steps(20).trees(10).fit(&table(0)).unwrap();
        let explainer = Explainer::new(&detector);
        for table in [table(0), table(1), table(0)] {
            let reasons = explainer.reasons(&table, 3).unwrap();
            assert!(reasons.rows().iter().any(|row| row.len() > 1));
            for (row, told) in reasons.rows().iter().enumerate() {
                for reason in told {
                    let values: Vec<f64> =
                        reason.columns.iter().map(|&column| table.column(column)[row]).collect();
                    assert_eq!(reason.text, explainer.describe(reason.term, &values));
                }
            }
        }
    }

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
