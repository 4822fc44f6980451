//! Finds the table in a file that is one object of JSON: what a web service answers, and what pandas writes.

use std::io::Cursor;
use std::ops::Range;
use std::path::Path;

use memchr::memchr_iter;

use super::columns::{ColumnRows, Columns};
use super::objects::{Listed, Object, Objects, parse};
use super::{FIRST_OBJECTS, LONGEST_NAME, Rows, listed};
use crate::budget::longest_row;
use crate::text::{printable, quoted};
use crate::{Error, Result, Selection};
use scan::{Entry, Kind, Node, Of, Scan};

mod scan;

/// Keys under which the names of columns stand beside a list of rows.
const NAMES: [&str; 7] = ["columns", "names", "headers", "header", "fields", "column_names", "columnNames"];

/// Tables that are looked for, at most.
const MOST: usize = 1000;

/// A table in an object.
struct Found {
    /// The keys that lead to it, cut where they are very long, the bytes of its values, and how many rows it has.
    path: String,
    size: usize,
    rows: usize,
    /// Names that some of its columns have.
    names: Vec<String>,
    shape: Shape,
}

enum Shape {
    /// A list of rows, which starts at that byte.
    List(usize, Listed),
    Columns(Columns),
}

/// The rows of an object that is all of a file, with what is to be said of where they were found.
pub(super) fn rows<'a>(
    text: Vec<u8>,
    feeds: u64,
    path: &Path,
    selection: &Selection,
) -> Result<(Box<dyn Rows + 'a>, Vec<String>)> {
    let mut found = tables(&text);
    let fitting =
        found.iter().position(|found| selection.fits(&found.names)).filter(|_| selection.names_some());
    // A row takes much more memory than its text.
    let is_short = text.len() < longest_row();
    let row = || is_short && parse::<Object>(&text).is_ok_and(|row| selection.fits(&super::flat_names(row)));
    let file = printable(&path.to_string_lossy());
    let is_row = fitting.is_none() && selection.names_some() && row();
    if found.is_empty() || is_row || (fitting.is_none() && !is_main(&found, text.len())) {
        if !is_short {
            return Err(Error::LongRow { line: feeds + 1, column: 1, most: longest_row() >> 20 });
        }
        let mut notes = Vec::new();
        if !found.is_empty() && !is_row {
            notes.push(format!("{file} holds no table that is most of it, so it is read as one row"));
        }
        return Ok((Box::new(Objects::of_one(text, path, feeds)), notes));
    }
    let Found { path: within, shape, .. } = found.swap_remove(fitting.unwrap_or(0));
    let place = if within.is_empty() { file.clone() } else { format!("{} in {file}", quoted(&within)) };
    let (rows, note): (Box<dyn Rows + 'a>, String) = match shape {
        Shape::List(start, kind) => {
            let feeds = feeds + memchr_iter(b'\n', &text[..start]).count() as u64;
            let mut input = Cursor::new(text);
            input.set_position(start as u64 + 1);
            let what = if kind == Listed::Objects { "objects" } else { "lists" };
            (
                Box::new(Objects::of(input, path, Some(kind), feeds)),
                format!("the rows are the {what} of {place}"),
            )
        }
        Shape::Columns(columns) => {
            let what = match columns {
                Columns::Lists(_) => "the columns are the entries",
                Columns::Rows(..) => "the rows are the entries",
            };
            (Box::new(ColumnRows::new(text, columns, feeds, path)), format!("{what} of {place}"))
        }
    };
    let mut notes = vec![note];
    let others: Vec<String> =
        found.into_iter().map(|found| found.path).filter(|path| !path.is_empty()).collect();
    if !others.is_empty() {
        notes.push(format!("other lists of {file} are not read: {}", listed(&others)));
    }
    Ok((rows, notes))
}

/// Whether the first of some tables is what a text is about: half of all that those of as few rows or more hold, and a quarter of the text, or half of it if it has
/// but one row. Settings and descriptions have lists too, but none of them stands out.
fn is_main(found: &[Found], length: usize) -> bool {
    let has_one_row = found.first().is_none_or(|first| first.rows < 2);
    let all: usize = found.iter().filter(|other| has_one_row || other.rows > 1).map(|found| found.size).sum();
    let least = |found: &Found| length / if found.rows > 1 { 4 } else { 2 };
    found.first().is_some_and(|first| first.size * 2 >= all && first.size >= least(first))
}

/// Where a value ends that starts at a place.
pub(super) fn extent(text: &[u8], at: u32) -> Option<Range<usize>> {
    let start = at as usize;
    Some(start..Scan::new(text, start).end()?)
}

/// The tables in an object, the largest first, but those of one row behind all others.
fn tables(text: &[u8]) -> Vec<Found> {
    let Some(root) = Scan::new(text, 0).node(0) else { return Vec::new() };
    let mut search = Search { text, found: Vec::new() };
    // Objects that are a table may have lists in their cells.
    if !search.object(&root, "") {
        search.lists(&root, "");
    }
    if search.found.is_empty() {
        search.objects(&root, "");
    }
    search.found.sort_by_key(|found| (found.rows < 2, std::cmp::Reverse(found.size)));
    search.found
}

struct Search<'a> {
    text: &'a [u8],
    found: Vec<Found>,
}

impl Search<'_> {
    fn key(&self, at: u32) -> String {
        extent(self.text, at).and_then(|part| parse(&self.text[part]).ok()).unwrap_or_default()
    }

    /// The path to an entry, no longer than names may be: many tables may be within one of a long name.
    fn path(&self, path: &str, entry: &Entry) -> String {
        if path.len() >= LONGEST_NAME {
            return path.to_owned();
        }
        let key = self.key(entry.key);
        let mut longer = if path.is_empty() { key } else { format!("{path}.{key}") };
        let end = (0..=longer.len().min(LONGEST_NAME)).rfind(|&at| longer.is_char_boundary(at));
        longer.truncate(end.unwrap_or(0));
        longer.shrink_to_fit();
        longer
    }

    /// Lists of rows, and lists that are columns, in an object and in those within it.
    fn lists(&mut self, node: &Node, path: &str) {
        let beside = self.names_beside(node);
        let mut has_rows = false;
        for entry in &node.entries {
            if self.found.len() >= MOST {
                return;
            }
            match &entry.value {
                Kind::Object(node) => self.lists(node, &self.path(path, entry)),
                Kind::List(list) if matches!(list.of, Of::Objects | Of::Lists) => {
                    let (names, kind) = match list.of {
                        Of::Objects => (self.first_names(entry.at), Listed::Objects),
                        _ => match self.widths(entry.at) {
                            Some((width, header)) => {
                                let names = beside.as_ref().filter(|names| names.len() == width).cloned();
                                (names.clone().or(header).unwrap_or_default(), Listed::Lists(names))
                            }
                            None => continue,
                        },
                    };
                    has_rows = true;
                    let size = (list.end - entry.at) as usize;
                    let (rows, shape) = (list.count as usize, Shape::List(entry.at as usize, kind));
                    self.found.push(Found { path: self.path(path, entry), size, rows, names, shape });
                }
                _ => {}
            }
        }
        if !has_rows && self.found.len() < MOST {
            self.found.extend(self.columns_of_lists(node, path));
        }
    }

    /// The names of the columns that an object tells beside its rows.
    fn names_beside(&self, node: &Node) -> Option<Vec<String>> {
        let named = |entry: &&Entry| {
            let Kind::List(list) = &entry.value else { return false };
            list.of == Of::Plain && NAMES.contains(&self.key(entry.key).as_str())
        };
        let entry = node.entries.iter().find(named)?;
        parse(&self.text[extent(self.text, entry.at)?]).ok()
    }

    /// The names of the first objects of a list.
    fn first_names(&self, at: u32) -> Vec<String> {
        let mut starts = Vec::new();
        Scan::new(self.text, at as usize).values(|_, at| {
            if starts.len() < FIRST_OBJECTS {
                starts.push(at as u32);
            }
        });
        let objects =
            starts.into_iter().filter_map(|at| parse::<Object>(&self.text[extent(self.text, at)?]).ok());
        let mut names = Vec::new();
        let mut known = std::collections::HashSet::new();
        names.extend(objects.flat_map(super::flat_names).filter(|name| known.insert(name.clone())));
        names
    }

    /// How many values the first of some lists has, and its texts, if there are plain values in it, beside which may be lists. Lists of
    /// one value are no rows.
    fn widths(&self, at: u32) -> Option<(usize, Option<Vec<String>>)> {
        let mut first = None;
        Scan::new(self.text, at as usize).values(|_, at| {
            first.get_or_insert(at);
        })?;
        let first = first? as u32;
        let (mut width, mut plain) = (0, false);
        Scan::new(self.text, first as usize).values(|byte, _| {
            width += 1;
            plain |= !matches!(byte, b'[' | b'{');
        })?;
        let texts = || parse(&self.text[extent(self.text, first)?]).ok();
        (plain && width > 1).then(|| (width, texts()))
    }

    /// Lists of the same length, each of them a column.
    fn columns_of_lists(&self, node: &Node, path: &str) -> Option<Found> {
        let list = |entry: &Entry| match entry.value {
            Kind::List(list) => Some((entry.key, entry.at, list)),
            _ => None,
        };
        let lists: Vec<(u32, u32, scan::List)> = node.entries.iter().filter_map(list).collect();
        let count = lists.first()?.2.count;
        let alike = lists.iter().all(|(.., list)| list.count == count && list.of == Of::Plain);
        if !alike || count < 2 || !(lists.len() > 1 || node.entries.len() == 1) {
            return None;
        }
        let size = lists.iter().map(|(_, at, list)| (list.end - at) as usize).sum();
        let column = |&(key, at, list): &(u32, u32, scan::List)| {
            let mut starts = Vec::with_capacity(list.count as usize);
            Scan::new(self.text, at as usize).values(|_, at| starts.push(at as u32))?;
            Some((self.key(key), starts))
        };
        let columns: Vec<(String, Vec<u32>)> = lists.iter().map(column).collect::<Option<_>>()?;
        let names = columns.iter().map(|(name, _)| name.clone()).collect();
        let (rows, shape) = (count as usize, Shape::Columns(Columns::Lists(columns)));
        Some(Found { path: path.to_owned(), size, rows, names, shape })
    }

    /// Objects that are columns or rows, in an object that has nothing else, or in those within it.
    fn objects(&mut self, node: &Node, path: &str) {
        if self.found.len() >= MOST || self.object(node, path) {
            return;
        }
        for entry in &node.entries {
            if let Kind::Object(node) = &entry.value {
                self.objects(node, &self.path(path, entry));
            }
        }
    }

    /// Whether an object has nothing but objects that are columns or rows.
    fn object(&mut self, node: &Node, path: &str) -> bool {
        let inner: Option<Vec<&Node>> = node.entries.iter().map(Entry::object).collect();
        let found = inner.filter(|inner| !inner.is_empty()).and_then(|inner| self.table_of(node, &inner));
        let Some((names, columns)) = found else { return false };
        let parts = node.entries.iter().filter_map(|entry| extent(self.text, entry.at));
        let size = parts.map(|part| part.len()).sum();
        let (rows, shape) = (columns.rows(), Shape::Columns(columns));
        self.found.push(Found { path: path.to_owned(), size, rows, names, shape });
        true
    }

    /// The table that objects under names make: columns if their keys count the rows, as pandas writes them, else rows.
    fn table_of(&self, node: &Node, inner: &[&Node]) -> Option<(Vec<String>, Columns)> {
        // Lists may be cells, but no more than half of them.
        let (mut plain, mut lists) = (0usize, 0usize);
        for entry in inner.iter().flat_map(|node| &node.entries) {
            match entry.value {
                Kind::Plain => plain += 1,
                Kind::List(list) if list.of == Of::Plain => lists += 1,
                _ => return None,
            }
        }
        if lists > plain {
            return None;
        }
        let counts =
            |keys: &[u32]| keys.iter().enumerate().all(|(place, &key)| self.key(key) == place.to_string());
        let keys_of = |node: &Node| node.entries.iter().map(|entry| entry.key).collect::<Vec<u32>>();
        let (outer, first) = (keys_of(node), keys_of(inner[0]));
        let raw = |key: &u32| extent(self.text, *key).map(|part| &self.text[part]);
        let same = |other: &&Node| {
            other.entries.len() == first.len()
                && other.entries.iter().zip(&first).all(|(entry, key)| raw(&entry.key) == raw(key))
        };
        let alike = inner.iter().all(same);
        let counted = first.len() > 1 && counts(&first);
        let names = |keys: &[u32]| keys.iter().map(|&key| self.key(key)).collect::<Vec<String>>();
        if alike && first.len() > 1 && (counted || (first.len() >= outer.len() && !counts(&outer))) {
            let mut columns = Vec::with_capacity(outer.len() + 1);
            if !counted {
                columns.push((String::new(), first));
            }
            let starts = |node: &Node| node.entries.iter().map(|entry| entry.at).collect();
            columns.extend(names(&outer).into_iter().zip(inner.iter().map(|node| starts(node))));
            return Some((names(&outer), Columns::Lists(columns)));
        }
        // Rows need not have all keys, but the same ones for the most part.
        let known: std::collections::HashSet<Option<&[u8]>> = first.iter().map(raw).collect();
        let shares = |other: &&Node| {
            let common = other.entries.iter().filter(|entry| known.contains(&raw(&entry.key))).count();
            common * 2 > other.entries.len().max(first.len())
        };
        if outer.len() < 2 || !inner.iter().all(shares) {
            return None;
        }
        let keys = if counts(&outer) { None } else { Some(outer) };
        Some((names(&first), Columns::Rows(node.entries.iter().map(|entry| entry.at).collect(), keys)))
    }
}
