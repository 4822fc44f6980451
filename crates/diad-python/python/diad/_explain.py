"""Explanations as objects: their data, tables, plots, and the interactive report in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from ._convert import Asked
from ._diad import hold
from ._plot import bars, lines, surface

if TYPE_CHECKING:
    from typing import Any

    import pandas
    from matplotlib.axes import Axes

    from ._diad import Model
    from ._types import Floats, Table

CELLS = 32
HEIGHT = 900


class GlobalExplanation:
    """What a model looks at: every term, its importance and its shape."""

    explanation_type = "global"

    def __init__(self, model: Model, name: str | None = None) -> None:
        self._model, self.name = model, name or "DIAD"
        self._intercept, self._terms = model.terms()

    @property
    def term_names(self) -> list[str]:
        """The names of the terms."""
        return [name for name, _, _ in self._terms]

    def data(self, key: str | int | None = None) -> dict[str, Any]:
        """Names and importances (``scores``) of all terms; with a term's name or number, its shape.

        A shape has ``names`` of its columns, ``values`` along each axis in the columns' own units, ``words`` for them, and
        ``scores``: what the term contributes there, as an array of one or two dimensions. ``density`` has the shares of the
        training rows in equal parts of each axis. ``missing`` has the position of a missing number beyond the axis and what
        the term contributes there, for a term of one column in which numbers were missing.
        """
        if key is None:
            scores = np.array([importance for _, _, importance in self._terms])
            return {"type": "univariate", "names": self.term_names, "scores": scores, "intercept": self._intercept}
        shape = self._model.shape(self._index(key), CELLS)
        axes = shape["axes"]
        return {
            "type": "univariate" if len(axes) == 1 else "interaction",
            "names": [axis["name"] for axis in axes],
            "values": [axis["values"] for axis in axes],
            "words": [axis["words"] for axis in axes],
            "positions": [axis["positions"] for axis in axes],
            "ticks": [axis["ticks"] for axis in axes],
            "categorical": [axis["categorical"] for axis in axes],
            "density": [axis["density"] for axis in axes],
            "scores": shape["values"].reshape([len(axis["values"]) for axis in axes]),
            "missing": shape["missing"],
        }

    def to_pandas(self) -> pandas.DataFrame:
        """The terms and their importances, the most important first, as a data frame of pandas."""
        import pandas

        names, scores = self.data()["names"], self.data()["scores"]
        frame = pandas.DataFrame({"term": names, "importance": scores})
        return frame.sort_values("importance", ascending=False, ignore_index=True)

    def plot(self, key: str | int | None = None, ax: Axes | None = None, terms: int = 15) -> Axes:
        """Draws the most important terms, or the shape of one, with matplotlib. Returns the axes."""
        if key is None:
            data = self.data()
            order = np.argsort(-data["scores"])[:terms]
            return bars(ax, [data["names"][i] for i in order], data["scores"][order], "mean |contribution|", self.name)
        data = self.data(key)
        return (lines if data["type"] == "univariate" else surface)(ax, data)

    def _index(self, key: str | int) -> int:
        if isinstance(key, str):
            if key not in self.term_names:
                raise KeyError(f"there is no term {key!r}")
            return self.term_names.index(key)
        if not 0 <= key < len(self._terms):
            raise IndexError(f"there is no term {key}; there are {len(self._terms)}")
        return int(key)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._terms)} terms>"


class LocalExplanation:
    """What the scores of rows are made of."""

    explanation_type = "local"

    def __init__(self, model: Model, X: Table, labels: Floats | None = None, name: str | None = None) -> None:
        self._index = X.index if hasattr(X, "iloc") else None
        X = hold(X)
        self._model, self._table, self._labels = model, X, labels
        self.name = name or "DIAD"
        self._intercept, self._terms = model.terms()
        #: What each term contributes to each row, and the scores of the rows.
        self.contributions, self.scores = model.contributions(X)
        self._words, self._standings = model.words(X)

    @property
    def term_names(self) -> list[str]:
        """The names of the terms."""
        return [name for name, _, _ in self._terms]

    def __len__(self) -> int:
        return len(self.scores)

    def data(self, key: int | None = None) -> Any:
        """One row: its score, and for each term its name, the values of its columns in words and its contribution (``scores``).

        Without a key, that of all rows, as a list. ``extra`` has the constant part; it and ``scores`` add up to the score.
        """
        if key is None:
            return [self.data(row) for row in range(len(self))]
        if not 0 <= key < len(self):
            raise IndexError(f"there is no row {key}; the table has {len(self)} rows, numbered from 0")
        values, standings = self._words[key], self._standings[key]
        return {
            "type": "univariate",
            "score": float(self.scores[key]),
            "label": None if self._labels is None else float(self._labels[key]),
            "names": self.term_names,
            "values": [together(values, columns) for _, columns, _ in self._terms],
            "standings": [together(standings, columns) for _, columns, _ in self._terms],
            "scores": self.contributions[key],
            "extra": {"names": ["Intercept"], "scores": [self._intercept]},
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each row and a column for each term, with ``intercept`` and ``score``, as a data frame of pandas.

        Rows of a data frame keep its index.
        """
        import pandas

        frame = pandas.DataFrame(self.contributions, index=self._index, columns=self.term_names)
        return frame.assign(intercept=self._intercept, score=self.scores)

    def plot(self, key: int = 0, ax: Axes | None = None, terms: int = 10) -> Axes:
        """Draws what the score of one row is made of, with matplotlib. Returns the axes."""
        data = self.data(key)
        order = np.argsort(-np.abs(data["scores"]))[:terms]
        names = [f"{data['names'][i]} = {data['values'][i]}" for i in order]
        return bars(ax, names, data["scores"][order], "contribution", f"row {key}: score {data['score']:.3f}")

    def to_html(self) -> str:
        """The interactive report of these rows as an HTML page."""
        order = [int(row) for row in np.argsort(-self.scores, kind="stable")]
        labels = None
        if self._labels is not None and np.isin(self._labels, (0, 1)).all():
            labels = [bool(label) for label in self._labels]
        return self._model.report(self._table, Asked(len(order), order, self.name, "these rows"), labels)

    def _repr_html_(self) -> str:
        # The page is text of an attribute; in its own frame, it can reach nothing around it.
        page = html.escape(self.to_html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" sandbox="allow-scripts" width="100%" height="{HEIGHT}" '
            'style="border: 0" title="DIAD report"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} rows>"


def together(texts: list[str], columns: list[int]) -> str:
    """The texts of the columns of a term."""
    return " × ".join(texts[column] for column in columns)
