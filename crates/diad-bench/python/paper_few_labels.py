"""The page on few labels by the paper's own fine-tuning: docs/benchmarks/paper/few-labels.md from bench/results/paper/few-labels.csv."""

import csv
import os
from collections import defaultdict
from statistics import mean, stdev

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")
COUNTS = [0, 5, 15, 30, 60, 120]
PAPER = {"": [87.1, 89.4, 90.0, 90.4, 89.4, 91.0], ", unnormalized": [None, 84.1, 85.6, 85.7, 84.2, 85.6]}
NAMES = {"layer": "scaled over a layer", "none": "as they are"}


def read():
    """{(norm, set): {count: {split: test}}} with the loss and the rate that the validation rows choose at 120, and these."""
    runs = defaultdict(dict)
    with open(os.path.join(ROOT, "bench/results/paper/few-labels.csv"), newline="") as file:
        for run in csv.DictReader(file):
            how = (run["loss"], run["rate"])
            key = (int(run["count"]), how, int(run["split"]))
            runs[run["norm"], run["set"]][key] = (float(run["valid"]), float(run["test"]))
    found, chosen = {}, {}
    for key, own in runs.items():
        hows = {how for count, how, _ in own if count == 120}
        valid = {how: mean(v for (count, h, _), (v, _) in own.items() if (count, h) == (120, how)) for how in hows}
        best = max(sorted(valid), key=valid.get)
        chosen[key] = best
        found[key] = {
            count: {s: t for (c, how, s), (_, t) in own.items() if c == count and (count == 0 or how == best)}
            for count in COUNTS
        }
    return found, chosen


def with_error(values):
    return f"{mean(values):.1f} ± {stdev(values) / len(values) ** 0.5:.1f}"


def over_sets(found, norm, sets):
    """For each count the mean over the sets, with its standard error over the splits."""
    cells = []
    for count in COUNTS:
        splits = sorted(found[norm, sets[0]][count])
        cells.append(with_error([mean(found[norm, name][count][s] for name in sets) for s in splits]))
    return cells


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def main():
    found, chosen = read()
    sets = [name for norm, name in found if norm == "layer"]
    head = row(["leaf weights", *map(str, COUNTS)]) + row(["---"] + ["---:"] * len(COUNTS))
    printed = lambda values: ["–" if value is None else f"{value:.1f}" for value in values]
    text = (
        "# Few labels by the paper's own fine-tuning\n\n"
        f"ROC-AUC in % on the test rows of {len(sets)} sets, by the number of labelled anomalies: ten splits of 64 % training, 16 % validation and 20 % test rows. The PyTorch twin's fit to the training rows "
        "([method](../../method.md), three layers, 2,000 steps), then Adam on thresholds, slopes, attention and leaf weights: 400 steps of 512 labelled anomalies (drawn again and again) and 512 labelled "
        "normal rows. The validation rows say when to stop; with 120 labels they choose loss (AUC or BCE) and learning rate (0.005, 0.002, 0.001, 0.0005) of a set, which fewer labels then have, as in the "
        "paper. Mean over the sets ± standard error over the splits.\n\n" + head
    )
    for norm, name in NAMES.items():
        text += row([f"sparsities {name}", *over_sets(found, norm, sets)])
    for name, values in PAPER.items():
        text += row([f"the paper's DIAD{name}", *printed(values)])
    text += "\n## Every set, scaled over a layer\n\n"
    text += row(["set", *map(str, COUNTS), "loss, rate"]) + row(["---"] + ["---:"] * len(COUNTS) + ["---"])
    for name in sets:
        own = found["layer", name]
        text += row([name, *(with_error(list(own[count].values())) for count in COUNTS), ", ".join(chosen["layer", name])])
    page = os.path.join(ROOT, "docs/benchmarks/paper/few-labels.md")
    notes = "\n## Notes\n\n\nMade by\n"
    if os.path.exists(page):
        with open(page, encoding="utf-8") as file:
            notes = file.read()
        notes = "\n## Notes" + notes.split("## Notes", 1)[1]
    with open(page, "w", encoding="utf-8") as file:
        file.write(text + notes)


if __name__ == "__main__":
    main()
