//! The rows of a JSON file, one at a time, each with the line it starts at: objects, or lists below one of names.

use std::collections::HashSet;
use std::fmt;
use std::io::{self, BufRead, Empty, Read};
use std::path::{Path, PathBuf};

use memchr::memchr_iter;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde_json::Value;

use super::Rows;
use crate::budget::{longest_document, longest_row};
use crate::header::Header;
use crate::text::printable;
use crate::{Error, Result};

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

/// The name of a value.
#[derive(Debug)]
pub(super) enum Key {
    Text(String),
    /// The name at that place among those that all rows have, which may be much longer than a row.
    Place(usize),
}

/// The keys and values of an object, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Object(pub(super) Vec<(Key, Value)>);

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
                while let Some((key, value)) = map.next_entry()? {
                    object.0.push((Key::Text(key), value));
                }
                Ok(object)
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// What stands in the brackets of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Listed {
    Objects,
    /// Lists, of which the first may have the names of the others' values.
    Lists(Option<Vec<String>>),
}

pub(super) struct Objects<R> {
    input: R,
    path: PathBuf,
    /// Whether rows are those of a list.
    listed: Option<Listed>,
    /// The first object, read ahead.
    first: Option<Vec<u8>>,
    /// The line of the last row, counted from 1, and its bytes.
    line: u64,
    length: usize,
    /// Line feeds before what is read next.
    feeds: u64,
    /// Whether the first list has the names, once it is read; a list that is a row although it was read for the names; lists longer
    /// than the names.
    named: Option<bool>,
    held: Option<Vec<Value>>,
    long: u64,
}

impl Objects<Empty> {
    /// The one row that an object is.
    pub(super) fn of_one(text: Vec<u8>, path: &Path, feeds: u64) -> Self {
        let mut objects = Self::of(io::empty(), path, None, feeds);
        (objects.line, objects.first) = (feeds + 1, Some(text));
        objects
    }
}

impl<R: BufRead> Objects<R> {
    pub(super) fn new(input: R, path: &Path) -> Result<Self> {
        let mut objects = Self::of(input, path, None, 0);
        if objects.peek()? == Some(b'[') {
            objects.input.consume(1);
            let lists = objects.peek()? == Some(b'[');
            objects.listed = Some(if lists { Listed::Lists(None) } else { Listed::Objects });
        }
        Ok(objects)
    }

    /// The rows of an input behind the bracket of a list, or those of an input without brackets.
    pub(super) fn of(input: R, path: &Path, listed: Option<Listed>, feeds: u64) -> Self {
        let (named, held, long, path) = (None, None, 0, path.to_owned());
        Self { input, path, listed, first: None, line: 0, length: 0, feeds, named, held, long }
    }

    /// The text of the only object of a file, which may be long; nothing if there are more of them, or none.
    pub(super) fn only(&mut self) -> Result<Option<Vec<u8>>> {
        if self.listed.is_some() || self.peek()? != Some(b'{') {
            return Ok(None);
        }
        self.line = self.feeds + 1;
        let mut text = Vec::new();
        let most = longest_document();
        match self.take_until_end(&mut text, &mut Extent::default(), most)? {
            End::Found => {}
            End::Cut => return Err(self.bad("it is cut off")),
            End::Far => {
                let path = self.path.clone();
                return Err(Error::LongObject { path, line: self.line, most: most >> 20 });
            }
        }
        if self.peek()?.is_none() {
            return Ok(Some(text));
        }
        if text.len() >= longest_row() {
            return Err(self.long());
        }
        self.first = Some(text);
        Ok(None)
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
        if let Some(first) = self.first.take() {
            *text = first;
            return Ok(true);
        }
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

    /// An object or list of a list.
    fn take_element(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let mut next = self.peek()?;
        if next == Some(b',') && self.line > 0 {
            self.input.consume(1);
            next = self.peek()?;
        }
        let (wanted, reason) = match self.listed {
            Some(Listed::Lists(_)) => (b'[', "it is not a list"),
            _ => (b'{', "it is not an object"),
        };
        match next {
            // Whatever comes after the list is not read.
            Some(b']') => return Ok(false),
            None => return Err(self.bad("it is cut off")),
            Some(byte) => {
                self.line = self.feeds + 1;
                if byte != wanted {
                    return Err(self.bad(reason));
                }
            }
        }
        match self.take_until_end(text, &mut Extent::default(), longest_row())? {
            End::Found => Ok(true),
            End::Cut => Err(self.bad("it is cut off")),
            End::Far => Err(self.long()),
        }
    }

    /// Adds bytes up to the end of an object or list.
    fn take_until_end(&mut self, text: &mut Vec<u8>, extent: &mut Extent, most: usize) -> Result<End> {
        loop {
            let input = self.input.fill_buf().map_err(|source| Error::file("read", &self.path, source))?;
            if input.is_empty() {
                return Ok(End::Cut);
            }
            let end = input.iter().position(|&byte| extent.ends_at(byte));
            let taken = &input[..end.map_or(input.len(), |end| end + 1)];
            self.feeds += memchr_iter(b'\n', taken).count() as u64;
            text.extend_from_slice(taken);
            let count = taken.len();
            self.input.consume(count);
            if text.len() >= most {
                return Ok(End::Far);
            }
            if end.is_some() {
                return Ok(End::Found);
            }
        }
    }

    /// What a row is read as, also one that goes on in the next lines.
    fn parsed<T: DeserializeOwned>(&mut self, text: &mut Vec<u8>) -> Result<T> {
        if std::str::from_utf8(text).is_err() {
            return Err(Error::NotUtf8 { path: self.path.clone(), line: self.line });
        }
        let mut read = parse(text);
        if read.as_ref().is_err_and(serde_json::Error::is_eof) && self.listed.is_none() {
            let mut extent = Extent::default();
            let open = !text.trim_ascii().iter().any(|&byte| extent.ends_at(byte));
            if open {
                match self.take_until_end(text, &mut extent, longest_row())? {
                    End::Found => read = parse(text),
                    End::Cut => {}
                    End::Far => return Err(self.long()),
                }
            }
        }
        read.map_err(|error| match self.listed {
            _ if error.is_eof() => self.bad("it is cut off"),
            Some(Listed::Lists(_)) if error.is_data() => self.bad("it is not a list"),
            _ if error.is_data() => self.bad("it is not an object"),
            _ => self.bad("it is not JSON"),
        })
    }

    /// A list of values as an object, by the names that the first list has.
    fn next_list(&mut self) -> Result<Option<Object>> {
        loop {
            let values = match self.held.take() {
                Some(values) => values,
                None => {
                    let mut text = Vec::new();
                    if !self.take_element(&mut text)? {
                        return Ok(None);
                    }
                    self.length = text.len();
                    self.parsed::<Vec<Value>>(&mut text)?
                }
            };
            let Some(Listed::Lists(names)) = &mut self.listed else { return Ok(None) };
            match names {
                Some(names) => {
                    self.long += u64::from(values.len() > names.len());
                    return Ok(Some(Object((0..names.len()).map(Key::Place).zip(values).collect())));
                }
                None => {
                    let header = match names_of(&values) {
                        Some(names) => Header::new(names),
                        None => Header::absent(values.len()),
                    };
                    self.named = Some(names_of(&values).is_some());
                    *names = Some(header.names);
                    self.held = (self.named == Some(false)).then_some(values);
                }
            }
        }
    }
}

impl<R: BufRead> Rows for Objects<R> {
    fn next(&mut self) -> Result<Option<Object>> {
        if matches!(self.listed, Some(Listed::Lists(_))) {
            return self.next_list();
        }
        let mut text = Vec::new();
        let found =
            if self.listed.is_some() { self.take_element(&mut text)? } else { self.take_line(&mut text)? };
        if !found {
            return Ok(None);
        }
        self.length = text.len();
        self.parsed(&mut text).map(Some)
    }

    fn name(&self, place: usize) -> &str {
        match &self.listed {
            Some(Listed::Lists(Some(names))) => &names[place],
            _ => "",
        }
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn length(&self) -> usize {
        self.length
    }

    fn notes(&self) -> Vec<String> {
        let path = printable(&self.path.to_string_lossy());
        let mut notes = Vec::new();
        if self.named == Some(false) {
            notes.push(format!(
                "the first list of {path} has values and no names, so the columns are called \"column 1\" and so on"
            ));
        }
        match self.long {
            0 => {}
            1 => notes
                .push(format!("1 list of {path} has more values than there are names; those are ignored")),
            rows => notes.push(format!(
                "{rows} lists of {path} have more values than there are names; those are ignored"
            )),
        }
        notes
    }
}

/// The names that a list has if it has nothing else: texts that differ and are no numbers.
fn names_of(values: &[Value]) -> Option<Vec<String>> {
    let texts: Vec<&str> = values.iter().map(Value::as_str).collect::<Option<_>>()?;
    if texts.iter().any(|text| text.trim().parse::<f64>().is_ok()) {
        return None;
    }
    let names: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    let different: HashSet<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    (different.len() == names.len()).then_some(names)
}

/// A value by its text, which may have the numbers that JSON has none for.
pub(super) fn parse<T: DeserializeOwned>(text: &[u8]) -> serde_json::Result<T> {
    let read = serde_json::from_slice(text);
    if read.as_ref().is_err_and(serde_json::Error::is_syntax)
        && let Some(text) = with_plain_numbers(text)
    {
        return serde_json::from_slice(&text);
    }
    read
}

/// Whether the end of an object or list was found, the input ended before, or it is too far away.
enum End {
    Found,
    Cut,
    Far,
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
