//! What the user should know of how a column was read, in words.

use super::survey::Surveyed;
use crate::table::{DateOrder, ReadAs, Remark, Stray, quoted};

/// Stray texts that are named.
const SHOWN: usize = 3;

/// Sentences about a column that is used, if there is something to say that may not be meant so.
pub(super) fn of_column(column: &Surveyed) -> Vec<String> {
    if column.left_out.is_some() {
        return Vec::new();
    }
    let name = quoted(&column.name);
    let understood = &column.understood;
    let mut notes = Vec::new();
    if column.unnamed {
        notes.push(format!("a column without a name is called {name}"));
    }
    if understood.stray_rows > 0 {
        let what = match (understood.read_as, understood.stray_rows) {
            (ReadAs::Times, 1) => "1 cell that is not a time".to_owned(),
            (ReadAs::Times, rows) => format!("{rows} cells that are not times"),
            (_, 1) => "1 cell that is not a number".to_owned(),
            (_, rows) => format!("{rows} cells that are not numbers"),
        };
        let taken = if understood.stray_rows == 1 { "it is" } else { "they are" };
        notes.push(format!(
            "column {name} has {what}{}; {taken} treated as missing",
            listed(&understood.strays)
        ));
    }
    if let Some((rows, place)) = column.infinite {
        notes.push(match (rows, place) {
            (1, Some(place)) => {
                format!("column {name} has an infinite number, in {place}; it is treated as missing")
            }
            (1, None) => format!("column {name} has an infinite number; it is treated as missing"),
            (_, Some(place)) => format!(
                "column {name} has {rows} infinite numbers, the first in {place}; they are treated as missing"
            ),
            (_, None) => format!("column {name} has {rows} infinite numbers; they are treated as missing"),
        });
    }
    for remark in &understood.remarks {
        notes.extend(match remark {
            Remark::Digits => Some(format!(
                "column {name} has digits that are no quantities, with zeros before them or very many; they are treated as \
                 categories"
            )),
            Remark::Codes => Some(format!(
                "column {name} has numbers beside codes with letters; all are treated as categories"
            )),
            Remark::EitherNumber => Some(format!(
                "column {name} has numbers such as 1,234 that can be read in two ways; here {} thousands",
                if understood.notation.decimal_comma { "a point separates" } else { "a comma separates" }
            )),
            Remark::EitherDate(order) => Some(format!(
                "column {name} has only dates that can be read in two ways; they are read with the {} first",
                if *order == DateOrder::Dmy { "day" } else { "month" }
            )),
            _ => None,
        });
    }
    notes
}

/// The most frequent stray texts and where they are.
fn listed(strays: &[Stray]) -> String {
    let one = |stray: &Stray| match stray.rows {
        1 => format!("{} in {}", quoted(&stray.text), stray.place),
        rows => format!("{} in {rows} rows, first in {}", quoted(&stray.text), stray.place),
    };
    if strays.is_empty() {
        return String::new();
    }
    let mut shown: Vec<String> = strays.iter().take(SHOWN).map(one).collect();
    if strays.len() > SHOWN {
        shown.push("…".into());
    }
    format!(" ({})", shown.join("; "))
}
