"""What both detectors share: the settings, the model, files and explanations."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING

import numpy as np

from ._convert import Asked, known_labels, labels_of, not_fitted, seed_of, threads_of, write_whole
from ._diad import Model
from ._explain import GlobalExplanation, LocalExplanation
from ._progress import Progress
from ._settings import NAMES

if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Self, Unpack

    from ._types import (
        Annealing,
        Callback,
        FinalSplits,
        Floats,
        Labels,
        LeafScale,
        MatchGradient,
        Names,
        Path,
        Preset,
        Scale,
        Seed,
        Table,
        TuneSettings,
    )


class Base:
    """Settings are keywords; None stands for what the preset says."""

    contamination: float
    preset: Preset
    random_state: Seed
    n_jobs: int | None
    verbose: bool
    callback: Callback | None
    categorical: Names
    numeric: Names
    ignore: Names
    _model: Model
    _untuned: Model
    n_features_in_: int
    feature_names_in_: np.ndarray
    validation_auc_: tuple[float, float]

    def __init__(
        self,
        contamination: float = 0.1,
        *,
        preset: Preset = "default",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        categorical: Names = (),
        numeric: Names = (),
        ignore: Names = (),
        # Settings, written by `cargo xtask settings`.
        scale: Scale | None = None,
        weight_trees: float | None = None,
        weight_tails: float | None = None,
        weight_isolation: float | None = None,
        weight_surprise: float | None = None,
        layers: int | None = None,
        trees: int | None = None,
        grove: int | None = None,
        depth: int | None = None,
        outputs: int | None = None,
        attention: int | None = None,
        feature_share: float | None = None,
        interactions: int | None = None,
        batch: int | None = None,
        steps: int | None = None,
        warmup: int | None = None,
        learning_rate: float | None = None,
        anneal: int | None = None,
        annealing: Annealing | None = None,
        min_temperature: float | None = None,
        final_splits: FinalSplits | None = None,
        match_gradient: MatchGradient | None = None,
        smoothing: float | None = None,
        damping: float | None = None,
        leaf_scale: LeafScale | None = None,
        dropout: float | None = None,
        # End of the settings.
    ) -> None:
        given = locals()
        for name in inspect.signature(Base.__init__).parameters:
            if name != "self":
                setattr(self, name, given[name])

    def _train(self, X: Table) -> None:
        """Fits the model to a table, without labels."""
        settings = {name: getattr(self, name) for name in NAMES}
        roles = [list(names) for names in (self.ignore, self.categorical, self.numeric)]
        with Progress(self.verbose, self.callback) as progress:
            fitted = Model.fit(
                X,
                self.preset,
                settings,
                seed_of(self.random_state),
                roles,
                threads_of(self.n_jobs),
                progress.step,
            )
        self._take(*fitted)

    def _take(self, model: Model, width: int, named: bool) -> None:
        for name in ("feature_names_in_", "decision_scores_", "labels_", "threshold_", "validation_auc_"):
            vars(self).pop(name, None)
        self._model = self._untuned = model
        self.n_features_in_ = width
        if named:
            self.feature_names_in_ = np.array(model.names, dtype=object)

    def _learn(
        self,
        X: Table,
        y: Labels,
        validation: tuple[Table, Labels] | None = None,
        **settings: Unpack[TuneSettings],
    ) -> None:
        """Tunes the model that was fitted without labels."""
        if validation is not None:
            validation = (validation[0], labels_of(validation[1]))
        self._fitted()
        self._model, areas = self._untuned.tune(
            X, labels_of(y), dict(settings), seed_of(self.random_state), threads_of(self.n_jobs), validation
        )
        vars(self).pop("validation_auc_", None)
        if areas is not None:
            before, after = areas
            self.validation_auc_ = (before, after)

    def _fitted(self) -> Model:
        if "_model" not in vars(self):
            raise not_fitted(self)
        return self._model

    def _score(self, X: Table) -> Floats:
        return self._fitted().score(X, threads_of(self.n_jobs))

    def _ordinary(self) -> float:
        """The score above which a row is an outlier."""
        raise NotImplementedError

    def _loaded(self) -> None:
        """Takes what it can from a model that was read from a file."""
        raise NotImplementedError

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
        return self._fitted().terms()[0]

    @property
    def term_names_(self) -> list[str]:
        """The names of the terms: a column, or two columns with × between them."""
        return [name for name, _, _ in self._fitted().terms()[1]]

    @property
    def term_features_(self) -> list[tuple[int, ...]]:
        """The columns of each term, as places in ``column_names_``."""
        return [tuple(columns) for _, columns, _ in self._fitted().terms()[1]]

    def term_importances(self) -> Floats:
        """The mean absolute contribution of each term over the training rows."""
        return np.array([importance for _, _, importance in self._fitted().terms()[1]])

    # Explanations.

    def eval_terms(self, X: Table) -> Floats:
        """What each term contributes to the score of each row: ``eval_terms(X).sum(axis=1) + intercept_`` is the score."""
        return self._fitted().contributions(X, threads_of(self.n_jobs))[0]

    def explain_global(self, name: str | None = None) -> GlobalExplanation:
        """What the model looks at: every term, its importance and its shape."""
        return GlobalExplanation(self._fitted(), name)

    def explain_local(self, X: Table, y: Labels | None = None, name: str | None = None) -> LocalExplanation:
        """What the scores of the rows of X are made of."""
        return LocalExplanation(self._fitted(), X, None if y is None else labels_of(y), name)

    def counterfactual(self, row: Any, threshold: float | None = None) -> list[dict[str, Any]]:
        """The smallest changes of one or two columns that bring the score of a row below a threshold.

        ``row`` is a table of one row, or the values of one row of an array. The threshold is that of the detector, if none is
        given. The answer is a list of dictionaries with the ``changes`` (column, from, to), the new ``score`` and the
        ``distance`` in ranges of the columns; it is empty if the row is below the threshold already or nothing was found.
        """
        if isinstance(row, dict):
            row = [row]
        elif isinstance(row, np.ndarray) and row.ndim == 1:
            row = row.reshape(1, -1)
        elif hasattr(row, "to_frame") and hasattr(row, "iloc") and getattr(row, "ndim", 2) == 1:
            row = row.to_frame().T.infer_objects()
        threshold = self._ordinary() if threshold is None else threshold
        return self._fitted().counterfactuals(row, threshold)

    def report(
        self,
        path: Path,
        X: Table,
        y: Labels | None = None,
        *,
        top: int = 1000,
        before: Base | None = None,
        model_name: str = "model",
        table_name: str = "table",
    ) -> None:
        """Writes the interactive report of a table as one HTML file: the model, its terms, and the ``top`` rows of highest score.

        ``y`` are labels of all rows, 1 for an anomaly and 0 for a normal row. ``before`` is an earlier detector of the same
        columns to compare with.
        """
        asked = Asked(top, None, model_name, table_name)
        labels = None if y is None else known_labels(y)
        html = self._fitted().report(X, asked, labels, None if before is None else before._fitted())
        write_whole(path, html)

    # Files.

    def save(self, path: Path) -> None:
        """Writes the model file, which the ``diad`` command reads, too."""
        self._fitted().save(os.fspath(path))

    @classmethod
    def load(cls, path: Path, **parameters: Any) -> Self:
        """Reads a model file, written here or by the ``diad`` command. ``parameters`` are those of the class."""
        detector = cls(**parameters)
        detector._model = detector._untuned = Model.load(os.fspath(path))
        detector._loaded()
        return detector

    def __getstate__(self) -> dict[str, Any]:
        # Only the bytes of model files, plain values and arrays are pickled.
        state = dict(vars(self))
        for name in ("_model", "_untuned"):
            model = state.pop(name, None)
            if model is not None and not (name == "_untuned" and model is vars(self)["_model"]):
                state[name] = (model.to_bytes(), model.names)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name in ("_model", "_untuned"):
            if name in state:
                state[name] = Model.from_bytes(*state[name])
        if "_model" in state:
            state.setdefault("_untuned", state["_model"])
        vars(self).update(state)
