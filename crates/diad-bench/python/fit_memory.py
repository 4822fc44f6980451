"""Fits float32 arrays of normal numbers from Python, each in a process of its own, and prints the largest resident sets.

    python fit_memory.py [ROWS] [COLUMNS] [RUNS]
"""

import re
import subprocess
import sys
import time
import warnings

MIB = 2**20


def status(key):
    """A figure of the process, in MiB."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(re.search(rf"^{key}:\s+(\d+) kB", file.read(), re.MULTILINE)[1]) / 1024


def measure(rows, columns):
    import numpy as np

    import diad

    table = np.empty((rows, columns), dtype=np.float32)
    random = np.random.default_rng(0)
    # Piece by piece: a copy of the whole would count.
    for piece in np.array_split(table, 100):
        piece[:] = random.standard_normal(piece.shape, dtype=np.float32)
    before, start = status("VmRSS"), time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diad.DIAD().fit(table)
    seconds, peak, size = time.perf_counter() - start, status("VmHWM"), table.nbytes / MIB
    print(f"{peak:.1f} MiB, {peak / size:.3f} times the array of {size:.1f} MiB; {before:.1f} MiB before the fit of {seconds:.1f} s")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measure(int(sys.argv[2]), int(sys.argv[3]))
    else:
        rows, columns, runs = [int(float(word)) for word in sys.argv[1:]] + [5_000_000, 10, 5][len(sys.argv) - 1 :]
        for _ in range(runs):
            subprocess.run([sys.executable, __file__, "--one", str(rows), str(columns)], check=True)
