"""A stage of pipelines: an estimator whose model is an ordinary model file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)

from .._diad import Model as Trained
from .._engine import bytes_of
from ._fit import ROWS, fit
from ._score import score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from .._engine import AnyModel

#: The model file in the folder of a stage.
FILE = "model.diad"


class Asked(Params):  # type: ignore[misc]
    """What is asked for beside the scores."""

    id: Param[str] = Param(Params._dummy(), "id", "the column that names the rows", TypeConverters.toString)
    reasons: Param[int] = Param(Params._dummy(), "reasons", "how many reasons each row has", TypeConverters.toInt)
    alert: Param[str] = Param(Params._dummy(), "alert", "which rows are alerts, such as share=1%", TypeConverters.toString)

    def _ask(self, **given: Any) -> None:
        self._set(**{name: value for name, value in given.items() if value is not None})

    def _asked(self, name: str) -> Any:
        return self.getOrDefault(name) if self.isSet(name) else None


class DIADEstimator(Asked, Estimator, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """:func:`diad.spark.fit` as a stage of a pipeline.

    Parameters
    ----------
    id, reasons, alert
        As :func:`diad.spark.score` takes them.
    rows
        About how many rows the sample has.
    **settings
        Those of :class:`diad.DIAD`.
    """

    rows: Param[int] = Param(Params._dummy(), "rows", "about how many rows the sample has", TypeConverters.toInt)
    settings: Param[dict[str, Any]] = Param(Params._dummy(), "settings", "settings of the fit")

    def __init__(
        self, id: str | None = None, reasons: int = 0, alert: str | None = None, rows: int = ROWS, **settings: Any
    ) -> None:
        super().__init__()
        self._ask(id=id, reasons=reasons, alert=alert, rows=rows, settings=settings)

    def _fit(self, dataset: DataFrame) -> DIADModel:
        settings = self.getOrDefault("settings")
        detector = fit(dataset, id=self._asked("id"), rows=self.getOrDefault("rows"), **settings)
        asked = {name: self._asked(name) for name in ("id", "reasons", "alert")}
        return DIADModel(detector, **asked)


class DIADModel(Asked, Model, MLReadable, MLWritable):  # type: ignore[misc]
    """:func:`diad.spark.score` with all columns kept, as a stage of a pipeline.

    It is saved as a folder with the parameters and ``model.diad``, an ordinary model file.

    Parameters
    ----------
    model
        A model file, its bytes, or a fitted detector.
    id, reasons, alert
        As :func:`diad.spark.score` takes them.
    """

    def __init__(
        self, model: AnyModel = b"", id: str | None = None, reasons: int | None = None, alert: str | None = None
    ) -> None:
        super().__init__()
        self.model = bytes_of(model)
        self._ask(id=id, reasons=reasons, alert=alert)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        return score(
            dataset,
            self.model,
            id=self._asked("id"),
            keep="all",
            reasons=self._asked("reasons") or 0,
            alert=self._asked("alert"),
        )

    def write(self) -> MLWriter:
        """What saves it."""
        return Writer(self)

    @classmethod
    def read(cls) -> MLReader[DIADModel]:
        """What loads it."""
        return Reader()


class Writer(MLWriter):  # type: ignore[misc]
    """Saves a model."""

    def __init__(self, stage: DIADModel) -> None:
        super().__init__()
        self.stage = stage

    def saveImpl(self, path: str) -> None:
        folder = local(path)
        DefaultParamsWriter.saveMetadata(self.stage, path, self.sparkSession)
        os.makedirs(folder, exist_ok=True)
        Trained.from_bytes(self.stage.model).save(os.path.join(folder, FILE))


class Reader(MLReader):  # type: ignore[misc]
    """Loads a model."""

    def load(self, path: str) -> DIADModel:
        metadata = DefaultParamsReader.loadMetadata(path, self.sparkSession)
        stage = DIADModel(os.path.join(local(path), FILE))
        stage._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(stage, metadata)
        return stage


def local(path: str) -> str:
    """A path of this machine."""
    parts = urlparse(path)
    if parts.scheme not in ("", "file"):
        raise ValueError(f"{path} is not on a file system of this machine, where model files are; save the stage to a mounted folder")
    return unquote(parts.path) if parts.scheme else path


# Saved stages name the place where users find the classes.
DIADEstimator.__module__ = DIADModel.__module__ = "diad.spark"
