//! Choosing among detectors by rows with labels, minding chance.

/// How well a detector ranks rows, row by row.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    /// For each anomaly the share of normal rows below it, and for each normal row the share of anomalies above it. The mean
    /// of either is the area under the ROC curve.
    wins: [Vec<f64>; 2],
}

impl Ranked {
    /// Ranks rows by their scores.
    pub fn of(labels: &[bool], scores: &[f32]) -> Self {
        let class = |wanted: bool| -> Vec<f32> {
            let rows = labels.iter().zip(scores).filter(move |(label, _)| **label == wanted);
            rows.map(|(_, score)| score + 0.0).collect()
        };
        let (anomalies, normals) = (class(true), class(false));
        // The share of `others` below a score, ties counted half.
        let below = |others: &[f32]| {
            let mut sorted = others.to_vec();
            sorted.sort_unstable_by(f32::total_cmp);
            move |score: &f32| {
                let under = sorted.partition_point(|other| other < score);
                let upto = sorted.partition_point(|other| other <= score);
                (under + upto) as f64 / (2 * sorted.len()) as f64
            }
        };
        let among_anomalies = below(&anomalies);
        let wins = [
            anomalies.iter().map(below(&normals)).collect(),
            normals.iter().map(|score| 1.0 - among_anomalies(score)).collect(),
        ];
        Self { wins }
    }

    /// By how much it ranks better than another, and the standard error of that (DeLong, DeLong and Clarke-Pearson).
    fn gain(&self, other: &Self) -> (f64, f64) {
        let [anomalies, normals] = [0, 1].map(|class| {
            let differences: Vec<f64> =
                self.wins[class].iter().zip(&other.wins[class]).map(|(own, other)| own - other).collect();
            let count = differences.len() as f64;
            let mean = differences.iter().sum::<f64>() / count;
            let spread = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>();
            (mean, spread / (count * (count - 1.0).max(1.0)))
        });
        (anomalies.0, (anomalies.1 + normals.1).sqrt())
    }

    /// Of those that rank better by more than some standard errors, the one that does so most.
    pub fn surely_better(&self, others: &[Self], doubt: f64) -> Option<usize> {
        let sure = |other: &Self| {
            let (gain, error) = other.gain(self);
            gain - doubt * error
        };
        let (mut best, mut most) = (None, 0.0);
        for (place, other) in others.iter().enumerate() {
            let gain = sure(other);
            if gain > most {
                (best, most) = (Some(place), gain);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::roc_auc;

    const LABELS: [bool; 8] = [true, true, true, false, false, false, false, false];

    #[test]
    fn mean_wins_are_the_area() {
        let scores = [3.0, 1.0, 2.0, 1.0, 0.0, 2.5, -1.0, 2.0];
        let ranked = Ranked::of(&LABELS, &scores);
        let area = roc_auc(&LABELS, &scores).unwrap();
        for wins in &ranked.wins {
            assert!((wins.iter().sum::<f64>() / wins.len() as f64 - area).abs() < 1e-12);
        }
    }

    #[test]
    fn a_gain_within_chance_is_not_taken() {
        let of = |scores: [f32; 8]| Ranked::of(&LABELS, &scores);
        let first = of([0.5, 2.0, 3.0, 1.0, 0.0, 0.2, 0.3, 0.4]);
        // One anomaly passes one normal row: no more than chance.
        let little = of([1.5, 2.0, 3.0, 1.0, 0.0, 0.2, 0.3, 0.4]);
        assert_eq!(first.surely_better(std::slice::from_ref(&little), 1.0), None);
        let bad = of([0.1, 0.2, 0.0, 1.0, 2.0, 3.0, 0.5, 0.15]);
        assert_eq!(bad.surely_better(&[bad.clone(), little, first.clone()], 1.0), Some(1));
        assert_eq!(bad.surely_better(&[], 1.0), None);
        assert_eq!(first.gain(&first), (0.0, 0.0));
    }
}
