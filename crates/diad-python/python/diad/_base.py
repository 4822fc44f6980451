"""What both detectors share: the settings, fitting and tuning, and files."""

from __future__ import annotations

import inspect
import os
import pickle
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _threshold
from ._alerts import Alerting
from ._convert import (
    columns_of,
    labels_of,
    not_fitted,
    rows_of,
    seed_of,
    threads_of,
    typed_columns,
    warn,
    weighted_rows,
)
from ._diad import Frame, Held, Model, hold, take
from ._editing import Editing
from ._explaining import Explaining
from ._progress import Progress
from ._settings import NAMES, documented, restored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from typing_extensions import Self, Unpack

    from ._types import (
        Annealing,
        Callback,
        Columns,
        Contamination,
        FeatureTypes,
        FinalSplits,
        Floats,
        Labels,
        LeafScale,
        MatchGradient,
        Path,
        Preset,
        Scale,
        Seed,
        Table,
        TuneSettings,
    )

#: Names of unknown columns that a warning has.
SHOWN = 8
#: The most columns of a term: ``interactions`` up to this is the setting, and a larger number says how many terms of two are kept.
MOST_COLUMNS = 2


class Base(Alerting, Editing, Explaining):
    """Settings are keywords; None stands for what the preset says."""

    contamination: Contamination
    preset: Preset
    random_state: Seed
    n_jobs: int | None
    verbose: bool
    callback: Callback | None
    categorical: Columns
    numeric: Columns
    ignore: Columns
    by: str | int | None
    feature_types: FeatureTypes | None
    exclude: Sequence[str | tuple[str | int, ...]]
    monotone_constraints: Sequence[int] | Mapping[str, int] | None
    _model: Model
    _untuned: Model
    _seen: Callable[[], Any]
    _counted: bytes
    n_features_in_: int
    feature_names_in_: np.ndarray[Any, np.dtype[np.object_]]
    validation_auc_: tuple[float, float]

    def __init__(
        self,
        contamination: Contamination = 0.1,
        *,
        preset: Preset = "default",
        random_state: Seed = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        categorical: Columns = (),
        numeric: Columns = (),
        ignore: Columns = (),
        by: str | int | None = None,
        feature_types: FeatureTypes | None = None,
        exclude: Sequence[str | tuple[str | int, ...]] = (),
        monotone_constraints: Sequence[int] | Mapping[str, int] | None = None,
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

    # Fitting. A fit or a tuning that fails leaves the detector as it was.

    @contextmanager
    def _whole(self) -> Iterator[None]:
        before = dict(vars(self))
        try:
            yield
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    def _train(self, X: Any, sample_weight: Any = None) -> Floats | None:
        """Fits the model to a table, without labels. Returns how often each row was learned from, if not once."""
        settings = {name: getattr(self, name) for name in NAMES}
        pairs = settings["interactions"]
        if isinstance(pairs, (list, tuple)):
            settings["interactions"] = 2 if pairs else 1
        elif whole(pairs) and (pairs == 0 or pairs > MOST_COLUMNS):
            settings["interactions"] = MOST_COLUMNS if pairs else 1
        else:
            pairs = None
        seed = seed_of(self.random_state)
        rows, learned, count = None, X, 0
        if sample_weight is not None:
            count = rows_of(X)
            rows = weighted_rows(sample_weight, count, seed)
            learned = X if rows is None else take(X, rows)
        with Progress(self.verbose, self.callback) as progress:
            fitted = Model.fit(
                learned,
                self.preset,
                settings,
                seed,
                self._roles(),
                threads_of(self.n_jobs),
                progress.step,
                # What an engine has counted of all rows of a table of which these are a sample.
                vars(self).pop("_counted", None),
            )
        self._take(*fitted)
        if self.exclude or pairs is not None or self.monotone_constraints is not None:
            self._constrain(self.exclude, pairs, self.monotone_constraints)
        return None if rows is None else np.bincount(rows, minlength=count).astype(float)

    def _roles(self) -> list[list[str | int | tuple[int, int]]]:
        """Columns to ignore, to take as categories, to take as numbers, and that of segments."""
        typed = typed_columns(self.feature_types)
        roles = ("ignore", "categorical", "numeric")
        segments = [] if self.by is None else columns_of([self.by], "by")
        return [*([*columns_of(getattr(self, role), role), *typed[role]] for role in roles), [*segments]]

    def _take(self, model: Model, width: int, named: bool) -> None:
        for name in ("feature_names_in_", "decision_scores_", "labels_", "threshold_", "validation_auc_", "_edits", "_uncertainty"):
            vars(self).pop(name, None)
        self._model = self._untuned = model
        self.n_features_in_ = width
        if named:
            self.feature_names_in_ = np.array(model.names, dtype=object)

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

        The threshold becomes that of X, and so do ``decision_scores_`` and ``labels_`` where there are any.

        Parameters
        ----------
        X, y, validation
            The rows, their labels, and other rows with theirs.
        learner : "functions" or "descent"
            How to learn: curves and grids are added to the score, or the trees are moved by Adam, as in the paper (default
            "functions", or "descent" where a loss is given).
        [settings of a tuning]

        Returns
        -------
        self

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
        _threshold.check(self.contamination)
        with self._whole():
            table = self._table(X)
            self._learn(table, y, validation, settings)
            return self._remember(table, X)

    def _learn(
        self, X: Table, y: Labels, validation: tuple[Table, Labels] | None, settings: TuneSettings
    ) -> None:
        """Tunes the model that was fitted without labels."""
        held_out = None if validation is None else (validation[0], labels_of(validation[1]))
        self._fitted()
        self._unedited("tuning")
        vars(self).pop("_uncertainty", None)
        self._model, areas = self._untuned.tune(
            X, labels_of(y), dict(settings), seed_of(self.random_state), threads_of(self.n_jobs), held_out
        )
        vars(self).pop("validation_auc_", None)
        if areas is not None:
            before, after = areas
            self.validation_auc_ = (before, after)

    def _fitted(self) -> Model:
        if "_model" not in vars(self):
            raise not_fitted(self)
        return self._model

    def _table(self, X: Table) -> Any:
        """A table to be looked at by the model, whose names have been compared with the model's."""
        model = self._fitted()
        table = hold(X)
        if isinstance(table, (Held, Frame)):
            by_position, unknown = model.strange(table.names)
            if by_position:
                warn([f"X has feature names, but {type(self).__name__} was fitted without feature names"])
            elif unknown:
                warn([unused(unknown)])
        return table

    def _score(self, X: Any) -> Floats:
        model = self._fitted()
        if "_edits" in vars(self):
            return self._terms().score(X, threads_of(self.n_jobs))
        return model.score(X, threads_of(self.n_jobs))

    def _refreshed(self) -> None:
        """Brings scores and threshold up to date after terms were edited."""
        table = self._seen() if "_seen" in vars(self) else None
        if table is None:
            warn(["the training table is not around any more, so that the threshold is that of before the edit"])
        else:
            self._remember(self._table(table), table)

    def _remember(self, table: Any, X: Table, times: Floats | None = None) -> Self:
        """Takes scores and threshold of the training rows."""
        raise NotImplementedError

    def _ordinary(self) -> float:
        """The score above which a row is an outlier."""
        raise NotImplementedError

    def _loaded(self) -> None:
        """Takes what it can from a model that was read from a file."""
        raise NotImplementedError

    # Files.

    def save(self, path: Path) -> None:
        """Writes the model file, which the ``diad`` command reads, too.

        The file holds the model, its settings and the names of its columns; not the training scores. A ``contamination`` that is
        a share, and not the usual one, becomes the model's rule for alerts, as of ``diad edit --alert share=2%``.

        Parameters
        ----------
        path
            The file to write. One that is there is replaced once the new one is whole.
        """
        self._unedited("a model file")
        usual = inspect.signature(type(self)).parameters["contamination"].default
        given = self.contamination
        share = float(cast(float, given)) if _threshold.is_share(given) and given != usual else None
        self._fitted().save(os.fspath(path), share)

    @classmethod
    def load(cls, path: Path, **parameters: Any) -> Self:
        """Reads a model file, written here or by the ``diad`` command.

        Parameters
        ----------
        path
            The file.
        **parameters
            Parameters of the class, instead of those in the file. ``contamination`` is the share of the file's rule for alerts, if
            that has one.

        Returns
        -------
        a fitted detector
            It has no ``decision_scores_`` and no ``labels_``: a file holds no training scores.
        """
        model = Model.load(os.fspath(path))
        detector = cls(**{**restored(model), **parameters})
        detector._model = detector._untuned = model
        names = model.training_names
        if names is not None:
            detector.n_features_in_ = len(names)
            if not model.plain:
                detector.feature_names_in_ = np.array(names, dtype=object)
        detector._loaded()
        return detector

    def __getstate__(self) -> dict[str, Any]:
        # Only the bytes of model files, plain values and arrays are pickled.
        state = dict(vars(self))
        state.pop("_seen", None)
        for name in ("_model", "_untuned"):
            model = state.pop(name, None)
            if model is not None and not (name == "_untuned" and model is vars(self)["_model"]):
                state[name] = (model.to_bytes(), model.names)
        if self.callback is not None and not picklable(self.callback):
            state["callback"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        for name in ("_model", "_untuned"):
            if name in state:
                state[name] = Model.from_bytes(*state[name])
        if "_model" in state:
            state.setdefault("_untuned", state["_model"])
        vars(self).update(state)


def whole(number: Any) -> bool:
    """Whether it is a whole number."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def seen(X: Any) -> Callable[[], Any]:
    """A way back to a table that does not keep it in memory."""
    try:
        return weakref.ref(X)
    except TypeError:
        return nothing


def nothing() -> None:
    """What is left of a table that cannot be found again."""


def picklable(thing: object) -> bool:
    """Whether something can be pickled; a function without a name cannot."""
    try:
        pickle.dumps(thing)
    except Exception:  # noqa: BLE001: pickling calls whatever the object does
        return False
    return True


def unused(names: list[str]) -> str:
    """What to say of columns that the model does not know."""
    quoted = ", ".join(f'"{name}"' for name in names[:SHOWN])
    more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    if len(names) == 1:
        return f"column {quoted} is not in the model and is not used"
    return f"columns {quoted}{more} are not in the model and are not used"
