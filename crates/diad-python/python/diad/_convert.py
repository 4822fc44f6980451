"""Conversions of what users give, warnings, and errors."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._frames import name_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._types import Columns, FeatureTypes, Floats, Ints, Labels, Path, Seed

#: Rows that whole weights may ask for, for each row that is there; beyond that, rows are drawn by weight.
MOST_REPEATED = 16


class NotFittedError(ValueError, AttributeError):
    """The detector has no model yet; call ``fit`` first."""


def not_fitted(detector: object) -> Exception:
    """The error about a detector without a model; scikit-learn's own where that is in use."""
    loaded = sys.modules.get("sklearn.exceptions")
    kind: type[Exception] = loaded.NotFittedError if loaded else NotFittedError
    return kind(f"This {type(detector).__name__} instance is not fitted yet; call fit first")


def warn(sentences: Iterable[str]) -> None:
    """Warns in the frame of who calls the package."""
    inside = os.path.dirname(__file__) + os.sep
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    for sentence in sentences:
        warnings.warn(sentence, UserWarning, stacklevel=level)


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


def cores() -> int:
    """Processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_of(n_jobs: int | None) -> int | None:
    """Threads for the library: None for one per processor core.

    None means what joblib means by it: the number of ``joblib.parallel_config``, or 1 inside a worker of joblib. Where
    ``OMP_NUM_THREADS`` is set, as joblib sets it in its processes, None is that many.
    """
    if n_jobs is None:
        return default_threads()
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs is {n_jobs!r}, but it must be a number of threads, or -1 or None")
    if n_jobs == 0:
        raise ValueError("n_jobs is 0, but it must be a number of threads, or -1 or None for one per processor core")
    if n_jobs == -1:
        return None
    return int(n_jobs) if n_jobs > 0 else max(1, cores() + 1 + int(n_jobs))


def default_threads() -> int | None:
    """Threads where none are asked for."""
    in_worker = False
    if joblib := sys.modules.get("joblib.parallel"):
        backend, jobs = joblib.get_active_backend()
        if jobs is not None:
            return threads_of(jobs)
        in_worker = bool(backend.nesting_level)
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit() and int(limit) > 0:
        return min(int(limit), cores())
    return 1 if in_worker else None


def counted(number: int, what: str) -> str:
    """So many of something."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def columns_of(names: Columns, parameter: str) -> list[str | int]:
    """Columns by name or place; one name stands for itself, and a tuple for a name of several levels."""
    if isinstance(names, str):
        return [names]
    try:
        listed = list(names)
    except TypeError:
        raise TypeError(f"{parameter} is {names!r}, but it must be a list of column names or places") from None
    for name in listed:
        if isinstance(name, bool) or not isinstance(name, (str, int, np.integer, tuple)):
            raise TypeError(f"{parameter} has {name!r}, but it must be a list of column names or places")
    return [int(name) if isinstance(name, (int, np.integer)) else name_of(name) for name in listed]


#: What the words of InterpretML for kinds of features stand for.
KINDS = {
    "continuous": "numeric",
    "numeric": "numeric",
    "quantitative": "numeric",
    "nominal": "categorical",
    "ordinal": "categorical",
    "categorical": "categorical",
    "ignore": "ignore",
    "auto": None,
    None: None,
}


def typed_columns(types: FeatureTypes | None) -> dict[str, list[str | int | tuple[int, int]]]:
    """Columns by what ``feature_types`` says they are: by name, or by place and how many kinds there are."""
    found: dict[str, list[str | int | tuple[int, int]]] = {"numeric": [], "categorical": [], "ignore": []}
    if types is None:
        return found
    given: Any = types
    by_name = hasattr(given, "items")
    named: list[tuple[Any, Any]] = list(given.items() if by_name else enumerate(given))
    for column, kind in named:
        if not (kind is None or isinstance(kind, str)) or kind not in KINDS:
            raise ValueError(
                f"feature_types has {kind!r} for column {column!r}, but it must be 'continuous', 'nominal', 'ordinal', 'ignore' or 'auto'"
            )
        role = KINDS[kind]
        if role is not None:
            found[role] += columns_of([column], "feature_types") if by_name else [(column, len(named))]
    return found


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
        warn(
            [
                "most labels are 1, an anomaly, and none is 0, a normal row; these seem to be scikit-learn's labels, where 1 is normal"
            ]
        )
    return y


def known_labels(y: Labels) -> list[bool]:
    """Labels that are all known, as truth values."""
    y = labels_of(y)
    if not np.isin(y, (0, 1)).all():
        raise ValueError("a report needs all labels: 1 for an anomaly and 0 for a normal row")
    return [bool(label) for label in y]


def weighted_rows(weights: Any, rows: int, seed: int) -> Ints | None:
    """The rows of a table by their weights, each as often as it is to be learned from; None if all weights are the same.

    A row of weight 3 is learned from three times and one of weight 0 not at all, as if the table had it so often. Where weights are
    not whole numbers, as many rows as the table has are drawn by systematic resampling: each comes up as often as its share of
    all weights says, to within one.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1 or len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}: one weight for each row")
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight has a weight that is negative, infinite or missing; give weights of 0 or more")
    if not weights.any():
        raise ValueError("all weights in sample_weight are zero; give at least two rows a weight above 0")
    if (weights == weights[0]).all():
        return None
    if (weights == np.floor(weights)).all() and weights.sum() <= MOST_REPEATED * rows:
        return np.repeat(np.arange(rows), weights.astype(np.int64))
    ends = np.cumsum(weights)
    draws = (np.random.default_rng(seed).random() + np.arange(rows)) * (ends[-1] / rows)
    drawn: Ints = np.minimum(np.searchsorted(ends, draws, side="right"), rows - 1)
    return drawn


def rows_of(X: Any) -> int:
    """How many rows a table has."""
    return int(X.shape[0] if hasattr(X, "shape") else len(X if hasattr(X, "__len__") else np.asarray(X)))


class Asked:
    """What a report is asked for."""

    def __init__(
        self, top: int, rows: list[int] | None, model_name: str, table_name: str, threshold: float | None = None
    ) -> None:
        self.top, self.rows, self.model_name, self.table_name = top, rows, model_name, table_name
        self.threshold = threshold


def write_whole(path: Path, text: str) -> None:
    """Writes a file beside its place, then moves it there."""
    path = os.fspath(path)
    part = f"{path}.{os.getpid()}.part"
    try:
        with open(part, "x", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except FileNotFoundError:
        # As the library says it of a model file; the name of the part would be no help.
        raise FileNotFoundError(f"cannot write {path}: its folder does not exist; create it") from None
    finally:
        if os.path.exists(part):
            os.remove(part)
