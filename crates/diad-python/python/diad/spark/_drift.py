"""What has changed in a data frame since the training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._engine import Judge, loaded
from ._score import each_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from .._engine import AnyModel


def drift(df: DataFrame, model: AnyModel) -> dict[str, Any]:
    """What has changed since the training, as ``diad drift --format json`` tells it.

    Each partition is counted where it is, and only the counts travel. Counts, and the shares and verdicts that follow from them, are
    those of the command; means are sums in another order and differ in their last digits; medians are of up to 4,096 values of a
    column, which depend on the partitions.

    Parameters
    ----------
    df
        A data frame with the columns of the model, in any order.
    model
        A model file on the driver, its bytes, or a fitted detector.
    """
    judge = Judge.of(model, 0, None)
    judge.require(df.columns)
    data, columns = judge.model, judge.columns

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        from pyspark import TaskContext

        task = TaskContext.get()
        place = task.partitionId() if task else 0
        counts = [pa.array([place], pa.int32()), pa.array([loaded(data).count_drift(batches)], pa.binary())]
        yield pa.RecordBatch.from_arrays(counts, names=["part", "counts"])

    parts = each_partition(df, columns, counted, "part int, counts binary").toArrow()
    told: dict[str, Any] = json.loads(loaded(data).drift(parts.sort_by("part")["counts"].to_pylist()))
    return told
