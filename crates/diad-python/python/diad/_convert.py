"""Conversions of what users give, and errors."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ._types import Floats, Labels, Path, Seed


class NotFittedError(ValueError, AttributeError):
    """The detector has no model yet; call ``fit`` first."""


def not_fitted(detector: object) -> Exception:
    """The error about a detector without a model; scikit-learn's own where that is in use."""
    loaded = sys.modules.get("sklearn.exceptions")
    kind = loaded.NotFittedError if loaded else NotFittedError
    return kind(f"This {type(detector).__name__} instance is not fitted yet; call fit first")


def seed_of(random_state: Seed) -> int:
    """A seed: 0 for None, so that a fit gives the same model every time, as the command line does."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if random_state < 0:
            raise ValueError(f"random_state is {random_state}, but it must be 0 or more")
        return int(random_state)
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(0, 2**31 - 1))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(0, 2**63 - 1))
    raise TypeError("random_state must be a whole number, None, or a random generator of NumPy")


def threads_of(n_jobs: int | None) -> int | None:
    """Threads for the library: None for one per processor core."""
    if n_jobs is None or n_jobs == -1:
        return None
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, but it must be a number of threads, or -1 or None for one per processor core")
    return int(n_jobs) if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))


def labels_of(y: Labels) -> Floats:
    """Labels as numbers: 1 an anomaly, 0 a normal row, -1 or NaN not known."""
    y = np.asarray(y)
    if y.ndim != 1:
        raise ValueError(f"the labels have {y.ndim} dimensions, but they must have 1: one label for each row")
    if y.dtype.kind == "O":
        # None, and pandas' sign for a missing value.
        y = np.array([np.nan if label is None or type(label).__name__ == "NAType" else label for label in y])
    if y.dtype.kind not in "biuf":
        raise TypeError("labels must be numbers: 1 for an anomaly, 0 for a normal row, -1 or NaN where nothing is known")
    y = np.ascontiguousarray(y, dtype=np.float64)
    if (y == -1).any() and not (y == 0).any() and (y == 1).sum() > len(y) / 2:
        warnings.warn(
            "most labels are 1, an anomaly, and none is 0, a normal row; these seem to be scikit-learn's labels, where 1 is normal",
            stacklevel=4,
        )
    return y


def known_labels(y: Labels) -> list[bool]:
    """Labels that are all known, as truth values."""
    y = labels_of(y)
    if not np.isin(y, (0, 1)).all():
        raise ValueError("a report needs all labels: 1 for an anomaly and 0 for a normal row")
    return [bool(label) for label in y]


class Asked:
    """What a report is asked for."""

    def __init__(self, top: int, rows: list[int] | None, model_name: str, table_name: str) -> None:
        self.top, self.rows, self.model_name, self.table_name = top, rows, model_name, table_name


def write_whole(path: Path, text: str) -> None:
    """Writes a file beside its place, then moves it there."""
    path = os.fspath(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
