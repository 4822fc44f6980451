"""Prints the tables of docs/benchmarks/paper/fidelity.md from bench/results/paper (factorial.csv, readings.csv) and the paper's figures.

    python crates/diad-bench/python/fidelity.py
"""

import csv
import json
import math
import statistics
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
OPEN = ["thyroid", "siesmic", "mammography", "nyc", "campaign", "celeba", "backdoor", "donors"]
SEEDS_OF_THE_PAPER = 8


def paper():
    """DIAD's mean and standard error on each set."""
    with open(ROOT / "crates/diad-bench/data/paper_unsupervised.csv", newline="") as lines:
        cells = {row["set"]: row["DIAD"].split("±") for row in csv.DictReader(lines)}
    return {name: (float(cell[0]), float(cell[1]) if len(cell) > 1 else 0.0) for name, cell in cells.items()}


def fits():
    """ROC-AUC by reading, then by set: the score of all layers as trained, and other kinds of it."""
    found = defaultdict(lambda: defaultdict(list))
    with open(ROOT / "bench/results/paper/factorial.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            reading = tuple(row[key] for key in ("leaf_scale", "annealing", "match_gradient", "final_splits", "other"))
            found[(*reading, row["scored"], row["layers"])][row["set"]].append(float(row["auc"]))
    with open(ROOT / "bench/results/paper/readings.csv", newline="") as lines:
        for row in csv.DictReader(lines):
            found[(*named(json.loads(row["reading"])), "soft", "all")][row["set"]].append(float(row["auc"]))
    return found


def named(reading):
    """A reading as the twin has it, in the words of the settings."""
    scale = reading.pop("norm")
    annealing = "logarithmic" if reading.pop("sched", "lin") == "log" else "linear"
    match = "later" if reading.pop("detach", 0) else "both"
    splits = "hard" if reading.pop("hard2", 0) else "soft"
    return scale, annealing, match, splits, ";".join(f"{key}={value}" for key, value in sorted(reading.items()))


def spread(values):
    return f"{statistics.mean(values):.1f} ({statistics.stdev(values):.1f})" if values else "–"


def table(header, rows):
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def words(reading):
    scale, annealing, match, splits, other, scored, layers = reading
    parts = [scale, annealing, match, splits, other.replace(";", ", ")]
    if scored == "hard":
        parts.append("scored with hard splits")
    if layers != "all":
        parts.append(f"{layers} layer's score")
    return ", ".join(part for part in parts if part)


def agreement(sets, figures):
    """How near a reading comes to the paper on the sets it was measured on."""
    names = [name for name in figures if name in sets]
    means = [statistics.mean(sets[name]) for name in names]
    printed = [figures[name][0] for name in names]
    near, off, alike = 0, [], 0
    for name, mean in zip(names, means):
        deviation = statistics.stdev(sets[name])
        joint = math.hypot(figures[name][1], deviation / math.sqrt(len(sets[name])))
        if abs(mean - figures[name][0]) <= max(1.5, 2 * joint):
            near += 1
        else:
            off.append(f"{name} {mean - figures[name][0]:+.1f}")
        theirs = figures[name][1] * math.sqrt(SEEDS_OF_THE_PAPER)
        alike += max(deviation, 0.05) <= 2 * max(theirs, 0.05) and max(theirs, 0.05) <= 2 * max(deviation, 0.05)
    return [
        str(len(names)), f"{statistics.mean(means):.1f}", f"{statistics.mean(printed):.1f}",
        f"{statistics.correlation(means, printed):.3f}", str(near), str(alike), ", ".join(off),
    ]


def main():
    figures, found = paper(), fits()
    plain = [reading for reading in found if reading[5:] == ("soft", "all")]
    print("Mean (standard deviation over the fits):\n")
    deviation = {name: error * math.sqrt(SEEDS_OF_THE_PAPER) for name, (_, error) in figures.items()}
    rows = [["**the paper**", *(f"{figures[name][0]:.1f} ({deviation[name]:.1f})" for name in OPEN)]]
    rows += [[words(reading), *(spread(found[reading].get(name)) for name in OPEN)] for reading in sorted(plain)]
    table(["leaf scale, annealing, match, splits", *OPEN], rows)
    hard = [reading for reading in found if reading[5:] == ("hard", "all") and reading[1:5] == ("linear", "both", "soft", "")]
    kinds = [reading for reading in found if reading[6] != "all" and reading[:5] == ("none", "linear", "both", "soft", "")]
    print("Other ways to score the same fits:\n")
    rows = [[words(reading), *(spread(found[reading].get(name)) for name in OPEN)] for reading in sorted(hard + kinds)]
    table(["leaf scale, annealing, match, splits", *OPEN], rows)
    print("Readings measured on at least 15 sets. Near: within two joint standard errors or 1.5 points. Alike: the deviation over the fits is within a factor of two:\n")
    wide = [reading for reading in found if len(found[reading]) >= 15 and reading[5] == "soft"]
    rows = [[words(reading), *agreement(found[reading], figures)] for reading in sorted(wide)]
    table(["reading", "sets", "mean", "paper", "correlation", "near", "alike", "off by"], rows)


if __name__ == "__main__":
    main()
