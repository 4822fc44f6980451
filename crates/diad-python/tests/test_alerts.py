"""Alerts of a table, and the rule for them that a file of a model has, as the command takes it."""

from __future__ import annotations

import csv

import numpy as np
import pandas as pd
import pytest

import diad


@pytest.fixture(scope="module")
def payments():
    random = np.random.default_rng(5)
    table = pd.DataFrame({
        "amount": random.lognormal(3, 0.5, 800).round(2),
        "memo": random.choice(["rent", "food", "fuel"], 800),
        "booked": pd.Timestamp("2024-03-01") + pd.to_timedelta(np.arange(800), unit="h"),
    })
    table.loc[::160, "amount"] = 9000.0 + np.arange(5)
    table.loc[[11, 333], "memo"] = "gift"
    return table


@pytest.fixture(scope="module")
def detector(payments):
    return diad.DIAD(steps=50, trees=20).fit(payments)


def test_alerts_come_with_reasons_and_groups(detector, payments):
    alerts = detector.alerts(payments, "top=7", reasons=2)
    assert len(alerts) == 7
    scores = [alert["score"] for alert in alerts]
    assert scores == sorted(scores, reverse=True)
    assert np.allclose(scores, detector.decision_function(payments)[[alert["row"] for alert in alerts]])
    assert all(1 <= len(alert["reasons"]) <= 2 and alert["group"] for alert in alerts)
    huge = [alert for alert in alerts if alert["row"] % 160 == 0]
    assert len(huge) == 5 and len({alert["group"] for alert in huge}) == 1 and "amount" in huge[0]["group"]
    assert pd.DataFrame(alerts).shape == (7, 7)
    assert len(detector.alerts(payments, "budget=1/day")) in range(20, 35)
    with pytest.warns(UserWarning, match="calibration scores"):
        assert detector.alerts(payments, "fdr=0.01%") == []
    with pytest.raises(ValueError, match="top=50, share=1%"):
        detector.alerts(payments, "some")


@pytest.mark.parametrize("rule", ["share=2%", "p=0.01", "top=9", "fdr=40%"])
def test_a_stored_rule_means_the_same_as_to_the_command(cli, detector, payments, tmp_path, rule):
    table, model, ruled, scores = (tmp_path / name for name in ("t.csv", "m.diad", "r.diad", "s.csv"))
    payments.to_csv(table, index=False)
    detector.save(model)
    cli("edit", model, "--alert", rule, "-o", ruled)
    cli("score", ruled, table, "-o", scores)
    with open(scores, newline="") as lines:
        told = list(csv.DictReader(lines))
    expected = [row for row, line in enumerate(told) if line["alert"] == "1"]
    loaded = diad.DIAD.load(ruled, contamination="auto")
    assert np.flatnonzero(loaded.predict(payments)).tolist() == expected
    alerts = loaded.alerts(payments)
    assert sorted(alert["row"] for alert in alerts) == expected
    for alert in alerts:
        line = told[alert["row"]]
        assert [str(alert[name]) for name in ("percentile", "p_value", "severity")] == [
            line[name] for name in ("percentile", "p_value", "severity")
        ]
