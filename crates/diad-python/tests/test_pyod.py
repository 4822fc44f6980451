"""PyOD's conventions, checked as PyOD checks its own detectors, and against its base class."""

import numpy as np
import pytest
from conftest import QUICK
from numpy.testing import assert_allclose, assert_array_equal, assert_array_less, assert_equal
from pyod.models.base import BaseDetector
from pyod.models.iforest import IForest
from pyod.models.lscp import LSCP
from pyod.utils.data import generate_data
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

import diad


@pytest.fixture(scope="module")
def data():
    return generate_data(n_train=200, n_test=100, n_features=2, contamination=0.1, random_state=42)


@pytest.fixture(scope="module")
def fitted(data):
    return diad.DIAD(contamination=0.1, **QUICK).fit(data[0])


def test_parameters(fitted):
    for name in ("decision_scores_", "labels_", "threshold_", "_mu", "_sigma"):
        assert getattr(fitted, name) is not None


def test_train_scores(fitted, data):
    assert_equal(len(fitted.decision_scores_), data[0].shape[0])
    assert_array_equal(fitted.decision_scores_, fitted.decision_function(data[0]))
    assert fitted.labels_.sum() == 20


def test_prediction_scores(fitted, data):
    scores = fitted.decision_function(data[1])
    assert_equal(scores.shape[0], data[1].shape[0])
    assert roc_auc_score(data[3], scores) >= 0.8


def test_prediction_labels(fitted, data):
    predicted = fitted.predict(data[1])
    assert_equal(predicted.shape, data[3].shape)
    assert set(predicted) == {0, 1}
    assert_array_equal(predicted, fitted.decision_function(data[1]) > fitted.threshold_)


@pytest.mark.parametrize("method", ["linear", "unify"])
def test_prediction_proba(fitted, data, method):
    probabilities, confidence = fitted.predict_proba(data[1], method=method, return_confidence=True)
    assert probabilities.min() >= 0 and probabilities.max() <= 1
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_equal(confidence.shape, data[3].shape)
    assert confidence.min() >= 0 and confidence.max() <= 1
    with pytest.raises(ValueError):
        fitted.predict_proba(data[1], method="something")


def test_results_are_those_of_the_base_class(fitted, data):
    assert_allclose(fitted.predict_proba(data[1]), BaseDetector.predict_proba(fitted, data[1]))
    for method in ("linear", "unify"):
        ours, theirs = fitted.predict_proba(data[1], method), BaseDetector.predict_proba(fitted, data[1], method)
        assert_allclose(ours, theirs, atol=1e-12)
    assert_allclose(fitted.predict_confidence(data[1]), BaseDetector.predict_confidence(fitted, data[1]), atol=1e-9)
    assert_array_equal(fitted.predict(data[1]), BaseDetector.predict(fitted, data[1]))
    assert_array_equal(fitted._predict_rank(data[1]), BaseDetector._predict_rank(fitted, data[1]))
    copy = clone(fitted)
    copy.decision_scores_, copy._model = fitted.decision_scores_, fitted._model
    BaseDetector._process_decision_scores(copy)
    for name in ("threshold_", "labels_", "_mu", "_sigma"):
        assert_array_equal(getattr(copy, name), getattr(fitted, name))


def test_fit_predict_and_score(data):
    detector = diad.DIAD(**QUICK)
    assert_array_equal(detector.fit_predict(data[0]), detector.labels_)
    assert detector.fit_predict_score(data[0], data[2]) > 0.8
    assert detector.fit_predict_score(data[0], data[2], scoring="prc_n_score") > 0.5
    with pytest.raises(NotImplementedError):
        detector.fit_predict_score(data[0], data[2], scoring="something")


def test_predict_rank(fitted, data):
    ranks = fitted._predict_rank(data[1])
    # Of rows that no training row lies between, the ranks are the same.
    assert (np.diff(ranks[np.argsort(fitted.decision_function(data[1]), kind="stable")]) >= 0).all()
    assert_array_less(ranks, data[0].shape[0] + 1)
    normalized = fitted._predict_rank(data[1], normalized=True)
    assert_array_less(normalized, 1.01)
    assert_array_less(-0.1, normalized)


def test_predict_with_rejection(fitted, data):
    rejected, stats = fitted.predict_with_rejection(data[1], return_stats=True)
    assert set(rejected) <= {-2, 0, 1}
    assert len(stats) == 3


def test_clone(fitted):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "decision_scores_")


def test_detectors_are_combined(data):
    X = data[0]
    scores = [diad.DIAD(**QUICK).fit(X).decision_scores_, IForest(random_state=0).fit(X).decision_scores_]
    assert np.corrcoef(scores)[0, 1] > 0.5
    together = LSCP([diad.DIAD(**QUICK), IForest(random_state=0)], random_state=0).fit(X)
    assert roc_auc_score(data[3], together.decision_function(data[1])) > 0.8


@pytest.mark.parametrize("contamination", [0, -0.1, 0.6])
def test_contamination_is_checked(data, contamination):
    with pytest.raises(ValueError, match="contamination is .* above 0 and at most 0.5"):
        diad.DIAD(contamination=contamination, **QUICK).fit(data[0])


def test_what_is_not_fitted_says_so(data):
    from sklearn.exceptions import NotFittedError

    for call in ("decision_function", "predict", "predict_proba", "predict_confidence", "eval_terms"):
        with pytest.raises(NotFittedError):
            getattr(diad.DIAD(), call)(data[1])


def test_a_loaded_model_predicts(fitted, data, tmp_path):
    fitted.save(tmp_path / "m.diad")
    loaded = diad.load(tmp_path / "m.diad")
    assert_array_equal(loaded.decision_function(data[1]), fitted.decision_function(data[1]))
    assert abs(loaded.threshold_ - fitted.threshold_) < 0.2 * fitted._sigma
    assert (loaded.predict(data[1]) == fitted.predict(data[1])).mean() > 0.95
    assert_allclose(loaded.predict_proba(data[1]), fitted.predict_proba(data[1]), atol=0.02)
    assert_allclose(loaded.predict_confidence(data[1]), fitted.predict_confidence(data[1]), atol=0.2)
    with pytest.raises(AttributeError, match="holds no training scores"):
        loaded.predict_proba(data[1], method="unify")


def test_a_file_holds_a_contamination_that_is_not_the_usual_one(fitted, data, tmp_path):
    fitted.save(tmp_path / "m.diad")
    assert diad.load(tmp_path / "m.diad").contamination == 0.1
    assert diad.load(tmp_path / "m.diad")._model.alert_share is None
    few = diad.load(tmp_path / "m.diad", contamination=0.01)
    assert few.contamination == 0.01
    assert few.threshold_ > diad.load(tmp_path / "m.diad").threshold_
    few.save(tmp_path / "few.diad")
    again = diad.load(tmp_path / "few.diad")
    assert (again.contamination, again.threshold_) == (0.01, few.threshold_)
    with pytest.raises(ValueError, match="contamination is 2"):
        diad.load(tmp_path / "m.diad", contamination=2)


def test_contamination_may_be_told_by_the_scores(data, tmp_path):
    detector = diad.DIAD(contamination="auto", **QUICK).fit(data[0])
    low, high = np.percentile(detector.decision_scores_, [25, 75])
    assert detector.threshold_ == pytest.approx(high + 3 * (high - low))
    assert_array_equal(detector.labels_, detector.decision_scores_ > detector.threshold_)
    assert 0 < detector.labels_.sum() < 60
    assert_equal(detector.predict_confidence(data[1]).shape, data[3].shape)
    detector.save(tmp_path / "m.diad")
    loaded = diad.load(tmp_path / "m.diad", contamination="auto")
    assert loaded.threshold_ == pytest.approx(detector.threshold_, rel=0.1)
    outliers = diad.DIADOutlierDetector(contamination="auto", **QUICK).fit(data[0])
    assert_array_equal(outliers.predict(data[0]) == -1, detector.labels_ == 1)


class Highest:
    """A threshold as PyThresh has them: the highest scores are outliers."""

    def __init__(self, thresh=None):
        self.wanted = thresh

    def fit(self, scores):
        self.labels_ = (scores >= np.sort(scores)[-7]).astype(int)
        self.thresh_ = self.wanted


def test_contamination_may_be_a_threshold_of_pyod(data, tmp_path):
    detector = diad.DIAD(contamination=Highest(), **QUICK).fit(data[0])
    assert detector.labels_.sum() == 7
    assert_array_equal(detector.predict(data[0]), detector.labels_)
    assert detector.predict_confidence(data[1]).shape == data[3].shape
    assert "Highest" in repr(detector) and clone(detector).contamination is not None
    detector.save(tmp_path / "m.diad")
    with pytest.raises(ValueError, match="give a share or 'auto'"):
        diad.load(tmp_path / "m.diad", contamination=Highest())


def test_feature_importances(data, mixed):
    detector = diad.DIAD(**QUICK).fit(data[0])
    assert detector.feature_importances_.shape == (2,)
    frame = mixed.assign(constant=1.0)
    shares = diad.DIAD(**QUICK).fit(frame).feature_importances_
    assert_allclose(shares.sum(), 1)
    assert shares.shape == (frame.shape[1],) and shares[-1] == 0 and (shares[:-1] > 0).all()


def test_explain_outlier(data, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    X = data[0].copy()
    detector = diad.DIAD(**QUICK).fit(X)
    row = int(np.argmax(detector.decision_scores_))
    axes = detector.explain_outlier(row, columns=[1, 0], feature_names=["second", "first"], file_name=str(tmp_path / "row"))
    assert [label.get_text() for label in axes.get_yticklabels()] == ["second", "first"]
    widths = [bar.get_width() for bar in axes.patches]
    assert sum(widths) + detector.intercept_ == pytest.approx(detector.decision_scores_[row], rel=1e-6)
    assert (tmp_path / "row.png").exists() and len(axes.get_legend().get_texts()) == 2
    assert detector.explain_outlier(3, data[1]).get_title().startswith("row 3")
    with pytest.raises(IndexError):
        detector.explain_outlier(10_000)
    del X
    with pytest.raises(ValueError, match="the training table is not around"):
        detector.explain_outlier(0)
