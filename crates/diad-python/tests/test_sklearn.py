"""scikit-learn's conventions."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from conftest import QUICK
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import diad

SKIPPED = {"check_array_api_input"}


@pytest.mark.parametrize("settings", [QUICK, {**QUICK, "preset": "paper", "contamination": 0.3}])
def test_every_check_of_scikit_learn_passes(settings):
    results = check_estimator(diad.DIADOutlierDetector(**settings), on_fail=None, on_skip=None)
    names = {"passed": [], "failed": [], "skipped": [], "xfail": []}
    for result in results:
        names[result["status"]].append(result["check_name"])
    assert not names["failed"] and not names["xfail"]
    # Only what is not checked of any estimator unless a variable of SciPy is set.
    assert set(names["skipped"]) <= SKIPPED
    # As many checks as scikit-learn makes of its own detectors of this kind.
    reference = check_estimator(IsolationForest(n_estimators=2), on_fail=None, on_skip=None)
    theirs = {result["check_name"] for result in reference if "sparse" not in result["check_name"]}
    theirs = {name for name in theirs if "sample_weight" not in name and "nan_inf" not in name}
    assert theirs <= set(names["passed"]) | SKIPPED


def test_signs_and_offset(plain):
    detector = diad.DIADOutlierDetector(contamination=0.05, **QUICK).fit(plain)
    scores = detector.score_samples(plain)
    np.testing.assert_array_equal(scores, -diad.DIAD(**QUICK).fit(plain).decision_scores_)
    np.testing.assert_array_equal(detector.decision_function(plain), scores - detector.offset_)
    np.testing.assert_array_equal(detector.predict(plain), np.where(scores < detector.offset_, -1, 1))
    assert (detector.predict(plain) == -1).sum() == 15
    assert np.argmin(scores) == 17


def test_pipeline_clone_and_grid_search(plain):
    y = np.zeros(len(plain), dtype=int)
    y[17:300:50] = 1
    X = plain.copy()
    X[y == 1] += 6
    pipeline = make_pipeline(StandardScaler(), diad.DIADOutlierDetector(**QUICK))
    assert set(pipeline.fit_predict(X)) == {-1, 1}
    assert clone(pipeline).get_params()["diadoutlierdetector__trees"] == 8
    auc = make_scorer(lambda labels, scores: roc_auc_score(labels, -scores), response_method="decision_function")
    search = GridSearchCV(diad.DIADOutlierDetector(**QUICK), {"trees": [4, 8]}, scoring=auc, cv=2, n_jobs=2)
    search.fit(X, y)
    assert search.best_score_ > 0.9
    assert search.best_params_["trees"] in (4, 8)


@pytest.mark.parametrize("kind", [diad.DIAD, diad.DIADOutlierDetector])
@pytest.mark.parametrize("tuned", [False, True])
def test_pickle_and_joblib(kind, tuned, mixed, tmp_path):
    detector = kind(**QUICK).fit(mixed)
    y = np.full(len(mixed), -1)
    y[-1], y[:40] = 1, 0
    if tuned:
        detector.tune(mixed, y)
    joblib.dump(detector, tmp_path / "d.joblib")
    scores = detector.decision_function(mixed)
    for copy in (pickle.loads(pickle.dumps(detector)), joblib.load(tmp_path / "d.joblib")):
        np.testing.assert_array_equal(copy.decision_function(mixed), scores)
        assert copy.get_params() == detector.get_params()
        assert list(copy.feature_names_in_) == list(mixed.columns)
        # Tuning begins from the same untuned model.
        again = copy.tune(mixed, y).decision_function(mixed)
        np.testing.assert_array_equal(again, detector.tune(mixed, y).decision_function(mixed))


def test_what_is_pickled_is_the_model_file(plain, tmp_path):
    detector = diad.DIAD(**QUICK).fit(plain)
    detector.save(tmp_path / "m.diad")
    assert (tmp_path / "m.diad").read_bytes() in pickle.dumps(detector)
    state = detector.__getstate__()
    state["_model"] = (state["_model"][0][:-1], None)
    with pytest.raises(ValueError, match="its length does not fit its header"):
        diad.DIAD().__setstate__(state)


def test_other_processes_score(plain):
    detector = diad.DIADOutlierDetector(**QUICK).fit(plain)
    parts = joblib.Parallel(n_jobs=2)(joblib.delayed(detector.score_samples)(part) for part in np.split(plain, 3))
    np.testing.assert_array_equal(np.concatenate(parts), detector.score_samples(plain))


def test_names_and_kinds_of_data_frames(mixed):
    detector = diad.DIADOutlierDetector(**QUICK).fit(mixed)
    assert list(detector.feature_names_in_) == list(mixed.columns)
    assert detector.n_features_in_ == mixed.shape[1]
    assert "job" in detector.column_names_ and "hour of when" in detector.column_names_
    with pytest.raises(ValueError, match="feature names should match"):
        detector.predict(mixed.rename(columns={"job": "trade"}))
    with pytest.raises(ValueError, match="could not convert string to float"):
        diad.DIADOutlierDetector(**QUICK).fit(mixed.astype(str).to_numpy())


def test_fit_ignores_y(plain):
    alone = diad.DIADOutlierDetector(**QUICK).fit(plain)
    with_y = diad.DIADOutlierDetector(**QUICK).fit(plain, np.where(np.arange(len(plain)) == 3, -1, 1))
    np.testing.assert_array_equal(alone.score_samples(plain), with_y.score_samples(plain))


def test_a_frame_of_numbers_is_as_an_array(plain):
    frame = pd.DataFrame(plain, columns=list("abcde"))
    by_name = diad.DIADOutlierDetector(**QUICK).fit(frame).score_samples(frame)
    np.testing.assert_array_equal(by_name, diad.DIADOutlierDetector(**QUICK).fit(plain).score_samples(plain))
