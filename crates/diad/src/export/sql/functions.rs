//! Curves, grids and trees as expressions.

use super::dialect::Dialect;
use super::sheet::{Col, Sheet, minus, number, plus, within};
use crate::export::plan::{Curve, Grid, Plan, Side, Tree};

/// How far all that is rounded of a kind (curves, grids, trees) is from what it was, as the standard deviation of the sum.
const ROUNDING: f64 = 2e-7;
/// How far places along sides may be off.
const PLACE: f64 = 3e-8;
/// How far splits of trees may be off.
const SPLIT: f64 = 1e-7;
/// Significant digits of what goes on without end.
const DIGITS: usize = 9;

/// How far each of so many numbers may be off, evenly and independently, for their sum to be off by [`ROUNDING`].
pub fn share(count: usize) -> f64 {
    ROUNDING * (3.0 / count.max(1) as f64).sqrt()
}

/// A piece of a function: from where on it holds, and how it is written.
type Piece = (String, String);

/// A choice among pieces, as a balanced tree. The first holds from the start.
fn choose(x: &str, pieces: &[Piece]) -> String {
    match pieces {
        [] => "0e0".to_owned(),
        [(_, only)] => only.clone(),
        _ => {
            let (low, high) = pieces.split_at(pieces.len() / 2);
            format!("CASE WHEN {x}<{} THEN {} ELSE {} END", high[0].0, choose(x, low), choose(x, high))
        }
    }
}

/// A line without end: `at + (x - node) · slope`.
fn ray(x: &str, at: f64, node: f64, slope: f64) -> String {
    let node = minus(&number(node, 17));
    let slope = number(slope, DIGITS);
    format!("({x}{node})*({slope}){}", plus(&number(at, DIGITS)))
}

/// The line through two points, between them within `error`.
fn segment(x: &str, [a, b]: [f64; 2], [from, to]: [f64; 2], error: f64) -> String {
    let slope = within((to - from) / (b - a), error / (b - a));
    let rounded: f64 = slope.parse().unwrap_or_default();
    // In the middle it is as it was, so that the ends are off by no more than half of what the slope is.
    let at = within((from + to) / 2.0 - rounded * (a + b) / 2.0, error / 2.0);
    if rounded == 0.0 { at } else { format!("{at}{}*{x}", plus(&slope)) }
}

/// A function that is linear between nodes, each piece within `error`. `ends` are how it is written below the first node and above
/// the last, and the slopes there.
fn pieces(x: &str, nodes: &[f64], values: &[f64], ends: [(String, f64); 2], error: f64) -> Vec<Piece> {
    let last = nodes.len() - 1;
    let [(below, before), (above, after)] = ends;
    let slope = |k: usize| (values[k + 1] - values[k]) / (nodes[k + 1] - nodes[k]);
    // Where two lines meet, it matters little which of them is taken, and the less the more alike they are.
    let node = |k: usize| {
        let bend = (if k == 0 { before } else { slope(k - 1) }) - (if k == last { after } else { slope(k) });
        let gaps = nodes[k.saturating_sub(1)..(k + 2).min(nodes.len())].windows(2).map(|two| two[1] - two[0]);
        let gap = gaps.fold(1.0, f64::min) / 1e3;
        within(nodes[k], (error / bend.abs()).min(gap))
    };
    let mut pieces: Vec<Piece> = vec![(String::new(), below)];
    for k in 0..last {
        pieces.push((node(k), segment(x, [nodes[k], nodes[k + 1]], [values[k], values[k + 1]], error)));
    }
    pieces.push((node(last), above));
    pieces.dedup_by(|next, before| next.1 == before.1);
    pieces
}

/// A curve of a feature, within `error` between its nodes.
pub fn curve(curve: &Curve, x: &str, error: f64) -> String {
    let (nodes, values, last) = (&curve.nodes, &curve.values, curve.nodes.len() - 1);
    let end = |k: usize, slope: f64| match slope {
        0.0 => (within(values[k], error / 2.0), 0.0),
        slope => (ray(x, values[k], nodes[k], slope), slope),
    };
    let ends = [end(0, -curve.beyond[0]), end(last, curve.beyond[1])];
    choose(x, &pieces(x, nodes, values, ends, error))
}

/// Where a feature is along a side: the cell, and the share of the next place.
pub struct Place {
    pub cell: Option<Col>,
    pub share: Col,
}

/// The place of a feature along a side.
pub fn place(side: &Side, x: Col, dialect: Dialect, sheet: &mut Sheet) -> Place {
    let name = sheet.name(x).to_owned();
    let places: Vec<f64> = side.places.iter().map(|&place| f64::from(place)).collect();
    let end = |place: f64| (number(place, DIGITS), 0.0);
    let ends = [end(places[0]), end(places[places.len() - 1])];
    let pieces = pieces(&name, &side.nodes, &places, ends, PLACE);
    // What is rounded must not fall below the first place.
    let text = dialect.greatest(&[choose(&name, &pieces), "0e0".to_owned()]);
    let p = sheet.add('p', 1, &[x], text);
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
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (least, most) =
        grid.values.iter().fold(ends, |(least, most), &value| (least.min(value), most.max(value)));
    // As many digits as it takes, and steps as small as these allow.
    let steps = ((most - least) / (2.0 * share(grids))).ceil().max(1.0);
    let width = steps.log10().floor() as usize + 1;
    let step = ((most - least) / (10f64.powi(width as i32) - 1.0)).max(f64::MIN_POSITIVE);
    let numbers: Vec<u64> = grid.values.iter().map(|value| ((value - least) / step).round() as u64).collect();
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
pub fn splits(
    tree: &Tree,
    cut: impl Fn(usize) -> Col,
    stage: usize,
    dialect: Dialect,
    sheet: &mut Sheet,
) -> Vec<Col> {
    let parameters = tree.thresholds.iter().zip(&tree.steepness).enumerate();
    let made = parameters.map(|(k, (threshold, steepness))| {
        let x = cut(tree.features[k % 2]);
        let threshold = minus(&within(*threshold, SPLIT / steepness.abs()));
        let text = format!("({}{threshold})*{}", sheet.name(x), within(*steepness, SPLIT));
        let z = sheet.add('z', stage, &[x], dialect.cut(&text));
        let name = sheet.name(z);
        let text = format!("{name}*sqrt(2e0-{name}*{name})");
        sheet.add('a', stage + 1, &[z], text)
    });
    made.collect()
}

/// The polynomial of a tree, as something that is added, with coefficients within `error`.
pub fn polynomial(tree: &Tree, splits: &[&str], error: f64) -> String {
    fn part(coefficients: &[f64], splits: &[&str], error: f64) -> String {
        match splits {
            [] => plus(&within(coefficients[0], error)),
            [others @ .., last] => {
                let (without, with) = coefficients.split_at(coefficients.len() / 2);
                format!("{}+{last}*({})", part(without, others, error), part(with, others, error))
            }
        }
    }
    part(&tree.coefficients, splits, error)
}
