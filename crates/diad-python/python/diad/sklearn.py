"""The detector by scikit-learn's conventions. Importing this module imports scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import InputTags, Tags, TargetTags
from sklearn.utils.validation import validate_data

from ._base import Base
from ._diad import hold

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self, Unpack

    from ._types import Floats, Ints, Labels, Table, TuneSettings

__all__ = ["DIADOutlierDetector"]


def tags() -> Tags:
    """What scikit-learn may expect of a detector."""
    return Tags(
        estimator_type="outlier_detector",
        target_tags=TargetTags(required=False),
        input_tags=InputTags(allow_nan=True, categorical=True, string=True),
    )


class DIADOutlierDetector(OutlierMixin, Base, BaseEstimator):
    """An anomaly detector for tables, by scikit-learn's conventions: +1 is an inlier, -1 an outlier, lower is more anomalous.

    The parameters are those of :class:`diad.DIAD`. So are the tables it takes, if they are data frames: then text becomes
    categories. Arrays must be of numbers; NaN is a missing value.

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

    def fit(self, X: Table, y: object = None) -> Self:
        """Fits the detector. y is ignored; see :meth:`tune`."""
        contamination = self.contamination
        if not 0 < contamination <= 0.5:
            raise ValueError(f"contamination is {contamination}, but it must be above 0 and at most 0.5")
        X = self._validated(X, reset=True)
        names = vars(self).get("feature_names_in_")
        self._train(X)
        if names is not None:
            self.feature_names_in_ = names
        return self._remember(X)

    def tune(
        self,
        X: Table,
        y: Labels,
        validation: tuple[Table, Labels] | None = None,
        **settings: Unpack[TuneSettings],
    ) -> Self:
        """Learns from a few labels: 1 is an anomaly, 0 a normal row, **-1 or NaN a row of which nothing is known**.

        As :meth:`diad.DIAD.tune`.
        """
        self._fitted()
        X = self._validated(X, reset=False)
        self._learn(X, y, validation, **settings)
        return self._remember(X)

    def score_samples(self, X: Table) -> Floats:
        """The scores of rows, with their sign changed: lower is more anomalous."""
        self._fitted()
        return -self._score(self._validated(X, reset=False))

    def decision_function(self, X: Table) -> Floats:
        """``score_samples`` less ``offset_``: negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Table) -> Ints:
        """-1 for outliers, +1 for all others."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        if hasattr(X, "__arrow_c_stream__") or (isinstance(X, list) and X and isinstance(X[0], dict)):
            # What a table with names and kinds holds is told by the library.
            if hasattr(X, "columns"):
                validate_data(self, X, reset=reset, skip_check_array=True)
            return hold(X)
        least = 2 if reset else 1
        return validate_data(self, X, reset=reset, ensure_all_finite="allow-nan", ensure_min_samples=least)

    def _remember(self, X: Table) -> Self:
        self.offset_ = np.percentile(-self._score(X), 100 * self.contamination)
        return self

    def _loaded(self) -> None:
        self.offset_ = -self._model.score_quantile(1 - self.contamination)

    def _ordinary(self) -> float:
        self._fitted()
        return -self.offset_

    def __sklearn_tags__(self) -> Tags:
        return tags()
