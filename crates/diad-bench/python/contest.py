"""One other detector on one table, for `diad-bench contest`.

    python contest.py METHOD ROWS.npy LABELS.npy [--threads 2] [--limit 300]

fits the method on the float32 rows, scores all of them, and prints one JSON object: seconds, rows per second, the size of the pickled
model and the peak memory of this process. A process of its own for every method and table, so that the memory is the method's. Ends by a
signal after the limit of seconds.
"""

import argparse
import atexit
import importlib
import importlib.metadata
import json
import os
import pickle
import resource
import signal
import sys
import time
import warnings

import numpy as np

EXPLAINED = 1000


def sklearn(path, score, **settings):
    module, name = path.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)(**settings), score, "scikit-learn"


def pyod(name, **settings):
    module = importlib.import_module(f"pyod.models.{name.lower()}")
    return getattr(module, name)(**settings), lambda model, x: model.decision_function(x), "pyod"


def make(name, threads):
    """The method, how it scores, and its package."""
    samples = lambda model, x: model.score_samples(x)
    if name == "IsolationForest":
        return sklearn("sklearn.ensemble.IsolationForest", samples, random_state=0, n_jobs=threads)
    if name == "LOF":
        novelty = dict(novelty=True, n_jobs=threads)
        return sklearn("sklearn.neighbors.LocalOutlierFactor", samples, **novelty)
    if name == "OCSVM":
        return sklearn("sklearn.svm.OneClassSVM", samples)
    if name == "isotree":
        from isotree import IsolationForest

        return IsolationForest(random_seed=0, nthreads=threads), lambda model, x: model.predict(x), "isotree"
    if name == "EBM":
        from interpret.glassbox import ExplainableBoostingClassifier

        model = ExplainableBoostingClassifier(random_state=0, n_jobs=threads)
        return model, lambda model, x: model.decision_function(x), "interpret-core"
    settings = {"PyOD IForest": dict(random_state=0, n_jobs=threads), "PyOD KNN": dict(n_jobs=threads)}.get(name, {})
    return pyod(name.removeprefix("PyOD "), **settings)


def peak_bytes():
    """The largest resident set of this process. What `getrusage` says begins with that of the process that started this one."""
    try:
        with open("/proc/self/status") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def stop_after(seconds):
    """Ends this process and all that it has started, wherever they are by then."""
    os.setpgrp()
    watch = os.fork()
    if watch == 0:
        os.close(1)  # nobody is to wait for what this one says
        time.sleep(seconds)
        os.killpg(os.getpgrp(), signal.SIGKILL)
    atexit.register(os.kill, watch, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("method")
    parser.add_argument("rows")
    parser.add_argument("labels")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=int, default=300)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    answers, sys.stdout = sys.stdout, sys.stderr
    model, score, package = make(options.method, options.threads)
    x = np.load(options.rows)
    stop_after(options.limit)
    start = time.perf_counter()
    if options.method == "EBM":  # it learns from labels: all of them
        model.fit(x, np.load(options.labels))
    else:
        model.fit(x)
    fit_seconds = time.perf_counter() - start
    score(model, x[:1000])
    start = time.perf_counter()
    score(model, x)
    score_seconds = time.perf_counter() - start
    explain_seconds = None
    if options.method == "EBM":
        start = time.perf_counter()
        model.explain_local(x[:EXPLAINED])
        explain_seconds = time.perf_counter() - start
    peak = peak_bytes()
    found = {
        "version": f"{package} {importlib.metadata.version(package)}",
        "fit_seconds": fit_seconds,
        "scored": len(x) / score_seconds,
        "explained": explain_seconds and min(EXPLAINED, len(x)) / explain_seconds,
        "model_bytes": len(pickle.dumps(model)),
        "peak_bytes": peak,
    }
    print(json.dumps(found), file=answers, flush=True)


if __name__ == "__main__":
    main()
