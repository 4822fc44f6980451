//! Arrays of NumPy, read where they are, whatever their order.

use std::ops::Range;

use diad::table::{ColumnView, ReadAs, Texts, Values, seconds};
use numpy::ndarray::{ArrayView1, ArrayViewMut1, Axis, Zip};
use numpy::{Element, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{Columns, cells};

/// A number of an array.
trait Number: Element + Copy + Sync {
    fn number(self) -> f64;
}

macro_rules! numbers {
    ($($kind:ty)*) => { $(impl Number for $kind {
        fn number(self) -> f64 {
            self as f64
        }
    })* };
}
numbers!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64);

struct Numbers<'a, T>(ArrayView1<'a, T>);

impl<T: Number> ColumnView for Numbers<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, _name: &str, rows: Range<usize>, _wanted: ReadAs) -> diad::table::Result<Values> {
        let rows = part(&self.0, rows);
        let mut numbers = vec![0.0; rows.len()];
        // Rows of a matrix in C order lie apart: a zip goes from one to the next faster than an iterator.
        Zip::from(ArrayViewMut1::from(&mut numbers)).and(rows).for_each(|to, value| *to = value.number());
        Ok(Values::Numbers(numbers))
    }
}

/// Truth values are categories, as in files, unless numbers are wanted.
struct Truths<'a>(ArrayView1<'a, bool>);

impl ColumnView for Truths<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, _name: &str, rows: Range<usize>, wanted: ReadAs) -> diad::table::Result<Values> {
        let rows = part(&self.0, rows);
        Ok(match wanted {
            ReadAs::Found | ReadAs::Written | ReadAs::Texts => {
                rows.iter().map(|&truth| Some(if truth { "true" } else { "false" })).collect::<Texts>().into()
            }
            _ => Values::Numbers(rows.iter().map(|&truth| f64::from(u8::from(truth))).collect()),
        })
    }
}

/// Times in units of a second; the smallest number stands for a missing one.
struct Times<'a> {
    stamps: ArrayView1<'a, i64>,
    unit: f64,
}

impl ColumnView for Times<'_> {
    fn len(&self) -> usize {
        self.stamps.len()
    }

    fn read(&self, _name: &str, rows: Range<usize>, _wanted: ReadAs) -> diad::table::Result<Values> {
        let time = |&stamp: &i64| if stamp == i64::MIN { f64::NAN } else { seconds(stamp, self.unit) };
        Ok(Values::Times(part(&self.stamps, rows).iter().map(time).collect()))
    }
}

fn part<'a, T>(column: &'a ArrayView1<'_, T>, rows: Range<usize>) -> ArrayView1<'a, T> {
    column.slice(numpy::ndarray::s![rows])
}

/// Calls `use_columns` with the columns of an array.
pub fn with_array<R>(
    array: &Bound<'_, PyUntypedArray>,
    use_columns: impl FnOnce(Columns<'_>) -> PyResult<R>,
) -> PyResult<R> {
    let py = array.py();
    if array.ndim() != 2 {
        let found = array.ndim();
        return Err(PyValueError::new_err(format!(
            "the table has {found} dimensions, but it must have 2: rows and columns; reshape it"
        )));
    }
    if array.hasattr("mask")? && array.hasattr("filled")? {
        // A masked number is a missing one.
        let filled = array.call_method1("astype", ("float64",))?.call_method1("filled", (f64::NAN,))?;
        return with_array(filled.cast()?, use_columns);
    }
    let kind: char = array.dtype().getattr("kind")?.extract()?;
    match kind {
        'O' | 'U' | 'T' => return use_columns(cells::of_objects(array)?),
        'M' => {
            let stamps =
                array.call_method1("astype", ("datetime64[us]",))?.call_method1("view", ("int64",))?;
            let stamps = stamps.cast::<PyArray2<i64>>()?.try_readonly()?;
            let time = |stamps| Box::new(Times { stamps, unit: 1e6 }) as Box<dyn ColumnView + '_>;
            let columns = stamps.as_array().into_iter_columns().map(time).collect();
            return use_columns(Columns { names: None, columns });
        }
        'f' | 'i' | 'u' | 'b' => {}
        'c' => return Err(PyValueError::new_err("Complex data not supported; give real numbers")),
        _ => {
            let dtype = array.dtype().str()?;
            return Err(PyTypeError::new_err(format!(
                "an array of {dtype} is not read; give one of numbers or texts"
            )));
        }
    }
    let native: bool = array.dtype().getattr("isnative")?.extract()?;
    let aligned: bool = array.getattr("flags")?.getattr("aligned")?.extract()?;
    if native && aligned {
        macro_rules! try_kinds {
            ($($kind:ty)*) => { $(if let Ok(array) = array.cast::<PyArray2<$kind>>() {
                let array = array.try_readonly()?;
                let number = |column| Box::new(Numbers::<$kind>(column)) as Box<dyn ColumnView + '_>;
                let columns = array.as_array().into_iter_columns().map(number).collect();
                return use_columns(Columns { names: None, columns });
            })* };
        }
        try_kinds!(f32 f64 i64 i32 u8 i8 i16 u16 u32 u64);
        if let Ok(array) = array.cast::<PyArray2<bool>>() {
            let array = array.try_readonly()?;
            let truth = |column| Box::new(Truths(column)) as Box<dyn ColumnView + '_>;
            let columns = array.as_array().into_iter_columns().map(truth).collect();
            return use_columns(Columns { names: None, columns });
        }
    }
    let numpy = py.import("numpy")?;
    let target = if kind == 'b' { "bool" } else { "float64" };
    let copy = numpy.call_method1("array", (array, target))?;
    with_array(copy.cast()?, use_columns)
}

/// The columns of a matrix as views as long-lived as the matrix itself.
trait IterColumns<'a, T: 'a> {
    fn into_iter_columns(self) -> impl Iterator<Item = ArrayView1<'a, T>>;
}

impl<'a, T: 'a> IterColumns<'a, T> for numpy::ndarray::ArrayView2<'a, T> {
    fn into_iter_columns(self) -> impl Iterator<Item = ArrayView1<'a, T>> {
        (0..self.ncols()).map(move |column| self.index_axis_move(Axis(1), column))
    }
}
