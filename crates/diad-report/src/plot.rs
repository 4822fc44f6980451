//! Terms as plots for papers and slides: SVG text.

use std::fmt::Write as _;

use diad::explain::{Axis, Explainer, Tick, number};
use diad::table::printable;

use crate::encode::html_text;
use crate::ticks::ticks;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 356.0;
/// Room to the left, above, to the right and below.
const LEFT: f64 = 66.0;
const TOP: f64 = 34.0;
const RIGHT: f64 = 18.0;
const BOTTOM: f64 = 68.0;
const BINS: usize = 64;
const CELLS: usize = 32;
/// Longest name on an axis.
const LONGEST_NAME: usize = 48;
/// Longest name in the title of a pair.
const LONGEST_IN_PAIR: usize = 17;

const INK: &str = "#2b2f36";
const FAINT: &str = "#9aa1ab";
const LINE: &str = "#2563a8";
const DENSITY: &str = "#d9483b";
const RAISES: &str = "#c2570c";
const LOWERS: &str = "#2563a8";
const EARLIER: &str = "#6b7280";
const MARK: &str = "#178a3e";

/// The same term in an earlier model.
#[derive(Debug, Clone, Copy)]
pub struct Earlier<'a> {
    /// The earlier model.
    pub explainer: &'a Explainer<'a>,
    /// The term in it.
    pub term: usize,
    /// What its contributions are multiplied by, see [`diad::explain::Comparison`].
    pub scale: f64,
}

/// A plot of a term as SVG: the term over its column's own units with the density of the training rows behind it, or a
/// heat map for two columns. A row, given by its values of all columns, is marked in green. A term of one column is drawn beside
/// its earlier form, in grey.
///
/// # Panics
/// If there is no such term, or the row lacks a value.
pub fn term(explainer: &Explainer, term: usize, marked: Option<&[f64]>, earlier: Option<Earlier>) -> String {
    let columns = explainer.terms()[term].columns().to_vec();
    let axes: Vec<Axis> = columns.iter().map(|&column| explainer.axis(column)).collect();
    let names: Vec<String> = columns
        .iter()
        .map(|&column| shortened(&explainer.detector().encoder().columns()[column].name))
        .collect();
    let places: Option<Vec<f64>> =
        marked.map(|row| columns.iter().zip(&axes).map(|(&c, axis)| axis.position(row[c])).collect());
    let mut drawing = Drawing::new();
    if let [axis] = &axes[..] {
        drawing.line(explainer, term, axis, places.as_ref().map(|places| places[0]), earlier);
        let mut ticks = ticks(explainer, columns[0], axis);
        let turned = Axis::is_crowded(&ticks);
        if axis.has_gaps {
            ticks.push(Tick { position: Axis::MISSING, label: "missing".into() });
        }
        drawing.labels(&names[0], (&ticks, turned), &across(axis), "contribution to the score");
        drawing.title(&names[0]);
    } else {
        let (largest, lowest) = drawing.surface(explainer, term, places.as_deref());
        let [horizontal, vertical] = [0, 1].map(|axis| ticks(explainer, columns[axis], &axes[axis]));
        drawing.labels(&names[0], (&horizontal, Axis::is_crowded(&horizontal)), &x, &names[1]);
        let vertical = vertical.into_iter().map(|tick| (y(tick.position), tick.label));
        drawing.vertical(vertical.collect());
        drawing.title(&format!("{} × {}", cut(&names[0], LONGEST_IN_PAIR), cut(&names[1], LONGEST_IN_PAIR)));
        let range = format!("{} (blue) to {} (orange)", signed(lowest), signed(largest));
        drawing.text([WIDTH - RIGHT, TOP - 12.0], "end", " font-size=\"10\"", &range);
    }
    drawing.finish()
}

/// A contribution with its sign.
fn signed(value: f64) -> String {
    format!("{value:+.3}")
}

fn shortened(name: &str) -> String {
    cut(&printable(name), LONGEST_NAME)
}

fn cut(name: &str, longest: usize) -> String {
    match name.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Across, for a position from 0 to 1. Rows outside the range seen in training stay at the edge.
fn x(position: f64) -> f64 {
    LEFT + position.clamp(-0.01, 1.01) * (WIDTH - LEFT - RIGHT)
}

/// Across on the axis of a line: bars need room at both ends, and a missing number lies beyond the end.
fn across(axis: &Axis) -> impl Fn(f64) -> f64 {
    let room = if axis.has_bars() { 20.0 } else { 0.0 };
    let end = if axis.has_gaps { Axis::MISSING + 0.08 } else { 1.0 };
    let last = if axis.has_gaps { Axis::MISSING } else { 1.01 };
    move |position| LEFT + room + position.clamp(-0.01, last) / end * (WIDTH - LEFT - RIGHT - 2.0 * room)
}

fn y(position: f64) -> f64 {
    HEIGHT - BOTTOM - position.clamp(-0.01, 1.01) * (HEIGHT - TOP - BOTTOM)
}

/// An SVG in the making.
struct Drawing(String);

impl Drawing {
    fn new() -> Self {
        Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" \
             height=\"{HEIGHT}\" font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
             <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
        ))
    }

    /// A string of growing length takes whatever is written to it.
    fn put(&mut self, text: std::fmt::Arguments) {
        let _ = self.0.write_fmt(text);
        self.0.push('\n');
    }

    fn rect(&mut self, [x, y, width, height]: [f64; 4], fill: &str, opacity: f64) {
        self.put(format_args!(
            "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" fill=\"{fill}\" \
             fill-opacity=\"{opacity:.3}\"/>"
        ));
    }

    fn segment(&mut self, from: [f64; 2], to: [f64; 2], stroke: &str, width: f64) {
        self.put(format_args!(
            "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>",
            from[0], from[1], to[0], to[1]
        ));
    }

    /// A bar between a value and zero, both as places.
    fn bar(&mut self, across: f64, width: f64, [value, zero]: [f64; 2]) {
        let fill = if value < zero { RAISES } else { LOWERS };
        let (top, height) = (value.min(zero), (value - zero).abs().max(1.0));
        self.rect([across - width / 2.0, top, width, height], fill, 0.85);
    }

    fn polyline(&mut self, points: &str, stroke: &str, more: &str) {
        self.put(format_args!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" \
             stroke-linejoin=\"round\"{more}/>"
        ));
    }

    fn text(&mut self, [x, y]: [f64; 2], anchor: &str, more: &str, text: &str) {
        let safe = html_text(text);
        self.put(format_args!(
            "<text x=\"{x:.2}\" y=\"{y:.2}\" text-anchor=\"{anchor}\" fill=\"{INK}\"{more}>{safe}</text>"
        ));
    }

    fn line(
        &mut self,
        explainer: &Explainer,
        term: usize,
        axis: &Axis,
        marked: Option<f64>,
        earlier: Option<Earlier>,
    ) {
        let column = explainer.terms()[term].columns()[0];
        let line = explainer.line(term);
        let few = axis.has_bars();
        let density = explainer.density(column, BINS);
        let most = density.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let before: Vec<f64> = earlier.map_or(Vec::new(), |earlier| {
            let values = earlier.explainer.line_at(earlier.term, &line.positions);
            values.into_iter().map(|value| value * earlier.scale).collect()
        });
        let missing = explainer.missing(term);
        let missing_before = earlier.and_then(|e| Some(e.explainer.missing(e.term)? * e.scale));
        let all = line.values.iter().chain(&before).chain(&missing).chain(&missing_before).copied();
        let (low, high) = (all.clone().fold(0.0, f64::min), all.fold(0.0, f64::max));
        let span = if high > low { high - low } else { 1.0 };
        let (low, span) = (low - 0.05 * span, 1.1 * span);
        let up = |value: f64| y((value - low) / span);
        let x = across(axis);
        let width = x(1.0 / BINS as f64) - x(0.0);
        if !few {
            self.put(format_args!("<g shape-rendering=\"crispEdges\">"));
            for (bin, share) in density.iter().enumerate().filter(|(_, share)| **share > 0.0) {
                let across = [x(bin as f64 / BINS as f64), TOP, width, HEIGHT - TOP - BOTTOM];
                self.rect(across, DENSITY, 0.32 * (share / most).sqrt());
            }
            self.put(format_args!("</g>"));
        }
        self.segment([LEFT, up(0.0)], [WIDTH - RIGHT, up(0.0)], FAINT, 0.8);
        if few {
            let width = f64::min(24.0, 0.7 * (x(1.0) - x(0.0)) / line.values.len() as f64);
            for (&position, &value) in line.positions.iter().zip(&line.values) {
                self.bar(x(position), width, [up(value), up(0.0)]);
            }
            for (&position, &value) in line.positions.iter().zip(&before) {
                self.segment([x(position) - 16.0, up(value)], [x(position) + 16.0, up(value)], EARLIER, 2.5);
            }
        } else {
            let points = |values: &[f64]| -> String {
                let point = |(&position, &value)| format!("{:.2},{:.2}", x(position), up(value));
                line.positions.iter().zip(values).map(point).collect::<Vec<_>>().join(" ")
            };
            if !before.is_empty() {
                self.polyline(&points(&before), EARLIER, " stroke-dasharray=\"5 3\"");
            }
            self.polyline(&points(&line.values), LINE, "");
        }
        if let Some(value) = missing {
            self.bar(x(Axis::MISSING), 16.0, [up(value), up(0.0)]);
        }
        if let Some(value) = missing_before {
            let place = x(Axis::MISSING);
            self.segment([place - 12.0, up(value)], [place + 12.0, up(value)], EARLIER, 2.5);
        }
        if let Some(earlier) = earlier {
            let told = format!("grey: before, times {}", number((earlier.scale * 100.0).round() / 100.0));
            self.text([WIDTH - RIGHT, TOP - 12.0], "end", " font-size=\"10\"", &told);
        }
        if let Some(place) = marked {
            self.segment([x(place), TOP], [x(place), HEIGHT - BOTTOM], MARK, 2.0);
        }
        let step = round_step(span / 5.0);
        let first = (low / step).ceil();
        let marks = (0..12).map(|k| (first + f64::from(k)) * step).take_while(|&value| value <= low + span);
        self.vertical(marks.map(|value| (up(value), number(value + 0.0))).collect());
    }

    fn surface(&mut self, explainer: &Explainer, term: usize, marked: Option<&[f64]>) -> (f64, f64) {
        let surface = explainer.surface(term, CELLS);
        let edges = surface.positions.each_ref().map(|positions| edges(positions));
        let across = surface.positions[1].len();
        let largest =
            surface.values.iter().fold(f64::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        self.put(format_args!("<g shape-rendering=\"crispEdges\">"));
        for (cell, &value) in surface.values.iter().enumerate() {
            let [(left, right), (low, high)] = [edges[0][cell / across], edges[1][cell % across]];
            let fill = if value > 0.0 { RAISES } else { LOWERS };
            let place = [x(left), y(high), x(right) - x(left), y(low) - y(high)];
            self.rect(place, fill, value.abs() / largest);
        }
        self.put(format_args!("</g>"));
        // A missing number has no place on these axes.
        if let Some(&[a, b]) = marked.filter(|places| places.iter().all(|&place| place < Axis::MISSING)) {
            self.put(format_args!(
                "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"5\" fill=\"{MARK}\" stroke=\"#ffffff\" stroke-width=\"1.5\"/>",
                x(a),
                y(b)
            ));
        }
        let ends = surface.values.iter().fold((0.0f64, 0.0f64), |(high, low), &v| (high.max(v), low.min(v)));
        (ends.0, ends.1)
    }

    /// The frame, the marks below it, and the names of both axes.
    fn labels(
        &mut self,
        below: &str,
        (ticks, turned): (&[Tick], bool),
        across: &dyn Fn(f64) -> f64,
        beside: &str,
    ) {
        self.put(format_args!(
            "<rect x=\"{LEFT}\" y=\"{TOP}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"{FAINT}\"/>",
            WIDTH - LEFT - RIGHT,
            HEIGHT - TOP - BOTTOM
        ));
        let bottom = HEIGHT - BOTTOM;
        for tick in ticks {
            let across = across(tick.position);
            self.segment([across, bottom], [across, bottom + 4.0], FAINT, 1.0);
            if turned {
                let [x, y] = [across + 4.0, bottom + 12.0];
                let turn = format!(" font-size=\"10\" transform=\"rotate(-35 {x:.2} {y:.2})\"");
                self.text([x, y], "end", &turn, &tick.label);
            } else {
                self.text([across, bottom + 16.0], "middle", "", &tick.label);
            }
        }
        self.text([(LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14.0], "middle", " font-size=\"12\"", below);
        let middle = (TOP + bottom) / 2.0;
        let turned = format!(" font-size=\"12\" transform=\"rotate(-90 15 {middle:.2})\"");
        self.text([15.0, middle], "middle", &turned, beside);
    }

    /// Marks beside the frame.
    fn vertical(&mut self, ticks: Vec<(f64, String)>) {
        for (up, label) in ticks {
            self.segment([LEFT - 4.0, up], [LEFT, up], FAINT, 1.0);
            self.text([LEFT - 7.0, up + 4.0], "end", "", &label);
        }
    }

    fn title(&mut self, text: &str) {
        self.text([LEFT, TOP - 12.0], "start", " font-size=\"13\"", text);
    }

    fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// The ends of cells around their middles.
fn edges(middles: &[f64]) -> Vec<(f64, f64)> {
    let between = |i: usize| (middles[i] + middles[i + 1]) / 2.0;
    (0..middles.len())
        .map(|i| {
            let low = if i == 0 { 0.0 } else { between(i - 1) };
            let high = if i + 1 == middles.len() { 1.0 } else { between(i) };
            (low, high)
        })
        .collect()
}

/// The nearest round number above.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= step).unwrap_or(10.0);
    factor * power
}
