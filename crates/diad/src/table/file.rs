//! A table in a file, CSV or Parquet.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::{Path, PathBuf};

use super::csv::CsvReader;
use super::parquet::ParquetReader;
use super::{Reader, Selection, Source};
use crate::{Error, Result};

/// A CSV or Parquet file. The format is told from the file's first bytes.
///
/// ```
/// use diad::table::{FileSource, Selection, Source};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("people.csv");
/// std::fs::write(&path, "name,age\nAda,36\nGrace,85\n")?;
/// let source = FileSource::new(&path);
/// let batch = source.open(&Selection::except(&["name"]))?.next_batch()?.expect("two rows");
/// assert_eq!(batch.column(0), [36.0, 85.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FileSource {
    path: PathBuf,
}

impl FileSource {
    /// The table in the file `path`. Nothing is read yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Source for FileSource {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        let failed = |source| Error::File { action: "read", path: self.path.clone(), source };
        let mut file = File::open(&self.path).map_err(failed)?;
        let mut start = Vec::with_capacity(4);
        file.by_ref().take(4).read_to_end(&mut start).map_err(failed)?;
        if start.is_empty() {
            return Err(Error::EmptyFile { path: self.path.clone() });
        }
        let other_kind = match start[..] {
            [0x1f, 0x8b, ..] => Some("compressed with gzip"),
            [0x28, 0xb5, 0x2f, 0xfd] => Some("compressed with zstd"),
            [b'P', b'K', 3, 4] => Some("a ZIP archive or a spreadsheet"),
            _ => None,
        };
        if let Some(kind) = other_kind {
            return Err(Error::FileKind { path: self.path.clone(), kind });
        }
        let named_parquet =
            self.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        if start == *b"PAR1" || named_parquet {
            return Ok(Box::new(ParquetReader::new(file, &self.path, selection)?));
        }
        file.rewind().map_err(failed)?;
        let input = BufReader::with_capacity(1 << 18, file);
        Ok(Box::new(CsvReader::new(input, &self.path, selection)?))
    }
}
