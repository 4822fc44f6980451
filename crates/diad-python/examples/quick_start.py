"""Finds the unusual rows of a small table, says why, and keeps the model.

    python quick_start.py
"""

import numpy as np
import pandas as pd

import diad

# Orders of a shop. Two of them are odd: a huge amount, and a huge weight.
random = np.random.default_rng(0)
orders = pd.DataFrame(
    {
        "amount": random.normal(40, 8, 1000).round(2),
        "items": random.integers(1, 6, 1000),
        "paid by": random.choice(["card", "invoice", "cash"], 1000, p=[0.7, 0.25, 0.05]),
    }
)
orders["weight"] = (orders["items"] * random.normal(1.2, 0.05, 1000)).round(2)
orders.loc[17, "amount"] = 400.0
orders.loc[42, "weight"] = 20.0

detector = diad.DIAD(contamination=0.002).fit(orders)
print("Outliers:", *np.flatnonzero(detector.labels_))
assert set(np.flatnonzero(detector.labels_)) == {17, 42}

# A score is a sum; these are its largest parts.
explained = detector.explain_local(orders.loc[[17, 42]])
for row in range(2):
    parts = explained.data(row)
    largest = np.argsort(-parts["scores"])[:2]
    told = ", ".join(f"{parts['names'][i]} = {parts['values'][i]} ({parts['scores'][i]:+.2f})" for i in largest)
    print(f"score {parts['score']:.2f}: {told}")

# What would have made it ordinary?
for way in detector.counterfactual(orders.loc[42]):
    print("ordinary if", " and ".join(f"{name} were {to} instead of {was}" for name, was, to in way["changes"]))

detector.save("orders.diad")  # also for the command: diad score orders.diad orders.csv
detector.report("orders.html", orders, model_name="orders.diad", table_name="orders")
again = diad.load("orders.diad")
assert (again.decision_function(orders) == detector.decision_scores_).all()
