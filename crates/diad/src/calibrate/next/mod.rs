//! Which rows to label next.

mod agreement;
mod querying;

use super::groups::groups;
use crate::Result;
use crate::explain::Explainer;
use crate::table::Source;
pub use querying::Querying;

/// Candidates that are looked at, for each row wanted.
const CANDIDATES: usize = 4;
/// No group of alerts has more than this share of the rows, while there are others.
const SHARE: f64 = 0.34;

/// A row that is worth a label.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Next {
    /// The row.
    pub row: usize,
    /// Its score.
    pub score: f32,
    /// What its label is expected to be: 1 for an anomaly, -1 for a normal row.
    pub expected: f32,
    /// What carries its score, in words; see [`groups`](super::groups()).
    pub sentence: String,
}

/// The rows of a source that are worth a label: those without one that are most likely anomalies, the likeliest first. No kind of alert has more than a third
/// of them while there are others, so that one kind does not hide the rest.
///
/// # Errors
/// If the source cannot be read.
pub fn next_rows(
    explainer: &Explainer,
    source: &dyn Source,
    querying: &Querying,
    count: usize,
) -> Result<Vec<Next>> {
    let candidates = querying.highest(count.saturating_mul(CANDIDATES));
    let picked = explainer.detector().pick(source, &candidates)?;
    let groups = groups(explainer, &picked)?;
    let mut group_of = vec![0; candidates.len()];
    for (index, group) in groups.iter().enumerate() {
        group.members.iter().for_each(|&member| group_of[member] = index);
    }
    let most = ((SHARE * count as f64).ceil() as usize).max(1);
    let (mut taken, mut chosen, mut passed) = (vec![0; groups.len()], Vec::new(), Vec::new());
    for (place, &group) in group_of.iter().enumerate() {
        if taken[group] < most && chosen.len() < count {
            taken[group] += 1;
            chosen.push(place);
        } else {
            passed.push(place);
        }
    }
    let lacking = count.saturating_sub(chosen.len());
    chosen.extend(passed.into_iter().take(lacking));
    // Candidates are in order.
    chosen.sort_unstable();
    let told = |place: usize| Next {
        row: candidates[place],
        score: querying.scores()[candidates[place]],
        expected: querying.expected()[candidates[place]],
        sentence: groups[group_of[place]].sentence.clone(),
    };
    Ok(chosen.into_iter().map(told).collect())
}

#[cfg(test)]
mod tests;
