"""Changes of the terms of a fitted detector, as InterpretML has them."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ._convert import write_whole
from ._terms import Edits, Terms, isotonic, weights

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal

    from typing_extensions import Self

    from ._diad import Model
    from ._types import Path

#: Values along an axis of a pair in a JSON file, and of a line that is made monotone.
CELLS, POINTS = 32, 256


class Editing:
    """Removes, scales and bends terms. The score stays the sum of the terms."""

    if TYPE_CHECKING:
        _edits: Edits
        n_features_in_: int

        def _fitted(self) -> Model: ...
        def _refreshed(self) -> None: ...

    def _terms(self) -> Terms:
        return Terms(self._fitted(), vars(self).get("_edits"), vars(self).get("_uncertainty"))

    def _edited(self, edits: Edits) -> Self:
        self._edits = edits
        vars(self).pop("_uncertainty", None)
        self._refreshed()
        return self

    def remove_terms(self, terms: str | int | Iterable[str | int | tuple[str, ...]]) -> Self:
        """Removes terms from the score.

        Parameters
        ----------
        terms
            Names or numbers of terms; a tuple of two columns is the term of both.

        Returns
        -------
        self
        """
        known, edits = self._terms(), vars(self).get("_edits", Edits())
        for term in [terms] if isinstance(terms, (str, int)) else list(terms):
            edits = edits.scaled(known.place(term), 0.0)
        return self._edited(edits)

    def scale_term(self, term: str | int | tuple[str, ...], factor: float) -> Self:
        """Multiplies what a term contributes. InterpretML calls it ``scale``, which is a setting here.

        Parameters
        ----------
        term
            Its name, its number, or its columns.
        factor
            0 removes it.

        Returns
        -------
        self
        """
        if not np.isfinite(factor):
            raise ValueError(f"factor is {factor}, but it must be finite")
        return self._edited(vars(self).get("_edits", Edits()).scaled(self._terms().place(term), float(factor)))

    def sweep(self, threshold: float = 0.0) -> Self:
        """Removes terms that hardly matter.

        Parameters
        ----------
        threshold
            Terms are removed whose importance is at most this: the mean size of what they contribute to the training rows, as
            :meth:`term_importances` gives it. With 0, those that contribute nothing go.

        Returns
        -------
        self
        """
        importances = self._terms().importances
        return self.remove_terms([int(term) for term in np.flatnonzero(importances <= threshold)])

    def monotonize(self, term: str | int, increasing: bool | Literal["auto"] = "auto") -> Self:
        """Bends a term of one column so that it only rises or only falls, by isotonic regression.

        Terms of two columns are left alone: remove those of the column if the whole score is to be monotone in it, as
        ``monotone_constraints`` does.

        Parameters
        ----------
        term
            Its name or its number.
        increasing : bool or "auto"
            Whether it is to rise; "auto" takes what changes it less.

        Returns
        -------
        self
        """
        return self._edited(self._bent(term, increasing))

    def _bent(self, term: str | int, increasing: bool | Literal["auto"]) -> Edits:
        """The edits so far, and a term that only rises or only falls."""
        known = self._terms()
        place = known.place(term)
        shape = known.model.shape(place, POINTS)
        if len(shape["axes"]) != 1 or shape["axes"][0]["categorical"]:
            raise ValueError(f"{known.names[known._places.index(place)]} is not a column of numbers, which alone can be monotone")
        axis = shape["axes"][0]
        mass, line = weights(axis), shape["values"]
        ways = {True: isotonic(line, mass), False: -isotonic(-line, mass)}
        if increasing == "auto":
            costs = {way: float((mass * (bent - line) ** 2).sum()) for way, bent in ways.items()}
            increasing = costs[True] <= costs[False]
        edits: Edits = vars(self).get("_edits", Edits())
        return edits.curved(place, np.asarray(axis["values"]), ways[bool(increasing)])

    def copy(self) -> Self:
        """A copy whose changes do not change this detector.

        Returns
        -------
        a detector
        """
        other = object.__new__(type(self))
        vars(other).update(vars(self))
        return other

    def to_json(self, file: Path | None = None, indent: int | None = None) -> str:
        """The whole score as JSON: the intercept and every term with its shape, for programs in other languages.

        Parameters
        ----------
        file
            Where it is written, if it is to be.
        indent
            Spaces of each level, for people.

        Returns
        -------
        the text

        Notes
        -----
        Of a term of one column, ``values`` (or ``words`` of categories) and ``scores`` are the points of a line; beyond the training
        range, a score goes on as the model's own, which is not in the file. Pairs have a grid of at most 32 × 32 points.
        """
        terms = self._terms()
        model = terms.model

        def axis(given: dict[str, Any]) -> dict[str, Any]:
            kind = "categorical" if given["categorical"] else "numeric"
            where = {"words": list(given["words"])} if given["categorical"] else {"values": np.asarray(given["values"]).tolist()}
            return {"column": given["name"], "kind": kind, **where}

        def one(term: int) -> dict[str, Any]:
            shape = terms.shape(term, CELLS)
            sizes = [len(given["values"]) for given in shape["axes"]]
            missing = None if shape["missing"] is None else shape["missing"][1]
            about = {"name": terms.names[term], "importance": float(terms.importances[term]), "missing": missing}
            return {**about, "axes": [axis(given) for given in shape["axes"]], "scores": shape["values"].reshape(sizes).tolist()}

        whole = {
            "format": "diad-terms-1",
            "intercept": terms.intercept,
            "columns": model.columns,
            "training_rows": model.training_rows,
            "terms": [one(term) for term in range(len(terms))],
        }
        text = json.dumps(whole, indent=indent, ensure_ascii=False)
        if file is not None:
            write_whole(os.fspath(file), text)
        return text

    # What is asked for at a fit.

    def _constrain(
        self,
        exclude: Sequence[str | tuple[str | int, ...]],
        pairs: int | Sequence[tuple[str | int, str | int]] | None,
        monotone: Sequence[int] | Mapping[str, int] | None,
    ) -> None:
        """Removes and bends terms of a model that has just been fitted."""
        model = self._fitted()
        names = model.training_names or model.columns

        def name(column: str | int) -> str:
            # The names of a data frame may be numbers.
            if isinstance(column, str) or str(column) in names:
                return str(column)
            if not -len(names) <= column < len(names):
                raise ValueError(f"there is no column {column}; the table has {len(names)} columns, and the first is column 0")
            return names[column]

        sources = model.sources
        edits = Edits()
        listed = None if isinstance(pairs, (int, np.integer)) else pairs
        wanted = None if listed is None else [{name(column) for column in pair} for pair in listed]
        without = [{name(column) for column in ([term] if isinstance(term, (str, int)) else term)} for term in exclude]
        rising = {name(column): int(sign) for column, sign in constraints(monotone, names) if sign}
        known = {*sources, *names}
        for column in set().union(*without, *(wanted or []), rising):
            if column not in known:
                raise ValueError(f"there is no column {column!r}; the columns are {', '.join(dict.fromkeys(sources))}")
        terms = model.terms()[1]
        for place, (_, columns, _) in enumerate(terms):
            of = {sources[column] for column in columns}
            pair = len(columns) == 2
            if of in without or (pair and wanted is not None and of not in wanted) or (pair and of & rising.keys()):
                edits = edits.scaled(place, 0.0)
        if isinstance(pairs, (int, np.integer)):
            left = [place for place, term in enumerate(terms) if len(term[1]) == 2 and edits.factors.get(place) != 0.0]
            for place in sorted(left, key=lambda place: -terms[place][2])[pairs:]:
                edits = edits.scaled(place, 0.0)
        self._edits = edits
        for column, sign in rising.items():
            if column in self._terms().names:
                self._edits = self._bent(column, sign > 0)


def constraints(monotone: Any, names: list[str]) -> list[tuple[Any, int]]:
    """Columns and signs: 1 rises, -1 falls, 0 is free. A list has a sign for each of the columns."""
    if monotone is None:
        return []
    is_list = not hasattr(monotone, "items")
    given = list(enumerate(monotone) if is_list else monotone.items())
    for column, sign in given:
        if sign not in (-1, 0, 1):
            raise ValueError(f"monotone_constraints has {sign!r} for column {column!r}, but it must be 1, -1 or 0")
    if is_list and len(given) != len(names):
        raise ValueError(f"monotone_constraints has a length of {len(given)}, but the table has {len(names)} columns")
    return [(names[column], sign) for column, sign in given] if is_list else given
