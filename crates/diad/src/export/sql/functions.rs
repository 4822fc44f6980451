//! Curves, grids and trees as expressions.

use super::dialect::Dialect;
use super::places::{self, Place};
use super::sheet::{Col, Sheet, minus, number, plus, within};
use super::tables::Palette;
use crate::export::plan::{Curve, Grid, Side, Tree};

/// How far all that is rounded of a kind (curves, grids, trees, their splits) may be from what it was, as the standard deviation of
/// the sum: the first for models of few columns, the second where a tenth of a digit counts ten thousand times. Five times the
/// most of all four is half of what an export may be off.
const ROUNDING: [f64; 2] = [2e-7, 5e-7];
/// Numbers need not be closer than this while their sum is not too far off.
const CLOSE: f64 = 7.5e-8;
/// Between its places a curve is a mean of two values and a grid of four, which is off by less than they are.
const MEAN_OF_TWO: f64 = 1.2;
const MEAN_OF_FOUR: f64 = 1.5;
/// One digit less is worth so much more error.
const DIGIT: f64 = 1.5;
/// Significant digits of a step.
const STEP_DIGITS: usize = 4;
/// Significant digits of what goes on without end.
const DIGITS: usize = 9;

/// How far each of so many numbers may be off, evenly and independently.
pub fn share(count: usize) -> f64 {
    let spread = (count.max(1) as f64 / 3.0).sqrt();
    (CLOSE * spread).clamp(ROUNDING[0], ROUNDING[1]) / spread
}

/// Values as whole steps above the least of them.
struct Steps {
    numbers: Vec<u64>,
    width: usize,
    step: f64,
    least: f64,
}

impl Steps {
    /// With each value within `error`, or a little more if it saves a digit: as many digits as that takes, and steps as small as
    /// these allow.
    fn of(values: &[f64], error: f64) -> Self {
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (least, most) =
            values.iter().fold(ends, |(least, most), &value| (least.min(value), most.max(value)));
        let steps = ((most - least) / (2.0 * DIGIT * error)).max(1.0);
        let width = (steps + 1.0).log10().ceil() as usize;
        let most_steps = 10f64.powi(width as i32) - 1.0;
        // Rounded up, so that the largest has no more digits.
        let step = number((most - least) / most_steps * (1.0 + 1e-3), STEP_DIGITS);
        let step = step.parse::<f64>().unwrap_or_default().max(f64::MIN_POSITIVE);
        let numbers = values.iter().map(|value| ((value - least) / step).round() as u64).collect();
        Self { numbers, width, step, least }
    }
}

/// A curve or a grid that is looked up: its numbers around a cell, and what becomes of them.
pub struct Found<'a> {
    piece: Piece,
    places: Vec<Place>,
    /// Where the second row of a grid begins.
    across: usize,
    /// Whether it has sides on which nodes share places.
    steep: bool,
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
    let Steps { mut numbers, width, step, least } = Steps::of(&curve.values, error * MEAN_OF_TWO);
    // The cell may be that of the last node: behind it there is one more, of which nothing is taken.
    numbers.push(0);
    let uses: Vec<Col> = place.cell.into_iter().collect();
    let start = place.cell.map_or("0", |cell| sheet.name(cell)).to_owned();
    let piece = sheet.add('g', stage, &uses, dialect.rows(&numbers, &[width], &start, 2));
    let ends = (curve.beyond != [0.0; 2]).then_some((curve, x));
    let (piece, places) = (Piece::Digits(piece, width), vec![place]);
    Found { piece, places, across: 0, steep: false, step, least, ends }
}

/// Looks a grid of so many places across up, within `error`.
pub fn look_up_grid(
    (grid, sides, error): (&Grid, [&Side; 2], f64),
    places: [Place; 2],
    stage: usize,
    dialect: Dialect,
    sheet: &mut Sheet,
) -> Found<'static> {
    let across = sides[1].places();
    let Steps { mut numbers, width, step, least } = Steps::of(&grid.values, error * MEAN_OF_FOUR);
    // The cell may be that of the last place: behind the last row there is another, of which nothing is taken.
    numbers.extend(vec![numbers[numbers.len() - 1]; across + 1]);
    let steep = sides.iter().any(|side| places::distinct(side).is_some());
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
    Found { piece, places: places.to_vec(), across, steep, step, least, ends: None }
}

impl Found<'_> {
    /// The columns it needs.
    pub fn uses(&self) -> Vec<Col> {
        let piece = match self.piece {
            Piece::Digits(piece, _) => vec![piece],
            Piece::Codes(piece, palette, _) => vec![piece, palette],
        };
        (self.places.iter().flat_map(|place| [place.share, place.rest]).chain(piece))
            .chain(self.ends.map(|(_, x)| x))
            .collect()
    }

    /// Its value, as a number and something that is added.
    pub fn text(&self, dialect: Dialect, sheet: &Sheet) -> (f64, String) {
        let value = |index: usize| match &self.piece {
            Piece::Digits(piece, width) => {
                dialect.factor(sheet.name(*piece), *width, [index, self.across + 2])
            }
            Piece::Codes(piece, column, palette) => {
                dialect.coded(palette, sheet.name(*column), sheet.name(*piece), [index, self.across + 2])
            }
        };
        let between = |place: Place, [low, high]: [String; 2]| {
            let (f, rest) = (sheet.name(place.share), sheet.name(place.rest));
            match (dialect, self.steep) {
                // Along a side of steps the share is nearly always 0.
                (Dialect::Sqlite, true) => format!("({rest}*{low}+iif({f},{f}*{high},0))"),
                _ => format!("({rest}*{low}+{f}*{high})"),
            }
        };
        let row = |start: usize, place: Place| between(place, [value(start), value(start + 1)]);
        let inner = match self.places[..] {
            [first, second] => between(first, [row(0, second), row(self.across, second)]),
            _ => row(0, self.places[0]),
        };
        let mut text = format!("+{}*{inner}", number(self.step, STEP_DIGITS));
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

/// The splits of a tree, within `error` for the tree.
pub fn splits(
    (tree, error): (&Tree, f64),
    cut: impl Fn(usize) -> Col,
    stage: usize,
    dialect: Dialect,
    sheet: &mut Sheet,
) -> Vec<Col> {
    let size: f64 = tree.coefficients.iter().skip(1).map(|coefficient| coefficient.abs()).sum();
    // All other splits are seldom such that this one matters as much as it can.
    let error = (error / size).clamp(1e-9, 1e-3);
    let parameters = tree.thresholds.iter().zip(&tree.steepness).enumerate();
    let made = parameters.map(|(k, (threshold, steepness))| {
        let x = cut(tree.features[k % 2]);
        let threshold = dialect.constant(within(*threshold, error / steepness.abs()));
        let scaled = |by: f64| {
            let steepness = dialect.constant(within(steepness * by, error * (steepness * by).abs()));
            format!("({}{})*{steepness}", sheet.name(x), minus(&threshold))
        };
        if dialect.skips() {
            let text = scaled(0.5);
            let half = sheet.add('z', stage, &[x], text);
            let text = Dialect::half_split(sheet.name(half));
            return sheet.add('a', stage + 1, &[half], text);
        }
        let z = dialect.within(&scaled(1.0), [-1.0, 1.0]);
        let z = sheet.add('z', stage, &[x], z);
        let name = sheet.name(z);
        let text = format!("{name}*sqrt(2-{name}*{name})");
        sheet.add('a', stage + 1, &[z], text)
    });
    made.collect()
}

/// The polynomial of a tree, as a number and something that is added, with coefficients within `error`.
pub fn polynomial(tree: &Tree, splits: &[&str], error: f64, dialect: Dialect) -> (f64, String) {
    let step = number(2.0 * error, 2).parse::<f64>().unwrap_or(error);
    let coefficients =
        if dialect.skips() { of_halves(&tree.coefficients) } else { tree.coefficients.clone() };
    let whole: Vec<i64> = coefficients.iter().map(|c| (c / step).round() as i64).collect();
    let text = above_first(&whole, splits, dialect);
    let text = if text.is_empty() { text } else { format!("+{}*({})", number(step, 2), &text) };
    (whole[0] as f64 * step, text)
}

/// What is added to the first coefficient of some, if it is not nothing.
fn above_first(whole: &[i64], splits: &[&str], dialect: Dialect) -> String {
    let [others @ .., last] = splits else { return String::new() };
    let (without, with) = whole.split_at(whole.len() / 2);
    let (before, inside) = (above_first(without, others, dialect), above_first(with, others, dialect));
    match (with[0], inside.as_str()) {
        (0, "") => before,
        (one, "") => format!("{before}{one:+}*{last}"),
        (one, more) => {
            let one = if one == 0 { String::new() } else { one.to_string() };
            let text = format!("{last}*({})", (one + more).trim_start_matches('+'));
            // Of few products, looking whether they matter takes as long, or as many characters, as it saves.
            let worth = dialect.skips() && others.len() > 2;
            let text = if worth { Dialect::unless_nought(last, &text) } else { text };
            format!("{before}+{text}")
        }
    }
}

/// Coefficients of products of splits that go from 0 to 1, of those of products of splits that go from -1 to 1.
fn of_halves(coefficients: &[f64]) -> Vec<f64> {
    let mut made = coefficients.to_vec();
    let mut bit = 1;
    while bit < made.len() {
        for set in (0..made.len()).filter(|set| set & bit != 0) {
            made[set ^ bit] -= made[set];
            made[set] *= 2.0;
        }
        bit *= 2;
    }
    made
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
        let text =
            |coefficients: &[f64]| polynomial(&tree(coefficients), &["a", "b"], 0.5, Dialect::Duckdb).1;
        assert_eq!(text(&[5.0, -2.0, 3.0, 4.0]), "+1e0*(-2*a+b*(3+4*a))");
        assert_eq!(text(&[5.0, 0.0, 0.0, -4.0]), "+1e0*(+b*(-4*a))");
        assert_eq!(text(&[5.0, 0.0, 7.0, 0.0]), "+1e0*(+7*b)");
        assert_eq!(text(&[5.0, 0.1, 0.2, 0.0]), "");
    }

    #[test]
    fn splits_from_0_to_1_make_the_same_polynomial() {
        let value = |coefficients: &[f64], splits: &[f64]| -> f64 {
            let product = |set: usize| {
                let inside = splits.iter().enumerate().filter(|(k, _)| set >> k & 1 == 1);
                inside.map(|(_, split)| split).product::<f64>()
            };
            coefficients.iter().enumerate().map(|(set, c)| c * product(set)).sum()
        };
        let coefficients: Vec<f64> = (0..16).map(|k| (f64::from(k) * 1.7).sin()).collect();
        for k in 0..50 {
            let splits: Vec<f64> = (0..4).map(|j| (f64::from(k * 4 + j) * 0.9).sin()).collect();
            let halves: Vec<f64> = splits.iter().map(|a| (a + 1.0) / 2.0).collect();
            let (one, other) = (value(&coefficients, &splits), value(&of_halves(&coefficients), &halves));
            assert!((one - other).abs() < 1e-12, "{one} {other}");
        }
    }

    #[test]
    fn a_split_that_is_nought_skips_its_products() {
        let none = || vec![0.0; 4];
        let mut coefficients = vec![0.0; 16];
        coefficients[15] = 1.0;
        let tree = Tree { features: [0, 1], thresholds: none(), steepness: none(), coefficients };
        let text = |dialect| polynomial(&tree, &["a", "b", "c", "d"], 0.5, dialect).1;
        assert_eq!(text(Dialect::Duckdb), "+1e0*(+d*(c*(b*(1*a))))");
        let below = "-2*a+b*(-2+4*a)+c*(-2+4*a+b*(4-8*a))";
        let inside = "-2+4*a+b*(4-8*a)+c*(4-8*a+b*(-8+16*a))";
        assert_eq!(text(Dialect::Sqlite), format!("+1e0*({below}+iif(d,d*({inside}),0))"));
    }
}
