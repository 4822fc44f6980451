"""Scores in DuckDB are those of the package and of the command."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import QUICK

import diad

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
diad_duckdb = pytest.importorskip("diad.duckdb", reason="this DuckDB is too old for diad.duckdb")


@pytest.fixture
def con():
    with duckdb.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def detector(mixed):
    return diad.DIAD(**QUICK).fit(mixed)


@pytest.fixture(scope="module")
def strange(mixed):
    """Rows that no training row is like: gaps, infinities, huge numbers, unknown categories."""
    rows = pa.Table.from_pandas(mixed.assign(number=np.arange(len(mixed))), preserve_index=False)
    amount = np.array([np.nan, np.inf, -np.inf, 1e300, -1e300, -0.0, 5e-324, 12.5] * 50)
    city = ["Bern", "Atlantis", None, "", "Ulm", "Bern", "ulm", "Zürich 🏔"] * 50
    rows = rows.set_column(0, "amount", pa.array(amount, mask=np.arange(400) % 9 == 0))
    return rows.set_column(3, "city", pa.array(city))


def test_the_function_gives_the_scores_of_the_package(con, detector, strange):
    diad_duckdb.register(con, detector)
    with pytest.warns(UserWarning, match="infinite cells"):
        expected = detector.decision_function(strange.drop(["number"]))
    found = con.sql("SELECT diad_score(strange) FROM strange ORDER BY number").to_arrow_table()
    np.testing.assert_array_equal(found.column(0).to_numpy(), expected)
    named = "{'when': \"when\", 'new': new, 'count': count, 'job': job, 'city': city, 'amount': amount}"
    found = con.sql(f"SELECT diad_score({named}) FROM strange ORDER BY number").to_arrow_table()
    np.testing.assert_array_equal(found.column(0).to_numpy(), expected)


def test_a_query_is_scored_as_the_command_scores_its_rows(cli, con, detector, strange, tmp_path):
    detector.save(tmp_path / "m.diad")
    pq.write_table(strange, tmp_path / "t.parquet")
    options = ["--id", "number", "--keep", "city", "--reasons", "2", "--alert", "share=1%"]
    cli("score", tmp_path / "m.diad", tmp_path / "t.parquet", "-o", tmp_path / "s.csv", *options)
    expected = pd.read_csv(tmp_path / "s.csv", dtype={"score": np.float32}, keep_default_na=False).drop(columns="row")
    query = f"SELECT * FROM '{tmp_path / 't.parquet'}'"
    scored = diad_duckdb.score(
        con, query, tmp_path / "m.diad", id="number", keep=["city"], reasons=2, alert="share=1%"
    )
    for _ in range(2):  # A relation can be read again.
        found = scored.order("number").df()
        assert list(found.columns) == list(expected.columns)
        for name in ("score", "percentile", "p_value", "severity", "alert"):
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
        for name in ("reason_1", "reason_2"):
            assert list(found[name].fillna("")) == list(expected[name])
    assert con.sql("SELECT count(*) FROM scored WHERE severity = 'extreme'").fetchall()[0][0] > 0


def test_columns_are_written_as_asked_for(con, detector, strange):
    con.execute("CREATE TABLE odd AS SELECT * FROM strange")
    query = "SELECT * FROM odd"
    whole = diad_duckdb.score(con, query, detector, id="number", reasons=1, alert="share=1%").order("number").to_arrow_table()
    for asked in (["alert", "score"], ["score"], ["p_value", "reason_1"]):
        found = diad_duckdb.score(con, query, detector, id="number", reasons=1, alert="share=1%", columns=asked)
        assert found.order("number").to_arrow_table().equals(whole.select(["number", *asked]))
    alone = diad_duckdb.score(con, query, detector, columns="score")
    assert alone.columns == ["score"]
    with pytest.raises(ValueError, match="columns has 'alert'"):
        diad_duckdb.score(con, query, detector, columns="alert")
    with pytest.raises(ValueError, match="columns is empty"):
        diad_duckdb.score(con, query, detector, columns=[])


def test_the_score_of_nothing_is_nothing(con, detector, strange):
    diad_duckdb.register(con, detector, "odd")
    found = con.sql("SELECT odd(CASE WHEN number % 2 = 0 THEN strange END) AS s FROM strange ORDER BY number").fetchall()
    assert [score is None for (score,) in found] == [number % 2 == 1 for number in range(400)]
    empty = diad_duckdb.score(con, "SELECT * FROM (SELECT 1) WHERE false", one_column(), keep="all")
    assert empty.fetchall() == [] and empty.columns[0] == "score"


def one_column():
    return diad.DIAD(**QUICK).fit(pd.DataFrame({"1": np.arange(100.0) % 7}))


def test_a_function_is_replaced_by_one_of_its_name(con, detector):
    diad_duckdb.register(con, detector, "f")
    diad_duckdb.register(con, one_column(), "f")
    assert con.sql("SELECT f({'1': 3})").fetchall()[0][0] is not None


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"keep": ["age"]}, "there is no column 'age' to keep"),
        ({"id": "age"}, "there is no column 'age' to keep"),
        ({"reasons": -1}, "reasons is -1"),
        ({"alert": "top=5"}, "looks at a whole table"),
        ({"alert": "often"}, "write an alert rule as"),
    ],
)
def test_what_cannot_be_is_said(con, detector, strange, asked, said):
    with pytest.raises(ValueError, match=said):
        diad_duckdb.score(con, "SELECT 1 AS amount, 2 AS count, 'a' AS job, 'b' AS city, now() AS \"when\", true AS new", detector, **asked)


def test_a_row_without_a_column_of_the_model_is_refused(con, detector):
    diad_duckdb.register(con, detector)
    for call in ("diad_score({'amount': 1})", "diad_score(1, 2)", "diad_score(1)"):
        with pytest.raises(duckdb.Error, match="no column 'count'|takes one row"):
            con.sql(f"SELECT {call}").fetchall()
    with pytest.raises(ValueError, match="no column 'amount'"):
        diad_duckdb.score(con, "SELECT 1 AS x", detector)


def test_kept_columns_are_told_apart(con):
    found = diad_duckdb.score(con, "SELECT 1 AS \"1\", 2 AS score, 3 AS \"row\"", one_column(), keep="all")
    assert found.columns == ["score", "percentile", "p_value", "severity", "1", "table_score", "table_row"]
