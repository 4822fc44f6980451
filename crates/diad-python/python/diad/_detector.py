"""The detector by PyOD's conventions."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING

import numpy as np

from ._base import Base
from ._diad import Model, hold
from ._settings import documented

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self, Unpack

    from ._types import Floats, Ints, Labels, Table, TuneSettings


@documented
class DIAD(Base):
    """An anomaly detector for tables, by PyOD's conventions: higher scores are more anomalous, 1 is an outlier.

    X is an array, a data frame (pandas, polars, pyarrow, DuckDB, or anything with ``__arrow_c_stream__``), or a list of
    dictionaries. Text becomes categories, times become month, weekday, hour and date, a missing value is one of its own.

    Parameters
    ----------
    contamination : float
        The share of outliers, above 0 and at most 0.5. It sets ``threshold_`` alone, no score.
    preset : "default" or "paper"
        Where the settings start from.
    random_state : int, generator of NumPy, or None
        The seed. None is 0: the same rows give the same model, as they do on the command line.
    n_jobs : int or None
        Threads; None or -1 is one per processor core. The result does not depend on it.
    verbose : bool
        Whether the fit shows how far it is, on standard error.
    callback : callable
        Called after each step of a fit with ``step``, ``steps``, ``loss`` and ``temperature``. An exception stops the fit and comes
        out of it.
    categorical, numeric, ignore : sequences of column names
        Columns to take as categories, to take as numbers, and to leave out.
    [settings of a fit]

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

    def fit(self, X: Table, y: Labels | None = None) -> Self:
        """Fits the detector.

        **y is not ignored.** 1 is an anomaly, 0 a normal row, and -1 or NaN a row of which nothing is known. If y is given, the
        detector first learns from all rows without labels and is then tuned to the labels, as by :meth:`tune`. At least one
        row must be labelled 1. Without y nothing but X is looked at.
        """
        self._check_contamination()
        X = hold(X)
        self._train(X)
        if y is not None:
            self._learn(X, y)
        return self._remember(X)

    @documented
    def tune(
        self,
        X: Table,
        y: Labels,
        validation: tuple[Table, Labels] | None = None,
        **settings: Unpack[TuneSettings],
    ) -> Self:
        """Learns from a few labels: 1 is an anomaly, 0 a normal row, **-1 or NaN a row of which nothing is known**.

        It begins from the model that was fitted without labels, also if the detector is tuned already: give all labels so far.
        Rows without a label help to tell what is ordinary, so give them too. ``validation`` is a pair of a table and its labels
        by which settings are chosen; ``validation_auc_`` then has the area under the ROC curve before and after.

        ``decision_scores_``, ``labels_`` and ``threshold_`` become those of X.

        Parameters
        ----------
        X, y, validation
            The rows, their labels, and other rows with theirs.
        learner : "functions" or "descent"
            How to learn: curves and grids are added to the score, or the trees are moved by Adam, as in the paper (default
            "functions", or "descent" where a loss is given).
        [settings of a tuning]

        Examples
        --------

        >>> import numpy as np
        >>> from diad import DIAD
        >>> X = np.random.default_rng(0).normal(size=(300, 2))
        >>> y = np.where(X[:, 0] > 1.5, 1, 0)
        >>> y[100:] = -1  # nothing is known of these
        >>> detector = DIAD(steps=100, trees=20).fit(X).tune(X, y)
        >>> high, low = detector.decision_function(np.array([[2.5, 0.0], [-2.5, 0.0]]))
        >>> bool(high > low)
        True
        """
        self._check_contamination()
        X = hold(X)
        self._learn(X, y, validation, **settings)
        return self._remember(X)

    def decision_function(self, X: Table) -> Floats:
        """The scores of rows; higher is more anomalous."""
        return self._score(X)

    def predict(self, X: Table, return_confidence: bool = False) -> Any:
        """Whether rows are outliers: 1 if they are, else 0."""
        X = hold(X)
        return self._with_confidence((self.decision_function(X) > self.threshold_).astype(int), X, return_confidence)

    def predict_proba(self, X: Table, method: str = "linear", return_confidence: bool = False) -> Any:
        """Scores brought to the range from 0 to 1, as the second column; the first is the rest to 1.

        ``linear`` takes the lowest training score as 0 and the highest as 1; ``unify`` is that of Kriegel et al. (2011). Neither
        is the probability that a row is an anomaly.
        """
        X = hold(X)
        scores = self.decision_function(X)
        if method == "linear":
            low, high = self._ends()
            outlier = (scores - low) / (high - low if high > low else 1.0)
        elif method == "unify":
            self._training_scores()
            outlier = np.array([math.erf(z) for z in (scores - self._mu) / (self._sigma * math.sqrt(2))])
        else:
            raise ValueError(f"method is {method!r}, but it must be 'linear' or 'unify'")
        outlier = outlier.clip(0, 1)
        return self._with_confidence(np.column_stack([1 - outlier, outlier]), X, return_confidence)

    def predict_confidence(self, X: Table) -> Floats:
        """How likely each prediction would be the same had the training rows been drawn anew (Perini et al., 2020)."""
        scores = self.decision_function(X)
        if "decision_scores_" in vars(self):
            rows = len(self.decision_scores_)
            below = np.searchsorted(np.sort(self.decision_scores_), scores, side="right")
        else:
            rows = self._fitted().training_rows
            below = np.rint(self._fitted().score_standing(scores) * rows)
        confidence = Model.confidence(below.astype(np.int64), rows, float(self.contamination))
        return np.where(scores > self.threshold_, confidence, 1 - confidence)

    def fit_predict(self, X: Table, y: Labels | None = None) -> Ints:
        """Fits the detector and returns ``labels_``."""
        return self.fit(X, y).labels_

    def fit_predict_score(self, X: Table, y: Labels, scoring: str = "roc_auc_score") -> float:
        """Fits the detector **without y** and returns how well its scores match y, as PyOD does. Needs PyOD."""
        from pyod.models.base import BaseDetector

        self.fit(X)
        fitted = Scored(self.decision_scores_)
        return float(BaseDetector.fit_predict_score(fitted, X, y, scoring))

    def predict_with_rejection(self, X: Table, **parameters: Any) -> Any:
        """Predictions of which those that are not sure are -2, as PyOD does. Needs PyOD."""
        from pyod.models.base import BaseDetector

        return BaseDetector.predict_with_rejection(self, X, **parameters)

    def compute_rejection_stats(self, **parameters: Any) -> Any:
        """What rejection would cost, as PyOD does. Needs PyOD."""
        from pyod.models.base import BaseDetector

        return BaseDetector.compute_rejection_stats(self, **parameters)

    def _predict_rank(self, X: Table, normalized: bool = False) -> Any:
        """How many training scores each row exceeds, as PyOD's combinations of detectors ask."""
        ranks = np.searchsorted(np.sort(self._training_scores()), self.decision_function(X))
        return ranks / ranks.max() if normalized else ranks

    # Parameters, as scikit-learn and PyOD ask for them.

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._get_param_names()}

    def set_params(self, **parameters: Any) -> Self:
        """Sets parameters by name."""
        known = self._get_param_names()
        for name, value in parameters.items():
            if name not in known:
                raise ValueError(f"there is no parameter {name!r}; the parameters are {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        plain = {name: parameter.default for name, parameter in inspect.signature(type(self)).parameters.items()}
        given = (f"{name}={value!r}" for name, value in self.get_params().items() if value != plain[name])
        return f"{type(self).__name__}({', '.join(given)})"

    def __sklearn_tags__(self) -> Any:
        from .sklearn import tags

        return tags()

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    # What is remembered of the training rows.

    def _check_contamination(self) -> None:
        if not 0 < self.contamination <= 0.5:
            raise ValueError(f"contamination is {self.contamination}, but it must be above 0 and at most 0.5")

    def _remember(self, X: Table) -> Self:
        self.decision_scores_ = self._score(X)
        self.threshold_ = np.percentile(self.decision_scores_, 100 * (1 - self.contamination))
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        self._mu, self._sigma = self.decision_scores_.mean(), self.decision_scores_.std()
        self._classes = 2
        return self

    def _loaded(self) -> None:
        self._check_contamination()
        self.threshold_ = self._model.score_quantile(1 - self.contamination)

    def _training_scores(self) -> Floats:
        self._fitted()
        if "decision_scores_" not in vars(self):
            raise AttributeError("a model file holds no training scores; fit the detector, or keep it with pickle")
        return self.decision_scores_

    def _ends(self) -> tuple[float, float]:
        if "decision_scores_" in vars(self):
            return self.decision_scores_.min(), self.decision_scores_.max()
        return self._fitted().score_quantile(0.0), self._fitted().score_quantile(1.0)

    def _ordinary(self) -> float:
        self._fitted()
        return self.threshold_

    def _with_confidence(self, result: Any, X: Table, wanted: bool) -> Any:
        return (result, self.predict_confidence(X)) if wanted else result


class Scored:
    """A fitted detector as PyOD's scoring needs it."""

    def __init__(self, scores: Floats) -> None:
        self.decision_scores_ = scores

    def fit(self, X: Table) -> Self:
        return self
