//! Where features are among nodes: the cell between two of them, and the share of the second.

use super::dialect::Dialect;
use super::sheet::{Col, Sheet, exactly, minus, number};
use crate::export::plan::{Curve, Side};

/// How far places along sides may be off.
const PLACE: f64 = 2e-7;
/// Most digits that a node has; more than that no feature has.
const MOST_DIGITS: usize = 15;
/// Most bins in which the cell is looked for.
const MOST_BINS: usize = 1024;
/// How much further off a function may be at single nodes.
const FEW_NODES: f64 = 4.0;
/// What a comparison weighs against characters, in time and in length.
const COMPARISON: usize = 50;

/// Where a feature is: the cell, if there are several, the share of the next node, and that of the one before.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub cell: Option<Col>,
    pub share: Col,
    pub rest: Col,
}

impl Place {
    fn of(cell: Option<Col>, share: Col, sheet: &mut Sheet) -> Self {
        let rest = format!("1-{}", sheet.name(share));
        Self { cell, share, rest: sheet.add('l', 1, &[share], rest) }
    }
}

/// Nodes along a feature.
#[derive(Debug)]
struct Nodes<'a> {
    feature: usize,
    at: &'a [f64],
    /// The place of each, if they are not 0, 1, 2 ...
    places: Option<&'a [u32]>,
    /// How far any of them may be off.
    slack: f64,
}

impl Nodes<'_> {
    fn is(&self, feature: usize, nodes: &[f64], places: Option<&[u32]>) -> bool {
        self.feature == feature && self.at == nodes && self.places == places
    }
}

/// The places that functions look at.
#[derive(Debug, Default)]
pub struct Places<'a> {
    nodes: Vec<Nodes<'a>>,
    found: Vec<Place>,
}

impl<'a> Places<'a> {
    /// Takes up the nodes of a curve that may be off by `error`.
    pub fn curve(&mut self, curve: &'a Curve, error: f64) {
        self.take_up(curve.feature, (&curve.nodes, None), slack(&curve.nodes, &curve.values, error));
    }

    /// Takes up a side.
    pub fn side(&mut self, side: &'a Side) {
        let places: Vec<f64> = side.places.iter().map(|&place| f64::from(place)).collect();
        self.take_up(side.feature, (&side.nodes, distinct(side)), slack(&side.nodes, &places, PLACE));
    }

    fn take_up(&mut self, feature: usize, (at, places): (&'a [f64], Option<&'a [u32]>), slack: f64) {
        match self.nodes.iter_mut().find(|known| known.is(feature, at, places)) {
            Some(known) => known.slack = known.slack.min(slack),
            None => self.nodes.push(Nodes { feature, at, places, slack }),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Finds the places of features, which are also given cut to [-1, 1].
    pub fn find(&mut self, (x, cut): (&[Col], &[Col]), dialect: Dialect, sheet: &mut Sheet) {
        let mut find = |nodes: &Nodes| find(nodes, (x[nodes.feature], cut[nodes.feature]), dialect, sheet);
        self.found = self.nodes.iter().map(&mut find).collect();
    }

    fn of(&self, feature: usize, nodes: &[f64], places: Option<&[u32]>) -> Place {
        let index = self.nodes.iter().position(|known| known.is(feature, nodes, places));
        self.found[index.expect("it was taken up")]
    }

    /// The place among the nodes of a curve.
    pub fn of_curve(&self, curve: &Curve) -> Place {
        self.of(curve.feature, &curve.nodes, None)
    }

    /// The place along a side.
    pub fn of_side(&self, side: &Side) -> Place {
        self.of(side.feature, &side.nodes, distinct(side))
    }
}

/// The places of a side, if some nodes share one.
pub fn distinct(side: &Side) -> Option<&[u32]> {
    (side.places() < side.nodes.len()).then_some(&side.places[..])
}

/// How far every node may be off for a function that is linear between them to be off by `error`: at the nodes as a whole, and at
/// none of them by more than [`FEW_NODES`] times that.
fn slack(nodes: &[f64], values: &[f64], error: f64) -> f64 {
    let slopes: Vec<f64> =
        nodes.windows(2).zip(values.windows(2)).map(|(n, v)| (v[1] - v[0]) / (n[1] - n[0])).collect();
    // A node that is moved keeps its value, so that the function is off by what it rises on the way.
    let usual = (slopes.iter().map(|slope| slope * slope).sum::<f64>() / slopes.len() as f64).sqrt();
    let most = slopes.iter().fold(0.0, |most: f64, slope| most.max(slope.abs()));
    (error / usual).min(FEW_NODES * error / most)
}

/// Nodes as whole numbers from 0 on, of so many digits, and how many of them a unit has. The largest number of these digits is
/// above all of them.
fn whole(nodes: &Nodes) -> (Vec<u64>, usize, f64) {
    let (low, high) = (nodes.at[0], nodes.at[nodes.at.len() - 1]);
    let made = |width: usize| {
        let scale = number((10f64.powi(width as i32) - 2.0) / (high - low), 17);
        let scale = scale.parse::<f64>().unwrap_or_default();
        let numbers: Vec<u64> = nodes.at.iter().map(|node| ((node - low) * scale).round() as u64).collect();
        (numbers, width, scale)
    };
    let fits = |(numbers, _, scale): &(Vec<u64>, usize, f64)| {
        0.5 / scale <= nodes.slack && numbers.windows(2).all(|two| two[0] < two[1])
    };
    (1..MOST_DIGITS).map(made).find(fits).unwrap_or_else(|| made(MOST_DIGITS))
}

/// Equal bins, for each the last node at or before its start, and the most nodes that begin in one of them or just after.
fn bins(numbers: &[u64], count: usize) -> (Vec<u64>, usize) {
    let width = numbers[numbers.len() - 1] as f64 / count as f64;
    let until = |edge: f64| numbers.partition_point(|&node| node as f64 <= edge);
    let starts = (0..=count).map(|bin| until(bin as f64 * width) - 1);
    let starts: Vec<u64> = starts.map(|start| start as u64).collect();
    let ends = (0..=count).map(|bin| until((bin + 1) as f64 * width + 1.0) - 1);
    let steps = starts.iter().zip(ends).map(|(start, end)| end - *start as usize).max().unwrap_or(0);
    (starts, steps)
}

/// Finds the place of a feature: its bin, the cell within that, the share.
fn find(nodes: &Nodes, (x, cut): (Col, Col), dialect: Dialect, sheet: &mut Sheet) -> Place {
    let (numbers, width, scale) = whole(nodes);
    let last = nodes.at.len() - 1;
    let ends = [nodes.at[0], nodes.at[last]];
    let (x, from_low) = match ends {
        [-1.0, 1.0] if cut != x => (cut, format!("({}+1)", sheet.name(cut))),
        [low, _] => (x, format!("({}{})", dialect.within(sheet.name(x), ends), minus(&exactly(low)))),
    };
    if last == 1 {
        let text = format!("{from_low}/{}", exactly(nodes.at[1] - nodes.at[0]));
        let share = sheet.add('f', 1, &[x], text);
        return Place::of(None, share, sheet);
    }
    let scaled = sheet.add('u', 1, &[x], format!("{from_low}*{}", number(scale, 17)));
    let cost = |count: usize| {
        let (starts, steps) = bins(&numbers, count);
        let digits = if count == 1 { 0 } else { starts.len() * starts[starts.len() - 1].to_string().len() };
        digits + steps * COMPARISON
    };
    let counts = (0..).map(|power| 1 << power).take_while(|count| *count <= MOST_BINS);
    let count = counts.min_by_key(|&count| cost(count)).unwrap_or(1);
    let (starts, steps) = bins(&numbers, count);
    let widest = starts[starts.len() - 1].to_string().len();
    // Nodes with their places. Behind the last are some that no feature reaches.
    let widths = match nodes.places {
        Some(places) => vec![width, places[last].to_string().len()],
        None => vec![width],
    };
    let mut rows: Vec<u64> = Vec::new();
    for index in 0..=last + steps + 1 {
        rows.push(numbers.get(index).copied().unwrap_or(10u64.pow(width as u32) - 1));
        rows.extend(nodes.places.map(|places| u64::from(places[index.min(last)])));
    }
    let u = sheet.name(scaled).to_owned();
    let start = (count > 1).then(|| {
        let bin = dialect.whole(&format!("floor({u}*{})", number(count as f64 / numbers[last] as f64, 12)));
        let text = dialect.single_row(&starts, widest, &bin);
        sheet.add('b', 1, &[scaled], text)
    });
    let from = start.map_or_else(|| "0".to_owned(), |start| sheet.name(start).to_owned());
    let uses: Vec<Col> = start.into_iter().collect();
    let around = sheet.add('p', 1, &uses, dialect.rows(&rows, &widths, &from, steps + 2));
    let name = sheet.name(around).to_owned();
    let cases: String = (0..steps)
        .map(|step| format!("WHEN {u}<{} THEN {step} ", dialect.compared(&name, &widths, (step + 1, 0))))
        .collect();
    let text = if steps == 0 { "0".to_owned() } else { format!("CASE {cases}ELSE {steps} END") };
    let step = sheet.add('j', 1, &[scaled, around], text);
    let text = dialect.rows_again(&name, &widths, sheet.name(step), 2);
    let two = sheet.add('q', 1, &[around, step], text);
    let field = |row: usize, field: usize| dialect.field(sheet.name(two), &widths, (row, field));
    let (before, after) = (field(0, 0), field(1, 0));
    let share = format!("({u}-{before})/({after}-{before})");
    let (cell, share) = match nodes.places {
        None => (format!("{from}+{}", sheet.name(step)), share),
        Some(_) => (
            dialect.whole_field(sheet.name(two), &widths, (0, 1)),
            format!("({}-{})*{share}", field(1, 1), field(0, 1)),
        ),
    };
    let uses = if nodes.places.is_some() { vec![two] } else { uses.into_iter().chain([step]).collect() };
    let cell = sheet.add('i', 1, &uses, cell);
    let share = sheet.add('f', 1, &[scaled, two], share);
    Place::of(Some(cell), share, sheet)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a statement does, for values between nodes, on them and beside them.
    #[test]
    fn bins_lead_to_the_cell() {
        let at: Vec<f64> = (0..200).map(|k| (f64::from(k) / 199.0).powi(5) * 2.0 - 1.0).collect();
        let nodes = Nodes { feature: 0, at: &at, places: None, slack: 1e-14 };
        let (numbers, width, scale) = whole(&nodes);
        assert!(width <= MOST_DIGITS && numbers[199] < 10u64.pow(width as u32) - 1);
        for count in [1, 8, 128, 1024] {
            let (starts, steps) = bins(&numbers, count);
            let beside = at.iter().flat_map(|&x| [x, x.next_up(), x.next_down()]);
            for x in beside.chain((0..1000).map(|k| f64::from(k) / 500.0 - 1.0)) {
                let u = (x.clamp(-1.0, 1.0) + 1.0) * scale;
                let start = starts[(u * (count as f64 / numbers[199] as f64)).floor() as usize] as usize;
                let next = |step: usize| numbers.get(start + step).copied().unwrap_or(u64::MAX) as f64;
                let cell = start + (0..steps).find(|step| u < next(step + 1)).unwrap_or(steps);
                let wanted = numbers.partition_point(|&node| node as f64 <= u) - 1;
                // On the edge of a bin it may be the cell beside, to which the line goes on.
                let edge = (u - numbers[wanted] as f64).abs() < 1.0;
                assert!(
                    cell == wanted || edge && cell.abs_diff(wanted) == 1,
                    "{count}: {x}, {cell}, {wanted}"
                );
            }
        }
    }

    #[test]
    fn steep_functions_have_nodes_of_many_digits() {
        let width = |values: &[f64]| {
            let at = [-1.0, 0.25, 0.250_001, 1.0];
            whole(&Nodes { feature: 0, at: &at, places: None, slack: slack(&at, values, 1e-7) }).1
        };
        assert!(width(&[0.0, 0.0, 1.0, 1.0]) > 12);
        assert!(width(&[0.0, 0.0, 1e-7, 1e-7]) < 9);
    }

    #[test]
    fn a_straight_line_through_many_nodes_stays_one() {
        let at: Vec<f64> = (0..6).map(|k| f64::from(k) / 2.5 - 1.0).collect();
        let nodes = Nodes { feature: 0, at: &at, places: None, slack: slack(&at, &at, 1e-6) };
        let (numbers, _, scale) = whole(&nodes);
        for (node, number) in at.iter().zip(numbers) {
            assert!((number as f64 / scale - 1.0 - node).abs() <= 1e-6, "{node}");
        }
    }
}
