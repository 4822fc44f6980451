//! What the tests of several formats share.

use std::path::Path;

use diad_table::{FileSource, Result, Selection, Source, Table};

/// All batches of a file.
pub fn read(path: &Path, selection: &Selection) -> Result<Vec<Table>> {
    let source = FileSource::new(path);
    let mut reader = source.open(selection)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}
