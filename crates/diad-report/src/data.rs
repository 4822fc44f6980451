//! What the page knows: everything as numbers and text, in the order of the plots.

use diad::Result;
use diad::explain::{Axis, Comparison, Explainer};
use serde::Serialize;

use crate::curves::Ranking;
use crate::{Report, encode};

/// Cells of a heat map along each axis.
const CELLS: usize = 20;
/// Bins of the density behind a line.
const BINS: usize = 64;
/// Places of the threshold.
const THRESHOLDS: usize = 400;
/// Terms kept for each listed row; the others are added up.
const TERMS: usize = 12;
/// Where the threshold starts: at the score that this share of the training rows do not exceed.
const ORDINARY: f64 = 0.95;

#[derive(Debug, Serialize)]
pub struct Data {
    model: String,
    table: String,
    training_rows: u64,
    settings: Vec<(String, String)>,
    intercept: f64,
    /// What the contributions of the earlier model are multiplied by.
    scale: Option<f64>,
    /// Anomalies and normal rows the model learned from.
    labels: Option<[u64; 2]>,
    columns: Vec<Column>,
    terms: Vec<Term>,
    scores: Scores,
    ranking: Option<Ranking>,
    rows: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Column {
    name: String,
    ticks: Vec<(f64, String)>,
    /// Shares of the training rows, for drawing.
    density: Vec<f64>,
    few: bool,
    /// Where a missing number is drawn, if there are any.
    missing: Option<f64>,
    /// Whether the labels of its marks are turned.
    turned: bool,
}

#[derive(Debug, Serialize)]
struct Term {
    columns: Vec<usize>,
    importance: f64,
    /// Positions along the axes.
    at: Vec<Vec<f64>>,
    now: Shape,
    before: Option<Shape>,
    /// What a missing number contributes, now and before.
    missing: Option<[Option<f64>; 2]>,
    change: Option<f64>,
    agreement: Option<f64>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Shape {
    Line(Vec<f64>),
    Surface { largest: f64, cells: String },
}

/// How the scores of the table are spread.
#[derive(Debug, Serialize)]
struct Scores {
    rows: usize,
    low: f64,
    high: f64,
    /// Rows at or above each of the equally spaced thresholds.
    above: Vec<usize>,
    /// Anomalies among them.
    anomalies_above: Option<Vec<usize>>,
    threshold: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    number: usize,
    score: f64,
    /// Share of training rows with a lower score.
    below: f64,
    label: Option<bool>,
    values: Vec<String>,
    positions: Vec<f64>,
    /// Terms with their contributions, the largest first, and how the value of a single column stands.
    terms: Vec<(usize, f64, Option<String>)>,
    /// What the terms that are not listed contribute.
    rest: f64,
}

impl Data {
    pub fn new(report: &Report, comparison: Option<&Comparison>) -> Result<Self> {
        let explainer = report.explainer;
        let detector = explainer.detector();
        Ok(Self {
            model: report.model_name.clone(),
            table: report.table_name.clone(),
            training_rows: detector.training_rows(),
            settings: report.settings.clone(),
            intercept: explainer.intercept(),
            scale: comparison.map(|comparison| significant(comparison.scale)),
            labels: detector.origin().map(|origin| [origin.anomalies, origin.normals]),
            columns: (0..detector.encoder().columns().len()).map(|c| column(explainer, c)).collect(),
            terms: (0..explainer.terms().len()).map(|t| term(report, t, comparison)).collect(),
            scores: scores(report),
            ranking: report.labels.and_then(|labels| Ranking::new(labels, report.scores)),
            rows: rows(report)?,
        })
    }
}

/// A number with so many digits after the point as a plot can show.
fn short(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value.clamp(-1e300, 1e300) }
}

/// A number with five significant digits.
fn significant(value: f64) -> f64 {
    format!("{value:.4e}").parse().unwrap_or(value)
}

fn column(explainer: &Explainer, column: usize) -> Column {
    let axis = explainer.axis(column);
    let ticks = axis.ticks();
    let turned = Axis::is_crowded(&ticks);
    let ticks = ticks.into_iter().map(|tick| (short(tick.position, 5), tick.label)).collect();
    Column {
        name: explainer.detector().encoder().columns()[column].name.clone(),
        ticks,
        density: explainer.density(column, BINS).into_iter().map(|share| short(share, 5)).collect(),
        turned,
        few: axis.has_bars(),
        missing: axis.has_gaps.then_some(Axis::MISSING),
    }
}

fn term(report: &Report, index: usize, comparison: Option<&Comparison>) -> Term {
    let explainer = report.explainer;
    let given = &explainer.terms()[index];
    let change = comparison.and_then(|all| all.changes.iter().find(|change| change.after == Some(index)));
    let scale = comparison.map_or(1.0, |comparison| comparison.scale);
    let scaled = |values: Vec<f64>| values.into_iter().map(|value| value * scale).collect::<Vec<f64>>();
    let earlier = report.before.zip(change.and_then(|change| change.before));
    let (at, now, before) = if given.columns().len() == 1 {
        let line = explainer.line(index);
        let before = earlier.map(|(before, term)| scaled(before.line_at(term, &line.positions)));
        let shape = |values: Vec<f64>| Shape::Line(values.into_iter().map(significant).collect());
        (vec![line.positions], shape(line.values), before.map(shape))
    } else {
        let surface = explainer.surface(index, CELLS);
        let shape = |values: &[f64]| {
            let (largest, cells) = encode::bytes(values);
            Shape::Surface { largest: significant(largest), cells }
        };
        let before = earlier.map(|(before, term)| shape(&scaled(before.surface(term, CELLS).values)));
        (surface.positions.to_vec(), shape(&surface.values), before)
    };
    let missing = if given.columns().len() == 1 { explainer.missing(index) } else { None };
    let missing = missing.map(|now| {
        let before = earlier.and_then(|(before, term)| before.missing(term));
        [Some(significant(now)), before.map(|value| significant(value * scale))]
    });
    Term {
        missing,
        columns: given.columns().to_vec(),
        importance: significant(given.importance()),
        at: at.into_iter().map(|axis| axis.into_iter().map(|p| short(p, 4)).collect()).collect(),
        now,
        before,
        change: change.map(|change| significant(change.size)),
        agreement: change.and_then(|change| change.agreement).map(|agreement| short(agreement, 2)),
    }
}

fn scores(report: &Report) -> Scores {
    let mut sorted = report.scores.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let (low, high) = match (sorted.first(), sorted.last()) {
        (Some(&low), Some(&high)) => (f64::from(low), f64::from(high)),
        _ => (0.0, 0.0),
    };
    let threshold = |place: usize| low + (high - low) * place as f64 / THRESHOLDS as f64;
    let above = |scores: &[f32]| -> Vec<usize> {
        let count =
            |place| scores.len() - scores.partition_point(|&score| f64::from(score) < threshold(place));
        (0..=THRESHOLDS).map(count).collect()
    };
    let anomalies_above = report.labels.map(|labels| {
        let labelled = report.scores.iter().zip(labels).filter(|(_, label)| **label);
        let mut anomalies: Vec<f32> = labelled.map(|(&score, _)| score).collect();
        anomalies.sort_unstable_by(f32::total_cmp);
        above(&anomalies)
    });
    Scores {
        rows: sorted.len(),
        low,
        high,
        above: above(&sorted),
        anomalies_above,
        threshold: f64::from(report.threshold.unwrap_or_else(|| report.explainer.score_quantile(ORDINARY))),
    }
}

fn rows(report: &Report) -> Result<Vec<Row>> {
    let (explainer, table) = (report.explainer, report.listed.table);
    let explained = explainer.contributions(table)?;
    let axes: Vec<_> = (0..table.names().len()).map(|column| explainer.axis(column)).collect();
    let row = |(place, &number_in_table): (usize, &usize)| {
        let value = |column: usize| table.column(column)[place];
        let sorted = explained.sorted(place);
        let score = f64::from(explained.scores()[place]);
        let terms: Vec<(usize, f64, Option<String>)> = sorted
            .iter()
            .take(TERMS)
            .map(|&(term, contribution)| {
                let words = match explainer.terms()[term].columns() {
                    &[column] => Some(explainer.standing(column, value(column)).to_string()),
                    _ => None,
                };
                (term, short(contribution, 5), words)
            })
            .collect();
        // What is shown adds up: rounding goes to the rest.
        let shown: f64 = terms.iter().map(|term| term.1).sum();
        Row {
            number: number_in_table,
            score,
            below: short(explainer.score_standing(explained.scores()[place]), 5),
            label: report.labels.and_then(|labels| labels.get(number_in_table).copied()),
            values: (0..axes.len()).map(|column| explainer.words(column, value(column))).collect(),
            positions: axes.iter().enumerate().map(|(c, axis)| short(axis.position(value(c)), 3)).collect(),
            terms,
            rest: score - explainer.intercept() - shown,
        }
    };
    Ok(report.listed.numbers.iter().enumerate().map(row).collect())
}
