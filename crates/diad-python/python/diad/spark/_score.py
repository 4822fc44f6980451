"""Scores of a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F
from pyspark.sql.types import BooleanType, DoubleType, StringType, StructField, StructType

from .._engine import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from .._engine import AnyModel, Layout

#: Types of Spark by their names in SQL.
TYPES = {"double": DoubleType(), "string": StringType(), "boolean": BooleanType()}


def column(name: str) -> Column:
    """A column by its very name, dots and all."""
    return F.col("`" + name.replace("`", "``") + "`")


def score(
    df: DataFrame,
    model: AnyModel,
    *,
    id: str | None = None,
    keep: Sequence[str] | str = (),
    reasons: int = 0,
    alert: str | None = None,
    columns: Sequence[str] | str | None = None,
) -> DataFrame:
    """The rows of a data frame, scored as ``diad score`` writes them; lazily, as everything in Spark.

    Parameters
    ----------
    df
        A data frame with the columns of the model, in any order.
    model
        A model file on the driver, its bytes, or a fitted detector. Its bytes travel with the job, and each worker reads them
        once.
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
    layout = Judge.of(model, reasons, alert, columns).layout(df.columns, id, keep)
    return each_partition(df, layout.read, scoring(layout), written(df.schema, layout))


def scoring(layout: Layout) -> Partition:
    """What a worker does with the batches of a partition."""

    def scored(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(layout.batch, batches)

    return scored


def each_partition(df: DataFrame, names: Sequence[str], work: Partition, schema: StructType | str) -> DataFrame:
    """Hands some columns of each partition to a worker."""
    # Spark's own function takes no names with dots in them.
    plain = [column(name).alias(f"c{place}") for place, name in enumerate(names)]

    def named(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return work(batch.rename_columns(list(names)) for batch in batches if batch.num_rows)

    return df.select(*plain).mapInArrow(named, schema)


def counts_of_parts(df: DataFrame, names: Sequence[str], count: Callable[[Iterator[pa.RecordBatch]], bytes]) -> list[bytes]:
    """What is counted of some columns of each partition, in the order of the partitions."""

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        place = task.partitionId() if task else 0
        counts = [pa.array([place], pa.int32()), pa.array([count(batches)], pa.binary())]
        yield pa.RecordBatch.from_arrays(counts, names=["part", "counts"])

    parts = each_partition(df, names, counted, "part int, counts binary").toArrow()
    found: list[bytes] = parts.sort_by("part")["counts"].to_pylist()
    return found


def written(table: StructType, layout: Layout) -> StructType:
    """The columns of scored rows."""

    def kept(columns: list[tuple[str, str]]) -> list[StructField]:
        return [StructField(written, table[name].dataType) for name, written in columns]

    own = [StructField(name, TYPES[kind]) for name, kind in layout.judge.fields]
    return StructType([*kept(layout.before), *own, *kept(layout.after)])


if TYPE_CHECKING:
    from typing import TypeAlias

    Partition: TypeAlias = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
