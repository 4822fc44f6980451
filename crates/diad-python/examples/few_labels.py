"""What a few labels change: thyroid tests of 7200 people, of which 60 are labelled.

    python few_labels.py ../../diad-cli/data/thyroid.csv

Data: Thyroid Disease, Ross Quinlan, UCI Machine Learning Repository, CC BY 4.0.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import diad

table = pd.read_csv(sys.argv[1])
X, truth = table.drop(columns="label"), table["label"].to_numpy()

# A doctor looks at 60 people chosen at random. Of all others nothing is known: -1.
known = np.random.default_rng(1).choice(len(X), 60, replace=False)
y = np.full(len(X), -1)
y[known] = truth[known]


def auc(scores):
    """The chance that someone who is ill scores higher than someone who is not, among those who were not labelled."""
    ranks = pd.Series(scores[y == -1]).rank().to_numpy()
    ill = truth[y == -1] == 1
    return (ranks[ill].sum() - ill.sum() * (ill.sum() + 1) / 2) / (ill.sum() * (~ill).sum())


detector = diad.DIAD().fit(X)
before, scores_before = detector.explain_global(), detector.decision_scores_
detector.tune(X, y)
after, scores_after = detector.explain_global(), detector.decision_scores_
print(f"{(y == 1).sum()} ill and {(y == 0).sum()} not ill are labelled")
print(f"ROC-AUC of all others: {auc(scores_before):.3f} before, {auc(scores_after):.3f} after")
assert auc(scores_after) > auc(scores_before)

# How the labels changed what the model makes of two measurements.
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
for row, (name, explanation) in enumerate({"before": before, "after": after}.items()):
    for column, term in enumerate(["TSH", "FTI"]):
        explanation.plot(term, ax=axes[row, column]).set_title(f"{term}, {name}")
figure.savefig("terms.png")

# Why the most suspicious person is suspicious.
first = int(np.argmax(scores_after))
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
detector.explain_local(X.iloc[[first]]).plot(0, ax=ax)
figure.savefig("person.png")
