"""What a fitted detector says of its model and of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._convert import Asked, known_labels, labels_of, threads_of, write_whole
from ._explain import GlobalExplanation, LocalExplanation

if TYPE_CHECKING:
    from typing import Literal

    from ._diad import Model
    from ._terms import Terms
    from ._types import Counterfactual, Floats, Labels, Next, Path, Row, Table


class Explaining:
    """Terms, importances, explanations and reports of a fitted detector."""

    n_jobs: int | None

    if TYPE_CHECKING:

        _untuned: Model

        def _fitted(self) -> Model: ...
        def _terms(self) -> Terms: ...
        def _table(self, X: Table) -> Any: ...
        def _ordinary(self) -> float: ...

    # What the model looks at.

    @property
    def column_names_(self) -> list[str]:
        """The columns the model looks at; of a column of times, its month, weekday, hour and date."""
        return self._fitted().columns

    @property
    def left_out_(self) -> dict[str, str]:
        """Columns that were left out although nobody asked for it, each with the reason."""
        return dict(self._fitted().left_out)

    @property
    def settings_(self) -> dict[str, str]:
        """Every setting of the model, as text."""
        return dict(self._fitted().settings)

    @property
    def intercept_(self) -> float:
        """The constant part of every score."""
        return self._terms().intercept

    @property
    def term_names_(self) -> list[str]:
        """The names of the terms: a column, or two columns with × between them."""
        return self._terms().names

    @property
    def term_features_(self) -> list[tuple[int, ...]]:
        """The columns of each term, as places in ``column_names_``."""
        return [tuple(columns) for columns in self._terms().columns]

    def term_importances(self, importance_type: Literal["avg_weight", "min_max"] = "avg_weight") -> Floats:
        """How important each term is.

        Parameters
        ----------
        importance_type : "avg_weight" or "min_max"
            The mean absolute contribution over the training rows, or the largest contribution of the term's shape less the
            smallest, as InterpretML calls them.

        Returns
        -------
        array of shape (n_terms,)
        """
        terms = self._terms()
        if importance_type == "avg_weight":
            return terms.importances
        if importance_type == "min_max":
            whole = GlobalExplanation(terms)
            return np.array([np.ptp(whole.data(term)["scores"]) for term in range(len(whole.term_names))])
        raise ValueError(f"importance_type is {importance_type!r}, but it must be 'avg_weight' or 'min_max'")

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column of the training table in the scores, adding up to 1.

        It is the mean absolute contribution of the column's terms over the training rows; half of a term of two columns goes to
        each. Columns that were left out have 0. In the order of the training table, or of ``column_names_`` if that is not known.
        """
        model = self._fitted()
        sources = model.sources
        names = model.training_names or list(dict.fromkeys(sources))
        shares = dict.fromkeys(names, 0.0)
        terms = self._terms()
        for columns, importance in zip(terms.columns, terms.importances, strict=True):
            for column in columns:
                shares[sources[column]] += importance / len(columns)
        found = np.array(list(shares.values()))
        return found / (found.sum() or 1.0)

    # Explanations.

    def eval_terms(self, X: Table) -> Floats:
        """What each term contributes to the score of each row.

        Parameters
        ----------
        X
            A table.

        Returns
        -------
        array of shape (n_rows, n_terms)
            ``eval_terms(X).sum(axis=1) + intercept_`` is the score.
        """
        return self._terms().contributions(self._table(X), threads_of(self.n_jobs))[0]

    def explain_global(self, name: str | None = None) -> GlobalExplanation:
        """What the model looks at: every term, its importance and its shape.

        Parameters
        ----------
        name
            What the explanation is called where it is shown.
        """
        return GlobalExplanation(self._terms(), name)

    def explain_local(self, X: Table, y: Labels | None = None, name: str | None = None) -> LocalExplanation:
        """What the scores of rows are made of.

        Parameters
        ----------
        X
            The rows to be shown.
        y
            Their labels, if they are known: 1 for an anomaly, 0 for a normal row.
        name
            What the explanation is called where it is shown.
        """
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        labels = None if y is None else labels_of(y)
        return LocalExplanation(self._terms(), self._table(X), labels, name, index, self._ordinary())

    def counterfactual(self, row: Row, threshold: float | None = None) -> list[Counterfactual]:
        """The smallest changes of one or two columns that bring the score of a row below a threshold.

        Parameters
        ----------
        row
            A table of one row, a dictionary, or the values of one row of an array or a data frame.
        threshold
            A score; that of the detector, if none is given.

        Returns
        -------
        list of dictionaries
            Each has the ``changes`` (column, from, to), the new ``score`` and the ``distance`` in ranges of the columns. It is empty
            if the row is below the threshold already or nothing was found.
        """
        self._unedited("the search for counterfactuals")
        table: Any = row
        if isinstance(row, dict):
            table = [row]
        elif isinstance(row, np.ndarray) and row.ndim == 1:
            table = row.reshape(1, -1)
        elif hasattr(row, "to_frame") and hasattr(row, "iloc") and getattr(row, "ndim", 2) == 1:
            table = table.to_frame().T.infer_objects()
        return self._fitted().counterfactuals(self._table(table), self._ordinary() if threshold is None else threshold)

    def next_rows(self, X: Table, y: Labels | None = None, n_rows: int = 10) -> list[Next]:
        """The rows of a table that are most worth a label.

        They are the rows without a label that are most likely anomalies, by their scores and by the labels so far of rows like them,
        the likeliest first. No kind of alert has more than a third of them while there are others. It begins from the model that was
        fitted without labels, also if the detector is tuned: give all labels so far.

        Parameters
        ----------
        X
            A table.
        y
            The labels so far: 1 for an anomaly, 0 for a normal row, -1 or NaN where nothing is known.
        n_rows
            How many rows to name.

        Returns
        -------
        list of dictionaries
            Each has the ``row``, its ``score``, what its label is ``expected`` to be (1 an anomaly, -1 a normal row), and as ``reason``
            what carries the score.
        """
        self._fitted()
        self._unedited("the choice of rows")
        labels = None if y is None else labels_of(y)
        found = self._untuned.next_rows(self._table(X), n_rows, labels, threads_of(self.n_jobs))
        return [
            {"row": row, "score": score, "expected": expected, "reason": reason}
            for row, score, expected, reason in found
        ]

    def report(
        self,
        path: Path,
        X: Table,
        y: Labels | None = None,
        *,
        top: int = 1000,
        before: Explaining | None = None,
        model_name: str = "model",
        table_name: str = "table",
    ) -> None:
        """Writes the interactive report of a table as one HTML file: the model, its terms, and the rows of highest score.

        Parameters
        ----------
        path
            The file to write.
        X
            The table.
        y
            Labels of all rows, 1 for an anomaly and 0 for a normal row.
        top
            How many rows are listed.
        before
            An earlier detector of the same columns to compare with.
        model_name, table_name
            What they are called in the report.
        """
        self._unedited("the report")
        asked = Asked(top, None, model_name, table_name, self._ordinary())
        labels = None if y is None else known_labels(y)
        earlier = None if before is None else before._fitted()
        write_whole(path, self._fitted().report(self._table(X), asked, labels, earlier))

    def _unedited(self, what: str) -> None:
        """Refuses what looks at the model itself, not at what was made of its terms."""
        if self._terms().edits:
            raise ValueError(f"{what} does not know of edited terms; use a detector whose terms are as they were fitted")
