"""Rivals that need no accelerator, one process a core, each run a line as soon as it is done.

    python classic.py OUT.csv DATA SECONDS --methods lof,ocsvm,mcd,rrcf,iforest,copod,pca,knn [--sets A,B] [--noise 50] [--seeds 3] [--processes 2]

LOF, one-class SVM, robust covariance (MCD), isolation forest and nearest neighbours are scikit-learn's, COPOD and PCA PyOD's, and RRCF is the
package rrcf (which wants setuptools below 81). DATA has packed files (`pack.py`), whose columns are on [-1, 1], or Parquet files, whose columns
are taken as they come. With --noise so many columns, uniform on [-1, 1], are added. What is in OUT.csv is not done again.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"
import argparse
import csv
import multiprocessing as mp
import time
import warnings

import numpy as np
import unpack

# Methods that draw nothing at random, so that one seed says all.
FIXED = ("copod", "pca", "knn")


def load(path):
    """The rows and their labels."""
    if path.endswith(".npz"):
        x, y = unpack.load(path)
        return x.astype(np.float64), y
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    columns = [table[name].to_numpy().astype(float) for name in table.column_names if name != "label"]
    return np.column_stack(columns), table["label"].to_numpy()


def sample(x, most, seed):
    return x if len(x) <= most else x[np.random.RandomState(seed).choice(len(x), most, replace=False)]


def lof(x, seed):
    from sklearn.neighbors import LocalOutlierFactor

    if len(x) > 100_000 or x.size > 6_000_000:
        return -LocalOutlierFactor(20, novelty=True).fit(sample(x, 10_000, seed)).score_samples(x)
    return -LocalOutlierFactor(20).fit(x).negative_outlier_factor_


def ocsvm(x, seed):
    from sklearn.svm import OneClassSVM

    model = OneClassSVM().fit(sample(x, 5_000, seed))
    return -np.concatenate([model.score_samples(x[i : i + 20_000]) for i in range(0, len(x), 20_000)])


def mcd(x, seed):
    from sklearn.covariance import MinCovDet

    return MinCovDet(random_state=0).fit(sample(x, 20_000, seed)).mahalanobis(x)


def iforest(x, seed):
    from sklearn.ensemble import IsolationForest

    return -IsolationForest(random_state=seed).fit(x).score_samples(x)


def knn(x, seed):
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=5).fit(sample(x, 20_000, seed)).kneighbors(x, 6)[0][:, -1]


def copod(x, seed):
    from pyod.models.copod import COPOD

    return COPOD(n_jobs=1).fit(x).decision_scores_


def pca(x, seed):
    from pyod.models.pca import PCA

    return PCA().fit(x).decision_scores_


def rrcf(x, seed):
    """Trees of 256 rows, each row in 20 of them, or in four where there are many rows: its mean displacement."""
    warnings.simplefilter("ignore")
    import rrcf as package

    random = np.random.RandomState(seed)
    count, size = len(x), min(256, len(x))
    parts = count // size
    total, times = np.zeros(count), np.zeros(count)
    for _ in range(20 if count <= 20_000 else 4):
        for rows in random.choice(count, (parts, size), replace=False):
            tree = package.RCTree(x[rows], index_labels=rows, random_state=random.randint(2**31))
            for leaf in tree.leaves:
                total[leaf] += tree.codisp(leaf)
                times[leaf] += 1
    # A few rows may have been left over by every draw.
    return total / np.maximum(times, 1)


METHODS = {f.__name__: f for f in (lof, ocsvm, mcd, iforest, knn, copod, pca, rrcf)}


def work(job):
    from sklearn.metrics import average_precision_score, roc_auc_score

    path, method, seed, noise = job
    name = os.path.splitext(os.path.basename(path))[0].replace("adbench_", "adbench/")
    x, y = load(path)
    if noise:
        x = np.hstack([x, np.random.RandomState(1000 + seed).uniform(-1, 1, (len(x), noise))])
        name += f" + {noise}"
    began = time.time()
    try:
        score = METHODS[method](x, seed)
    except Exception as error:
        return name, method, seed, repr(error), None
    print(f"{name} {method} {seed}: {time.time() - began:.0f} s", flush=True)
    return name, method, seed, f"{100 * roc_auc_score(y, score):.3f}", f"{100 * average_precision_score(y, score):.3f}"


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("out")
    asked.add_argument("data")
    asked.add_argument("seconds", type=float)
    asked.add_argument("--methods", required=True)
    asked.add_argument("--sets", default="")
    asked.add_argument("--noise", type=int, default=0)
    asked.add_argument("--seeds", type=int, default=1)
    asked.add_argument("--processes", type=int, default=2)
    given = asked.parse_args()
    stop = time.time() + given.seconds
    done = set()
    if os.path.exists(given.out):
        with open(given.out, newline="") as file:
            done = {tuple(line[:3]) for line in csv.reader(file)}
    names = given.sets.split(",") if given.sets else []
    there = os.listdir(given.data)
    files = [file for file in there if os.path.splitext(file)[0] in names] if names else there
    files.sort(key=lambda file: os.path.getsize(f"{given.data}/{file}"))
    jobs = []
    for file in files:
        name = os.path.splitext(file)[0].replace("adbench_", "adbench/") + (f" + {given.noise}" if given.noise else "")
        for method in given.methods.split(","):
            for seed in range(1 if method in FIXED and not given.noise else given.seeds):
                if (name, method, str(seed)) not in done:
                    jobs.append((f"{given.data}/{file}", method, seed, given.noise))
    with open(given.out, "a", newline="") as out, mp.Pool(given.processes) as pool:
        lines = csv.writer(out)
        runs = pool.imap_unordered(work, jobs)
        for _ in jobs:
            try:
                run = runs.next(timeout=max(1, stop - time.time()))
            except mp.TimeoutError:
                print("out of time")
                pool.terminate()
                break
            if run[-1] is None:
                print(*run[:-1])
                continue
            lines.writerow(run)
            out.flush()


if __name__ == "__main__":
    main()
