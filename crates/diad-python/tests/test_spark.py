"""Scores, fits and drift in Spark are those of the package and of the command. One session, two threads, small tables."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import QUICK, QUICK_OPTIONS

import diad

pytest.importorskip("pyspark", reason="PySpark is not installed; `cargo xtask engines` tests with it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

import diad.spark  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "3").config("spark.sql.session.timeZone", "UTC").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table(mixed):
    """Rows with names, one of them with a dot, and a nested column."""
    frame = mixed.assign(number=np.arange(len(mixed)), job=mixed["job"].astype(str)).rename(columns={"city": "home.city"})
    rows = pa.Table.from_pandas(frame, preserve_index=False)
    rows = rows.set_column(4, "when", rows["when"].cast(pa.timestamp("us", "UTC")))
    amount = rows["amount"].to_numpy(zero_copy_only=False).copy()
    amount[:4] = [np.inf, -np.inf, 1e300, -0.0]
    rows = rows.set_column(0, "amount", pa.array(amount, mask=np.arange(400) % 9 == 7))
    return rows.append_column("nested", pa.array([{"a": [1, 2]}] * 400))


IGNORED = ["number", "nested"]


@pytest.fixture(scope="module")
def detector(table):
    return diad.DIAD(ignore=IGNORED, **QUICK).fit(table)


def test_rows_are_scored_as_the_command_scores_them(cli, spark, table, detector, tmp_path):
    detector.save(tmp_path / "m.diad")
    pq.write_table(table.drop(["nested"]), tmp_path / "t.parquet")
    options = ["--id", "number", "--keep", "home.city", "--reasons", "2", "--alert", "share=1%"]
    cli("score", tmp_path / "m.diad", tmp_path / "t.parquet", "-o", tmp_path / "s.csv", *options)
    expected = pd.read_csv(tmp_path / "s.csv", dtype={"score": np.float32}, keep_default_na=False).drop(columns="row")
    df = spark.createDataFrame(table)
    for parts in (1, 7):
        asked = {"id": "number", "keep": ["home.city"], "reasons": 2, "alert": "share=1%"}
        found = diad.spark.score(df.repartition(parts), tmp_path / "m.diad", **asked).toArrow().sort_by("number")
        assert found.column_names == list(expected.columns)
        np.testing.assert_array_equal(found["score"].to_numpy(), detector.decision_scores_)
        for name in ("score", "percentile", "p_value", "severity", "alert"):
            np.testing.assert_array_equal(found[name].to_numpy(zero_copy_only=False), expected[name], err_msg=name)
        for name in ("reason_1", "reason_2"):
            assert [text or "" for text in found[name].to_pylist()] == list(expected[name])


def test_everything_can_be_kept(spark, table, detector):
    df = spark.createDataFrame(table)
    kept = diad.spark.score(df, detector, keep="all").toArrow()
    assert kept.column_names[:4] == ["score", "percentile", "p_value", "severity"]
    assert kept.column_names[4:] == table.column_names and kept["nested"][0].as_py() == {"a": [1, 2]}
    with pytest.raises(ValueError, match="no column 'amount'"):
        diad.spark.score(df.drop("amount"), detector)
    with pytest.raises(ValueError, match="looks at a whole table"):
        diad.spark.score(df, detector, alert="fdr=10%")


def test_a_fit_of_all_rows_is_the_local_fit(cli, spark, table, tmp_path):
    df = spark.createDataFrame(table)
    local = tmp_path / "local.diad"
    pq.write_table(table.drop(["nested"]), tmp_path / "t.parquet")
    cli("fit", tmp_path / "t.parquet", "-o", local, "--ignore", "number", *QUICK_OPTIONS)
    fitted = diad.spark.fit(df.repartition(5), id="number", ignore=["nested"], **QUICK)
    fitted.save(tmp_path / "spark.diad")
    assert (tmp_path / "spark.diad").read_bytes() == local.read_bytes()
    rows = df.drop("number", "nested")
    unnamed = diad.spark.fit(rows.repartition(3), **QUICK)
    same = diad.DIAD(**QUICK).fit(diad.spark.sample(rows.repartition(2)))
    assert unnamed._model.to_bytes() == same._model.to_bytes()


def test_a_sample_depends_on_the_rows_alone(spark):
    value = "CASE WHEN id % 3 = 0 THEN 5 WHEN id % 3 = 1 THEN id END AS v"
    df = spark.range(30_000).selectExpr(value, "IF(id % 3 = 2, id - 1, NULL) AS w")
    samples = [diad.spark.sample(df.repartition(parts), 3000) for parts in (1, 4)]
    assert samples[0].equals(samples[1])
    # Ten thousand rows are equal, and they are a third of the sample, too. (NULL, n) and (n, NULL) are other rows.
    assert samples[0]["v"].to_pylist().count(5) in (1000, 1001)
    assert 2800 < samples[0].num_rows < 3200
    assert not diad.spark.sample(df, 3000, seed=1).equals(samples[0])


def test_a_fit_to_a_sample_is_calibrated_by_all_other_rows(spark):
    df = spark.range(40_000).selectExpr("id", "CAST(xxhash64(id) AS DOUBLE) / 9.3e18 AS x", "id % 7 AS y")
    first, second = (diad.spark.fit(df.repartition(parts), id="id", rows=2000, **QUICK) for parts in (2, 5))
    assert first._model.to_bytes() == second._model.to_bytes()
    sample = diad.spark.sample(df, 2000, id="id")
    # Against counting, row by row: p-values are never smaller, and larger by no more than the scores of a step are.
    rows = df.toArrow()
    unseen = np.sort(first.decision_function(rows.filter(~np.isin(rows["id"].to_numpy(), sample["id"].to_numpy())).drop(["id"])))
    scores = first.decision_function(rows.drop(["id"]))
    counted = (1 + len(unseen) - np.searchsorted(unseen, scores)) / (1 + len(unseen))
    found = first._model.judge(rows)[2]
    ordinary = scores <= unseen[-1]
    assert (found[ordinary] >= counted[ordinary] * (1 - 5e-4)).all()
    step = np.abs(scores) * 2.0**-15
    no_lower = (1 + len(unseen) - np.searchsorted(unseen, scores - step)) / (1 + len(unseen))
    assert (found <= 1.01 * no_lower + 3e-4).all()


def test_a_fit_to_a_sample_knows_what_all_rows_hold(spark):
    kind = "CASE WHEN id = 77 THEN 'once' WHEN id % 1000 = 3 THEN NULL ELSE concat('kind ', id % 5) END AS kind"
    amount = "CASE WHEN id = 99 THEN 1e6 WHEN id = 55 THEN NULL ELSE CAST(xxhash64(id) AS DOUBLE) / 9.3e18 END AS amount"
    df = spark.range(40_000).selectExpr("id", kind, amount, "timestamp_seconds(id * 3600) AS hour")
    models = {diad.spark.fit(df.repartition(parts), id="id", rows=2000, **QUICK)._model.to_bytes() for parts in (1, 2, 7, 64)}
    assert len(models) == 1
    sample = diad.spark.sample(df, 2000, id="id")
    assert not {77, 99, 55} & set(sample["id"].to_pylist())
    detector = diad.spark.fit(df, id="id", rows=2000, **QUICK)
    assert detector._model.training_rows == 40_000
    hours = df.limit(2).toArrow()["hour"]
    rows = pa.table({"kind": ["once", "kind 0"], "amount": [1e6, None], "hour": hours})
    (once, largest, *_), (_, gap, *_) = detector._model.words(rows)[1]
    assert "1 of 40,000 rows" in once and "1 of 40,000 rows" in gap
    assert "outside" not in largest
    found = detector.decision_function(pa.table({"kind": ["once", "kind 0"], "amount": [0.0, 0.0], "hour": hours}))
    assert found[0] > found[1] + 1


def test_columns_are_written_as_asked_for(spark, table, detector):
    df = spark.createDataFrame(table)
    whole = diad.spark.score(df, detector, id="number", reasons=1, alert="share=1%").toArrow().sort_by("number")
    asked = ["reason_1", "severity", "score"]
    some = diad.spark.score(df, detector, id="number", reasons=1, columns=asked).toArrow().sort_by("number")
    assert some.equals(whole.select(["number", *asked]))
    alone = diad.spark.score(df, detector, id="number", columns="score").toArrow().sort_by("number")
    assert alone.equals(whole.select(["number", "score"]))
    with pytest.raises(ValueError, match="columns has 'reason_2', but what can be written is 'score', 'percentile'"):
        diad.spark.score(df, detector, reasons=1, columns=["reason_2"])


def test_drift_is_that_of_the_command(spark, table, detector, tmp_path):
    detector.save(tmp_path / "m.diad")
    pq.write_table(table.drop(["nested"]), tmp_path / "t.parquet")
    command = [os.environ.get("DIAD") or "diad", "drift", tmp_path / "m.diad", tmp_path / "t.parquet", "--format", "json"]
    expected = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    found = diad.spark.drift(spark.createDataFrame(table).repartition(4), detector)
    assert close(found, expected), (found, expected)


def close(found, expected):
    """Whether two results are the same, numbers to nine digits."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(close(found[key], expected[key]) for key in expected)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(close, found, expected))
    if isinstance(expected, float):
        return abs(found - expected) <= 1e-9 * max(1.0, abs(expected))
    return found == expected


def test_a_pipeline_is_saved_with_its_model_file(cli, spark, table, detector, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel

    df = spark.createDataFrame(table.drop(["nested"]))
    stage = diad.spark.DIADEstimator(id="number", reasons=1, alert="share=1%", **QUICK)
    Pipeline(stages=[stage]).write().overwrite().save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(df)
    fitted.write().overwrite().save(f"file://{tmp_path}/fitted")
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    found = loaded.transform(df).toArrow().sort_by("number")
    np.testing.assert_array_equal(found["score"].to_numpy(), detector.decision_scores_)
    assert {"alert", "reason_1", "amount"} <= set(found.column_names)
    (file,) = (tmp_path / "fitted").glob("stages/*/model.diad")
    local = diad.DIAD(ignore=["number"], **QUICK).fit(table.drop(["nested"]))
    assert file.read_bytes() == local._model.to_bytes()
    with pytest.raises(ValueError, match="save the stage to a mounted folder"):
        fitted.stages[0].write().save("s3://bucket/model")
