//! Rows of a text of JSON that has its columns one after the other, or its rows under their names.

use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use serde_json::Value;

use super::Rows;
use super::document::extent;
use super::objects::{Key, Object, parse};
use crate::{Error, Result};

/// Where the values of a table start in a text.
pub(super) enum Columns {
    /// The values of each column.
    Lists(Vec<(String, Vec<u32>)>),
    /// Rows that are objects, and their names unless those only count.
    Rows(Vec<u32>, Option<Vec<u32>>),
}

impl Columns {
    pub(super) fn rows(&self) -> usize {
        match self {
            Self::Lists(columns) => columns.first().map_or(0, |(_, values)| values.len()),
            Self::Rows(rows, _) => rows.len(),
        }
    }
}

pub(super) struct ColumnRows {
    text: Vec<u8>,
    columns: Columns,
    path: PathBuf,
    next: usize,
    /// The line feeds before a place of the text, so that each is counted once.
    counted: (usize, u64),
    length: usize,
}

impl ColumnRows {
    pub(super) fn new(text: Vec<u8>, columns: Columns, feeds: u64, path: &Path) -> Self {
        Self { text, columns, path: path.to_owned(), next: 0, counted: (0, feeds), length: 0 }
    }

    fn count_feeds(&mut self, to: usize) {
        let (from, feeds) = self.counted;
        if to > from {
            self.counted = (to, feeds + memchr_iter(b'\n', &self.text[from..to]).count() as u64);
        }
    }

    fn bad(&self, reason: &'static str) -> Error {
        Error::JsonLine { line: self.line(), path: self.path.clone(), reason }
    }

    fn value(&self, at: u32) -> Option<Value> {
        parse(&self.text[extent(&self.text, at)?]).ok()
    }
}

impl Rows for ColumnRows {
    fn next(&mut self) -> Result<Option<Object>> {
        let row = self.next;
        if row >= self.columns.rows() {
            return Ok(None);
        }
        self.next += 1;
        let start = match &self.columns {
            Columns::Lists(columns) => columns[0].1[row],
            Columns::Rows(rows, _) => rows[row],
        };
        self.count_feeds(start as usize);
        let read = match &self.columns {
            Columns::Lists(columns) => columns
                .iter()
                .enumerate()
                .map(|(place, (_, values))| Some((Key::Place(place), self.value(values[row])?)))
                .collect::<Option<Vec<_>>>(),
            Columns::Rows(rows, names) => {
                let object =
                    extent(&self.text, rows[row]).and_then(|part| parse::<Object>(&self.text[part]).ok());
                let name = match names {
                    Some(names) => self.value(names[row]).map(|name| Some((Key::Text(String::new()), name))),
                    None => Some(None),
                };
                object.zip(name).map(|(object, name)| name.into_iter().chain(object.0).collect())
            }
        };
        let Some(entries) = read else { return Err(self.bad("it is not JSON")) };
        let length = |key: &Key| if let Key::Text(name) = key { name.len() } else { 0 };
        self.length = entries.iter().map(|(key, _)| length(key) + 8).sum();
        Ok(Some(Object(entries)))
    }

    fn name(&self, place: usize) -> &str {
        match &self.columns {
            Columns::Lists(columns) => &columns[place].0,
            Columns::Rows(..) => "",
        }
    }

    fn line(&self) -> u64 {
        self.counted.1 + 1
    }

    fn length(&self) -> usize {
        self.length
    }

    fn notes(&self) -> Vec<String> {
        Vec::new()
    }
}
