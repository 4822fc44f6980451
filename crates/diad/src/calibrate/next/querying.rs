//! What labels say of rows without one: what to ask next.

use super::agreement::Rows;
use crate::metrics::top;
use crate::parallel;
use crate::table::Source;
use crate::{Detector, Error, Result};

/// Before any label, that of a row is expected to be so much for each power of ten by which the rows that score as high are fewer than all …
const SLOPE: f64 = 0.3;
/// … less this. An anomaly is 1, a normal row -1.
const OFFSET: f64 = 0.5;
/// This share is added to the share of the rows that score as high: the very highest hardly differ.
const HIGHEST: f64 = 0.003;
/// Standard deviation of the slope, which labels correct.
const SLOPE_DEVIATION: f64 = 0.15;
/// Variance of a label that is right only by chance, against that of what is learned.
const NOISE: f32 = 0.3;
/// Rows worked on at a time.
const BLOCK_ROWS: usize = 2048;

/// A table whose rows are being labelled, one after the other.
///
/// Every label says something of rows that agree with its row in most columns, and of how far the score can be trusted. What is expected of all
/// other rows after it is found at once and exactly, as the mean of a Gaussian process, in milliseconds for 100,000 rows. Labels may be told
/// in any order, and a row may be given twice.
///
/// ```
/// use diad::{Params, calibrate::Querying, table::Table};
///
/// let x: Vec<f64> = (0..400).map(|i| if i % 50 == 7 { 90.0 } else { f64::from(i % 40) }).collect();
/// let y: Vec<f64> = (0..400).map(|i| if i % 80 == 9 { 90.0 } else { f64::from(i % 37) }).collect();
/// let table = Table::new(vec!["x".into(), "y".into()], vec![x, y])?;
/// let detector = Params::default().with_steps(20).trees(10).fit(&table)?;
/// let mut querying = Querying::new(&detector, &table)?;
/// let is_anomaly = |row: usize| row % 50 == 7;
/// for _ in 0..8 {
///     let row = querying.highest(1)[0];
///     querying.tell(row, is_anomaly(row))?;
/// }
/// assert_eq!(querying.labelled(), 8);
/// # Ok::<(), diad::Error>(())
/// ```
#[derive(Debug)]
pub struct Querying {
    pub(super) rows: Rows,
    scores: Vec<f32>,
    /// How far up each row's score lies: minus the logarithm of the share that scores as high.
    height: Vec<f32>,
    /// What each row's label is expected to be.
    expected: Vec<f32>,
    is_labelled: Vec<bool>,
    /// For each label, what is left of its row's covariance with all rows once the labels before are known, as in a decomposition of Cholesky.
    factors: Vec<Vec<f32>>,
}

impl Querying {
    /// The rows of a source, of which no label is known yet.
    ///
    /// # Errors
    /// If the source cannot be read, or its rows do not fit into memory.
    pub fn new(detector: &Detector, source: &dyn Source) -> Result<Self> {
        let scores = detector.score_all(source)?;
        let rows = Rows::read(detector, source, scores.len())?;
        let height = heights(&scores);
        let expected = height.iter().map(|&height| (SLOPE * f64::from(height) - OFFSET) as f32).collect();
        let is_labelled = vec![false; scores.len()];
        Ok(Self { rows, scores, height, expected, is_labelled, factors: Vec::new() })
    }

    /// Learns the label of a row.
    ///
    /// # Errors
    /// If there is no such row.
    pub fn tell(&mut self, row: usize, is_anomaly: bool) -> Result<()> {
        let rows = self.scores.len();
        if row >= rows {
            return Err(Error::NoSuchRow { row, rows });
        }
        let known: Vec<f32> = self.factors.iter().map(|factor| factor[row]).collect();
        let mut own = [0.0];
        self.covariance(row, row, &mut own);
        let left = own[0] - known.iter().map(|known| known * known).sum::<f32>();
        let pivot = (left.max(0.0) + NOISE).sqrt();
        let surprise = (if is_anomaly { 1.0 } else { -1.0 } - self.expected[row]) / pivot;
        let mut factor = vec![0.0; rows];
        let mut expected = std::mem::take(&mut self.expected);
        let blocks = factor.chunks_mut(BLOCK_ROWS).zip(expected.chunks_mut(BLOCK_ROWS));
        parallel::for_each(blocks, &|block, (factor, expected)| {
            let first = block * BLOCK_ROWS;
            self.covariance(row, first, factor);
            for (before, &known) in self.factors.iter().zip(&known) {
                let before = &before[first..first + factor.len()];
                factor.iter_mut().zip(before).for_each(|(factor, before)| *factor -= known * before);
            }
            for (factor, expected) in factor.iter_mut().zip(expected) {
                *factor /= pivot;
                *expected += surprise * *factor;
            }
        });
        self.expected = expected;
        self.factors.push(factor);
        self.is_labelled[row] = true;
        Ok(())
    }

    /// The covariance of a row's label with those of the rows from `first` on: their agreement to the power of the square root of the number of
    /// columns, which sets rows apart that agree in half of many columns, and what both say of the slope.
    fn covariance(&self, row: usize, first: usize, out: &mut [f32]) {
        self.rows.agreement(row, first, out);
        let power = (self.rows.columns() as f64).sqrt().round().max(1.0) as u32;
        let slope = (SLOPE_DEVIATION * SLOPE_DEVIATION) as f32 * self.height[row];
        let heights = &self.height[first..first + out.len()];
        out.iter_mut().zip(heights).for_each(|(out, height)| *out = raised(*out, power) + slope * height);
    }

    /// The rows without a label that are most likely anomalies, the likeliest first.
    pub fn highest(&self, count: usize) -> Vec<usize> {
        let open: Vec<usize> = (0..self.scores.len()).filter(|&row| !self.is_labelled[row]).collect();
        let expected: Vec<f32> = open.iter().map(|&row| self.expected[row]).collect();
        top(&expected, count).into_iter().map(|place| open[place]).collect()
    }

    /// What the label of each row is expected to be, labelled or not: 1 for an anomaly, -1 for a normal row.
    pub fn expected(&self) -> &[f32] {
        &self.expected
    }

    /// The scores of the rows, as the detector gives them.
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// How many labels have been told.
    pub fn labelled(&self) -> usize {
        self.factors.len()
    }
}

/// Minus the logarithm to the base of 10 of the share of the rows that score as high, and a little.
fn heights(scores: &[f32]) -> Vec<f32> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let height = |&score: &f32| {
        let as_high = scores.len() - sorted.partition_point(|other| other.total_cmp(&score).is_lt());
        -libm::log10(as_high as f64 / (scores.len() + 1) as f64 + HIGHEST) as f32
    };
    scores.iter().map(height).collect()
}

/// A power by multiplications in a fixed order, so that all machines agree.
fn raised(base: f32, power: u32) -> f32 {
    let (mut result, mut square, mut left) = (1.0, base, power);
    while left > 0 {
        if left % 2 == 1 {
            result *= square;
        }
        square *= square;
        left /= 2;
    }
    result
}
