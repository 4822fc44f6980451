"""Every export against ``diad score --exact``: JSON, SQL in three engines, ONNX."""

import json
import os
import shutil
import subprocess

import numpy as np
import pyarrow.parquet as pq
import pytest

import engines
import models
import reader

NEAR = 1e-5
DIAD = os.environ.get("DIAD") or shutil.which("diad") or "diad"
QUICK = ["--steps", "50", "--trees", "20"]


def diad(*words):
    done = subprocess.run([DIAD, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module", params=models.KINDS)
def case(request, tmp_path_factory):
    """A model, a table of new rows and their exact scores."""
    folder = tmp_path_factory.mktemp(request.param)
    model = models.make(request.param, folder, DIAD, QUICK)
    table, scores = folder / "new.parquet", folder / "scores.parquet"
    pq.write_table(models.table(request.param, 2000, 7, new=True), table)
    diad("score", model, table, "--exact", "-o", scores)
    return model, table, pq.read_table(scores)["score"].to_numpy().astype(float)


def assert_exact(found, scores):
    """Rows to check by have the exact score, to the last digit, as text has it."""
    np.testing.assert_allclose(found, scores, rtol=1e-7, atol=1e-7)


def statement(model, dialect, *more):
    target = model.with_suffix(f".{dialect}.sql")
    diad("export", model, "--to", "sql", "--dialect", dialect, "--keep", "n", "-o", target, *more)
    return target.read_text()


def assert_near(found, exact):
    off = np.abs(found - exact) / np.maximum(1, np.abs(exact))
    worst = int(off.argmax())
    assert len(found) == len(exact) and off[worst] <= NEAR, (worst, found[worst], exact[worst])


def cells(plan, row):
    return [float(c) if k["kind"] != "category" and c is not None else c for k, c in zip(plan["inputs"], row)]


def test_json_says_all_there_is(case):
    model, table, exact = case
    target = model.with_suffix(".json")
    diad("export", model, "--to", "json", "--check", table, "-o", target)
    plan = json.loads(target.read_text())
    assert plan["diad_export"] == 1 and plan["model"] in diad("info", model).stdout
    check = plan["check"]
    assert len(check["rows"]) == 1000
    assert_exact(check["scores"], exact[:1000])
    few = slice(0, 200)
    found = [reader.score(plan, cells(plan, row)) for row in check["rows"][few]]
    assert_near(np.array(found), exact[few])


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_sql(case, engine):
    model, table, exact = case
    assert_near(getattr(engines, f"score_{engine}")(table, statement(model, engine)), exact)


def test_spark(case):
    pytest.importorskip("pyspark", reason="`cargo xtask engines` runs it")
    model, table, exact = case
    assert_near(engines.score_spark(table, statement(model, "spark")), exact)


def test_postgres(case):
    if not engines.Postgres.programs():
        pytest.skip("PostgreSQL is not installed; apt-get install postgresql")
    model, table, exact = case
    with engines.Postgres() as server:
        assert_near(server.score(table, statement(model, "postgres")), exact)


def test_onnx(case):
    model, table, exact = case
    target, explained = model.with_suffix(".onnx"), model.with_suffix(".explained.onnx")
    diad("export", model, "--to", "onnx", "-o", target)
    assert_near(engines.score_onnx(table, str(target)), exact)
    diad("export", model, "--to", "onnx", "--explain", "-o", explained)
    assert_near(engines.score_onnx(table, str(explained)), exact)
    meta = engines.onnxruntime.InferenceSession(str(explained)).get_modelmeta().custom_metadata_map
    terms = json.loads(meta["diad_terms"])
    contributions = engines.score_onnx(table, str(explained), "contributions")
    assert contributions.shape == (2000, len(terms)) and meta["diad_model"] in diad("info", model).stdout
    plan = model.with_suffix(".json")
    diad("export", model, "--to", "json", "-o", plan)
    assert_near(contributions.sum(axis=1) + json.loads(plan.read_text())["intercept"], exact)


def test_reasons_are_the_largest_contributions(case):
    model, table, exact = case
    explained = model.with_suffix(".explained.onnx")
    diad("export", model, "--to", "onnx", "--explain", "-o", explained)
    contributions = engines.score_onnx(table, str(explained), "contributions")
    meta = engines.onnxruntime.InferenceSession(str(explained)).get_modelmeta().custom_metadata_map
    terms = json.loads(meta["diad_terms"])
    connection = engines.duckdb.connect()
    connection.execute(f"CREATE TABLE data AS FROM read_parquet('{table}')")
    found = connection.execute(statement(model, "duckdb", "--reasons", "2")).fetchall()
    for n, score, first, most, second, next_most in found:
        order = np.sort(contributions[n])[::-1]
        np.testing.assert_allclose([most, next_most], order[:2], rtol=1e-5, atol=1e-5)
        for name, value in ((first, most), (second, next_most)):
            np.testing.assert_allclose(contributions[n][terms.index(name)], value, rtol=1e-5, atol=1e-5)


def test_rows_to_check_by_are_in_the_file(case):
    model, table, exact = case
    text = statement(model, "sqlite", "--check", table)
    rows = [json.loads(line[9:]) for line in text.splitlines() if line.startswith("-- check ")]
    assert_exact([row["score"] for row in rows], exact[:1000])


def test_fifty_columns_are_less_than_a_megabyte(tmp_path):
    """By the settings that models have unless told otherwise. With reasons it is longer, and must run all the same."""
    table, model, scores = models.wide(4000), tmp_path / "wide.diad", tmp_path / "scores.parquet"
    pq.write_table(table, tmp_path / "wide.parquet")
    pq.write_table(table.slice(0, 500), tmp_path / "few.parquet")
    diad("fit", tmp_path / "wide.parquet", "-o", model, "--ignore", "n")
    sizes = {dialect: len(statement(model, dialect)) for dialect in models.DIALECTS}
    assert max(sizes.values()) < 1_000_000, sizes
    diad("score", model, tmp_path / "few.parquet", "--exact", "-o", scores)
    exact = pq.read_table(scores)["score"].to_numpy().astype(float)
    for engine in ("duckdb", "sqlite"):
        score = getattr(engines, f"score_{engine}")
        assert_near(score(tmp_path / "few.parquet", statement(model, engine)), exact)
    assert_near(engines.score_sqlite(tmp_path / "few.parquet", statement(model, "sqlite", "--reasons", "2")), exact)


def test_what_is_no_sum_is_refused(tmp_path):
    pq.write_table(models.table("numbers", 500, 1), tmp_path / "rows.parquet")
    model = tmp_path / "deep.diad"
    diad("fit", tmp_path / "rows.parquet", "-o", model, "--layers", "2", *QUICK)
    done = subprocess.run([DIAD, "export", model, "--to", "json", "-o", tmp_path / "x.json"], capture_output=True, text=True)
    assert done.returncode == 2 and "train one with --layers 1" in done.stderr
    assert not (tmp_path / "x.json").exists()
