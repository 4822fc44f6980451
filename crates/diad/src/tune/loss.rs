//! The losses of labelled rows, and their derivatives by each row's score.

use super::solve::{sigmoid, softplus};
use crate::Loss;

impl Loss {
    /// The loss, and its derivatives by the scores.
    pub(crate) fn evaluate(self, labels: &[bool], scores: &[f64], margin: f64) -> (f64, Vec<f64>) {
        match self {
            Self::Auc => hinge(labels, scores, margin),
            Self::Bce => cross_entropy(labels, scores),
        }
    }
}

/// The mean over pairs of max(normal - anomaly + margin, 0).
fn hinge(labels: &[bool], scores: &[f64], margin: f64) -> (f64, Vec<f64>) {
    let (anomalies, normals): (Vec<usize>, Vec<usize>) = (0..scores.len()).partition(|&row| labels[row]);
    let pairs = (anomalies.len() * normals.len()).max(1) as f64;
    let (mut loss, mut slopes) = (0.0, vec![0.0; scores.len()]);
    for &anomaly in &anomalies {
        for &normal in &normals {
            let gap = scores[normal] - scores[anomaly] + margin;
            if gap > 0.0 {
                loss += gap;
                slopes[normal] += 1.0;
                slopes[anomaly] -= 1.0;
            }
        }
    }
    slopes.iter_mut().for_each(|slope| *slope /= pairs);
    (loss / pairs, slopes)
}

/// The mean over rows of minus the logarithm of the chance of the label.
fn cross_entropy(labels: &[bool], scores: &[f64]) -> (f64, Vec<f64>) {
    let rows = scores.len().max(1) as f64;
    let target = |label: &bool| f64::from(u8::from(*label));
    let each = || labels.iter().zip(scores);
    let loss: f64 = each().map(|(label, &score)| softplus(score) - target(label) * score).sum();
    (loss / rows, each().map(|(label, &score)| (sigmoid(score) - target(label)) / rows).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_loss() {
        let labels = [true, false, false, true, false];
        let scores = [0.3, 0.7, -0.4, 1.9, 0.35];
        for (loss, margin) in [(Loss::Auc, 0.0), (Loss::Auc, 1.0), (Loss::Bce, 0.0)] {
            let (_, slopes) = loss.evaluate(&labels, &scores, margin);
            for row in 0..scores.len() {
                let at = |shift: f64| {
                    let mut scores = scores;
                    scores[row] += shift;
                    loss.evaluate(&labels, &scores, margin).0
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((difference - slopes[row]).abs() < 1e-8, "{loss:?} {margin} row {row}");
            }
        }
    }

    #[test]
    fn one_class_alone_has_no_hinge() {
        assert_eq!(Loss::Auc.evaluate(&[true, true], &[1.0, 2.0], 1.0), (0.0, vec![0.0, 0.0]));
    }
}
