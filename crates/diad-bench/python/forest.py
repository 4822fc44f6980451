"""scikit-learn's isolation forest: the yardstick of scoring in `diad-bench speed`.

    python forest.py TABLE.parquet [--threads 2]

fits the forest, then answers every line of standard input with the seconds to score all rows of the table from memory:
"plain" as it comes, "threaded" with joblib told to use all threads.
"""

import argparse
import json
import sys
import time

import joblib
import numpy as np
import pandas as pd
from sklearn.ensemble import IsolationForest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("table")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    frame = pd.read_parquet(options.table)
    x = np.ascontiguousarray(frame.drop(columns="label").to_numpy(np.float32))
    model = IsolationForest(n_estimators=100, n_jobs=options.threads, random_state=0).fit(x)

    def seconds():
        start = time.perf_counter()
        model.score_samples(x)
        return time.perf_counter() - start

    seconds()
    print(json.dumps({"ready": True}), flush=True)
    for request in sys.stdin:
        if request.strip() == "threaded":
            # Newer versions take the threads of scoring from joblib's configuration instead of n_jobs.
            with joblib.parallel_config(backend="threading", n_jobs=options.threads):
                answer = seconds()
        else:
            answer = seconds()
        print(json.dumps({"seconds": answer}), flush=True)


if __name__ == "__main__":
    main()
