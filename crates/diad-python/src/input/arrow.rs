//! Tables of any program that hands them over by the Arrow PyCapsule interface, read where they are.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType, TimeUnit};
use diad::Error;
use diad::table::{ColumnView, ReadAs, Texts, Values};
use pyo3::exceptions::{PyImportError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods, PyDict};

use super::Columns;

/// A table handed over by Arrow, kept where it is: a stream can be read once only.
#[pyclass(frozen, module = "diad._diad")]
pub struct Held {
    names: Vec<String>,
    kinds: Vec<DataType>,
    batches: Vec<RecordBatch>,
}

impl Held {
    fn new(schema: &arrow_schema::Schema, batches: Vec<RecordBatch>) -> Self {
        let (names, kinds) =
            schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).unzip();
        Self { names, kinds, batches }
    }

    /// A table; nothing if it is one of pandas and pyarrow is not installed.
    pub fn of(table: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        // The row labels of pandas are no column.
        let table = if table.hasattr("reset_index")? && table.hasattr("iloc")? {
            let without = PyDict::new(table.py());
            without.set_item("drop", true)?;
            &table.call_method("reset_index", (), Some(&without))?
        } else {
            table
        };
        let held = if table.hasattr("__arrow_c_stream__")? { stream(table) } else { one_batch(table) };
        match held {
            Err(error) if error.is_instance_of::<PyImportError>(table.py()) => Ok(None),
            held => held.map(Some),
        }
    }

    pub fn columns(&self) -> Columns<'static> {
        let column = |(index, kind): (usize, &DataType)| -> Box<dyn ColumnView> {
            let chunks = self.batches.iter().map(|batch| batch.column(index).clone());
            Box::new(Column::new(kind, chunks.filter(|chunk| !chunk.is_empty()).collect()))
        };
        let columns = self.kinds.iter().enumerate().map(column).collect();
        Columns { names: Some(self.names.clone()), columns }
    }
}

fn bad(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!(
        "the table cannot be read by Arrow ({error}); give an array or a list of dictionaries"
    ))
}

fn stream(table: &Bound<'_, PyAny>) -> PyResult<Held> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let pointer = pointer(&capsule, c"arrow_array_stream")?;
    // SAFETY: by the PyCapsule interface, a capsule of this name holds a valid ArrowArrayStream. `from_raw` moves it out and
    // leaves a released one, which the capsule's destructor does not touch again.
    let reader =
        unsafe { RecordBatchStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>()) }.map_err(bad)?;
    let schema = reader.schema();
    // A stream may be computed by other threads, which may need the interpreter.
    let batches = table.py().detach(|| reader.collect::<Result<Vec<_>, ArrowError>>()).map_err(bad)?;
    Ok(Held::new(&schema, batches))
}

fn one_batch(table: &Bound<'_, PyAny>) -> PyResult<Held> {
    let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        table.call_method0("__arrow_c_array__")?.extract()?;
    let schema = pointer(&schema, c"arrow_schema")?.cast::<FFI_ArrowSchema>();
    let array = pointer(&array, c"arrow_array")?.cast::<FFI_ArrowArray>();
    // SAFETY: by the PyCapsule interface, the capsules hold a valid ArrowSchema, which is only read, and a valid ArrowArray
    // that belongs to it, which `from_raw` moves out, leaving a released one.
    let data = unsafe { from_ffi(FFI_ArrowArray::from_raw(array), &*schema) }.map_err(bad)?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        return Err(PyTypeError::new_err("one array is no table; give a table with named columns"));
    }
    let batch = RecordBatch::from(StructArray::from(data));
    Ok(Held::new(&batch.schema(), vec![batch.clone()]))
}

fn pointer(capsule: &Bound<'_, PyAny>, name: &std::ffi::CStr) -> PyResult<*mut std::ffi::c_void> {
    let capsule =
        capsule.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("the table gives no Arrow capsule"))?;
    Ok(capsule.pointer_checked(Some(name))?.as_ptr())
}

/// What a column holds, as the reader of Parquet files takes it.
#[derive(Debug, Clone, PartialEq)]
enum Stored {
    Numbers,
    /// So many units are a second.
    Times(f64),
    Truths,
    Texts,
    Other(String),
}

struct Column {
    stored: Stored,
    chunks: Vec<Chunk>,
    rows: usize,
}

struct Chunk {
    /// Its first row in the column.
    start: usize,
    array: ArrayRef,
    /// The values of a dictionary as texts.
    levels: Vec<Option<String>>,
}

impl Column {
    fn new(kind: &DataType, arrays: Vec<ArrayRef>) -> Self {
        let mut rows = 0;
        let mut chunks = Vec::with_capacity(arrays.len());
        for array in arrays {
            let start = rows;
            rows += array.len();
            chunks.push(Chunk { start, levels: levels(&array), array });
        }
        Self { stored: stored_as(kind), chunks, rows }
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

    fn read(&self, name: &str, rows: Range<usize>, wanted: ReadAs) -> diad::Result<Values> {
        Ok(match &self.stored {
            Stored::Numbers => Values::Numbers(self.numbers(rows, 1.0)),
            Stored::Times(unit) => Values::Times(self.numbers(rows, *unit)),
            Stored::Truths if !matches!(wanted, ReadAs::Found | ReadAs::Texts) => {
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

fn stored_as(kind: &DataType) -> Stored {
    use DataType::*;
    match kind {
        Null | Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Float16 | Float32
        | Float64 | Decimal128(..) => Stored::Numbers,
        Boolean => Stored::Truths,
        Utf8 | LargeUtf8 | Utf8View => Stored::Texts,
        Date32 => Stored::Times(1.0 / 86_400.0),
        Date64 => Stored::Times(1e3),
        Timestamp(unit, _) => Stored::Times(match unit {
            TimeUnit::Second => 1.0,
            TimeUnit::Millisecond => 1e3,
            TimeUnit::Microsecond => 1e6,
            TimeUnit::Nanosecond => 1e9,
        }),
        Dictionary(_, values) => match stored_as(values) {
            Stored::Numbers | Stored::Texts | Stored::Truths => Stored::Texts,
            _ => Stored::Other(words(values)),
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
        DataType::Time32(_) | DataType::Time64(_) => "time".into(),
        DataType::Duration(_) => "duration".into(),
        other => other.to_string(),
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
        DataType::Decimal128(_, scale) => {
            let scale = 10f64.powi(i32::from(*scale));
            primitive!(Decimal128Type, |&value| value as f64 / scale)
        }
        DataType::Date32 => primitive!(Date32Type, |&value| f64::from(value) / unit),
        DataType::Date64 => primitive!(Date64Type, |&value| value as f64 / unit),
        DataType::Timestamp(TimeUnit::Second, _) => {
            primitive!(TimestampSecondType, |&value| value as f64 / unit)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            primitive!(TimestampMillisecondType, |&value| value as f64 / unit)
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            primitive!(TimestampMicrosecondType, |&value| value as f64 / unit)
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => {
            primitive!(TimestampNanosecondType, |&value| value as f64 / unit)
        }
        DataType::Boolean => {
            let truths = array.as_boolean().iter();
            out.extend(truths.map(|cell| cell.map_or(f64::NAN, |truth| f64::from(u8::from(truth)))));
        }
        _ => out.extend(std::iter::repeat_n(f64::NAN, array.len())),
    }
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
    if stored_as(kind) == Stored::Numbers {
        let mut numbers = Vec::new();
        add_numbers(values, 1.0, &mut numbers);
        return numbers.into_iter().map(|number| (!number.is_nan()).then(|| number.to_string())).collect();
    }
    texts(values, &[]).into_iter().map(|text| text.map(str::to_owned)).collect()
}
