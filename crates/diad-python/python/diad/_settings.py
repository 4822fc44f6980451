"""The settings of fits and of tunings, as the library declares them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from . import _threshold
from ._diad import FIT_SETTINGS, TUNE_SETTINGS

if TYPE_CHECKING:
    from typing import TypeVar

    from ._diad import Model
    from ._types import Described

    Documented = TypeVar("Documented")

#: The names of the settings of a fit. The seed is given as ``random_state``.
NAMES = [setting[0] for setting in FIT_SETTINGS]


def listed(settings: list[Described]) -> str:
    """Settings as the section of a docstring lists them."""
    lines = []
    for name, kind, default, paper, allowed, text in settings:
        notes = [f"default {default}", *([] if paper is None else [f"paper {paper}"]), *([] if allowed is None else [allowed])]
        lines += [f"{name} : {kind}", f"    {text} ({'; '.join(notes)})."]
    return "\n".join(lines)


def documented(item: Documented) -> Documented:
    """Lists the settings in a docstring where ``[settings of a fit]`` or ``[settings of a tuning]`` stands."""
    if item.__doc__:
        text = inspect.cleandoc(item.__doc__)
        text = text.replace("[settings of a fit]", listed(FIT_SETTINGS))
        item.__doc__ = text.replace("[settings of a tuning]", listed(TUNE_SETTINGS))
    return item


def restored(model: Model) -> dict[str, Any]:
    """The parameters a model was fitted with: its preset, its seed, the settings that are not the preset's, and more."""
    found = {name.replace("-", "_"): value for name, value in model.settings}
    seed = int(found.pop("seed", "0"))
    presets: dict[str, dict[str, Any]] = {"default": {}, "paper": {}}
    for name, kind, default, paper, _, _ in FIT_SETTINGS:
        value = valued(found.get(name, default), kind)
        for preset, plain in (("default", default), ("paper", default if paper is None else paper)):
            if value != valued(plain, kind):
                presets[preset][name] = value
    preset = min(presets, key=lambda preset: len(presets[preset]))
    parameters = presets[preset]
    if preset != "default":
        parameters["preset"] = preset
    if seed:
        parameters["random_state"] = seed
    if model.by is not None:
        parameters["by"] = model.by
    share = model.alert_share
    if share is not None and share <= _threshold.MOST_SHARE:
        parameters["contamination"] = share
    return parameters


def valued(text: str, kind: str) -> Any:
    """A setting as Python has it."""
    if kind == "int":
        return int(text)
    return float(text) if kind == "float" else text.strip('"')
