"""DIAD in Spark: scores, fits and drift of data frames, and a stage for pipelines.

Everything is done by data frames alone, so that it works with Spark Connect, too. The package must be installed where Spark's
workers run.
"""

from __future__ import annotations

from ._drift import drift
from ._fit import fit, sample
from ._pipeline import DIADEstimator, DIADModel
from ._score import score

__all__ = ["DIADEstimator", "DIADModel", "drift", "fit", "sample", "score"]
