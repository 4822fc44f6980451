//! What the page knows: everything as numbers and text, in the order of the plots.

use diad::Result;
use diad::encode::Kind;
use diad::explain::{Axis, Comparison, Explainer, FEW_ROWS, Tick};
use serde::Serialize;

use crate::curves::Ranking;
use crate::rows::RowData;
use crate::scores::Scores;
use crate::ticks::ticks;
use crate::{Report, encode};

/// Cells of a heat map along each axis.
const CELLS: usize = 20;
/// Bins of the density behind a line.
const BINS: usize = 64;
/// How far bars of numbers reach, the room at either end included, where an axis without them goes from 0 to 1.
const BARS_ACROSS: f64 = 1.24;
/// Where a missing number is drawn, far enough from the last mark for its name.
const MISSING: f64 = 1.2;

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
    /// What people changed of single columns.
    edits: Vec<String>,
    /// The rule by which rows are alerts.
    rule: Option<String>,
    columns: Vec<Column>,
    terms: Vec<Term>,
    scores: Scores,
    ranking: Option<Ranking>,
    rows: RowData,
}

#[derive(Debug, Serialize)]
struct Column {
    name: String,
    /// What sentences call it, if that is something else.
    said: Option<String>,
    /// The column of the table it is made of.
    source: String,
    /// Whether its values have an order: they are not categories.
    ordered: bool,
    ticks: Vec<(f64, String)>,
    /// Shares of the training rows, for drawing.
    density: Vec<f64>,
    few: bool,
    /// Where a missing number is drawn, if there are any.
    missing: Option<f64>,
    /// Whether the labels of its marks are turned.
    turned: bool,
    /// The middles of the cells of heat maps, and what they stand for.
    cells: Vec<(f64, String)>,
}

#[derive(Debug, Serialize)]
struct Term {
    columns: Vec<usize>,
    importance: f64,
    /// Of a line, positions along the axis and what they stand for.
    at: Vec<f64>,
    names: Vec<String>,
    now: Shape,
    before: Option<Shape>,
    /// Where few training rows support the shape: a bit for each point or cell.
    few: String,
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

impl Data {
    pub fn new(report: &Report, comparison: Option<&Comparison>) -> Result<Self> {
        let explainer = report.explainer;
        let detector = explainer.detector();
        let mut columns: Vec<Column> =
            (0..detector.encoder().columns().len()).map(|c| column(explainer, c)).collect();
        let terms: Vec<Term> =
            (0..explainer.terms().len()).map(|t| term(report, t, comparison, &mut columns)).collect();
        let threshold = report.threshold.unwrap_or_else(|| explainer.ordinary());
        Ok(Self {
            model: report.model_name.clone(),
            table: report.table_name.clone(),
            training_rows: detector.training_rows(),
            settings: report.settings.clone(),
            intercept: explainer.intercept(),
            scale: comparison.map(|comparison| significant(comparison.scale)),
            labels: detector.origin().map(|origin| [origin.anomalies, origin.normals]),
            edits: detector.edits().to_vec(),
            rule: report.rule.clone(),
            columns,
            terms,
            scores: Scores::new(report.scores, report.labels, threshold),
            ranking: report.labels.and_then(|labels| Ranking::new(labels, report.scores)),
            rows: RowData::new(report, threshold)?,
        })
    }
}

/// A number with so many digits after the point as a plot can show.
fn short(value: f64, digits: i32) -> f64 {
    let scale = 10f64.powi(digits);
    let rounded = (value * scale).round() / scale;
    if rounded.is_finite() { rounded } else { value.clamp(-1e300, 1e300) }
}

/// A number with four significant digits, more than a plot shows.
fn significant(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

fn column(explainer: &Explainer, column: usize) -> Column {
    let axis = explainer.axis(column);
    let ticks = ticks(explainer, column, &axis);
    // Bars of numbers have room at either end.
    let across = if axis.has_bars() && axis.categories.is_empty() { BARS_ACROSS } else { 1.0 };
    let drawn = ticks.iter().map(|tick| Tick { position: tick.position / across, label: tick.label.clone() });
    let turned = Axis::is_crowded(&drawn.collect::<Vec<_>>());
    let ticks = ticks.into_iter().map(|tick| (short(tick.position, 5), tick.label)).collect();
    let given = &explainer.detector().encoder().columns()[column];
    Column {
        name: given.name.clone(),
        said: Some(explainer.spoken(column).to_owned()).filter(|said| *said != given.name),
        source: given.source().to_owned(),
        ordered: axis.categories.is_empty(),
        ticks,
        density: explainer.density(column, BINS).into_iter().map(|share| short(share, 5)).collect(),
        turned,
        few: axis.has_bars(),
        cells: Vec::new(),
        missing: axis.has_gaps.then_some(MISSING),
    }
}

/// What positions on the axis of a column stand for.
fn names(explainer: &Explainer, column: usize, positions: &[f64]) -> Vec<String> {
    let axis = explainer.axis(column);
    let number = explainer.detector().encoder().columns()[column].kind == Kind::Number;
    let value = |&position: &f64| axis.value(position);
    let rounded = |value: f64| match axis.clock {
        Some(clock) => clock.rounded(value, axis.max - axis.min),
        None if number => significant(value),
        None => value,
    };
    let words = |value: f64| explainer.words(column, rounded(value));
    positions.iter().map(value).map(words).collect()
}

/// A term. Cells of pairs are noted with their columns, since all pairs of a column have the same.
fn term(report: &Report, index: usize, comparison: Option<&Comparison>, columns: &mut [Column]) -> Term {
    let explainer = report.explainer;
    let given = &explainer.terms()[index];
    let change = comparison.and_then(|all| all.changes.iter().find(|change| change.after == Some(index)));
    let scale = comparison.map_or(1.0, |comparison| comparison.scale);
    let scaled = |values: Vec<f64>| values.into_iter().map(|value| value * scale).collect::<Vec<f64>>();
    let earlier = report.before.zip(change.and_then(|change| change.before));
    let (at, rows, now, before) = if given.columns().len() == 1 {
        let line = explainer.line(index);
        let before = earlier.map(|(before, term)| scaled(before.line_at(term, &line.positions)));
        let shape = |values: Vec<f64>| Shape::Line(values.into_iter().map(significant).collect());
        (line.positions, line.rows, shape(line.values), before.map(shape))
    } else {
        let surface = explainer.surface(index, CELLS);
        let shape = |values: &[f64]| {
            let (largest, cells) = encode::bytes(values);
            Shape::Surface { largest: significant(largest), cells }
        };
        let before = earlier.map(|(before, term)| shape(&scaled(before.surface(term, CELLS).values)));
        for (&column, middles) in given.columns().iter().zip(&surface.positions) {
            if columns[column].cells.is_empty() {
                let names = names(explainer, column, middles);
                columns[column].cells = middles.iter().map(|&p| short(p, 4)).zip(names).collect();
            }
        }
        (Vec::new(), surface.rows, shape(&surface.values), before)
    };
    let missing = if given.columns().len() == 1 { explainer.missing(index) } else { None };
    let missing = missing.map(|now| {
        let before = earlier.and_then(|(before, term)| before.missing(term));
        [Some(significant(now)), before.map(|value| significant(value * scale))]
    });
    Term {
        missing,
        few: encode::bits(rows.into_iter().map(|rows| rows < FEW_ROWS)),
        names: names(explainer, given.columns()[0], &at),
        columns: given.columns().to_vec(),
        importance: significant(given.importance()),
        at: at.into_iter().map(|p| short(p, 4)).collect(),
        now,
        before,
        change: change.map(|change| significant(change.size)),
        agreement: change.and_then(|change| change.agreement).map(|agreement| short(agreement, 2)),
    }
}
