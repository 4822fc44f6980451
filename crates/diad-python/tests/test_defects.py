"""What people who use scikit-learn, PyOD and InterpretML stumbled over, each with the code that showed it."""

import os
import pickle
import subprocess
import sys
import textwrap
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import QUICK
from sklearn.base import is_outlier_detector

import diad

BOTH = [diad.DIAD, diad.DIADOutlierDetector]


def fitted(table, **more):
    return diad.DIAD(**QUICK, **more).fit(table)


@pytest.fixture
def dates():
    random = np.random.default_rng(0)
    when = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300 * 24, 400), unit="h")
    return pd.DataFrame({"when": when, "amount": random.lognormal(3, 1, 400).round(2)})


@pytest.mark.parametrize("kind", [float, int, np.uint8, str, object])
def test_truth_values_may_be_scored_as_noughts_and_ones(kind):
    truths = np.random.default_rng(0).random((400, 3)) < 0.3
    detector = fitted(truths)
    np.testing.assert_array_equal(detector.decision_function(truths.astype(kind)), detector.decision_scores_)
    back = fitted(truths.astype(float))
    np.testing.assert_array_equal(back.decision_function(truths), back.decision_scores_)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Zurich", "America/New_York", "+05:30"])
def test_a_frame_with_a_time_zone_scores_as_the_file_it_is_written_to(dates, zone, tmp_path):
    zoned = dates.assign(when=dates["when"].dt.tz_localize("UTC").dt.tz_convert(zone))
    detector = fitted(zoned)
    zoned.to_csv(tmp_path / "t.csv", index=False)
    again = pd.read_csv(tmp_path / "t.csv")
    tables = [again, zoned.assign(when=zoned["when"].astype(str)), pa.Table.from_pandas(zoned)]
    # polars knows zones by their names alone.
    tables += [] if zone.startswith("+") else [pl.from_pandas(zoned)]
    for same in tables:
        np.testing.assert_array_equal(detector.decision_function(same), detector.decision_scores_)
    np.testing.assert_array_equal(fitted(again).decision_scores_, detector.decision_scores_)


@pytest.mark.parametrize("kind", BOTH)
def test_a_missing_number_where_none_was_is_scored_with_a_warning(kind, plain):
    detector = kind(**QUICK).fit(plain)
    gap = plain.copy()
    gap[3, 2] = np.nan
    with pytest.warns(UserWarning, match='column "x2": 1 missing cell') as said:
        scores = detector.decision_function(gap)
    assert said[0].filename == __file__
    assert np.isfinite(scores).all()
    others = np.arange(len(plain)) != 3
    np.testing.assert_array_equal(scores[others], detector.decision_function(plain)[others])


def test_columns_that_are_left_out_are_named_with_the_reason(plain):
    frame = pd.DataFrame(plain, columns=list("abcde")).assign(
        id=np.arange(len(plain)), name=[f"n{i}" for i in range(len(plain))], none=np.nan
    )
    with pytest.warns(UserWarning) as said:
        detector = fitted(frame)
    texts = sorted(str(warning.message) for warning in said)
    assert texts == [
        'column "id" is left out, because it seems to identify rows; keep it with numeric=["id"] or categorical=["id"], or name it in ignore',
        'column "name" is left out, because it seems to identify rows; keep it with numeric=["name"] or categorical=["name"], or name it in ignore',
        'column "none" is left out, because all its values are missing',
    ]
    assert {warning.filename for warning in said} == {__file__}
    assert list(detector.left_out_) == ["id", "name", "none"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(frame, ignore=["id", "name", "none"]).predict(frame)


def test_columns_the_model_does_not_know_are_named(plain, tmp_path):
    frame = pd.DataFrame(plain, columns=list("abcde"))
    detector = fitted(frame)
    more = frame.assign(extra=1.0, other="x")
    with pytest.warns(UserWarning, match='columns "extra", "other" are not in the model and are not used') as said:
        predicted = detector.predict(more)
    assert said[0].filename == __file__
    np.testing.assert_array_equal(predicted, detector.labels_)
    detector.save(tmp_path / "m.diad")
    with pytest.warns(UserWarning, match='column "extra" is not in the model and is not used'):
        diad.load(tmp_path / "m.diad").decision_function(more.drop(columns="other"))


def test_dates_as_text_are_dates(dates):
    as_text = dates.assign(when=dates["when"].dt.strftime("%d.%m.%Y %H:%M"))
    expected = fitted(dates)
    for table in (as_text, as_text.astype(object), as_text.astype("string"), pl.from_pandas(as_text), as_text.to_dict("records")):
        detector = fitted(table)
        assert "hour of when" in detector.column_names_ and not detector.left_out_
        np.testing.assert_array_equal(detector.decision_scores_, expected.decision_scores_)


def test_the_report_in_a_notebook_knows_the_threshold(plain, tmp_path):
    pages = []
    for contamination in (0.02, 0.3):
        detector = fitted(plain, contamination=contamination)
        detector.report(tmp_path / "r.html", plain)
        for page in (detector.explain_local(plain[:5]).to_html(), (tmp_path / "r.html").read_text(encoding="utf-8")):
            written = float(page.split('"threshold":')[1].split(",")[0].split("}")[0])
            assert written == pytest.approx(detector.threshold_, rel=1e-6)
            pages.append(page)
    assert pages[0] != pages[2]


@pytest.mark.parametrize("kind", BOTH)
def test_fit_on_an_array_and_predict_on_a_frame(kind, plain):
    detector = kind(**QUICK).fit(plain)
    frame = pd.DataFrame(plain, columns=list("abcde"))
    for table in (frame, pl.from_pandas(frame)):
        with pytest.warns(UserWarning, match="X has feature names, but .* was fitted without feature names"):
            scores = detector.decision_function(table)
        np.testing.assert_array_equal(scores, detector.decision_function(plain))
    with pytest.raises(ValueError):
        detector.decision_function(frame[["a", "b"]])


@pytest.mark.parametrize("kind", BOTH)
def test_frames_with_whole_numbers_as_names(kind, plain):
    frame = pd.DataFrame(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector = kind(**QUICK).fit(frame)
        assert not hasattr(detector, "feature_names_in_")
        scores = detector.decision_function(frame)
        np.testing.assert_array_equal(detector.decision_function(plain), scores)


def mixtures():
    yield "numbers and text", [1, "a", 2.5, "b", None]
    yield "numbers and dates", [1, pd.Timestamp("2024-01-01"), 3, 4, 5]
    yield "truths and text", [True, "no", False, "yes", None]
    yield "bytes and text", ["a", b"b", "c", "a", "b"]


@pytest.mark.parametrize("rows", [60, 600])
@pytest.mark.parametrize(("name", "cells"), mixtures(), ids=[name for name, _ in mixtures()])
def test_object_columns_that_mix(name, cells, rows, plain):
    frame = pd.DataFrame({"mixed": (cells * rows)[:rows], "number": np.arange(rows) % 7 * 1.5})
    frame["mixed"] = frame["mixed"].astype(object)
    if name.startswith("bytes"):
        with pytest.raises(TypeError, match=r'column "mixed" has type (bytes|binary), .* or leave the column out with ignore=\["mixed"\]'):
            fitted(frame)
        assert fitted(frame, ignore=["mixed"]).column_names_ == ["number"]
        return
    detector = fitted(frame)
    assert len(detector.decision_function(frame.head(3))) == 3


def odd_columns(rows=120):
    random = np.random.default_rng(1)
    number = pd.Series(random.normal(size=rows))
    stamps = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 90, rows), unit="D"))
    yield "cut", pd.DataFrame({"x": pd.cut(number, 4), "y": number}), "category"
    yield "interval", pd.DataFrame({"x": pd.Series(pd.arrays.IntervalArray(pd.cut(number, 4).astype(object))), "y": number}), "category"
    yield "timestamps as categories", pd.DataFrame({"x": stamps.dt.floor("30D").astype("category"), "y": number}), "category"
    yield "period", pd.DataFrame({"x": stamps.dt.to_period("M"), "y": number}), "month of x"
    yield "durations", pd.DataFrame({"x": pd.to_timedelta(random.integers(0, 99, rows), unit="min"), "y": number}), "x"
    yield "time of day", pa.table({"x": pa.array(random.integers(0, 86_400, rows), pa.int32()).cast(pa.time32("s")), "y": number}), "x"
    yield "durations of polars", pl.DataFrame({"x": pl.Series(random.integers(0, 99, rows)).cast(pl.Duration("us")), "y": number.to_numpy()}), "x"
    yield "durations of arrays", random.integers(0, 99, (rows, 2)).astype("m8[m]"), "x0"
    yield "sparse column", pd.DataFrame({"x": pd.arrays.SparseArray(np.where(number > 1, number, 0)), "y": number}), "x"
    yield "nullable", pd.DataFrame({"x": number.round().astype("Int8"), "y": number.astype("Float32")}), "x"
    yield "pyarrow in pandas", pd.DataFrame({"x": number.astype("float64[pyarrow]"), "y": number}), "x"
    for bits, kind in ((32, pa.decimal32(7, 2)), (64, pa.decimal64(12, 2)), (128, pa.decimal128(20, 2)), (256, pa.decimal256(50, 2))):
        cells = pa.array([round(float(value), 2) for value in number]).cast(pa.decimal128(20, 2)).cast(pa.decimal256(50, 2))
        yield f"decimal {bits}", pa.table({"x": cells.cast(kind), "y": number}), "x"
    yield "Int128", pl.DataFrame({"x": pl.Series((number * 100).astype(int).to_numpy()).cast(pl.Int128), "y": number.to_numpy()}), "x"
    yield "run ends", pa.table({"x": pa.array([1.0, 2.0, 5.0] * (rows // 3)), "y": number}), "x"


@pytest.mark.parametrize(("name", "table", "expected"), odd_columns(), ids=[name for name, *_ in odd_columns()])
def test_columns_of_every_kind(name, table, expected):
    detector = fitted(table)
    if expected == "category":
        assert detector._model.categories == ["x"]
    else:
        assert expected in detector.column_names_
    assert np.isfinite(detector.decision_scores_).all()
    np.testing.assert_array_equal(detector.decision_function(table), detector.decision_scores_)


def test_wide_decimals_are_the_numbers_they_say():
    cells = [round(i % 17 / 4 - 2, 2) for i in range(80)]
    plain = fitted(pa.table({"x": cells}))
    for kind in (pa.decimal32(7, 2), pa.decimal64(12, 2), pa.decimal256(50, 2)):
        wide = pa.array(cells).cast(pa.decimal128(20, 2)).cast(pa.decimal256(50, 2)).cast(kind)
        np.testing.assert_array_equal(plain.decision_function(pa.table({"x": wide})), plain.decision_scores_)


def test_columns_without_any_value(plain):
    for empty in (
        pl.DataFrame({"x": plain[:, 0], "n": pl.Series([None] * len(plain))}),
        pa.table({"x": plain[:, 0], "n": pa.nulls(len(plain))}),
        pd.DataFrame({"x": plain[:, 0], "n": None}),
        pd.DataFrame({"x": plain[:, 0], "n": pd.Categorical([None] * len(plain))}),
    ):
        with pytest.warns(UserWarning, match='column "n" is left out, because all its values are missing'):
            detector = fitted(empty)
        assert detector.column_names_ == ["x"]
        assert len(detector.decision_function(empty)) == len(plain)


def threads_in_worker():
    from diad._convert import threads_of

    return threads_of(None), threads_of(2)


def test_n_jobs_is_what_joblib_means(monkeypatch):
    from diad._convert import cores, threads_of

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads_of(None) is None and threads_of(-1) is None and threads_of(3) == 3
    assert threads_of(-2) == max(1, cores() - 1)
    for backend in ("loky", "threading", "multiprocessing"):
        got = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(threads_in_worker)() for _ in range(2))
        assert {explicit for _, explicit in got} == {2}
        assert {default for default, _ in got} == {max(1, cores() // 2) if backend == "loky" else 1}, backend
    with joblib.parallel_config(n_jobs=2):
        assert threads_of(None) == 2
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert threads_of(None) == 1 and threads_of(-1) is None


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"contamination": "some"}, ValueError, "contamination is 'some', but it must be a share, 'auto' or a threshold of PyOD"),
        ({"contamination": None}, TypeError, "contamination is None, but it must be a share"),
        ({"contamination": 0.7}, ValueError, "contamination is 0.7, but it must be above 0 and at most 0.5"),
        ({"trees": -1}, ValueError, "trees is -1, but it must be from 1 to 5000"),
        ({"categorical": [9]}, ValueError, "there is no column 9; the table has 5 columns, and the first is column 0"),
        ({"categorical": ["cat"]}, ValueError, 'the table has no column "cat"'),
        ({"categorical": 3}, TypeError, "categorical is 3, but it must be a list of column names or places"),
        ({"numeric": [1.5]}, TypeError, "numeric has 1.5, but it must be a list of column names or places"),
        ({"feature_types": ["odd"] * 5}, ValueError, "feature_types has 'odd' for column 0"),
        ({"n_jobs": 1.5}, TypeError, "n_jobs is 1.5, but it must be a number of threads"),
    ],
)
def test_sentences_speak_python(plain, settings, kind, message):
    with pytest.raises(kind) as error:
        diad.DIAD(**settings).fit(plain)
    assert message in str(error.value) and "--" not in str(error.value)


def test_columns_are_named_by_place_too(plain):
    table = plain.round()
    by_name = fitted(table, categorical=["x1", "x4"], ignore=["x0"])
    for same in ({"categorical": [1, -1], "ignore": [0]}, {"feature_types": ["ignore", "nominal", None, "auto", "ordinal"]}):
        assert fitted(table, **same)._model.to_bytes() == by_name._model.to_bytes()
    frame = pd.DataFrame(table, columns=list("abcde"))
    assert fitted(frame, categorical="b")._model.categories == ["b"]
    assert fitted(frame, feature_types={"c": "nominal", "d": "continuous"})._model.categories == ["c"]
    assert fitted(pd.DataFrame(table), categorical=[2])._model.categories == ["2"]


def test_one_column_is_no_table(plain):
    for series in (pd.Series(plain[:, 0]), pl.Series("a", plain[:, 0])):
        with pytest.raises(TypeError, match="a series is one column.*to_frame"):
            fitted(series)
    with pytest.raises(TypeError, match="collect"):
        fitted(pl.LazyFrame({"a": plain[:, 0]}))


@pytest.mark.parametrize("kind", BOTH)
def test_a_file_brings_back_parameters_and_names(kind, mixed, tmp_path):
    detector = kind(random_state=7, preset="paper", learning_rate=0.01, **QUICK).fit(mixed)
    detector.save(tmp_path / "m.diad")
    loaded = kind.load(tmp_path / "m.diad", contamination=0.01)
    assert loaded.contamination == 0.01
    assert loaded.n_features_in_ == detector.n_features_in_
    assert list(loaded.feature_names_in_) == list(mixed.columns)
    wanted = {name: value for name, value in detector.get_params().items() if value is not None}
    wanted["contamination"] = 0.01
    found = loaded.get_params()
    assert {name: found[name] for name in wanted} == wanted
    again = kind(**loaded.get_params()).fit(mixed)
    assert again._model.to_bytes() == detector._model.to_bytes()


@pytest.mark.parametrize("kind", BOTH)
def test_a_fit_that_fails_leaves_the_detector_as_it_was(kind, plain):
    detector = kind(**QUICK).fit(plain)
    before = dict(vars(detector))
    for bad in (plain[:, :2] * 0, np.full((5, 3), np.nan), pd.DataFrame({"a": ["x"] * 30})):
        with pytest.raises(ValueError):
            detector.fit(bad)
        assert vars(detector) == before
    with pytest.raises(ValueError):
        detector.tune(plain, np.zeros(len(plain)))
    assert vars(detector) == before
    np.testing.assert_array_equal(detector.decision_function(plain), kind(**QUICK).fit(plain).decision_function(plain))


@pytest.mark.parametrize("kind", BOTH)
def test_a_lambda_as_callback_does_not_block_pickling(kind, plain):
    detector = kind(callback=lambda **step: None, **QUICK).fit(plain)
    copy = pickle.loads(pickle.dumps(detector))
    assert copy.callback is None and detector.callback is not None
    np.testing.assert_array_equal(copy.decision_function(plain), detector.decision_function(plain))
    assert pickle.loads(pickle.dumps(kind(callback=print, **QUICK))).callback is print


def test_tags_tell_the_truth():
    assert is_outlier_detector(diad.DIADOutlierDetector())
    assert not is_outlier_detector(diad.DIAD()), "its predictions are 0 and 1, not +1 and -1"


def test_categories_are_bars_at_their_ticks(mixed):
    import matplotlib

    matplotlib.use("Agg")
    axes = fitted(mixed).explain_global().plot("job")
    shape = fitted(mixed).explain_global().data("job")
    assert axes.get_title() == "job" and not [line for line in axes.lines if len(line.get_xdata()) > 2]
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == list(shape["words"][0])
    heights = {round(bar.get_x() + bar.get_width() / 2, 6): bar.get_height() for bar in axes.patches}
    np.testing.assert_allclose([heights[place] for place in axes.get_xticks()], shape["scores"])
    (behind,) = [other for other in axes.figure.axes if other is not axes]
    counts = mixed["job"].value_counts()
    np.testing.assert_allclose([bar.get_height() for bar in behind.patches], [counts[word] / len(mixed) for word in labels])
    np.testing.assert_allclose([bar.get_x() + bar.get_width() / 2 for bar in behind.patches], axes.get_xticks())


def test_licences_come_along():
    from importlib.metadata import distribution

    files = {os.path.basename(str(file)) for file in distribution("diad").files or []}
    assert {"LICENSE-MIT", "LICENSE-APACHE", "LICENSE-OBSERVABLE-PLOT", "LICENSE-DEJAVU"} <= files
    about = distribution("diad").metadata
    assert about["License-Expression"] == "MIT OR Apache-2.0" and about["Author"] and len(about.get_all("Project-URL")) >= 4


def test_pandas_is_read_without_pyarrow():
    code = """
        import sys
        if sys.argv[1] == "without":
            sys.modules["pyarrow"] = None
        import numpy as np, pandas as pd, diad
        random = np.random.default_rng(3)
        frame = pd.DataFrame({
            "amount": np.where(np.arange(200) % 17 == 5, np.nan, random.lognormal(3, 1, 200)),
            "count": pd.array(random.integers(0, 5, 200), dtype="Int64"),
            "job": pd.Categorical(random.choice(["baker", "clerk"], 200)),
            "city": random.choice(["Bern", "Ulm", None], 200),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 7200, 200), unit="h"),
            "new": random.random(200) < 0.2,
        })
        print("pyarrow.lib" in sys.modules, diad.DIAD(steps=30, trees=8).fit(frame).decision_scores_.tobytes().hex())
    """
    said = []
    for how in ("with", "without"):
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(code), how], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said.append(done.stdout.split())
    assert said[1][0] == "False" and said[0][1] == said[1][1]
