//! The names of the columns of a file: every column has one, and no two have the same.

use std::collections::HashSet;

use crate::cells::Cells;
use crate::notation::{is_missing, trimmed};
use crate::text::quoted;
use crate::{clock, moment, number};

/// Names of columns, and what was done to them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) names: Vec<String>,
    /// Columns that had no name.
    pub(crate) unnamed: Vec<usize>,
    /// Columns whose name another one has: the first of that name, and this one.
    repeated: Vec<(usize, usize)>,
}

impl Header {
    /// Names as they are written in a file.
    pub(crate) fn new(written: Vec<String>) -> Self {
        let mut taken: HashSet<String> = written.iter().filter(|name| !name.is_empty()).cloned().collect();
        let mut first = std::collections::HashMap::new();
        let (mut names, mut unnamed, mut repeated) =
            (Vec::with_capacity(written.len()), Vec::new(), Vec::new());
        for (index, name) in written.into_iter().enumerate() {
            if name.is_empty() {
                unnamed.push(index);
                names.push(free(&format!("column {}", index + 1), 2, &mut taken));
            } else if let Some(&earlier) = first.get(&name) {
                repeated.push((earlier, index));
                names.push(free(&format!("{name} (2)"), 3, &mut taken));
            } else {
                first.insert(name.clone(), index);
                names.push(name);
            }
        }
        Self { names, unnamed, repeated }
    }

    /// Names for a file without any.
    pub(crate) fn absent(columns: usize) -> Self {
        Self::new(vec![String::new(); columns])
    }

    /// What was done to names, in words.
    pub(crate) fn notes(&self) -> Vec<String> {
        const SHOWN: usize = 3;
        let note = |&(first, second): &(usize, usize)| {
            let (name, called) = (quoted(&self.names[first]), quoted(&self.names[second]));
            format!(
                "columns {} and {} are both named {name}; the second is called {called} here",
                first + 1,
                second + 1
            )
        };
        let mut notes: Vec<String> = self.repeated.iter().take(SHOWN).map(note).collect();
        if self.repeated.len() > SHOWN {
            notes.push(format!(
                "{} more columns share a name with another one; each is given a number here",
                self.repeated.len() - SHOWN
            ));
        }
        notes
    }

    /// The names given to columns without one.
    pub(crate) fn given(&self) -> Vec<String> {
        self.unnamed.iter().map(|&index| self.names[index].clone()).collect()
    }
}

/// Rows that have the names of the columns once more, as where files were joined.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    rows: u64,
    first: u64,
    /// Whether the first line has names for sure, once there was a row to tell by.
    sure: Option<bool>,
}

impl Repeated {
    /// Leaves out rows that have the names once more. Where no other cells tell that the first line has names, such a row is one like
    /// the others, and so may be a row of a single cell.
    pub(crate) fn leave_out(&mut self, names: &[String], cells: &mut Cells) {
        let (width, rows) = (cells.width, cells.rows());
        if names.len() != width || width < 2 {
            return;
        }
        let Some(first) = (0..rows).find(|&row| is_repeated(names, cells, row)) else { return };
        if self.sure.is_none() {
            self.sure = tell_names(names, cells);
        }
        if self.sure != Some(true) {
            return;
        }
        let mut kept = first;
        for row in first..rows {
            if is_repeated(names, cells, row) {
                if self.rows == 0 {
                    self.first = cells.lines[row];
                }
                self.rows += 1;
                continue;
            }
            cells.lines[kept] = cells.lines[row];
            cells.spans.copy_within(row * width..(row + 1) * width, kept * width);
            kept += 1;
        }
        cells.lines.truncate(kept);
        cells.spans.truncate(kept * width);
    }

    /// What is done about them, in words; a line is called so, or otherwise.
    pub(crate) fn note(&self, line: &str) -> Option<String> {
        match self.rows {
            0 => None,
            1 => {
                Some(format!("{line} {} has the names of the columns once more; it is left out", self.first))
            }
            rows => Some(format!(
                "{rows} rows have the names of the columns once more, the first in {line} {}; they are left out",
                self.first
            )),
        }
    }
}

/// Whether a row has the names.
fn is_repeated(names: &[String], cells: &Cells, row: usize) -> bool {
    let spans = &cells.spans[row * cells.width..(row + 1) * cells.width];
    let mut pairs = spans.iter().zip(names);
    // Nearly every row differs in its first cell.
    pairs.all(|(&(start, end), name)| {
        let cell = &cells.bytes[start as usize..end as usize];
        cell == name.as_bytes() || cell.trim_ascii() == name.trim_ascii().as_bytes()
    })
}

/// Whether a column holds numbers or times, and its name is neither; nothing if there are no rows but those that have the names.
fn tell_names(names: &[String], cells: &Cells) -> Option<bool> {
    /// Rows that are looked at, and how many cells of such a column may be something else.
    const LOOKED_AT: usize = 1000;
    const OTHERS: usize = 20;
    let others = (0..cells.rows()).filter(|&row| !is_repeated(names, cells, row));
    let rows: Vec<usize> = others.take(LOOKED_AT).collect();
    let measures = |column: usize| {
        let texts = rows.iter().filter_map(|&row| std::str::from_utf8(cells.get(row, column)).ok());
        let present: Vec<&str> = texts.filter(|text| !is_missing(text)).collect();
        let values = present.iter().filter(|text| is_value(text)).count();
        values > 0 && (present.len() - values) * OTHERS <= present.len()
    };
    let is_word = |name: &str| !is_missing(name) && !is_value(name);
    let told = names.iter().enumerate().any(|(column, name)| is_word(trimmed(name)) && measures(column));
    (!rows.is_empty()).then_some(told)
}

/// Whether a text is a number or a time.
fn is_value(text: &str) -> bool {
    let number = text.parse::<f64>().is_ok()
        || [false, true].iter().any(|&comma| number::written(text, comma).is_some());
    number || clock::read(text).is_some() || moment::read(text).is_some()
}

/// A name that no column has, with a number behind it if need be.
fn free(name: &str, from: usize, taken: &mut HashSet<String>) -> String {
    let stem = name.strip_suffix(" (2)").unwrap_or(name);
    let mut found = name.to_owned();
    let mut number = from;
    while !taken.insert(found.clone()) {
        found = format!("{stem} ({number})");
        number += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_a_name_of_its_own() {
        let named = |names: &[&str]| Header::new(names.iter().map(|&name| name.to_owned()).collect());
        assert_eq!(named(&["", "a", ""]).names, ["column 1", "a", "column 3"]);
        assert_eq!(named(&["a", "a", "a (2)", "a"]).names, ["a", "a (3)", "a (2)", "a (4)"]);
        assert_eq!(named(&["column 2", ""]).names, ["column 2", "column 2 (2)"]);
        assert_eq!(
            named(&["a", "b", "a"]).notes(),
            ["columns 1 and 3 are both named \"a\"; the second is called \"a (2)\" here"]
        );
        assert_eq!(Header::absent(2).given(), ["column 1", "column 2"]);
    }
}
