"""Which rows of a table are alerts, why, and which of them belong together."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from ._convert import threads_of

if TYPE_CHECKING:
    from ._diad import Model
    from ._types import AlertRow, Table


class Alerting:
    """Names the alerts of a table."""

    if TYPE_CHECKING:
        n_jobs: int | None

        def _fitted(self) -> Model: ...
        def _table(self, X: Table) -> Any: ...

    def alerts(self, X: Table, alert: str | None = None, *, reasons: int = 3, time: str | None = None) -> list[AlertRow]:
        """The rows of a table that are alerts, the highest score first.

        Parameters
        ----------
        X
            A table.
        alert
            The rule, as on the command line: "top=50", "share=1%", "p=0.001", "fdr=10%" or "budget=20/day". Without it, the one that is stored
            in the model's file; else "share=1%".
        reasons
            How many reasons to give for each, as sentences.
        time
            The column of times that a budget counts by; that of the model, if it has one.

        Returns
        -------
        list of dictionaries
            Each has the ``row``, its ``score``, ``percentile``, ``p_value`` and ``severity`` as ``diad score`` writes them, its ``reasons``, and as
            ``group`` what it has in common with other alerts. ``pandas.DataFrame`` takes the list.
        """
        _, note, told = self._fitted().alerts(self._table(X), alert, reasons, time, threads_of(self.n_jobs))
        if note is not None:
            warnings.warn(note, UserWarning, stacklevel=2)
        return [
            {
                "row": row,
                "score": score,
                "percentile": percentile,
                "p_value": p_value,
                "severity": severity,
                "reasons": sentences,
                "group": group,
            }
            for row, score, percentile, p_value, severity, sentences, group in told
        ]
