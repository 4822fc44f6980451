"""Explanations add up, and are shown safely."""

import html
import html.parser
import os
import re

import matplotlib
import numpy as np
import pandas as pd
import pytest
from conftest import QUICK

import diad

matplotlib.use("Agg")


@pytest.fixture(scope="module", params=[diad.DIAD, diad.DIADOutlierDetector])
def fitted(request, mixed):
    return request.param(**QUICK).fit(mixed)


@pytest.fixture(scope="module")
def scores(fitted, mixed):
    return fitted._score(mixed)


def test_terms_add_up_to_the_score(fitted, mixed, scores):
    terms = fitted.eval_terms(mixed)
    assert terms.shape == (len(mixed), len(fitted.term_names_))
    # Within the rounding of what is added up.
    added = np.abs(terms).sum(axis=1) + abs(fitted.intercept_)
    assert (np.abs(terms.sum(axis=1) + fitted.intercept_ - scores) <= 1e-6 * np.maximum(added, 1)).all()


def test_terms_have_names_columns_and_importances(fitted):
    names, features, importances = fitted.term_names_, fitted.term_features_, fitted.term_importances()
    assert len(names) == len(features) == len(importances)
    for name, columns in zip(names, features):
        assert name == " × ".join(fitted.column_names_[column] for column in columns)
    assert (importances >= 0).all() and importances.max() > 0
    assert "job" in names and any(len(columns) == 2 for columns in features)


def test_global_data_and_tables(fitted):
    explanation = fitted.explain_global()
    data = explanation.data()
    assert data["names"] == fitted.term_names_
    np.testing.assert_array_equal(data["scores"], fitted.term_importances())
    frame = explanation.to_pandas()
    assert list(frame.columns) == ["term", "importance"] and frame["importance"].is_monotonic_decreasing
    assert len(frame) == len(data["names"])
    for key in (0, "job", len(data["names"]) - 1):
        shape = explanation.data(key)
        assert shape["scores"].shape == tuple(len(values) for values in shape["values"])
        assert shape["names"] == explanation.term_names[key].split(" × ") if isinstance(key, int) else ["job"]
    assert set(explanation.data("job")["words"][0]) == {"baker", "clerk", "nurse"}
    for wrong in ("nothing", -2, 10_000):
        with pytest.raises(LookupError):
            explanation.data(wrong)


def test_a_shape_is_what_rows_get(fitted, mixed):
    """The line of a column, looked up at a row's value, is that row's contribution."""
    term = fitted.term_names_.index("job")
    shape = fitted.explain_global().data("job")
    by_word = dict(zip(shape["words"][0], shape["scores"]))
    contributions = fitted.eval_terms(mixed)[:, term]
    np.testing.assert_allclose(contributions, [by_word[job] for job in mixed["job"]], atol=1e-6)


def test_local_data_and_tables(fitted, mixed, scores):
    rows = mixed.tail(4)
    explanation = fitted.explain_local(rows)
    assert len(explanation) == 4
    data = explanation.data(3)
    assert data["score"] == scores[-1]
    assert sum(data["scores"]) + data["extra"]["scores"][0] == pytest.approx(scores[-1], rel=1e-6)
    amount = data["names"].index("amount")
    assert data["values"][amount] == "90000"
    assert "times the next largest" in data["standings"][amount]
    assert [d["score"] for d in explanation.data()] == list(scores[-4:])
    frame = explanation.to_pandas()
    assert list(frame.index) == list(rows.index)
    np.testing.assert_allclose(frame.drop(columns="score").sum(axis=1), frame["score"], rtol=1e-6, atol=1e-6)
    with pytest.raises(IndexError):
        explanation.data(4)


def test_missing_numbers_lie_beyond_the_axis(fitted, mixed):
    whole = fitted.explain_global()
    place, score = whole.data("amount")["missing"]
    row = mixed["amount"].isna().argmax()
    contributions = fitted.eval_terms(mixed)[row]
    assert place > 1 and score == pytest.approx(contributions[fitted.term_names_.index("amount")], abs=1e-6)
    assert whole.data("job")["missing"] is None
    axes = whole.plot("amount")
    assert axes.get_xticklabels()[-1].get_text() == "missing" and axes.patches[-1].get_height() == score


def test_plots(fitted, mixed):
    import matplotlib.pyplot as plt

    whole = fitted.explain_global()
    importances = whole.data()["scores"]
    axes = whole.plot(terms=5)
    assert len(axes.patches) == 5
    np.testing.assert_allclose([bar.get_width() for bar in axes.patches], np.sort(importances)[::-1][:5])
    line = whole.plot("amount")
    assert line.get_xlabel() == "amount"
    np.testing.assert_array_equal(line.lines[0].get_ydata(), whole.data("amount")["scores"])
    pair = next(name for name in fitted.term_names_ if " × " in name)
    assert whole.plot(pair).get_xlabel() == pair.split(" × ")[0]
    local = fitted.explain_local(mixed.tail(2))
    own = plt.subplots()[1]
    assert local.plot(1, ax=own, terms=3) is own
    widths = [bar.get_width() for bar in own.patches]
    assert len(widths) == 3 and abs(widths[0]) == pytest.approx(np.abs(local.contributions[1]).max())
    plt.close("all")


class Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_the_notebook_shows_the_report_and_nothing_gets_out():
    rows = pd.DataFrame({'"><script>alert(1)</script>': np.arange(50.0) % 7, "</iframe>": ["a&quot;>", "$x$", "<b>"] * 16 + ["a", "b"]})
    explanation = diad.DIAD(**QUICK).fit(rows).explain_local(rows.head(3))
    shown = explanation._repr_html_()
    tags = Tags()
    tags.feed(shown)
    ((tag, attributes),) = tags.seen
    assert tag == "iframe" and attributes["sandbox"] == "allow-scripts"
    assert attributes["srcdoc"] == explanation.to_html()
    assert attributes["srcdoc"].startswith("<!doctype html>") or attributes["srcdoc"].startswith("<!DOCTYPE html>")
    assert "<script>alert" not in attributes["srcdoc"]
    explanation.plot(0)


def test_counterfactuals_bring_the_row_below(fitted, mixed):
    odd = mixed.tail(1)
    found = fitted.counterfactual(odd)
    assert found
    threshold = -fitted.offset_ if hasattr(fitted, "offset_") else fitted.threshold_
    for way in found:
        changed = odd.copy()
        assert way["score"] < threshold
        if any(column.endswith(" of when") for column, *_ in way["changes"]):
            continue  # a part of a date is no column of the frame
        for column, before, after in way["changes"]:
            assert column in mixed.columns
            assert changed[column].iloc[0] == before
            changed[column] = after
        assert fitted._score(changed)[0] == pytest.approx(way["score"], abs=1e-6)
    as_row = mixed.iloc[-1]
    assert fitted.counterfactual(as_row) == found
    assert fitted.counterfactual(as_row.to_dict()) == found
    assert fitted.counterfactual(odd, threshold=1e9) == []


def test_counterfactual_of_an_array(plain):
    detector = diad.DIAD(**QUICK).fit(plain)
    for way in detector.counterfactual(plain[17]):
        changed = plain[17].copy()
        for column, before, after in way["changes"]:
            place = int(column[1:])
            assert changed[place] == before
            changed[place] = after
        assert detector.decision_function(changed.reshape(1, -1))[0] < detector.threshold_


def test_report(fitted, mixed, tmp_path):
    path = tmp_path / "report.html"
    fitted.report(path, mixed, table_name="my & table")
    page = path.read_text(encoding="utf-8")
    assert "my &amp; table" in page and "default-src 'none'" in page
    assert os.listdir(tmp_path) == ["report.html"]
    y = np.zeros(len(mixed))
    y[-1] = 1
    fitted.report(path, mixed, y, top=5, before=fitted)
    assert '"anomalies":1' in path.read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="there are 3 labels for 400 rows"):
        fitted.report(path, mixed, y[:3])
    with pytest.raises(ValueError, match="needs all labels"):
        fitted.report(path, mixed, -y)
    with pytest.raises(OSError):
        fitted.report(tmp_path / "nowhere" / "r.html", mixed)


def test_a_report_is_that_of_the_command(cli, mixed, tmp_path):
    detector = diad.DIAD(**QUICK).fit(mixed)
    detector.save(tmp_path / "m.diad")
    mixed.to_parquet(tmp_path / "t.parquet")
    cli("report", tmp_path / "m.diad", tmp_path / "t.parquet", "-o", tmp_path / "cli.html")
    detector.report(tmp_path / "own.html", mixed, model_name="m.diad", table_name="t.parquet")
    # The command takes a share of its own as the threshold, Python its contamination; changes lead below it.
    unlike = r'"threshold":[-+.e\d]+|"changes":.*?(?=,"similar")'
    own, cli = (re.sub(unlike, "", (tmp_path / name).read_text()) for name in ("own.html", "cli.html"))
    assert own == cli
