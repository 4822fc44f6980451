//! Curves of how well scores rank labels.

use serde::Serialize;

/// Most points of a curve: more could not be told apart.
const POINTS: usize = 400;

/// How well scores rank labels.
#[derive(Debug, Serialize)]
pub struct Ranking {
    /// Share of normal rows and share of anomalies above each score.
    pub roc: Vec<[f64; 2]>,
    /// Share of anomalies found, and share of anomalies among the rows above each score.
    pub precision: Vec<[f64; 2]>,
    /// The area under the first curve.
    pub area: f64,
    /// The average precision.
    pub average: f64,
    /// How many anomalies there are.
    pub anomalies: usize,
}

impl Ranking {
    /// The curves, if there are both anomalies and normal rows.
    pub fn new(labels: &[bool], scores: &[f32]) -> Option<Self> {
        let area = diad::metrics::roc_auc(labels, scores)?;
        let average = diad::metrics::average_precision(labels, scores)?;
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let anomalies = labels.iter().filter(|&&label| label).count();
        let normals = labels.len() - anomalies;
        let (mut roc, mut precision) = (vec![[0.0, 0.0]], Vec::new());
        let (mut found, mut wrong) = (0, 0);
        for (place, &row) in order.iter().enumerate() {
            if labels[row] {
                found += 1
            } else {
                wrong += 1
            }
            // Rows of equal score are flagged together.
            if order.get(place + 1).is_none_or(|&next| scores[next] != scores[row]) {
                roc.push([wrong as f64 / normals as f64, found as f64 / anomalies as f64]);
                precision.push([found as f64 / anomalies as f64, found as f64 / (place + 1) as f64]);
            }
        }
        Some(Self { roc: thinned(roc), precision: thinned(precision), area, average, anomalies })
    }
}

/// A curve without points too close to the last one kept.
fn thinned(curve: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    let Some(&last) = curve.last() else { return curve };
    let mut kept: Vec<[f64; 2]> = Vec::new();
    for point in curve {
        let apart = |kept: &[f64; 2]| (kept[0] - point[0]).abs().max((kept[1] - point[1]).abs());
        if kept.last().is_none_or(|kept| apart(kept) * POINTS as f64 >= 1.0) {
            kept.push(point);
        }
    }
    if kept.last() != Some(&last) {
        kept.push(last);
    }
    kept.iter().map(|point| point.map(|x| (x * 1e5).round() / 1e5)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_go_from_corner_to_corner() {
        let labels: Vec<bool> = (0..5000).map(|i| i * i % 7 == 2).collect();
        let scores: Vec<f32> = (0..5000).map(|i| (i * 31 % 997) as f32).collect();
        let ranking = Ranking::new(&labels, &scores).unwrap();
        assert_eq!((ranking.roc[0], *ranking.roc.last().unwrap()), ([0.0, 0.0], [1.0, 1.0]));
        assert!(ranking.roc.len() <= 2 * POINTS + 2);
        let steps = ranking.roc.windows(2).map(|p| (p[1][0] - p[0][0]) * (p[1][1] + p[0][1]) / 2.0);
        assert!((steps.sum::<f64>() - ranking.area).abs() < 0.01);
        assert!(Ranking::new(&[true], &[1.0]).is_none());
    }
}
