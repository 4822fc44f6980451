//! The names of the columns of a file: every column has one, and no two have the same.

use std::collections::HashSet;

use crate::cells::Cells;
use crate::text::quoted;

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
}

impl Repeated {
    /// Whether the row whose cells start at that place has the names. One of a single cell may be a value as well.
    pub(crate) fn is(&self, names: &[String], cells: &Cells, start: usize) -> bool {
        let Some(row) = cells.spans.get(start..start + names.len()).filter(|_| names.len() > 1) else {
            return false;
        };
        let mut pairs = row.iter().zip(names);
        // Nearly every row differs in its first cell.
        pairs.all(|(&(start, end), name)| {
            let cell = &cells.bytes[start as usize..end as usize];
            cell == name.as_bytes() || cell.trim_ascii() == name.trim_ascii().as_bytes()
        })
    }

    pub(crate) fn add(&mut self, line: u64) {
        if self.rows == 0 {
            self.first = line;
        }
        self.rows += 1;
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
