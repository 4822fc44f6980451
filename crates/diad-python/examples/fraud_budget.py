"""Fraud with a budget: 20 payments of each day can be looked at, and what is learned from them improves the next day.

    python fraud_budget.py

The payments are made up.
"""

import numpy as np
import pandas as pd

import diad

BUDGET = 20
# Of these, so many are drawn from the highest tenth of all scores: only who looks further learns more.
DRAWN = 8


def payments(day, rows=2000):
    """Payments of a day; about 1 in 100 is a fraud, which is unusual in some ways; other payments are unusual in other ways."""
    random = np.random.default_rng(day)
    fraud = random.random(rows) < 0.01
    hour = random.normal(14, 4, rows) % 24
    frame = pd.DataFrame(
        {
            "amount": random.gamma(4, 10, rows).round(2),
            "time": pd.Timestamp("2025-03-03") + pd.to_timedelta(24 * day + hour, unit="h"),
            "country": random.choice(["home", "neighbour", "far"], rows, p=[0.9, 0.09, 0.01]),
            "age of the account": random.exponential(900, rows).round(),
        }
    )
    # Frauds come from new accounts, at night and often from far away; large amounts are honest.
    frame.loc[fraud & (random.random(rows) < 0.5), "country"] = "far"
    frame.loc[fraud, "age of the account"] = random.exponential(15, fraud.sum()).round()
    frame.loc[fraud, "time"] = frame.loc[fraud, "time"].dt.normalize() + pd.Timedelta(hours=3)
    frame.loc[random.random(rows) < 0.01, "amount"] *= 4
    return frame, fraud.astype(int)


history, _ = payments(0)
detector = diad.DIAD(contamination=BUDGET / len(history), steps=400).fit(history)

seen, labels, found_by_day = [history], [np.full(len(history), -1)], []
for day in range(1, 6):
    today, truth = payments(day)
    scores = detector.decision_function(today)
    order = np.argsort(-scores)
    drawn = np.random.default_rng(day).choice(order[BUDGET - DRAWN : len(order) // 10], DRAWN, replace=False)
    alerts = np.concatenate([order[: BUDGET - DRAWN], drawn])
    found = int(truth[alerts].sum())
    found_by_day.append(found)
    print(f"day {day}: {found} of {truth.sum()} frauds are among the {BUDGET} alerts")
    # Someone has looked at the alerts; of all other payments nothing is known.
    verdicts = np.full(len(today), -1)
    verdicts[alerts] = truth[alerts]
    seen.append(today)
    labels.append(verdicts)
    if (np.concatenate(labels) == 1).any():
        detector.tune(pd.concat(seen, ignore_index=True), np.concatenate(labels))

print("columns that matter most:", ", ".join(detector.explain_global().to_pandas()["term"].head(3)))
assert found_by_day[-1] > 5 + found_by_day[0]
