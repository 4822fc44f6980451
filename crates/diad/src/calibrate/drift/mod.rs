//! What has changed since the training: new rows against what a model remembers, by the model's own terms.
//!
//! A score is a sum of terms, and so is the change of the mean score: what each term contributes to it is exact. So is the change of
//! the share of rare rows, each of which counts once, shared among the terms that raise it.

mod columns;
mod counted;
mod json;
mod sums;

use std::collections::BTreeMap;

use self::columns::{Tally, training_quartiles, upper_tail};
pub use self::counted::Counted;
use self::sums::{RARE, Sums};
pub(crate) use self::sums::{usual, usual_rows};
use crate::Result;
use crate::encode::Scaler;
use crate::explain::{Contributions, Explainer};
use crate::parallel;
use crate::profile::Usual;
use crate::table::Table;

/// The share of false findings among all, at most.
const FALSE: f64 = 0.05;
/// How many standard errors an interval reaches to either side: 95 %.
const NINETY_FIVE: f64 = 1.959_964;
/// From where on a shift of a term, in standard deviations, is small, moderate, large.
const SHIFTS: [f64; 3] = [0.1, 0.2, 0.5];
/// From which share of rows that lie elsewhere a column's change is small, moderate, large.
const MOVES: [f64; 3] = [0.05, 0.1, 0.25];
/// Factors by which units differ.
const UNITS: [f64; 4] = [10.0, 100.0, 1000.0, 1_000_000.0];
/// By how much the logarithm to the base 10 of a jump may differ from that of a unit.
const NEAR: f64 = 0.1;
/// Most groups that are told apart.
const MOST_GROUPS: usize = 1000;

/// How large a change is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Nothing that could not be chance, or too little to matter.
    Same,
    /// A small change.
    Small,
    /// A moderate change.
    Moderate,
    /// A large change.
    Large,
}

impl Verdict {
    fn of(size: f64, cuts: [f64; 3], is_found: bool) -> Self {
        match cuts.iter().filter(|&&cut| size >= cut).count() {
            _ if !is_found => Self::Same,
            0 => Self::Same,
            1 => Self::Small,
            2 => Self::Moderate,
            _ => Self::Large,
        }
    }

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Small => "small",
            Self::Moderate => "moderate",
            Self::Large => "large",
        }
    }
}

/// How what one term contributes has changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TermDrift {
    /// The term, by its place in [`Explainer::terms`].
    pub term: usize,
    /// By how many standard deviations of the training its mean has moved.
    pub shift: f64,
    /// The interval of the shift, at 95 %.
    pub interval: [f64; 2],
    /// What it adds to the change of the mean score. All terms together are that change.
    pub score: f64,
    /// What it adds to the change of the share of rare rows. All terms together are that change.
    pub rare: f64,
    /// How likely so large a shift would be if the mean had moved by no more than a tenth of a standard deviation.
    pub p: f64,
    /// How large the change is.
    pub verdict: Verdict,
}

/// How the values of one column have changed.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnDrift {
    /// The column, by its place in [`crate::encode::Encoder::columns`].
    pub column: usize,
    /// The share of the rows that lie elsewhere than those of the training.
    pub moved: f64,
    /// How likely so large a difference would be if nothing had changed.
    pub p: f64,
    /// How large the change is.
    pub verdict: Verdict,
    /// The share of missing values in the training and in the new rows.
    pub missing: [f64; 2],
    /// The share of new rows with a category that no training row had.
    pub unseen: f64,
    /// The share of new rows with a value below and above all of the training.
    pub outside: [f64; 2],
    /// The share of new rows whose cell cannot be read.
    pub unreadable: f64,
    /// The medians of the training and of the new rows, for numbers.
    pub medians: Option<[f64; 2]>,
    /// Whether all values have become larger or smaller by a power of ten, as in another unit.
    pub jump: Option<f64>,
}

/// The rows of one group: those with the same value of a column.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GroupDrift {
    /// The value.
    pub name: String,
    /// How many rows have it.
    pub rows: u64,
    /// Their mean score.
    pub mean_score: f64,
    /// The share of them that are rare.
    pub rare: f64,
    /// What each term adds to the change of the mean score since the training.
    pub terms: Vec<f64>,
}

/// What has changed since the training.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Drift {
    /// How many new rows there are.
    pub rows: u64,
    /// The mean score of the training rows and of the new ones.
    pub mean_score: [f64; 2],
    /// The share of rows that are rare (percentile 99 and higher) in the training and among the new ones.
    pub rare: [f64; 2],
    /// Every term, in the order of [`Explainer::terms`].
    pub terms: Vec<TermDrift>,
    /// Every column, in their order.
    pub columns: Vec<ColumnDrift>,
    /// Groups, by name, if they were asked for.
    pub groups: Vec<GroupDrift>,
    /// The largest change of any term or column.
    pub verdict: Verdict,
}

/// Compares new rows, batch by batch, with what a model remembers of its training.
///
/// ```
/// use diad::{Params, calibrate::{Drifting, Verdict}, explain::Explainer, table::Table};
///
/// let rows = |factor: f64| (0..2000).map(|i| factor * f64::from(i * 37 % 101)).collect();
/// let table = |factor| Table::new(vec!["x".into()], vec![rows(factor)]);
/// let detector = Params::default().with_steps(20).trees(10).fit(&table(1.0)?)?;
/// let explainer = Explainer::new(&detector);
///
/// let drift = |factor| -> diad::Result<_> {
///     let mut drifting = Drifting::new(&explainer);
///     drifting.add(&table(factor)?, None)?;
///     Ok(drifting.finish())
/// };
/// assert_eq!(drift(1.0)?.verdict, Verdict::Same);
/// assert_eq!(drift(1000.0)?.columns[0].jump, Some(1000.0));
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug)]
pub struct Drifting<'a> {
    explainer: &'a Explainer<'a>,
    scalers: Vec<Scaler>,
    threshold: f32,
    sums: Sums,
    tallies: Vec<Tally>,
    groups: BTreeMap<String, Sums>,
    explained: Contributions,
}

impl<'a> Drifting<'a> {
    /// No rows yet.
    pub fn new(explainer: &'a Explainer<'a>) -> Self {
        let detector = explainer.detector();
        let columns = detector.encoder().columns().iter().zip(&detector.profile().columns);
        let tally = |(column, spread)| Tally::new(column, spread, detector.training_rows());
        Self {
            explainer,
            scalers: detector.encoder().scalers(),
            threshold: sums::threshold(detector),
            sums: Sums::new(explainer.terms().len()),
            tallies: columns.map(tally).collect(),
            groups: BTreeMap::new(),
            explained: Contributions::default(),
        }
    }

    /// Adds the rows of a batch; `groups` names the group of each, if rows are to be told apart.
    ///
    /// # Errors
    /// If a column is missing, or the detector is strict and a cell does not fit.
    pub fn add(&mut self, batch: &Table, groups: Option<&[Option<String>]>) -> Result<()> {
        let detector = self.explainer.detector();
        let found = detector.find(batch)?;
        let columns = detector.encoder().columns();
        parallel::for_each(self.tallies.iter_mut().zip(&found.columns), &|index, (tally, values)| {
            tally.add(&columns[index], &self.scalers[index], values);
        });
        self.explainer.contributions_into(batch, &mut self.explained)?;
        let all: Vec<usize> = (0..batch.rows()).collect();
        self.sums.add(self.explainer, &self.explained, &all, self.threshold);
        let Some(groups) = groups else { return Ok(()) };
        let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (row, group) in groups.iter().enumerate() {
            rows.entry(group.as_deref().unwrap_or("missing")).or_default().push(row);
        }
        for (group, rows) in rows {
            let sums = group_of(&mut self.groups, group, self.sums.terms.len());
            sums.add(self.explainer, &self.explained, &rows, self.threshold);
        }
        Ok(())
    }

    /// What the rows say.
    pub fn finish(self) -> Drift {
        let usual = self.usual();
        let mut terms: Vec<TermDrift> =
            usual.iter().enumerate().map(|(term, usual)| self.term(term, usual)).collect();
        let mut columns: Vec<ColumnDrift> =
            (0..self.tallies.len()).map(|column| self.column(column)).collect();
        let found = discoveries(terms.iter().map(|term| term.p).chain(columns.iter().map(|column| column.p)));
        let (of_terms, of_columns) = found.split_at(terms.len());
        for (term, &found) in terms.iter_mut().zip(of_terms) {
            term.verdict = Verdict::of(term.shift.abs(), SHIFTS, found);
        }
        for (column, &found) in columns.iter_mut().zip(of_columns) {
            column.verdict = Verdict::of(column.moved, MOVES, found);
        }
        let before = usual_score(self.explainer, &usual);
        let group = |(name, sums): (String, Sums)| {
            let rows = sums.rows.max(1) as f64;
            let change = |(term, usual): (usize, &Usual)| sums.moments(term)[0] - f64::from(usual.mean);
            let terms = usual.iter().enumerate().map(change).collect();
            let (mean_score, rare) = (sums.score / rows, sums.rare as f64 / rows);
            GroupDrift { name, rows: sums.rows, mean_score, rare, terms }
        };
        let rows = self.sums.rows.max(1) as f64;
        let verdicts = terms.iter().map(|term| term.verdict).chain(columns.iter().map(|c| c.verdict));
        Drift {
            rows: self.sums.rows,
            mean_score: [before, self.sums.score / rows],
            rare: [usual.iter().map(|usual| f64::from(usual.rare)).sum(), self.sums.rare as f64 / rows],
            verdict: verdicts.max().unwrap_or(Verdict::Same),
            terms,
            columns,
            groups: self.groups.into_iter().map(group).collect(),
        }
    }

    /// What each term usually contributes. Of models that do not know, as much as the weights of the training rows tell: on average nothing.
    fn usual(&self) -> Vec<Usual> {
        let known = &self.explainer.detector().profile().usual;
        let terms = self.explainer.terms();
        let rare = ((1.0 - RARE / 100.0) / terms.len() as f64) as f32;
        let usual = |term: &crate::explain::Term| {
            let columns = term.ends();
            let found = known.iter().find(|usual| usual.columns == columns);
            let unknown = Usual {
                columns,
                mean: 0.0,
                deviation: (1.25 * term.importance()) as f32,
                rare: if known.is_empty() { rare } else { 0.0 },
            };
            // Contributions are counted from their mean.
            found.map_or(unknown, |&usual| Usual { mean: 0.0, ..usual })
        };
        terms.iter().map(usual).collect()
    }

    fn term(&self, term: usize, usual: &Usual) -> TermDrift {
        let [mean, variance] = self.sums.moments(term);
        let (rows, score) = (self.sums.rows.max(1) as f64, mean - f64::from(usual.mean));
        let before = f64::from(usual.deviation);
        let known = (self.explainer.detector().training_rows() as f64).min(sums::USUAL_ROWS as f64);
        let error = (before * before / known + variance.max(before * before) / rows).sqrt();
        let unit = before.max(1e-9);
        // Rows that a fit has seen score a little lower than new ones, so that any term moves a little: what is tested is whether it has moved by
        // more than a small shift.
        let beyond = score.abs() - SHIFTS[0] * before;
        let z = if error > 0.0 && beyond > 0.0 { beyond / error } else { 0.0 };
        TermDrift {
            term,
            shift: score / unit,
            interval: [-NINETY_FIVE, NINETY_FIVE].map(|errors| (score + errors * error) / unit),
            score,
            rare: self.sums.terms[term].rare / rows - f64::from(usual.rare),
            p: 2.0 * upper_tail(z),
            verdict: Verdict::Same,
        }
    }

    fn column(&self, column: usize) -> ColumnDrift {
        let detector = self.explainer.detector();
        let (given, tally) = (&detector.encoder().columns()[column], &self.tallies[column]);
        let found = tally.compare(detector.training_rows());
        let counts = &tally.counts;
        let share = |count: u64| count as f64 / counts.rows().max(1) as f64;
        let gaps = given.gaps.map_or(0.0, |gaps| gaps.rows as f64 / detector.training_rows().max(1) as f64);
        let before = training_quartiles(self.explainer, column, &self.scalers[column]);
        let quartiles = found.quartiles.filter(|_| given.positions() == 0 && !given.is_date());
        ColumnDrift {
            column,
            moved: found.moved,
            p: found.p,
            verdict: Verdict::Same,
            missing: [gaps, share(counts.missing)],
            unseen: share(counts.unseen),
            outside: [share(counts.below), share(counts.above)],
            unreadable: share(counts.unreadable),
            medians: quartiles.map(|quartiles| [before[1], quartiles[1]]),
            jump: quartiles.and_then(|quartiles| jump(before, quartiles)),
        }
    }
}

/// The sums of a group; those of the last groups are one.
fn group_of<'a>(groups: &'a mut BTreeMap<String, Sums>, name: &str, terms: usize) -> &'a mut Sums {
    let is_known = groups.contains_key(name) || groups.len() < MOST_GROUPS;
    let name = if is_known { name } else { "all others" };
    groups.entry(name.to_owned()).or_insert_with(|| Sums::new(terms))
}

/// The mean score of the training rows.
fn usual_score(explainer: &Explainer, usual: &[Usual]) -> f64 {
    explainer.intercept() + usual.iter().map(|usual| f64::from(usual.mean)).sum::<f64>()
}

/// The factor by which all values seem to have become larger, if it is one of units: quartiles and what lies between them.
fn jump(before: [f64; 3], after: [f64; 3]) -> Option<f64> {
    let spread = |quartiles: [f64; 3]| quartiles[2] - quartiles[0];
    let pairs = [(before[1], after[1]), (spread(before), spread(after))];
    let factors = UNITS.iter().flat_map(|&unit| [unit, 1.0 / unit]);
    let fits = |factor: &f64, (before, after): (f64, f64)| {
        let ratio = after / before;
        ratio > 0.0 && (libm::log10(ratio) - libm::log10(*factor)).abs() < NEAR
    };
    factors.into_iter().find(|factor| pairs.iter().all(|&pair| fits(factor, pair)))
}

/// Which of some p-values are findings: as many as can be without more than a share of them being false (Benjamini and Hochberg).
fn discoveries(p: impl Iterator<Item = f64>) -> Vec<bool> {
    let p: Vec<f64> = p.collect();
    let mut sorted = p.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let allowed = |place: usize| FALSE * (place + 1) as f64 / sorted.len() as f64;
    let last = (0..sorted.len()).rev().find(|&place| sorted[place] <= allowed(place));
    let border = last.map_or(-1.0, |place| sorted[place]);
    p.into_iter().map(|p| p <= border).collect()
}

#[cfg(test)]
mod tests;
