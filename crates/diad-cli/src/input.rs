//! The table of a command: a file, a pipe, or standard input.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Result, anyhow, bail};
use diad::table::{self, FileSource, Reader, Selection, Source, Version, printable, read_stream};

use crate::stop;

/// A table to read.
pub enum Input {
    /// A file that can be read again and again.
    File(FileSource),
    /// What came from standard input or a pipe, kept in a file without a name, of which nothing is left when the program ends.
    Kept { file: FileSource, name: PathBuf },
    /// Standard input or a pipe, which can be read once.
    Once { path: PathBuf, used: Cell<bool> },
}

/// The sheet of workbooks to read, if not the first.
static SHEET: OnceLock<String> = OnceLock::new();

/// Has the sheet of that name read from every workbook.
pub fn read_sheet(name: String) {
    SHEET.get_or_init(|| name);
}

/// The same file, of which that sheet is read.
fn of_sheet(source: FileSource) -> FileSource {
    match SHEET.get() {
        Some(sheet) => source.sheet(sheet),
        None => source,
    }
}

/// What messages call standard input.
const STANDARD_INPUT: &str = "standard input";
/// Bytes that are copied at a time.
const CHUNK: usize = 1 << 16;

impl Input {
    /// A table that can be read more than once. What cannot, is copied.
    pub fn new(path: &Path) -> Result<Self> {
        if !is_stream(path) {
            return Ok(Self::File(of_sheet(FileSource::new(path))));
        }
        let name = stream_name(path);
        let copy = keep(path).map_err(|(action, error)| {
            let place = printable(&std::env::temp_dir().to_string_lossy());
            match action {
                Copying::Read => table::Error::file("read", &name, error).into(),
                Copying::Write => anyhow!(
                    "cannot keep {} in the temporary folder {place} ({error}); make room there, or name another folder in TMPDIR",
                    printable(&name.to_string_lossy())
                ),
                Copying::Stopped => anyhow::Error::new(table::Error::Stopped),
            }
        })?;
        Ok(Self::Kept { file: of_sheet(FileSource::of_open(copy, &name)), name })
    }

    /// A table that is read once.
    pub fn once(path: &Path) -> Self {
        match is_stream(path) {
            true => Self::Once { path: path.to_owned(), used: Cell::new(false) },
            false => Self::File(of_sheet(FileSource::new(path))),
        }
    }

    /// Its name for messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(file) => printable(&file.path().to_string_lossy()),
            Self::Kept { name, .. } => printable(&name.to_string_lossy()),
            Self::Once { path, .. } => printable(&stream_name(path).to_string_lossy()),
        }
    }

    /// Refuses a file that is not as it was when `before` was asked for.
    pub fn unchanged_since(&self, before: Option<Version>) -> Result<()> {
        if self.version() != before {
            bail!(
                "{} changed while it was being read; try again when nothing else is writing to it",
                self.name()
            );
        }
        Ok(())
    }
}

/// Whether a path is standard input, a named pipe or the like.
fn is_stream(path: &Path) -> bool {
    path == Path::new("-") || std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

fn stream_name(path: &Path) -> PathBuf {
    if path == Path::new("-") { STANDARD_INPUT.into() } else { path.to_owned() }
}

fn opened(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(Waiting(io::stdin())));
    }
    // Opening a pipe waits for the program at its other end.
    Ok(Box::new(Waiting(stop::at_once(|| File::open(path))?)))
}

/// A stream of which Ctrl-C ends the reading at once, also while nothing comes.
struct Waiting<R>(R);

impl<R: Read> Read for Waiting<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if stop::requested() {
            return Err(io::Error::other("it was stopped"));
        }
        stop::at_once(|| self.0.read(out))
    }
}

/// What failed while a copy was made.
enum Copying {
    Read,
    Write,
    Stopped,
}

/// Copies a stream into a file that has no name from the start.
fn keep(path: &Path) -> std::result::Result<File, (Copying, io::Error)> {
    let mut input = opened(path).map_err(|error| (Copying::Read, error))?;
    let mut copy = tempfile::tempfile().map_err(|error| (Copying::Write, error))?;
    let mut chunk = vec![0; CHUNK];
    loop {
        if stop::requested() {
            return Err((Copying::Stopped, io::ErrorKind::Interrupted.into()));
        }
        match input.read(&mut chunk) {
            Ok(0) => return Ok(copy),
            Ok(read) => {
                io::Write::write_all(&mut copy, &chunk[..read]).map_err(|error| (Copying::Write, error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err((Copying::Read, error)),
        }
    }
}

impl Source for Input {
    fn open(&self, selection: &Selection) -> table::Result<Box<dyn Reader + '_>> {
        match self {
            Self::File(file) | Self::Kept { file, .. } => file.open(selection),
            Self::Once { path, used } => {
                let name = stream_name(path);
                if used.replace(true) {
                    let cause = io::Error::other("it can be read only once");
                    return Err(table::Error::file("read", &name, cause));
                }
                let input = opened(path).map_err(|error| table::Error::file("read", &name, error))?;
                read_stream(input, &name, selection)
            }
        }
    }

    fn version(&self) -> Option<Version> {
        match self {
            Self::File(file) => file.version(),
            _ => None,
        }
    }
}
