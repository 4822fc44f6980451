use {arrow_array, arrow_buffer, arrow_schema};

/// The same text for every version of Arrow, whose types differ in nothing but what crate they are of.
#[cfg_attr(
    all(feature = "arrow-59", feature = "arrow-60"),
    expect(clippy::duplicate_mod, reason = "as said")
)]
#[path = "columns.rs"]
mod columns;

pub use columns::{Column, unread, view};
