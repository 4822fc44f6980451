"""What has changed in a table since the training, and how many rows are alerts at which threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ._convert import counted
from ._plot import drawer

if TYPE_CHECKING:
    from typing import Literal

    import altair
    import pandas
    from matplotlib.axes import Axes

    from ._types import Backend, Floats


class Drift:
    """What has changed in a table since the training, as ``diad drift`` tells it; see :meth:`diad.DIAD.drift`."""

    def __init__(self, told: dict[str, Any]) -> None:
        self._told = told

    @property
    def verdict(self) -> str:
        """"same", "small", "moderate" or "large"."""
        return str(self._told["verdict"])

    def data(self) -> dict[str, Any]:
        """All that ``diad drift --format json`` says.

        Returns
        -------
        dictionary
            ``verdict``, the number of ``rows``, ``mean_score`` and the share of ``rare`` rows at the training and now, and what is said of
            ``terms`` and of ``columns``.
        """
        return self._told

    def to_pandas(self, of: Literal["terms", "columns"] = "terms") -> pandas.DataFrame:
        """Terms or columns as a data frame of pandas, those that have changed most first.

        Parameters
        ----------
        of : "terms" or "columns"
            Which of them.

        Returns
        -------
        data frame
        """
        import pandas

        frame = pandas.DataFrame(self._listed(of))
        if of == "terms":
            frame[["low", "high"]] = frame.pop("interval").tolist()
            return frame.sort_values("shift", key=np.abs, ascending=False, ignore_index=True)
        return frame.sort_values("moved", ascending=False, ignore_index=True)

    def _listed(self, of: str) -> list[dict[str, Any]]:
        if of not in ("terms", "columns"):
            raise ValueError(f"of is {of!r}, but it must be 'terms' or 'columns'")
        listed: list[dict[str, Any]] = self._told[of]
        return listed

    @overload
    def plot(
        self,
        of: Literal["terms", "columns"] = "terms",
        ax: Axes | None = None,
        most: int = 15,
        backend: Literal["matplotlib"] = "matplotlib",
    ) -> Axes: ...
    @overload
    def plot(
        self, of: Literal["terms", "columns"] = "terms", ax: None = None, most: int = 15, *, backend: Literal["altair"]
    ) -> altair.LayerChart: ...
    def plot(
        self,
        of: Literal["terms", "columns"] = "terms",
        ax: Axes | None = None,
        most: int = 15,
        backend: Backend = "matplotlib",
    ) -> Any:
        """Draws by how much terms have shifted, with 95 % intervals, or which share of the rows of columns lies elsewhere.

        Parameters
        ----------
        of : "terms" or "columns"
            Which of them.
        ax
            Axes of matplotlib to draw on.
        most
            How many are shown, the most changed first.
        backend : "matplotlib" or "altair"
            What draws.

        Returns
        -------
        axes of matplotlib, or a chart of Altair
        """
        measure = (lambda one: abs(one["shift"])) if of == "terms" else (lambda one: one["moved"])
        shown = sorted(self._listed(of), key=measure, reverse=True)[:most]
        words = f"{self._told['rows']:,} rows: {self.verdict} change" if self.verdict != "same" else f"{self._told['rows']:,} rows: as in the training"
        return drawer(backend, ax).drift(ax, of, shown, words)

    def __repr__(self) -> str:
        changed = [one["term"] for one in self._told["terms"] if one["verdict"] != "same"]
        named = f": {', '.join(changed[:5])}{' …' if len(changed) > 5 else ''}" if changed else ""
        return f"<Drift of {counted(self._told['rows'], 'row')}, {self.verdict}{named}>"


class ThresholdCurve:
    """How many rows are outliers at which threshold, and what they are if that is known; see :meth:`diad.DIAD.threshold_curve`."""

    def __init__(self, scores: Floats, labels: Floats | None, threshold: float) -> None:
        order = np.argsort(-scores, kind="stable")
        ordered = scores[order]
        # The last row of each score: rows of the same score are outliers together.
        last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], len(ordered) > 0))
        self.threshold = threshold
        #: A score that rows must reach, how many do, and their share, from the highest score down.
        self.thresholds, self.alerts = ordered[last], last + 1
        self.shares = self.alerts / max(len(ordered), 1)
        self.precision: Floats | None = None
        self.recall: Floats | None = None
        if labels is not None:
            hits, known = np.cumsum(labels[order] == 1), np.cumsum(np.isin(labels[order], (0, 1)))
            self.precision = hits[last] / np.maximum(known[last], 1)
            self.recall = hits[last] / max(int(hits[-1]), 1)

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each threshold, the highest first, as a data frame of pandas.

        Returns
        -------
        data frame
            With the columns ``threshold``, ``alerts`` and ``share``, and ``precision`` and ``recall`` if there are labels. Rows without a
            label count in neither of these two.
        """
        import pandas

        frame = pandas.DataFrame({"threshold": self.thresholds, "alerts": self.alerts, "share": self.shares})
        return frame if self.precision is None else frame.assign(precision=self.precision, recall=self.recall)

    @overload
    def plot(self, ax: Axes | None = None, backend: Literal["matplotlib"] = "matplotlib") -> Axes: ...
    @overload
    def plot(self, ax: None = None, *, backend: Literal["altair"]) -> altair.LayerChart: ...
    def plot(self, ax: Axes | None = None, backend: Backend = "matplotlib") -> Any:
        """Draws the share of rows that are outliers at each threshold, with precision and recall if there are labels.

        Parameters
        ----------
        ax
            Axes of matplotlib to draw on.
        backend : "matplotlib" or "altair"
            What draws.

        Returns
        -------
        axes of matplotlib, or a chart of Altair
        """
        return drawer(backend, ax).threshold_curve(ax, self)

    def __repr__(self) -> str:
        at = int(np.searchsorted(-self.thresholds, -self.threshold, side="left"))
        above = int(self.alerts[at - 1]) if at else 0
        return f"<ThresholdCurve: {counted(above, 'row')} above {self.threshold:.4g}>"
