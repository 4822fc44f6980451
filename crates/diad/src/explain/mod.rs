//! What a score is made of.
//!
//! A score is a sum of functions of one and of two columns. An [`Explainer`] takes it apart into [`Term`]s: one for
//! each column and one for each pair of columns that the model looks at together. What a pair says of one of its columns
//! alone is moved to that column's term (purification), and every term is centred, so that
//!
//! > intercept + the contributions of all terms = score
//!
//! for every row, within rounding. Weights are those of the training rows, which the model remembers.
//!
//! ```
//! use diad::{Params, explain::Explainer, table::Table};
//!
//! let x: Vec<f64> = (0..200).map(|i| (i % 20) as f64).collect();
//! let mut y: Vec<f64> = x.iter().map(|x| 2.0 * x).collect();
//! y[123] = 100.0;
//! let table = Table::new(vec!["x".into(), "y".into()], vec![x, y])?;
//! let detector = Params::default().with_steps(50).trees(20).fit(&table)?;
//!
//! let explainer = Explainer::new(&detector);
//! let explained = explainer.contributions(&table)?;
//! let sum: f64 = explainer.intercept() + explained.row(123).iter().sum::<f64>();
//! assert!((sum - f64::from(explained.scores()[123])).abs() < 1e-6 * sum.abs().max(1.0));
//! assert_eq!(explained.scores(), detector.score(&table)?);
//! # Ok::<(), diad::Error>(())
//! ```

mod axis;
mod change;
mod local;
mod numbers;
mod reasons;
mod shape;
mod standing;
#[cfg(test)]
mod tests;
mod what_if;
mod words;

use std::collections::{BTreeMap, HashMap};

use crate::Detector;
use crate::encode::Scaler;
use crate::function::{interpolate, locate};
use crate::kernel::Terms;
use crate::parallel::{self, Spaces};
use crate::profile::{Cell, Counts, Groups, Usual};
use crate::score::pieces::Wanted;
use crate::score::{Engine, Workspace, purify};

pub use axis::{Axis, Tick};
pub use change::{Change, Comparison, compare};
pub use local::Contributions;
pub(crate) use numbers::count;
pub use numbers::number;
use reasons::Sentences;
pub use reasons::{Reason, Reasons};
pub use shape::{FEW_ROWS, Line, Surface};
pub use standing::{Outside, Standing};
pub use what_if::{Counterfactual, Replacement};

/// A function of one column or of two: one part of every score.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// One or two columns, by their places in [`crate::encode::Encoder::columns`], ascending.
    columns: Vec<usize>,
    /// The pieces of the score that are functions of these columns.
    pieces: Vec<usize>,
    /// What is taken from the sum of the pieces: for each column a function, given by its values at the column's nodes.
    moved: Vec<Vec<f64>>,
    /// And a constant.
    mean: f64,
    importance: f64,
}

impl Term {
    /// Its columns, one or two, by their places in [`crate::encode::Encoder::columns`].
    pub fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// The mean of its absolute contributions over the training rows.
    pub fn importance(&self) -> f64 {
        self.importance
    }

    /// The first and the last of its columns: the same one twice if it has no other.
    pub(crate) fn ends(&self) -> [u32; 2] {
        [self.columns[0] as u32, self.columns[self.columns.len() - 1] as u32]
    }
}

/// Takes scores apart into terms.
#[derive(Debug)]
pub struct Explainer<'a> {
    detector: &'a Detector,
    scalers: &'a [Scaler],
    /// Where the functions that purification moves have their nodes, for each column.
    nodes: Vec<Vec<f32>>,
    terms: Vec<Term>,
    /// The terms by their columns.
    places: HashMap<Vec<usize>, usize>,
    /// The features of each column.
    views: Vec<Vec<u32>>,
    /// How each column is cut into groups.
    groups: Vec<Groups>,
    /// Of pairs whose cells are all counted, the rows at the nodes of either column.
    margins: HashMap<[usize; 2], [Vec<u64>; 2]>,
    intercept: f64,
    /// Working space that nobody uses at the moment.
    spaces: Spaces<Workspace>,
    /// The terms of a compiled score, ready to be looked up.
    compiled: Option<Terms>,
    /// Sentences about values that came up before.
    sentences: Sentences,
}

impl<'a> Explainer<'a> {
    /// Works out the terms of a detector. This takes about as long as scoring a few hundred rows.
    pub fn new(detector: &'a Detector) -> Self {
        let nodes = purify::nodes(detector.encoder(), detector.profile());
        let terms = raw_terms(detector, &nodes);
        let mut views = vec![Vec::new(); nodes.len()];
        for (feature, seen) in (0..).zip(detector.encoder().features()) {
            views[seen.column as usize].push(feature);
        }
        let mut explainer = Self {
            detector,
            scalers: detector.scalers(),
            nodes,
            places: terms.iter().enumerate().map(|(index, term)| (term.columns.clone(), index)).collect(),
            terms,
            views,
            groups: groups(detector),
            margins: HashMap::new(),
            intercept: detector.engine().constant(),
            spaces: Spaces::default(),
            compiled: None,
            sentences: Sentences::default(),
        };
        explainer.margins = explainer.counted_margins();
        // Tables are made of purified terms.
        if matches!(detector.engine(), Engine::Exact(_)) {
            explainer.purify();
        }
        explainer.centre();
        let constants = explainer.terms.iter().map(|term| -term.mean).collect();
        if let Engine::Tables(compiled) = detector.engine() {
            explainer.compiled = Some(compiled.terms(&explainer.term_of_pieces(), constants));
        }
        explainer
    }

    /// The detector that is explained.
    pub fn detector(&self) -> &'a Detector {
        self.detector
    }

    /// The terms: those of one column in the order of the columns, then those of two.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The constant part of every score: the mean score, as far as the weights of the training rows tell.
    pub fn intercept(&self) -> f64 {
        self.intercept
    }

    /// The term of these columns, in any order, if there is one.
    pub fn find(&self, columns: &[usize]) -> Option<usize> {
        let mut sorted = columns.to_vec();
        sorted.sort_unstable();
        self.places.get(&sorted).copied()
    }

    /// The name of a term: its column, or its two columns with × between them.
    pub fn name(&self, term: usize) -> String {
        let columns = self.detector.encoder().columns();
        let names: Vec<&str> = self.terms[term].columns.iter().map(|&c| columns[c].name.as_str()).collect();
        names.join(" × ")
    }

    /// What a term contributes where its columns have these values, in the columns' own units: as many values for each
    /// point as the term has columns. Values outside the range of the training rows are evaluated as in a score.
    ///
    /// # Panics
    /// If there is no such term, or a point does not have a value for each of its columns.
    pub fn evaluate(&self, term: usize, points: &[&[f64]]) -> Vec<f64> {
        let columns = self.terms[term].columns.len();
        assert!(points.iter().all(|point| point.len() == columns), "one value for each column of the term");
        self.evaluate_at(term, points.len(), &|point, axis| points[point][axis])
    }

    /// What a term contributes at so many points.
    fn evaluate_at(&self, term: usize, points: usize, value: &dyn Fn(usize, usize) -> f64) -> Vec<f64> {
        let given = &self.terms[term];
        // Of each feature, which of the term's columns it sees.
        let views = given.columns.iter().enumerate();
        let (axes, features): (Vec<usize>, Vec<u32>) = views
            .flat_map(|(axis, &column)| self.views[column].iter().map(move |&view| (axis, view)))
            .unzip();
        let scaled = |point: usize, k: usize| self.scalers[features[k] as usize].scale(value(point, axes[k]));
        let wanted = Wanted { pieces: &given.pieces, features: &features, value: &scaled };
        let new = || Workspace::new(self.scalers.len());
        let mut values = self.spaces.with(new, |work| self.detector.engine().sum_at(wanted, points, work));
        for (point, total) in values.iter_mut().enumerate() {
            *total -= given.mean;
            for (axis, (&column, moved)) in given.columns.iter().zip(&given.moved).enumerate() {
                let x = self.scalers[column].scale(value(point, axis));
                *total -= interpolate(locate(f64::from(x), &self.nodes[column]), moved);
            }
        }
        values
    }

    /// Moves what pairs say of single columns to the terms of those columns.
    fn purify(&mut self) {
        for moved in self.detector.moved(&self.nodes) {
            let Some(pair) = self.find(&moved.columns) else { continue };
            for ((axis, column), values) in moved.columns.into_iter().enumerate().zip(moved.values) {
                if let Some(main) = self.find(&[column]) {
                    let own = self.terms[main].moved[0].iter_mut().zip(&values);
                    own.for_each(|(own, moved)| *own -= moved);
                    self.terms[pair].moved[axis] = values;
                }
            }
        }
    }

    /// How many rows are at the nodes of two columns, where all are counted.
    fn counted_margins(&self) -> HashMap<[usize; 2], [Vec<u64>; 2]> {
        let whole = self.detector.profile().counts.iter().filter(|counts| counts.rest == 0);
        let margins = |counts: &Counts| {
            let columns = counts.columns.map(|column| column as usize);
            let mut margins = columns.map(|column| vec![0; self.nodes[column].len()]);
            for (at, rows) in &counts.cells {
                margins[0][usize::from(at[0])] += u64::from(*rows);
                margins[1][usize::from(at[1])] += u64::from(*rows);
            }
            (columns, margins)
        };
        whole.map(margins).collect()
    }

    /// Moves the mean of every term into the intercept, and finds its importance. Both are known at the nodes of a term; where it was
    /// measured over the training rows themselves what that misses, as much is added.
    fn centre(&mut self) {
        let usual: HashMap<[u32; 2], &Usual> =
            self.detector.profile().usual.iter().map(|usual| (usual.columns, usual)).collect();
        let found = parallel::map_indices(self.terms.len(), &|term| {
            let (values, weights) = self.weighted(term);
            let total: f64 = weights.iter().sum();
            let over = |of: &dyn Fn(f64) -> f64| {
                values.iter().zip(&weights).map(|(&value, weight)| weight * of(value)).sum::<f64>() / total
            };
            let mean = over(&|value| value);
            let importance = over(&|value| (value - mean).abs());
            let Some(usual) = usual.get(&self.terms[term].ends()) else { return (mean, importance) };
            let deviation = over(&|value| (value - mean) * (value - mean)).sqrt();
            let share = if deviation > 0.0 { f64::from(usual.deviation) / deviation } else { 1.0 };
            (mean + f64::from(usual.mean), share * importance)
        });
        for (term, (mean, importance)) in self.terms.iter_mut().zip(found) {
            self.intercept += mean;
            (term.mean, term.importance) = (mean, importance);
        }
    }

    /// A term where training rows were, and the weights of these places.
    fn weighted(&self, term: usize) -> (Vec<f64>, Vec<f64>) {
        if let &[column] = &self.terms[term].columns[..] {
            let (places, weights): (Vec<f32>, Vec<f64>) =
                self.detector.profile().columns[column].weights().into_iter().unzip();
            let places: Vec<f64> = places.iter().map(|&place| self.scalers[column].original(place)).collect();
            return (self.evaluate_at(term, places.len(), &|point, _| places[point]), weights);
        }
        let (points, weights) = self.together(&self.terms[term].columns);
        (self.evaluate_at(term, points.len(), &|point, axis| points[point][axis]), weights)
    }

    /// Where the values of two columns came together in training rows, and how many of the rows were there.
    fn together(&self, columns: &[usize]) -> (Vec<[f64; 2]>, Vec<f64>) {
        let columns = [columns[0], columns[1]];
        let cells = self.detector.profile().joint(columns, columns.map(|column| &self.nodes[column][..]));
        let values = columns.map(|column| {
            let nodes = self.nodes[column].iter();
            nodes.map(|&node| self.scalers[column].original(node)).collect::<Vec<f64>>()
        });
        let place = |Cell { at, weight }: Cell| ([values[0][at[0]], values[1][at[1]]], weight);
        cells.into_iter().map(place).unzip()
    }
}

/// How the columns of a detector are cut into groups.
fn groups(detector: &Detector) -> Vec<Groups> {
    let columns = detector.encoder().columns().iter().zip(&detector.profile().columns);
    columns
        .map(|(given, spread)| {
            let places = if given.positions() > 0 { given.places() } else { Vec::new() };
            Groups::new(spread, &places)
        })
        .collect()
}

/// The terms of a detector, each with its pieces: those of every column that any piece looks at, then those of pairs.
fn raw_terms(detector: &Detector, nodes: &[Vec<f32>]) -> Vec<Term> {
    let features = detector.encoder().features();
    let mut pieces: BTreeMap<(usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
    let engine = detector.engine();
    for piece in 0..engine.pieces() {
        let mut columns: Vec<usize> =
            engine.piece_features(piece).iter().map(|&f| features[f as usize].column as usize).collect();
        columns.sort_unstable();
        columns.dedup();
        for &column in &columns {
            pieces.entry((1, vec![column])).or_default();
        }
        pieces.entry((columns.len(), columns)).or_default().push(piece);
    }
    pieces
        .into_iter()
        .map(|((_, columns), pieces)| Term {
            moved: columns.iter().map(|&column| vec![0.0; nodes[column].len()]).collect(),
            columns,
            pieces,
            mean: 0.0,
            importance: 0.0,
        })
        .collect()
}
