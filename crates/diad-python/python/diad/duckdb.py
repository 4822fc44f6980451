"""DIAD in DuckDB: a function of SQL, and scored queries.

>>> import duckdb
>>> import diad
>>> import diad.duckdb
>>> con = duckdb.connect()
>>> sales = con.sql("SELECT i % 20 AS x, 2 * (i % 20) + (i = 123)::INT * 60 AS y FROM range(400) AS r(i)")
>>> detector = diad.DIAD(steps=200, trees=50).fit(sales)
>>> diad.duckdb.register(con, detector)
>>> con.sql("SELECT x, y FROM sales ORDER BY diad_score(sales) DESC LIMIT 1").fetchall()
[(3, 66)]
>>> scored = diad.duckdb.score(con, "SELECT i AS x, 66 AS y FROM range(3) AS r(i)", detector, keep=["x"], reasons=1)
>>> scored.columns
['score', 'percentile', 'p_value', 'severity', 'reason_1', 'x']
>>> con.close()
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from duckdb.func import ARROW, SPECIAL

from ._engine import Judge, bytes_of, loaded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from ._engine import AnyModel, Layout

__all__ = ["register", "score"]

#: Rows that are read and scored at a time: enough for what a batch costs to be little beside what its rows do.
BATCH = 65_536


def register(con: DuckDBPyConnection, model: AnyModel, name: str = "diad_score") -> None:
    """Makes the scores of a model a function of SQL.

    Its argument is a row with the columns of the model by name, in any order: ``diad_score(t)`` for the rows of a table ``t``,
    or ``diad_score({'amount': amount, 'job': job})``. The score of NULL is NULL.

    Parameters
    ----------
    con
        The connection that is to know the function.
    model
        A model file, its bytes, or a fitted detector.
    name
        The name of the function. One of that name is replaced if it was registered here.
    """
    judge = Judge.of(bytes_of(model))
    known = loaded(judge.model)
    seen: list[str] = []

    def scores(*given: pa.ChunkedArray) -> pa.Array:
        if len(given) != 1 or not pa.types.is_struct(given[0].type):
            raise ValueError(f"{name} takes one row: write {name}(t) for the rows of a table t, or {name}({{'a': a, 'b': b}})")
        rows = given[0].chunk(0) if given[0].num_chunks == 1 else pa.concat_arrays(given[0].chunks)
        batch = pa.RecordBatch.from_struct_array(rows)
        if batch.schema.names != seen:
            judge.require(batch.schema.names)
            seen[:] = batch.schema.names
        return pa.array(known.score_here(batch), mask=rows.is_null().to_numpy(False) if rows.null_count else None)

    with contextlib.suppress(duckdb.InvalidInputException):
        con.remove_function(name)
    con.create_function(name, scores, None, "DOUBLE", type=ARROW, null_handling=SPECIAL)


def score(
    con: DuckDBPyConnection,
    query: str,
    model: AnyModel,
    *,
    id: str | None = None,
    keep: Sequence[str] | str = (),
    reasons: int = 0,
    alert: str | None = None,
    columns: Sequence[str] | str | None = None,
) -> DuckDBPyRelation:
    """The rows of a query, scored as ``diad score`` writes them, as a relation.

    The query is run each time the relation is, by a cursor of its own: it sees what is committed, and no temporary tables.

    Parameters
    ----------
    con
        The connection.
    query
        A query that has the columns of the model, in any order.
    model
        A model file, its bytes, or a fitted detector.
    id
        The column that names the rows; it comes first.
    keep
        Columns to write beside the scores, or ``"all"``.
    reasons
        How many reasons to give for each row.
    alert
        Which rows are alerts, ``"share=1%"`` or ``"p=0.001"``; by default, the rule stored in the model.
    columns
        Which columns to write of ``score``, ``percentile``, ``p_value``, ``severity``, ``alert`` and ``reason_1`` and so on, in
        this order; by default, all that there are. ``"score"`` alone is the fastest.
    """
    judge = Judge.of(model, reasons, alert, columns)
    with con.cursor() as cursor:
        layout = judge.layout(cursor.sql(query).columns, id, keep)
    return con.from_arrow(Scored(con, query, layout))


@dataclass(frozen=True)
class Scored:
    """The scored rows of a query, as a stream of Arrow: as often as one is asked for."""

    con: DuckDBPyConnection
    query: str
    layout: Layout

    def _read(self, cursor: DuckDBPyConnection) -> pa.RecordBatchReader:
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in self.layout.read)
        return cursor.sql(f"SELECT {columns} FROM ({self.query})").to_arrow_reader(BATCH)

    def _batches(self) -> Iterator[pa.RecordBatch]:
        with self.con.cursor() as cursor:
            for batch in self._read(cursor):
                yield self.layout.batch(batch)

    def _schema(self) -> pa.Schema:
        with self.con.cursor() as cursor:
            empty = pa.RecordBatch.from_pylist([], schema=self._read(cursor).schema)
        return self.layout.batch(empty).schema

    def __arrow_c_schema__(self) -> Any:
        return self._schema().__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        reader = pa.RecordBatchReader.from_batches(self._schema(), self._batches())
        return reader.__arrow_c_stream__(requested_schema)
