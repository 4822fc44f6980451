//! What the tests of several modules start from.

#[path = "../../diad-kernel/src/tests/entmoid.rs"]
mod entmoid;

pub use entmoid::entmoid;

use crate::encode::{Encoder, Matrix, Roles};
use crate::rng::Stream;
use crate::table::Table;
use crate::{Detector, Params, Scale};

/// A few small trees, trained in a moment.
pub fn small() -> Params {
    Params {
        layers: 2,
        trees: 8,
        outputs: 2,
        steps: 30,
        warmup: 10,
        anneal: 15,
        batch: 128,
        ..Params::default()
    }
}

/// Columns of independent normal numbers.
pub fn normal<const N: usize>(random: &mut Stream, names: [&str; N], rows: usize) -> Table {
    let columns = (0..N).map(|_| (0..rows).map(|_| random.normal()).collect()).collect();
    Table::new(names.map(String::from).to_vec(), columns).unwrap()
}

/// A table as the training takes it, with no column left out.
pub fn encoded(table: &Table, scale: Scale) -> (Encoder, Matrix) {
    Encoder::fit_encode_as(table, &Roles::default(), scale).unwrap()
}

/// A detector of all columns of a table.
pub fn fitted(params: &Params, table: &Table) -> Detector {
    let (encoder, matrix) = encoded(table, params.scale);
    crate::fit::fit(params, encoder, &matrix).unwrap()
}
