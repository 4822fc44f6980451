//! A table in a file or on standard input.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::arrow::{self, ArrowReader};
use crate::compression;
use crate::csv::CsvReader;
use crate::detect::{self, Format};
use crate::encoding::{self, Transcoded};
use crate::fixed::{self, Cut};
use crate::json::JsonReader;
use crate::spaces::{self, Squeezed};
use crate::totals::{self, WithoutTotal};
use crate::{Error, Reader, Result, Selection, Source, Version};

/// First bytes that are looked at to tell what a file is.
const START: u64 = 1 << 16;

/// A table in a file: CSV (separated by commas, semicolons, tabs or vertical bars), JSON Lines, Arrow (Feather), Excel or
/// Parquet. All but Parquet may be compressed with gzip, bzip2 or zstd. The format is detected from the first bytes, not from the name.
///
/// ```
/// use diad_table::{FileSource, Selection, Source};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name;age\nAda;36\nGrace;85\n")?;
/// let source = FileSource::new(&path);
/// let batch = source.open(&Selection::all())?.next_batch()?.expect("two rows");
/// assert_eq!(batch.values(0).text(1), Some("Grace"));
/// assert_eq!(batch.column(1), [36.0, 85.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileSource {
    path: PathBuf,
    /// A file without a name, whose path is what messages call it.
    open: Option<Arc<File>>,
    sheet: Option<String>,
}

impl FileSource {
    /// The table in the file `path`. Nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), open: None, sheet: None }
    }

    /// The table in a file that is already open, such as a temporary one without a name. Messages call it `name`. It is read
    /// from its start, and by one reader at a time.
    pub fn of_open(file: File, name: impl Into<PathBuf>) -> Self {
        Self { path: name.into(), open: Some(Arc::new(file)), sheet: None }
    }

    /// Reads the sheet of that name, if the file is a workbook; else the first that holds a table is read.
    pub fn sheet(mut self, name: impl Into<String>) -> Self {
        self.sheet = Some(name.into());
        self
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Source for FileSource {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        let failed = |source| Error::file("read", &self.path, source);
        let mut file = match &self.open {
            Some(open) => open.try_clone().map_err(failed)?,
            None => File::open(&self.path).map_err(failed)?,
        };
        // A pipe has no start to go back to, and is read once.
        let is_plain = file.metadata().map_err(failed)?.is_file();
        if !is_plain {
            return read_stream(Box::new(file), &self.path, selection);
        }
        file.rewind().map_err(failed)?;
        let mut start = Vec::with_capacity(8);
        file.by_ref().take(8).read_to_end(&mut start).map_err(failed)?;
        let named_parquet =
            self.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if !start.is_empty() && (named_parquet || detect::format(&start) == Format::Parquet) {
            return parquet_reader(file, &self.path, selection);
        }
        file.rewind().map_err(failed)?;
        if detect::format(&start) == Format::Zip {
            return workbook(file, &self.path, self.sheet.as_deref(), selection);
        }
        if start.starts_with(arrow::MAGIC) {
            return Ok(Box::new(ArrowReader::file(file, &self.path, selection)?));
        }
        if let Some(end) = totals::start_of_total(&mut file, &self.path) {
            file.rewind().map_err(failed)?;
            let inner = read_stream(Box::new(file.take(end)), &self.path, selection)?;
            return Ok(Box::new(WithoutTotal { inner, path: &self.path }));
        }
        file.rewind().map_err(failed)?;
        read_stream(Box::new(file), &self.path, selection)
    }

    fn version(&self) -> Option<Version> {
        if self.open.is_some() {
            return None;
        }
        let found = std::fs::metadata(&self.path).ok().filter(|found| found.is_file())?;
        #[cfg(unix)]
        let identity = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let identity = 0;
        Some(Version { length: found.len(), written: found.modified().ok(), identity })
    }
}

#[cfg_attr(not(feature = "excel"), expect(unused_variables, reason = "nothing is read"))]
fn workbook<'a>(
    file: File,
    path: &Path,
    sheet: Option<&str>,
    selection: &Selection,
) -> Result<Box<dyn Reader + 'a>> {
    #[cfg(feature = "excel")]
    return Ok(Box::new(crate::xlsx::XlsxReader::new(file, path, sheet, selection)?));
    #[cfg(not(feature = "excel"))]
    Err(Error::FileKind {
        path: path.to_owned(),
        kind: "an archive or an Excel workbook, which this build does not read",
    })
}

#[cfg(feature = "parquet")]
fn parquet_reader<'a>(file: File, path: &Path, selection: &Selection) -> Result<Box<dyn Reader + 'a>> {
    Ok(Box::new(crate::parquet::ParquetReader::new(file, path, selection)?))
}

#[cfg(not(feature = "parquet"))]
fn parquet_reader<'a>(_file: File, path: &Path, _selection: &Selection) -> Result<Box<dyn Reader + 'a>> {
    Err(Error::FileKind { path: path.to_owned(), kind: "a Parquet file, which this build does not read" })
}

/// Reads a table once from a stream: CSV, JSON Lines, Arrow or Excel, also compressed. `name` is what messages call it.
///
/// ```
/// use diad_table::{Selection, read_stream};
///
/// let text = "age\tjob\n36\tstudent\n".as_bytes();
/// let mut reader = read_stream(Box::new(text), "people".as_ref(), &Selection::all())?;
/// assert_eq!(reader.next_batch()?.expect("a row").values(1).text(0), Some("student"));
/// # Ok::<(), diad_table::Error>(())
/// ```
///
/// # Errors
/// If the stream cannot be read, is of a kind that cannot be read as a stream, or lacks a selected column.
pub fn read_stream<'a>(
    input: Box<dyn Read + Send + 'a>,
    name: &Path,
    selection: &Selection,
) -> Result<Box<dyn Reader + 'a>> {
    let failed = |source| Error::file("read", name, source);
    let (mut start, mut input) = peek(input).map_err(failed)?;
    // A compressed file may hold a compressed file, but not for ever.
    for _ in 0..2 {
        let format = detect::format(&start);
        if !(compression::IS_READ && matches!(format, Format::Gzip | Format::Bzip2 | Format::Zstd)) {
            break;
        }
        (start, input) = compression::decoded(format, input).and_then(peek).map_err(failed)?;
    }
    if let Some(encoding) = encoding::utf16(&start) {
        (start, input) = peek(Box::new(Transcoded::new(input, encoding))).map_err(failed)?;
    }
    let other = |kind| Err(Error::FileKind { path: name.to_owned(), kind });
    if start.is_empty() {
        return Err(Error::EmptyFile { path: name.to_owned() });
    }
    let whole = (start.len() as u64) < START;
    let text = BufReader::with_capacity(1 << 18, input);
    match detect::format(&start) {
        Format::Csv => {
            let layout = detect::layout(&start, whole);
            let mut text = text;
            io::copy(&mut text.by_ref().take(layout.skipped as u64), &mut io::sink()).map_err(failed)?;
            if layout.delimiter == spaces::MARK {
                let text = BufReader::new(Squeezed::new(text));
                return Ok(Box::new(CsvReader::laid_out(text, layout, name, selection)?));
            }
            if layout.delimiter == fixed::MARK
                && let Some(places) = fixed::places(&start[layout.skipped..], whole)
            {
                let text = BufReader::new(Cut::new(text, places));
                return Ok(Box::new(CsvReader::laid_out(text, layout, name, selection)?));
            }
            Ok(Box::new(CsvReader::laid_out(text, layout, name, selection)?))
        }
        Format::Json => Ok(Box::new(JsonReader::new(text, name, selection)?)),
        Format::Arrow if start.starts_with(arrow::MAGIC) => {
            // Where its parts are is said at its end.
            let mut text = text;
            let mut copy = tempfile::tempfile().map_err(failed)?;
            io::copy(&mut text, &mut copy).map_err(failed)?;
            Ok(Box::new(ArrowReader::file(copy, name, selection)?))
        }
        Format::Arrow => Ok(Box::new(ArrowReader::stream(text, name, selection)?)),
        Format::Parquet => other("a Parquet file inside another one"),
        Format::Gzip | Format::Bzip2 | Format::Zstd if compression::IS_READ => {
            other("compressed more than twice")
        }
        Format::Gzip | Format::Bzip2 | Format::Zstd => other("compressed, which this build does not read"),
        Format::Zip => {
            // Where its parts are is said at its end.
            let mut text = text;
            let mut copy = tempfile::tempfile().map_err(failed)?;
            io::copy(&mut text, &mut copy).and_then(|_| copy.rewind()).map_err(failed)?;
            workbook(copy, name, None, selection)
        }
        Format::Utf16 => other("text in UTF-16 inside another one"),
        Format::Other(kind) => other(kind),
    }
}

/// The first bytes of a stream, and the stream from its start.
fn peek<'a>(mut input: Box<dyn Read + Send + 'a>) -> io::Result<(Vec<u8>, Box<dyn Read + Send + 'a>)> {
    let mut start = Vec::new();
    input.by_ref().take(START).read_to_end(&mut start)?;
    Ok((start.clone(), Box::new(Cursor::new(start).chain(input))))
}
