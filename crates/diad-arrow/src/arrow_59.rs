use arrow_array_59 as arrow_array;
use arrow_buffer_59 as arrow_buffer;
use arrow_schema_59 as arrow_schema;

/// The same text for every version of Arrow, whose types differ in nothing but what crate they are of.
#[cfg_attr(
    all(feature = "arrow-59", feature = "arrow-60"),
    expect(clippy::duplicate_mod, reason = "as said")
)]
#[path = "columns.rs"]
mod columns;

pub use columns::{Column, unread, view};
