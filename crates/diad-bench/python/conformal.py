"""False discovery rates and power of nonconform, on the tables and with the contaminated training of `diad-bench alerts`.

    python conformal.py --data DIR [--out bench/results/nonconform.jsonl] [--contamination 0,1,5,10]

nonconform (PyPI) wraps a detector: as it recommends, scikit-learn's isolation forest with its default settings, a third of the training rows
held out for calibration (`Split`), or five folds (`CrossValidation`). Rows that are done are skipped.
"""

import argparse
import json
import logging
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
from nonconform import ConformalDetector, CrossValidation, Split
from sklearn.ensemble import IsolationForest

RATES = [0.05, 0.1, 0.2]


def tables(path):
    """The clean training rows, and the test rows with their labels."""
    table = parquet.read_table(path)
    values = {name: table[name].to_numpy(zero_copy_only=False).astype(float) for name in table.column_names}
    labels, part = values.pop("label"), values.pop("part")
    rows = np.column_stack(list(values.values()))
    return rows[part == 0], rows[part == 1], labels[part == 1] > 0.5


def contaminated(fitted, test, labels, share):
    """Anomalies of the test rows moved to the training rows, as `diad-bench alerts` moves them."""
    wanted = int(len(fitted) * share / (100 - share) + 0.5)
    anomalies = np.flatnonzero(labels)
    moved = anomalies[::2][: min(wanted, len(anomalies) // 2)]
    stays = np.ones(len(test), dtype=bool)
    stays[moved] = False
    return np.vstack([fitted, test[moved]]), test[stays], labels[stays]


def strategies(rows):
    return {"Split": Split(n_calib=max(1, rows // 3)), "CrossValidation": CrossValidation(k=5)}


def measure(fitted, test, labels, strategy):
    # A missing value is the median: the forest's scores of gaps depend on the version of scikit-learn.
    medians = np.nan_to_num(np.nanmedian(fitted, axis=0))
    fitted, test = (np.where(np.isnan(rows), medians, rows) for rows in (fitted, test))
    forest = IsolationForest(random_state=0, n_jobs=1)
    detector = ConformalDetector(detector=forest, strategy=strategy, seed=0).fit(fitted)
    false_share, power = [], []
    for rate in RATES:
        found = np.asarray(detector.select(test, alpha=rate), dtype=bool)
        right = int((found & labels).sum())
        false_share.append((int(found.sum()) - right) / max(1, int(found.sum())))
        power.append(right / max(1, int(labels.sum())))
    return false_share, power


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("bench/results/nonconform.jsonl"))
    parser.add_argument("--contamination", default="0,1,5,10")
    parser.add_argument("--sets", default="")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    done = set()
    if options.out.exists():
        rows = map(json.loads, options.out.read_text().splitlines())
        done = {(row["set"], row["contamination"], row["method"]) for row in rows}
    wanted = options.sets.split(",") if options.sets else []
    for share in map(int, options.contamination.split(",")):
        for path in sorted((options.data / "oddbench").glob("*.parquet")):
            if wanted and path.stem not in wanted:
                continue
            fitted, test, labels = contaminated(*tables(path), share)
            for method, strategy in strategies(len(fitted)).items():
                if (path.stem, share, method) in done:
                    continue
                false_share, power = measure(fitted, test, labels, strategy)
                row = {"set": path.stem, "contamination": share, "method": method}
                row |= {"false_share": false_share, "power": power}
                with options.out.open("a") as file:
                    file.write(json.dumps(row) + "\n")
                print(path.stem, share, method, false_share, power, flush=True)


if __name__ == "__main__":
    main()
