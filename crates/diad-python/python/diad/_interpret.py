"""Explanations as InterpretML has them, so that ``interpret.show`` and ``interpret.preserve`` take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._explain import GlobalExplanation, LocalExplanation
    from ._types import Floats, Shape


def edges(values: Floats) -> Floats:
    """The edges of bins around values in ascending order: halfway between two, and the outermost values themselves."""
    return np.concatenate([values[:1], (values[1:] + values[:-1]) / 2, values[-1:]])


def binned(shape: Shape, axis: int) -> list[Any]:
    """What InterpretML names along an axis: categories, or the edges of bins."""
    return list(shape["words"][axis]) if shape["categorical"][axis] else edges(shape["values"][axis]).tolist()


def of_shape(shape: Shape, reach: tuple[float, float]) -> dict[str, Any]:
    """The shape of one term."""
    if shape["type"] == "interaction":
        left, right = binned(shape, 0), binned(shape, 1)
        return {"type": "interaction", "left_names": left, "right_names": right, "scores": shape["scores"], "scores_range": reach}
    density = shape["density"][0]
    if shape["categorical"][0]:
        names = list(shape["words"][0])
        spread = {"names": names, "scores": list(density)}
    else:
        low, high = shape["values"][0][[0, -1]]
        spread = {"names": np.linspace(low, high, len(density) + 1).tolist(), "scores": list(density)}
    return {
        "type": "univariate",
        "names": binned(shape, 0),
        "scores": shape["scores"],
        "scores_range": reach,
        "upper_bounds": shape["upper_bounds"],
        "lower_bounds": shape["lower_bounds"],
        "density": spread,
    }


def kind_of(shape: Shape) -> str:
    """What InterpretML calls a term."""
    if shape["type"] == "interaction":
        return "interaction"
    return "nominal" if shape["categorical"][0] else "continuous"


def selector_of_terms(explanation: GlobalExplanation, kinds: list[str]) -> Any:
    """The table from which a term is chosen."""
    import pandas

    return pandas.DataFrame({"Name": explanation.term_names, "Type": kinds, "Importance": explanation.data()["scores"]})


def of_global(explanation: GlobalExplanation) -> Any:
    """A model as an explanation of InterpretML."""
    from interpret.api.templates import FeatureValueExplanation

    shapes = [explanation.data(term) for term in range(len(explanation.term_names))]
    reach = (min(float(s["scores"].min()) for s in shapes), max(float(s["scores"].max()) for s in shapes))
    kinds = [kind_of(shape) for shape in shapes]
    overall = explanation.data()
    inner = {
        "overall": {"type": "univariate", "names": overall["names"], "scores": list(overall["scores"])},
        "specific": [of_shape(shape, reach) for shape in shapes],
        "mli": [],
    }
    return FeatureValueExplanation(
        "global",
        inner,
        # InterpretML takes a name of two columns apart at this sign.
        feature_names=[name.replace(" × ", " & ") for name in explanation.term_names],
        feature_types=kinds,
        name=explanation.name,
        selector=selector_of_terms(explanation, kinds),
    )


def of_local(explanation: LocalExplanation) -> Any:
    """Rows as an explanation of InterpretML."""
    import pandas
    from interpret.api.templates import FeatureValueExplanation

    specific = []
    for row in explanation.data():
        actual, predicted = np.nan if row["label"] is None else row["label"], row["score"]
        perf = {"actual": actual, "predicted": predicted, "actual_score": actual, "predicted_score": predicted}
        specific.append(
            {
                "type": "univariate",
                "names": row["names"],
                "values": row["values"],
                "scores": list(row["scores"]),
                "extra": {"names": ["Intercept"], "scores": row["extra"]["scores"], "values": [1]},
                "perf": perf,
            }
        )
    selector = pandas.DataFrame({"Row": range(len(explanation)), "Score": explanation.scores})
    inner = {"overall": None, "specific": specific, "mli": []}
    return FeatureValueExplanation(
        "local", inner, feature_names=explanation.term_names, feature_types=None, name=explanation.name, selector=selector
    )
