//! Parquet, compressed with zstd.

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Result;
use parquet::basic::{Compression, ConvertedType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, FloatType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::{Cells, Column, Writer, number};

/// Rows per row group; few in tests, so that there are several.
const GROUP_ROWS: usize = if cfg!(test) { 1 << 10 } else { 1 << 17 };

/// Cells of a column that wait to be written.
enum Waiting {
    Whole(Vec<i64>),
    Scores(Vec<f32>),
    Numbers(Vec<f64>),
    Truths(Vec<bool>),
    /// The texts that are there, and for each row whether one is.
    Texts(Vec<ByteArray>, Vec<i16>),
    /// The same of numbers.
    Numerals(Vec<f64>, Vec<i16>),
}

pub struct Parquet<W: Write + Send> {
    out: Option<W>,
    writer: Option<SerializedFileWriter<W>>,
    waiting: Vec<Waiting>,
    rows: usize,
}

impl<W: Write + Send> Parquet<W> {
    pub fn new(out: W) -> Self {
        Self { out: Some(out), writer: None, waiting: Vec::new(), rows: 0 }
    }

    /// Starts the file with the columns of the first batch.
    fn start(&mut self, columns: &[Column]) -> Result<(), ParquetError> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
        let schema = Type::group_type_builder("rows").with_fields(fields).build()?;
        let zstd = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(zstd).build();
        self.writer = Some(SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?);
        self.waiting = columns.iter().map(|column| empty(column.cells)).collect();
        Ok(())
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        let Some(writer) = &mut self.writer else { return Ok(()) };
        let mut group = writer.next_row_group()?;
        for waiting in &mut self.waiting {
            match waiting {
                Waiting::Whole(values) => write::<Int64Type, _>(&mut group, values, None)?,
                Waiting::Scores(values) => write::<FloatType, _>(&mut group, values, None)?,
                Waiting::Numbers(values) => write::<DoubleType, _>(&mut group, values, None)?,
                Waiting::Truths(values) => write::<BoolType, _>(&mut group, values, None)?,
                Waiting::Texts(values, levels) => {
                    write::<ByteArrayType, _>(&mut group, values, Some(levels))?;
                    levels.clear();
                }
                Waiting::Numerals(values, levels) => {
                    write::<DoubleType, _>(&mut group, values, Some(levels))?;
                    levels.clear();
                }
            }
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let (physical, repetition) = match column.cells {
        Cells::Whole(_) => (Physical::INT64, Repetition::REQUIRED),
        Cells::Scores(_) => (Physical::FLOAT, Repetition::REQUIRED),
        Cells::Coded(..) => (Physical::DOUBLE, Repetition::REQUIRED),
        Cells::Numerals(..) => (Physical::DOUBLE, Repetition::OPTIONAL),
        Cells::Truths(_) => (Physical::BOOLEAN, Repetition::REQUIRED),
        Cells::Words(..) | Cells::Texts(_) => (Physical::BYTE_ARRAY, Repetition::OPTIONAL),
    };
    let builder = Type::primitive_type_builder(column.name, physical).with_repetition(repetition);
    let builder = match physical {
        Physical::BYTE_ARRAY => builder.with_converted_type(ConvertedType::UTF8),
        _ => builder,
    };
    builder.build().map(Arc::new)
}

fn empty(cells: Cells) -> Waiting {
    match cells {
        Cells::Whole(_) => Waiting::Whole(Vec::new()),
        Cells::Scores(_) => Waiting::Scores(Vec::new()),
        Cells::Coded(..) => Waiting::Numbers(Vec::new()),
        Cells::Numerals(..) => Waiting::Numerals(Vec::new(), Vec::new()),
        Cells::Truths(_) => Waiting::Truths(Vec::new()),
        Cells::Words(..) | Cells::Texts(_) => Waiting::Texts(Vec::new(), Vec::new()),
    }
}

/// Writes the values of a column, which are gone then.
fn write<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> Result<(), ParquetError> {
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(values, levels, None)?;
        column.close()?;
    }
    values.clear();
    Ok(())
}

impl<W: Write + Send> Writer for Parquet<W> {
    fn add(&mut self, columns: &[Column]) -> Result<()> {
        self.start(columns).map_err(cause)?;
        for (waiting, column) in self.waiting.iter_mut().zip(columns) {
            match (waiting, column.cells) {
                (Waiting::Whole(values), Cells::Whole(cells)) => {
                    values.extend(cells.iter().map(|cell| cell.cast_signed()));
                }
                (Waiting::Scores(values), Cells::Scores(cells)) => values.extend_from_slice(cells),
                (Waiting::Numbers(values), Cells::Coded(numbers, _, codes)) => {
                    values.extend(codes.iter().map(|&code| numbers[code as usize]));
                }
                (Waiting::Truths(values), Cells::Truths(cells)) => values.extend_from_slice(cells),
                (Waiting::Texts(values, levels), Cells::Words(words, codes)) => {
                    let words: Vec<ByteArray> =
                        words.iter().map(|word| ByteArray::from(word.as_bytes().to_vec())).collect();
                    let cells = || codes.iter().map(|&code| words.get(code as usize));
                    values.extend(cells().flatten().cloned());
                    levels.extend(cells().map(|cell| i16::from(cell.is_some())));
                }
                (Waiting::Texts(values, levels), Cells::Texts(cells)) => {
                    values.extend(cells.iter().flatten().map(|text| ByteArray::from(text.as_str())));
                    levels.extend(cells.iter().map(|cell| i16::from(cell.is_some())));
                }
                (Waiting::Numerals(values, levels), Cells::Numerals(cells, notation)) => {
                    // What is no number has no place in a column of numbers.
                    let numbers = cells.iter().map(|cell| number(cell.as_deref()?, notation));
                    for number in numbers {
                        values.extend(number);
                        levels.push(i16::from(number.is_some()));
                    }
                }
                // The columns are the same in every batch.
                _ => {}
            }
        }
        self.rows += columns.first().map_or(0, |column| column.cells.len());
        if self.rows >= GROUP_ROWS {
            self.write_group().map_err(cause)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        if self.rows > 0 {
            self.write_group().map_err(cause)?;
        }
        if let Some(writer) = self.writer {
            writer.close().map_err(cause)?;
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
