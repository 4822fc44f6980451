//! Where the table of a sheet is, and whether there is one.

use calamine::{Data, Range};

use crate::totals::{self, Sum};

/// Rows in which the names are sought, and rows below them that are looked at.
const FIRST: usize = 50;
const LOOKED_AT: usize = 200;
/// Rows of a table that has so few columns that it could be a list of remarks, at least.
const LONG: usize = 20;

/// What a sheet seems to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    /// Titles and remarks, or nothing.
    NoTable,
    /// What may be a small table, or remarks in two columns.
    Doubtful,
    Table,
}

/// Where the names of a table are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) top: usize,
    /// The first column that is not empty, and the one after the last.
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) likeness: Likeness,
}

/// Where the table of a sheet is; nothing if the sheet is empty.
pub(super) fn layout(range: &Range<Data>) -> Option<Layout> {
    let height = range.height();
    // A title above the table has fewer cells than its names.
    let most = (0..height.min(FIRST)).map(|row| filled(range, row)).max()?;
    let top = (0..height.min(FIRST)).find(|&row| filled(range, row) * 2 > most)?;
    let (mut left, mut right) = (range.width(), 0);
    for row in (top..height).map(|row| cells(range, row)) {
        let Some(first) = row.iter().position(|cell| !is_empty(cell)) else { continue };
        left = left.min(first);
        right = right.max(row.iter().rposition(|cell| !is_empty(cell)).map_or(0, |last| last + 1));
        if (left, right) == (0, range.width()) {
            break;
        }
    }
    (left < right).then(|| Layout { top, left, right, likeness: likeness(range, top) })
}

fn likeness(range: &Range<Data>, top: usize) -> Likeness {
    let names = filled(range, top);
    let below: Vec<usize> =
        (top + 1..range.height()).take(LOOKED_AT).filter(|&row| filled(range, row) > 0).collect();
    let alike = below.iter().filter(|&&row| filled(range, row) * 2 >= names).count();
    let is_number = |cell: &Data| matches!(cell, Data::Float(_) | Data::Int(_) | Data::DateTime(_));
    let numbers = below.iter().filter(|&&row| cells(range, row).iter().any(is_number)).count();
    let (rows, mostly_numbers) = (below.len(), numbers * 4 >= below.len() * 3);
    match names {
        _ if rows == 0 || alike * 2 <= rows => Likeness::NoTable,
        1 if !mostly_numbers => Likeness::NoTable,
        1 | 2 if rows < LONG && !mostly_numbers => Likeness::Doubtful,
        _ if rows == 1 => Likeness::Doubtful,
        _ => Likeness::Table,
    }
}

/// Cells of a row that are not empty.
fn filled(range: &Range<Data>, row: usize) -> usize {
    cells(range, row).iter().filter(|cell| !is_empty(cell)).count()
}

/// The cells of a row.
pub(super) fn cells(range: &Range<Data>, row: usize) -> &[Data] {
    if row < range.height() { &range[row] } else { &[] }
}

/// The last row of a table if it has the sums of the others.
pub(super) fn total_row(range: &Range<Data>, layout: &Layout) -> Option<usize> {
    let last = (layout.top + 1..range.height()).rfind(|&row| filled(range, row) > 0)?;
    let row = &cells(range, last)[layout.left..layout.right];
    let first = row.iter().find(|cell| !is_empty(cell))?;
    if !matches!(first, Data::String(text) if totals::is_total(text)) {
        return None;
    }
    let number = |cell: &Data| match cell {
        Data::Float(number) => Some(*number),
        Data::Int(number) => Some(*number as f64),
        _ => None,
    };
    // A date, and what has digits and is no number, is no sum.
    let other = |cell: &Data| match cell {
        Data::String(text) => text.bytes().any(|byte| byte.is_ascii_digit()),
        _ => !is_empty(cell),
    };
    let said = |cell: &Data| number(cell).or_else(|| other(cell).then_some(f64::NAN));
    let mut sums = vec![Sum::default(); row.len()];
    for row in (layout.top + 1..last).map(|row| cells(range, row)) {
        sums.iter_mut().zip(&row[layout.left..layout.right]).for_each(|(sum, cell)| sum.add(number(cell)));
    }
    let said: Vec<Option<f64>> = row.iter().map(said).collect();
    totals::are_sums(&sums, &said).then_some(last)
}

fn is_empty(cell: &Data) -> bool {
    match cell {
        Data::Empty | Data::Error(_) => true,
        Data::String(text) => text.trim().is_empty(),
        _ => false,
    }
}
