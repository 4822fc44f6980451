//! Tables of any program that hands them over by the Arrow PyCapsule interface, read where they are.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{Array, RecordBatch, RecordBatchReader, StructArray};
use arrow_schema::{ArrowError, DataType};
use diad::table::ColumnView;
use diad_arrow::arrow_60::Column;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use super::Columns;

/// A table handed over by Arrow, kept where it is: a stream can be read once only.
#[pyclass(frozen, module = "diad._diad")]
pub struct Held {
    #[pyo3(get)]
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

    /// A table.
    pub fn of(table: &Bound<'_, PyAny>) -> PyResult<Self> {
        let module: String = table.get_type().getattr("__module__")?.extract().unwrap_or_default();
        if module.starts_with("polars.") && table.hasattr("with_columns")? {
            let frames = table.py().import("diad._frames")?;
            return stream(&frames.call_method1("of_polars", (table,))?);
        }
        // What has both is one batch, and a stream of it costs more: engines come with some thousand rows at a time.
        if table.hasattr("__arrow_c_array__")? { one_batch(table) } else { stream(table) }
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

#[pymethods]
impl Held {
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

fn bad(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!(
        "the table cannot be read by Arrow ({error}); give an array or a list of dictionaries"
    ))
}

fn one_column() -> PyErr {
    PyTypeError::new_err("one array is no table; give a table with named columns")
}

fn stream(table: &Bound<'_, PyAny>) -> PyResult<Held> {
    let capsule = table.call_method0("__arrow_c_stream__")?;
    let pointer = pointer(&capsule, c"arrow_array_stream")?;
    // SAFETY: by the PyCapsule interface, a capsule of this name holds a valid ArrowArrayStream. `from_raw` moves it out and
    // leaves a released one, which the capsule's destructor does not touch again.
    let reader = unsafe { RecordBatchStreamReader::from_raw(pointer.cast::<FFI_ArrowArrayStream>()) };
    let reader = reader.map_err(|error| match error {
        // What is streamed has no columns.
        ArrowError::CDataInterface(why) if why.ends_with("as a Schema") => one_column(),
        error => bad(error),
    })?;
    let schema = reader.schema();
    // A stream may be computed by other threads, which may need the interpreter.
    let batches =
        table.py().detach(|| caught(|| reader.collect::<Result<Vec<_>, ArrowError>>())).map_err(bad)?;
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
        return Err(one_column());
    }
    let batch = caught(|| Ok(RecordBatch::from(StructArray::from(data)))).map_err(bad)?;
    Ok(Held::new(&batch.schema(), vec![batch.clone()]))
}

/// Calls Arrow, which panics where a whole row of a table is null.
fn caught<T>(call: impl FnOnce() -> Result<T, ArrowError>) -> Result<T, ArrowError> {
    let contradiction = |_| Err(ArrowError::CDataInterface("its parts contradict each other".into()));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_or_else(contradiction)
}

fn pointer(capsule: &Bound<'_, PyAny>, name: &std::ffi::CStr) -> PyResult<*mut std::ffi::c_void> {
    let capsule =
        capsule.cast::<PyCapsule>().map_err(|_| PyTypeError::new_err("the table gives no Arrow capsule"))?;
    Ok(capsule.pointer_checked(Some(name))?.as_ptr())
}
