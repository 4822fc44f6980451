"""Plots by matplotlib and by Altair: what is drawn is what the data say."""

import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import QUICK

import diad

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(scope="module")
def fitted(mixed):
    return diad.DIAD(contamination=0.05, **QUICK).fit(mixed)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def drawings(fitted, mixed):
    """Every kind of plot: a name, and what draws it with these parameters."""
    y = np.full(len(mixed), -1)
    y[-1], y[:40] = 1, 0
    tuned = diad.DIAD(**QUICK).fit(mixed, y)
    sure = fitted.copy().estimate_uncertainty(mixed, fits=2, by="seeds")
    pairs = {frozenset(name.split(" × ")): name for name in fitted.term_names_ if " × " in name}
    rows, drift = fitted.explain_local(mixed.tail(2)), fitted.drift(mixed.assign(amount=mixed["amount"] * 3))
    yield "importances", lambda **more: fitted.explain_global().plot(**more)
    yield "importances with bounds", lambda **more: sure.explain_global().plot(terms=5, **more)
    yield "before and after", lambda **more: tuned.explain_global().plot(before=fitted.explain_global(), **more)
    for term in ("amount", "job", "city"):
        yield f"shape of {term}", lambda term=term, **more: sure.explain_global().plot(term, **more)
        yield f"{term} before and after", lambda term=term, **more: tuned.explain_global().plot(term, before=fitted.explain_global(), **more)
    for pair in (("amount", "count"), ("amount", "job"), ("job", "city")):
        if name := pairs.get(frozenset(pair)):
            yield name, lambda name=name, **more: fitted.explain_global().plot(name, **more)
    yield "row", lambda **more: rows.plot(1, **more)
    yield "waterfall", lambda **more: rows.plot(1, kind="waterfall", **more)
    yield "drift of terms", lambda **more: drift.plot(**more)
    yield "drift of columns", lambda **more: drift.plot("columns", **more)
    yield "thresholds", lambda **more: fitted.threshold_curve().plot(**more)
    yield "thresholds with labels", lambda **more: fitted.threshold_curve(mixed, y).plot(**more)


def test_matplotlib_draws_all_of_them(fitted, mixed, tmp_path):
    for number, (name, draw) in enumerate(drawings(fitted, mixed)):
        axes = draw()
        axes.figure.savefig(tmp_path / f"{number}.png", dpi=40)
        assert axes.get_title(), name
        own = plt.subplots()[1]
        assert draw(ax=own) is own, name
        plt.close("all")


def test_altair_draws_all_of_them(fitted, mixed):
    pytest.importorskip("altair")
    for name, draw in drawings(fitted, mixed):
        chart = draw(backend="altair").to_dict()
        assert chart["title"] and chart["layer"], name
        with pytest.raises(ValueError, match="ax is for matplotlib"):
            draw(ax=object(), backend="altair")
        with pytest.raises(ValueError, match="backend is 'gnuplot'"):
            draw(backend="gnuplot")


def test_text_from_the_data_is_no_code(fitted):
    """Marks of axes are texts in an expression of Vega."""
    pytest.importorskip("altair")
    odd = "'] + alert(1) + ['\\"
    table = pd.DataFrame({odd: np.random.default_rng(0).choice([odd, "b$x$"], 200), "n": np.random.default_rng(1).normal(size=200)})
    whole = diad.DIAD(**QUICK).fit(table).explain_global()
    for term in whole.term_names:
        whole.plot(term, backend="altair").to_dict()
        whole.plot(term).figure.canvas.draw()


def test_bounds_are_drawn(fitted, mixed):
    sure = fitted.copy().estimate_uncertainty(mixed, fits=2, by="seeds").explain_global()
    band = sure.plot("amount").collections[0].get_paths()[0].vertices[:, 1]
    shape = sure.data("amount")
    assert band.max() == pytest.approx(shape["upper_bounds"].max()) and band.min() == pytest.approx(shape["lower_bounds"].min())


def test_drift_is_that_of_the_command(fitted, mixed, cli, tmp_path):
    import json

    moved = mixed.assign(count=mixed["count"] + 3)
    drift = fitted.drift(moved)
    fitted.save(tmp_path / "m.diad")
    moved.to_parquet(tmp_path / "t.parquet")
    cli("drift", tmp_path / "m.diad", tmp_path / "t.parquet", "--format", "json", "-o", tmp_path / "d.json")
    theirs = json.loads((tmp_path / "d.json").read_text(encoding="utf-8"))
    assert drift.verdict == theirs["verdict"] == "large"
    assert [one["verdict"] for one in drift.data()["columns"]] == [one["verdict"] for one in theirs["columns"]]
    assert drift.to_pandas()["term"][0] in repr(drift)
    assert drift.to_pandas("columns")["column"][0] == "count"
    assert fitted.drift(mixed).verdict == "same"
    with pytest.raises(ValueError, match="of is 'rows'"):
        drift.to_pandas("rows")


def test_thresholds_are_those_of_scikit_learn(fitted, mixed):
    from sklearn.metrics import precision_recall_curve

    y = (np.arange(len(mixed)) % 7 == 0).astype(int)
    curve = fitted.threshold_curve(mixed, y)
    frame = curve.to_pandas().iloc[::-1]
    precision, recall, thresholds = precision_recall_curve(y, fitted.decision_scores_)
    np.testing.assert_allclose(frame["threshold"], thresholds)
    np.testing.assert_allclose(frame["precision"], precision[:-1])
    np.testing.assert_allclose(frame["recall"], recall[:-1])
    assert list(frame["alerts"]) == [(fitted.decision_scores_ >= one).sum() for one in thresholds]
    assert repr(fitted.threshold_curve()) == f"<ThresholdCurve: {fitted.labels_.sum()} rows above {fitted.threshold_:.4g}>"
    with pytest.raises(ValueError, match="3 labels for 400 rows"):
        fitted.threshold_curve(mixed, [1, 0, 0])
    other = diad.DIADOutlierDetector(**QUICK).fit(mixed)
    with pytest.raises(ValueError, match="give a table"):
        other.threshold_curve()
    assert len(other.threshold_curve(mixed).alerts) > 300
