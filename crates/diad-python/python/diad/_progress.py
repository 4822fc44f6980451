"""Tells how far a fit is."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Progress:
    """Calls the user's callback after each step, and writes a line to standard error now and then."""

    def __init__(self, verbose: bool, callback: Callable[..., object] | None) -> None:
        self._verbose, self._callback = verbose, callback
        self._shown = 0.0
        # Without a listener the fit does not come back to the interpreter after each step.
        self.step = self._step if verbose or callback is not None else None

    def _step(self, step: int, steps: int, loss: float, temperature: float) -> None:
        if self._callback is not None:
            self._callback(step=step, steps=steps, loss=loss, temperature=temperature)
        now = time.monotonic()
        if self._verbose and (step == steps or now - self._shown > 0.1):
            self._shown = now
            print(f"\rTraining {100 * step // steps:3d} %  loss {loss:.4f}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            print(file=sys.stderr)
