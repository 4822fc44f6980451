//! Reads JSON Lines: one object on each line. The columns are the keys of the first lines.

use std::collections::HashMap;
use std::fmt;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::budget::{longest_row, read_ahead};
use crate::cells::Cells;
use crate::csv::MOST_COLUMNS;
use crate::header::Header;
use crate::select::{self, Pick};
use crate::{Error, Reader, Result, Selection, Table, batch_rows};

/// Lines in which the columns are sought.
const FIRST_LINES: usize = 1000;

/// The keys and values of an object, in the order of the file.
#[derive(Debug, Default)]
struct Object(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Entries;

        impl<'de> Visitor<'de> for Entries {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Object, A::Error> {
                let mut object = Object::default();
                while let Some(entry) = map.next_entry()? {
                    object.0.push(entry);
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

pub(crate) struct JsonReader<R> {
    input: R,
    path: PathBuf,
    line: u64,
    /// Bytes of the last line.
    length: usize,
    /// Objects read ahead for their keys, with their lines.
    ahead: std::collections::VecDeque<(u64, Object)>,
    /// Whether a key that no column has is an error: it may be where all columns are wanted.
    strict: bool,
    positions: HashMap<String, usize>,
    cells: Cells,
    picks: Vec<Pick>,
    names: Vec<String>,
    unread: Vec<String>,
}

impl<R: BufRead> JsonReader<R> {
    pub(crate) fn new(input: R, path: &Path, selection: &Selection) -> Result<Self> {
        let mut reader = Self {
            input,
            path: path.to_owned(),
            line: 0,
            length: 0,
            ahead: Default::default(),
            strict: selection.is_open(),
            positions: HashMap::new(),
            cells: Cells::default(),
            picks: Vec::new(),
            names: Vec::new(),
            unread: Vec::new(),
        };
        let mut header: Vec<String> = Vec::new();
        let mut ahead = 0;
        while reader.ahead.len() < FIRST_LINES
            && ahead < read_ahead()
            && let Some(object) = reader.next_object()?
        {
            ahead += reader.length;
            for (key, _) in &object.0 {
                if !reader.positions.contains_key(key) {
                    reader.positions.insert(key.clone(), header.len());
                    header.push(key.clone());
                }
            }
            if header.len() > MOST_COLUMNS {
                return Err(Error::TooManyColumns { found: header.len(), most: MOST_COLUMNS });
            }
            reader.ahead.push_back((reader.line, object));
        }
        reader.cells.width = header.len();
        let header = Header::new(header);
        reader.picks = selection.resolve_in(&header)?;
        reader.names = reader.picks.iter().map(|pick| header.names[pick.index].clone()).collect();
        reader.unread = select::unread(&header.names, &reader.picks);
        Ok(reader)
    }

    /// The object on the next line that is not blank.
    fn next_object(&mut self) -> Result<Option<Object>> {
        let mut text = Vec::new();
        loop {
            text.clear();
            let most = longest_row();
            let read = (&mut self.input).take(most as u64).read_until(b'\n', &mut text);
            if read.map_err(|source| Error::file("read", &self.path, source))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            self.length = text.len();
            if text.len() == most && text.last() != Some(&b'\n') {
                return Err(Error::LongRow { line: self.line, column: 1, most: most >> 20 });
            }
            let line =
                if self.line == 1 { text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text) } else { &text };
            if line.trim_ascii().is_empty() {
                continue;
            }
            let bad = |reason| Error::JsonLine { line: self.line, path: self.path.clone(), reason };
            if std::str::from_utf8(line).is_err() {
                return Err(Error::NotUtf8 { path: self.path.clone(), line: self.line });
            }
            return match serde_json::from_slice(line) {
                Ok(object) => Ok(Some(object)),
                Err(error) if error.is_data() => Err(bad("it is not an object")),
                Err(error) if error.is_eof() => Err(bad("it is cut off")),
                Err(_) => Err(bad("it is not JSON")),
            };
        }
    }

    fn add(&mut self, line: u64, object: Object) -> Result<()> {
        let mut row = vec![Value::Null; self.cells.width];
        for (key, value) in object.0 {
            match self.positions.get(&key) {
                Some(&index) => row[index] = value,
                None if self.strict => return Err(Error::LateKey { key, line, lines: FIRST_LINES }),
                None => {}
            }
        }
        for (index, value) in row.into_iter().enumerate() {
            match value {
                Value::Null => {}
                Value::String(text) => self.cells.bytes.extend(text.as_bytes()),
                Value::Array(_) | Value::Object(_) if !self.picks.iter().any(|pick| pick.index == index) => {}
                Value::Array(_) | Value::Object(_) => {
                    let pick = self.picks.iter().position(|pick| pick.index == index);
                    let column = pick.map(|pick| self.names[pick].clone()).unwrap_or_default();
                    return Err(Error::Nested { column, line });
                }
                other => self.cells.bytes.extend(other.to_string().as_bytes()),
            }
            self.cells.ends.push(self.cells.bytes.len());
        }
        self.cells.lines.push(line);
        Ok(())
    }
}

impl<R: BufRead> Reader for JsonReader<R> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn unread(&self) -> &[String] {
        &self.unread
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        let most = batch_rows(self.cells.width);
        self.cells.clear();
        while !self.cells.is_full(most) {
            let next = match self.ahead.pop_front() {
                Some(next) => Some(next),
                None => self.next_object()?.map(|object| (self.line, object)),
            };
            let Some((line, object)) = next else { break };
            self.add(line, object)?;
        }
        if self.cells.rows() == 0 {
            return Ok(None);
        }
        self.cells.batch(&self.names, &self.picks).map(Some)
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
                "{\"a\":1}\n{\"a\":\n",
                "line 2 of t.jsonl is not a row (it is cut off); write one object on each line",
            ),
            (
                "{\"a\":1}\nx\n",
                "line 2 of t.jsonl is not a row (it is not JSON); write one object on each line",
            ),
            (
                "{\"a\":1}\n{\"a\":[1,2]}\n",
                "column \"a\", line 2: the value is a list or an object; write a number or a text",
            ),
        ] {
            assert_eq!(read(text, &Selection::all()).unwrap_err().to_string(), message);
        }
        let late = format!("{}{{\"b\":1}}\n", "{\"a\":1}\n".repeat(FIRST_LINES));
        assert!(matches!(read(&late, &Selection::all()), Err(Error::LateKey { line: 1001, .. })));
        assert_eq!(read(&late, &Selection::only(["a"])).unwrap().rows(), FIRST_LINES + 1);
    }
}
