//! The model: layers of soft oblivious trees and the wiring between them. Knows the kernels; never
//! training or tables.

mod attention;
mod block;
mod forward;
mod layer;
mod wiring;

pub use attention::MATCH_FLOOR;
pub use block::{BLOCK_LANES, BLOCK_ROWS, Block};
pub use forward::{Forward, Scratch};
pub use layer::{Layer, Model, Selectors, Shape, SoftSelectors};
pub use wiring::{TreeWiring, Wiring};
