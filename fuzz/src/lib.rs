//! What the fuzz targets share: a table of bytes, and a file of bytes in memory where the system has such files.

use std::cell::RefCell;
use std::io::{Seek, Write};
use std::path::Path;

use diad::{Detector, Params};
use diad::table::{FileSource, Reader, Result, Selection, Source, panic_is_caught, read_stream};
use tempfile::NamedTempFile;

/// Batches that are read of one table. A few bytes can stand for very many rows without values.
const MOST_BATCHES: usize = 16;

/// Bytes that are read as standard input is.
pub struct Bytes<'a>(pub &'a [u8]);

impl Source for Bytes<'_> {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        read_stream(Box::new(self.0), Path::new("input"), selection)
    }
}

/// A table whose batches come to an end.
struct Short<'a, S>(&'a S);

struct ShortReader<'a>(Box<dyn Reader + 'a>, usize);

impl<S: Source> Source for Short<'_, S> {
    fn open(&self, selection: &Selection) -> Result<Box<dyn Reader + '_>> {
        Ok(Box::new(ShortReader(self.0.open(selection)?, MOST_BATCHES)))
    }
}

impl Reader for ShortReader<'_> {
    fn names(&self) -> &[String] {
        self.0.names()
    }

    fn rows(&self) -> Option<u64> {
        None
    }

    fn next_batch(&mut self) -> Result<Option<diad::table::Table>> {
        match self.1.checked_sub(1) {
            Some(left) => self.1 = left,
            None => return Ok(None),
        }
        self.0.next_batch()
    }
}

/// Reads a table, trains a small model on it if it has few cells, writes the model and reads it again, and scores the table with it.
/// There are finite scores, or an error of one line. Equal bytes are taken in equally.
pub fn take_in(source: &impl Source, bytes: &[u8]) {
    /// Most rows and features of a table that is trained on: what comes after the reading does not depend on their number.
    const MOST: (usize, usize) = (200, 8);
    /// Isolation is most of the time of so small a fit, and has nothing to do with what the rows hold: one fit in sixteen has it.
    const ISOLATED: u32 = 16;
    let weight_isolation = f64::from(crc32fast::hash(bytes) % ISOLATED == 0);
    let params = Params::default().with_steps(2).trees(2).batch(16).weight_isolation(weight_isolation);
    let table = Short(source);
    let told = |error: diad::Error| assert!(!error.to_string().contains('\n'), "{error}");
    let training = match params.fitting(&table).read() {
        Ok(training) => training,
        Err(error) => return told(error),
    };
    // That all values are finite is asserted where they are read.
    assert!(training.rows() >= 2);
    if training.rows() > MOST.0 || training.encoder().columns().len() > MOST.1 {
        return;
    }
    let detector = training.run().expect("a model of a table that was read");
    let bytes = detector.to_bytes().expect("bytes of a model");
    let opened = Detector::from_bytes(&bytes).expect("a model that was written opens");
    let mut reader = table.open(&opened.selection()).expect("a table that was opened before");
    while let Some(batch) = reader.next_batch().expect("rows that were read before") {
        let scores = opened.score(&batch).expect("every row gets an answer");
        assert!(scores.iter().all(|score| score.is_finite()), "{scores:?}");
    }
}

/// Gives the bytes to `work` as a file.
pub fn as_file<T>(bytes: &[u8], work: impl FnOnce(&Path) -> T) -> T {
    thread_local! {
        static FILE: RefCell<NamedTempFile> = RefCell::new(new_file());
    }
    FILE.with_borrow_mut(|file| {
        file.as_file_mut().set_len(0).expect("an empty file");
        file.rewind().expect("a start");
        file.write_all(bytes).expect("room");
        work(file.path())
    })
}

/// A file whose name says Parquet: its first bytes need not say it too.
fn new_file() -> NamedTempFile {
    let memory = Path::new("/dev/shm");
    let mut file = tempfile::Builder::new();
    file.suffix(".parquet");
    if memory.is_dir() { file.tempfile_in(memory) } else { file.tempfile() }.expect("a file")
}

/// A file of bytes as a table.
pub fn take_in_file(bytes: &[u8]) {
    as_file(bytes, |path| take_in(&FileSource::new(path), bytes));
}

/// Does all work on this thread, which saves the way to others and back, and lets the Parquet library panic: libFuzzer stops
/// at every panic, but the reader turns those into errors.
pub fn begin() {
    let here = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    here.build_global().expect("a first pool");
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !panic_is_caught() {
            default(info);
        }
    }));
}
