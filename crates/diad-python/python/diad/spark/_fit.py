"""A fit to a data frame: a sample that does not depend on the partitions, and a calibration by all other rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from .._convert import columns_of, seed_of
from .._detector import DIAD
from .._diad import add_counts, count_rows, counting
from .._engine import Judge, loaded
from ._score import column, counts_of_parts, each_partition

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    from pyspark.sql import Column, DataFrame

    from .._diad import Model
    from .._types import Floats, Ints

#: Rows of the sample, unless another number is asked for.
ROWS = 250_000
#: Scores of a calibration, at most. So many rows must be left to calibrate by.
CALIBRATION = 10_000
#: Scores are counted in steps of so many of the lowest bits of a number of 32: a step is at most 1/32,768 of the score.
STEP_BITS = 8


def fit(df: DataFrame, *, id: str | None = None, rows: int = ROWS, **settings: Any) -> DIAD:
    """Fits a detector to a sample of a data frame that knows what all rows hold, and calibrates it by all rows that are not in the
    sample.

    How many rows there are, ranges, gaps and categories are those of all rows, whatever the partitions. Where the sample is all
    rows, the model is that of ``diad.DIAD(**settings).fit(diad.spark.sample(df, …))``, bit for bit. All rows are scored where they
    are at last, and where at least 10,000 of them are not in the sample, percentiles and p-values are by these.

    Parameters
    ----------
    df
        The rows. They are read up to five times: ``df.cache()`` where that costs more than memory.
    id
        A column that names the rows and is no feature. Rows are then ordered by it.
    rows
        About how many rows the sample has. A table of no more rows is taken whole.
    **settings
        Those of :class:`diad.DIAD`.
    """
    # Places are those of the whole data frame, of which some columns are not read.
    ignored, categorical, numeric = (named(settings.pop(role, ()), role, df) for role in ("ignore", "categorical", "numeric"))
    settings.update(categorical=categorical, numeric=numeric)
    if settings.get("by") is not None:
        settings["by"] = named([settings["by"]], "by", df)[0]
    seed = seed_of(settings.pop("random_state", None))
    unread = [name for name in ignored if name in df.columns and name != id]
    read = df.drop(*unread)
    total = read.count()
    table = drawn(read, total, rows, id, seed)
    detector = DIAD(ignore=[] if id is None else [id], random_state=seed, **settings)
    if total > table.num_rows:
        detector._counted = known(read, table, detector)
    detector.fit(table)
    if total - table.num_rows >= CALIBRATION:
        model = detector._fitted()
        unseen = counted(read, model).without(Steps.of(detector.decision_scores_))
        detector._model = detector._untuned = model.calibrated(unseen.quantiles())
    return detector


def named(columns: Any, role: str, df: DataFrame) -> list[str]:
    """The names of columns that may be given by their place."""
    return [df.columns[place] if isinstance(place, int) else place for place in columns_of(columns, role)]


def known(df: DataFrame, table: pa.Table, detector: DIAD) -> bytes:
    """What all rows of a data frame hold, of which a table is a sample."""
    plan = counting(table, detector._roles())

    def count(batches: Iterator[pa.RecordBatch]) -> bytes:
        return count_rows(plan, batches)

    return add_counts(plan, counts_of_parts(df, df.columns, count))


def sample(df: DataFrame, rows: int = ROWS, *, id: str | None = None, seed: int = 0) -> pa.Table:
    """A sample of the rows of a data frame, which depends on what is in the rows and on the seed, and on nothing else.

    Equal rows are taken in proportion to their number, to within one: of ``n`` equal rows, ``floor(n · share + u)``, where ``u`` is a
    number from 0 to 1 by the hash of the row. The rows are in the order of ``id``, or of their hashes where there is no ``id``.

    Parameters
    ----------
    df
        The rows.
    rows
        About how many rows the sample has. A table of no more rows is taken whole.
    id
        A column that names the rows.
    seed
        Other seeds give other samples.
    """
    return drawn(df, df.count(), rows, id, seed)


def drawn(df: DataFrame, total: int, rows: int, id: str | None, seed: int) -> pa.Table:
    """A sample of a data frame of so many rows."""
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 2:
        raise ValueError(f"rows is {rows!r}, but it must be a number of rows, 2 or more")
    if id is not None and id not in df.columns:
        raise ValueError(f"there is no column {id!r}; name one of {', '.join(map(repr, df.columns))}")
    first, second, times = (free(name, df.columns) for name in ("hash", "other_hash", "times"))
    hashed = df.select("*", digest(df.columns, 2 * seed).alias(first), digest(df.columns, 2 * seed + 1).alias(second))
    if total <= rows:
        table = hashed.toArrow()
    else:
        uniform = F.shiftrightunsigned(column(first), 11) * F.lit(2.0**-53)
        copies = F.floor(F.count("*") * F.lit(rows / total) + F.first(uniform))
        chosen = hashed.groupBy(first, second).agg(copies.alias(times)).where(column(times) > 0)
        picked = hashed.join(F.broadcast(chosen), [first, second]).dropDuplicates([first, second])
        table = picked.toArrow()
        table = table.take(np.repeat(np.arange(table.num_rows), table[times].to_numpy()))
    order = [*([] if id is None else [id]), first, second]
    return table.sort_by([(name, "ascending") for name in order]).select(df.columns)


def digest(names: Sequence[str], seed: int) -> Column:
    """A hash of what is in a row. Spark's skips what is missing, so that this is told, too."""
    cells = [cell for name in names for cell in (column(name), column(name).isNull())]
    return F.xxhash64(F.lit(seed), *cells)


def free(name: str, taken: Sequence[str]) -> str:
    """A name that no column has."""
    while any(name == other.lower() for other in taken):
        name = f"{name}_"
    return name


# Scores are counted by the numbers that their bits are, which are in the same order as the scores.


class Steps(NamedTuple):
    """Steps that scores are in, ascending, and how many are in each."""

    places: Ints
    rows: Ints

    @classmethod
    def of(cls, scores: Floats) -> Steps:
        bits = scores.astype(np.float32).view(np.uint32)
        ordered = np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31))
        return cls.joined((ordered >> STEP_BITS).astype(np.int64), np.ones(len(scores), np.int64))

    @classmethod
    def joined(cls, places: Ints, rows: Ints) -> Steps:
        """Counts of steps of which some come more than once."""
        order = np.argsort(places, kind="stable")
        found, starts = np.unique(places[order], return_index=True)
        return cls(found, np.add.reduceat(rows[order], starts) if len(rows) else rows)

    def without(self, other: Steps) -> Steps:
        return Steps.joined(np.concatenate([self.places, other.places]), np.concatenate([self.rows, -other.rows]))

    def quantiles(self) -> npt.NDArray[np.float32]:
        """Evenly spaced quantiles: each the upper end of its step, so that no p-value is too small."""
        total = int(self.rows.sum())
        kept = min(CALIBRATION, total)
        ranks = -(-np.arange(1, kept + 1) * (total + 1) // (kept + 1))
        places = self.places[np.searchsorted(np.cumsum(self.rows), ranks)]
        ordered = (places.astype(np.uint32) << STEP_BITS) | np.uint32((1 << STEP_BITS) - 1)
        bits = np.where(ordered >> 31, ordered & np.uint32((1 << 31) - 1), ~ordered)
        scores: npt.NDArray[np.float32] = bits.astype(np.uint32).view(np.float32)
        return scores


def counted(df: DataFrame, model: Model) -> Steps:
    """How many rows of a data frame have a score in each step."""
    judge = Judge.of(model.to_bytes())
    data = judge.model

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        known = loaded(data)
        parts = [Steps.of(known.score_here(batch)) for batch in batches]
        if parts:
            found = Steps.joined(*map(np.concatenate, zip(*parts, strict=True)))
            yield pa.RecordBatch.from_arrays(list(map(pa.array, found)), names=["step", "rows"])

    parts = each_partition(df, judge.columns, count, "step long, rows long")
    totals = parts.groupBy("step").agg(F.sum("rows").alias("rows")).toArrow()
    return Steps.joined(totals["step"].to_numpy(), totals["rows"].to_numpy())
