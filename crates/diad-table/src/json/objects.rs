//! The objects of a JSON file, one at a time, each with the line it starts at.

use std::fmt;
use std::io::{BufRead, Read};
use std::path::{Path, PathBuf};

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::budget::longest_row;
use crate::{Error, Result};

/// Most bytes of the name of a column that is made of the keys of objects within objects.
const LONGEST_NAME: usize = 256;
/// Keys with objects that are remembered.
const MOST_NESTED: usize = 100;

/// JSON with the numbers that programs write though it has none for them: NaN, which is a missing value, and Infinity. Nothing if there
/// are none.
fn with_plain_numbers(text: &[u8]) -> Option<Vec<u8>> {
    const WORDS: [(&[u8], &[u8]); 3] =
        [(b"NaN", b"null"), (b"-Infinity", b"\"-inf\""), (b"Infinity", b"\"inf\"")];
    let (mut plain, mut rest, mut quoted, mut found) = (Vec::with_capacity(text.len()), text, false, false);
    while let Some((&byte, after)) = rest.split_first() {
        let word = WORDS.iter().find(|(word, _)| !quoted && rest.starts_with(word));
        rest = match (word, byte, after) {
            (Some((word, number)), ..) => {
                plain.extend_from_slice(number);
                found = true;
                &rest[word.len()..]
            }
            (None, b'\\', [next, behind @ ..]) if quoted => {
                plain.extend([byte, *next]);
                behind
            }
            _ => {
                quoted ^= byte == b'"';
                plain.push(byte);
                after
            }
        };
    }
    found.then_some(plain)
}

/// The keys and values of an object, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Object(pub(super) Vec<(String, Value)>);

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

pub(super) struct Objects<R> {
    input: R,
    path: PathBuf,
    /// Whether the objects are those of a list.
    listed: bool,
    /// The line of the last object, counted from 1, and its bytes.
    pub(super) line: u64,
    pub(super) length: usize,
    /// Line feeds before what is read next.
    feeds: u64,
    /// Keys whose values are objects.
    pub(super) nested: Vec<String>,
}

impl<R: BufRead> Objects<R> {
    pub(super) fn new(input: R, path: &Path) -> Result<Self> {
        let path = path.to_owned();
        let mut objects =
            Self { input, path, listed: false, line: 0, length: 0, feeds: 0, nested: Vec::new() };
        if objects.peek()? == Some(b'[') {
            objects.listed = true;
            objects.input.consume(1);
        }
        Ok(objects)
    }

    /// The next object.
    pub(super) fn next(&mut self) -> Result<Option<Object>> {
        let mut text = Vec::new();
        let found = if self.listed { self.take_element(&mut text)? } else { self.take_line(&mut text)? };
        if !found {
            return Ok(None);
        }
        self.length = text.len();
        if std::str::from_utf8(&text).is_err() {
            return Err(Error::NotUtf8 { path: self.path.clone(), line: self.line });
        }
        let mut read = serde_json::from_slice::<Object>(&text);
        if read.as_ref().is_err_and(serde_json::Error::is_syntax)
            && let Some(text) = with_plain_numbers(&text)
        {
            read = serde_json::from_slice(&text);
        }
        let object = match read {
            Ok(object) => object,
            Err(error) if error.is_data() => return Err(self.bad("it is not an object")),
            Err(error) if error.is_eof() && !self.listed && self.peek()?.is_some() => {
                return Err(self.bad("the object goes on in the next line"));
            }
            Err(error) if error.is_eof() => return Err(self.bad("it is cut off")),
            Err(_) => return Err(self.bad("it is not JSON")),
        };
        Ok(Some(self.flattened(object)))
    }

    fn bad(&self, reason: &'static str) -> Error {
        Error::JsonLine { line: self.line, path: self.path.clone(), reason }
    }

    fn long(&self) -> Error {
        Error::LongRow { line: self.line, column: 1, most: longest_row() >> 20 }
    }

    /// The next byte that is no white space, nor of a byte order mark; nothing at the end.
    fn peek(&mut self) -> Result<Option<u8>> {
        loop {
            let input = self.input.fill_buf().map_err(|source| Error::file("read", &self.path, source))?;
            let Some(&byte) = input.first() else { return Ok(None) };
            if !(byte.is_ascii_whitespace() || self.line == 0 && matches!(byte, 0xef | 0xbb | 0xbf)) {
                return Ok(Some(byte));
            }
            self.feeds += u64::from(byte == b'\n');
            self.input.consume(1);
        }
    }

    /// A line that is not blank.
    fn take_line(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        if self.peek()?.is_none() {
            return Ok(false);
        }
        let most = longest_row();
        let read = (&mut self.input).take(most as u64).read_until(b'\n', text);
        read.map_err(|source| Error::file("read", &self.path, source))?;
        self.line = self.feeds + 1;
        let ends = text.last() == Some(&b'\n');
        self.feeds += u64::from(ends);
        if text.len() == most && !ends { Err(self.long()) } else { Ok(true) }
    }

    /// An object of a list.
    fn take_element(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let mut next = self.peek()?;
        if next == Some(b',') && self.line > 0 {
            self.input.consume(1);
            next = self.peek()?;
        }
        match next {
            // Whatever comes after the list is not read.
            Some(b']') => return Ok(false),
            None => return Err(self.bad("it is cut off")),
            Some(byte) => {
                self.line = self.feeds + 1;
                if byte != b'{' {
                    return Err(self.bad("it is not an object"));
                }
            }
        }
        let mut extent = Extent::default();
        loop {
            let input = self.input.fill_buf().map_err(|source| Error::file("read", &self.path, source))?;
            if input.is_empty() {
                return Err(self.bad("it is cut off"));
            }
            let end = input.iter().position(|&byte| extent.ends_at(byte));
            let taken = &input[..end.map_or(input.len(), |end| end + 1)];
            self.feeds += taken.iter().filter(|&&byte| byte == b'\n').count() as u64;
            text.extend_from_slice(taken);
            let count = taken.len();
            self.input.consume(count);
            if text.len() >= longest_row() {
                return Err(self.long());
            }
            if end.is_some() {
                return Ok(true);
            }
        }
    }

    /// The entries of objects within objects under names such as `a.b`.
    fn flattened(&mut self, object: Object) -> Object {
        if !object.0.iter().any(|(_, value)| value.is_object()) {
            return object;
        }
        let mut flat = Vec::with_capacity(object.0.len());
        for (key, value) in object.0 {
            self.flatten(key, value, &mut flat);
        }
        Object(flat)
    }

    fn flatten(&mut self, name: String, value: Value, flat: &mut Vec<(String, Value)>) {
        let entries = match value {
            Value::Object(entries) if name.len() <= LONGEST_NAME => entries,
            // Where names would become very long, an object is a text.
            Value::Object(_) => return flat.push((name, Value::String(value.to_string()))),
            _ => return flat.push((name, value)),
        };
        if self.nested.len() < MOST_NESTED && !self.nested.contains(&name) {
            self.nested.push(name.clone());
        }
        for (key, value) in entries {
            self.flatten(format!("{name}.{key}"), value, flat);
        }
    }
}

/// Where an object ends, told byte by byte.
#[derive(Debug, Default)]
struct Extent {
    depth: u64,
    quoted: bool,
    escaped: bool,
}

impl Extent {
    fn ends_at(&mut self, byte: u8) -> bool {
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.quoted => self.escaped = true,
            b'"' => self.quoted = !self.quoted,
            b'{' | b'[' if !self.quoted => self.depth += 1,
            b'}' | b']' if !self.quoted => self.depth -= 1,
            _ => {}
        }
        self.depth == 0
    }
}
