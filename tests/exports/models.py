"""Six models, and rows with everything that a cell can be."""

import datetime
import subprocess

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

KINDS = ["numbers", "categories", "gaps", "dates", "tuned", "edited"]
DIALECTS = ["duckdb", "postgres", "sqlite", "spark", "snowflake", "bigquery", "tsql"]
HOSTILE = 'a"b\'`];-- \u00fc'
STRANGE = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e300, -1e300, 1.7976931348623157e308, 5e-324, 1e18, -1e9, 3.5]
JOBS = ["x'; DROP TABLE data;--", "b\\", "\u00dcn\u00ef", "12", "rare"]


def times(random, rows, start):
    seconds = random.integers(0, 40_000_000, rows)
    return [start + datetime.timedelta(seconds=int(k)) for k in seconds]


def table(kind, rows, seed, new=False):
    """Rows of a kind; of new ones, some cells are what no training row had."""
    random = np.random.default_rng(seed)
    a = random.normal(size=rows)
    b = a + 0.3 * random.normal(size=rows)
    skew = np.exp(2 * random.normal(size=rows))
    few = random.integers(0, 5, rows).astype(float)
    if kind == "gaps":
        b[random.random(rows) < 0.1] = np.nan
        few[random.random(rows) < 0.05] = np.nan
    if new:
        for column in (a, b, skew):
            strange = random.random(rows) < 0.03
            column[strange] = random.choice(STRANGE, strange.sum())
        # The very values of the training rows, at which nodes are.
        known = table(kind, 4000, 1)
        for name, column in (("skew", skew), (HOSTILE, b)):
            again = random.random(rows) < 0.1
            column[again] = random.choice(known[name].to_numpy(zero_copy_only=False), again.sum())
    columns = {"n": np.arange(rows), "a": a, HOSTILE: b, "skew": skew, "few": few}
    if kind in ("categories", "tuned", "edited"):
        jobs = random.choice(JOBS, rows, p=[0.5, 0.3, 0.15, 0.04, 0.01]).astype(object)
        city = random.choice(["Rome", "Oslo", "Bonn"], rows).astype(object)
        city[random.random(rows) < 0.05] = None
        if new:
            strange = random.random(rows) < 0.1
            jobs[strange] = random.choice(["unseen", "NA", "12.0", "", None, "x'"], strange.sum())
            city[random.random(rows) < 0.1] = "Paris"
        columns |= {"job": pa.array(jobs, pa.string()), "city": pa.array(city, pa.string())}
    if kind == "dates":
        start = datetime.datetime(2015 if new else 2023, 3, 1)
        when, until = times(random, rows, start), times(random, rows, datetime.datetime(2023, 1, 1))
        when = [None if gap else time for gap, time in zip(random.random(rows) < 0.05, when)]
        if new:
            until = [None if gap else time for gap, time in zip(random.random(rows) < 0.02, until)]
        columns |= {"when": pa.array(when, pa.timestamp("us")), "until": pa.array(until, pa.timestamp("us"))}
    return pa.table({name: pa.array(values) for name, values in columns.items()})


def wide(rows):
    """Fifty columns of numbers that depend on eight hidden ones."""
    random = np.random.default_rng(0)
    hidden = random.normal(size=(rows, 8))
    x = hidden @ random.normal(size=(8, 50)) + random.normal(size=(rows, 50))
    return pa.table({"n": np.arange(rows), **{f"c{k}": x[:, k] for k in range(50)}})


def make(kind, folder, diad, options=()):
    """Fits the model of a kind."""
    run = lambda *words: subprocess.run([diad, *map(str, words)], check=True, capture_output=True)
    given, model = folder / f"{kind}-training.parquet", folder / f"{kind}.diad"
    training = table(kind, 4000, 1)
    pq.write_table(training, given)
    first = folder / f"{kind}-first.diad" if kind in ("tuned", "edited") else model
    run("fit", given, "-o", first, "--ignore", "n", *options)
    if kind == "tuned":
        label = (training["skew"].to_numpy() > 8) & (training["few"].to_numpy() > 2)
        labels = folder / "labels.parquet"
        pq.write_table(training.append_column("odd", pa.array(label.astype(float))).slice(0, 600), labels)
        run("tune", first, labels, "--label", "odd", "-o", model)
    if kind == "edited":
        run("edit", first, "--cap", "skew=3", "--mute", "job=12", "--monotone", "a=up", "-o", model)
    return model
