//! What is made of the columns of a table, in words.

use std::fmt::Write;

use diad::encode::{Column, Encoder, Kind, LeftOut, Reason, Roles};
use diad::table::{DateOrder, printable, quoted};

use crate::log;

/// The order of day and month.
#[derive(clap::Args)]
pub struct Dates {
    /// Which comes first in dates such as 01/02/2024: the day (dmy) or the month (mdy); each column tells by itself where it can
    #[arg(long, value_name = "ORDER")]
    dates: Option<Order>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Order {
    /// The day first
    Dmy,
    /// The month first
    Mdy,
}

impl Dates {
    /// Roles with this order, if one is given.
    pub fn given(&self, roles: Roles) -> Roles {
        match self.dates {
            Some(Order::Dmy) => roles.dates(DateOrder::Dmy),
            Some(Order::Mdy) => roles.dates(DateOrder::Mdy),
            None => roles,
        }
    }
}

/// What the options say about columns.
pub fn roles(label: Option<&str>, ignore: &[String], categorical: &[String], numeric: &[String]) -> Roles {
    let roles = label.into_iter().fold(Roles::default(), |roles, name| roles.ignore(name));
    let roles = ignore.iter().fold(roles, |roles, name| roles.ignore(name));
    let roles = categorical.iter().fold(roles, |roles, name| roles.categorical(name));
    numeric.iter().fold(roles, |roles, name| roles.numeric(name))
}

/// Says which columns were left out although nobody asked for it.
pub fn warn_of_left_out(columns: &[LeftOut]) {
    // A constant column tells nothing, whatever it is taken as.
    for LeftOut { name, reason } in columns.iter().filter(|column| column.reason != Reason::Constant) {
        let keep = match reason {
            Reason::AllMissing => "",
            _ => "; keep it with --numeric or --categorical",
        };
        log::note(&format!("column {} is left out, because {reason}{keep}", quoted(name)));
    }
}

/// Says which columns of a table are not used though the training did not have them either.
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
        Kind::Time { .. } => {
            format!("{} to {}", printable(&column.words(column.min)), printable(&column.words(column.max)))
        }
        Kind::Number => format!("{} to {}", number(column.min), number(column.max)),
    };
    if let Some(gaps) = column.gaps {
        let _ = write!(text, "; missing in {} rows", gaps.rows);
    }
    text
}

/// So many of something.
pub fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// A number, in powers of ten where it would be long.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if size >= 1e15 || (size < 1e-6 && size > 0.0) { format!("{value:e}") } else { value.to_string() }
}
