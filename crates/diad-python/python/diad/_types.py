"""Types for annotations. Imported by type checkers alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt


class ArrowStream(Protocol):
    """A table that is handed over by the Arrow PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class Sparse(Protocol):
    """A sparse matrix of SciPy."""

    @property
    def nnz(self) -> int: ...
    def tocsc(self) -> Any: ...


class Thresholder(Protocol):
    """A threshold of PyOD or PyThresh."""

    def fit(self, scores: Any) -> Any: ...


Table: TypeAlias = npt.ArrayLike | ArrowStream | Sparse | Sequence[Mapping[str, object]]
Row: TypeAlias = Any
Labels: TypeAlias = npt.ArrayLike
Weights: TypeAlias = npt.ArrayLike
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Backend: TypeAlias = Literal["matplotlib", "altair"]
Interactions: TypeAlias = int | Sequence[tuple[str | int, str | int]]
Path: TypeAlias = str | PathLike[str]
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Preset: TypeAlias = Literal["default", "paper"]
Contamination: TypeAlias = float | Literal["auto"] | Thresholder
Callback: TypeAlias = Callable[..., Any]
Columns: TypeAlias = Sequence[str | int | tuple[str, ...]] | str
FeatureTypes: TypeAlias = Sequence[str | None] | Mapping[str, str | None] | Mapping[int, str | None]


class Counterfactual(TypedDict):
    """Changes that bring the score of a row below a threshold."""

    changes: list[tuple[str, float | str | None, float | str | None]]
    score: float
    distance: float


class AlertRow(TypedDict):
    """A row that is an alert."""

    row: int
    score: float
    percentile: float
    p_value: float
    severity: str
    reasons: list[str]
    group: str


class Next(TypedDict):
    """A row that is worth a label."""

    row: int
    score: float
    expected: float
    reason: str


class GlobalData(TypedDict):
    """The terms of a model and their importances."""

    type: str
    names: list[str]
    scores: Floats
    deviations: Floats | None
    intercept: float


class Shape(TypedDict):
    """The shape of a term; see :meth:`diad.GlobalExplanation.data`."""

    type: str
    names: list[str]
    values: list[Floats]
    words: list[list[str]]
    positions: list[Floats]
    ticks: list[list[tuple[float, str]]]
    categorical: list[bool]
    density: list[Floats]
    scores: Floats
    lower_bounds: Floats | None
    upper_bounds: Floats | None
    missing: tuple[float, float] | None


class Extra(TypedDict):
    """The constant part of a score."""

    names: list[str]
    scores: list[float]


class LocalData(TypedDict):
    """What the score of one row is made of."""

    type: str
    score: float
    label: float | None
    names: list[str]
    values: list[str]
    standings: list[str]
    scores: Floats
    extra: Extra


#: A setting: its name, what values it takes, its default, the paper's value, its range and its help.
Described: TypeAlias = tuple[str, str, str, str | None, str | None, str]

# Settings, written by `cargo xtask settings`.
Scale: TypeAlias = Literal["linear", "asinh", "both"]
Annealing: TypeAlias = Literal["linear", "logarithmic"]
FinalSplits: TypeAlias = Literal["soft", "hard"]
MatchGradient: TypeAlias = Literal["both", "later"]
LeafScale: TypeAlias = Literal["layer", "tree", "literal", "none"]
Loss: TypeAlias = Literal["auc", "bce"]
Learner: TypeAlias = Literal["functions", "descent"]


class TuneSettings(TypedDict, total=False):
    """The settings of a tuning."""

    learner: Learner
    prior: float
    amplitude: float
    pair_share: float
    rounds: int
    boosted_steps: int
    tails: float
    max_rows: int
    loss: Loss
    margin: float
    upsample: bool
    freeze_structure: bool
    steps: int
    batch: int
    learning_rate: float
# End of the settings.
