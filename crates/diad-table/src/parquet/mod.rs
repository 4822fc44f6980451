//! Reads Parquet: flat columns of numbers, truth values, texts and times, batch by batch within each row group.

mod guard;

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use self::guard::Guarded;
use crate::header::Header;
use crate::select::{Chosen, Pick, not_read};
use crate::{
    About, Error, Origin, Place, ReadAs, Reader, Result, Selection, Table, Texts, Values, batch_rows, seconds,
};

pub(crate) struct ParquetReader {
    path: PathBuf,
    file: SerializedFileReader<Guarded>,
    names: Vec<String>,
    unread: Vec<String>,
    notes: Vec<String>,
    columns: Vec<Column>,
    group: usize,
    left_in_group: usize,
    rows: u64,
    next_row: u64,
}

/// One selected column and its reader in the current row group.
struct Column {
    pick: Pick,
    name: String,
    stored: Stored,
    /// A value is there if its definition level is this.
    defined: i16,
    chunk: Option<ColumnReader>,
}

/// How stored values are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stored {
    Signed,
    Unsigned,
    /// Divided by this power of ten.
    Decimal(f64),
    /// So many units are a second since the start of 1970, or of a day.
    Time(f64),
    /// Whole days since the start of 1970.
    Days,
    Text,
}

impl ParquetReader {
    pub(crate) fn new(file: File, path: &Path, selection: &Selection) -> Result<Self> {
        caught(path, || Self::open(file, path, selection))
    }

    fn open(file: File, path: &Path, selection: &Selection) -> Result<Self> {
        let damaged = |error| damaged(path, error);
        let file = Guarded::new(file).and_then(SerializedFileReader::new).map_err(damaged)?;
        let schema = file.metadata().file_metadata().schema_descr();
        let header = Header::new(schema.columns().iter().map(|column| column.path().string()).collect());
        let all = &header.names;
        let column = |pick: Pick| {
            let described = schema.column(pick.index);
            let name = all[pick.index].clone();
            let stored = stored_as(&described)
                .ok_or_else(|| Error::NotNumeric { column: name.clone(), kind: kind_of(&described) })?;
            Ok(Column { pick, name, stored, defined: described.max_def_level(), chunk: None })
        };
        let Chosen { mut picks, mut unread, .. } = selection.choose(&header)?;
        let mut notes = Vec::new();
        picks.retain(|pick| {
            let described = schema.column(pick.index);
            let is_read = stored_as(&described).is_some() || !selection.may_leave_out(pick);
            if !is_read {
                notes.push(not_read(&all[pick.index], &kind_of(&described)));
                unread.push(all[pick.index].clone());
            }
            is_read
        });
        let columns = picks.into_iter().map(column).collect::<Result<Vec<Column>>>()?;
        let names = columns.iter().map(|column| column.name.clone()).collect();
        check_compression(&file, &columns, path)?;
        let mut rows = 0u64;
        for group in file.metadata().row_groups() {
            let count = u64::try_from(group.num_rows()).ok().and_then(|count| rows.checked_add(count));
            rows =
                count.ok_or_else(|| damaged(ParquetError::General("an impossible number of rows".into())))?;
        }
        if rows == 0 {
            return Err(Error::NoRows { path: path.to_owned() });
        }
        let path = path.to_owned();
        Ok(Self { path, file, names, unread, notes, columns, group: 0, left_in_group: 0, rows, next_row: 0 })
    }

    /// Opens the next row group that has rows; `false` at the end of the file.
    fn next_group(&mut self) -> Result<bool> {
        while self.group < self.file.num_row_groups() {
            let damaged = |error| damaged(&self.path, error);
            let group = self.file.get_row_group(self.group).map_err(damaged)?;
            self.group += 1;
            // `new` has checked that no row group has a negative number of rows.
            self.left_in_group = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
            if self.left_in_group == 0 {
                continue;
            }
            for column in &mut self.columns {
                column.chunk = Some(group.get_column_reader(column.pick.index).map_err(damaged)?);
            }
            return Ok(true);
        }
        Ok(false)
    }
}

impl Reader for ParquetReader {
    crate::source::names_in!(self);

    fn about(&self) -> About {
        About { notes: self.notes.clone(), ..About::default() }
    }

    fn rows(&self) -> Option<u64> {
        Some(self.rows)
    }

    fn next_batch(&mut self) -> Result<Option<Table>> {
        caught(&self.path.clone(), || self.read_batch())
    }
}

impl ParquetReader {
    fn read_batch(&mut self) -> Result<Option<Table>> {
        if self.left_in_group == 0 && !self.next_group()? {
            return Ok(None);
        }
        let rows = self.left_in_group.min(batch_rows(self.columns.len()));
        let mut columns = Vec::with_capacity(self.columns.len());
        for column in &mut self.columns {
            columns.push(column.read(rows, self.next_row, &self.path)?);
        }
        let origin = Origin::FirstRow(self.next_row);
        self.left_in_group -= rows;
        self.next_row += rows as u64;
        Ok(Some(Table::batch(&self.names, columns, rows, origin)))
    }
}

impl Column {
    /// The next `rows` values.
    fn read(&mut self, rows: usize, first_row: u64, path: &Path) -> Result<Values> {
        let values = self.read_stored(rows).map_err(|error| damaged(path, error))?;
        let place = |row: usize| Place::Row(first_row + row as u64);
        values.picked(&self.pick, &self.name, &place)
    }

    fn read_stored(&mut self, rows: usize) -> parquet::errors::Result<Values> {
        let defined = self.defined;
        let read = match &mut self.chunk {
            Some(ColumnReader::BoolColumnReader(chunk)) => {
                if matches!(self.pick.read_as, ReadAs::Found | ReadAs::Written | ReadAs::AsIs | ReadAs::Texts)
                {
                    let word = |cell: Option<bool>| cell.map(|truth| if truth { "true" } else { "false" });
                    let cells = cells(chunk, rows, defined)?;
                    return Ok(cells.into_iter().map(word).collect::<Texts>().into());
                }
                numbers(chunk, rows, defined, |&value| f64::from(value))
            }
            Some(ColumnReader::FloatColumnReader(chunk)) => {
                numbers(chunk, rows, defined, |&value| f64::from(value))
            }
            Some(ColumnReader::DoubleColumnReader(chunk)) => numbers(chunk, rows, defined, |&value| value),
            Some(ColumnReader::Int32ColumnReader(chunk)) => match self.stored {
                Stored::Unsigned => numbers(chunk, rows, defined, |&value| f64::from(value.cast_unsigned())),
                Stored::Decimal(unit) => numbers(chunk, rows, defined, |&value| f64::from(value) / unit),
                Stored::Days => numbers(chunk, rows, defined, |&value| f64::from(value) * 86_400.0),
                Stored::Time(unit) => numbers(chunk, rows, defined, |&value| seconds(value.into(), unit)),
                _ => numbers(chunk, rows, defined, |&value| f64::from(value)),
            },
            Some(ColumnReader::Int64ColumnReader(chunk)) => match self.stored {
                Stored::Decimal(unit) => numbers(chunk, rows, defined, |&value| value as f64 / unit),
                Stored::Time(unit) => numbers(chunk, rows, defined, |&value| seconds(value, unit)),
                stored => {
                    let cells = cells(chunk, rows, defined)?;
                    let whole = |cell: &Option<i64>| match stored {
                        Stored::Unsigned => cell.map(|value| value.cast_unsigned().into()),
                        _ => cell.map(i128::from),
                    };
                    return Ok(Values::of_integers(cells.iter().map(whole), self.pick.read_as));
                }
            },
            Some(ColumnReader::Int96ColumnReader(chunk)) => {
                numbers(chunk, rows, defined, |value| seconds(value.to_nanos(), 1e9))
            }
            Some(ColumnReader::FixedLenByteArrayColumnReader(chunk)) => match self.stored {
                Stored::Decimal(unit) => numbers(chunk, rows, defined, |value| decimal(value.data(), unit)),
                _ => Err(ParquetError::General("a column of an unexpected type".into())),
            },
            Some(ColumnReader::ByteArrayColumnReader(chunk)) => match self.stored {
                Stored::Decimal(unit) => numbers(chunk, rows, defined, |value| decimal(value.data(), unit)),
                _ => return texts(&cells(chunk, rows, defined)?).map(Values::Texts),
            },
            _ => Err(ParquetError::General("a column of an unexpected type".into())),
        };
        let times = matches!(self.stored, Stored::Time(_) | Stored::Days);
        Ok(if times { Values::Times(read?) } else { Values::Numbers(read?) })
    }
}

/// A decimal number of some bytes, the most significant first. One that is too long for its digits to be kept is rounded once.
fn decimal(bytes: &[u8], unit: f64) -> f64 {
    let negative = bytes.first().is_some_and(|first| first & 0x80 != 0);
    let (padding, bytes) = match bytes.len().checked_sub(16) {
        Some(longer) => bytes.split_at(longer),
        None => (&[][..], bytes),
    };
    let sign = if negative { 0xff } else { 0 };
    if padding.iter().any(|&byte| byte != sign) {
        return f64::NAN;
    }
    let start = if negative { -1i128 } else { 0 };
    let whole = bytes.iter().fold(start, |whole, &byte| whole << 8 | i128::from(byte));
    whole as f64 / unit
}

/// Cells as texts; an empty one is missing, as it is in CSV.
fn texts(cells: &[Option<ByteArray>]) -> parquet::errors::Result<Texts> {
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let (mut levels, mut codes) = (Vec::new(), Vec::with_capacity(cells.len()));
    for cell in cells {
        let bytes = cell.as_ref().map_or(&b""[..], ByteArray::data);
        let code = match known.get(bytes) {
            Some(&code) => code,
            None if bytes.trim_ascii().is_empty() => Texts::missing(),
            None => {
                let text = std::str::from_utf8(bytes)
                    .map_err(|_| ParquetError::General("it holds bytes that are not text".into()))?;
                levels.push(text.trim_ascii().to_owned());
                known.insert(bytes, levels.len() as u32 - 1);
                levels.len() as u32 - 1
            }
        };
        codes.push(code);
    }
    Ok(Texts::new(levels, codes))
}

fn numbers<T: DataType>(
    chunk: &mut ColumnReaderImpl<T>,
    rows: usize,
    defined: i16,
    number: impl Fn(&T::T) -> f64,
) -> parquet::errors::Result<Vec<f64>> {
    let cells = cells(chunk, rows, defined)?;
    Ok(cells.iter().map(|cell| cell.as_ref().map_or(f64::NAN, &number)).collect())
}

/// The next `rows` cells of a column, `None` for a null.
fn cells<T: DataType>(
    chunk: &mut ColumnReaderImpl<T>,
    rows: usize,
    defined: i16,
) -> parquet::errors::Result<Vec<Option<T::T>>> {
    let (mut values, mut levels) = (Vec::with_capacity(rows), Vec::new());
    let wanted_levels = if defined > 0 { Some(&mut levels) } else { None };
    let (found, _, _) = chunk.read_records(rows, wanted_levels, None, &mut values)?;
    let nulls = levels.iter().filter(|&&level| level != defined).count();
    let whole = found == rows && values.len() + nulls == rows && (defined == 0 || levels.len() == rows);
    if !whole {
        return Err(ParquetError::EOF("a column ends before its last row".into()));
    }
    if defined == 0 {
        return Ok(values.into_iter().map(Some).collect());
    }
    let mut values = values.into_iter();
    Ok(levels.iter().map(|&level| if level == defined { values.next() } else { None }).collect())
}

/// How the column's values are to be understood; `None` if they cannot be read.
fn stored_as(column: &ColumnDescriptor) -> Option<Stored> {
    if column.max_rep_level() > 0 {
        return None;
    }
    let power_of_ten = |scale: i32| Stored::Decimal(10f64.powi(scale));
    let days = Stored::Days;
    match (column.physical_type(), column.logical_type_ref(), column.converted_type()) {
        (Physical::BOOLEAN | Physical::FLOAT | Physical::DOUBLE, ..) => Some(Stored::Signed),
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Decimal(decimal)), _) => {
            Some(power_of_ten(decimal.scale))
        }
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, _, ConvertedType::DECIMAL) => {
            Some(power_of_ten(column.type_scale()))
        }
        (Physical::INT96, ..) => Some(Stored::Time(1e9)),
        (Physical::BYTE_ARRAY, ..) => Some(Stored::Text),
        (Physical::INT32 | Physical::INT64, Some(logical), _) => match logical {
            LogicalType::Integer(integer) if integer.is_signed => Some(Stored::Signed),
            LogicalType::Integer(_) => Some(Stored::Unsigned),
            LogicalType::Decimal(decimal) => Some(power_of_ten(decimal.scale)),
            LogicalType::Date => Some(days),
            LogicalType::Timestamp(timestamp) => Some(unit_of(&timestamp.unit)),
            LogicalType::Time(time) => Some(unit_of(&time.unit)),
            _ => None,
        },
        (Physical::INT32 | Physical::INT64, None, converted) => match converted {
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Some(Stored::Unsigned),
            ConvertedType::DECIMAL => Some(power_of_ten(column.type_scale())),
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Some(Stored::Signed),
            ConvertedType::DATE => Some(days),
            ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIME_MILLIS => Some(Stored::Time(1e3)),
            ConvertedType::TIMESTAMP_MICROS | ConvertedType::TIME_MICROS => Some(Stored::Time(1e6)),
            _ => None,
        },
        _ => None,
    }
}

fn unit_of(unit: &TimeUnit) -> Stored {
    Stored::Time(match unit {
        TimeUnit::MILLIS => 1e3,
        TimeUnit::MICROS => 1e6,
        TimeUnit::NANOS => 1e9,
    })
}

/// The column's type in words.
fn kind_of(column: &ColumnDescriptor) -> String {
    if column.max_rep_level() > 0 {
        return "list".into();
    }
    match (column.logical_type_ref(), column.converted_type()) {
        (Some(LogicalType::String), _) | (_, ConvertedType::UTF8) => "text".into(),
        (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => "date".into(),
        (Some(LogicalType::Timestamp(_)), _) => "timestamp".into(),
        (Some(LogicalType::Time(_)), _) => "time".into(),
        _ => format!("{:?}", column.physical_type()),
    }
}

fn check_compression(file: &SerializedFileReader<Guarded>, columns: &[Column], path: &Path) -> Result<()> {
    for group in file.metadata().row_groups() {
        for column in columns {
            let kind = group.column(column.pick.index).compression();
            if !matches!(
                kind,
                Compression::UNCOMPRESSED
                    | Compression::SNAPPY
                    | Compression::GZIP(_)
                    | Compression::LZ4
                    | Compression::LZ4_RAW
                    | Compression::ZSTD(_)
            ) {
                return Err(Error::Compression { path: path.to_owned(), kind: kind.to_string() });
            }
        }
    }
    Ok(())
}

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread would now become an error about a damaged file. A panic hook may ask
/// this: the message of such a panic would only confuse.
pub fn panic_is_caught() -> bool {
    CAUGHT.get()
}

/// Calls the Parquet library, which panics on some damaged files.
fn caught<T>(path: &Path, call: impl FnOnce() -> Result<T>) -> Result<T> {
    CAUGHT.set(true);
    let result = catch_unwind(AssertUnwindSafe(call));
    CAUGHT.set(false);
    result.unwrap_or_else(|_| {
        Err(damaged(path, ParquetError::General("its parts contradict each other".into())))
    })
}

fn damaged(path: &Path, error: ParquetError) -> Error {
    let reason = match error {
        ParquetError::General(text) | ParquetError::NYI(text) | ParquetError::EOF(text) => text,
        other => other.to_string(),
    };
    Error::Parquet { path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_panics_inside_are_marked_as_caught() {
        let path = Path::new("t.parquet");
        assert!(!panic_is_caught());
        assert!(caught(path, || Ok(panic_is_caught())).unwrap());
        let elsewhere = || std::thread::spawn(panic_is_caught).join().unwrap();
        assert!(!caught(path, || Ok(elsewhere())).unwrap());
        let panicked: Result<()> = caught(path, || panic!("as the Parquet library does"));
        assert!(matches!(panicked, Err(Error::Parquet { .. })));
        assert!(!panic_is_caught());
    }
}
