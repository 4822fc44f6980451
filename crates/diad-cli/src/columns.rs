//! How columns are interpreted, in words.

use std::fmt::Write;

use diad::encode::{Column, Encoder, Kind, LeftOut, Oddities, Reason};
use diad::table::{printable, quoted};

use crate::log;

/// Notes the columns that were left out automatically.
pub fn warn_of_left_out(columns: &[LeftOut]) {
    // A constant column is useless whatever its type.
    for LeftOut { name, reason, .. } in columns.iter().filter(|column| column.reason != Reason::Constant) {
        let keep = match reason {
            Reason::AllMissing => "",
            _ => "; keep it with --numeric or --categorical",
        };
        log::note(&format!("column {} is left out, because {reason}{keep}", quoted(name)));
    }
}

/// Warns of cells that do not fit their columns.
pub fn warn_of_odd(oddities: &Oddities) {
    for sentence in oddities.sentences() {
        log::warn(&sentence);
    }
}

/// Notes the columns of a table that the model does not know.
pub fn note_unused(encoder: &Encoder, unread: &[String]) {
    const SHOWN: usize = 8;
    let known = |name: &&String| {
        encoder.ignored().contains(name) || encoder.left_out().iter().any(|column| column.name == **name)
    };
    let strange: Vec<&String> = unread.iter().filter(|name| !known(name)).collect();
    let names: Vec<String> = strange.iter().take(SHOWN).map(|name| quoted(name)).collect();
    let more = strange.len().saturating_sub(SHOWN);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    match strange.len() {
        0 => {}
        1 => log::note(&format!("column {} is not in the model and is not used", names[0])),
        _ => {
            let names = names.join(", ");
            log::note(&format!("columns {names}{more} are not in the model and are not used"));
        }
    }
}

/// One line for each column of a model.
pub fn listed(columns: &[Column]) -> String {
    let names: Vec<String> = columns.iter().map(|column| printable(&column.name)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::new();
    for (name, column) in names.iter().zip(columns) {
        let _ = writeln!(text, "  {name:<width$}  {}", described(column));
    }
    text
}

fn described(column: &Column) -> String {
    let mut text = match &column.kind {
        Kind::Category { levels, others, .. } => {
            let name = |position: usize| printable(&column.words(position as f64));
            let shown: Vec<String> = (0..levels.len().min(5)).map(name).collect();
            let more = levels.len().saturating_sub(shown.len());
            let mut text =
                format!("{}: {}", plural(levels.len(), "category", "categories"), shown.join(", "));
            if more > 0 {
                let _ = write!(text, ", and {more} more");
            }
            if *others > 0 {
                let _ = write!(text, "; {others} rows of rarer ones");
            }
            text
        }
        _ if matches!(column.kind, Kind::Time { .. }) || column.is_clock() => {
            format!("{} to {}", printable(&column.words(column.min)), printable(&column.words(column.max)))
        }
        _ => format!("{} to {}", number(column.min), number(column.max)),
    };
    if let Some(gaps) = column.gaps {
        let _ = write!(text, "; missing in {}", plural(gaps.rows as usize, "row", "rows"));
    }
    text
}

/// A count with its noun.
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A number, in scientific notation where it would be long.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 || (size < 1e-6 && size > 0.0) { format!("{value:e}") } else { value.to_string() }
}
