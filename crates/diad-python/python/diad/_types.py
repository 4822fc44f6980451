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


Table: TypeAlias = npt.ArrayLike | ArrowStream | Sequence[Mapping[str, object]]
Labels: TypeAlias = npt.ArrayLike
Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]
Path: TypeAlias = str | PathLike[str]
Seed: TypeAlias = int | np.random.RandomState | np.random.Generator | None
Preset: TypeAlias = Literal["default", "paper"]
Callback: TypeAlias = Callable[..., Any]
Names: TypeAlias = Sequence[str]
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
