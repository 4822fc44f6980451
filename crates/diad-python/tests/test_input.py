"""Every kind of table is read alike, and odd ones are refused without harm."""

import datetime
import decimal
import itertools

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK

import diad


def model(X, **settings):
    return diad.DIAD(**{**QUICK, **settings}).fit(X)._model.to_bytes()


def test_every_kind_of_table_gives_the_same_model(mixed):
    relation = duckdb.sql("select * from mixed")
    arrow = pa.Table.from_pandas(mixed, preserve_index=False)
    chunked = pa.concat_tables([arrow[:7], arrow[7:7], arrow[7:300], arrow[300:]])
    expected = model(mixed)
    tables = {
        "polars": pl.from_pandas(mixed),
        "arrow": arrow,
        "chunks": chunked,
        "reader": arrow.to_reader(max_chunksize=64),
        "duckdb": relation,
        "rows": mixed.to_dict("records"),
        "sliced": pd.concat([mixed, mixed])[: len(mixed)],
        "text": mixed.assign(job=mixed["job"].astype(str)),
        "large text": arrow.set_column(2, "job", arrow["job"].cast(pa.large_string())),
        "view": arrow.set_column(3, "city", arrow["city"].cast(pa.string_view())),
        "dictionary": arrow.set_column(3, "city", arrow["city"].dictionary_encode()),
        "enum": pl.from_pandas(mixed).with_columns(pl.col("job").cast(pl.String).cast(pl.Enum(["nurse", "clerk", "baker"]))),
        "seconds": arrow.set_column(4, "when", arrow["when"].cast(pa.timestamp("s"))),
    }
    for name, table in tables.items():
        assert model(table) == expected, name
    batch = arrow.to_batches()[0]

    class OneArray:
        def __arrow_c_array__(self, requested_schema=None):
            return batch.__arrow_c_array__(requested_schema)

    assert model(OneArray()) == expected


def test_row_labels_of_pandas_are_no_column(mixed):
    picked = mixed.iloc[np.r_[300:400, 0:300]].set_index(pd.Index(np.arange(400) * 7 % 400, name="key"))
    detector = diad.DIAD(**QUICK).fit(picked)
    assert list(detector.feature_names_in_) == list(mixed.columns)


def test_pandas_without_pyarrow(mixed, monkeypatch):
    def absent(self, requested_schema=None):
        raise ImportError("pyarrow is not installed")

    expected = model(mixed)
    monkeypatch.setattr(pd.DataFrame, "__arrow_c_stream__", absent)
    assert model(mixed) == expected


def test_every_order_and_type_of_array_gives_the_same_model(plain):
    X = (plain * 100).astype(np.int16)
    expected = model(X)
    wide = np.zeros((600, 12))
    wide[::2, 1:11:2] = X
    unaligned = np.frombuffer(b"x" + X.astype(np.float64).tobytes(), dtype=np.uint8)[1:].view(np.float64)
    readonly = X.astype(np.float32)
    readonly.flags.writeable = False
    arrays = {
        "Fortran": np.asfortranarray(X.astype(np.float64)),
        "strided": wide[::2, 1:11:2],
        "backwards": np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
        "unaligned": unaligned.reshape(X.shape),
        "read-only": readonly,
        "lists": X.tolist(),
        "objects": X.astype(object),
        "texts": X.astype(str),
        "masked": np.ma.masked_array(X),
        "matrix": np.matrix(X),
        **{kind: X.astype(kind) for kind in ("f4", "f8", "i4", "i8", ">f4", ">f8", ">i4", "longdouble")},
    }
    for name, array in arrays.items():
        assert model(array) == expected, name
    small = (np.abs(X) % 100).astype(np.uint8)
    for kind in ("u1", "u2", "u4", "u8", "i1", "f2"):
        assert model(small.astype(kind)) == model(small), kind


def test_missing_values_are_the_same_everywhere(plain):
    gaps = np.where(np.arange(len(plain))[:, None] % 13 == np.arange(5), np.nan, plain)
    expected = model(gaps)
    objects = np.where(np.isnan(gaps), None, gaps.astype(object))
    assert model(objects) == expected
    assert model(np.ma.masked_invalid(gaps)) == expected
    names = [f"x{i}" for i in range(5)]
    arrow = pa.table({name: pa.array(column, from_pandas=True) for name, column in zip(names, gaps.T)})
    assert model(arrow) == expected
    assert model(pl.from_arrow(arrow)) == expected
    assert model(pd.DataFrame(gaps, columns=names).astype("Float64")) == expected
    rows = [{n: v for n, v in zip(names, row) if not np.isnan(v)} for row in gaps]
    full = next(i for i, row in enumerate(rows) if len(row) == 5)
    rows[0], rows[full] = rows[full], rows[0]
    swapped = gaps.copy()
    swapped[[0, full]] = swapped[[full, 0]]
    assert model(rows) == model(swapped)


def test_categories_of_numbers_and_truths(mixed):
    as_category = mixed.assign(count=mixed["count"].astype("category"))
    assert model(as_category) == model(mixed, categorical=["count"])
    truths = np.random.default_rng(0).random((60, 3)) < 0.3
    frame = pd.DataFrame(truths, columns=["x0", "x1", "x2"])
    assert model(truths) == model(frame)
    assert diad.DIAD(**QUICK).fit(truths)._model.categories == ["x0", "x1", "x2"]
    as_numbers = model(truths, numeric=["x0", "x1", "x2"])
    assert as_numbers == model(frame, numeric=["x0", "x1", "x2"]) != model(truths)


def test_times(mixed):
    stamps = mixed["when"].to_numpy().reshape(-1, 1)
    expected = diad.DIAD(**QUICK).fit(pd.DataFrame({"x0": mixed["when"]}))._model.to_bytes()
    assert model(stamps) == expected
    assert model([{"x0": stamp.to_pydatetime()} for stamp in mixed["when"]]) == expected
    zoned = pa.table({"x0": pa.array(mixed["when"]).cast(pa.timestamp("us", tz="UTC"))})
    assert model(zoned) == expected
    days = [{"x0": datetime.date(2024, 1, 1) + datetime.timedelta(days=3 * i)} for i in range(50)]
    assert diad.DIAD(**QUICK).fit(days).column_names_ == ["month of x0", "weekday of x0", "date of x0"]


def test_cells_of_rows():
    rows = [{"a": decimal.Decimal(i % 7) / 2, "b": np.float32(i % 5), "c": np.str_("uvw"[i % 3]), "d": i % 2 == 0} for i in range(40)]
    rows[3]["a"] = pd.NA
    rows[4]["b"] = float("nan")
    detector = diad.DIAD(**QUICK).fit(rows)
    assert detector._model.categories == ["c", "d"]
    assert detector.column_names_ == ["a", "b", "c", "d"]
    with pytest.raises(TypeError, match='column "a" has type list, which is not supported'):
        detector.decision_function([rows[0], {**rows[0], "a": [1]}])
    with pytest.raises(TypeError, match="some rows are dictionaries"):
        detector.decision_function([rows[0], 3])


class Hostile:
    def __array__(self, *args, **kwargs):
        raise RuntimeError("no")


ODD = {
    "0-d": np.float64(3),
    "0-d array": np.array(3.0),
    "1-d": np.arange(10.0),
    "3-d": np.zeros((3, 3, 3)),
    "no rows": np.empty((0, 3)),
    "no columns": np.empty((3, 0)),
    "one row": np.ones((1, 3)),
    "constant": np.ones((30, 3)),
    "all missing": np.full((30, 2), np.nan),
    "infinite": np.full((30, 2), np.inf),
    "complex": np.ones((30, 2)) * 1j,
    "ragged": [[1, 2], [3]],
    "ragged objects": np.array([[1, [2]], [3, {}]], dtype=object),
    "objects": np.array([[object(), 1]] * 30),
    "bytes": np.array([[b"a", b"b"]] * 30),
    "structured": np.zeros((30, 2), dtype=[("a", "f4"), ("b", "i4")]),
    "text": "a table",
    "None": None,
    "number": 5,
    "empty list": [],
    "empty rows": [{}, {}],
    "keys that are no names": [{1: 2.0}, {1: 3.0}],
    "dictionary": {"a": [1, 2, 3]},
    "generator": (row for row in [[1, 2], [3, 4]]),
    "hostile": Hostile(),
    "empty frame": pd.DataFrame(),
    "frame without rows": pd.DataFrame({"a": []}),
    "same names": pd.DataFrame(np.random.default_rng(0).random((30, 2)), columns=["a", "a"]),
    "lists in a frame": pd.DataFrame({"a": [[1], [2]] * 15, "b": range(30)}),
    "structs": pa.table({"a": [{"b": 1}] * 30}),
    "series": pl.Series("a", [1.0, 2.0] * 15),
    "chunked array": pa.chunked_array([[1.0, 2.0] * 15]),
    "lazy": pl.LazyFrame({"a": [1.0, 2.0] * 15}),
    "mixed": np.array([[1.5, "a"], [2.5, 3]] * 30, dtype=object).astype(object),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tables_are_refused(name, plain):
    fitted = diad.DIAD(**QUICK).fit(plain)
    refused = (ValueError, TypeError, RuntimeError) if name == "hostile" else (ValueError, TypeError)
    if name == "mixed":
        # Numbers and words in one column are categories.
        assert diad.DIAD(**QUICK).fit(ODD[name])._model.categories == ["x1"]
    else:
        with pytest.raises(refused) as error:
            diad.DIAD(**QUICK).fit(ODD[name])
        assert str(error.value)
    if name not in ("no rows",):
        with pytest.raises(refused):
            fitted.decision_function(ODD[name])


def test_random_arrays_never_harm(plain):
    """Arrays of any type, shape, order and content are read or refused, and those of numbers are read right."""
    fitted = diad.DIAD(**QUICK).fit(plain)
    random = np.random.default_rng(1)
    kinds = ["f2", "f4", "f8", ">f8", "i1", "i8", "u4", ">i2", "?", "c8", "O", "U3", "S3", "M8[D]", "m8[s]", "longdouble"]
    read = 0
    for kind, dimensions, trial in itertools.product(kinds, range(4), range(12)):
        shape = tuple(random.choice([0, 1, 2, 5, 7], size=dimensions))
        if dimensions == 2 and trial % 2:
            shape = (int(random.integers(1, 9)), 5)
        array = np.asarray(random.normal(size=shape) * 50).astype("i8").astype(kind)
        if dimensions and trial % 3 == 0:
            array = np.flip(array, axis=int(random.integers(dimensions)))
        if trial % 4 == 0:
            array = np.transpose(array)
        if trial % 5 == 0 and array.ndim:
            array = np.lib.stride_tricks.as_strided(array, array.shape, (0,) * array.ndim)
        if trial % 7 == 0:
            array = np.array(array)
            array.flags.writeable = False
        try:
            scores = fitted.decision_function(array)
        except (ValueError, TypeError) as error:
            assert str(error)
            continue
        read += 1
        assert scores.shape == (array.shape[0],)
        if array.dtype.kind != "M":
            np.testing.assert_array_equal(scores, fitted.decision_function(array.astype("f8")))
    assert read > 60


def test_what_only_looks_like_a_table_is_refused(plain):
    """Capsules of something else, of arrays that are no tables, and of tables with rows that are null as a whole."""

    class Looks:
        def __init__(self, **answers):
            for name, answer in answers.items():
                setattr(self, f"__arrow_c_{name}__", lambda requested_schema=None: answer)

    fitted = diad.DIAD(**QUICK).fit(plain)
    numbers, null_row = pa.array([1.0, 2.0]), pa.array([{"x0": 1.0}, None, {"x0": 2.0}])
    for wrong in (
        Looks(stream=None),
        Looks(stream=numbers.__arrow_c_array__()[1]),
        Looks(array=numbers.__arrow_c_array__()),
        Looks(array=(1, 2)),
        Looks(array=None),
        Looks(array=null_row.__arrow_c_array__()),
        Looks(stream=pa.chunked_array([null_row]).__arrow_c_stream__()),
        null_row,
    ):
        with pytest.raises((TypeError, ValueError)):
            fitted.decision_function(wrong)
    spent = pa.table({"x0": [1.0]}).__arrow_c_stream__()
    for _ in range(2):
        with pytest.raises((TypeError, ValueError)):
            fitted.decision_function(Looks(stream=spent))


def test_streams_that_can_be_read_once(mixed):
    arrow = pa.Table.from_pandas(mixed, preserve_index=False)
    whole = diad.DIAD(**QUICK).fit(arrow)
    once = diad.DIAD(**QUICK).fit(arrow.to_reader(max_chunksize=64))
    np.testing.assert_array_equal(once.decision_scores_, whole.decision_scores_)
    predicted, confidence = once.predict(arrow.to_reader(), return_confidence=True)
    np.testing.assert_array_equal(predicted, whole.labels_)
    assert len(confidence) == len(mixed)
    assert once.explain_local(arrow[:5].to_reader()).to_html()
    outliers = diad.DIADOutlierDetector(**QUICK).fit(arrow.to_reader())
    np.testing.assert_array_equal(outliers.score_samples(arrow.to_reader()), -whole.decision_scores_)


def test_tables_are_not_changed(plain, mixed):
    before, frame = plain.copy(), mixed.copy(deep=True)
    diad.DIAD(**QUICK).fit(plain)
    diad.DIAD(**QUICK).fit(mixed)
    np.testing.assert_array_equal(plain, before)
    pd.testing.assert_frame_equal(mixed, frame)
