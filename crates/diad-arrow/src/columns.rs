//! Columns of Arrow, chunk after chunk.

use std::ops::Range;

use diad_table::{ColumnView, Error, ReadAs, Result, Texts, Values, View, seconds};

use super::arrow_array::cast::AsArray;
use super::arrow_array::types::*;
use super::arrow_array::{Array, ArrayRef, RecordBatch};
use super::arrow_buffer::i256;
use super::arrow_schema::{DataType, TimeUnit};

/// What a column holds, as the reader of Parquet files takes it.
#[derive(Debug, Clone, PartialEq)]
enum Stored {
    Numbers,
    /// Whole numbers that may have more digits than a double.
    Integers,
    /// So many units are a second.
    Times(f64),
    Truths,
    Texts,
    Other(String),
}

/// A column of Arrow, read where it is.
#[derive(Debug)]
pub struct Column {
    stored: Stored,
    /// Whether it is a column of categories, which come as dictionaries.
    category: bool,
    chunks: Vec<Chunk>,
    rows: usize,
}

#[derive(Debug)]
struct Chunk {
    /// Its first row in the column.
    start: usize,
    array: ArrayRef,
    /// The values of a dictionary as texts.
    levels: Vec<Option<String>>,
}

impl Column {
    /// The column of these arrays, one after the other, which are all of one type.
    pub fn new(kind: &DataType, arrays: Vec<ArrayRef>) -> Self {
        let mut rows = 0;
        let mut chunks = Vec::with_capacity(arrays.len());
        for array in arrays {
            let start = rows;
            rows += array.len();
            chunks.push(Chunk { start, levels: levels(&array), array });
        }
        Self { stored: stored_as(kind), category: matches!(kind, DataType::Dictionary(..)), chunks, rows }
    }

    /// The parts of chunks that some rows are in.
    fn parts(&self, rows: Range<usize>) -> impl Iterator<Item = (ArrayRef, &[Option<String>])> {
        let first = self.chunks.partition_point(|chunk| chunk.start <= rows.start).saturating_sub(1);
        let end = rows.end;
        self.chunks[first..].iter().take_while(move |chunk| chunk.start < end).map(move |chunk| {
            let from = rows.start.max(chunk.start) - chunk.start;
            let to = rows.end.min(chunk.start + chunk.array.len()) - chunk.start;
            (chunk.array.slice(from, to - from), chunk.levels.as_slice())
        })
    }

    fn numbers(&self, rows: Range<usize>, unit: f64) -> Vec<f64> {
        let mut numbers = Vec::with_capacity(rows.len());
        self.parts(rows).for_each(|(part, _)| add_numbers(&part, unit, &mut numbers));
        numbers
    }
}

impl ColumnView for Column {
    fn len(&self) -> usize {
        self.rows
    }

    fn is_category(&self) -> bool {
        self.category
    }

    fn read(&self, name: &str, rows: Range<usize>, wanted: ReadAs) -> Result<Values> {
        Ok(match &self.stored {
            Stored::Integers => {
                let mut whole = Vec::with_capacity(rows.len());
                self.parts(rows).for_each(|(part, _)| add_integers(&part, &mut whole));
                Values::of_integers(whole.into_iter(), wanted)
            }
            Stored::Numbers => Values::Numbers(self.numbers(rows, 1.0)),
            Stored::Times(unit) => Values::Times(self.numbers(rows, *unit)),
            Stored::Truths
                if !matches!(wanted, ReadAs::Found | ReadAs::Written | ReadAs::AsIs | ReadAs::Texts) =>
            {
                Values::Numbers(self.numbers(rows, 1.0))
            }
            Stored::Truths | Stored::Texts => {
                let parts: Vec<_> = self.parts(rows).collect();
                Texts::of_cells(parts.iter().flat_map(|(part, levels)| texts(part, levels))).into()
            }
            Stored::Other(kind) => {
                return Err(Error::NotNumeric { column: name.to_owned(), kind: kind.clone() });
            }
        })
    }
}

/// The columns of a batch of rows.
///
/// # Errors
/// If a name repeats.
pub fn view(batch: &RecordBatch) -> Result<View<'static>> {
    let column = |array: &ArrayRef| {
        Box::new(Column::new(array.data_type(), vec![array.clone()])) as Box<dyn ColumnView>
    };
    let names = batch.schema().fields().iter().map(|field| field.name().clone()).collect();
    View::new(names, batch.columns().iter().map(column).collect())
}

/// What a type is, in a word, if columns of it are not read.
pub fn unread(kind: &DataType) -> Option<String> {
    match stored_as(kind) {
        Stored::Other(kind) => Some(kind),
        _ => None,
    }
}

fn stored_as(kind: &DataType) -> Stored {
    use DataType::*;
    match kind {
        Null | Int8 | Int16 | Int32 | UInt8 | UInt16 | UInt32 | Float16 | Float32 | Float64
        | Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..) | Duration(_) => Stored::Numbers,
        Int64 | UInt64 => Stored::Integers,
        Boolean => Stored::Truths,
        Utf8 | LargeUtf8 | Utf8View => Stored::Texts,
        Date32 => Stored::Times(1.0 / 86_400.0),
        Date64 => Stored::Times(1e3),
        Time32(TimeUnit::Second) => Stored::Times(1.0),
        Time32(_) => Stored::Times(1e3),
        Time64(TimeUnit::Microsecond) => Stored::Times(1e6),
        Time64(_) => Stored::Times(1e9),
        Timestamp(unit, _) => Stored::Times(match unit {
            TimeUnit::Second => 1.0,
            TimeUnit::Millisecond => 1e3,
            TimeUnit::Microsecond => 1e6,
            TimeUnit::Nanosecond => 1e9,
        }),
        Dictionary(_, values) => match stored_as(values) {
            Stored::Other(kind) => Stored::Other(kind),
            _ => Stored::Texts,
        },
        other => Stored::Other(words(other)),
    }
}

/// A type in one word.
fn words(kind: &DataType) -> String {
    match kind {
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "list".into(),
        DataType::Struct(_) => "struct".into(),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => "binary".into(),
        DataType::FixedSizeBinary(_) => "fixed-size binary".into(),
        other => other.to_string(),
    }
}

/// Adds the whole numbers of an array, nothing for missing ones.
fn add_integers(array: &ArrayRef, out: &mut Vec<Option<i128>>) {
    if array.data_type() == &DataType::UInt64 {
        out.extend(array.as_primitive::<UInt64Type>().iter().map(|cell| cell.map(i128::from)));
    } else {
        out.extend(array.as_primitive::<Int64Type>().iter().map(|cell| cell.map(i128::from)));
    }
}

/// Adds the numbers of an array, NaN for missing ones.
fn add_numbers(array: &ArrayRef, unit: f64, out: &mut Vec<f64>) {
    macro_rules! primitive {
        ($kind:ty, $number:expr) => {{
            let values = array.as_primitive::<$kind>();
            match values.nulls() {
                None => out.extend(values.values().iter().map($number)),
                Some(_) => out.extend(values.iter().map(|cell| cell.as_ref().map_or(f64::NAN, $number))),
            }
        }};
    }
    match array.data_type() {
        DataType::Float64 if array.null_count() == 0 => {
            out.extend_from_slice(array.as_primitive::<Float64Type>().values());
        }
        DataType::Float32 => primitive!(Float32Type, |&value| f64::from(value)),
        DataType::Float64 => primitive!(Float64Type, |&value| value),
        DataType::Float16 => primitive!(Float16Type, |value| value.to_f64()),
        DataType::Int8 => primitive!(Int8Type, |&value| f64::from(value)),
        DataType::Int16 => primitive!(Int16Type, |&value| f64::from(value)),
        DataType::Int32 => primitive!(Int32Type, |&value| f64::from(value)),
        DataType::Int64 => primitive!(Int64Type, |&value| value as f64),
        DataType::UInt8 => primitive!(UInt8Type, |&value| f64::from(value)),
        DataType::UInt16 => primitive!(UInt16Type, |&value| f64::from(value)),
        DataType::UInt32 => primitive!(UInt32Type, |&value| f64::from(value)),
        DataType::UInt64 => primitive!(UInt64Type, |&value| value as f64),
        DataType::Decimal32(_, scale) => {
            let scale = 10f64.powi(i32::from(*scale));
            primitive!(Decimal32Type, |&value| f64::from(value) / scale)
        }
        DataType::Decimal64(_, scale) => {
            let scale = 10f64.powi(i32::from(*scale));
            primitive!(Decimal64Type, |&value| value as f64 / scale)
        }
        DataType::Decimal128(_, scale) => {
            let scale = 10f64.powi(i32::from(*scale));
            primitive!(Decimal128Type, |&value| value as f64 / scale)
        }
        DataType::Decimal256(_, scale) => {
            let scale = 10f64.powi(i32::from(*scale));
            primitive!(Decimal256Type, |&value| wide(value) / scale)
        }
        DataType::Duration(TimeUnit::Second) => primitive!(DurationSecondType, |&value| value as f64),
        DataType::Duration(TimeUnit::Millisecond) => {
            primitive!(DurationMillisecondType, |&value| seconds(value, 1e3))
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            primitive!(DurationMicrosecondType, |&value| seconds(value, 1e6))
        }
        DataType::Duration(TimeUnit::Nanosecond) => {
            primitive!(DurationNanosecondType, |&value| seconds(value, 1e9))
        }
        DataType::Date32 => primitive!(Date32Type, |&value| f64::from(value) / unit),
        DataType::Date64 => primitive!(Date64Type, |&value| seconds(value, unit)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            primitive!(TimestampSecondType, |&value| seconds(value, unit))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive!(TimestampMillisecondType, |&value| seconds(value, unit))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive!(TimestampMicrosecondType, |&value| seconds(value, unit))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive!(TimestampNanosecondType, |&value| seconds(value, unit))
        }
        DataType::Time32(TimeUnit::Second) => {
            primitive!(Time32SecondType, |&value| seconds(value.into(), unit))
        }
        DataType::Time32(_) => primitive!(Time32MillisecondType, |&value| seconds(value.into(), unit)),
        DataType::Time64(TimeUnit::Microsecond) => {
            primitive!(Time64MicrosecondType, |&value| seconds(value, unit))
        }
        DataType::Time64(_) => primitive!(Time64NanosecondType, |&value| seconds(value, unit)),
        DataType::Boolean => {
            let truths = array.as_boolean().iter();
            out.extend(truths.map(|cell| cell.map_or(f64::NAN, |truth| f64::from(u8::from(truth)))));
        }
        _ => out.extend(std::iter::repeat_n(f64::NAN, array.len())),
    }
}

/// The nearest double of a whole number of 256 bits.
fn wide(value: i256) -> f64 {
    let (low, high) = value.to_parts();
    value.to_i128().map_or_else(|| high as f64 * 2f64.powi(128) + low as f64, |value| value as f64)
}

/// The texts of an array; those of a dictionary are in `levels`.
fn texts<'a>(array: &'a ArrayRef, levels: &'a [Option<String>]) -> Vec<Option<&'a str>> {
    match array.data_type() {
        // Keys have no meaning where there are no values.
        DataType::Dictionary(..) if !levels.is_empty() => {
            let keys = array.as_any_dictionary().normalized_keys();
            let text =
                |(row, key): (usize, usize)| if array.is_null(row) { None } else { levels[key].as_deref() };
            keys.into_iter().enumerate().map(text).collect()
        }
        DataType::Utf8 => array.as_string::<i32>().iter().collect(),
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        DataType::Utf8View => array.as_string_view().iter().collect(),
        DataType::Boolean => array
            .as_boolean()
            .iter()
            .map(|cell| cell.map(|truth| if truth { "true" } else { "false" }))
            .collect(),
        _ => vec![None; array.len()],
    }
}

/// The values of a dictionary as texts; numbers as they would be typed.
fn levels(array: &ArrayRef) -> Vec<Option<String>> {
    let DataType::Dictionary(_, kind) = array.data_type() else { return Vec::new() };
    let values = array.as_any_dictionary().values();
    let written = |unit: f64, of: fn(Vec<f64>) -> Values| {
        let mut numbers = Vec::new();
        add_numbers(values, unit, &mut numbers);
        let numbers = of(numbers);
        (0..numbers.len()).map(|row| numbers.cell(row)).collect()
    };
    match stored_as(kind) {
        Stored::Numbers | Stored::Integers => return written(1.0, Values::Numbers),
        Stored::Times(unit) => return written(unit, Values::Times),
        _ => {}
    }
    texts(values, &[]).into_iter().map(|text| text.map(str::to_owned)).collect()
}
