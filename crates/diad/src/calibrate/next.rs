//! Which rows to label next.

use super::groups::groups;
use crate::Result;
use crate::explain::Explainer;
use crate::metrics::top;
use crate::table::Source;

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
    /// What carries it, in words; see [`groups`](super::groups()).
    pub sentence: String,
}

/// The rows of a source that are worth a label: those with the highest scores that have none yet, the highest first. No kind of alert has more than a third of
/// them while there are others, so that one kind does not hide the rest.
///
/// # Errors
/// If the source cannot be read.
pub fn next_rows(
    explainer: &Explainer,
    source: &dyn Source,
    scores: &[f32],
    is_labelled: impl Fn(usize) -> bool,
    count: usize,
) -> Result<Vec<Next>> {
    let open: Vec<usize> = (0..scores.len()).filter(|&row| !is_labelled(row)).collect();
    let open_scores: Vec<f32> = open.iter().map(|&row| scores[row]).collect();
    let candidates: Vec<usize> =
        top(&open_scores, count.saturating_mul(CANDIDATES)).into_iter().map(|place| open[place]).collect();
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
    // Candidates are in the order of their scores.
    chosen.sort_unstable();
    let told = |place: usize| Next {
        row: candidates[place],
        score: scores[candidates[place]],
        sentence: groups[group_of[place]].sentence.clone(),
    };
    Ok(chosen.into_iter().map(told).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Params;
    use crate::table::Table;

    #[test]
    fn rows_are_of_several_kinds_and_have_no_label_yet() {
        // Many rows are far out in the first column, a few in the second.
        let mut columns: Vec<Vec<f64>> =
            (0..2u32).map(|c| (0..900u32).map(|i| f64::from((i * (7 + c)) % 30)).collect()).collect();
        (0..20).for_each(|i| columns[0][i * 11] = 300.0 + i as f64);
        (0..3).for_each(|i| columns[1][500 + i] = 120.0 + i as f64);
        let table = Table::new(vec!["a".into(), "b".into()], columns).unwrap();
        let detector = Params::default().with_steps(20).trees(10).fit(&table).unwrap();
        let scores = detector.score(&table).unwrap();
        let explainer = Explainer::new(&detector);
        let highest = top(&scores, 1)[0];
        let next = next_rows(&explainer, &table, &scores, |row| row == highest, 6).unwrap();
        assert_eq!(next.len(), 6);
        assert!(next.iter().all(|next| next.row != highest && next.score == scores[next.row]));
        assert!(next.windows(2).all(|two| two[0].score >= two[1].score));
        let kinds: std::collections::HashSet<&str> = next.iter().map(|next| next.sentence.as_str()).collect();
        assert!(kinds.len() > 1, "{next:?}");
        assert_eq!(next_rows(&explainer, &table, &scores, |row| row > 1, 6).unwrap().len(), 2);
    }
}
