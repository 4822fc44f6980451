"""The detector by scikit-learn's conventions. Importing this module imports scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import InputTags, Tags, TargetTags
from sklearn.utils import validation

from . import _threshold
from ._base import Base, seen
from ._diad import hold

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._types import Floats, Ints, Table, Weights

__all__ = ["DIADOutlierDetector"]

# Its types do not tell what it takes.
validate_data: Any = validation.validate_data


def tags(kind: str | None) -> Tags:
    """What scikit-learn may expect of a detector."""
    return Tags(
        estimator_type=kind,
        target_tags=TargetTags(required=False),
        input_tags=InputTags(allow_nan=True, categorical=True, string=True, sparse=True),
    )


class DIADOutlierDetector(OutlierMixin, Base, BaseEstimator):  # type: ignore[misc, unused-ignore]
    """An anomaly detector for tables, by scikit-learn's conventions: +1 is an inlier, -1 an outlier, lower is more anomalous.

    The parameters are those of :class:`diad.DIAD`. So are the tables it takes, if they are data frames: then text becomes
    categories. Arrays and sparse matrices must be of numbers; NaN is a missing value.

    **fit ignores y**, as scikit-learn's outlier detectors do. Labels are learned by :meth:`tune`, and they are those of anomaly
    detection, **not of this class's predictions**: 1 is an anomaly, 0 a normal row, -1 or NaN a row of which nothing is known.

    Attributes
    ----------
    offset_ : float
        ``decision_function`` is ``score_samples`` less this.
    n_features_in_, feature_names_in_
        How many columns the training table had, and their names if it had any.

    Examples
    --------
    >>> import numpy as np
    >>> from diad import DIADOutlierDetector
    >>> X = np.random.default_rng(0).normal(size=(500, 3))
    >>> detector = DIADOutlierDetector(contamination=0.01, steps=100, trees=20).fit(X)
    >>> detector.predict(np.array([[0.0, 0.0, 0.0], [9.0, 9.0, 9.0]])).tolist()
    [1, -1]
    """

    offset_: float

    def fit(self, X: Table, y: object = None, sample_weight: Weights | None = None) -> Self:
        """Fits the detector.

        Parameters
        ----------
        X
            The training table.
        y
            Ignored; see :meth:`tune`.
        sample_weight
            How much each row counts, as for :meth:`diad.DIAD.fit`.

        Returns
        -------
        self
        """
        _threshold.check(self.contamination)
        with self._whole():
            table = self._validated(X, reset=True)
            names = vars(self).get("feature_names_in_")
            times = self._train(table, sample_weight)
            if names is not None:
                self.feature_names_in_ = names
            return self._remember(table, X, times)

    def score_samples(self, X: Table) -> Floats:
        """The scores of rows, with their sign changed: lower is more anomalous.

        Parameters
        ----------
        X
            The rows to score, with the columns of the training table.

        Returns
        -------
        array of shape (n_rows,)
            The scores of :class:`diad.DIAD` times -1.
        """
        return -self._score(self._table(X))

    def decision_function(self, X: Table) -> Floats:
        """``score_samples`` less ``offset_``: negative for outliers.

        Parameters
        ----------
        X
            The rows to score, as for :meth:`score_samples`.

        Returns
        -------
        array of shape (n_rows,)
            How far each row is on the side of the inliers, in units of the score. The threshold is at 0, whatever the
            ``contamination``.
        """
        return self.score_samples(X) - self.offset_

    def predict(self, X: Table) -> Ints:
        """-1 for outliers, +1 for all others.

        Parameters
        ----------
        X
            The rows, a table as :meth:`score_samples` takes it.

        Returns
        -------
        array of shape (n_rows,)
            -1 where ``decision_function`` is negative, else +1.
        """
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _table(self, X: Table) -> Any:
        self._fitted()
        return self._validated(X, reset=False)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        table = hold(X)
        if table is not X or (isinstance(X, list) and X and isinstance(X[0], dict)):
            # What a table with names and kinds holds is told by the library.
            if hasattr(X, "columns"):
                validate_data(self, X, reset=reset, skip_check_array=True)
            return table
        least = 2 if reset else 1
        return validate_data(
            self, X, reset=reset, accept_sparse=True, ensure_all_finite="allow-nan", ensure_min_samples=least
        )

    def _remember(self, table: Any, X: Table, times: Floats | None = None) -> Self:
        threshold, _ = _threshold.of_scores(self.contamination, self._score(table), times)
        self.offset_ = -threshold
        self._seen = seen(X)
        return self

    def _loaded(self) -> None:
        self.offset_ = -_threshold.of_model(self.contamination, self._model)

    def _ordinary(self) -> float:
        self._fitted()
        return -self.offset_

    def __sklearn_tags__(self) -> Tags:
        return tags("outlier_detector")
