//! Arrays of NumPy, read where they are, whatever their order.

use std::ops::Range;

use diad::table::{ColumnView, ReadAs, Texts, Values, seconds};
use numpy::ndarray::{ArrayView1, ArrayViewMut1, Axis, Zip};
use numpy::{
    Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use super::{Columns, cells};

/// A number of an array.
pub trait Number: Element + Copy + Sync {
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

/// Whole numbers that may have more digits than a double: those as long as codes have all of them kept.
struct Integers<'a, T>(ArrayView1<'a, T>);

impl<T: Number + Into<i128>> ColumnView for Integers<'_, T> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn read(&self, _name: &str, rows: Range<usize>, wanted: ReadAs) -> diad::table::Result<Values> {
        Ok(Values::of_integers(part(&self.0, rows).iter().map(|&cell| Some(cell.into())), wanted))
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
            ReadAs::Found | ReadAs::Written | ReadAs::AsIs | ReadAs::Texts => {
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

/// An array of one column that stays where it is while it is read.
pub trait Kept {
    fn view(&self) -> Box<dyn ColumnView + '_>;
}

struct KeptNumbers<'py, T: Element>(PyReadonlyArray1<'py, T>);
struct KeptIntegers<'py, T: Element>(PyReadonlyArray1<'py, T>);
struct KeptTruths<'py>(PyReadonlyArray1<'py, bool>);
struct KeptTimes<'py>(PyReadonlyArray1<'py, i64>, f64);

impl<T: Number> Kept for KeptNumbers<'_, T> {
    fn view(&self) -> Box<dyn ColumnView + '_> {
        Box::new(Numbers(self.0.as_array()))
    }
}

impl<T: Number + Into<i128>> Kept for KeptIntegers<'_, T> {
    fn view(&self) -> Box<dyn ColumnView + '_> {
        Box::new(Integers(self.0.as_array()))
    }
}

impl Kept for KeptTruths<'_> {
    fn view(&self) -> Box<dyn ColumnView + '_> {
        Box::new(Truths(self.0.as_array()))
    }
}

impl Kept for KeptTimes<'_> {
    fn view(&self) -> Box<dyn ColumnView + '_> {
        Box::new(Times { stamps: self.0.as_array(), unit: self.1 })
    }
}

/// An array of one dimension, which is the column of a data frame.
pub fn kept<'py>(array: &Bound<'py, PyUntypedArray>, name: &str) -> PyResult<Box<dyn Kept + 'py>> {
    let kind: char = array.dtype().getattr("kind")?.extract()?;
    if kind == 'M' {
        let (stamps, unit) = stamps(array)?;
        let stamps = stamps.cast::<PyArray1<i64>>()?.try_readonly()?;
        return Ok(Box::new(KeptTimes(stamps, unit)));
    }
    if kind == 'c' {
        return Err(PyValueError::new_err(format!(
            "Complex data not supported; give real numbers in column {}",
            diad::table::quoted(name)
        )));
    }
    if is_plain(array)? {
        macro_rules! try_kinds {
            ($kept:ident: $($kind:ty)*) => { $(if let Ok(array) = array.cast::<PyArray1<$kind>>() {
                return Ok(Box::new($kept::<$kind>(array.try_readonly()?)));
            })* };
        }
        try_kinds!(KeptNumbers: f64 f32 i32 u8 i8 i16 u16 u32);
        try_kinds!(KeptIntegers: i64 u64);
        if let Ok(array) = array.cast::<PyArray1<bool>>() {
            return Ok(Box::new(KeptTruths(array.try_readonly()?)));
        }
    }
    kept(converted(array, kind)?.cast()?, name)
}

/// The times of an array in units of a second, and how many of them are one.
fn stamps<'py>(array: &Bound<'py, PyUntypedArray>) -> PyResult<(Bound<'py, PyAny>, f64)> {
    let known = |unit: &str| match unit {
        "datetime64[s]" => Some(1.0),
        "datetime64[ms]" => Some(1e3),
        "datetime64[us]" => Some(1e6),
        "datetime64[ns]" => Some(1e9),
        _ => None,
    };
    let dtype = array.dtype().str()?.to_string();
    if is_plain(array)?
        && let Some(unit) = known(&dtype)
    {
        return Ok((array.call_method1("view", ("int64",))?, unit));
    }
    Ok((array.call_method1("astype", ("datetime64[us]",))?.call_method1("view", ("int64",))?, 1e6))
}

/// Whether numbers can be read where they are.
fn is_plain(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    Ok(array.dtype().getattr("isnative")?.extract()?
        && array.getattr("flags")?.getattr("aligned")?.extract()?)
}

/// The same numbers or truth values where they can be read.
fn converted<'py>(array: &Bound<'py, PyUntypedArray>, kind: char) -> PyResult<Bound<'py, PyAny>> {
    let target = if kind == 'b' { "bool" } else { "float64" };
    array.py().import("numpy")?.call_method1("array", (array, target))
}

/// Calls `use_columns` with the columns of an array.
pub fn with_array<R>(
    array: &Bound<'_, PyUntypedArray>,
    use_columns: impl FnOnce(Columns<'_>) -> PyResult<R>,
) -> PyResult<R> {
    if array.ndim() != 2 {
        return Err(PyValueError::new_err(match array.ndim() {
            1 => "the table has 1 dimension, but it must have 2: rows and columns; give reshape(-1, 1) of it if it is a column, \
                  and reshape(1, -1) if it is a row"
                .into(),
            found => format!("the table has {found} dimensions, but it must have 2: rows and columns; reshape it"),
        }));
    }
    if array.hasattr("mask")? && array.hasattr("filled")? {
        // A masked number is a missing one.
        let filled = array.call_method1("astype", ("float64",))?.call_method1("filled", (f64::NAN,))?;
        return with_array(filled.cast()?, use_columns);
    }
    let unnamed = |columns| Columns { names: None, columns };
    let kind: char = array.dtype().getattr("kind")?.extract()?;
    match kind {
        'O' | 'U' | 'T' => return use_columns(cells::of_objects(array)?),
        'M' => {
            let (stamps, unit) = stamps(array)?;
            let stamps = stamps.cast::<PyArray2<i64>>()?.try_readonly()?;
            let time = |stamps| Box::new(Times { stamps, unit }) as Box<dyn ColumnView + '_>;
            return use_columns(unnamed(stamps.as_array().into_iter_columns().map(time).collect()));
        }
        'm' => {
            let second = array.py().import("numpy")?.call_method1("timedelta64", (1, "s"))?;
            return with_array(array.call_method1("__truediv__", (second,))?.cast()?, use_columns);
        }
        'f' | 'i' | 'u' | 'b' => {}
        'c' => return Err(PyValueError::new_err("Complex data not supported; give real numbers")),
        _ => {
            let dtype = array.dtype().str()?;
            return Err(PyTypeError::new_err(format!(
                "an array of {dtype} is not supported; give one of numbers or text"
            )));
        }
    }
    if is_plain(array)? {
        macro_rules! try_kinds {
            ($($kind:ty)*) => { $(if let Ok(array) = array.cast::<PyArray2<$kind>>() {
                let array = array.try_readonly()?;
                let number = |column| Box::new(Numbers::<$kind>(column)) as Box<dyn ColumnView + '_>;
                return use_columns(unnamed(array.as_array().into_iter_columns().map(number).collect()));
            })* };
        }
        try_kinds!(f32 f64 i64 i32 u8 i8 i16 u16 u32 u64);
        if let Ok(array) = array.cast::<PyArray2<bool>>() {
            let array = array.try_readonly()?;
            let truth = |column| Box::new(Truths(column)) as Box<dyn ColumnView + '_>;
            return use_columns(unnamed(array.as_array().into_iter_columns().map(truth).collect()));
        }
    }
    with_array(converted(array, kind)?.cast()?, use_columns)
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
