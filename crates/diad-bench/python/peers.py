"""Other detectors, for `diad-bench peers`.

    python peers.py [--threads 2] [--sample 20000]

reads one JSON request a line from standard input, {"method", "table", "seed"}, fits the method on all rows without
their labels, scores the same rows, and answers with one JSON object a line. KNN and CBLOF are fitted on a random sample
where a table has more rows than --sample; all rows are scored.
"""

import argparse
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
    return getattr(module, name)(**settings), lambda model, x: model.decision_function(x)


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
    if name == "IForest":
        return *iforest(seed, threads), "scikit-learn"
    return *pyod(name, seed, threads, x), "pyod"


class Tables:
    """Remembers the last table read."""

    def __init__(self):
        self.path, self.table = None, None

    def read(self, path):
        if path != self.path:
            frame = pd.read_csv(path) if str(path).endswith(".csv") else pd.read_parquet(path)
            labels = frame.pop("label").to_numpy()
            # ECOD and COPOD divide by the spread: constant columns carry nothing and are left out for all methods.
            values = frame.to_numpy(np.float64)
            values = values[:, values.min(0) < values.max(0)]
            self.path, self.table = path, (np.ascontiguousarray(values), labels)
        return self.table


def evaluate(request, tables, options):
    x, labels = tables.read(request["table"])
    name, seed = request["method"], request["seed"]
    fitted = x
    if name in SAMPLED and len(x) > options.sample:
        fitted = x[np.random.default_rng(seed).choice(len(x), options.sample, replace=False)]
    model, score, package = make(name, seed, options.threads, fitted)
    start = time.perf_counter()
    model.fit(fitted)
    middle = time.perf_counter()
    scores = score(model, x)
    end = time.perf_counter()
    scores = np.asarray(scores, dtype=np.float64)
    if not np.isfinite(scores).all():
        raise ValueError(f"{np.sum(~np.isfinite(scores))} of {len(scores)} scores are no numbers")
    return {
        "version": f"{package} {importlib.metadata.version(package)}",
        "auc": 100 * roc_auc_score(labels, scores),
        "ap": 100 * average_precision_score(labels, scores),
        "fit_seconds": middle - start,
        "score_seconds": end - middle,
        "fitted_rows": len(fitted),
        "rows": len(x),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sample", type=int, default=20000)
    options = parser.parse_args()
    tables = Tables()
    serve(lambda request: evaluate(request, tables, options))


if __name__ == "__main__":
    main()
