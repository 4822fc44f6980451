"""The plots of ``_plot`` by Altair, which is imported when one is drawn. Charts carry their own data and need nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import altair
import numpy as np

from ._plot import CROWDED, MOST_CATEGORIES, SAMPLE, SLANTED, VERDICTS

if TYPE_CHECKING:
    from ._drift import ThresholdCurve
    from ._types import Floats

#: Colours of what raises and what lowers a score, of an earlier model, and of how rows are spread.
RAISES, LOWERS, EARLIER, SPREAD = "#d62728", "#1f77b4", "#8c8c8c", "#e0e0e0"
#: The colours of verdicts, which matplotlib knows by other names.
SHADES = dict(zip(VERDICTS, ("#b3b3b3", "#bcbd22", "#ff7f0e", RAISES), strict=True))
#: Width and height, in points.
SIZE = {"width": 420, "height": 280}
#: The longest label, in points.
LABEL = 240


def chart(rows: list[dict[str, Any]]) -> Any:
    """A chart of rows."""
    data: Any = altair.Data
    return altair.Chart(data(values=rows))


def plainly(value: Any) -> float:
    """A number as JSON has it."""
    return float(value)


def finished(layers: list[Any], title: str, **size: Any) -> Any:
    """Layers as one chart."""
    return altair.layer(*layers, title=title).properties(**{**SIZE, **size})


def named(name: str, order: list[str], title: str | None = None) -> Any:
    """An axis of names from top to bottom."""
    return altair.Y(f"{name}:N", sort=order, title=title, axis=altair.Axis(labelLimit=LABEL))


def distinct(names: list[str]) -> list[str]:
    """Names of which each is there once."""
    return [name if names.index(name) == place else f"{name} ({place + 1})" for place, name in enumerate(names)]


def high(names: list[str]) -> dict[str, int]:
    """The height of a chart with so many bars."""
    return {"height": max(80, 24 * len(names))}


def raised(column: str) -> Any:
    """The colour of what raises and of what lowers a score."""
    return altair.condition(f"datum['{column}'] > 0", altair.value(RAISES), altair.value(LOWERS))


def bars(
    ax: None, names: list[str], values: Floats, label: str, title: str, deviations: Floats | None = None
) -> Any:
    """Bars from left to right, the first at the top."""
    names = distinct(names)
    spread = np.zeros(len(names)) if deviations is None else deviations
    rows = [
        {"name": name, "value": plainly(value), "low": plainly(value - one), "high": plainly(value + one)}
        for name, value, one in zip(names, values, spread, strict=True)
    ]
    base = chart(rows).encode(y=named("name", names))
    tip = ["name:N", altair.Tooltip("value:Q", title=label, format=".4g")]
    layers = [base.mark_bar().encode(x=altair.X("value:Q", title=label), color=raised("value"), tooltip=tip)]
    if deviations is not None:
        layers.append(base.mark_rule(color="#333").encode(x=altair.X("low:Q", title=label), x2="high:Q"))
    return finished(layers, title, **high(names))


def both(rows: list[dict[str, Any]], title: str) -> Any:
    """The colour of an earlier and of a later model."""
    return altair.Color(
        "model:N", title=title, sort=["before", "after"], scale=altair.Scale(domain=["before", "after"], range=[EARLIER, RAISES])
    )


def before_after(ax: None, names: list[str], before: dict[str, Any], after: Floats, title: str) -> Any:
    """Importances of an earlier model and of this one."""
    earlier = dict(zip(before["names"], before["scores"], strict=True))
    rows = [{"name": name, "model": "before", "value": plainly(earlier.get(name, 0.0))} for name in names]
    rows += [{"name": name, "model": "after", "value": plainly(value)} for name, value in zip(names, after, strict=True)]
    layer = chart(rows).mark_bar().encode(
        y=named("name", names),
        yOffset=altair.YOffset("model:N", sort=["before", "after"]),
        x=altair.X("value:Q", title="mean |contribution|"),
        color=both(rows, "model"),
        tooltip=["name:N", "model:N", altair.Tooltip("value:Q", format=".4g")],
    )
    return finished([layer], title, height=max(100, 36 * len(names)))


def waterfall(ax: None, names: list[str], values: Floats, ends: tuple[float, float, float | None], title: str) -> Any:
    """From the constant part at the top to the score at the bottom, term by term."""
    start, score, threshold = ends
    steps = np.append(values, score - start - values.sum())
    labels = distinct([*names, "all other terms"])
    lefts = start + np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    rows = [
        {"name": name, "from": plainly(left), "to": plainly(left + step), "step": plainly(step), "text": f"{step:+.3g}", "end": plainly(max(left, left + step))}
        for name, left, step in zip(labels, lefts, steps, strict=True)
    ]
    base = chart(rows).encode(y=named("name", labels))
    scale = altair.Scale(zero=False, nice=True, padding=30)
    across = altair.X("from:Q", title="score", scale=scale)
    layers = [
        base.mark_bar().encode(x=across, x2="to:Q", color=raised("step"), tooltip=["name:N", altair.Tooltip("step:Q", format=".4g")]),
        base.mark_text(align="left", dx=3, fontSize=10).encode(x=altair.X("end:Q", title="score", scale=scale), text="text:N"),
        chart([{"x": plainly(start)}]).mark_rule(color="#888", strokeDash=[2, 2]).encode(x=altair.X("x:Q", title="score", scale=scale)),
    ]
    if threshold is not None:
        mark = chart([{"x": plainly(threshold), "text": "threshold"}]).encode(x=altair.X("x:Q", title="score", scale=scale))
        layers += [mark.mark_rule(strokeDash=[5, 3]), mark.mark_text(align="left", dx=4, y=-6).encode(text="text:N")]
    return finished(layers, title, **high(labels))


def shape_of_one(ax: None, data: dict[str, Any], before: dict[str, Any] | None = None) -> Any:
    """A term of one column, over how the training rows are spread."""
    return categories(data, before) if data["categorical"][0] else line(data, before)


def line(data: dict[str, Any], before: dict[str, Any] | None) -> Any:
    name, positions = data["names"][0], data["positions"][0]
    density = data["density"][0]
    parts = np.linspace(0, 1, len(density) + 1)
    most = max(float(np.max(density)), 1e-9)
    marks = [(plainly(place), text) for place, text in data["ticks"][0]]
    if data["missing"] is not None:
        marks.append((plainly(data["missing"][0]), "missing"))
    words = {f"{place:.6f}": text for place, text in marks}
    label = f"{json.dumps(words)}[format(datum.value, '.6f')]"
    top = max(1.0, marks[-1][0] + 0.03 if marks else 1.0)
    across = altair.X(
        "x:Q",
        title=name,
        scale=altair.Scale(domain=[-0.01, top], nice=False),
        axis=altair.Axis(values=[place for place, _ in marks], labelExpr=label, grid=False),
    )
    spread = [
        {"x": plainly(low), "end": plainly(up), "share": plainly(share), "floor": 0.0}
        for low, up, share in zip(parts[:-1], parts[1:], density, strict=True)
    ]
    back = chart(spread).mark_bar(color=SPREAD).encode(
        x=across, x2="end:Q", y=altair.Y("share:Q", axis=None, scale=altair.Scale(domain=[0, 1.05 * most])), y2="floor:Q"
    )
    up = altair.Y("score:Q", title="contribution")
    words_at = data["words"][0]
    points = [
        {"x": plainly(x), "score": plainly(score), "value": word, "model": "after"}
        for x, score, word in zip(positions, data["scores"], words_at, strict=True)
    ]
    front: list[Any] = [chart([{"y": 0.0}]).mark_rule(color="black", strokeWidth=0.8).encode(y=altair.Y("y:Q", title="contribution"))]
    if data["lower_bounds"] is not None:
        band = [
            {"x": plainly(x), "low": plainly(low), "high": plainly(up)}
            for x, low, up in zip(positions, data["lower_bounds"], data["upper_bounds"], strict=True)
        ]
        front.append(chart(band).mark_area(color=RAISES, opacity=0.2).encode(x=across, y=altair.Y("low:Q", title="contribution"), y2="high:Q"))
    tip = [altair.Tooltip("value:N", title=name), altair.Tooltip("score:Q", title="contribution", format=".4g")]
    if before is not None:
        points += [
            {"x": plainly(x), "score": plainly(score), "value": word, "model": "before"}
            for x, score, word in zip(before["positions"][0], before["scores"], before["words"][0], strict=True)
        ]
    drawn = chart(points).mark_line(point=len(positions) <= 16).encode(x=across, y=up, tooltip=tip)
    front.append(drawn.encode(color=both(points, "model")) if before is not None else drawn.encode(color=altair.value(RAISES)))
    if data["missing"] is not None:
        place, score = data["missing"]
        alone = [{"x": plainly(place - 0.02), "end": plainly(place + 0.02), "score": plainly(score), "floor": 0.0}]
        front.append(chart(alone).mark_bar(color=RAISES).encode(x=across, x2="end:Q", y=up, y2="floor:Q"))
    return finished([back, altair.layer(*front)], name).resolve_scale(y="independent")


def categories(data: dict[str, Any], before: dict[str, Any] | None) -> Any:
    """A bar for each category, most frequent first, over the share of rows that have it."""
    name, words = data["names"][0], data["words"][0][:MOST_CATEGORIES]
    scores, density = data["scores"][: len(words)], np.asarray(data["density"][0])[: len(words)]
    long = len(words) > SLANTED or any(len(word) > 10 for word in words)
    angle, size = (-90, 8) if len(words) > CROWDED else (-35 if long else 0, 10)
    axis = altair.Axis(labelLimit=LABEL, labelAngle=angle, labelFontSize=size)
    across = altair.X("word:N", sort=list(words), title=name, axis=axis)
    spread = [{"word": word, "share": plainly(share)} for word, share in zip(words, density, strict=True)]
    most = max(float(density.max()), 1e-9)
    back = chart(spread).mark_bar(color=SPREAD, width={"band": 0.9}).encode(
        x=across, y=altair.Y("share:Q", axis=None, scale=altair.Scale(domain=[0, 1.05 * most]))
    )
    up = altair.Y("score:Q", title="contribution")
    rows = [{"word": word, "score": plainly(score), "model": "after"} for word, score in zip(words, scores, strict=True)]
    tip = [altair.Tooltip("word:N", title=name), altair.Tooltip("score:Q", title="contribution", format=".4g")]
    front: list[Any] = [chart([{"y": 0.0}]).mark_rule(color="black", strokeWidth=0.8).encode(y=altair.Y("y:Q", title="contribution"))]
    if before is not None:
        known = dict(zip(before["words"][0], before["scores"], strict=True))
        rows += [{"word": word, "score": plainly(known.get(word, 0.0)), "model": "before"} for word in words]
        split = altair.XOffset("model:N", sort=["before", "after"])
        front.append(chart(rows).mark_bar().encode(x=across, xOffset=split, y=up, color=both(rows, "model"), tooltip=tip))
    else:
        front.append(chart(rows).mark_bar(width={"band": 0.5}).encode(x=across, y=up, color=raised("score"), tooltip=tip))
    if data["lower_bounds"] is not None and before is None:
        bounds = [
            {"word": word, "low": plainly(low), "high": plainly(high)}
            for word, low, high in zip(words, data["lower_bounds"], data["upper_bounds"], strict=False)
        ]
        front.append(chart(bounds).mark_rule(color="#333").encode(x=across, y=altair.Y("low:Q", title="contribution"), y2="high:Q"))
    more = len(data["words"][0]) - len(words)
    title = f"{name} (and {more} more)" if more > 0 else name
    return finished([back, altair.layer(*front)], title).resolve_scale(y="independent")


def surface(ax: None, data: dict[str, Any]) -> Any:
    """A term of two columns, as a map; categories have cells of the same size."""
    largest = float(np.abs(data["scores"]).max()) or 1.0
    ends = [cells(data, axis) for axis in (0, 1)]
    rows = [
        {
            "x": x, "x2": x2, "y": y, "y2": y2, "score": plainly(data["scores"][i, j]),
            "first": data["words"][0][i], "second": data["words"][1][j],
        }
        for i, (x, x2) in enumerate(ends[0])
        for j, (y, y2) in enumerate(ends[1])
    ]
    kinds = zip((altair.X, altair.Y), ("x", "y"), (0, 1), strict=True)
    across, up = (kind(f"{letter}:Q", title=data["names"][axis], **marked(data, axis)) for kind, letter, axis in kinds)
    colour = altair.Color("score:Q", title="contribution", scale=altair.Scale(scheme="redblue", reverse=True, domain=[-largest, largest], domainMid=0))
    tip = [
        altair.Tooltip("first:N", title=data["names"][0]),
        altair.Tooltip("second:N", title=data["names"][1]),
        altair.Tooltip("score:Q", title="contribution", format=".4g"),
    ]
    layer = chart(rows).mark_rect().encode(x=across, x2="x2:Q", y=up, y2="y2:Q", color=colour, tooltip=tip)
    return finished([layer], " × ".join(data["names"]))


def cells(data: dict[str, Any], axis: int) -> list[tuple[float, float]]:
    """Where the cells of an axis begin and end."""
    if data["categorical"][axis]:
        return [(place - 0.5, place + 0.5) for place in range(len(data["words"][axis]))]
    at = np.asarray(data["positions"][axis])
    middles = (at[1:] + at[:-1]) / 2
    edges = np.concatenate([[at[0]], middles, [at[-1]]])
    return [(plainly(low), plainly(high)) for low, high in zip(edges[:-1], edges[1:], strict=True)]


def marked(data: dict[str, Any], axis: int) -> dict[str, Any]:
    """The scale of an axis and its marks."""
    words = data["words"][axis]
    if data["categorical"][axis]:
        marks: list[tuple[float, str]] = [(float(place), word) for place, word in enumerate(words)]
        domain = [-0.5, len(words) - 0.5]
    else:
        marks, domain = [(plainly(place), text) for place, text in data["ticks"][axis]], [0.0, 1.0]
    words_at = {f"{place:.6f}": text for place, text in marks}
    label = f"{json.dumps(words_at)}[format(datum.value, '.6f')]"
    ends = cells(data, axis)
    domain = [min(domain[0], ends[0][0]), max(domain[1], ends[-1][1])]
    # Along the bottom, names of categories are slanted, upright where they are many.
    crowded = data["categorical"][axis] and len(words) > CROWDED
    slanted = data["categorical"][axis] and axis == 0 and (len(words) > SLANTED or any(len(word) > 10 for word in words))
    turned: dict[str, Any] = {"labelAngle": -90 if crowded else -35, "labelOverlap": False} if slanted else {}
    if crowded:
        turned["labelFontSize"] = 7
    return {
        "scale": altair.Scale(domain=domain, nice=False, zero=False),
        "axis": altair.Axis(values=[place for place, _ in marks], labelExpr=label, grid=False, labelLimit=LABEL, **turned),
    }


def drift(ax: None, of: str, shown: list[dict[str, Any]], title: str) -> Any:
    """Shifts of terms with their intervals, or the shares of rows that lie elsewhere."""
    terms = of == "terms"
    names = distinct([one["term" if terms else "column"] for one in shown])
    rows = [
        {"name": name, "change": one["verdict"]}
        | ({"value": one["shift"], "low": one["interval"][0], "high": one["interval"][1]} if terms else {"value": 100 * one["moved"]})
        for name, one in zip(names, shown, strict=True)
    ]
    present = [verdict for verdict in SHADES if any(row["change"] == verdict for row in rows)]
    colour = altair.Color("change:N", scale=altair.Scale(domain=present, range=[SHADES[verdict] for verdict in present]))
    base = chart(rows).encode(y=named("name", names), color=colour)
    tip = ["name:N", "change:N", altair.Tooltip("value:Q", format=".3g")]
    if not terms:
        layers = [base.mark_bar().encode(x=altair.X("value:Q", title="rows that lie elsewhere, in %"), tooltip=tip)]
        return finished(layers, title, **high(names))
    across = "shift of the mean, in standard deviations of the training"
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=altair.X("low:Q", title=across), x2="high:Q"),
        base.mark_circle(size=60, opacity=1).encode(x=altair.X("value:Q", title=across), tooltip=tip),
        chart([{"x": 0.0}]).mark_rule(color="black", strokeWidth=0.8).encode(x=altair.X("x:Q", title=across)),
    ]
    return finished(layers, title, **high(names))


def threshold_curve(ax: None, curve: ThresholdCurve) -> Any:
    """The share of rows at or above each threshold, and precision and recall."""
    kept = np.unique(np.linspace(0, len(curve.thresholds) - 1, min(SAMPLE, len(curve.thresholds))).astype(int))
    measures: dict[str, Any] = {"share of rows": curve.shares}
    if curve.precision is not None and curve.recall is not None:
        measures |= {"precision": curve.precision, "recall": curve.recall}
    rows = [
        {"score": plainly(curve.thresholds[place]), "value": 100 * plainly(values[place]), "measure": name}
        for name, values in measures.items()
        for place in kept
    ]
    alone = len(measures) == 1
    up = altair.Y("value:Q", title="rows that are outliers, in %" if alone else "%", scale=altair.Scale(type="log" if alone else "linear"))
    colour = altair.Color(
        "measure:N", title=None, scale=altair.Scale(domain=list(measures), range=[LOWERS, RAISES, "#2ca02c"][: len(measures)])
    )
    across = "score from which on rows are outliers"
    drawn = chart(rows).mark_line(interpolate="step-before").encode(
        x=altair.X("score:Q", title=across, scale=altair.Scale(zero=False)), y=up, color=altair.value(LOWERS) if alone else colour, order="score:Q"
    )
    mark = chart([{"x": plainly(curve.threshold), "text": "threshold"}]).encode(x=altair.X("x:Q", title=across))
    layers = [drawn, mark.mark_rule(strokeDash=[5, 3]), mark.mark_text(align="left", dx=4, y=-6).encode(text="text:N")]
    return finished(layers, "Outliers by threshold")
