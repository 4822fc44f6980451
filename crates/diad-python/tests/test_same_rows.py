"""The same rows score the same, bit for bit, from files and from every kind of data frame."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from conftest import QUICK, QUICK_OPTIONS, ROOT
from test_same_as_cli import scores_of

import diad

TABLES = ROOT / "fixtures" / "tables"


def frames():
    file = TABLES / "same-gzip.parquet"
    yield "arrow", lambda: pq.read_table(file)
    yield "pandas", lambda: pd.read_parquet(file)
    yield "pandas, as text", lambda: pd.read_csv(TABLES / "same.csv", dtype=str, keep_default_na=False)
    yield "pandas, as Python objects", lambda: pd.DataFrame(pq.read_table(file).to_pylist()).astype(object)
    yield "dictionaries", lambda: pq.read_table(file).to_pylist()
    yield "polars", lambda: pytest.importorskip("polars").read_parquet(file)
    yield "duckdb", lambda: pytest.importorskip("duckdb").sql(f"select * from '{file}'").to_arrow_table()


@pytest.mark.parametrize("frame", [pytest.param(frame, id=name) for name, frame in frames()])
def test_every_frame_scores_as_the_file_does(cli, tmp_path, frame):
    model = tmp_path / "m.diad"
    cli("fit", TABLES / "same.csv", "-o", model, *QUICK_OPTIONS)
    expected = scores_of(cli, model, TABLES / "same.csv", tmp_path).astype(float)
    np.testing.assert_array_equal(diad.load(model).decision_function(frame()), expected)
    np.testing.assert_array_equal(diad.DIAD(random_state=0, **QUICK).fit(frame()).decision_scores_, expected)


def test_baselines_of_segments_are_those_of_the_command(cli, tmp_path):
    random = np.random.default_rng(3)
    machine = random.integers(0, 12, 600)
    table = pd.DataFrame({"machine": machine, "load": machine * 10 + random.normal(size=600), "heat": random.normal(size=600)})
    table.to_csv(tmp_path / "t.csv", index=False)
    cli("fit", tmp_path / "t.csv", "-o", tmp_path / "m.diad", "--by", "machine", *QUICK_OPTIONS)
    expected = scores_of(cli, tmp_path / "m.diad", tmp_path / "t.csv", tmp_path).astype(float)
    detector = diad.DIAD(by="machine", random_state=0, **QUICK).fit(table)
    np.testing.assert_array_equal(detector.decision_function(table), expected)
    assert detector.term_names_[0].endswith(" for its machine")
    loaded = diad.load(tmp_path / "m.diad")
    assert loaded.by == "machine"
    np.testing.assert_array_equal(loaded.decision_function(table), expected)
    odd = table.head(1).assign(machine=0, load=50.0)
    assert loaded.decision_function(odd)[0] > np.quantile(expected, 0.99)
    assert loaded.explain_local(odd).data(0)["names"][0].startswith("load for its machine")
