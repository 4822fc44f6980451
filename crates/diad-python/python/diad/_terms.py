"""The terms of a model as they count in a score: those of the model, or what was made of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._diad import Model
    from ._types import Floats
    from ._uncertainty import Uncertainty


@dataclass(frozen=True)
class Edits:
    """Changes of terms, by their places in the model. Those of factor 0 are removed."""

    factors: dict[int, float] = field(default_factory=dict)
    #: Values of a column in ascending order and what its term contributes there.
    curves: dict[int, tuple[Floats, Floats]] = field(default_factory=dict)

    def scaled(self, term: int, factor: float) -> Edits:
        """With a term multiplied by a factor, also if it was before."""
        return Edits({**self.factors, term: self.factors.get(term, 1.0) * factor}, self.curves)

    def curved(self, term: int, values: Floats, scores: Floats) -> Edits:
        """With another curve for a term of one column."""
        return Edits(self.factors, {**self.curves, term: (values, scores)})

    def __bool__(self) -> bool:
        return bool(self.factors or self.curves)


class Terms:
    """The terms of a model with edits: what scores are the sum of."""

    def __init__(self, model: Model, edits: Edits | None = None, uncertainty: Uncertainty | None = None) -> None:
        self.model, self.edits, self.uncertainty = model, edits or Edits(), uncertainty

    @cached_property
    def _whole(self) -> tuple[float, list[tuple[str, list[int], float]]]:
        return self.model.terms()

    @property
    def intercept(self) -> float:
        """The constant part of every score."""
        return self._whole[0]

    @property
    def _found(self) -> list[tuple[str, list[int], float]]:
        return self._whole[1]

    @cached_property
    def _places(self) -> list[int]:
        return [place for place in range(len(self._found)) if self.edits.factors.get(place) != 0.0]

    @property
    def names(self) -> list[str]:
        """The names of the terms."""
        return [self._found[place][0] for place in self._places]

    @property
    def columns(self) -> list[list[int]]:
        """The columns of each term."""
        return [self._found[place][1] for place in self._places]

    @property
    def importances(self) -> Floats:
        """The mean absolute contribution of each term over the training rows."""
        return np.array([self._importance(place) for place in self._places])

    def _importance(self, place: int) -> float:
        factor = abs(self.edits.factors.get(place, 1.0))
        if place in self.edits.curves:
            shape = self.model.shape(place, 64)
            line = np.interp(shape["axes"][0]["values"], *self.edits.curves[place])
            return factor * float(np.average(np.abs(line), weights=weights(shape["axes"][0])))
        return factor * self._found[place][2]

    def __len__(self) -> int:
        return len(self._places)

    def place(self, key: str | int | tuple[str, ...]) -> int:
        """The place of a term in the model, by its name, its number or its columns."""
        if isinstance(key, (str, tuple)):
            name = key if isinstance(key, str) else " × ".join(key)
            for names in (name, " × ".join(reversed(name.split(" × ")))):
                if names in self.names:
                    return self._places[self.names.index(names)]
            raise KeyError(f"there is no term {name!r}")
        if not 0 <= key < len(self):
            raise IndexError(f"there is no term {key}; there are {len(self)}")
        return self._places[int(key)]

    def contributions(self, table: Any, threads: int | None = None) -> tuple[Floats, Floats]:
        """What each term contributes to the scores of rows, and the scores."""
        found, scores = self.model.contributions(table, threads)
        if not self.edits:
            return found, scores
        for place, (values, line) in self.edits.curves.items():
            (column,) = self._found[place][1]
            found[:, place] = curved(self.model.numbers(table)[column], found[:, place], values, line, self._ends(place))
        for place, factor in self.edits.factors.items():
            found[:, place] *= factor
        found = found[:, self._places]
        return found, found.sum(axis=1) + self.intercept

    def _ends(self, place: int) -> Floats:
        """What the model's own curve contributes at the ends of the training range."""
        ends: Floats = self.model.shape(place, 2)["values"][[0, -1]]
        return ends

    def score(self, table: Any, threads: int | None = None) -> Floats:
        """The scores of rows."""
        return self.contributions(table, threads)[1] if self.edits else self.model.score(table, threads)

    def shape(self, key: str | int, cells: int) -> dict[str, Any]:
        """A term as a plot has it."""
        place = self.place(key)
        shape = self.model.shape(place, cells)
        if place in self.edits.curves:
            shape["values"] = np.interp(shape["axes"][0]["values"], *self.edits.curves[place])
        factor = self.edits.factors.get(place, 1.0)
        shape["values"] = shape["values"] * factor
        if shape["missing"] is not None:
            shape["missing"] = (shape["missing"][0], shape["missing"][1] * factor)
        shape["deviation"] = None if self.uncertainty is None else self.uncertainty.of_shape(self._found[place][0], shape)
        return shape


def curved(numbers: Floats, found: Floats, values: Floats, line: Floats, ends: Floats) -> Floats:
    """Contributions by another curve. Beyond the training range they go on as the model's own do; a missing number keeps its own."""
    inside = np.interp(numbers, values, line)
    below, above = numbers < values[0], numbers > values[-1]
    result = np.where(below, line[0] + found - ends[0], np.where(above, line[-1] + found - ends[1], inside))
    return np.where(np.isnan(numbers), found, result)


def weights(axis: dict[str, Any]) -> Floats:
    """How many training rows are near the values of an axis."""
    density, positions = np.asarray(axis["density"]), np.asarray(axis["positions"])
    places = np.clip((positions * len(density)).astype(int), 0, len(density) - 1)
    counts = np.bincount(places, minlength=len(density))
    found: Floats = density[places] / counts[places] + 1e-9
    return found


def isotonic(scores: Floats, weight: Floats) -> Floats:
    """The nearest numbers that do not fall, by weighted squares: pools of adjacent violators."""
    pools: list[tuple[float, float, int]] = []
    for score, mass in zip(scores, weight, strict=True):
        mean, total, count = float(score), float(mass), 1
        while pools and pools[-1][0] >= mean:
            before, more, rows = pools.pop()
            mean = (before * more + mean * total) / (more + total)
            total, count = more + total, rows + count
        pools.append((mean, total, count))
    found: Floats = np.concatenate([np.full(count, mean) for mean, _, count in pools])
    return found
