"""Plots by matplotlib, which is imported when one is drawn. ``_charts`` has the same by Altair."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from ._convert import rows_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._detector import DIAD
    from ._drift import ThresholdCurve
    from ._types import Floats, Table

#: Colours of what raises and what lowers a score, of an earlier model, and of how rows are spread.
RAISES, LOWERS, EARLIER, SPREAD = "tab:red", "tab:blue", "0.55", "0.88"
#: Categories beyond which their names are slanted, upright, and those that are drawn at most.
SLANTED, CROWDED, MOST_CATEGORIES = 5, 15, 30
#: Characters of a name in one line.
WIDTH = 28
#: Rows that stand for a whole table.
SAMPLE = 2000


def drawer(backend: str, ax: Axes | None) -> Any:
    """The module that draws."""
    if backend == "matplotlib":
        from . import _plot

        return _plot
    if backend != "altair":
        raise ValueError(f"backend is {backend!r}, but it must be 'matplotlib' or 'altair'")
    if ax is not None:
        raise ValueError("ax is for matplotlib; leave it out where Altair draws")
    from . import _charts

    return _charts


def axes_of(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    own: Axes = plt.subplots(layout="constrained")[1]
    return own


def plain(text: str) -> str:
    """Text from the data, in which matplotlib must not look for formulas."""
    return text.replace("$", r"\$")


def wrapped(text: str) -> str:
    """Text from the data in lines, shortened where it is very long."""
    short = text if len(text) <= 4 * WIDTH else text[: 4 * WIDTH - 1] + "…"
    return plain("\n".join(textwrap.wrap(short, WIDTH)) or short)


def colours(values: Floats) -> list[str]:
    return [RAISES if value > 0 else LOWERS for value in values]


def bars(
    ax: Axes | None, names: list[str], values: Floats, label: str, title: str, deviations: Floats | None = None
) -> Axes:
    """Bars from left to right, the first at the top; red raises the score and blue lowers it."""
    ax = axes_of(ax)
    places = np.arange(len(names))[::-1]
    ax.barh(places, values, color=colours(values), xerr=deviations, ecolor="0.3", capsize=2)
    ax.set_yticks(places, [wrapped(name) for name in names])
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set_xlabel(label)
    ax.set_title(plain(title))
    return ax


def before_after(ax: Axes | None, names: list[str], before: dict[str, Any], after: Floats, title: str) -> Axes:
    """Importances of an earlier model and of this one."""
    ax = axes_of(ax)
    earlier = dict(zip(before["names"], before["scores"], strict=True))
    places = np.arange(len(names))[::-1]
    ax.barh(places + 0.2, [earlier.get(name, 0.0) for name in names], 0.4, color=EARLIER, label="before")
    ax.barh(places - 0.2, after, 0.4, color=RAISES, label="after")
    ax.set_yticks(places, [wrapped(name) for name in names])
    ax.set_xlabel("mean |contribution|")
    ax.set_title(plain(title))
    ax.legend(loc="lower right")
    return ax


def waterfall(
    ax: Axes | None, names: list[str], values: Floats, ends: tuple[float, float, float | None], title: str
) -> Axes:
    """From the constant part at the top to the score at the bottom, term by term."""
    ax = axes_of(ax)
    start, score, threshold = ends
    rest = score - start - values.sum()
    steps = np.append(values, rest)
    labels = [*names, "all other terms"]
    lefts = start + np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    places = np.arange(len(labels))[::-1]
    ax.barh(places, steps, left=lefts, color=colours(steps))
    for place, left, step in zip(places[:-1], lefts, steps, strict=False):
        ax.plot([left + step] * 2, [place + 0.4, place - 1.4], color="0.5", linewidth=0.6)
    for place, left, step in zip(places, lefts, steps, strict=True):
        ax.annotate(f"{step:+.3g}", (max(left, left + step), place), (3, 0), textcoords="offset points", va="center", fontsize=8)
    ax.axvline(start, color="0.5", linewidth=0.8, linestyle=":")
    if threshold is not None:
        ax.axvline(threshold, color="black", linewidth=0.8, linestyle="--", label="threshold")
        ax.legend(loc="best")
    # Room for the numbers beside the bars.
    low, high = min(lefts.min(), (lefts + steps).min()), max(lefts.max(), (lefts + steps).max())
    low, high = (low, high) if threshold is None else (min(low, threshold), max(high, threshold))
    ax.set_xlim(low - 0.04 * (high - low), high + 0.16 * (high - low))
    ax.set_yticks(places, [wrapped(label) for label in labels])
    ax.set_xlabel("score")
    ax.set_title(plain(title))
    return ax


def shape_of_one(ax: Axes | None, data: dict[str, Any], before: dict[str, Any] | None = None) -> Axes:
    """A term of one column, over how the training rows are spread."""
    ax = categories(ax, data, before) if data["categorical"][0] else line(ax, data, before)
    ax.axhline(0, color="black", linewidth=0.8)
    ax.set_title(plain(data["names"][0]))
    ax.set_xlabel(plain(data["names"][0]))
    ax.set_ylabel("contribution")
    return ax


def behind(ax: Axes, places: Any, shares: Floats, widths: Any, align: Any) -> None:
    """How the training rows are spread, as bars behind everything else."""
    back = ax.twinx()
    back.bar(places, shares, widths, align=align, color=SPREAD)
    back.set_yticks([])
    back.set_ylim(0, 1.05 * max(float(np.max(shares)), 1e-9))
    ax.set_zorder(back.get_zorder() + 1)
    ax.patch.set_visible(False)


def line(ax: Axes | None, data: dict[str, Any], before: dict[str, Any] | None) -> Axes:
    ax = axes_of(ax)
    positions, scores, density = data["positions"][0], data["scores"], data["density"][0]
    parts = np.linspace(0, 1, len(density) + 1)
    behind(ax, parts[:-1], density, np.diff(parts), "edge")
    style = "o-" if len(positions) <= 16 else "-"
    if data["lower_bounds"] is not None:
        ax.fill_between(positions, data["lower_bounds"], data["upper_bounds"], color=RAISES, alpha=0.2, linewidth=0)
    if before is not None:
        ax.plot(before["positions"][0], before["scores"], style, color=EARLIER, markersize=4, label="before")
    ax.plot(positions, scores, style, color=RAISES, markersize=4, label="after")
    if before is not None:
        ax.legend(loc="best")
    marks = data["ticks"][0]
    if data["missing"] is not None:
        place, score = data["missing"]
        ax.bar(place, score, 0.04, color=RAISES)
        marks = [*marks, (place, "missing")]
    ticks(ax.set_xticks, marks)
    return ax


def categories(ax: Axes | None, data: dict[str, Any], before: dict[str, Any] | None) -> Axes:
    """A bar for each category, most frequent first, over the share of rows that have it."""
    ax = axes_of(ax)
    words, scores, density = data["words"][0], data["scores"], np.asarray(data["density"][0])
    shown = min(len(words), MOST_CATEGORIES)
    places = np.arange(shown)
    behind(ax, places, density[:shown], 0.9, "center")
    if before is None:
        spread = None if data["lower_bounds"] is None else (data["upper_bounds"] - scores)[:shown]
        ax.bar(places, scores[:shown], 0.5, color=colours(scores[:shown]), yerr=spread, ecolor="0.3", capsize=3)
    else:
        known = dict(zip(before["words"][0], before["scores"], strict=True))
        ax.bar(places - 0.2, [known.get(word, 0.0) for word in words[:shown]], 0.4, color=EARLIER, label="before")
        ax.bar(places + 0.2, scores[:shown], 0.4, color=RAISES, label="after")
        ax.legend(loc="best")
    named(ax, words[:shown])
    if shown < len(words):
        ax.annotate(f"and {len(words) - shown} more", (1, 1), (-4, -4), "axes fraction", "offset points", ha="right", va="top")
    return ax


def named(ax: Axes, words: list[str]) -> None:
    """Categories along the axis, slanted where they are many or long."""
    slanted = len(words) > SLANTED or any(len(word) > 10 for word in words)
    style: Any = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    if len(words) > CROWDED:
        style = {"rotation": 90, "fontsize": 7}
    ax.set_xticks(range(len(words)), [plain(word if len(word) <= WIDTH else word[: WIDTH - 1] + "…") for word in words], **style)


def surface(ax: Axes | None, data: dict[str, Any]) -> Axes:
    """A term of two columns, as a map; categories have cells of the same size."""
    ax = axes_of(ax)
    largest = np.abs(data["scores"]).max() or 1.0
    x, y = (np.arange(len(w)) if c else p for c, w, p in zip(data["categorical"], data["words"], data["positions"], strict=True))
    mesh = ax.pcolormesh(x, y, data["scores"].T, cmap="RdBu_r", vmin=-largest, vmax=largest, shading="nearest")
    ax.figure.colorbar(mesh, ax=ax, label="contribution")
    for axis, setter in enumerate((ax.set_xticks, ax.set_yticks)):
        if not data["categorical"][axis]:
            ticks(setter, data["ticks"][axis])
        elif axis == 0:
            named(ax, data["words"][0])
        else:
            size: Any = {"fontsize": 7} if len(data["words"][1]) > CROWDED else {}
            setter(range(len(data["words"][1])), [plain(word) for word in data["words"][1]], **size)
    ax.set_title(plain(" × ".join(data["names"])))
    ax.set_xlabel(plain(data["names"][0]))
    ax.set_ylabel(plain(data["names"][1]))
    return ax


#: Colours of verdicts.
VERDICTS = {"same": "0.7", "small": "tab:olive", "moderate": "tab:orange", "large": "tab:red"}


def drift(ax: Axes | None, of: str, shown: list[dict[str, Any]], title: str) -> Axes:
    """Shifts of terms with their intervals, or the shares of rows that lie elsewhere."""
    ax = axes_of(ax)
    places = np.arange(len(shown))[::-1]
    shades = [VERDICTS[one["verdict"]] for one in shown]
    if of == "terms":
        for place, one, shade in zip(places, shown, shades, strict=True):
            low, high = one["interval"]
            ax.plot([low, high], [place, place], color=shade, linewidth=2)
            ax.plot([one["shift"]], [place], "o", color=shade)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.set_xlabel("shift of the mean, in standard deviations of the training")
    else:
        ax.barh(places, [100 * one["moved"] for one in shown], color=shades)
        ax.set_xlabel("rows that lie elsewhere, in %")
    ax.set_yticks(places, [wrapped(one["term" if of == "terms" else "column"]) for one in shown])
    ax.set_ylim(-0.6, max(len(shown), 1) - 0.4)
    for verdict in [verdict for verdict in VERDICTS if any(one["verdict"] == verdict for one in shown)]:
        ax.plot([], [], "o", color=VERDICTS[verdict], label=verdict)
    ax.legend(loc="best", title="change")
    ax.set_title(plain(title))
    return ax


def threshold_curve(ax: Axes | None, curve: ThresholdCurve) -> Axes:
    """The share of rows at or above each threshold, and precision and recall."""
    ax = axes_of(ax)
    if curve.precision is None or curve.recall is None:
        ax.step(curve.thresholds, 100 * curve.shares, where="pre", color=LOWERS)
        ax.set_yscale("log")
        ax.set_ylabel("rows that are outliers, in %")
    else:
        for values, colour, label in ((curve.shares, LOWERS, "share of rows"), (curve.precision, RAISES, "precision"), (curve.recall, "tab:green", "recall")):
            ax.step(curve.thresholds, 100 * values, where="pre", color=colour, label=label)
        ax.set_ylabel("%")
        ax.set_ylim(0, 103)
    above = int((curve.thresholds > curve.threshold).sum())
    rows = int(curve.alerts[above - 1]) if above else 0
    ax.axvline(curve.threshold, color="black", linewidth=0.8, linestyle="--", label=f"threshold: {rows:,} rows")
    ax.legend(loc="best")
    ax.set_xlabel("score from which on rows are outliers")
    ax.set_title("Outliers by threshold")
    return ax


def ticks(setter: Any, marks: list[tuple[float, str]]) -> None:
    setter([position for position, _ in marks], [plain(label) for _, label in marks])


def by_column(detector: DIAD, table: Table) -> Floats:
    """What each column the model looks at adds to scores; half of a term of two columns goes to each."""
    terms = detector.eval_terms(table)
    found = np.zeros((len(terms), len(detector.column_names_)))
    for term, columns in enumerate(detector.term_features_):
        for column in columns:
            found[:, column] += terms[:, term] / len(columns)
    return found


def outlier(
    detector: DIAD,
    ind: int,
    table: Any,
    columns: list[int] | None,
    cutoffs: list[float],
    feature_names: list[str] | None,
    file: tuple[str | None, str | None],
    ax: Axes | None,
) -> Axes:
    """What each column adds to the score of one row, and what shares of the rows do not exceed."""
    rows = rows_of(table)
    if not isinstance(ind, (int, np.integer)):
        raise TypeError(f"ind is {ind!r}, but it must be the place of a row, counted from 0")
    if not 0 <= ind < rows:
        raise IndexError(f"there is no row {ind}; the table has {rows} rows, numbered from 0")
    one = table.iloc[[ind]] if hasattr(table, "iloc") else table[ind : ind + 1]
    step = max(1, rows // SAMPLE)
    some = table.iloc[::step] if hasattr(table, "iloc") else table[::step]
    own, others = by_column(detector, one)[0], by_column(detector, some)
    places = list(range(len(own))) if columns is None else list(columns)
    names = [detector.column_names_[place] for place in places] if feature_names is None else feature_names
    score = float(detector.decision_function(one)[0])
    ax = bars(ax, names, own[places], "contribution", f"row {ind}: score {score:.3f}")
    for cutoff, style in zip(cutoffs, ("--", ":", "-."), strict=False):
        most = np.quantile(others[:, places], cutoff, axis=0)
        ax.step(np.repeat(most, 2), np.repeat(np.arange(len(names))[::-1], 2) + np.tile([0.5, -0.5], len(names)), style, color="0.4", label=f"{cutoff:g} of the rows")
    ax.legend(loc="best")
    if file[0] is not None:
        picture: Any = ax.figure
        picture.savefig(f"{file[0]}.{file[1] or 'png'}" if "." not in file[0] else file[0], dpi=150)
    return ax
