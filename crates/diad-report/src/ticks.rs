//! Marks on axes: parts of times by their names.

use diad::encode::Kind;
use diad::explain::{Axis, Explainer, Tick};
use diad::table::TimePart;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// The marks of a column's axis.
pub fn ticks(explainer: &Explainer, column: usize, axis: &Axis) -> Vec<Tick> {
    let Kind::Time { part, .. } = explainer.detector().encoder().columns()[column].kind else {
        return axis.ticks();
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
