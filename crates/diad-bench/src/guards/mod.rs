//! What guards against regressions: accuracy, speed and size, against other programs and against our own past.

pub mod alerts;
pub mod contest;
pub mod drift;
pub mod few_labels;
pub mod growth;
pub mod next;
pub mod noise;
pub mod peers;
pub mod planted;
pub mod raw;
pub mod reasons;
pub mod regressions;
pub mod segments;
pub mod small;
pub mod speed;
pub mod unsupervised;
