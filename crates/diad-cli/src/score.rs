//! `diad score`: writes the score of every row.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use diad::Detector;
use diad::encode::Oddities;
use diad::table::Source;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::columns;
use crate::input::Input;
use crate::log;
use crate::output::{self, Pending, shown};
use crate::stop::stoppable;

/// Write the score of every row of a table; a higher score is more anomalous
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The model file, from diad fit
    model: PathBuf,
    /// The table, with the columns of the model in any order; - for standard input
    table: PathBuf,
    /// The scores to write: a .csv or .parquet file, or - for CSV on standard output
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Compute exact scores instead of using tables; diad info shows how close they are
    #[arg(long)]
    exact: bool,
    /// Refuse a table with a cell that cannot be read, is infinite, or is missing in a column that had no gaps in training
    #[arg(long)]
    strict: bool,
}

const EXAMPLES: &str = "\
The output has the columns row and score, in the order of the table. Rows are counted from 0.
Columns of the table that the model does not know are not used, with a note.
Every row is scored. A cell that cannot be read, is infinite, or is missing in a column that had no gaps in training counts as rarer
than any value of its column, and is reported on standard error.
A file is written whole or not at all. With -o -, rows are written as they are scored: after an error,
those before it are already out.

Examples:
  diad score model.diad table.csv -o scores.csv
  diad score model.diad table.parquet -o scores.parquet
  diad score model.diad table.csv -o - | sort -t, -k2 -gr | head";

pub fn run(args: &Args) -> Result<()> {
    if args.output == Path::new("-") {
        output::check_open()?;
        let detector = load(&args.model, args.exact, args.strict)?;
        let mut sink = CsvSink::new(io::stdout().lock());
        let written = score_all(&detector, &Input::once(&args.table), &mut sink).and_then(|_| sink.finish());
        return written.map_err(|error| named(error, Path::new("standard output")));
    }
    let extension = args.output.extension().map(|extension| extension.to_ascii_lowercase());
    let parquet = match extension.as_deref().and_then(|extension| extension.to_str()) {
        Some("csv") => false,
        Some("parquet") => true,
        _ => bail!("cannot write {}: its name must end in .csv or .parquet", shown(&args.output)),
    };
    let target = output::check(&args.output, &[&args.model, &args.table])?;
    let detector = load(&args.model, args.exact, args.strict)?;
    let rows = write_file(&detector, &Input::once(&args.table), &target, parquet)?;
    output::tell(&format!("Wrote the scores of {rows} rows to {}.\n", shown(&args.output)))
}

/// Loads a model that scores with tables if it can, or exactly, and refuses cells that do not fit or answers them.
pub fn load(model: &Path, exact: bool, strict: bool) -> Result<Detector> {
    let detector = Detector::load(model)?;
    let detector = if exact { detector.exactly() } else { detector };
    Ok(if strict { detector.strictly() } else { detector })
}

/// Scores a table into a CSV or Parquet file; gives the number of rows.
pub fn write_file(detector: &Detector, table: &Input, target: &Path, parquet: bool) -> Result<u64> {
    let mut pending = Pending::new(target)?;
    let file = pending.file();
    let written = if parquet {
        ParquetSink::new(file).and_then(|mut sink| {
            let rows = score_all(detector, table, &mut sink)?;
            sink.finish()?;
            Ok(rows)
        })
    } else {
        let mut sink = CsvSink::new(file);
        score_all(detector, table, &mut sink).and_then(|rows| sink.finish().map(|()| rows))
    };
    let rows = written.map_err(|error| named(error, target))?;
    pending.commit()?;
    Ok(rows)
}

/// Names the output that could not be written; other errors already name theirs.
fn named(error: anyhow::Error, target: &Path) -> anyhow::Error {
    match error.downcast::<io::Error>() {
        Ok(cause) => output::unwritable(target, cause),
        Err(other) => other,
    }
}

fn score_all(detector: &Detector, table: &Input, sink: &mut dyn Sink) -> Result<u64> {
    let source = stoppable(table);
    let mut reader = source.open(&detector.selection())?;
    columns::note_unused(detector.encoder(), reader.unread());
    let (mut rows, mut scores, mut oddities) = (0, Vec::new(), Oddities::default());
    while let Some(batch) = reader.next_batch()? {
        scores.resize(batch.rows(), 0.0);
        detector.score_noting(&batch, &mut scores, &mut oddities)?;
        sink.add(rows, &scores)?;
        rows += scores.len() as u64;
        tracing::debug!(rows, "scoring");
    }
    reader.about().notes.iter().for_each(|note| log::note(note));
    tracing::info!(rows, "scored the table");
    columns::warn_of_odd(&oddities);
    Ok(rows)
}

/// Takes scores in the order of the rows.
trait Sink {
    /// Takes the scores of the rows from `first` on.
    fn add(&mut self, first: u64, scores: &[f32]) -> Result<()>;
}

struct CsvSink<W: Write> {
    out: BufWriter<W>,
    started: bool,
}

impl<W: Write> CsvSink<W> {
    fn new(out: W) -> Self {
        Self { out: BufWriter::new(out), started: false }
    }

    fn finish(mut self) -> Result<()> {
        Ok(self.out.flush()?)
    }
}

impl<W: Write> Sink for CsvSink<W> {
    fn add(&mut self, first: u64, scores: &[f32]) -> Result<()> {
        // The header waits for the first scores, so that an unreadable table gives no output at all.
        if !std::mem::replace(&mut self.started, true) {
            writeln!(self.out, "row,score")?;
        }
        for (row, score) in (first..).zip(scores) {
            writeln!(self.out, "{row},{score}")?;
        }
        Ok(())
    }
}

/// Rows per row group of a Parquet output.
const GROUP_ROWS: usize = 1 << 17;

struct ParquetSink<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    first: u64,
    waiting: Vec<f32>,
}

impl<W: Write + Send> ParquetSink<W> {
    fn new(out: W) -> Result<Self> {
        let schema = parse_message_type("message scores { REQUIRED INT64 row; REQUIRED FLOAT score; }")?;
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        let writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties)).map_err(cause)?;
        Ok(Self { writer, first: 0, waiting: Vec::new() })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let end = self.first + self.waiting.len() as u64;
        let rows: Vec<i64> = (self.first..end).map(u64::cast_signed).collect();
        let mut group = self.writer.next_row_group()?;
        if let Some(mut column) = group.next_column()? {
            column.typed::<Int64Type>().write_batch(&rows, None, None)?;
            column.close()?;
        }
        if let Some(mut column) = group.next_column()? {
            column.typed::<FloatType>().write_batch(&self.waiting, None, None)?;
            column.close()?;
        }
        group.close()?;
        self.first = end;
        self.waiting.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if !self.waiting.is_empty() {
            self.write_group().map_err(cause)?;
        }
        self.writer.close().map_err(cause)?;
        Ok(())
    }
}

impl<W: Write + Send> Sink for ParquetSink<W> {
    fn add(&mut self, _first: u64, scores: &[f32]) -> Result<()> {
        self.waiting.extend_from_slice(scores);
        if self.waiting.len() >= GROUP_ROWS {
            self.write_group().map_err(cause)?;
        }
        Ok(())
    }
}

/// The system error inside an error of the Parquet writer.
fn cause(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(cause) => *cause,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use diad::table::{FileSource, Selection, Table};

    use super::*;

    #[test]
    fn both_formats_hold_every_row_in_order() {
        let scores: Vec<f32> = (0..GROUP_ROWS + 10).map(|i| i as f32 / 3.0).collect();
        let folder = tempfile::tempdir().unwrap();
        let parquet = folder.path().join("s.parquet");
        let csv = folder.path().join("s.csv");
        let mut sink = ParquetSink::new(std::fs::File::create(&parquet).unwrap()).unwrap();
        let mut text = CsvSink::new(std::fs::File::create(&csv).unwrap());
        for (chunk, first) in scores.chunks(8192).zip((0..).step_by(8192)) {
            sink.add(first, chunk).unwrap();
            text.add(first, chunk).unwrap();
        }
        sink.finish().unwrap();
        text.finish().unwrap();
        for path in [parquet, csv] {
            let source = FileSource::new(path);
            let mut reader = source.open(&Selection::all()).unwrap();
            let mut rows = 0;
            while let Some(batch) = reader.next_batch().unwrap() {
                check(&batch, &scores[rows..], rows);
                rows += batch.rows();
            }
            assert_eq!(rows, scores.len());
        }
    }

    fn check(batch: &Table, scores: &[f32], first: usize) {
        assert_eq!(batch.names(), ["row", "score"]);
        for (i, (row, score)) in batch.column(0).iter().zip(batch.column(1)).enumerate() {
            assert_eq!((*row, *score as f32), ((first + i) as f64, scores[i]));
        }
    }
}
