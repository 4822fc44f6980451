//! Reads JSON: one object on each line (JSON Lines), a list of objects or of lists, or one object that holds a table. The columns are
//! the keys of the first objects.

use std::collections::{HashMap, VecDeque};
use std::io::BufRead;
use std::path::Path;

use serde_json::Value;

use crate::budget::read_ahead;
use crate::cells::Cells;
use crate::csv::MOST_COLUMNS;
use crate::header::Header;
use crate::select::Chosen;
use crate::text::quoted;
use crate::{About, Error, Reader, Result, Selection, Table, batch_rows};
use objects::{Key, Object, Objects};

mod columns;
mod document;
mod objects;

/// Objects in which the columns are sought.
const FIRST_OBJECTS: usize = 1000;
/// Columns of lists, and keys with objects, that are remembered.
const MOST_LISTS: usize = 100;
/// Columns that a note names.
const SHOWN: usize = 3;
/// Most bytes of the name of a column that is made of the keys of objects within objects.
const LONGEST_NAME: usize = 256;

/// The rows of a file, one at a time.
trait Rows {
    fn next(&mut self) -> Result<Option<Object>>;
    /// The name at a place among those that all rows have.
    fn name(&self, place: usize) -> &str;
    /// The line of the last row, counted from 1, and about how many bytes it has.
    fn line(&self) -> u64;
    fn length(&self) -> usize;
    /// What was odd, a sentence each.
    fn notes(&self) -> Vec<String>;
}

pub(crate) struct JsonReader<'a> {
    rows: Box<dyn Rows + 'a>,
    /// Objects read ahead for their keys, with their lines.
    ahead: VecDeque<(u64, Object)>,
    positions: HashMap<String, usize>,
    /// The columns of names that all rows have, by their places.
    places: Vec<Option<usize>>,
    cells: Cells,
    chosen: Chosen,
    about: About,
    /// Whether columns are wanted that are not named.
    is_open: bool,
    /// Keys whose values are objects.
    nested: Vec<String>,
    /// Columns of which some values are lists, by their positions.
    lists: Vec<usize>,
    /// A key that came too late to be a column, its line, and rows with such keys.
    late: Option<(String, u64)>,
    late_rows: u64,
}

impl<'a> JsonReader<'a> {
    pub(crate) fn new(input: impl BufRead + 'a, path: &Path, selection: &Selection) -> Result<Self> {
        let mut objects = Objects::new(input, path)?;
        let (rows, notes): (Box<dyn Rows + 'a>, _) = match objects.only()? {
            Some(text) => document::rows(text, objects.line() - 1, path, selection)?,
            None => (Box::new(objects), Vec::new()),
        };
        let mut reader = Self {
            rows,
            ahead: VecDeque::new(),
            positions: HashMap::new(),
            places: Vec::new(),
            cells: Cells::default(),
            chosen: Chosen::default(),
            about: About { notes, ..About::default() },
            is_open: selection.is_open(),
            nested: Vec::new(),
            lists: Vec::new(),
            late: None,
            late_rows: 0,
        };
        let mut names: Vec<String> = Vec::new();
        let mut ahead = 0;
        while reader.ahead.len() < FIRST_OBJECTS
            && ahead < read_ahead()
            && let Some((line, object)) = reader.next()?
        {
            ahead += reader.rows.length();
            for (key, _) in &object.0 {
                if reader.position(key).is_none() {
                    reader.add_column(key, &mut names);
                }
            }
            if names.len() > MOST_COLUMNS {
                return Err(Error::TooManyColumns { found: names.len(), most: MOST_COLUMNS });
            }
            reader.ahead.push_back((line, object));
        }
        reader.cells.width = names.len();
        let header = Header::new(names);
        reader.about.unnamed = header.given();
        reader.chosen = selection.choose(&header)?;
        Ok(reader)
    }

    /// The next row and its line. What is within objects of the row has names such as `a.b`.
    fn next(&mut self) -> Result<Option<(u64, Object)>> {
        let Some(object) = self.rows.next()? else { return Ok(None) };
        let (rows, nested) = (&self.rows, &mut self.nested);
        Ok(Some((rows.line(), flattened(object, |place| rows.name(place), nested))))
    }

    /// The column of a key.
    fn position(&self, key: &Key) -> Option<usize> {
        match key {
            Key::Text(name) => self.positions.get(name).copied(),
            &Key::Place(place) => self.places.get(place).copied().flatten(),
        }
    }

    /// Gives a key a column, which is that of another key of the same name.
    fn add_column(&mut self, key: &Key, names: &mut Vec<String>) {
        let name = match key {
            Key::Text(name) => name,
            &Key::Place(place) => self.rows.name(place),
        };
        let index = self.positions.get(name).copied().unwrap_or(names.len());
        if index == names.len() {
            names.push(name.to_owned());
            self.positions.insert(name.to_owned(), index);
        }
        if let &Key::Place(place) = key {
            self.places.resize(self.places.len().max(place + 1), None);
            self.places[place] = Some(index);
        }
    }

    fn add(&mut self, line: u64, object: Object) {
        let mut row = vec![Value::Null; self.cells.width];
        let mut late = None;
        for (key, value) in object.0 {
            match self.position(&key) {
                Some(index) => row[index] = value,
                None => late = late.or(Some(key)),
            }
        }
        if let Some(key) = late {
            self.late_rows += 1;
            self.late.get_or_insert_with(|| match key {
                Key::Text(name) => (name, line),
                Key::Place(place) => (self.rows.name(place).to_owned(), line),
            });
        }
        for (index, value) in row.into_iter().enumerate() {
            let start = self.cells.bytes.len();
            match value {
                Value::Null => {}
                Value::String(text) => self.cells.bytes.extend(text.as_bytes()),
                other => {
                    if matches!(other, Value::Array(_))
                        && self.lists.len() < MOST_LISTS
                        && !self.lists.contains(&index)
                    {
                        self.lists.push(index);
                    }
                    self.cells.bytes.extend(other.to_string().as_bytes());
                }
            }
            self.cells.end_cell(start);
        }
        self.cells.lines.push(line);
    }

    /// What becomes of objects, lists and late keys, in words.
    fn notes(&self) -> Vec<String> {
        let mut notes = self.about.notes.clone();
        notes.extend(self.rows.notes());
        if !self.nested.is_empty() {
            let nested = listed(&self.nested);
            notes.push(format!("{nested} {} objects; each of their keys is a column, such as \"a.b\" for the key \"b\" of \"a\"",
                if self.nested.len() == 1 { "holds" } else { "hold" }));
        }
        let picks = self.chosen.picks.iter().zip(&self.chosen.names);
        let lists: Vec<String> = picks
            .filter(|(pick, _)| self.lists.contains(&pick.index))
            .map(|(_, name)| name.clone())
            .collect();
        match lists.len() {
            0 => {}
            1 => notes.push(format!("column {} holds lists, which are read as text", listed(&lists))),
            _ => notes.push(format!("columns {} hold lists, which are read as text", listed(&lists))),
        }
        if let (true, Some((key, line))) = (self.is_open, &self.late) {
            let rows = match self.late_rows {
                1 => "1 row has a key".to_owned(),
                rows => format!("{rows} rows have keys"),
            };
            notes.push(format!(
                "{rows} that none of the first {FIRST_OBJECTS} has, such as {} in line {line}; to include it, add it to the first row",
                quoted(key)
            ));
        }
        notes
    }
}

/// Some names, as a note gives them.
fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| quoted(name)).collect();
    shown.join(", ") + if names.len() > SHOWN { " and others" } else { "" }
}

/// The entries of objects within an object under names such as `a.b`. The keys of such objects are added to `nested`.
fn flattened<'a>(object: Object, name: impl Fn(usize) -> &'a str, nested: &mut Vec<String>) -> Object {
    if !object.0.iter().any(|(_, value)| value.is_object()) {
        return object;
    }
    let mut flat = Vec::with_capacity(object.0.len());
    for (key, value) in object.0 {
        let key = match key {
            Key::Place(place) if value.is_object() && name(place).len() <= LONGEST_NAME => {
                Key::Text(name(place).to_owned())
            }
            key => key,
        };
        flatten(key, value, &mut flat, nested);
    }
    Object(flat)
}

fn flatten(key: Key, value: Value, flat: &mut Vec<(Key, Value)>, nested: &mut Vec<String>) {
    let (name, entries) = match (key, value) {
        (Key::Text(name), Value::Object(entries)) if name.len() <= LONGEST_NAME => (name, entries),
        // Where names would become very long, an object is a text.
        (key, value @ Value::Object(_)) => return flat.push((key, Value::String(value.to_string()))),
        entry => return flat.push(entry),
    };
    if nested.len() < MOST_LISTS && !nested.contains(&name) {
        nested.push(name.clone());
    }
    for (key, value) in entries {
        flatten(Key::Text(format!("{name}.{key}")), value, flat, nested);
    }
}

/// The names of the columns that an object has.
fn flat_names(object: Object) -> Vec<String> {
    let flat = flattened(object, |_| "", &mut Vec::new());
    let name = |key| match key {
        Key::Text(name) => Some(name),
        Key::Place(_) => None,
    };
    flat.0.into_iter().filter_map(|(key, _)| name(key)).collect()
}

impl Reader for JsonReader<'_> {
    crate::source::names_in!(self.chosen);

    fn about(&self) -> About {
        About { notes: self.notes(), ..self.about.clone() }
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.cells.width);
        self.cells.clear();
        while !self.cells.is_full(most) {
            let next = match self.ahead.pop_front() {
                Some(next) => Some(next),
                None => self.next()?,
            };
            let Some((line, object)) = next else { break };
            self.add(line, object);
        }
        if self.cells.rows() == 0 {
            return Ok(None);
        }
        self.cells.batch(&self.chosen).map(Some)
    }
}

#[cfg(test)]
mod tests;
