//! Reads JSON: one object on each line (JSON Lines), or a list of objects. The columns are the keys of the first objects.

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
use objects::{Object, Objects};

mod objects;

/// Objects in which the columns are sought.
const FIRST_OBJECTS: usize = 1000;
/// Columns of lists that are remembered.
const MOST_LISTS: usize = 100;
/// Columns that a note names.
const SHOWN: usize = 3;

pub(crate) struct JsonReader<R> {
    objects: Objects<R>,
    /// Objects read ahead for their keys, with their lines.
    ahead: VecDeque<(u64, Object)>,
    positions: HashMap<String, usize>,
    cells: Cells,
    chosen: Chosen,
    /// Whether columns are wanted that are not named.
    is_open: bool,
    /// Columns of which some values are lists, by their positions.
    lists: Vec<usize>,
    /// A key that came too late to be a column, its line, and rows with such keys.
    late: Option<(String, u64)>,
    late_rows: u64,
}

impl<R: BufRead> JsonReader<R> {
    pub(crate) fn new(input: R, path: &Path, selection: &Selection) -> Result<Self> {
        let mut reader = Self {
            objects: Objects::new(input, path)?,
            ahead: VecDeque::new(),
            positions: HashMap::new(),
            cells: Cells::default(),
            chosen: Chosen::default(),
            is_open: selection.is_open(),
            lists: Vec::new(),
            late: None,
            late_rows: 0,
        };
        let mut header: Vec<String> = Vec::new();
        let mut ahead = 0;
        while reader.ahead.len() < FIRST_OBJECTS
            && ahead < read_ahead()
            && let Some(object) = reader.objects.next()?
        {
            ahead += reader.objects.length;
            for (key, _) in &object.0 {
                if !reader.positions.contains_key(key) {
                    reader.positions.insert(key.clone(), header.len());
                    header.push(key.clone());
                }
            }
            if header.len() > MOST_COLUMNS {
                return Err(Error::TooManyColumns { found: header.len(), most: MOST_COLUMNS });
            }
            reader.ahead.push_back((reader.objects.line, object));
        }
        reader.cells.width = header.len();
        reader.chosen = selection.choose(&Header::new(header))?;
        Ok(reader)
    }

    fn add(&mut self, line: u64, object: Object) {
        let mut row = vec![Value::Null; self.cells.width];
        let mut late = None;
        for (key, value) in object.0 {
            match self.positions.get(&key) {
                Some(&index) => row[index] = value,
                None => late = late.or(Some(key)),
            }
        }
        if let Some(key) = late {
            self.late_rows += 1;
            self.late.get_or_insert((key, line));
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
        let listed = |names: &[String]| {
            let shown: Vec<String> = names.iter().take(SHOWN).map(|name| quoted(name)).collect();
            shown.join(", ") + if names.len() > SHOWN { " and others" } else { "" }
        };
        let mut notes = Vec::new();
        if !self.objects.nested.is_empty() {
            let nested = listed(&self.objects.nested);
            notes.push(format!("{nested} {} objects; each of their keys is a column, such as \"a.b\" for the key \"b\" of \"a\"",
                if self.objects.nested.len() == 1 { "holds" } else { "hold" }));
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

impl<R: BufRead> Reader for JsonReader<R> {
    crate::source::names_in!(self.chosen);

    fn about(&self) -> About {
        About { notes: self.notes(), ..About::default() }
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.cells.width);
        self.cells.clear();
        while !self.cells.is_full(most) {
            let next = match self.ahead.pop_front() {
                Some(next) => Some(next),
                None => self.objects.next()?.map(|object| (self.objects.line, object)),
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
mod tests {
    use super::*;

    fn read(text: &str, selection: &Selection) -> Result<Table> {
        let mut reader = JsonReader::new(text.as_bytes(), Path::new("t.jsonl"), selection)?;
        Ok(reader.next_batch()?.expect("rows"))
    }

    #[test]
    fn keys_are_columns_and_what_is_not_there_is_missing() {
        let text = "{\"a\":1,\"b\":\"x\"}\n\n{\"b\":null,\"c\":true,\"a\":2.5}\r\n{\"a\":null,\"b\":\"y\"}";
        let table = read(text, &Selection::all()).unwrap();
        assert_eq!(table.names(), ["a", "b", "c"]);
        assert_eq!(table.column(0)[..2], [1.0, 2.5]);
        assert!(table.column(0)[2].is_nan());
        let texts = |column| (0..3).map(|row| table.values(column).text(row)).collect::<Vec<_>>();
        assert_eq!(texts(1), [Some("x"), None, Some("y")]);
        assert_eq!(texts(2), [None, Some("true"), None]);
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, message) in [
            (
                "{\"a\":1}\n[1]\n",
                "line 2 of t.jsonl is not a row (it is not an object); write one object on each line",
            ),
            (
                "{\n \"a\":1\n}\n",
                "line 1 of t.jsonl is not a row (the object goes on in the next line); write one object on each line",
            ),
            (
                "{\"a\":1}\n{\"a\":\n",
                "line 2 of t.jsonl is not a row (it is cut off); write one object on each line",
            ),
            (
                "{\"a\":1}\nx\n",
                "line 2 of t.jsonl is not a row (it is not JSON); write one object on each line",
            ),
        ] {
            assert_eq!(read(text, &Selection::all()).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn numbers_that_json_does_not_have_are_read_as_programs_write_them() {
        let text =
            "{\"a\":NaN,\"b\":\"NaN \\\"NaN\"}\n{\"a\":-Infinity,\"b\":\"x\"}\n{\"a\":1.5,\"b\":null}\n";
        let table = read(text, &Selection::all()).unwrap();
        let numbers = table.column(0);
        assert!(numbers[0].is_nan() && numbers[1] == f64::NEG_INFINITY && numbers[2] == 1.5, "{numbers:?}");
        assert_eq!(table.values(1).text(0), Some("NaN \"NaN"));
    }

    #[test]
    fn objects_are_columns_lists_are_texts_and_late_keys_are_noted() {
        let late = format!(
            "{}{{\"b\":1}}\n",
            "{\"a\":{\"x\":1,\"y\":{\"z\":null}},\"l\":[1,\"q\"]}\n".repeat(FIRST_OBJECTS)
        );
        let mut reader = JsonReader::new(late.as_bytes(), Path::new("t.jsonl"), &Selection::all()).unwrap();
        let table = reader.next_batch().unwrap().unwrap();
        assert_eq!(
            (table.names(), table.rows()),
            (&["a.x", "a.y.z", "l"].map(String::from)[..], FIRST_OBJECTS + 1)
        );
        assert_eq!((table.column(0)[0], table.values(2).text(0)), (1.0, Some("[1,\"q\"]")));
        assert_eq!(
            reader.about().notes,
            [
                "\"a\", \"a.y\" hold objects; each of their keys is a column, such as \"a.b\" for the key \"b\" of \"a\"",
                "column \"l\" holds lists, which are read as text",
                "1 row has a key that none of the first 1000 has, such as \"b\" in line 1001; to include it, add it to the first row",
            ]
        );
        assert_eq!(read(&late, &Selection::only(["a.x"])).unwrap().rows(), FIRST_OBJECTS + 1);
    }

    #[test]
    fn a_list_of_objects_is_read_as_lines_of_them_are() {
        let lines = "{\"a\":1,\"b\":\"x]}\\\"{\"}\n{\"b\":null,\"a\":2.5}\n";
        let list = " [ {\"a\":1,\n \"b\":\"x]}\\\"{\"}\n,\n{\"b\":null,\"a\":2.5}\n]\n";
        for text in [list.to_owned(), format!("\u{feff}{list}")] {
            let read = read(&text, &Selection::all()).unwrap();
            assert_eq!(read, self::read(lines, &Selection::all()).unwrap());
            assert_eq!(
                [0, 1].map(|row| read.place(row)),
                [(1, 0), (4, 1)].map(|(line, row)| crate::Place::Line(line, row))
            );
        }
        for (text, reason) in [
            (
                "[{\"a\":1},\n2]",
                "line 2 of t.jsonl is not a row (it is not an object); write one object on each line",
            ),
            (
                "[{\"a\":1},\n{\"a\":",
                "line 2 of t.jsonl is not a row (it is cut off); write one object on each line",
            ),
            ("[{\"a\":1}", "line 1 of t.jsonl is not a row (it is cut off); write one object on each line"),
            ("[{\"a\":x}]", "line 1 of t.jsonl is not a row (it is not JSON); write one object on each line"),
        ] {
            assert_eq!(read(text, &Selection::all()).unwrap_err().to_string(), reason);
        }
    }

    /// Long names within long names would be of any length.
    #[test]
    fn names_of_columns_stay_short() {
        let key = "k".repeat(200);
        let text = format!("{{\"{key}\":{{\"{key}\":{{\"x\":1}},\"y\":2}}}}\n");
        let table = read(&text, &Selection::all()).unwrap();
        assert_eq!(table.names(), [format!("{key}.{key}"), format!("{key}.y")]);
        assert_eq!(table.values(0).text(0), Some("{\"x\":1}"));
    }
}
