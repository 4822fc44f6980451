#![doc = include_str!("../README.md")]
//!
//! # How tables are read
//!
//! A [`Source`] can be read from its first row as often as wanted: a [`FileSource`], a [`Table`] in memory, or a [`View`] of
//! columns that are elsewhere. A [`Selection`] says which columns are read, and as what; the other columns may hold anything.

mod arrow;
mod budget;
mod cells;
mod clock;
mod comments;
mod compression;
mod csv;
mod detect;
mod encoding;
mod error;
mod file;
mod fixed;
mod formats;
mod header;
mod json;
mod moment;
mod notation;
mod number;
#[cfg(feature = "parquet")]
mod parquet;
mod select;
mod source;
mod spaces;
mod stoppable;
mod table;
mod tally;
mod text;
mod time;
mod totals;
mod unit;
mod values;
mod view;
#[cfg(feature = "excel")]
mod xlsx;

pub use budget::{limit_memory, memory_limit};
pub use clock::Clock;
pub use error::{Error, Result};
pub use file::{FileSource, read_stream};
pub use formats::{FORMATS, formats};
pub use moment::seconds;
pub use notation::{DateOrder, MISSING, Notation, TRUTHS, is_whole};
pub use select::{ReadAs, Selection};
use source::batch_rows;
pub use source::{About, BATCH_ROWS, Reader, Shared, Source, Version};
pub use stoppable::Stoppable;
use table::Origin;
pub use table::{Place, Table};
pub use tally::{Hints, Remark, Stray, Tally, Understood, understood};
pub use text::{printable, quoted};
pub use time::{TimePart, date_of, date_of_digits};
pub use values::{Texts, Values, read_numbers, read_time};
pub use view::{Cells, ColumnView, View};

/// Whether a panic on this thread is one that the reader of Parquet files turns into an error.
#[doc(hidden)]
pub fn panic_is_caught() -> bool {
    #[cfg(feature = "parquet")]
    return parquet::panic_is_caught();
    #[cfg(not(feature = "parquet"))]
    false
}
