"""Other detectors, for `diad-bench peers`.

    python peers.py [--threads 2] [--sample 20000]

reads one JSON request a line from standard input, {"method", "table", "seed"}, fits the method on all rows without
their labels, scores the same rows, and answers with one JSON object a line. With "protocol": "new" it fits the rows
whose `part` is 0 and scores the others. KNN and CBLOF are fitted on a random sample where there are more rows than
--sample; all rows are scored. With "scale": true numbers are standardised, and with
"top": [0.005, 0.01] the answer has the numbers of the rows in that share at the top.
"""

import importlib.metadata
import time

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score
from worker import serve

SAMPLED = ("KNN", "CBLOF")


def isotree(seed, threads, **settings):
    from isotree import IsolationForest

    return IsolationForest(random_seed=seed, nthreads=threads, **settings), lambda model, x: model.predict(x)


def iforest(seed, threads):
    from sklearn.ensemble import IsolationForest

    return IsolationForest(random_state=seed, n_jobs=threads), lambda model, x: -model.score_samples(x)


def directions(x):
    """How many independent directions the rows vary in."""
    spread = x.std(axis=0)
    scaled = (x[:, spread > 0] - x[:, spread > 0].mean(axis=0)) / spread[spread > 0]
    sizes = np.linalg.eigvalsh(scaled.T @ scaled)
    return int(np.sum(sizes > 1e-7 * sizes[-1]))


def pyod(name, seed, threads, x):
    module = importlib.import_module(f"pyod.models.{name.lower()}")
    # PyOD's PCA divides by the variance of every component, also by the zeros of columns that depend on others: it gets
    # only the components that vary.
    settings = {
        "KNN": dict(n_jobs=threads),
        "CBLOF": dict(random_state=seed),
        "PCA": dict(random_state=seed, n_components=directions(x)) if name == "PCA" else {},
        "ECOD": dict(n_jobs=1),
        "COPOD": dict(n_jobs=1),
    }.get(name, {})
    return getattr(module, name)(**settings), lambda model, x: pyod_scores(name, model, x)


def pyod_scores(name, model, x):
    """Scores of new rows. PyOD's KNN asks for one row at a time; its own index answers all of them at once."""
    if name == "KNN":
        return model.neigh_.kneighbors(x, n_neighbors=model.n_neighbors)[0][:, -1]
    return model.decision_function(x)


def make(name, seed, threads, x):
    """The method, how it scores, and the package it comes from."""
    if name == "isotree":
        return *isotree(seed, threads), "isotree"
    if name == "isotree2":
        return *isotree(seed, threads, ndim=2), "isotree"
    if name == "FCF":
        # The fair-cut forest as isotree's documentation sets it.
        fair = dict(ndim=2, sample_size=256, max_depth=None, ntrees=200, coefs="normal", ntry=1, prob_pick_pooled_gain=1)
        return *isotree(seed, threads, **fair), "isotree"
    if name == "SCiForest":
        # SCiForest as isotree's documentation sets it.
        split = dict(ndim=2, sample_size=256, max_depth=8, ntrees=100, coefs="normal", ntry=10, prob_pick_avg_gain=1)
        return *isotree(seed, threads, **split, penalize_range=True, missing_action="fail"), "isotree"
    if name == "IForest":
        return *iforest(seed, threads), "scikit-learn"
    return *pyod(name, seed, threads, x), "pyod"


class Tables:
    """Remembers the last table read."""

    def __init__(self):
        self.path, self.table = None, None

    def read(self, path):
        """The values, the labels, and which part each row is of."""
        if path != self.path:
            frame = pd.read_csv(path) if str(path).endswith(".csv") else pd.read_parquet(path)
            labels = frame.pop("label").to_numpy()
            parts = frame.pop("part").to_numpy() if "part" in frame else np.zeros(len(frame))
            values = one_hot(frame).to_numpy(np.float64)
            # ECOD and COPOD divide by the spread: constant columns carry nothing and are left out for all methods.
            values = values[:, values.min(0) < values.max(0)]
            self.path, self.table = path, (np.ascontiguousarray(values), labels, parts)
        return self.table


def one_hot(frame):
    """A column for each category; gaps in numbers are filled by the median and marked; times as day, hour and weekday."""
    for name in [name for name in frame if is_time(frame[name])]:
        times = pd.to_datetime(frame.pop(name))
        frame[f"{name} day"] = (times - pd.Timestamp(0)) / pd.Timedelta(days=1)
        frame[f"{name} hour"] = times.dt.hour + times.dt.minute / 60
        frame[f"{name} weekday"] = times.dt.weekday
    words = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    for name in frame.columns[frame.isna().any()].difference(words):
        frame[f"{name} is missing"] = frame[name].isna().astype(float)
        frame[name] = frame[name].fillna(frame[name].median())
    return pd.get_dummies(frame, columns=words, dummy_na=True, dtype=float) if words else frame


def is_time(column):
    return not pd.api.types.is_numeric_dtype(column) and column.str.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d").all()


def standardised(x):
    """Numbers with mean 0 and deviation 1; columns of 0 and 1 stay as they are."""
    flags = ((x == 0) | (x == 1)).all(axis=0)
    return np.where(flags, x, (x - x.mean(axis=0)) / x.std(axis=0))


def evaluate(request, tables, options):
    x, labels, parts = tables.read(request["table"])
    if request.get("scale"):
        x = standardised(x)
    name, seed = request["method"], request["seed"]
    fitted = rows = x
    if request.get("protocol") == "new":
        fitted, rows, labels = x[parts == 0], x[parts == 1], labels[parts == 1]
    if name in SAMPLED and len(fitted) > options.sample:
        fitted = fitted[np.random.default_rng(seed).choice(len(fitted), options.sample, replace=False)]
    model, score, package = make(name, seed, options.threads, fitted)
    start = time.perf_counter()
    model.fit(fitted)
    middle = time.perf_counter()
    # PyOD has the scores of the rows it was fitted on, where a row is not its own neighbour.
    scores = model.decision_scores_ if package == "pyod" and fitted is rows else score(model, rows)
    end = time.perf_counter()
    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(f"{np.sum(~np.isfinite(scores))} of {len(scores)} scores are no numbers")
    order = np.argsort(-scores, kind="stable")
    return {
        "version": f"{package} {importlib.metadata.version(package)}",
        "auc": 100 * roc_auc_score(labels, scores),
        "ap": 100 * average_precision_score(labels, scores),
        "fit_seconds": middle - start,
        "score_seconds": end - middle,
        "fitted_rows": len(fitted),
        "rows": len(rows),
        "top": [order[: max(1, int(share * len(rows)))].tolist() for share in request.get("top", [])],
    }


if __name__ == "__main__":
    tables = Tables()
    serve(lambda request, options: evaluate(request, tables, options), threads=2, sample=20000)
