"""The score above which a row is an outlier, by what ``contamination`` says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from ._diad import Model
    from ._types import Contamination, Floats, Ints

#: Tukey's outer fence: this many interquartile ranges above the upper quartile.
FENCE = 3.0

#: The largest share that ``contamination`` may be.
MOST_SHARE = 0.5


def check(contamination: Contamination) -> None:
    """Refuses what is no share, no "auto" and no threshold of PyOD."""
    if isinstance(contamination, str):
        if contamination != "auto":
            raise ValueError(f"contamination is {contamination!r}, but it must be a share, 'auto' or a threshold of PyOD")
    elif is_share(contamination):
        if not 0 < float(cast(float, contamination)) <= MOST_SHARE:
            raise ValueError(f"contamination is {contamination}, but it must be above 0 and at most 0.5")
    elif not (hasattr(contamination, "fit") or hasattr(contamination, "eval")):
        raise TypeError(f"contamination is {contamination!r}, but it must be a share, 'auto' or a threshold of PyOD")


def is_share(contamination: Contamination) -> bool:
    """Whether it is a number."""
    return isinstance(contamination, (int, float, np.integer, np.floating)) and not isinstance(contamination, bool)


def of_scores(contamination: Any, scores: Floats, times: Floats | None = None) -> tuple[float, Ints]:
    """The threshold and the labels of training scores, of which each counts so many times."""
    check(contamination)
    if not is_share(contamination) and contamination != "auto":
        return of_object(contamination, scores)
    counted = scores if times is None else np.repeat(scores, times.astype(np.int64))
    if contamination == "auto":
        low, high = np.percentile(counted, [25, 75])
        threshold = high + FENCE * (high - low)
    else:
        threshold = np.percentile(counted, 100 * (1 - contamination))
    labels = np.empty(len(scores), dtype=np.int64)
    # A table of truth values beside them would be one more of the largest things in memory.
    np.greater(scores, threshold, out=labels)
    return float(threshold), labels


def of_table(contamination: Any, model: Model, scores: Floats, otherwise: float) -> float:
    """The threshold for a table: that of the model, unless "auto" stands for a rule of its file that looks at all rows, such as top=50."""
    if not isinstance(contamination, str) or model.alert_threshold() is not None:
        return otherwise
    rule = model.alert_threshold(scores)
    return otherwise if rule is None else float(np.nextafter(np.float32(rule), np.float32(-np.inf)))


def of_object(thresholder: Any, scores: Floats) -> tuple[float, Ints]:
    """What an object of PyThresh, or of ``pyod.models.thresholds``, says."""
    found = thresholder.eval(scores) if not hasattr(thresholder, "fit") else thresholder.fit(scores)
    labels = np.asarray(getattr(thresholder, "labels_", found)).astype(np.int64)
    threshold = getattr(thresholder, "thresh_", None)
    if threshold is None or not np.isfinite(threshold) or labels.any() != (scores > threshold).any():
        # Some say which rows are outliers, and not from which score on: the highest score of those that are none.
        threshold = scores[labels == 0].max() if (labels == 0).any() else np.nextafter(scores.min(), -np.inf)
    return float(threshold), labels


def of_model(contamination: Any, model: Model) -> float:
    """The threshold by what a model from a file remembers of its training scores."""
    check(contamination)
    if is_share(contamination):
        return model.score_quantile(1 - contamination)
    if contamination == "auto":
        rule = model.alert_threshold()
        if rule is not None:
            # Alerts have this score or a higher one, outliers a higher one.
            return float(np.nextafter(np.float32(rule), np.float32(-np.inf)))
        low, high = model.score_quantile(0.25), model.score_quantile(0.75)
        return high + FENCE * (high - low)
    raise ValueError("a model file holds no training scores for a threshold of PyOD; give a share or 'auto' as contamination")
