"""Explanations as objects: their data, tables, plots, and the interactive report in a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, cast, overload

import numpy as np

from . import _interpret
from ._convert import Asked, counted
from ._plot import drawer

if TYPE_CHECKING:
    from typing import Literal

    import altair
    import pandas
    from matplotlib.axes import Axes

    from ._terms import Terms
    from ._types import Backend, Floats, GlobalData, LocalData, Shape

CELLS = 32
HEIGHT = 900


class Explanation:
    """What an explanation of a model and one of rows have in common."""

    _foreign: Any = None

    def _converted(self) -> Any:
        raise NotImplementedError

    def to_interpret(self) -> Any:
        """The same as an explanation of InterpretML; of a model, with the edges of bins as ``names``. Needs InterpretML.

        Returns
        -------
        an explanation of InterpretML
        """
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

    @overload
    def data(self, key: None = None) -> GlobalData: ...
    @overload
    def data(self, key: str | int) -> Shape: ...
    def data(self, key: str | int | None = None) -> GlobalData | Shape:
        """Names and importances of all terms, or the shape of one.

        Parameters
        ----------
        key
            A term's name or number. -1 is what InterpretML keeps in an explanation of its own.

        Returns
        -------
        dictionary
            Without a key, ``names`` and ``scores``, the importances, with their ``deviations`` if these were estimated. With one, a shape:
            ``names`` of its columns, ``values`` along each axis in the columns' own units, ``words`` for them, and ``scores``: what the
            term contributes there, as an array of one or two dimensions, between ``lower_bounds`` and ``upper_bounds`` (None unless
            estimated by ``estimate_uncertainty``). ``density`` has the shares of the training rows in equal parts of each axis, or of each
            category. ``missing`` has the position of a missing number beyond the axis and what the term contributes there, for a term of
            one column in which numbers were missing.
        """
        if key is None:
            return self._overall()
        if isinstance(key, int) and key == -1:
            inner: Any = self.to_interpret()._internal_obj
            return cast("Shape", inner)
        return self._shape(key)

    def _overall(self) -> GlobalData:
        terms, spread = self._terms, self._terms.uncertainty
        deviations = None if spread is None else np.array([spread.importances[name] for name in terms.names])
        return {
            "type": "univariate",
            "names": terms.names,
            "scores": terms.importances,
            "deviations": deviations,
            "intercept": terms.intercept,
        }

    def _shape(self, key: str | int) -> Shape:
        shape = self._terms.shape(key, CELLS)
        axes = shape["axes"]
        sizes = [len(axis["values"]) for axis in axes]
        scores, deviation = shape["values"].reshape(sizes), shape["deviation"]
        deviation = None if deviation is None else deviation.reshape(sizes)
        # Where a map has fewer cells than there are categories, some of these come up in several cells.
        maps = len(axes) == 2
        kept = [once(axis["words"]) if maps and axis["categorical"] else list(range(len(axis["words"]))) for axis in axes]
        scores = scores[np.ix_(*kept)]
        deviation = None if deviation is None else deviation[np.ix_(*kept)]
        return {
            "type": "univariate" if len(axes) == 1 else "interaction",
            "names": [axis["name"] for axis in axes],
            "values": [axis["values"][places] for axis, places in zip(axes, kept, strict=True)],
            "words": [[axis["words"][place] for place in places] for axis, places in zip(axes, kept, strict=True)],
            "positions": [axis["positions"][places] for axis, places in zip(axes, kept, strict=True)],
            "ticks": [axis["ticks"] for axis in axes],
            "categorical": [axis["categorical"] for axis in axes],
            "density": [axis["density"] for axis in axes],
            "scores": scores,
            "lower_bounds": None if deviation is None else scores - deviation,
            "upper_bounds": None if deviation is None else scores + deviation,
            "missing": shape["missing"],
        }

    def to_pandas(self) -> pandas.DataFrame:
        """The terms and their importances, the most important first, as a data frame of pandas.

        Returns
        -------
        data frame
            With the columns ``term`` and ``importance``, and ``deviation`` if that was estimated.
        """
        import pandas

        whole = self._overall()
        frame = pandas.DataFrame({"term": whole["names"], "importance": whole["scores"]})
        if whole["deviations"] is not None:
            frame["deviation"] = whole["deviations"]
        return frame.sort_values("importance", ascending=False, ignore_index=True)

    @overload
    def plot(
        self,
        key: str | int | None = None,
        ax: Axes | None = None,
        terms: int = 15,
        before: GlobalExplanation | None = None,
        backend: Literal["matplotlib"] = "matplotlib",
    ) -> Axes: ...
    @overload
    def plot(
        self,
        key: str | int | None = None,
        ax: None = None,
        terms: int = 15,
        before: GlobalExplanation | None = None,
        *,
        backend: Literal["altair"],
    ) -> altair.LayerChart: ...
    def plot(
        self,
        key: str | int | None = None,
        ax: Axes | None = None,
        terms: int = 15,
        before: GlobalExplanation | None = None,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Draws the most important terms, or the shape of one.

        Parameters
        ----------
        key
            A term's name or number; all terms, if none is given.
        ax
            Axes of matplotlib to draw on.
        terms
            How many terms are shown.
        before
            That of an earlier model, such as the one before a tuning, to be drawn beside this one.
        backend : "matplotlib" or "altair"
            What draws.

        Returns
        -------
        axes of matplotlib, or a chart of Altair
        """
        by = drawer(backend, ax)
        if key is None:
            whole = self._overall()
            order = np.argsort(-whole["scores"])[:terms]
            names, scores, spread = [whole["names"][i] for i in order], whole["scores"][order], whole["deviations"]
            if before is not None:
                return by.before_after(ax, names, before._overall(), scores, self.name)
            return by.bars(ax, names, scores, "mean |contribution|", self.name, None if spread is None else spread[order])
        data = self._shape(key)
        earlier = before._shape(key if isinstance(key, str) else self.term_names[key]) if before is not None else None
        return by.shape_of_one(ax, data, earlier) if data["type"] == "univariate" else by.surface(ax, data)

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

        Returns
        -------
        a figure of Plotly
        """
        return self.to_interpret().visualize(key)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {counted(len(self._terms), 'term')}>"


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

        Returns
        -------
        data frame
        """
        import pandas

        frame = pandas.DataFrame(self.contributions, index=self._index, columns=self.term_names)
        return frame.assign(intercept=self._terms.intercept, score=self.scores)

    @overload
    def plot(
        self,
        key: int = 0,
        ax: Axes | None = None,
        terms: int = 10,
        kind: Literal["bars", "waterfall"] = "bars",
        backend: Literal["matplotlib"] = "matplotlib",
    ) -> Axes: ...
    @overload
    def plot(
        self,
        key: int = 0,
        ax: None = None,
        terms: int = 10,
        kind: Literal["bars", "waterfall"] = "bars",
        *,
        backend: Literal["altair"],
    ) -> altair.LayerChart: ...
    def plot(
        self,
        key: int = 0,
        ax: Axes | None = None,
        terms: int = 10,
        kind: Literal["bars", "waterfall"] = "bars",
        backend: Backend = "matplotlib",
    ) -> Any:
        """Draws what the score of one row is made of.

        Parameters
        ----------
        key
            Which row, counted from 0.
        ax
            Axes of matplotlib to draw on.
        terms
            How many terms are shown, the largest contributions first; the rest is one bar of a waterfall.
        kind : "bars" or "waterfall"
            Bars from 0, or a waterfall from the constant part to the score.
        backend : "matplotlib" or "altair"
            What draws.

        Returns
        -------
        axes of matplotlib, or a chart of Altair
        """
        data, by = self.data(key), drawer(backend, ax)
        order = np.argsort(-np.abs(data["scores"]))[:terms]
        names = [f"{data['names'][i]} = {data['values'][i]}" for i in order]
        title = f"row {key}: score {data['score']:.3f}"
        if kind == "waterfall":
            ends = (self._terms.intercept, data["score"], self._threshold)
            return by.waterfall(ax, names, data["scores"][order], ends, title)
        if kind != "bars":
            raise ValueError(f"kind is {kind!r}, but it must be 'bars' or 'waterfall'")
        return by.bars(ax, names, data["scores"][order], "contribution", title)

    def to_html(self) -> str:
        """The interactive report of these rows as an HTML page.

        Returns
        -------
        the text of the page
        """
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

        Returns
        -------
        a figure of Plotly, or None
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
        return f"<{type(self).__name__} of {counted(len(self), 'row')}>"


def once(words: list[str]) -> list[int]:
    """The places of words, each at its first one."""
    return sorted({word: place for place, word in reversed(list(enumerate(words)))}.values())


def together(texts: list[str], columns: list[int]) -> str:
    """The texts of the columns of a term."""
    return " × ".join(texts[column] for column in columns)
