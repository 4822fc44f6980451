//! The parts of the score, one file each, behind one small trait. Each is made from a sample of encoded rows and says of
//! a row, as functions of one or two columns, how unusual it is in one respect.

/// The name of a [`Part`], and the setting that is its weight.
macro_rules! named {
    ($name:expr, $weight:ident) => {
        fn name(&self) -> &'static str {
            $name
        }

        fn weight(&self, params: &$crate::Params) -> f64 {
            params.$weight
        }
    };
}

mod bins;
mod column;
mod copies;
mod dates;
mod isolation;
mod pairs;
mod sides;
mod surprise;
mod tails;
mod trees;

use self::bins::Bins;
pub use self::column::Column;
pub use self::dates::LENGTHS;
pub use self::isolation::Isolation;
pub use self::surprise::Surprise;
pub use self::tails::Tails;
pub use self::trees::Trees;
use crate::Params;
use crate::encode::{Copies, Encoder, Kind, Matrix, View};
use crate::function::Functions;
use crate::parallel;
use crate::rng::{Purpose, Stream};

/// Most rows the parts are made from, and most values.
const ROWS: usize = 1 << 16;
const LEAST_ROWS: usize = 1 << 13;
const CELLS: usize = 1 << 24;

/// A part of the score.
pub trait Part: Sync {
    /// Its name, in model files and for people.
    fn name(&self) -> &'static str;

    /// Its weight among the parts.
    fn weight(&self, params: &Params) -> f64;

    /// The least standard deviation it is scaled by, in its own unit, so that a part that finds next to nothing stays small.
    fn least_deviation(&self) -> f64 {
        0.0
    }

    /// Its functions. The trees, which are trained, have none.
    fn functions(&self, sample: &Sample, params: &Params) -> Functions;
}

/// A sample of the training rows, and what it tells of each column.
pub struct Sample {
    rows: Vec<usize>,
    /// The features that tell all there is to know of a row.
    pub columns: Vec<Column>,
    /// They cut into bins.
    bins: Vec<Bins>,
    /// Which column of the table each belongs to.
    origins: Vec<u32>,
    /// For each the first one that says the same.
    firsts: Vec<u32>,
}

impl Sample {
    /// Rows drawn without replacement.
    pub fn new((matrix, same): (&Matrix, &Copies), encoder: &Encoder, seed: u64) -> Self {
        let all = matrix.rows();
        let most = (CELLS / matrix.width).clamp(LEAST_ROWS, ROWS);
        let rows: Vec<usize> = if all > most {
            let mut rows = Stream::new(seed, Purpose::TableRows, 0).draw(all, most);
            rows.sort_unstable();
            rows
        } else {
            (0..all).collect()
        };
        let telling = &encoder.features()[..encoder.telling_features()];
        let columns = parallel::map_indices(telling.len(), &|feature| {
            let told = &telling[feature];
            let column = &encoder.columns()[told.column as usize];
            let asinh = column.second_scale().filter(|_| told.view == View::Asinh);
            let values = rows.iter().map(|&row| matrix.row(row)[feature]).collect();
            match told.view {
                View::Missing => Column::of_marks(values),
                _ if column.is_date() => {
                    Column::of_dates(values, asinh.map(|[start, rate, ..]| [start, rate]))
                }
                _ if column.positions() > 0 => Column::of_categories(values, column.places()),
                _ => Column::of_numbers(values, asinh.map(|[start, rate, ..]| [start, rate])),
            }
        });
        let origins: Vec<u32> = telling.iter().map(|feature| feature.column).collect();
        let firsts = copies::firsts(same.firsts(), &columns, &origins);
        Self::of_columns(rows, columns, origins, firsts)
    }

    /// The same sample, knowing what the encoder has counted of all rows of the table: how many have each category, and how many a gap.
    pub fn of_table(mut self, encoder: &Encoder, rows: u64) -> Self {
        for (told, column) in encoder.features().iter().zip(&mut self.columns) {
            let given = &encoder.columns()[told.column as usize];
            column.counts = match (&given.kind, given.gaps) {
                (_, Some(gaps)) if told.view == View::Missing => {
                    vec![rows.saturating_sub(gaps.rows), gaps.rows]
                }
                (Kind::Category { levels, others, .. }, _) => {
                    let levels = levels.iter().map(|level| level.rows);
                    levels.chain((*others > 0).then_some(*others)).chain([0]).collect()
                }
                _ => Vec::new(),
            };
        }
        self
    }

    fn of_columns(rows: Vec<usize>, columns: Vec<Column>, origins: Vec<u32>, firsts: Vec<u32>) -> Self {
        let bins = parallel::map(&columns, &Bins::new);
        Self { rows, columns, bins, origins, firsts }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        self.rows.len()
    }

    /// The rows of the sample.
    pub fn matrix(&self, matrix: &Matrix) -> Matrix {
        matrix.part(self.rows.iter().copied())
    }

    /// The features that have more than one value and are values of rows at any time: neither places in time nor marks of gaps.
    fn timeless(&self) -> Vec<u32> {
        let mut varied = self.varied();
        varied.retain(|&feature| {
            let column = &self.columns[feature as usize];
            !column.is_date && !column.is_mark
        });
        varied
    }

    /// The features that have more than one value.
    fn varied(&self) -> Vec<u32> {
        (0..).zip(&self.columns).filter(|(_, column)| column.varies()).map(|(feature, _)| feature).collect()
    }

    /// Whether two features are of one column, and so always go together.
    fn of_one_column(&self, [a, b]: [u32; 2]) -> bool {
        self.origins[a as usize] == self.origins[b as usize]
    }
}
