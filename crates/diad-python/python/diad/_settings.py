"""The settings of fits and of tunings, as the library declares them."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from ._diad import FIT_SETTINGS, TUNE_SETTINGS

if TYPE_CHECKING:
    from typing import TypeVar

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
