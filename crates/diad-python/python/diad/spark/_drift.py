"""What has changed in a data frame since the training."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .._engine import Judge, loaded
from ._score import counts_of_parts

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
    judge = Judge.of(model)
    judge.require(df.columns)
    data, columns = judge.model, judge.columns

    def counted(batches: Iterator[pa.RecordBatch]) -> bytes:
        return loaded(data).count_drift(batches)

    told: dict[str, Any] = json.loads(loaded(data).drift(counts_of_parts(df, columns, counted)))
    return told
