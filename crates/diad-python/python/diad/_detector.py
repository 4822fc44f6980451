"""The detector by PyOD's conventions."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from . import _threshold
from ._base import Base, seen
from ._diad import Model, hold
from ._settings import documented

if TYPE_CHECKING:
    from typing import Literal

    from matplotlib.axes import Axes
    from typing_extensions import Self

    from ._types import Floats, Ints, Labels, Table, Weights


@documented
class DIAD(Base):
    """An anomaly detector for tables, by PyOD's conventions: higher scores are more anomalous, 1 is an outlier.

    X is an array, a data frame (pandas, polars, pyarrow, DuckDB, or anything with ``__arrow_c_stream__``), a sparse matrix of
    SciPy, or a list of dictionaries. Text becomes categories, times become month, weekday, hour and date, a missing value is one
    of its own. What the user should know of how a table was read is a ``UserWarning``.

    Parameters
    ----------
    contamination : float, "auto" or threshold of PyOD
        The share of outliers, above 0 and at most 0.5. It sets ``threshold_`` alone, no score. "auto" follows the rule for alerts that is
        stored in a model's file, if there is one, and else takes the rows whose score is more than three interquartile ranges above the
        upper quartile of the training scores (Tukey's outer fence). An object of
        ``pyod.models.thresholds`` or of PyThresh is asked for the threshold of the training scores.
    preset : "default" or "paper"
        Where the settings start from.
    random_state : int, generator of NumPy, or None
        The seed. None is 0: the same rows give the same model, as they do on the command line.
    n_jobs : int or None
        Threads; -1 is one per processor core. None is the same, but in a worker of joblib, where it is joblib's share of the cores.
        The result does not depend on it.
    verbose : bool
        Whether the fit shows how far it is, on standard error.
    callback : callable
        Called after each step of a fit with ``step``, ``steps``, ``loss`` and ``temperature``. An exception stops the fit and comes
        out of it. One that cannot be pickled, such as a lambda, is not kept in a pickle.
    categorical, numeric, ignore : column names or places
        Columns to take as categories, to take as numbers, and to leave out. A place is a whole number; the first is 0.
    by : column name or place
        A column of segments, such as machines or shops: numbers count by what is usual in theirs, and columns are called "temperature
        for its machine".
    feature_types : list or dictionary
        The same in InterpretML's words: "continuous", "nominal", "ordinal", "ignore" or "auto" for each column, or for those that are
        keys.
    exclude : list of terms
        Terms that are removed from the score after the fit: a column, or a tuple of two.
    monotone_constraints : list or dictionary
        1 for columns of numbers in which the score may only rise, -1 for those in which it may only fall, 0 for all others; the terms of
        two columns, one of which is so constrained, are removed.
    [settings of a fit]

    ``interactions`` may also be a list of pairs of columns, or how many: 0 is none, and of more than 2 so many that matter most. All
    other terms of two columns are removed from the score.

    The last ones are settings of the training. None is what the preset says.

    Attributes
    ----------
    decision_scores_, labels_, threshold_
        The scores of the training rows, whether each is an outlier, and the score above which a row is one.
    n_features_in_, feature_names_in_
        How many columns the training table had, and their names if it had any.
    column_names_, left_out_, settings_
        What the model looks at, what it leaves out and why, and its settings.
    intercept_, term_names_, term_features_
        What scores are the sum of.
    feature_importances_
        The share of each column of the training table in the scores.

    Examples
    --------
    >>> import numpy as np
    >>> from diad import DIAD
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> X[7] = [6, -6, 6]
    >>> detector = DIAD(contamination=0.01, steps=100, trees=20).fit(X)
    >>> int(detector.labels_[7]), int(detector.labels_.sum())
    (1, 5)
    >>> detector.predict(np.array([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])).tolist()
    [0, 1]
    """

    decision_scores_: Floats
    labels_: Ints
    threshold_: float

    def fit(self, X: Table, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Fits the detector.

        **y is not ignored.** 1 is an anomaly, 0 a normal row, and -1 or NaN a row of which nothing is known. If y is given, the
        detector first learns from all rows without labels and is then tuned to the labels, as by :meth:`tune`. At least one
        row must be labelled 1. Without y nothing but X is looked at.

        Parameters
        ----------
        X
            The training table.
        y
            Labels, one for each row, if there are any.
        sample_weight
            How much each row counts. A row of weight 3 is learned from as if it were there three times, and one of weight 0 as if it
            were not there. If the weights are not whole numbers, as many rows as the table has are drawn by weight.

        Returns
        -------
        self
        """
        _threshold.check(self.contamination)
        with self._whole():
            table = hold(X)
            times = self._train(table, sample_weight)
            if y is not None:
                self._learn(table, y, None, {})
            return self._remember(table, X, times)

    def decision_function(self, X: Table) -> Floats:
        """The scores of rows; higher is more anomalous.

        Parameters
        ----------
        X
            The rows, as a table with the columns of the training table.

        Returns
        -------
        array of shape (n_rows,)
            A score for each row. Scores rank rows; they are no probabilities.
        """
        return self._score(self._table(X))

    @overload
    def predict(self, X: Table, return_confidence: Literal[False] = False) -> Ints: ...
    @overload
    def predict(self, X: Table, return_confidence: Literal[True]) -> tuple[Ints, Floats]: ...
    def predict(self, X: Table, return_confidence: bool = False) -> Ints | tuple[Ints, Floats]:
        """Whether rows are outliers: 1 if they are, else 0.

        Parameters
        ----------
        X
            The rows, as for :meth:`decision_function`.
        return_confidence
            Whether :meth:`predict_confidence` is returned, too.

        Returns
        -------
        array of shape (n_rows,)
            1 where the score is above ``threshold_``; with ``return_confidence``, a pair of it and the confidences.
        """
        table = self._table(X)
        scores = self._score(table)
        threshold = _threshold.of_table(self.contamination, self._fitted(), scores, self.threshold_)
        found = (scores > threshold).astype(np.int64)
        return (found, self._confidence(scores)) if return_confidence else found

    @overload
    def predict_proba(
        self, X: Table, method: Literal["linear", "unify"] = "linear", return_confidence: Literal[False] = False
    ) -> Floats: ...
    @overload
    def predict_proba(
        self, X: Table, method: Literal["linear", "unify"] = "linear", *, return_confidence: Literal[True]
    ) -> tuple[Floats, Floats]: ...
    def predict_proba(
        self, X: Table, method: Literal["linear", "unify"] = "linear", return_confidence: bool = False
    ) -> Floats | tuple[Floats, Floats]:
        """Scores brought to the range from 0 to 1, as the second column; the first is the rest to 1.

        Neither method gives the probability that a row is an anomaly.

        Parameters
        ----------
        X
            The rows, as for :meth:`decision_function`.
        method : "linear" or "unify"
            ``linear`` takes the lowest training score as 0 and the highest as 1; ``unify`` is that of Kriegel et al. (2011).
        return_confidence
            Whether :meth:`predict_confidence` is returned, too.

        Returns
        -------
        array of shape (n_rows, 2)
            With ``return_confidence``, a pair of it and the confidences.
        """
        scores = self._score(self._table(X))
        if method == "linear":
            low, high = self._ends()
            outlier = (scores - low) / (high - low if high > low else 1.0)
        elif method == "unify":
            self._training_scores()
            outlier = np.array([math.erf(z) for z in (scores - self._mu) / (self._sigma * math.sqrt(2))])
        else:
            raise ValueError(f"method is {method!r}, but it must be 'linear' or 'unify'")
        outlier = outlier.clip(0, 1)
        found = np.column_stack([1 - outlier, outlier])
        return (found, self._confidence(scores)) if return_confidence else found

    def predict_confidence(self, X: Table) -> Floats:
        """How likely each prediction would be the same had the training rows been drawn anew (Perini et al., 2020).

        Parameters
        ----------
        X
            The rows, as for :meth:`predict`.

        Returns
        -------
        array of shape (n_rows,)
            From 0 to 1, and low for rows near ``threshold_``.
        """
        return self._confidence(self._score(self._table(X)))

    def fit_predict(self, X: Table, y: Labels | None = None) -> Ints:
        """Fits the detector and returns ``labels_``.

        Parameters
        ----------
        X, y
            As for :meth:`fit`.

        Returns
        -------
        array of shape (n_rows,)
            1 for outliers, 0 for all others.
        """
        return self.fit(X, y).labels_

    def fit_predict_score(self, X: Table, y: Labels, scoring: str = "roc_auc_score") -> float:
        """Fits the detector **without y** and returns how well its scores match y, as PyOD does. Needs PyOD.

        Parameters
        ----------
        X, y
            A table and its labels.
        scoring : "roc_auc_score" or "prc_n_score"
            The measure.

        Returns
        -------
        float
        """
        from pyod.models.base import BaseDetector

        self.fit(X)
        method: Any = BaseDetector.fit_predict_score
        return float(method(Scored(self.decision_scores_), X, y, scoring))

    def predict_with_rejection(self, X: Table, **parameters: Any) -> Any:
        """Predictions of which those that are not sure are -2, as PyOD does. Needs PyOD.

        Parameters
        ----------
        X
            The rows, as for :meth:`predict`.
        **parameters
            Those of ``BaseDetector.predict_with_rejection``.

        Returns
        -------
        array of shape (n_rows,)
            1, 0 or -2; with ``return_stats=True``, what PyOD returns beside it.
        """
        from pyod.models.base import BaseDetector

        method: Any = BaseDetector.predict_with_rejection
        return method(self, X, **parameters)

    def compute_rejection_stats(self, **parameters: Any) -> Any:
        """What rejection would cost, as PyOD does. Needs PyOD.

        Parameters
        ----------
        **parameters
            Those of ``BaseDetector.compute_rejection_stats``.

        Returns
        -------
        the rejection rate and its upper bound, and the bound of the cost
        """
        from pyod.models.base import BaseDetector

        method: Any = BaseDetector.compute_rejection_stats
        return method(self, **parameters)

    def explain_outlier(
        self,
        ind: int,
        X: Table | None = None,
        *,
        columns: list[int] | None = None,
        cutoffs: list[float] | None = None,
        feature_names: list[str] | None = None,
        file_name: str | None = None,
        file_type: str | None = None,
        ax: Axes | None = None,
    ) -> Axes:
        """Draws what each column adds to the score of one row, as ECOD and COPOD of PyOD do. Needs matplotlib.

        Parameters
        ----------
        ind
            Which row, counted from 0.
        X
            The table the row is in; the training table, if that is still around.
        columns
            Places of the columns to show; all, if none are given.
        cutoffs
            Shares of the rows, for each of which a line shows what they do not exceed; 0.9 and 0.99, if none are given.
        feature_names
            Other names for the columns shown.
        file_name, file_type
            Where the picture is saved, if it is to be.
        ax
            Axes to draw on.

        Returns
        -------
        axes of matplotlib
        """
        from ._plot import outlier

        table = self._seen() if X is None and "_seen" in vars(self) else X
        if table is None:
            raise ValueError("the training table is not around any more; give it: explain_outlier(ind, X)")
        return outlier(self, ind, table, columns, cutoffs or [0.9, 0.99], feature_names, (file_name, file_type), ax)

    def _predict_rank(self, X: Table, normalized: bool = False) -> Any:
        """How many training scores each row exceeds, as PyOD's combinations of detectors ask."""
        ranks = np.searchsorted(np.sort(self._training_scores()), self.decision_function(X))
        return ranks / ranks.max() if normalized else ranks

    # Parameters, as scikit-learn and PyOD ask for them.

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name.

        Parameters
        ----------
        deep
            Ignored: no parameter has parameters of its own.

        Returns
        -------
        dictionary
        """
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Sets parameters by name.

        Those of the model and ``contamination`` count from the next fit on.

        Parameters
        ----------
        **parameters
            Names and values.

        Returns
        -------
        self
        """
        known = self._get_param_names()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"there is no parameter {name!r}; the parameters are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        plain = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
        given = (f"{name}={value!r}" for name, value in self.get_params().items() if not same(value, plain[name]))
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        from .sklearn import tags

        # Its predictions are 1 and 0, not scikit-learn's -1 and +1, so that it is none of scikit-learn's kinds.
        return tags(None)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    # What is remembered of the training rows.

    def _remember(self, table: Any, X: Table, times: Floats | None = None) -> Self:
        self.decision_scores_ = self._score(table)
        # Before the labels are there: each step takes as much memory as the scores.
        self._mu, self._sigma = self.decision_scores_.mean(), self.decision_scores_.std()
        self.threshold_, self.labels_ = _threshold.of_scores(self.contamination, self.decision_scores_, times)
        self._classes = 2
        self._seen = seen(X)
        return self

    def _loaded(self) -> None:
        self.threshold_ = _threshold.of_model(self.contamination, self._model)

    def _training_scores(self) -> Floats:
        self._fitted()
        if "decision_scores_" not in vars(self):
            raise AttributeError("a model file holds no training scores; fit the detector, or keep it with pickle")
        return self.decision_scores_

    def _ends(self) -> tuple[float, float]:
        if "decision_scores_" in vars(self):
            return float(self.decision_scores_.min()), float(self.decision_scores_.max())
        return self._fitted().score_quantile(0.0), self._fitted().score_quantile(1.0)

    def _ordinary(self) -> float:
        self._fitted()
        return self.threshold_

    def _confidence(self, scores: Floats) -> Floats:
        model = self._fitted()
        if "decision_scores_" in vars(self):
            rows = len(self.decision_scores_)
            below = np.searchsorted(np.sort(self.decision_scores_), scores, side="right").astype(np.int64)
            share = float(self.labels_.mean())
        else:
            rows = model.training_rows
            below = np.rint(model.score_standing(scores) * rows).astype(np.int64)
            share = 1 - float(model.score_standing(np.array([self.threshold_]))[0])
        if isinstance(self.contamination, (int, float)):
            share = float(self.contamination)
        confidence = Model.confidence(below, rows, share)
        return np.where(scores > self.threshold_, confidence, 1 - confidence)


class Scored:
    """A fitted detector as PyOD's scoring needs it."""

    def __init__(self, scores: Floats) -> None:
        self.decision_scores_ = scores

    def fit(self, X: Table) -> Self:
        return self


def same(value: Any, plain: Any) -> bool:
    """Whether a parameter has its default."""
    return value is plain or (type(value) is type(plain) and bool(value == plain))
