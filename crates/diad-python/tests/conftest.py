"""Tables and the command that tests compare with."""

import os
import pathlib
import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
QUICK = {"steps": 30, "trees": 8}
QUICK_OPTIONS = ["--steps", "30", "--trees", "8"]


@pytest.fixture(scope="session")
def cli():
    """Runs the ``diad`` command and returns what it wrote to standard error."""
    program = os.environ.get("DIAD") or shutil.which("diad")
    if program is None:
        pytest.fail("build the command with `cargo build -p diad-cli` and name it in the variable DIAD")

    def run(*args, fails=False):
        done = subprocess.run([program, *map(str, args)], capture_output=True, text=True)
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr

    return run


@pytest.fixture(scope="session")
def thyroid():
    return pd.read_csv(ROOT / "crates" / "diad-cli" / "data" / "thyroid.csv")


@pytest.fixture(scope="session")
def mixed():
    """Numbers with gaps, categories, texts, times and truth values; the last row is odd."""
    random = np.random.default_rng(3)
    rows = 400
    amount = random.lognormal(3, 1, rows).round(2)
    frame = pd.DataFrame(
        {
            "amount": np.where(np.arange(rows) % 17 == 5, np.nan, amount),
            "count": random.integers(0, 5, rows),
            "job": pd.Categorical(random.choice(["baker", "clerk", "nurse"], rows, p=[0.6, 0.3, 0.1])),
            "city": random.choice(["Bern", "Ulm", None], rows),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 300 * 24, rows), unit="h"),
            "new": random.random(rows) < 0.2,
        }
    )
    frame.loc[rows - 1, ["amount", "count"]] = [90000.0, 40]
    return frame


@pytest.fixture(scope="session")
def plain():
    """Numbers without names."""
    random = np.random.default_rng(5)
    X = random.normal(size=(300, 5))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    X[17] = 8
    return X
