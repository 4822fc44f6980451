//! Alerts that people can act on: how severe a score is, from which score on rows are alerts, which alerts belong together, and
//! what has changed since the training.
//!
//! ```
//! use diad::{Alert, Params, calibrate::{Severity, Threshold}, table::Table};
//!
//! let mut x: Vec<f64> = (0..400).map(|i| f64::from(i % 40)).collect();
//! x[123] = 1000.0;
//! let table = Table::new(vec!["x".into()], vec![x])?;
//! let detector = Params::default().with_steps(20).trees(10).fit(&table)?;
//! let scores = detector.score(&table)?;
//!
//! let severity = Severity::of(detector.calibration().percentile(scores[123]));
//! assert!(severity > Severity::Ordinary);
//! let threshold = Threshold::find(Alert::Top(1), detector.calibration(), &scores, None)?;
//! assert!(threshold.is_alert(scores[123]) && !threshold.is_alert(scores[124]));
//! # Ok::<(), diad::Error>(())
//! ```

mod drift;
mod groups;
mod judge;
mod next;
mod rarity;
mod severity;
mod span;
mod threshold;

pub use drift::{ColumnDrift, Counted, Drift, Drifting, GroupDrift, TermDrift, Verdict};
pub(crate) use drift::{usual, usual_rows};
pub use groups::{Carrier, Direction, Group, groups};
pub use judge::{Judge, Judged};
pub use next::{Next, Querying, next_rows};
pub use rarity::{Rarities, Rarity};
pub use severity::Severity;
pub use threshold::Threshold;
