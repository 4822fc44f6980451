//! Curves, grids and trees as expressions.

use super::dialect::Dialect;
use super::places::Place;
use super::sheet::{Col, Sheet, minus, number, plus, within};
use super::tables::Palette;
use crate::export::plan::{Curve, Grid, Tree};

/// How far all that is rounded of a kind (curves, grids, trees) is from what it was, as the standard deviation of the sum.
const ROUNDING: f64 = 2e-7;
/// How far splits of trees may be off.
const SPLIT: f64 = 2e-7;
/// Significant digits of what goes on without end.
const DIGITS: usize = 9;

/// How far each of so many numbers may be off, evenly and independently, for their sum to be off by [`ROUNDING`].
pub fn share(count: usize) -> f64 {
    ROUNDING * (3.0 / count.max(1) as f64).sqrt()
}

/// Values as whole steps above the least of them.
struct Steps {
    numbers: Vec<u64>,
    width: usize,
    step: f64,
    least: f64,
}

impl Steps {
    /// With each value within `error`: as many digits as that takes, and steps as small as these allow.
    fn of(values: &[f64], error: f64) -> Self {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) =
            values.iter().fold(ends, |(least, most), &value| (least.min(value), most.max(value)));
        let steps = ((most - least) / (2.0 * error)).ceil().max(1.0);
        let width = steps.log10().floor() as usize + 1;
        let step = ((most - least) / (10f64.powi(width as i32) - 1.0)).max(f64::MIN_POSITIVE);
        let step = number(step, DIGITS).parse().unwrap_or(step);
        let numbers = values.iter().map(|value| ((value - least) / step).round() as u64).collect();
        Self { numbers, width, step, least }
    }
}

/// A curve or a grid that is looked up: its numbers around a cell, and what becomes of them.
pub struct Found<'a> {
    piece: Piece,
    shares: Vec<Col>,
    /// Where the second row of a grid begins.
    across: usize,
    step: f64,
    least: f64,
    ends: Option<(&'a Curve, Col)>,
}

enum Piece {
    Digits(Col, usize),
    Codes(Col, Col, Palette),
}

/// Looks a curve up, within `error`. It goes on beyond its ends along `x`.
pub fn look_up_curve<'a>(
    (curve, error): (&'a Curve, f64),
    (place, x): (Place, Col),
    stage: usize,
    dialect: Dialect,
    sheet: &mut Sheet,
) -> Found<'a> {
    let Steps { mut numbers, width, step, least } = Steps::of(&curve.values, error);
    // Behind the last node there is one more, of which nothing is taken.
    numbers.push(0);
    let uses: Vec<Col> = place.cell.into_iter().collect();
    let start = place.cell.map_or("0", |cell| sheet.name(cell)).to_owned();
    let piece = sheet.add('g', stage, &uses, dialect.rows(&numbers, &[width], &start, 2));
    let ends = (curve.beyond != [0.0; 2]).then_some((curve, x));
    Found { piece: Piece::Digits(piece, width), shares: vec![place.share], across: 0, step, least, ends }
}

/// Looks a grid of so many places across up, within `error`.
pub fn look_up_grid(
    (grid, across, error): (&Grid, usize, f64),
    places: [Place; 2],
    stage: usize,
    dialect: Dialect,
    sheet: &mut Sheet,
) -> Found<'static> {
    let Steps { mut numbers, width, step, least } = Steps::of(&grid.values, error);
    // Behind the last row there is another, of which nothing is taken.
    numbers.extend(vec![numbers[numbers.len() - 1]; across + 1]);
    let uses: Vec<Col> = places.iter().filter_map(|place| place.cell).collect();
    let name = |place: &Place| place.cell.map(|cell| sheet.name(cell).to_owned());
    let start = match (name(&places[0]), name(&places[1])) {
        (Some(i), Some(j)) => format!("{i}*{across}+{j}"),
        (Some(i), None) => format!("{i}*{across}"),
        (None, Some(j)) => j,
        (None, None) => "0".to_owned(),
    };
    let piece = match Palette::of(&numbers, width) {
        Some(palette) => {
            let text = dialect.codes(&palette.codes, &start, across + 2);
            let piece = sheet.add('g', stage, &uses, text);
            Piece::Codes(piece, sheet.add('h', stage, &[], dialect.palette(&palette)), palette)
        }
        None => {
            let text = dialect.rows(&numbers, &[width], &start, across + 2);
            Piece::Digits(sheet.add('g', stage, &uses, text), width)
        }
    };
    Found { piece, shares: places.map(|place| place.share).to_vec(), across, step, least, ends: None }
}

impl Found<'_> {
    /// The columns it needs.
    pub fn uses(&self) -> Vec<Col> {
        let piece = match self.piece {
            Piece::Digits(piece, _) => vec![piece],
            Piece::Codes(piece, palette, _) => vec![piece, palette],
        };
        self.shares.iter().copied().chain(piece).chain(self.ends.map(|(_, x)| x)).collect()
    }

    /// Its value, as a number and something that is added.
    pub fn text(&self, dialect: Dialect, sheet: &Sheet) -> (f64, String) {
        let value = |index: usize| match &self.piece {
            Piece::Digits(piece, width) => dialect.field(sheet.name(*piece), &[*width], (index, 0)),
            Piece::Codes(piece, column, palette) => {
                dialect.coded(palette, sheet.name(*column), sheet.name(*piece), index)
            }
        };
        let between = |share: Col, [low, high]: [String; 2]| {
            let f = sheet.name(share);
            format!("((1e0-{f})*{low}+{f}*{high})")
        };
        let row = |start: usize, share: Col| between(share, [value(start), value(start + 1)]);
        let inner = match self.shares[..] {
            [first, second] => between(first, [row(0, second), row(self.across, second)]),
            _ => row(0, self.shares[0]),
        };
        let mut text = format!("+{}*{inner}", number(self.step, DIGITS));
        if let Some((curve, x)) = self.ends {
            let (x, last) = (sheet.name(x), curve.nodes.len() - 1);
            let beyond = [
                (format!("{}-{x}", number(curve.nodes[0], 17)), curve.beyond[0]),
                (format!("{x}{}", minus(&number(curve.nodes[last], 17))), curve.beyond[1]),
            ];
            for (distance, slope) in beyond.into_iter().filter(|(_, slope)| *slope != 0.0) {
                let distance = dialect.greatest(&[distance, "0e0".to_owned()]);
                text += &format!("{}*{distance}", plus(&number(slope, DIGITS)));
            }
        }
        (self.least, text)
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
        let z = sheet.add('z', stage, &[x], dialect.within(&text, [-1.0, 1.0]));
        let name = sheet.name(z);
        let text = format!("{name}*sqrt(2e0-{name}*{name})");
        sheet.add('a', stage + 1, &[z], text)
    });
    made.collect()
}

/// The polynomial of a tree, as a number and something that is added, with coefficients within `error`.
pub fn polynomial(tree: &Tree, splits: &[&str], error: f64) -> (f64, String) {
    // A step is a power of ten, so that coefficients are whole numbers.
    let step = 10f64.powf((2.0 * error).log10().floor());
    let whole: Vec<i64> = tree.coefficients.iter().map(|c| (c / step).round() as i64).collect();
    // What is added to the first coefficient of some, if it is not nothing.
    fn rest(whole: &[i64], splits: &[&str]) -> String {
        let [others @ .., last] = splits else { return String::new() };
        let (without, with) = whole.split_at(whole.len() / 2);
        let (before, inside) = (rest(without, others), rest(with, others));
        match (with[0], inside.as_str()) {
            (0, "") => before,
            (one, "") => format!("{before}{one:+}*{last}"),
            (0, more) => format!("{before}+{last}*({})", more.trim_start_matches('+')),
            (one, more) => format!("{before}+{last}*({one}{more})"),
        }
    }
    let text = rest(&whole, splits);
    let text = if text.is_empty() { text } else { format!("+{}*({})", number(step, 1), &text) };
    (whole[0] as f64 * step, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_polynomial_is_written_without_what_is_nought() {
        let tree = |coefficients: &[f64]| {
            let none = || vec![0.0; 2];
            let coefficients = coefficients.to_vec();
            Tree { features: [0, 1], thresholds: none(), steepness: none(), coefficients }
        };
        let text = |coefficients: &[f64]| polynomial(&tree(coefficients), &["a", "b"], 0.6).1;
        assert_eq!(text(&[5.0, -2.0, 3.0, 4.0]), "+1e0*(-2*a+b*(3+4*a))");
        assert_eq!(text(&[5.0, 0.0, 0.0, -4.0]), "+1e0*(+b*(-4*a))");
        assert_eq!(text(&[5.0, 0.0, 7.0, 0.0]), "+1e0*(+7*b)");
        assert_eq!(text(&[5.0, 0.1, 0.2, 0.0]), "");
    }
}
