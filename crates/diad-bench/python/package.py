"""The Python package: how long `diad-bench speed --parts package` waits for scores of an array.

    python package.py MODEL TABLE.parquet ROWS [--threads 2]

loads the model, repeats the rows of the table until there are ROWS, and answers every line of standard input, "array" or "arrow",
with the seconds to score all of them: a float32 array in C order, or an Arrow table.
"""

import argparse
import json
import sys
import time

import diad
import numpy as np
import pandas as pd
import pyarrow as pa


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("table")
    parser.add_argument("rows", type=int)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    frame = pd.read_parquet(options.table).drop(columns="label")
    values = frame.to_numpy(np.float64)
    values = values[np.arange(options.rows) % len(values)]
    inputs = {
        "array": np.ascontiguousarray(values.astype(np.float32)),
        "arrow": pa.table({name: values[:, index].copy() for index, name in enumerate(frame.columns)}),
    }
    model = diad.DIAD.load(options.model).set_params(n_jobs=options.threads)

    def seconds(rows):
        start = time.perf_counter()
        model.decision_function(rows)
        return time.perf_counter() - start

    for rows in inputs.values():
        seconds(rows)
    print(json.dumps({"ready": True}), flush=True)
    for request in sys.stdin:
        print(json.dumps({"seconds": seconds(inputs[request.strip()])}), flush=True)


if __name__ == "__main__":
    main()
