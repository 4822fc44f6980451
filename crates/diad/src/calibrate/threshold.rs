//! From which score on rows are alerts.

use super::span;
use crate::alert::Alert;
use crate::calibration::Calibration;
use crate::table::Source;
use crate::{Detector, Error, Result};

/// From which score on rows are alerts. Rows of the same score are alike: all of them are alerts, or none.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Threshold {
    /// The rule it follows from.
    pub rule: Alert,
    /// The least score of an alert; infinite if nothing can be one.
    pub score: f32,
    /// What people should know of it, a sentence, if there is something.
    pub note: Option<String>,
}

impl Threshold {
    /// The threshold of a rule that looks at single rows; nothing if the rule needs a whole table.
    pub fn of_model(rule: Alert, calibration: &Calibration) -> Option<Self> {
        let (Alert::Share(p) | Alert::PValue(p)) = rule else { return None };
        let least = calibration.counted_at(calibration.scores().len());
        let note = (p < least).then(|| {
            let kept = calibration.scores().len();
            match calibration.score_at(p).is_finite() {
                true => format!(
                    "{rule} is beyond what {kept} calibration scores can resolve; the threshold comes from a fitted tail"
                ),
                false => format!("{kept} calibration scores are too few for {rule}; no row is an alert"),
            }
        });
        Some(Self { rule, score: calibration.score_at(p), note })
    }

    /// The threshold of any rule for a table that has been scored. A budget reads it once more, for the times in the column `time`, or in the
    /// only one of the model that has times.
    ///
    /// ```
    /// use diad::{Params, calibrate::Threshold, table::Table};
    ///
    /// let table = Table::new(vec!["x".into()], vec![(0..400).map(|i| f64::from(i % 40)).collect()])?;
    /// let detector = Params::default().with_steps(20).trees(10).fit(&table)?;
    /// let scores = detector.score(&table)?;
    /// let threshold = Threshold::of_table("top=20".parse().expect("a rule"), &detector, &scores, &table, None)?;
    /// assert_eq!(scores.iter().filter(|&&score| threshold.is_alert(score)).count(), 20);
    /// # Ok::<(), diad::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the rule is a budget and it is not clear which column has the times, or they span none.
    pub fn of_table(
        rule: Alert,
        detector: &Detector,
        scores: &[f32],
        source: &dyn Source,
        time: Option<&str>,
    ) -> Result<Self> {
        let seconds = match rule {
            Alert::Budget(..) => span::seconds(detector, source, time)?,
            _ => None,
        };
        Self::find(rule, detector.calibration(), scores, seconds)
    }

    /// The threshold of any rule for the rows of a table: their scores and, for a budget, the seconds that they span.
    ///
    /// # Errors
    /// If the rule is a budget and the table spans no time.
    pub fn find(
        rule: Alert,
        calibration: &Calibration,
        scores: &[f32],
        seconds: Option<f64>,
    ) -> Result<Self> {
        if let Some(threshold) = Self::of_model(rule, calibration) {
            return Ok(threshold);
        }
        Ok(match rule {
            Alert::Fdr(share) => Self::of_discoveries(share, calibration, scores),
            Alert::Budget(rows, period) => {
                let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) else {
                    return Err(Error::NoTimeSpan { rule: rule.to_string() });
                };
                let count = (rows * seconds / period.seconds()).round() as usize;
                Self { rule, score: highest(scores, count), note: None }
            }
            Alert::Top(rows) => {
                let score = highest(scores, usize::try_from(rows).unwrap_or(usize::MAX));
                Self { rule, score, note: None }
            }
            Alert::Share(_) | Alert::PValue(_) => Self { rule, score: f32::INFINITY, note: None },
        })
    }

    /// Benjamini and Hochberg's rule on counted p-values: alerts are the most rows of which the highest p-value is no larger than the
    /// wanted share times their part of all rows.
    fn of_discoveries(share: f64, calibration: &Calibration, scores: &[f32]) -> Self {
        let known = calibration.scores();
        let mut counts = vec![0usize; known.len() + 1];
        scores.iter().for_each(|&score| counts[calibration.rank(score)] += 1);
        let (mut found, mut rank) = (0, None);
        for (at, count) in counts.iter().enumerate().rev() {
            found += count;
            let allowed = share * found as f64 / scores.len().max(1) as f64;
            if *count > 0 && calibration.counted_at(at) <= allowed {
                rank = Some(at);
            }
        }
        let rule = Alert::Fdr(share);
        let score = match rank {
            Some(0) => f32::NEG_INFINITY,
            Some(rank) => known[rank - 1].next_up(),
            None => f32::INFINITY,
        };
        let note = rank.is_none().then(|| {
            let least = calibration.counted_at(known.len());
            let needed = (least * scores.len() as f64 / share).ceil();
            format!(
                "no row is an alert with {rule}: with {} calibration scores, at least {needed} of the {} rows would have to score \
                 higher than nearly all of them",
                known.len(),
                scores.len()
            )
        });
        Self { rule, score, note }
    }

    /// Whether a row with this score is an alert.
    pub fn is_alert(&self, score: f32) -> bool {
        score >= self.score
    }
}

/// The least of the `count` highest scores. Where it is not theirs alone, the next higher one, unless there is none.
fn highest(scores: &[f32], count: usize) -> f32 {
    let mut sorted: Vec<f32> = scores.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    if count == 0 {
        return f32::INFINITY;
    }
    let Some(&least) = sorted.get(count - 1) else { return f32::NEG_INFINITY };
    match sorted.get(count).is_some_and(|&next| next == least) {
        true => sorted.iter().rev().copied().find(|&score| score > least).unwrap_or(least),
        false => least,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Period;

    fn calibration(count: usize) -> Calibration {
        Calibration::new((0..count).map(|i| i as f32).collect(), true).unwrap()
    }

    #[test]
    fn the_highest_rows_of_a_table_are_alerts() {
        let scores = [1.0, 5.0, 3.0, 3.0, 2.0];
        let alerts = |rule: Alert, seconds: Option<f64>| {
            let threshold = Threshold::find(rule, &calibration(9), &scores, seconds).unwrap();
            scores.iter().filter(|&&score| threshold.is_alert(score)).count()
        };
        let found = [1, 2, 3, 4, 9].map(|count| alerts(Alert::Top(count), None));
        assert_eq!(found, [1, 1, 3, 4, 5], "of equal scores, all or none");
        let budget = Alert::Budget(2.0, Period::Day);
        assert_eq!(alerts(budget, Some(1.5 * 86_400.0)), 3);
        assert!(Threshold::find(budget, &calibration(9), &scores, None).is_err());
    }

    /// Benjamini and Hochberg's rule, plainly.
    #[test]
    fn discoveries_are_those_of_the_step_up_rule() {
        let calibration = calibration(199);
        for (scores, share) in [
            (vec![10.0, 50.5, 300.0, 400.0, 500.0], 0.05),
            (vec![10.0, 50.5, 100.0, 190.0, 195.5, 197.0, 500.0], 0.2),
            ((0..200).map(|i| i as f32 * 1.2).collect(), 0.1),
        ] {
            let mut p: Vec<f64> = scores.iter().map(|&score| calibration.counted(score)).collect();
            p.sort_unstable_by(f64::total_cmp);
            let n = p.len() as f64;
            let plain = (1..=p.len()).rev().find(|&k| p[k - 1] <= share * k as f64 / n).unwrap_or(0);
            let threshold = Threshold::find(Alert::Fdr(share), &calibration, &scores, None).unwrap();
            assert_eq!(scores.iter().filter(|&&score| threshold.is_alert(score)).count(), plain);
        }
    }

    #[test]
    fn a_calibration_that_is_too_small_is_told_of() {
        let scores: Vec<f32> = (0..1000).map(|i| i as f32 / 10.0).collect();
        let threshold = Threshold::find(Alert::Fdr(0.05), &calibration(99), &scores, None).unwrap();
        assert_eq!(threshold.score, f32::INFINITY);
        assert!(threshold.note.unwrap().contains("at least 200 of the 1000 rows"));
        let rare = Threshold::of_model(Alert::PValue(1e-4), &calibration(500)).unwrap();
        assert!(rare.score > 499.0 && rare.note.unwrap().contains("fitted tail"));
        let few = Threshold::of_model(Alert::PValue(1e-4), &calibration(5)).unwrap();
        assert!(few.score.is_infinite() && few.note.unwrap().contains("no row is an alert"));
    }
}
