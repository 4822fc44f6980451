"""Learning from labels."""

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK
from sklearn.metrics import roc_auc_score

import diad


@pytest.fixture(scope="module")
def few(thyroid):
    """A part of the thyroid table, with few of its labels known."""
    part = thyroid.iloc[::3].reset_index(drop=True)
    X, truth = part.drop(columns="label"), part["label"].to_numpy()
    return X, truth, np.where(np.arange(len(X)) % 15 == 0, truth, -1)


def test_labels_help(few):
    X, truth, y = few
    plain = diad.DIAD(**QUICK).fit(X)
    tuned = diad.DIAD(**QUICK).fit(X, y)
    hidden = y == -1
    before, after = (roc_auc_score(truth[hidden], d.decision_scores_[hidden]) for d in (plain, tuned))
    assert after > before + 0.05
    assert tuned._model.origin == ((y == 1).sum(), (y == 0).sum())
    np.testing.assert_array_equal(tuned.labels_, tuned.decision_scores_ > tuned.threshold_)


def test_labels_of_the_other_convention_are_noticed(few):
    X, truth, _ = few
    with pytest.warns(UserWarning, match="scikit-learn's labels"):
        diad.DIAD(**QUICK).fit(X, np.where(truth == 1, -1, 1))


def test_unknown_labels_may_be_nan_or_none(few):
    X, _, y = few
    expected = diad.DIAD(**QUICK).fit(X).tune(X, y).decision_scores_
    nullable = pd.array(y, dtype="Int64")
    nullable[y == -1] = pd.NA
    for unknown in (np.where(y == -1, np.nan, y), np.where(y == -1, None, y.astype(object)), y.tolist(), y.astype("i1"), nullable):
        np.testing.assert_array_equal(diad.DIAD(**QUICK).fit(X, unknown).decision_scores_, expected)


def test_tuning_again_begins_from_the_untuned_model(few):
    X, _, y = few
    detector = diad.DIAD(**QUICK).fit(X)
    first = detector.tune(X, y).decision_scores_
    other = np.where(np.arange(len(y)) % 2, y, -1)
    detector.tune(X, other)
    np.testing.assert_array_equal(detector.tune(X, y).decision_scores_, first)
    np.testing.assert_array_equal(detector.fit(X).decision_scores_, diad.DIAD(**QUICK).fit(X).decision_scores_)


def test_a_tuned_file_cannot_be_tuned_again(few, tmp_path):
    X, _, y = few
    diad.DIAD(**QUICK).fit(X, y).save(tmp_path / "t.diad")
    with pytest.raises(ValueError, match="the model has been tuned before"):
        diad.load(tmp_path / "t.diad").tune(X, y)


def test_validation_and_settings(few):
    X, truth, y = few
    detector = diad.DIAD(**QUICK).fit(X)
    detector.tune(X, y, validation=(X[1::15], truth[1::15]))
    before, after = detector.validation_auc_
    assert 0.5 < before < 1 and after >= before - 0.05
    default = detector.tune(X, y).decision_scores_
    assert not hasattr(detector, "validation_auc_")
    assert (detector.tune(X, y, prior=5.0).decision_scores_ != default).any()
    with pytest.raises(ValueError, match="prior is -1, but it must be from 0 to 1000"):
        detector.tune(X, y, prior=-1.0)
    with pytest.raises(TypeError, match='there is no setting "priors"'):
        detector.tune(X, y, priors=1.0)
    with pytest.raises(ValueError, match="margin only applies to learner descent; remove it"):
        detector.tune(X, y, margin=1.0)
    with pytest.raises(ValueError, match='learner is "trees", but it must be "functions" or "descent"'):
        detector.tune(X, y, learner="trees")
    descended = detector.tune(X, y, learner="descent", steps=20, margin=0.0).decision_scores_
    np.testing.assert_array_equal(detector.tune(X, y, loss="auc", steps=20, margin=0.0).decision_scores_, descended)


def test_odd_labels_are_said(few):
    X, _, y = few
    detector = diad.DIAD(**QUICK).fit(X)
    with pytest.warns(UserWarning, match="the validation table has the labelled rows themselves") as said:
        detector.tune(X, y, validation=(X, y))
    assert said[0].filename == __file__
    twice, other = np.concatenate([X, X[y == 1]]), np.concatenate([y, np.zeros((y == 1).sum())])
    with pytest.warns(UserWarning, match="are identical to a row with the opposite label"):
        detector.tune(twice, other)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda y: y[:-1], ValueError, "2399 labels for 2400 rows"),
        (lambda y: y + 1, ValueError, "label 2 of row 0|is not a label"),
        (lambda y: np.zeros_like(y), ValueError, "no row is labelled as an anomaly"),
        (lambda y: np.ones_like(y), ValueError, "all labelled rows are anomalies"),
        (lambda y: y.reshape(-1, 1), ValueError, "2 dimensions"),
        (lambda y: y.astype(str), TypeError, "labels must be numbers"),
    ],
)
def test_bad_labels_are_refused(few, change, kind, message):
    X, _, y = few
    with pytest.raises(kind, match=message):
        diad.DIAD(**QUICK).fit(X, change(y))


def test_the_outlier_detector_is_tuned_with_the_same_labels(few):
    X, _, y = few
    ours = diad.DIAD(**QUICK).fit(X, y)
    theirs = diad.DIADOutlierDetector(**QUICK).fit(X).tune(X, y)
    np.testing.assert_array_equal(theirs.score_samples(X), -ours.decision_scores_)
    assert (theirs.predict(X) == -1).sum() == ours.labels_.sum()


def test_next_rows_learn_from_labels(few):
    X, truth, _ = few
    detector = diad.DIAD(**QUICK).fit(X)
    first = detector.next_rows(X, n_rows=5)
    assert [row["row"] for row in first] == sorted((row["row"] for row in first), key=lambda row: -detector.decision_scores_[row])
    y = np.full(len(X), -1)
    for _ in range(20):
        asked = [row["row"] for row in detector.next_rows(X, y, n_rows=3)]
        assert (y[asked] == -1).all()
        y[asked] = truth[asked]
    highest = np.argsort(-detector.decision_scores_)[:60]
    assert (y == 1).sum() > truth[highest].sum()
    with pytest.raises(ValueError, match="labels"):
        detector.next_rows(X, y[:-1])
