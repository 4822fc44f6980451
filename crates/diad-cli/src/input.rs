//! The table of a command: a file, or standard input.

use std::cell::Cell;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use anyhow::{Context, Result};
use diad::table::{self, FileSource, Reader, Selection, Source, printable, read_stream};
use tempfile::NamedTempFile;

/// A table to read.
pub enum Input {
    /// A file.
    File(FileSource),
    /// Standard input, kept in a file that goes away with this value.
    Kept { file: FileSource, _copy: NamedTempFile },
    /// Standard input, which can be read once.
    Once(Cell<bool>),
}

/// The sheet of workbooks to read, if not the first.
static SHEET: OnceLock<String> = OnceLock::new();

/// Has the sheet of that name read from every workbook.
pub fn read_sheet(name: String) {
    SHEET.get_or_init(|| name);
}

fn file(path: &Path) -> FileSource {
    let source = FileSource::new(path);
    match SHEET.get() {
        Some(sheet) => source.sheet(sheet),
        None => source,
    }
}

/// What messages call standard input.
const STANDARD_INPUT: &str = "standard input";

impl Input {
    /// A table that can be read more than once. Standard input is copied into a temporary file.
    pub fn new(path: &Path) -> Result<Self> {
        if path != Path::new("-") {
            return Ok(Self::File(file(path)));
        }
        let mut copy = NamedTempFile::new().context("cannot make a temporary file for standard input")?;
        io::copy(&mut io::stdin().lock(), &mut copy)
            .context("cannot keep standard input in a temporary file")?;
        Ok(Self::Kept { file: file(copy.path()), _copy: copy })
    }

    /// A table that is read once.
    pub fn once(path: &Path) -> Self {
        if path == Path::new("-") { Self::Once(Cell::new(false)) } else { Self::File(file(path)) }
    }

    /// Its name for messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(file) => printable(&file.path().to_string_lossy()),
            _ => STANDARD_INPUT.into(),
        }
    }
}

impl Source for Input {
    fn open(&self, selection: &Selection) -> table::Result<Box<dyn Reader + '_>> {
        match self {
            Self::File(file) | Self::Kept { file, .. } => file.open(selection),
            Self::Once(used) => {
                if used.replace(true) {
                    let cause = io::Error::other("it can be read only once");
                    return Err(table::Error::file("read", Path::new(STANDARD_INPUT), cause));
                }
                read_stream(Box::new(io::stdin()), Path::new(STANDARD_INPUT), selection)
            }
        }
    }
}
