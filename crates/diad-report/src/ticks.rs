//! Marks on axes: numbers with their units, parts of times by their names.

use diad::encode::Kind;
use diad::explain::{Axis, Explainer, Tick};
use diad::table::TimePart;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The marks of a column's axis.
pub fn ticks(explainer: &Explainer, column: usize, axis: &Axis) -> Vec<Tick> {
    let part = match explainer.detector().encoder().columns()[column].kind {
        Kind::Time { part, .. } => part,
        Kind::Number => {
            let label = |label: String| label.parse().map_or(label, |value| explainer.words(column, value));
            return axis.ticks().into_iter().map(|tick| Tick { label: label(tick.label), ..tick }).collect();
        }
        _ => return axis.ticks(),
    };
    let name = |tick: Tick| {
        let value = axis.value(tick.position);
        let label = match part {
            TimePart::Month => nth(&MONTHS, value),
            TimePart::Weekday => nth(&WEEKDAYS, value),
            TimePart::Hour => format!("{value:02.0}:00"),
            TimePart::Date => tick.label,
        };
        Tick { label, ..tick }
    };
    axis.ticks().into_iter().map(name).collect()
}

/// The name of a place, counted from 1.
fn nth(names: &[&str], value: f64) -> String {
    names[(value.round().clamp(1.0, names.len() as f64) - 1.0) as usize].to_owned()
}
