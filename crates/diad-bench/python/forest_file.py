"""Scores a file with pandas and scikit-learn's IsolationForest: the yardstick of `diad score` in `diad-bench speed --parts files`.

    python forest_file.py fit TABLE.parquet FOREST --threads 2
    python forest_file.py score TABLE.parquet FOREST SCORES.csv

The first fits a forest and keeps it. The second reads the table, scores its rows and writes a row and a score for each; it prints the
seconds that this took without the start of the program.
"""

import argparse
import json
import time

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest


def read(path):
    return np.ascontiguousarray(pd.read_parquet(path).drop(columns="label").to_numpy(np.float32))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["fit", "score"])
    parser.add_argument("table")
    parser.add_argument("forest")
    parser.add_argument("scores", nargs="?")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_intermixed_args()
    if options.what == "fit":
        forest = IsolationForest(n_estimators=100, n_jobs=options.threads, random_state=0)
        joblib.dump(forest.fit(read(options.table)), options.forest)
        return
    forest = joblib.load(options.forest)
    start = time.perf_counter()
    scores = -forest.score_samples(read(options.table))
    pd.DataFrame({"row": np.arange(len(scores)), "score": scores}).to_csv(options.scores, index=False)
    print(json.dumps({"seconds": time.perf_counter() - start, "rows": len(scores)}))


if __name__ == "__main__":
    main()
