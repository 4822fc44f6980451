//! A model before and after it was changed, such as by labels.

use super::Explainer;
use crate::parallel;
use crate::{Error, Result};

/// How a term changed from one model to another.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// The columns of the term.
    pub columns: Vec<usize>,
    /// The term before, if there was one.
    pub before: Option<usize>,
    /// The term after, if there is one.
    pub after: Option<usize>,
    /// The mean absolute difference of the contributions over the training rows, those before times
    /// [`Comparison::scale`].
    pub size: f64,
    /// The correlation of the contributions over the training rows: 1 where the term kept its form, -1 where it turned
    /// over. Nothing where one of them is constant.
    pub agreement: Option<f64>,
}

/// Two models side by side.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// What contributions of the first model are multiplied by, so that those of both have the same mean square, added
    /// up over the terms. Scores rank rows; models that learned from labels and others have them in different units.
    pub scale: f64,
    /// How each term changed, the most changed first.
    pub changes: Vec<Change>,
}

/// Compares the terms of two models of the same columns. Weights are those of the training rows of `after`.
///
/// # Errors
/// If the models are not of the same columns with the same ranges.
pub fn compare(before: &Explainer, after: &Explainer) -> Result<Comparison> {
    let [old, new] = [before, after].map(|explainer| explainer.detector.encoder().columns());
    let same = |name: &str| old.iter().any(|column| column.name == name);
    if let Some(column) = new.iter().find(|column| !same(&column.name)) {
        return Err(Error::Unrelated { column: column.name.clone() });
    }
    if let Some(column) = old.iter().find(|column| !new.contains(column)) {
        return Err(Error::Unrelated { column: column.name.clone() });
    }
    if old != new {
        return Err(Error::Unrelated { column: new[0].name.clone() });
    }
    let mut all: Vec<&Vec<usize>> =
        after.terms.iter().chain(&before.terms).map(|term| &term.columns).collect();
    all.sort_by_key(|columns| (columns.len(), *columns));
    all.dedup();
    let [old, new] = [before, after].map(sum_of_squares);
    let scale = if old > 0.0 && new > 0.0 { (new / old).sqrt() } else { 1.0 };
    let mut changes: Vec<Change> = parallel::map(&all, &|columns| change(before, after, columns, scale));
    changes.sort_by(|a, b| b.size.total_cmp(&a.size));
    Ok(Comparison { scale, changes })
}

/// The sum over the terms of their mean squared contribution.
fn sum_of_squares(explainer: &Explainer) -> f64 {
    let square = |term: usize| {
        let (values, weights) = explainer.weighted(term);
        let squares: f64 = values.iter().zip(&weights).map(|(value, weight)| value * value * weight).sum();
        squares / weights.iter().sum::<f64>()
    };
    (0..explainer.terms.len()).map(square).sum()
}

fn change(before: &Explainer, after: &Explainer, columns: &[usize], scale: f64) -> Change {
    // Where the training rows of `after` were.
    let (points, weights): (Vec<Vec<f64>>, Vec<f64>) = match *columns {
        [column] => {
            let spread = &after.detector.profile().columns[column];
            let original = |value| vec![after.scalers[column].original(value)];
            spread.weights().into_iter().map(|(value, weight)| (original(value), weight)).unzip()
        }
        _ => {
            let (points, weights) = after.together(columns);
            (points.into_iter().map(Vec::from).collect(), weights)
        }
    };
    let [old_term, new_term] = [before, after].map(|explainer| explainer.find(columns));
    let values = |explainer: &Explainer, term: Option<usize>| match term {
        Some(term) => explainer.evaluate_at(term, points.len(), &|point, axis| points[point][axis]),
        None => vec![0.0; points.len()],
    };
    let (mut old, new) = (values(before, old_term), values(after, new_term));
    old.iter_mut().for_each(|value| *value *= scale);
    let total: f64 = weights.iter().sum();
    let mean = |value: &dyn Fn(usize) -> f64| {
        (0..points.len()).map(|point| weights[point] * value(point)).sum::<f64>() / total
    };
    let (old_mean, new_mean) = (mean(&|i| old[i]), mean(&|i| new[i]));
    let spread = |values: &[f64], middle: f64| mean(&|i| (values[i] - middle).powi(2)).sqrt();
    let both = spread(&old, old_mean) * spread(&new, new_mean);
    let together = mean(&|i| (old[i] - old_mean) * (new[i] - new_mean));
    Change {
        columns: columns.to_vec(),
        before: old_term,
        after: new_term,
        size: mean(&|i| (new[i] - old[i]).abs()),
        agreement: (both > 1e-12).then(|| (together / both).clamp(-1.0, 1.0)),
    }
}
