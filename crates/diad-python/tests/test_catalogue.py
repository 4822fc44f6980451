"""Every kind of table that people have: read, with the same scores again, or refused by a sentence in Python's words."""

import collections
import datetime
import decimal
import fractions
import pathlib
import uuid
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from conftest import QUICK

import diad

ROWS = 90
RANDOM = np.random.default_rng(11)
NUMBER = RANDOM.normal(size=ROWS).round(3)
WHOLE = RANDOM.integers(0, 9, ROWS)
WORD = RANDOM.choice(["red", "green", "blue"], ROWS)
TRUTH = WHOLE > 5
STAMP = np.datetime64("2024-01-01T00:00", "h") + RANDOM.integers(0, 2400, ROWS)
X = np.column_stack([NUMBER, WHOLE, RANDOM.lognormal(size=ROWS)])

#: Kinds of tables: a name and the table. Those in REFUSED are refused.
KINDS = {}
REFUSED = {}


def numpy_kinds():
    for kind in ("f2", "f4", "f8", "longdouble", ">f4", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4", ">u8"):
        yield f"array of {kind}", (np.abs(X) * 5).astype(kind)
    yield "array of truth values", X > 0.5
    yield "array of objects", X.astype(object)
    yield "array of texts", np.column_stack([WORD, WHOLE.astype(str)])
    yield "array of variable texts", np.column_stack([WORD, WHOLE.astype(str)]).astype(np.dtypes.StringDType())
    for unit in ("D", "h", "s", "ms", "us", "ns"):
        yield f"array of times in {unit}", STAMP.astype(f"M8[{unit}]").reshape(-1, 1)
    yield "array of durations", (WHOLE.reshape(-1, 1) * 60).astype("m8[s]")
    yield "array in Fortran's order", np.asfortranarray(X)
    yield "array with strides", np.repeat(X, 2, axis=0)[::2]
    yield "array turned round", X[::-1, ::-1]
    yield "array of broadcasts", np.broadcast_to(X[:, :1], (ROWS, 1)) + 0
    yield "read-only array", readonly(X)
    yield "array that is not aligned", unaligned(X)
    yield "masked array", np.ma.masked_where(X > 2, X)
    yield "matrix", np.asmatrix(X)
    yield "array with gaps", np.where(X > 2, np.nan, X)
    yield "one column", X[:, :1]
    yield "many columns", np.repeat(X, 20, axis=1) + RANDOM.normal(size=(ROWS, 60))
    yield "huge and tiny numbers", X * [1e300, 1e-300, 1]


def readonly(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def unaligned(array):
    return np.frombuffer(b"x" + array.tobytes(), dtype="f8", offset=1).reshape(array.shape)


def python_kinds():
    rows = [{"a": float(a), "b": int(b), "c": str(c)} for a, b, c in zip(NUMBER, WHOLE, WORD)]
    yield "list of lists", X.tolist()
    yield "tuple of tuples", tuple(map(tuple, X.tolist()))
    yield "list of arrays", list(X)
    yield "list of dictionaries", rows
    yield "dictionaries with gaps", [{k: v for k, v in row.items() if v != "red"} for row in rows]
    yield "dictionaries of NumPy's numbers", [{"a": np.float32(a), "b": np.int8(b)} for a, b in zip(NUMBER, WHOLE)]
    yield "dictionaries of decimals", [{"a": decimal.Decimal(str(a)), "b": b} for a, b in zip(NUMBER, WHOLE.tolist())]
    yield "dictionaries of fractions", [{"a": float(fractions.Fraction(int(b), 7)), "b": b} for b in WHOLE.tolist()]
    yield "dictionaries of dates", [{"a": datetime.date(2024, 1, 1 + b), "b": b} for b in WHOLE.tolist()]
    yield "dictionaries of times", [{"a": stamp.astype(object), "b": b} for stamp, b in zip(STAMP, WHOLE.tolist())]
    yield "dictionaries of durations", [{"a": datetime.timedelta(minutes=b), "b": b} for b in WHOLE.tolist()]
    yield "ordered dictionaries", [collections.OrderedDict(row) for row in rows]


def pandas_kinds():
    number, whole, word = pd.Series(NUMBER), pd.Series(WHOLE), pd.Series(WORD)
    stamp = pd.Series(STAMP)
    columns = {kind: number.astype(kind) for kind in ("float16", "float32", "float64", "Float32", "Float64")}
    columns |= {kind: whole.astype(kind) for kind in ("int8", "uint8", "int64", "uint64", "Int8", "Int64", "UInt16", "UInt64")}
    columns |= {kind: whole.astype(kind) for kind in ("int64[pyarrow]", "double[pyarrow]", "uint8[pyarrow]")}
    columns |= {"bool": pd.Series(TRUTH), "boolean": pd.Series(TRUTH).astype("boolean"), "bool[pyarrow]": pd.Series(TRUTH).astype("bool[pyarrow]")}
    columns |= {kind: word.astype(kind) for kind in ("object", "str", "string", "string[pyarrow]", "string[python]", "category")}
    columns["ordered category"] = pd.Series(pd.Categorical(WORD, ["blue", "green", "red"], ordered=True))
    columns["category of whole numbers"] = whole.astype("category")
    columns["category of numbers"] = (whole / 2).astype("category")
    columns["category of truth values"] = pd.Series(TRUTH).astype("category")
    columns["category of times"] = stamp.dt.floor("20D").astype("category")
    columns["category with unused ones"] = pd.Series(pd.Categorical(WORD, ["blue", "green", "red", "never"]))
    columns["category with gaps"] = pd.Series(pd.Categorical(np.where(WORD == "red", None, WORD)))
    columns["category of a mixture"] = pd.Series(pd.Categorical(np.where(TRUTH, "many", WHOLE.astype(object))))
    columns["cut"] = pd.cut(number, 4)
    columns["cut by labels"] = pd.cut(number, 3, labels=["low", "middle", "high"])
    columns["quantile cut"] = pd.qcut(number, 4)
    for unit in ("s", "ms", "us", "ns"):
        columns[f"time in {unit}"] = stamp.astype(f"datetime64[{unit}]")
    columns["time with a zone"] = stamp.dt.tz_localize("Europe/Zurich", ambiguous="NaT", nonexistent="shift_forward")
    columns["time with a gap"] = stamp.where(stamp.dt.day != 3)
    columns["timestamp[pyarrow]"] = stamp.astype("timestamp[us][pyarrow]")
    columns |= {f"period {span}": stamp.dt.to_period(span) for span in ("D", "M", "h")}
    columns["durations"] = pd.Series(pd.to_timedelta(WHOLE, unit="min"))
    columns["interval"] = pd.Series(pd.arrays.IntervalArray.from_arrays(WHOLE, WHOLE + 1.0))
    columns["sparse numbers"] = pd.Series(pd.arrays.SparseArray(np.where(TRUTH, NUMBER, 0)))
    columns["sparse truth values"] = pd.Series(pd.arrays.SparseArray(TRUTH))
    columns["mixture"] = pd.Series(np.where(TRUTH, "n/a", NUMBER.astype(object)), dtype=object)
    columns["numbers and none"] = pd.Series(np.where(TRUTH, None, NUMBER), dtype=object)
    columns["decimals"] = pd.Series([decimal.Decimal(str(value)) for value in NUMBER])
    columns["dates"] = pd.Series([value.astype("M8[D]").astype(object) for value in STAMP])
    columns["times of day"] = pd.Series([datetime.time(int(value), 30) for value in WHOLE])
    columns["objects of durations"] = pd.Series([datetime.timedelta(hours=int(value)) for value in WHOLE], dtype=object)
    columns["paths"] = pd.Series([pathlib.PurePosixPath(f"/data/{value}") for value in WORD])
    columns["words for missing"] = pd.Series(np.where(TRUTH, "unknown", NUMBER.astype(str)))
    columns["amounts"] = pd.Series([f"${abs(value) * 1000:,.2f}" for value in NUMBER])
    columns["per cent"] = pd.Series([f"{value:.1f} %" for value in NUMBER])
    columns["dates as text"] = stamp.dt.strftime("%d/%m/%Y")
    for name, column in columns.items():
        yield f"pandas: {name}", pd.DataFrame({"column": column, "number": NUMBER})
    yield "pandas: whole numbers as names", pd.DataFrame(X)
    yield "pandas: names of several levels", pd.DataFrame(X, columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y"), ("b", "x")]))
    yield "pandas: names of several kinds", pd.DataFrame(X, columns=["a", 1, 2.5])
    yield "pandas: index of times", pd.DataFrame(X, columns=list("abc"), index=pd.DatetimeIndex(STAMP))
    yield "pandas: index of several levels", pd.DataFrame(X, columns=list("abc"), index=pd.MultiIndex.from_arrays([WORD, WHOLE]))
    yield "pandas: slice", pd.DataFrame(np.repeat(X, 3, axis=0), columns=list("abc")).iloc[::3, ::-1]
    yield "pandas: column without values", pd.DataFrame({"a": NUMBER, "b": None})
    yield "pandas: identifiers", pd.DataFrame({"a": NUMBER, "id": [str(uuid.UUID(int=i)) for i in range(ROWS)]})
    yield "pandas: objects that are identifiers", pd.DataFrame({"a": NUMBER, "id": [uuid.UUID(int=i) for i in range(ROWS)]})


def polars_kinds():
    number, whole = pl.Series(NUMBER), pl.Series(WHOLE)
    numbers = ("Int8", "Int16", "Int32", "Int64", "Int128", "UInt8", "UInt16", "UInt32", "UInt64", "Float32", "Float64")
    columns = {name: whole.cast(getattr(pl, name)) for name in numbers if hasattr(pl, name)}
    columns |= {"Boolean": pl.Series(TRUTH), "String": pl.Series(WORD), "Categorical": pl.Series(WORD, dtype=pl.Categorical)}
    columns["Enum"] = pl.Series(WORD, dtype=pl.Enum(["red", "green", "blue"]))
    columns["Decimal"] = number.cast(pl.Decimal(12, 3))
    columns["Date"] = pl.Series(STAMP.astype("M8[ms]")).cast(pl.Date)
    columns["Datetime"] = pl.Series(STAMP.astype("M8[us]"))
    columns["Datetime with a zone"] = pl.Series(STAMP.astype("M8[us]")).dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")
    columns["Duration"] = whole.cast(pl.Duration("ms"))
    columns["Time"] = (whole.cast(pl.Int64) * 3_600_000_000_000).cast(pl.Time)
    columns["Null"] = pl.Series([None] * ROWS)
    columns["gaps"] = pl.Series(np.where(TRUTH, None, NUMBER).tolist())
    for name, column in columns.items():
        yield f"polars: {name}", pl.DataFrame({"column": column, "number": number})


def arrow_kinds():
    kinds = {name: pa.array(WHOLE).cast(getattr(pa, name)()) for name in ("int8", "uint64", "float32", "float64")}
    kinds["float16"] = pa.array(NUMBER.astype("f2"))
    kinds |= {name: pa.array(WORD).cast(getattr(pa, name)()) for name in ("string", "large_string", "string_view")}
    kinds["dictionary"] = pa.array(WORD).dictionary_encode()
    kinds["bool"] = pa.array(TRUTH)
    kinds["date32"] = pa.array(STAMP.astype("M8[D]"))
    kinds["date64"] = pa.array(STAMP.astype("M8[D]")).cast(pa.date64())
    kinds["time64"] = pa.array((WHOLE * 3_600_000_000).astype("i8")).cast(pa.time64("us"))
    kinds |= {f"timestamp {unit}": pa.array(STAMP.astype(f"M8[{unit}]")) for unit in ("s", "ms", "us", "ns")}
    kinds["timestamp with a zone"] = pa.array(STAMP.astype("M8[us]")).cast(pa.timestamp("us", tz="America/Lima"))
    kinds["duration"] = pa.array(WHOLE).cast(pa.duration("s"))
    kinds["null"] = pa.nulls(ROWS)
    cents = pa.array((WHOLE * 100).tolist(), pa.decimal128(10, 2))
    kinds |= {f"decimal{bits}": cents.cast(getattr(pa, f"decimal{bits}")(9, 2)) for bits in (32, 64, 128, 256)}
    for name, column in kinds.items():
        yield f"arrow: {name}", pa.table({"column": column, "number": NUMBER})
    table = pa.table({"a": NUMBER, "b": WORD})
    yield "arrow: several chunks", pa.concat_tables([table[:30], table[30:]])
    yield "arrow: record batch", table.to_batches()[0]
    yield "arrow: a struct array", pa.array(table.to_pylist())
    yield "DuckDB", duckdb.sql("select i % 7 as a, (i * 3) % 11 as b, 'w' || (i % 3) as c from range(90) t(i)").to_arrow_table()


def sparse_kinds():
    entries = np.where(np.abs(X) > 1, X, 0)
    for form in ("csr", "csc", "coo", "lil", "dok", "bsr", "dia"):
        yield f"sparse matrix: {form}", getattr(scipy.sparse, f"{form}_matrix")(entries)
        yield f"sparse array: {form}", getattr(scipy.sparse, f"{form}_array")(entries)


for source in (numpy_kinds, python_kinds, pandas_kinds, polars_kinds, arrow_kinds, sparse_kinds):
    KINDS.update(source())

REFUSED.update(
    {
        "complex numbers": (X * 1j, "real numbers"),
        "bytes": (X.astype("S8"), "is not supported; give one of numbers or text"),
        "structure": (np.zeros(9, dtype=[("a", "f4")]), "1 dimension,"),
        "one dimension": (NUMBER, "reshape"),
        "three dimensions": (X[None], "reshape"),
        "no rows": (X[:0], "at least 2 rows"),
        "one row": (X[:1], "at least 2 rows"),
        "no columns": (X[:, :0], "no column is left|give"),
        "only missing": (X * np.nan, "missing"),
        "constants": (X * 0, "same value in all rows"),
        "a series of pandas": (pd.Series(NUMBER), "to_frame"),
        "a series of polars": (pl.Series(NUMBER), "to_frame"),
        "an index": (pd.Index(NUMBER), "to_frame"),
        "a lazy frame": (pl.LazyFrame({"a": NUMBER}), "collect"),
        "names that repeat": (pd.DataFrame(X, columns=["a", "a", "b"]), 'are both named "a"; rename one'),
        "lists": (pd.DataFrame({"a": [[1]] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "dictionaries in cells": (pd.DataFrame({"a": [{"x": 1}] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "bytes in cells": (pd.DataFrame({"a": [b"x"] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "complex cells": (pd.DataFrame({"a": X[:, 0] * 1j, "b": NUMBER}), "real numbers"),
        "objects without a text": (pd.DataFrame({"a": [object()] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "lists of polars": (pl.DataFrame({"a": [[1]] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "structs of polars": (pl.DataFrame({"a": [{"x": 1}] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "binary of polars": (pl.DataFrame({"a": [b"x"] * ROWS, "b": NUMBER}), r'ignore=\["a"\]'),
        "a dictionary of columns": ({"a": NUMBER}, "of type dict is not supported"),
        "a generator": ((row for row in X.tolist()), "of type generator is not supported"),
        "a text": ("table.csv", "of type str is not supported"),
        "nothing": (None, "of type NoneType is not supported"),
        "a number": (3, "of type int is not supported"),
        "an empty list": ([], "1 dimension,"),
        "ragged lists": ([[1, 2], [3]], "inhomogeneous|dimensions"),
        "keys that are numbers": ([{1: 2.0}, {1: 3.0}], "is not a text; the keys are the names"),
        "an empty frame": (pd.DataFrame(), "no column is left|give"),
        "one array of Arrow": (pa.array(NUMBER), "table"),
    }
)


def test_the_catalogue_is_long():
    assert len(KINDS) + len(REFUSED) >= 138 + 34


@pytest.mark.parametrize("name", KINDS)
def test_it_is_read(name):
    table = KINDS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        detector = diad.DIAD(**QUICK).fit(table)
        again = detector.decision_function(table)
    assert len(detector.decision_scores_) == ROWS and np.isfinite(detector.decision_scores_).all()
    np.testing.assert_array_equal(again, detector.decision_scores_)
    np.testing.assert_allclose(detector.eval_terms(table).sum(axis=1) + detector.intercept_, again, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_by_a_sentence(name):
    table, words = REFUSED[name]
    with pytest.raises((TypeError, ValueError), match=words) as refused:
        diad.DIAD(**QUICK).fit(table)
    said = str(refused.value)
    assert type(refused.value) in (TypeError, ValueError) and "--" not in said and "Error" not in said and "\n" not in said


def test_infinite_numbers_are_read():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        detector = diad.DIAD(**QUICK).fit(np.where(X > 2, np.inf, X))
    assert np.isfinite(detector.decision_scores_).all()
