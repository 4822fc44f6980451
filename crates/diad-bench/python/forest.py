"""Isolation forests: the yardsticks of scoring in `diad-bench speed`.

    python forest.py TABLE.parquet [--threads 2]

fits the forests, then answers every line of standard input with the seconds to score all rows of the table from memory:
"plain" scikit-learn's as it comes, "threaded" with joblib told to use all threads, "isotree" that of isotree with the same
number of trees and of rows for each. "file" is as "plain", but from the file.
"""

import argparse
import json
import sys
import time

import joblib
import numpy as np
import pandas as pd
from isotree import IsolationForest as IsotreeForest
from sklearn.ensemble import IsolationForest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()

    def read():
        frame = pd.read_parquet(options.table)
        return np.ascontiguousarray(frame.drop(columns="label").to_numpy(np.float32))

    x = read()
    model = IsolationForest(n_estimators=100, n_jobs=options.threads, random_state=0).fit(x)
    settings = dict(ntrees=100, sample_size=256, ndim=1, nthreads=options.threads, random_seed=0)
    other = IsotreeForest(**settings).fit(x)

    def seconds(score=lambda: model.score_samples(x)):
        start = time.perf_counter()
        score()
        return time.perf_counter() - start

    seconds()
    print(json.dumps({"ready": True}), flush=True)
    for request in sys.stdin:
        if request.strip() == "threaded":
            # Newer versions take the threads of scoring from joblib's configuration instead of n_jobs.
            with joblib.parallel_config(backend="threading", n_jobs=options.threads):
                answer = seconds()
        elif request.strip() == "isotree":
            answer = seconds(lambda: other.predict(x))
        elif request.strip() == "file":
            answer = seconds(lambda: model.score_samples(read()))
        else:
            answer = seconds()
        print(json.dumps({"seconds": answer}), flush=True)


if __name__ == "__main__":
    main()
