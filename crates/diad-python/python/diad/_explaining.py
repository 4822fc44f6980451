"""What a fitted detector says of its model and of rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ._convert import Asked, known_labels, labels_of, rows_of, seed_of, threads_of, write_whole
from ._drift import Drift, ThresholdCurve
from ._explain import GlobalExplanation, LocalExplanation
from ._uncertainty import estimated, refitted

if TYPE_CHECKING:
    from typing import Literal

    from typing_extensions import Self

    from ._diad import Model
    from ._terms import Terms
    from ._types import Counterfactual, Floats, Labels, Next, Path, Row, Seed, Table
    from ._uncertainty import Uncertainty


class Explaining:
    """Terms, importances, explanations and reports of a fitted detector."""

    n_jobs: int | None
    random_state: Seed

    if TYPE_CHECKING:
        _model: Model
        _untuned: Model
        _uncertainty: Uncertainty

        def _fitted(self) -> Model: ...
        def _terms(self) -> Terms: ...
        def _table(self, X: Table) -> Any: ...
        def _score(self, X: Any) -> Floats: ...
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
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
            The rows, a table that the model can score.

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

        Returns
        -------
        GlobalExplanation
            With ``data()``, ``to_pandas()`` and ``plot()``.
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

        Returns
        -------
        LocalExplanation
            With ``data()``, ``to_pandas()`` and ``plot()``, too; in a notebook it shows the report of its rows.
        """
        index = getattr(X, "index", None) if hasattr(X, "iloc") else None
        labels = None if y is None else labels_of(y)
        return LocalExplanation(self._terms(), self._table(X), labels, name, index, self._ordinary())

    def estimate_uncertainty(
        self, X: Table, y: Labels | None = None, *, fits: int = 5, by: Literal["folds", "seeds"] = "folds"
    ) -> Self:
        """Estimates how sure the shape and the importance of each term are, by how much they differ from fit to fit.

        Explanations then have bounds: a standard deviation over the fits below and above, in plots, in ``data()`` and for InterpretML. Neither
        the model nor any score changes. It takes as long as so many fits.

        Parameters
        ----------
        X
            The training table.
        y
            The labels, if the detector has learned from any.
        fits
            How many models are fitted, 2 or more.
        by : "folds" or "seeds"
            Whether each leaves out a part of the rows, or has another seed. Folds say what another sample of rows might change, seeds what
            chance in the training does.

        Returns
        -------
        self

        Examples
        --------
        >>> import diad, numpy
        >>> X = numpy.random.default_rng(0).normal(size=(300, 2))
        >>> detector = diad.DIAD(steps=50, trees=10).fit(X).estimate_uncertainty(X, fits=3)
        >>> shape = detector.explain_global().data("x0")
        >>> bool((shape["lower_bounds"] <= shape["scores"]).all())
        True
        """
        if by not in ("folds", "seeds"):
            raise ValueError(f"by is {by!r}, but it must be 'folds' or 'seeds'")
        if isinstance(fits, bool) or not isinstance(fits, (int, np.integer)) or fits < 2:
            raise ValueError(f"fits is {fits!r}, but it must be a whole number, 2 or more")
        self._fitted()
        self._unedited("the estimate of uncertainty")
        seed = seed_of(self.random_state)
        parameters = {**self.get_params(deep=False), "verbose": False, "callback": None}

        def fresh(other: int) -> Any:
            return type(self)(**{**parameters, "random_state": seed + other})

        labels = None if y is None else labels_of(y)
        models = refitted(fresh, self._table(X), rows_of(X), labels, int(fits), by)
        self._uncertainty = estimated(self._terms(), models)
        return self

    def counterfactual(self, row: Row, threshold: float | None = None) -> list[Counterfactual]:
        """The smallest changes of one or two columns that bring the score of a row below a threshold.

        Parameters
        ----------
        row
            A table of one row, a dictionary, or the values of one row of an array, a list or a data frame.
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
        elif isinstance(row, (list, tuple)) and row and all(np.isscalar(value) or value is None for value in row):
            table = np.array([row], dtype=object)
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

    def drift(self, X: Table) -> Drift:
        """What has changed in a table since the training: by term, by column, and in the scores. The training table is not needed.

        Parameters
        ----------
        X
            The new rows.

        Returns
        -------
        Drift
            With ``verdict``, ``data()``, ``to_pandas()`` and ``plot()``.

        Examples
        --------
        >>> import numpy as np
        >>> from diad import DIAD
        >>> X = np.random.default_rng(0).normal(size=(900, 3))
        >>> detector = DIAD(steps=50, trees=10).fit(X)
        >>> detector.drift(X).verdict, detector.drift(X + [2, 0, 0]).verdict
        ('same', 'large')
        """
        model = self._fitted()
        told: dict[str, Any] = json.loads(model.drift([model.count_drift([self._table(X)])]))
        return Drift(told)

    def threshold_curve(self, X: Table | None = None, y: Labels | None = None) -> ThresholdCurve:
        """How many rows are outliers at which threshold.

        Parameters
        ----------
        X
            The rows; those of the training, if none are given.
        y
            Their labels, for precision and recall: 1 an anomaly, 0 a normal row, -1 or NaN where nothing is known.

        Returns
        -------
        ThresholdCurve
            With ``to_pandas()`` and ``plot()``.
        """
        scores = vars(self).get("decision_scores_") if X is None else self._score(self._table(X))
        if scores is None:
            raise ValueError("there are no training scores; give a table: threshold_curve(X)")
        labels = None if y is None else labels_of(y)
        if labels is not None and len(labels) != len(scores):
            raise ValueError(f"there are {len(labels)} labels for {len(scores)} rows")
        return ThresholdCurve(scores, labels, self._ordinary())

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
