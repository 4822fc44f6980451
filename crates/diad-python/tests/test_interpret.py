"""What InterpretML and shap users expect."""

import numpy as np
import pytest
from conftest import QUICK

import diad


@pytest.fixture(scope="module")
def fitted(mixed):
    return diad.DIAD(**QUICK).fit(mixed)


def test_importances_by_both_measures(fitted):
    mean, reach = fitted.term_importances(), fitted.term_importances("min_max")
    np.testing.assert_array_equal(mean, fitted.term_importances("avg_weight"))
    whole = fitted.explain_global()
    np.testing.assert_allclose(reach, [np.ptp(whole.data(term)["scores"]) for term in range(len(mean))])
    assert (reach + 1e-9 >= mean).all()
    with pytest.raises(ValueError, match="importance_type is 'gain'"):
        fitted.term_importances("gain")


def test_interpret_shows_a_model(fitted, tmp_path):
    interpret = pytest.importorskip("interpret")
    whole = fitted.explain_global("mine")
    assert list(whole.selector["Name"]) == whole.term_names
    inner = whole.data(-1)
    assert inner["overall"]["names"] == whole.term_names
    for term, kind in enumerate(whole.feature_types):
        figure = whole.visualize(term)
        assert figure is not None
        specific = inner["specific"][term]
        if kind == "continuous":
            # The edges of bins: one more than there are scores, in ascending order.
            assert len(specific["names"]) == len(specific["scores"]) + 1
            assert (np.diff(specific["names"]) > 0).all()
        elif kind == "nominal":
            assert len(specific["names"]) == len(specific["scores"])
        else:
            sizes = []
            for axis, side in enumerate(("left_names", "right_names")):
                names = specific[side]
                sizes.append(len(names) - (0 if isinstance(names[0], str) else 1))
            assert specific["scores"].shape == tuple(sizes)
    path = tmp_path / "model.html"
    interpret.preserve(whole, file_name=str(path))
    assert "mine" in path.read_text(encoding="utf-8")


def test_interpret_draws_the_bounds(mixed, tmp_path):
    pytest.importorskip("interpret")
    detector = diad.DIAD(**QUICK).fit(mixed).estimate_uncertainty(mixed, fits=2, by="seeds")
    whole = detector.explain_global()
    for term in ("amount", "job"):
        place = whole.term_names.index(term)
        specific = whole.data(-1)["specific"][place]
        np.testing.assert_array_equal(specific["upper_bounds"], whole.data(term)["upper_bounds"])
        assert whole.visualize(place) is not None


def test_interpret_shows_rows(fitted, mixed, tmp_path):
    interpret = pytest.importorskip("interpret")
    rows = fitted.explain_local(mixed.tail(3), y=[0, 0, 1])
    assert len(rows.selector) == 3
    for row in range(3):
        assert rows.visualize(row) is not None
    path = tmp_path / "rows.html"
    interpret.preserve(rows, 2, file_name=str(path))
    assert path.stat().st_size > 1000


def test_shap_takes_contributions(fitted, mixed):
    """The recipe of docs/python.md."""
    shap = pytest.importorskip("shap")
    rows = mixed.head(5)
    values = shap.Explanation(
        values=fitted.eval_terms(rows),
        base_values=np.full(len(rows), fitted.intercept_),
        feature_names=fitted.term_names_,
    )
    np.testing.assert_allclose(values.values.sum(axis=1) + values.base_values, fitted.decision_function(rows), rtol=1e-6, atol=2e-6)


def test_plots_of_rows_and_of_two_models(fitted, mixed):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    local = fitted.explain_local(mixed.tail(2))
    axes = local.plot(1, terms=4, kind="waterfall")
    widths = [bar.get_width() for bar in axes.patches]
    assert len(widths) == 5
    assert fitted.intercept_ + sum(widths) == pytest.approx(local.scores[1], rel=1e-6)
    assert axes.patches[-1].get_x() + widths[-1] == pytest.approx(local.scores[1], rel=1e-6)
    with pytest.raises(ValueError, match="kind is 'pie'"):
        local.plot(0, kind="pie")
    y = np.full(len(mixed), -1)
    y[-1], y[:40] = 1, 0
    tuned = diad.DIAD(**QUICK).fit(mixed, y)
    whole, earlier = tuned.explain_global(), fitted.explain_global()
    both = whole.plot(terms=3, before=earlier)
    assert len(both.patches) == 6 and both.get_legend() is not None
    for term in ("amount", "job"):
        assert whole.plot(term, before=earlier).get_legend() is not None
    plt.close("all")
