//! Curves, grids and trees as expressions.

use super::dialect::Dialect;
use super::sheet::{Col, Sheet, minus, number, plus, within};
use crate::export::plan::{Curve, Grid, Plan, Side, Tree};

/// How far sums of what is rounded may be from what it was, in all.
const ROUNDING: f64 = 5e-6;
/// Significant digits of what is not looked up.
const DIGITS: usize = 9;

/// A piece of a function: from where on it holds, and how it is written.
type Piece = (f64, String);

/// A choice among pieces, as a balanced tree. The first holds from the start.
fn choose(x: &str, pieces: &[Piece], error: f64) -> String {
    match pieces {
        [] => "0e0".to_owned(),
        [(_, only)] => only.clone(),
        _ => {
            let (low, high) = pieces.split_at(pieces.len() / 2);
            let from = within(high[0].0, error);
            format!("CASE WHEN {x}<{from} THEN {} ELSE {} END", choose(x, low, error), choose(x, high, error))
        }
    }
}

/// `at + (x - node) · slope`.
fn line(x: &str, at: &str, node: &str, slope: &str) -> String {
    let at = if at == "0e0" { String::new() } else { plus(at) };
    format!("({x}{})*{}{at}", minus(node), parted(slope))
}

/// A factor: in parentheses if it has a sign.
fn parted(factor: &str) -> String {
    if factor.starts_with('-') { format!("({factor})") } else { factor.to_owned() }
}

/// How exactly nodes are to be written, so that no place between them is far off.
fn node_error(nodes: &[f64]) -> f64 {
    nodes.windows(2).map(|two| two[1] - two[0]).fold(1.0, f64::min) * 1e-6
}

/// A curve of a feature.
pub fn curve(curve: &Curve, x: &str) -> String {
    let (nodes, values, last) = (&curve.nodes, &curve.values, curve.nodes.len() - 1);
    let error = node_error(nodes);
    let node = |node: usize| within(nodes[node], error);
    let end = |k: usize, slope: f64| match slope {
        0.0 => number(values[k], DIGITS),
        slope => line(x, &number(values[k], DIGITS), &node(k), &number(slope, DIGITS)),
    };
    let mut pieces: Vec<Piece> = vec![(f64::NEG_INFINITY, end(0, -curve.beyond[0]))];
    for k in 0..last {
        let slope = (values[k + 1] - values[k]) / (nodes[k + 1] - nodes[k]);
        pieces.push((nodes[k], end(k, slope)));
    }
    pieces.push((nodes[last], end(last, curve.beyond[1])));
    pieces.dedup_by(|next, before| next.1 == before.1);
    choose(x, &pieces, error)
}

/// Where a feature is along a side: the cell, and the share of the next place.
pub struct Place {
    pub cell: Option<Col>,
    pub share: Col,
}

/// The place of a feature along a side.
pub fn place(side: &Side, x: Col, dialect: Dialect, sheet: &mut Sheet) -> Place {
    let (nodes, places) = (&side.nodes, &side.places);
    let error = node_error(nodes);
    let name = sheet.name(x).to_owned();
    let whole = |place: u32| if place == 0 { "0e0".to_owned() } else { format!("{place}e0") };
    let mut pieces: Vec<Piece> = vec![(f64::NEG_INFINITY, whole(places[0]))];
    for k in 0..nodes.len() - 1 {
        let rise = f64::from(places[k + 1] - places[k]) / (nodes[k + 1] - nodes[k]);
        let piece = match rise {
            0.0 => whole(places[k]),
            _ => line(&name, &whole(places[k]), &within(nodes[k], error), &number(rise, DIGITS)),
        };
        pieces.push((nodes[k], piece));
    }
    pieces.push((nodes[nodes.len() - 1], whole(places[nodes.len() - 1])));
    pieces.dedup_by(|next, before| next.1 == before.1);
    let p = sheet.add('p', 1, &[x], choose(&name, &pieces, error));
    let name = sheet.name(p).to_owned();
    let last = side.places().saturating_sub(2);
    if last == 0 {
        return Place { cell: None, share: p };
    }
    let cell =
        format!("CASE WHEN {name}>={last} THEN {last} ELSE {} END", dialect.whole(&format!("floor({name})")));
    let share = format!("CASE WHEN {name}>={last} THEN {name}-{last}e0 ELSE {name}-floor({name}) END");
    let cell = sheet.add('i', 1, &[p], cell);
    Place { cell: Some(cell), share: sheet.add('f', 1, &[p], share) }
}

/// A grid that is looked up: its numbers around a cell, and what becomes of them.
pub struct Found {
    piece: Col,
    shares: [Col; 2],
    across: usize,
    width: usize,
    step: f64,
    least: f64,
}

/// Looks a grid up, in whole steps above its least value.
pub fn look_up(
    (plan, grid, grids): (&Plan, &Grid, usize),
    places: [&Place; 2],
    stage: usize,
    dialect: Dialect,
    sheet: &mut Sheet,
) -> Found {
    let step = 2.0 * ROUNDING / grids as f64;
    let least = grid.values.iter().copied().fold(f64::INFINITY, f64::min);
    let numbers: Vec<u64> = grid.values.iter().map(|value| ((value - least) / step).round() as u64).collect();
    let width = numbers.iter().max().map_or(1, |most| most.to_string().len());
    let across = plan.sides[grid.sides[1]].places();
    let cells: Vec<Col> = places.iter().filter_map(|place| place.cell).collect();
    let name = |place: &Place| place.cell.map(|cell| sheet.name(cell).to_owned());
    let start = match (name(places[0]), name(places[1])) {
        (Some(i), Some(j)) => format!("{i}*{across}+{j}"),
        (Some(i), None) => format!("{i}*{across}"),
        (None, Some(j)) => j,
        (None, None) => "0".to_owned(),
    };
    let piece = sheet.add('g', stage, &cells, dialect.digits(&numbers, width, &start, across + 2));
    Found { piece, shares: [places[0].share, places[1].share], across, width, step, least }
}

impl Found {
    /// The columns it needs.
    pub fn uses(&self) -> [Col; 3] {
        [self.piece, self.shares[0], self.shares[1]]
    }

    /// Its value, as something that is added.
    pub fn text(&self, dialect: Dialect, sheet: &Sheet) -> String {
        let digit = |index: usize| dialect.digit(sheet.name(self.piece), self.width, index);
        let [a, b] = self.shares.map(|share| sheet.name(share));
        let row = |start: usize| format!("((1e0-{b})*{}+{b}*{})", digit(start), digit(start + 1));
        format!(
            "{}+{}*((1e0-{a})*{}+{a}*{})",
            plus(&number(self.least, DIGITS)),
            number(self.step, DIGITS),
            row(0),
            row(self.across)
        )
    }
}

/// The splits of a tree.
pub fn splits(tree: &Tree, cut: impl Fn(usize) -> Col, stage: usize, sheet: &mut Sheet) -> Vec<Col> {
    let parameters = tree.thresholds.iter().zip(&tree.steepness).enumerate();
    let made = parameters.map(|(k, (threshold, steepness))| {
        let x = cut(tree.features[k % 2]);
        let text = format!(
            "({}{})*{}",
            sheet.name(x),
            minus(&number(*threshold, DIGITS)),
            number(*steepness, DIGITS)
        );
        let z = sheet.add('z', stage, &[x], text);
        let name = sheet.name(z);
        let text = format!(
            "CASE WHEN {name}>=1 THEN 1e0 WHEN {name}<=-1 THEN -1e0 ELSE {name}*sqrt(2e0-{name}*{name}) END"
        );
        sheet.add('a', stage + 1, &[z], text)
    });
    made.collect()
}

/// The polynomial of a tree, as something that is added.
pub fn polynomial(tree: &Tree, splits: &[&str]) -> String {
    fn part(coefficients: &[f64], splits: &[&str]) -> String {
        match splits {
            [] => plus(&number(coefficients[0], DIGITS)),
            [others @ .., last] => {
                let (without, with) = coefficients.split_at(coefficients.len() / 2);
                format!("{}+{last}*({})", part(without, others), part(with, others))
            }
        }
    }
    part(&tree.coefficients, splits)
}
