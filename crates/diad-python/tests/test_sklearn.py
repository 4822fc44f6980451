"""scikit-learn's conventions."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import sklearn
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
#: A fit draws batches by the place of a row, so that the same rows in another order give another model. That whole weights are
#: repetitions is tested below; scikit-learn's check changes the order of the rows, too, and its IsolationForest fails it as well.
ORDER = {
    f"check_sample_weight_equivalence_on_{kind}_data": "the model depends on the order of the rows" for kind in ("dense", "sparse")
}
#: What scikit-learn asks of its own kinds of estimators, of which one by PyOD's conventions is none.
OF_PYOD = {
    **ORDER,
    "check_n_features_in_after_fitting": "the sentence is the library's own",
    "check_estimators_empty_data_messages": "the sentence is the library's own",
    "check_fit2d_1sample": "the sentence is the library's own",
    "check_fit2d_predict1d": "the sentence is the library's own",
    "check_estimator_sparse_array": "predict_proba has two columns whatever y, as PyOD's has",
    "check_estimator_sparse_matrix": "predict_proba has two columns whatever y, as PyOD's has",
}


@pytest.mark.parametrize("settings", [QUICK, {**QUICK, "preset": "paper", "contamination": 0.3}])
def test_every_check_of_scikit_learn_passes(settings):
    results = check_estimator(diad.DIADOutlierDetector(**settings), on_fail=None, on_skip=None, expected_failed_checks=ORDER)
    names = {"passed": [], "failed": [], "skipped": [], "xfail": []}
    for result in results:
        names[result["status"]].append(result["check_name"])
    assert not names["failed"] and set(names["xfail"]) <= set(ORDER)
    # Only what is not checked of any estimator unless a variable of SciPy is set.
    assert set(names["skipped"]) <= SKIPPED
    # As many checks as scikit-learn makes of its own detectors of this kind.
    reference = check_estimator(IsolationForest(n_estimators=2), on_fail=None, on_skip=None)
    theirs = {result["check_name"] for result in reference if "nan_inf" not in result["check_name"]}
    assert theirs <= set(names["passed"]) | SKIPPED | set(ORDER)


class Unlabelled(diad.DIAD):
    """Ignores y, which is of three classes in scikit-learn's checks."""

    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X, sample_weight=sample_weight)


def test_the_checks_of_scikit_learn_on_the_class_of_pyod():
    results = check_estimator(Unlabelled(**QUICK), on_fail=None, on_skip=None, expected_failed_checks=OF_PYOD)
    failed = {result["check_name"]: str(result["exception"])[:200] for result in results if result["status"] == "failed"}
    assert not failed
    # What is expected to fail does.
    assert {result["check_name"] for result in results if result["status"] == "xfail"} == set(OF_PYOD)
    assert sum(result["status"] == "passed" for result in results) > 30


def test_whole_weights_are_repetitions(plain, mixed):
    random = np.random.default_rng(0)
    for table in (plain, mixed, scipy.sparse.csr_array(np.where(np.abs(plain) > 1, plain, 0)), pl.from_pandas(mixed)):
        rows = table.shape[0]
        weights = random.integers(0, 4, rows)
        order = np.repeat(np.arange(rows), weights)
        repeated = table.iloc[order] if hasattr(table, "iloc") else table[order]
        weighted = diad.DIAD(**QUICK).fit(table, sample_weight=weights)
        alone = diad.DIAD(**QUICK).fit(repeated)
        assert weighted._model.to_bytes() == alone._model.to_bytes()
        assert weighted.threshold_ == pytest.approx(alone.threshold_)
        assert len(weighted.decision_scores_) == rows
    same = diad.DIAD(**QUICK).fit(plain)._model.to_bytes()
    for constant in (np.ones(len(plain)), np.full(len(plain), 0.25), 3.0):
        assert diad.DIAD(**QUICK).fit(plain, sample_weight=constant)._model.to_bytes() == same


def test_other_weights_are_drawn():
    from diad._convert import weighted_rows

    weights = np.random.default_rng(0).random(1000)
    counts = np.bincount(weighted_rows(weights, 1000, 5), minlength=1000)
    assert counts.sum() == 1000
    assert (np.abs(counts - weights / weights.sum() * 1000) < 1).all()
    X = np.random.default_rng(1).normal(size=(400, 2))
    X[:200] += 8
    heavy = diad.DIADOutlierDetector(**QUICK).fit(X, sample_weight=np.where(np.arange(400) < 200, 0.01, 1.5))
    assert heavy.score_samples(X[:200]).mean() < heavy.score_samples(X[200:]).mean()
    for wrong in ([1.0], np.full(400, np.nan), -np.ones(400), np.zeros(400)):
        with pytest.raises(ValueError, match="sample_weight"):
            diad.DIAD(**QUICK).fit(X, sample_weight=wrong)


def test_weights_are_routed(plain):
    weights = np.arange(len(plain)) % 3
    expected = diad.DIADOutlierDetector(**QUICK).fit(StandardScaler().fit_transform(plain), sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        detector = diad.DIADOutlierDetector(**QUICK).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), detector).fit(plain, sample_weight=weights)
    np.testing.assert_array_equal(pipeline.score_samples(plain), expected.score_samples(StandardScaler().fit_transform(plain)))


def test_sparse_tables_are_those_of_their_numbers(plain):
    numbers = np.where(np.abs(plain) > 0.7, plain, 0)
    expected = diad.DIAD(**QUICK).fit(numbers)._model.to_bytes()
    for form in ("csr", "csc", "coo", "lil", "dok"):
        for kind in ("matrix", "array"):
            sparse = getattr(scipy.sparse, f"{form}_{kind}")(numbers)
            assert diad.DIAD(**QUICK).fit(sparse)._model.to_bytes() == expected
    assert diad.DIADOutlierDetector(**QUICK).fit(scipy.sparse.csr_array(numbers))._model.to_bytes() == expected
    twice = scipy.sparse.csr_array((np.array([1.0, 2.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 5))
    detector = diad.DIAD(**QUICK).fit(numbers)
    np.testing.assert_array_equal(detector.decision_function(twice), detector.decision_function(twice.toarray()))


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
