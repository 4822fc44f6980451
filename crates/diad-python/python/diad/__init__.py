"""DIAD finds the unusual rows of a table and says exactly what their scores are made of.

>>> import numpy as np
>>> import diad
>>> x = np.arange(400) % 20
>>> X = np.column_stack([x, 2 * x]).astype(float)
>>> X[123, 1] = 100
>>> detector = diad.DIAD(contamination=0.01, steps=200, trees=50).fit(X)
>>> int(np.argmax(detector.decision_scores_))
123
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._convert import NotFittedError
from ._detector import DIAD
from ._diad import __version__
from ._drift import Drift, ThresholdCurve
from ._explain import GlobalExplanation, LocalExplanation

if TYPE_CHECKING:
    from ._types import Contamination, Path
    from .sklearn import DIADOutlierDetector

__all__ = [
    "DIAD",
    "DIADOutlierDetector",
    "Drift",
    "GlobalExplanation",
    "LocalExplanation",
    "NotFittedError",
    "ThresholdCurve",
    "__version__",
    "load",
]


def load(path: Path, contamination: Contamination | None = None) -> DIAD:
    """Reads a model file, written here or by the ``diad`` command, as a fitted :class:`DIAD`.

    The file holds the model, not the training scores: there are no ``decision_scores_`` and no ``labels_``, and ``threshold_`` is the
    score that 1 - ``contamination`` of the training rows do not exceed, as far as the model remembers. None is the share of the
    file's rule for alerts if it has one, and else 0.1.
    """
    return DIAD.load(path) if contamination is None else DIAD.load(path, contamination=contamination)


def __getattr__(name: str) -> object:
    # scikit-learn is imported only where it is asked for.
    if name == "DIADOutlierDetector":
        from .sklearn import DIADOutlierDetector

        return DIADOutlierDetector
    raise AttributeError(f"module 'diad' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
