"""Plots by matplotlib, which is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from matplotlib.axes import Axes

    from ._types import Floats


def axes_of(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]


def plain(text: str) -> str:
    """Text from the data, in which matplotlib must not look for formulas."""
    return text.replace("$", r"\$")


def bars(ax: Axes | None, names: list[str], values: Floats, label: str, title: str) -> Axes:
    """Bars from left to right, the first at the top; red raises the score and blue lowers it."""
    ax = axes_of(ax)
    places = np.arange(len(names))[::-1]
    ax.barh(places, values, color=["tab:red" if value > 0 else "tab:blue" for value in values])
    ax.set_yticks(places, [plain(name) for name in names])
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel(label)
    ax.set_title(plain(title))
    return ax


def lines(ax: Axes | None, data: dict[str, Any]) -> Axes:
    """A term of one column, over how the training rows are spread."""
    ax = axes_of(ax)
    positions, scores = data["positions"][0], data["scores"]
    density = data["density"][0]
    edges = np.linspace(0, 1, len(density) + 1)
    behind = ax.twinx()
    behind.bar(edges[:-1], density, np.diff(edges), align="edge", color="0.9")
    behind.set_yticks([])
    ax.set_zorder(behind.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.plot(positions, scores, "o-" if len(positions) <= 16 else "-", color="tab:red", markersize=4)
    ax.axhline(0, color="black", linewidth=0.8)
    marks = data["ticks"][0]
    if data["missing"] is not None:
        place, score = data["missing"]
        ax.bar(place, score, 0.04, color="tab:red")
        marks = [*marks, (place, "missing")]
    ticks(ax.set_xticks, marks)
    ax.set_xlabel(plain(data["names"][0]))
    ax.set_ylabel("contribution")
    return ax


def surface(ax: Axes | None, data: dict[str, Any]) -> Axes:
    """A term of two columns."""
    ax = axes_of(ax)
    largest = np.abs(data["scores"]).max() or 1.0
    x, y = data["positions"]
    mesh = ax.pcolormesh(x, y, data["scores"].T, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="nearest")
    ax.figure.colorbar(mesh, ax=ax, label="contribution")
    ticks(ax.set_xticks, data["ticks"][0])
    ticks(ax.set_yticks, data["ticks"][1])
    ax.set_xlabel(plain(data["names"][0]))
    ax.set_ylabel(plain(data["names"][1]))
    return ax


def ticks(setter: Any, marks: list[tuple[float, str]]) -> None:
    setter([position for position, _ in marks], [plain(label) for _, label in marks])
