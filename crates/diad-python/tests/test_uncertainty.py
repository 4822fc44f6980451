"""How sure shapes and importances are."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK

import diad

BOTH = [diad.DIAD, diad.DIADOutlierDetector]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(4)
    return pd.DataFrame({"a": random.normal(size=300), "b": random.choice(["u", "v", "w"], 300, p=[0.6, 0.3, 0.1]), "c": random.exponential(size=300)})


@pytest.mark.parametrize("kind", BOTH)
def test_bounds_are_a_deviation_over_seeds(kind, table):
    detector = kind(random_state=5, **QUICK).fit(table)
    scores = detector._score(table)
    assert detector.explain_global().data("a")["lower_bounds"] is None
    assert detector.estimate_uncertainty(table, fits=3, by="seeds") is detector
    np.testing.assert_array_equal(detector._score(table), scores)
    whole = detector.explain_global()
    others = [kind(random_state=5 + seed, **QUICK).fit(table).explain_global() for seed in (1, 2, 3)]
    for term in ("a", "c"):
        shape = whole.data(term)
        lines = [np.interp(shape["values"][0], other.data(term)["values"][0], other.data(term)["scores"]) for other in others]
        wide = shape["upper_bounds"] - shape["scores"]
        np.testing.assert_allclose(wide, shape["scores"] - shape["lower_bounds"], atol=1e-12)
        np.testing.assert_allclose(wide, np.std(lines, axis=0, ddof=1), rtol=0.05, atol=0.02)
    words = whole.data("b")["words"][0]
    by_word = [dict(zip(other.data("b")["words"][0], other.data("b")["scores"])) for other in others]
    expected = np.std([[bars[word] for word in words] for bars in by_word], axis=0, ddof=1)
    np.testing.assert_allclose(whole.data("b")["upper_bounds"] - whole.data("b")["scores"], expected, atol=1e-9)
    weights = [dict(zip(other.term_names, other.data()["scores"])) for other in others]
    expected = np.std([[weight[name] for name in whole.term_names] for weight in weights], axis=0, ddof=1)
    np.testing.assert_allclose(whole.data()["deviations"], expected, atol=1e-9)
    assert "deviation" in whole.to_pandas()
    pair = next(name for name in whole.term_names if " × " in name)
    assert whole.data(pair)["upper_bounds"].shape == whole.data(pair)["scores"].shape


def test_folds_leave_rows_out_and_labels_come_along(table):
    y = np.full(len(table), -1)
    y[:12], y[12:60] = 1, 0
    detector = diad.DIAD(**QUICK).fit(table, y)
    deviations = detector.estimate_uncertainty(table, y, fits=2).explain_global().data()["deviations"]
    assert len(deviations) == len(detector.term_names_) and (deviations > 0).any()
    for same in (pickle.loads(pickle.dumps(detector)), copy.deepcopy(detector)):
        np.testing.assert_array_equal(same.explain_global().data()["deviations"], deviations)
    # What was estimated of another model is forgotten.
    assert detector.scale_term("a", 0.5).explain_global().data()["deviations"] is None
    with pytest.raises(ValueError, match="does not know of edited terms"):
        detector.estimate_uncertainty(table, y, fits=2)
    detector.fit(table).estimate_uncertainty(table, fits=2)
    assert detector.fit(table).explain_global().data()["deviations"] is None


def test_wrong_parameters_are_told(table):
    detector = diad.DIAD(**QUICK)
    with pytest.raises(ValueError, match="not fitted"):
        detector.estimate_uncertainty(table)
    detector.fit(table)
    with pytest.raises(ValueError, match="by is 'rows'"):
        detector.estimate_uncertainty(table, by="rows")
    with pytest.raises(ValueError, match="fits is 1"):
        detector.estimate_uncertainty(table, fits=1)
