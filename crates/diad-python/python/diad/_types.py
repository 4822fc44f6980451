"""Types for annotations. Imported by type checkers alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias

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
Scale: TypeAlias = Literal["linear", "bent", "both"]
Callback: TypeAlias = Callable[..., Any]
Names: TypeAlias = Sequence[str]
