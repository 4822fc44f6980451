//! What terms contribute to rows, summed up.

use serde::{Deserialize, Serialize};

use crate::Detector;
use crate::encode::Matrix;
use crate::explain::{Contributions, Explainer};
use crate::parallel;
use crate::profile::Usual;

/// The percentile from which on rows are rare.
pub const RARE: f64 = 99.0;
/// Rows that are summed up at a time: the order of additions is the same whatever the threads.
const CHUNK: usize = 256;
/// Most training rows that tell what is usual.
pub const USUAL_ROWS: usize = 8192;

/// Sums over rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sums {
    pub rows: u64,
    /// Of the scores, in double precision.
    pub score: f64,
    /// Rows that are rare.
    pub rare: u64,
    pub terms: Vec<TermSum>,
}

/// Sums of one term over rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TermSum {
    pub sum: f64,
    pub squares: f64,
    /// What it has in rare rows, of all that makes them so: each row counts 1.
    pub rare: f64,
}

impl Sums {
    pub fn new(terms: usize) -> Self {
        Self { rows: 0, score: 0.0, rare: 0, terms: vec![TermSum::default(); terms] }
    }

    /// Adds some rows, of scores `threshold` or higher are rare.
    pub fn add(&mut self, explainer: &Explainer, explained: &Contributions, rows: &[usize], threshold: f32) {
        let chunk = |rows: &[usize]| {
            let mut sums = Self::new(self.terms.len());
            rows.iter().for_each(|&row| sums.add_row(explainer, explained, row, threshold));
            sums
        };
        let chunks: Vec<&[usize]> = rows.chunks(CHUNK).collect();
        let chunks = parallel::map(&chunks, &|rows| chunk(rows));
        chunks.iter().for_each(|sums| self.append(sums));
    }

    fn add_row(&mut self, explainer: &Explainer, explained: &Contributions, row: usize, threshold: f32) {
        let contributions = explained.row(row);
        let mut score = explainer.intercept();
        for (sum, &value) in self.terms.iter_mut().zip(contributions) {
            sum.sum += value;
            sum.squares += value * value;
            score += value;
        }
        self.rows += 1;
        self.score += score;
        if explained.scores()[row] >= threshold {
            self.rare += 1;
            let raised: f64 = contributions.iter().map(|value| value.max(0.0)).sum();
            for (sum, &value) in self.terms.iter_mut().zip(contributions) {
                // A rare row that nothing raises is nobody's: all terms share it.
                let even = 1.0 / contributions.len() as f64;
                sum.rare += if raised > 0.0 { value.max(0.0) / raised } else { even };
            }
        }
    }

    /// Adds the sums over other rows.
    pub fn append(&mut self, more: &Self) {
        self.rows += more.rows;
        self.score += more.score;
        self.rare += more.rare;
        for (sum, more) in self.terms.iter_mut().zip(&more.terms) {
            sum.sum += more.sum;
            sum.squares += more.squares;
            sum.rare += more.rare;
        }
    }

    /// The mean and the variance of a term.
    pub fn moments(&self, term: usize) -> [f64; 2] {
        let (n, TermSum { sum, squares, .. }) = (self.rows.max(1) as f64, self.terms[term]);
        let mean = sum / n;
        [mean, (squares / n - mean * mean).max(0.0)]
    }
}

/// From which score on rows of a model are rare.
pub fn threshold(detector: &Detector) -> f32 {
    detector.calibration().score_at(1.0 - RARE / 100.0)
}

/// As many encoded training rows as [`usual`] looks at.
pub fn usual_rows(rows: &Matrix) -> Matrix {
    let step = rows.rows().div_ceil(USUAL_ROWS).max(1);
    rows.part((0..rows.rows()).step_by(step))
}

/// What terms contribute to encoded training rows, of which some are looked at: [`usual_rows`]. So many of these rows count as rare as
/// the calibration says.
pub fn usual(detector: &Detector, rows: &Matrix) -> Vec<Usual> {
    let few = usual_rows(rows);
    let explainer = Explainer::new(detector);
    let explained = explainer.contributions_encoded(&few);
    let mut sums = Sums::new(explainer.terms().len());
    let all: Vec<usize> = (0..few.rows()).collect();
    sums.add(&explainer, &explained, &all, threshold(detector));
    let share = (1.0 - RARE / 100.0) / sums.rare.max(1) as f64;
    let of_term = |(term, given): (usize, &crate::explain::Term)| {
        let [mean, variance] = sums.moments(term);
        Usual {
            columns: given.ends(),
            mean: mean as f32,
            deviation: variance.sqrt() as f32,
            rare: (share * sums.terms[term].rare) as f32,
        }
    };
    explainer.terms().iter().enumerate().map(of_term).collect()
}
