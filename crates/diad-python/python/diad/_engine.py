"""What the engines share: a model as the bytes of its file, and record batches turned into judged rows."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ._base import Base
from ._diad import SEVERITIES, Model

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    import pyarrow as pa

    from ._types import Path

    #: A model file, its bytes, or a fitted detector.
    AnyModel: TypeAlias = Path | bytes | Base


def bytes_of(model: AnyModel) -> bytes:
    """The bytes of a model's file."""
    if isinstance(model, bytes):
        return model
    if isinstance(model, Base):
        model._unedited("an engine")
        return model._fitted().to_bytes()
    with open(os.fspath(model), "rb") as file:
        return file.read()


@functools.lru_cache(maxsize=8)
def loaded(model: bytes) -> Model:
    """The model of these bytes, read once in a process."""
    return Model.from_bytes(model)


@dataclass(frozen=True)
class Judge:
    """A model and what is asked of it: how many reasons, by which rule rows are alerts, and what is written."""

    model: bytes
    reasons: int = 0
    alert: str | None = None
    columns_written: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls, model: AnyModel, reasons: int = 0, alert: str | None = None, columns: Sequence[str] | str | None = None
    ) -> Judge:
        if isinstance(reasons, bool) or not isinstance(reasons, int) or reasons < 0:
            raise ValueError(f"reasons is {reasons!r}, but it must be a number of reasons, 0 or more")
        data = bytes_of(model)
        known = loaded(data)
        most = len(known.terms()[1]) if reasons else 0
        whole = cls(data, min(reasons, most), known.rule(alert))
        if columns is None:
            return whole
        wanted = [columns] if isinstance(columns, str) else list(columns)
        names = [name for name, _ in whole.fields]
        for name in wanted:
            if name not in names:
                raise ValueError(f"columns has {name!r}, but what can be written is {', '.join(map(repr, names))}")
        if not wanted:
            raise ValueError("columns is empty; name what is to be written, such as 'score'")
        return replace(whole, columns_written=tuple(dict.fromkeys(wanted)))

    @property
    def columns(self) -> list[str]:
        """The columns that the model needs."""
        return list(dict.fromkeys(loaded(self.model).sources))

    @property
    def fields(self) -> list[tuple[str, str]]:
        """What is written of a row: names and types of SQL."""
        alert = [("alert", "boolean")] if self.alert else []
        reasons = [(f"reason_{number}", "string") for number in range(1, self.reasons + 1)]
        numbers = [("score", "double"), ("percentile", "double"), ("p_value", "double"), ("severity", "string")]
        all = numbers + alert + reasons
        return all if self.columns_written is None else [(name, dict(all)[name]) for name in self.columns_written]

    def arrays(self, batch: pa.RecordBatch) -> list[pa.Array]:
        """What is written of the rows of a batch, in the order of ``fields``."""
        import pyarrow as pa

        model = loaded(self.model)
        rows = batch.select(self.columns)
        if self.columns_written == ("score",):
            return [pa.array(model.score_here(rows))]
        score, percentile, p_value, severity, alert, reasons = model.judge(rows, self.reasons, self.alert)
        written: dict[str, Any] = {"score": score, "percentile": percentile, "p_value": p_value, "alert": alert}

        def array(name: str) -> pa.Array:
            if name == "severity":
                return pa.array(SEVERITIES).take(pa.array(severity))
            if name.startswith("reason_"):
                return pa.array(reasons[int(name.removeprefix("reason_")) - 1], pa.string())
            return pa.array(written[name])

        return [array(name) for name, _ in self.fields]

    def require(self, names: Iterable[str]) -> None:
        """Refuses a table that lacks a column of the model."""
        known = set(names)
        missing = [name for name in self.columns if name not in known]
        if missing:
            raise ValueError(f"the table has no column {missing[0]!r}, which the model needs; select or rename one")

    def kept(self, names: Sequence[str], id: str | None, keep: Sequence[str] | str) -> list[tuple[str, str]]:
        """Columns of a table to write beside the scores, with the names they get: that of the identifier comes first."""
        wanted = list(names) if keep == "all" else [keep] if isinstance(keep, str) else list(keep)
        listed = ([] if id is None else [id]) + [name for name in wanted if name != id]
        own = {name for name, _ in self.fields} | {"row", "alert"}
        for name in listed:
            if name not in names:
                raise ValueError(f"there is no column {name!r} to keep; the columns are {', '.join(map(repr, names))}")
        return [(name, f"table_{name}" if name in own else name) for name in listed]

    def layout(self, names: Sequence[str], id: str | None, keep: Sequence[str] | str) -> Layout:
        """How the rows of a table are written."""
        self.require(names)
        kept = self.kept(names, id, keep)
        first = 0 if id is None else 1
        return Layout(self, kept[:first], kept[first:])


@dataclass(frozen=True)
class Layout:
    """The columns of scored rows: the identifier, what is written of a row, and what is kept of the table."""

    judge: Judge
    before: list[tuple[str, str]]
    after: list[tuple[str, str]]

    @property
    def read(self) -> list[str]:
        """The columns to read from the table."""
        kept = (name for name, _ in self.before + self.after)
        return list(dict.fromkeys([*self.judge.columns, *kept]))

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The scored rows of a batch."""
        import pyarrow as pa

        def kept(columns: list[tuple[str, str]]) -> list[tuple[Any, str]]:
            return [(batch.column(name), written) for name, written in columns]

        own = zip(self.judge.arrays(batch), (name for name, _ in self.judge.fields), strict=True)
        arrays, names = zip(*[*kept(self.before), *own, *kept(self.after)], strict=True)
        return pa.RecordBatch.from_arrays(list(arrays), names=list(names))
