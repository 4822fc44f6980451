"""What the Python package costs: fits of small tables, single rows, and memory.

    python package_figures.py              # prints the rows of docs/benchmarks/python.md
    python package_figures.py --memory     # and the peak memory of five million rows of ten columns

Made-up tables; nothing was chosen by them. Times are medians on an idle machine.
"""

import argparse
import statistics
import subprocess
import sys
import time


def median(work, times, warm=1):
    """Seconds of the median run."""
    for _ in range(warm):
        work()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


def figures():
    import diad
    import numpy as np
    import pandas as pd
    import polars as pl

    random = np.random.default_rng(0)
    X = random.normal(size=(1000, 10))
    frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(10)])
    wall = median(lambda: diad.DIAD().fit(X), 7)
    before = time.process_time()
    diad.DIAD().fit(X)
    yield "default fit of 1,000 × 10", f"{wall:.2f} s ({time.process_time() - before:.2f} s of processor time)", "1 s"
    from sklearn.ensemble import IsolationForest

    yield "the same, scikit-learn's IsolationForest", f"{median(lambda: IsolationForest().fit(X), 7):.2f} s", ""
    of_array, of_frame = diad.DIAD().fit(X), diad.DIAD().fit(frame)
    one, row, polars = X[:1], frame.iloc[:1], pl.from_pandas(frame.iloc[:1])
    for name, work in (
        ("score of one row, array", lambda: of_array.decision_function(one)),
        ("score of one row, data frame of pandas", lambda: of_frame.decision_function(row)),
        ("score of one row, data frame of polars", lambda: of_frame.decision_function(polars)),
        ("`eval_terms` of one row, array", lambda: of_array.eval_terms(one)),
        ("`eval_terms` of one row, data frame of pandas", lambda: of_frame.eval_terms(row)),
    ):
        yield name, f"{1000 * median(work, 2000, 100):.3f} ms", "0.3 ms"


ROWS, COLUMNS = 5_000_000, 10
#: A process of its own, since the peak is that of the whole process.
MEMORY = f"""
import resource, sys
import numpy as np
import diad
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
X = np.empty(({ROWS}, {COLUMNS}), dtype=np.float32)
random = np.random.default_rng(0)
for start in range(0, {ROWS}, 100_000):
    X[start : start + 100_000] = random.standard_normal((100_000, {COLUMNS}), dtype=np.float32)
before = peak()
detector = diad.DIAD().fit(X)
fitted = peak()
detector.decision_function(X)
print(X.nbytes, before, fitted, peak())
"""


def memory():
    told = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True).stdout
    array, before, fitted, scored = map(int, told.split())
    megabytes = lambda size: f"{size / 1e6:,.0f} MB"  # noqa: E731
    yield "five million × 10 of float32: the array", megabytes(array), ""
    yield "peak of the process before the fit", f"{megabytes(before)}, {before / array:.2f} × the array", ""
    yield "after a fit with the scores of its rows", f"{megabytes(fitted)}, {fitted / array:.2f} × the array", "2 ×"
    yield "after scoring them again", f"{megabytes(scored)}, {scored / array:.2f} × the array", "2 ×"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--memory", action="store_true")
    options = parser.parse_args()
    print("| what | measured | wanted |\n|---|---:|---:|")
    for row in figures():
        print("| " + " | ".join(row) + " |", flush=True)
    for row in memory() if options.memory else ():
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
