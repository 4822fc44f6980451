"""Terms are removed, scaled and bent, and scores stay their sum."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import QUICK

import diad


@pytest.fixture
def fitted(mixed):
    return diad.DIAD(**QUICK).fit(mixed)


def adds_up(detector, table):
    terms = detector.eval_terms(table)
    assert terms.shape[1] == len(detector.term_names_) == len(detector.term_importances())
    np.testing.assert_allclose(terms.sum(axis=1) + detector.intercept_, detector.decision_function(table), rtol=1e-6, atol=1e-6)


def test_terms_are_removed(fitted, mixed):
    whole = fitted.eval_terms(mixed)
    names = fitted.term_names_
    pair = next(name for name in names if " × " in name)
    fitted.remove_terms(["job", tuple(reversed(pair.split(" × ")))])
    assert fitted.term_names_ == [name for name in names if name not in ("job", pair)]
    kept = [names.index(name) for name in fitted.term_names_]
    np.testing.assert_array_equal(fitted.eval_terms(mixed), whole[:, kept])
    adds_up(fitted, mixed)
    np.testing.assert_array_equal(fitted.decision_scores_, fitted.decision_function(mixed))
    assert fitted.labels_.sum() == 40
    assert pair not in fitted.explain_global().term_names
    assert fitted.explain_local(mixed.head(2)).contributions.shape == (2, len(kept))
    with pytest.raises(KeyError, match="there is no term 'job'"):
        fitted.remove_terms("job")


def test_terms_are_scaled(fitted, mixed):
    before = fitted.eval_terms(mixed)
    place = fitted.term_names_.index("amount")
    shape = fitted.explain_global().data("amount")
    importance = fitted.term_importances()[place]
    fitted.scale_term("amount", 0.5).scale_term(place, 0.5)
    after = fitted.eval_terms(mixed)
    np.testing.assert_allclose(after[:, place], before[:, place] / 4)
    np.testing.assert_array_equal(np.delete(after, place, axis=1), np.delete(before, place, axis=1))
    np.testing.assert_allclose(fitted.explain_global().data("amount")["scores"], shape["scores"] / 4)
    assert fitted.term_importances()[place] == pytest.approx(importance / 4)
    adds_up(fitted, mixed)
    with pytest.raises(ValueError, match="factor is inf"):
        fitted.scale_term("amount", np.inf)


def test_what_hardly_matters_is_swept_out(fitted, mixed):
    importances = fitted.term_importances()
    middle = float(np.median(importances))
    fitted.sweep(middle)
    assert len(fitted.term_names_) == (importances > middle).sum()
    adds_up(fitted, mixed)


@pytest.mark.parametrize("increasing", [True, False])
def test_a_term_becomes_monotone(increasing):
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 2))
    detector = diad.DIAD(**QUICK).fit(X).monotonize("x0", increasing=increasing)
    along = np.column_stack([np.linspace(-9, 9, 2001), np.zeros(2001)])
    place = detector.term_names_.index("x0")
    line = detector.eval_terms(along)[:, place]
    inside = np.abs(along[:, 0]) < np.abs(X[:, 0]).min() + 2
    steps = np.diff(line[inside])
    assert (steps >= -1e-9).all() if increasing else (steps <= 1e-9).all()
    assert np.ptp(line[inside]) > 0.01
    adds_up(detector, X)
    adds_up(detector, along)
    curve = detector.explain_global().data("x0")["scores"]
    assert (np.diff(curve) >= 0).all() if increasing else (np.diff(curve) <= 0).all()


def test_only_numbers_become_monotone(fitted):
    for term in ("job", next(name for name in fitted.term_names_ if " × " in name)):
        with pytest.raises(ValueError, match="is not a column of numbers"):
            fitted.monotonize(term)


def test_copies_are_edited_apart(fitted, mixed):
    copy = fitted.copy().remove_terms("job")
    assert "job" in fitted.term_names_ and "job" not in copy.term_names_
    back = pickle.loads(pickle.dumps(copy))
    np.testing.assert_array_equal(back.decision_function(mixed), copy.decision_scores_)
    assert (copy.decision_scores_ != fitted.decision_scores_).any()


def test_what_knows_nothing_of_edits_says_so(fitted, mixed, tmp_path):
    fitted.scale_term("amount", 0.5)
    for call in (
        lambda: fitted.save(tmp_path / "m.diad"),
        lambda: fitted.report(tmp_path / "r.html", mixed),
        lambda: fitted.counterfactual(mixed.tail(1)),
        lambda: fitted.tune(mixed, np.arange(len(mixed)) % 50 == 0),
        lambda: fitted.explain_local(mixed.head(1)).to_html(),
    ):
        with pytest.raises(ValueError, match="does not know of edited terms"):
            call()
    fitted.fit(mixed).save(tmp_path / "m.diad")


def test_an_edit_without_the_training_table_says_so(mixed):
    detector = diad.DIAD(**QUICK).fit(mixed.copy())
    with pytest.warns(UserWarning, match="the training table is not around any more"):
        detector.remove_terms("job")


@pytest.mark.parametrize("kind", [diad.DIAD, diad.DIADOutlierDetector])
def test_terms_may_be_asked_for_at_the_fit(kind, mixed):
    detector = kind(interactions=[("amount", "count"), (2, "city")], exclude=["new", ("job", "city")], **QUICK).fit(mixed)
    pairs = {name for name in detector.term_names_ if " × " in name}
    assert pairs <= {"amount × count"} and "new" not in detector.term_names_
    adds_up(detector, mixed) if kind is diad.DIAD else None
    for none in ([], 0):
        alone = kind(interactions=none, **QUICK).fit(mixed)
        assert not [name for name in alone.term_names_ if " × " in name]
    plain, three = kind(**QUICK).fit(mixed), kind(interactions=3, **QUICK).fit(mixed)
    importances = dict(zip(plain.term_names_, plain.term_importances()))
    pairs = sorted((name for name in importances if " × " in name), key=lambda name: -importances[name])
    assert {name for name in three.term_names_ if " × " in name} == set(pairs[:3]) and len(pairs) > 3
    with pytest.raises(ValueError, match="there is no column 'nothing'"):
        kind(exclude=["nothing"], **QUICK).fit(mixed)
    with pytest.raises(ValueError, match="there is no column 17"):
        kind(interactions=[(0, 17)], **QUICK).fit(mixed)


def test_a_score_only_rises_in_a_constrained_column():
    X = np.random.default_rng(1).normal(size=(400, 3))
    detector = diad.DIAD(monotone_constraints=[1, 0, -1], **QUICK).fit(X)
    inside = [np.linspace(*np.percentile(X[:, column], [1, 99]), 300) for column in range(3)]
    for row in X[:20]:
        for column, sign in ((0, 1), (2, -1)):
            moved = np.repeat(row[None], 300, axis=0)
            moved[:, column] = inside[column]
            assert (sign * np.diff(detector.decision_function(moved)) >= -1e-6).all()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    same = diad.DIAD(monotone_constraints={"a": 1, "c": -1}, **QUICK).fit(frame)
    np.testing.assert_allclose(same.decision_scores_, detector.decision_scores_)
    with pytest.raises(ValueError, match="monotone_constraints has 2 for column 0"):
        diad.DIAD(monotone_constraints=[2], **QUICK).fit(X)


def test_json_has_every_term(fitted, mixed, tmp_path):
    text = fitted.to_json(tmp_path / "terms.json", indent=1)
    assert (tmp_path / "terms.json").read_text(encoding="utf-8") == text
    whole = json.loads(text)
    assert [term["name"] for term in whole["terms"]] == fitted.term_names_
    assert whole["intercept"] == fitted.intercept_
    job = next(term for term in whole["terms"] if term["name"] == "job")
    by_word = dict(zip(job["axes"][0]["words"], job["scores"]))
    contributions = fitted.eval_terms(mixed)[:, fitted.term_names_.index("job")]
    np.testing.assert_allclose(contributions, [by_word[word] for word in mixed["job"]], atol=1e-6)


def test_isotonic_regression_is_scikit_learns():
    from sklearn.isotonic import isotonic_regression

    from diad._terms import isotonic

    random = np.random.default_rng(2)
    for size in (1, 2, 50):
        scores, weight = random.normal(size=size), random.random(size) + 0.01
        np.testing.assert_allclose(isotonic(scores, weight), isotonic_regression(scores, sample_weight=weight))
