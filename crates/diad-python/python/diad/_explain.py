"""Explanations as objects: their data, tables, plots, and the interactive report in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _interpret
from ._convert import Asked
from ._plot import bars, before_after, shape_of_one, surface, waterfall

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

    from ._terms import Terms
    from ._types import Floats, LocalData

CELLS = 32
HEIGHT = 900


class Explanation:
    """What an explanation of a model and one of rows have in common."""

    _foreign: Any = None

    def _converted(self) -> Any:
        raise NotImplementedError

    def to_interpret(self) -> Any:
        """The same as an explanation of InterpretML; of a model, with the edges of bins as ``names``. Needs InterpretML."""
        if self._foreign is None:
            self._foreign = self._converted()
        return self._foreign

    @property
    def selector(self) -> pandas.DataFrame:
        """The table from which InterpretML's pages choose: of terms, or of rows."""
        return self.to_interpret().selector


class GlobalExplanation(Explanation):
    """What a model looks at: every term, its importance and its shape.

    ``interpret.show`` and ``interpret.preserve`` of InterpretML take it, too.
    """

    explanation_type = "global"

    def __init__(self, terms: Terms, name: str | None = None) -> None:
        self._terms, self.name = terms, name or "DIAD"

    @property
    def term_names(self) -> list[str]:
        """The names of the terms."""
        return self._terms.names

    def data(self, key: str | int | None = None) -> dict[str, Any]:
        """Names and importances of all terms, or the shape of one.

        Parameters
        ----------
        key
            A term's name or number. -1 is what InterpretML keeps in an explanation of its own.

        Returns
        -------
        dictionary
            Without a key, ``names`` and ``scores``, the importances. With one, a shape: ``names`` of its columns, ``values`` along
            each axis in the columns' own units, ``words`` for them, and ``scores``: what the term contributes there, as an array of
            one or two dimensions. ``density`` has the shares of the training rows in equal parts of each axis, or of each category.
            ``missing`` has the position of a missing number beyond the axis and what the term contributes there, for a term of one
            column in which numbers were missing.
        """
        if key is None:
            scores, intercept = self._terms.importances, self._terms.intercept
            return {"type": "univariate", "names": self.term_names, "scores": scores, "intercept": intercept}
        if isinstance(key, int) and key == -1:
            return dict(self.to_interpret()._internal_obj)
        shape = self._terms.shape(key, CELLS)
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

    def plot(
        self, key: str | int | None = None, ax: Axes | None = None, terms: int = 15, before: GlobalExplanation | None = None
    ) -> Axes:
        """Draws the most important terms, or the shape of one, with matplotlib.

        Parameters
        ----------
        key
            A term's name or number; all terms, if none is given.
        ax
            Axes to draw on.
        terms
            How many terms are shown.
        before
            That of an earlier model, such as the one before a tuning, to be drawn beside this one.

        Returns
        -------
        the axes
        """
        if key is None:
            data = self.data()
            order = np.argsort(-data["scores"])[:terms]
            names = [data["names"][i] for i in order]
            if before is not None:
                return before_after(ax, names, before.data(), data["scores"][order], self.name)
            return bars(ax, names, data["scores"][order], "mean |contribution|", self.name)
        data = self.data(key)
        earlier = before.data(key if isinstance(key, str) else self.term_names[key]) if before is not None else None
        return shape_of_one(ax, data, earlier) if data["type"] == "univariate" else surface(ax, data)

    # As InterpretML has it.

    def _converted(self) -> Any:
        return _interpret.of_global(self)

    @property
    def feature_names(self) -> list[str]:
        """The names of the terms, as InterpretML writes them."""
        return list(self.to_interpret().feature_names)

    @property
    def feature_types(self) -> list[str]:
        """What InterpretML calls the terms: continuous, nominal or interaction."""
        return list(self.to_interpret().feature_types)

    def visualize(self, key: int | None = None) -> Any:
        """A figure of Plotly, as InterpretML draws it.

        Parameters
        ----------
        key
            A term's number; all terms, if none is given.
        """
        return self.to_interpret().visualize(key)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self._terms)} terms>"


class LocalExplanation(Explanation):
    """What the scores of rows are made of.

    ``interpret.show`` and ``interpret.preserve`` of InterpretML take it, too.
    """

    explanation_type = "local"

    def __init__(
        self,
        terms: Terms,
        table: Any,
        labels: Floats | None = None,
        name: str | None = None,
        index: Any = None,
        threshold: float | None = None,
    ) -> None:
        self._index, self._threshold = index, threshold
        self._terms, self._table, self._labels = terms, table, labels
        self.name = name or "DIAD"
        #: What each term contributes to each row, and the scores of the rows.
        self.contributions, self.scores = terms.contributions(table)
        self._words, self._standings = terms.model.words(table)

    @property
    def term_names(self) -> list[str]:
        """The names of the terms."""
        return self._terms.names

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def data(self, key: None = None) -> list[LocalData]: ...
    @overload
    def data(self, key: int) -> LocalData: ...
    def data(self, key: int | None = None) -> LocalData | list[LocalData]:
        """One row: its score, and for each term its name, the values of its columns in words and its contribution (``scores``).

        Parameters
        ----------
        key
            Which row, counted from 0; all rows as a list, if none is given.

        Returns
        -------
        dictionary
            ``extra`` has the constant part; it and ``scores`` add up to the score.
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
            "values": [together(values, columns) for columns in self._terms.columns],
            "standings": [together(standings, columns) for columns in self._terms.columns],
            "scores": self.contributions[key],
            "extra": {"names": ["Intercept"], "scores": [self._terms.intercept]},
        }

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each row and a column for each term, with ``intercept`` and ``score``, as a data frame of pandas.

        Rows of a data frame keep its index.
        """
        import pandas

        frame = pandas.DataFrame(self.contributions, index=self._index, columns=self.term_names)
        return frame.assign(intercept=self._terms.intercept, score=self.scores)

    def plot(self, key: int = 0, ax: Axes | None = None, terms: int = 10, kind: str = "bars") -> Axes:
        """Draws what the score of one row is made of, with matplotlib.

        Parameters
        ----------
        key
            Which row, counted from 0.
        ax
            Axes to draw on.
        terms
            How many terms are shown, the largest contributions first; the rest is one bar of a waterfall.
        kind : "bars" or "waterfall"
            Bars from 0, or a waterfall from the constant part to the score.

        Returns
        -------
        the axes
        """
        data = self.data(key)
        order = np.argsort(-np.abs(data["scores"]))[:terms]
        names = [f"{data['names'][i]} = {data['values'][i]}" for i in order]
        title = f"row {key}: score {data['score']:.3f}"
        if kind == "waterfall":
            return waterfall(ax, names, data["scores"][order], (self._terms.intercept, data["score"], self._threshold), title)
        if kind != "bars":
            raise ValueError(f"kind is {kind!r}, but it must be 'bars' or 'waterfall'")
        return bars(ax, names, data["scores"][order], "contribution", title)

    def to_html(self) -> str:
        """The interactive report of these rows as an HTML page."""
        if self._terms.edits:
            raise ValueError("the report does not know of edited terms; use plot(), data() or to_pandas()")
        order = [int(row) for row in np.argsort(-self.scores, kind="stable")]
        labels = None
        if self._labels is not None and np.isin(self._labels, (0, 1)).all():
            labels = [bool(label) for label in self._labels]
        asked = Asked(len(order), order, self.name, "these rows", self._threshold)
        return self._terms.model.report(self._table, asked, labels)

    # As InterpretML has it.

    def _converted(self) -> Any:
        return _interpret.of_local(self)

    def visualize(self, key: int | None = None) -> Any:
        """A figure of Plotly, as InterpretML draws it; nothing without a key.

        Parameters
        ----------
        key
            Which row, counted from 0.
        """
        return None if key is None else self.to_interpret().visualize(key)

    def _repr_html_(self) -> str | None:
        if self._terms.edits:
            return None
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
