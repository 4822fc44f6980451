"""How sure the shapes of terms are: by how much they differ from fit to fit."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ._diad import take

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ._diad import Model
    from ._terms import Terms
    from ._types import Floats, Ints

#: Values along an axis of a pair.
CELLS = 32


@dataclass(frozen=True)
class Uncertainty:
    """Standard deviations over fits: of the shape of each term at its points, and of its importance."""

    shapes: dict[str, Floats]
    importances: dict[str, float]

    def of_shape(self, name: str, shape: dict[str, Any]) -> Floats | None:
        """The deviation at the points of a shape, if these are the points it was estimated at."""
        found = self.shapes.get(name)
        return found if found is not None and found.shape == shape["values"].shape else None


def estimated(terms: Terms, others: list[Model]) -> Uncertainty:
    """Looks at the terms of a model in others of the same columns."""
    known = [{name: (place, weight) for place, (name, _, weight) in enumerate(other.terms()[1])} for other in others]
    shapes, importances = {}, {}
    for name in terms.names:
        shape = terms.model.shape(terms.place(name), CELLS)
        lines = [seen(other, places.get(name), shape) for other, places in zip(others, known, strict=True)]
        shapes[name] = np.std(lines, axis=0, ddof=1)
        importances[name] = float(np.std([places[name][1] if name in places else 0.0 for places in known], ddof=1))
    return Uncertainty(shapes, importances)


def seen(other: Model, term: tuple[int, float] | None, shape: dict[str, Any]) -> Floats:
    """What a term contributes in another model, at the points of its shape in this one."""
    if term is None:
        return np.zeros_like(shape["values"])
    theirs = other.shape(term[0], CELLS)
    found = theirs["values"].reshape([len(axis["values"]) for axis in theirs["axes"]])
    for side, (own, axis) in enumerate(zip(shape["axes"], theirs["axes"], strict=True)):
        found = np.moveaxis(along(np.moveaxis(found, side, 0), own, axis), 0, side)
    line: Floats = found.ravel()
    return line


def along(values: Floats, own: dict[str, Any], axis: dict[str, Any]) -> Floats:
    """Values along an axis of another model, at the points of the axis of this one."""
    if own["categorical"]:
        # Categories have other places there. One that the other has not seen counts as its rarest.
        places = {word: place for place, word in reversed(list(enumerate(axis["words"])))}
        chosen: Floats = values[[places.get(word, len(values) - 1) for word in own["words"]]]
        return chosen
    points = np.asarray(axis["values"], dtype=np.float64)
    wanted = np.clip(np.asarray(own["values"], dtype=np.float64), points[0], points[-1])
    below = np.clip(np.searchsorted(points, wanted, side="right") - 1, 0, len(points) - 2)
    share = (wanted - points[below]) / np.maximum(points[below + 1] - points[below], np.finfo(float).tiny)
    share = share.reshape([-1] + [1] * (values.ndim - 1))
    found: Floats = values[below] * (1 - share) + values[below + 1] * share
    return found


def parts(rows: int, count: int) -> Iterator[Ints]:
    """All rows but those of one fold, fold after fold."""
    numbers = np.arange(rows)
    return (numbers[numbers % count != fold] for fold in range(count))


def refitted(
    fresh: Callable[[int], Any], table: Any, rows: int, labels: Floats | None, fits: int, by: str
) -> list[Model]:
    """Models of other seeds, or of all rows but one fold. ``fresh`` makes an unfitted detector of the n-th other seed."""
    models = []
    with warnings.catch_warnings():
        # All has been said at the fit itself.
        warnings.simplefilter("ignore", UserWarning)
        for fit, kept in enumerate(parts(rows, fits) if by == "folds" else [None] * fits):
            detector = fresh(0 if by == "folds" else fit + 1)
            detector._train(table if kept is None else take(table, kept))
            if labels is not None:
                detector._learn(table, labels if kept is None else held_back(labels, kept), None, {})
            models.append(detector._model)
    return models


def held_back(labels: Floats, kept: Ints) -> Floats:
    """Labels of which only those of some rows are known."""
    found = np.full(len(labels), np.nan)
    found[kept] = labels[kept]
    return found
