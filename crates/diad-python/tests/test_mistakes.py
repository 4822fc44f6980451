"""What is easily got wrong, and columns whose names are not texts."""

import pathlib
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from conftest import QUICK

import diad


def fitted(table, **settings):
    return diad.DIAD(**QUICK, **settings).fit(table)


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(2)
    return pd.DataFrame({"amount": random.normal(size=200), "items": random.integers(0, 9, 200), "day": random.integers(0, 7, 200)})


@pytest.mark.parametrize(
    ("table", "kind", "words"),
    [
        (np.arange(9.0), ValueError, r"has 1 dimension, .* give reshape\(-1, 1\) of it if it is a column, and reshape\(1, -1\) if it is a row"),
        (pd.Series([1.0, 2.0]), TypeError, r"give series.to_frame\(\), or series.to_frame\(\).T if it is a row"),
        (pa.chunked_array([[1.0, 2.0]]), TypeError, "one array is no table; give a table with named columns"),
        ("table.csv", TypeError, "read the file first, such as with pandas.read_csv"),
        (pathlib.Path("table.csv"), TypeError, "read the file first, such as with pandas.read_csv"),
        ({"amount": [1.0, 2.0]}, TypeError, "give pandas.DataFrame of it if it has columns, and a list of it if it is a row"),
    ],
    ids=["array", "series", "chunks", "text", "path", "dictionary"],
)
def test_what_is_no_table(table, kind, words):
    with pytest.raises(kind, match=words):
        fitted(table)


def test_one_column_is_one():
    detector = fitted(pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"]))
    with pytest.raises(ValueError, match="the table has 1 unnamed column, but the model was trained on 2"):
        detector.predict(np.zeros((3, 1)))
    assert repr(detector.explain_local(np.zeros((1, 2)))) == "<LocalExplanation of 1 row>"
    assert repr(detector.explain_local(np.zeros((2, 2)))) == "<LocalExplanation of 2 rows>"


def test_files_that_are_not_there_are_pythons_own_errors(frame, tmp_path):
    detector = fitted(frame)
    with pytest.raises(FileNotFoundError, match="cannot read .*there is no such file; check the path"):
        diad.load(tmp_path / "none.diad")
    with pytest.raises(FileNotFoundError, match="its folder does not exist; create it"):
        detector.save(tmp_path / "none" / "model.diad")
    with pytest.raises(FileNotFoundError, match=r"cannot write .*report\.html: its folder does not exist; create it"):
        detector.report(tmp_path / "none" / "report.html", frame)
    with pytest.raises(IsADirectoryError):
        diad.load(tmp_path)


def test_the_row_of_a_counterfactual(frame):
    detector = fitted(frame)
    far = {"amount": 30.0, "items": 4, "day": 2}
    found = detector.counterfactual(far)
    assert found and found[0]["changes"][0][0] == "amount"
    assert detector.counterfactual(list(far.values())) == detector.counterfactual(tuple(far.values())) == found
    assert detector.counterfactual(pd.Series(far)) == detector.counterfactual([far]) == found
    for rows in (frame.head(2), frame.head(0)):
        with pytest.raises(ValueError, match=f"the table has {len(rows)} rows; give one of them"):
            detector.counterfactual(rows)


def test_the_row_of_a_picture_is_a_place():
    pytest.importorskip("matplotlib").use("Agg")
    X = scipy.sparse.random(90, 3, 0.4, format="csr", random_state=0)
    detector = fitted(X)
    assert detector.explain_outlier(np.int64(2)).get_title().startswith("row 2")
    with pytest.raises(TypeError, match="ind is 'r3', but it must be the place of a row"):
        detector.explain_outlier("r3")
    with pytest.raises(IndexError, match="there is no row 90; the table has 90 rows"):
        detector.explain_outlier(90)


def test_names_of_several_levels_are_told_as_they_are(frame):
    levels = frame.set_axis(pd.MultiIndex.from_tuples([("sale", "amount"), ("sale", "items"), ("day", "")]), axis=1)
    assert fitted(levels).column_names_ == ["sale amount", "sale items", "day"]
    assert fitted(levels, ignore=[("sale", "items")]).column_names_ == ["sale amount", "day"]
    assert fitted(levels, categorical=[("day", "")])._model.categories == ["day"]
    assert fitted(levels, feature_types={("sale", "items"): "nominal"})._model.categories == ["sale items"]
    assert fitted(levels, by=("day", "")).column_names_[0] == "sale amount for its day"


def test_names_that_are_numbers_are_names(frame):
    """Not places, wherever a column is told; but a list for all columns goes by places."""
    numbered = frame.set_axis([2, 0, 1], axis=1)
    assert fitted(numbered, categorical=[0])._model.categories == ["0"]
    assert fitted(numbered, feature_types={0: "nominal"})._model.categories == ["0"]
    assert fitted(numbered, feature_types=["auto", "auto", "nominal"])._model.categories == ["1"]
    assert "0" not in fitted(numbered, exclude=[0]).term_names_
    bent = fitted(numbered, monotone_constraints=[1, 0, 0])
    shape = bent.explain_global().data("2")["scores"]
    assert (np.diff(shape) >= -1e-9).all() and np.ptp(shape) > 0
    other = fitted(numbered, monotone_constraints={2: 1})
    np.testing.assert_array_equal(other.decision_scores_, bent.decision_scores_)


@pytest.mark.parametrize("short", [["nominal"], ["auto", "nominal"], ["nominal"] * 4])
def test_kinds_for_all_columns_are_as_many(frame, short):
    with pytest.raises(ValueError, match=f"feature_types has a length of {len(short)}, but the table has 3 columns"):
        fitted(frame, feature_types=short)


def test_signs_for_all_columns_are_as_many(frame):
    with pytest.raises(ValueError, match="monotone_constraints has a length of 1, but the table has 3 columns"):
        fitted(frame, monotone_constraints=[1])


@pytest.mark.parametrize("kind", [diad.DIAD, diad.DIADOutlierDetector])
def test_constraints_do_not_look_at_an_earlier_table(kind, frame):
    detector = kind(**QUICK, monotone_constraints={"amount": 1})
    other = frame.rename(columns={"items": "pieces"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector.fit(frame)
        refitted = detector.fit(other).decision_function(other)
    np.testing.assert_array_equal(refitted, kind(**QUICK, monotone_constraints={"amount": 1}).fit(other).decision_function(other))


def test_frames_of_polars_take_the_same_sentences(frame):
    table = pl.from_pandas(frame)
    detector = fitted(table)
    with pytest.raises(ValueError, match="the table has 2 rows; give one of them"):
        detector.counterfactual(table.head(2))
    np.testing.assert_array_equal(detector.decision_function(table), fitted(frame).decision_scores_)
