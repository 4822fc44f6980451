//! The reasons for scores, as sentences.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;

use super::{Contributions, Explainer};
use crate::Result;
use crate::encode::Oddities;
use crate::parallel;
use crate::table::Table;

/// A reason for a score: a term that raises it, in words.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Reason<'a> {
    /// The term, by its place in [`Explainer::terms`].
    pub term: usize,
    /// What it adds to the score, more than 0.
    pub contribution: f64,
    /// A sentence without its full stop, such as "TSH = 0.53, higher than 99.7 % of rows". Names and categories stand in it
    /// as they are in the table.
    pub text: &'a str,
}

/// A term that adds less than this share of what the first reason adds is no reason.
const LEAST_SHARE: f64 = 0.1;
/// Sentences that are remembered from table to table: all are forgotten when there are more.
const REMEMBERED: usize = 1 << 16;
/// Rows whose reasons one thread finds at a time.
const PIECE: usize = 512;

/// What a sentence is about: a term, and the bits of the values of its columns.
type About = (u32, [u64; 2]);

/// Sentences that were made before: rows of a large table say the same things again and again.
#[derive(Debug, Default)]
pub(super) struct Sentences(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    codes: HashMap<About, u32, RandomState>,
    /// By code.
    texts: Vec<Arc<str>>,
}

impl Sentences {
    /// Those there are; other threads find none meanwhile.
    fn take(&self) -> Known {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn put(&self, known: Known) {
        if known.texts.len() <= REMEMBERED {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = known;
        }
    }
}

/// A term that raises the score of a row.
#[derive(Debug, Clone, Copy)]
struct Raising {
    term: u32,
    sentence: u32,
}

impl Raising {
    const NONE: Self = Self { term: u32::MAX, sentence: u32::MAX };
}

/// Scores of rows and the reasons for each.
#[derive(Debug, Clone, Default)]
pub struct Reasons {
    explained: Contributions,
    most: usize,
    /// So many of each row, the one that adds most first, then none.
    found: Vec<Raising>,
    sentences: Vec<Arc<str>>,
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
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = Reason<'_>> {
        let found = &self.found[row * self.most..(row + 1) * self.most];
        let count = found.iter().take_while(|raising| raising.term != u32::MAX).count();
        let contributions = self.explained.row(row);
        found[..count].iter().map(|raising| Reason {
            term: raising.term as usize,
            contribution: contributions[raising.term as usize],
            text: &self.sentences[raising.sentence as usize],
        })
    }

    /// Different sentences, those of the rows among them; see [`Reasons::codes`].
    pub fn sentences(&self) -> &[Arc<str>] {
        &self.sentences
    }

    /// The first (0), second … reason of every row, by its place in [`Reasons::sentences`]; beyond the last of them where a row has
    /// fewer.
    pub fn codes(&self, reason: usize) -> impl Iterator<Item = u32> {
        let code = move |row: usize| match reason < self.most {
            true => self.found[row * self.most + reason].sentence,
            false => Raising::NONE.sentence,
        };
        (0..self.scores().len()).map(code)
    }
}

impl Explainer<'_> {
    /// The scores of the rows of a table, and for each row at most so many reasons: the terms that raise its score most, in
    /// words. A term that adds less than a tenth of what the first adds is none.
    ///
    /// ```
    /// use diad::{Params, explain::Explainer, table::Table};
    ///
    /// let mut x: Vec<f64> = (0..200).map(|i| f64::from(i % 20)).collect();
    /// x[123] = 100.0;
    /// let table = Table::new(vec!["x".into()], vec![x])?;
    /// let detector = Params::default().with_steps(50).trees(20).fit(&table)?;
    /// let reasons = Explainer::new(&detector).reasons(&table, 3)?;
    /// assert!(reasons.row(123).next().unwrap().text.starts_with("x = 100, "));
    /// assert_eq!(reasons.scores(), detector.score(&table)?);
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Explainer::contributions`].
    pub fn reasons(&self, table: &Table, most: usize) -> Result<Reasons> {
        let most = most.min(self.terms.len());
        let found = self.detector.find(table)?;
        let mut explained = Contributions::default();
        self.contributions_of(&found, &mut explained);
        let about = |row: usize, term: u32| -> About {
            let mut bits = [0; 2];
            let columns = self.terms[term as usize].columns.iter();
            bits.iter_mut()
                .zip(columns)
                .for_each(|(bits, &column)| *bits = found.columns[column][row].to_bits());
            (term, bits)
        };
        let mut known = self.sentences.take();
        let mut raised = vec![Raising::NONE; table.rows() * most];
        parallel::for_each(raised.chunks_mut(PIECE * most.max(1)), &|piece, raised| {
            for (row, places) in (piece * PIECE..).zip(raised.chunks_exact_mut(most.max(1))) {
                raising(explained.row(row), places);
                without_trifles(explained.row(row), places);
                for place in places.iter_mut().take_while(|place| place.term != u32::MAX) {
                    place.sentence = known.codes.get(&about(row, place.term)).copied().unwrap_or(u32::MAX);
                }
            }
        });
        let mut missing = Vec::new();
        let unsaid = |raising: &Raising| raising.term != u32::MAX && raising.sentence == u32::MAX;
        for (place, raising) in raised.iter_mut().enumerate().filter(|(_, raising)| unsaid(raising)) {
            let about = about(place / most, raising.term);
            let next = (known.texts.len() + missing.len()) as u32;
            raising.sentence = *known.codes.entry(about).or_insert_with(|| {
                missing.push(about);
                next
            });
        }
        known.texts.extend(parallel::map(&missing, &|&(term, bits): &About| {
            let term = term as usize;
            Arc::from(self.describe(term, &bits.map(f64::from_bits)[..self.terms[term].columns.len()]))
        }));
        let sentences = known.texts.clone();
        self.sentences.put(known);
        explained.oddities = self.noted(found, table);
        Ok(Reasons { explained, most, found: raised, sentences })
    }
}

/// Puts the terms that raise a score most into as many places, the one that adds most first.
fn raising(contributions: &[f64], places: &mut [Raising]) {
    let (most, mut count) = (places.len(), 0);
    for (term, &contribution) in (0..).zip(contributions) {
        let known = |raising: &Raising| contributions[raising.term as usize];
        let least = places[..count].last().filter(|_| count == most);
        if most == 0 || contribution <= 0.0 || least.is_some_and(|least| contribution <= known(least)) {
            continue;
        }
        count = most.min(count + 1);
        let place = places[..count - 1].partition_point(|raising| known(raising) >= contribution);
        places.copy_within(place..count - 1, place + 1);
        places[place] = Raising { term, ..Raising::NONE };
    }
}

/// Leaves out terms that add next to nothing beside the first.
fn without_trifles(contributions: &[f64], places: &mut [Raising]) {
    let added = |place: &Raising| contributions.get(place.term as usize).copied().unwrap_or(0.0);
    let least = LEAST_SHARE * places.first().map_or(0.0, added);
    places.iter_mut().filter(|place| added(place) < least).for_each(|place| *place = Raising::NONE);
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
            assert!((0..table.rows()).any(|row| reasons.row(row).len() > 1));
            for row in 0..table.rows() {
                for (number, reason) in reasons.row(row).enumerate() {
                    let columns = explainer.terms()[reason.term].columns().iter();
                    let values: Vec<f64> = columns.map(|&column| table.column(column)[row]).collect();
                    assert_eq!(reason.text, explainer.describe(reason.term, &values));
                    let code = reasons.codes(number).nth(row).unwrap();
                    assert_eq!(&*reasons.sentences()[code as usize], reason.text);
                }
                let count = reasons.row(row).len();
                let codes = (count..3).map(|number| reasons.codes(number).nth(row).unwrap() as usize);
                assert!(codes.into_iter().all(|code| code >= reasons.sentences().len()));
            }
        }
    }

    #[test]
    fn a_term_that_adds_next_to_nothing_is_no_reason() {
        let kept = |contributions: &[f64]| {
            let mut places = vec![Raising::NONE; 3];
            raising(contributions, &mut places);
            without_trifles(contributions, &mut places);
            places.iter().filter(|place| place.term != u32::MAX).map(|place| place.term).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[0.3, 20.0, 2.5, -2.0]), [1, 2]);
        assert_eq!(kept(&[0.3, 0.2, 0.1]), [0, 1, 2]);
        assert_eq!(kept(&[-1.0, 0.0]), [0; 0]);
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
            let mut places = vec![Raising::NONE; most];
            raising(&contributions, &mut places);
            let found = places.iter().take_while(|place| place.term != u32::MAX).map(|place| place.term as usize);
            let found: Vec<(usize, f64)> = found.map(|term| (term, contributions[term])).collect();
            prop_assert_eq!(found, sorted);
        }
    }
}
