"""Supervised methods with few labels, for `diad-bench few-labels`.

    python few_labels.py [--threads 2]

reads one JSON request a line from standard input, {"method", "table", "split", "anomalies"}, fits the method on the
labelled rows of that split, scores its test rows, and answers with one JSON object a line. CatBoost chooses its number of trees
by the validation rows; all other methods see the labelled rows alone.
"""

import importlib.metadata
import time

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score
from worker import serve

MASK = (1 << 64) - 1


def order(rows, split):
    """The rows in the order of a split."""
    with np.errstate(over="ignore"):
        z = np.arange(1, rows + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = z + np.uint64((split + 1) * 0xD1B54A32D192ED03 & MASK)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.argsort(z ^ (z >> np.uint64(31)), kind="stable")


assert order(10, 0).tolist() == [0, 3, 8, 1, 6, 2, 4, 5, 7, 9]
assert order(10, 1).tolist() == [5, 2, 7, 4, 9, 0, 1, 6, 3, 8]


def parts(labels, split, anomalies):
    """Labelled, validation and test rows."""
    rows = len(labels)
    ordered = order(rows, split)
    first, second = 64 * rows // 100, 80 * rows // 100
    training = ordered[:first]
    total = int(labels.sum())
    normals = int(np.floor(anomalies * (rows - total) / total + 0.5))
    yes, no = training[labels[training] == 1][:anomalies], training[labels[training] == 0][:normals]
    return np.concatenate([yes, no]), ordered[first:second], ordered[second:]


def catboost(x, y, threads, validation=None):
    from catboost import CatBoostClassifier

    settings = dict(random_seed=0, thread_count=threads, verbose=False, allow_writing_files=False)
    if validation is None:
        model = CatBoostClassifier(**settings).fit(x, y)
    else:
        model = CatBoostClassifier(eval_metric="AUC", **settings).fit(x, y, eval_set=validation, use_best_model=True)
    return lambda rows: model.predict(rows, prediction_type="RawFormulaVal")


def xgboost(x, y, threads):
    from xgboost import XGBClassifier

    # The intercept it would estimate leaves its leaves too light to split where anomalies are very rare (fraud: AUC 4).
    model = XGBClassifier(base_score=0.5, random_state=0, n_jobs=threads).fit(x, y)
    return lambda rows: model.predict(rows, output_margin=True)


def logistic(x, y, threads):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(x, y)
    return model.decision_function


def ebm(x, y, threads):
    from interpret.glassbox import ExplainableBoostingClassifier

    # Where the labelled rows can be told apart in full, the default of 50,000 rounds goes on for a quarter of an hour; with 2,000
    # the test AUC was the same to the last digit where both were tried.
    model = ExplainableBoostingClassifier(random_state=0, n_jobs=threads, max_rounds=2000).fit(x, y)
    return model.decision_function


METHODS = {
    "CatBoost": (catboost, "catboost"),
    "CatBoost, no validation": (catboost, "catboost"),
    "XGBoost": (xgboost, "xgboost"),
    "logistic regression": (logistic, "scikit-learn"),
    "EBM": (ebm, "interpret-core"),
}


class Tables:
    """Remembers the last table read."""

    def __init__(self):
        self.path, self.table = None, None

    def read(self, path):
        if path != self.path:
            frame = pd.read_parquet(path)
            labels = frame.pop("label").to_numpy().astype(np.int64)
            self.path, self.table = path, (frame.to_numpy(np.float64), labels)
        return self.table


def evaluate(request, tables, options):
    x, labels = tables.read(request["table"])
    name = request["method"]
    known, validation, test = parts(labels, request["split"], request["anomalies"])
    make, package = METHODS[name]
    extra = {"validation": (x[validation], labels[validation])} if name == "CatBoost" else {}
    start = time.perf_counter()
    score = make(x[known], labels[known], options.threads, **extra)
    seconds = time.perf_counter() - start
    scores = np.nan_to_num(np.asarray(score(x[test]), dtype=np.float64))
    return {
        "version": f"{package} {importlib.metadata.version(package)}",
        "labelled": len(known),
        "auc": 100 * roc_auc_score(labels[test], scores),
        "ap": 100 * average_precision_score(labels[test], scores),
        "seconds": seconds,
    }


if __name__ == "__main__":
    tables = Tables()
    serve(lambda request, options: evaluate(request, tables, options), threads=2)
