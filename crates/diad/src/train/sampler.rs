//! Mini-batches of rows and of uniform points.

use crate::encode::Matrix;
use crate::kernel::Real;
use crate::model::{BLOCK_ROWS, Block};
use crate::parallel;
use crate::rng::{Purpose, Stream};

/// Draws rows without replacement, pass after pass over the table, and fresh uniform points.
#[derive(Debug)]
pub struct Sampler<'a, F> {
    matrix: &'a Matrix,
    seed: u64,
    batch: usize,
    order: Vec<u32>,
    position: usize,
    pass: u64,
    /// The rows of the current batch.
    pub rows: Vec<Block<F>>,
    /// The uniform points of the current step.
    pub points: Vec<Block<F>>,
}

impl<'a, F: Real> Sampler<'a, F> {
    /// A sampler of batches of at most `batch` rows.
    pub fn new(matrix: &'a Matrix, batch: usize, seed: u64) -> Self {
        let batch = batch.min(matrix.rows());
        let blocks = || (0..batch.div_ceil(BLOCK_ROWS)).map(|_| Block::new(matrix.width)).collect::<Vec<_>>();
        Self {
            matrix,
            seed,
            batch,
            order: (0..matrix.rows() as u32).collect(),
            position: matrix.rows(),
            pass: 0,
            rows: blocks(),
            points: blocks(),
        }
    }

    /// Leaves out the draws of the first `steps` steps.
    pub fn skip(&mut self, steps: usize) {
        for _ in 0..steps {
            self.advance();
        }
    }

    /// Goes on to the next batch, in a new order where the pass is over; gives its place.
    fn advance(&mut self) -> std::ops::Range<usize> {
        if self.position + self.batch > self.order.len() {
            let count = self.order.len();
            Stream::new(self.seed, Purpose::Shuffle, self.pass).shuffle_front(&mut self.order, count);
            self.position = 0;
            self.pass += 1;
        }
        self.position += self.batch;
        self.position - self.batch..self.position
    }

    /// Draws the batch and the points of a step. Rows left over at the end of a pass that do not fill a batch
    /// are skipped in that pass. If only some features are wanted, in ascending order, the others are not looked at.
    pub fn draw(&mut self, step: usize, wanted: Option<&[u32]>) {
        let place = self.advance();
        let chosen = &self.order[place];
        let (matrix, seed) = (self.matrix, self.seed);
        let block_count = self.points.len() as u64;
        let blocks = self.rows.iter_mut().zip(&mut self.points).zip(chosen.chunks(BLOCK_ROWS));
        parallel::for_each(blocks, &|i, ((rows, points), chosen)| {
            rows.fill_rows(wanted, chosen.iter().map(|&row| matrix.row(row as usize)));
            let mut random = Stream::new(seed, Purpose::Uniform, step as u64 * block_count + i as u64);
            points.fill_uniform(wanted, chosen.len(), || random.signed_pair());
        });
    }
}
