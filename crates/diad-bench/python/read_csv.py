"""Reads a CSV file with polars, once for each request, and says how long it took."""

import argparse
import os
import time

from worker import serve

arguments = argparse.ArgumentParser()
arguments.add_argument("path")
arguments.add_argument("--threads", required=True)
arguments = arguments.parse_args()
os.environ["POLARS_MAX_THREADS"] = arguments.threads

import polars  # noqa: E402  (reads the number of threads when it is imported)


def read(_request):
    start = time.perf_counter()
    table = polars.read_csv(arguments.path)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rows": table.height, "columns": table.width}


serve(read)
