"""The factorial of docs/benchmarks/paper/fidelity.md: which reading of the paper comes nearest to its figures.

    python factorial.py OUT.csv PACKED SECONDS PART      PART: choices, hard, rest, more

One line a fit and kind of score, written as it goes; a set is not begun that would not end in time.
"""

import csv
import sys
import time

import twin

COLUMNS = ("norm", "sched", "detach", "hard2")
OPEN = ["thyroid", "siesmic", "mammography", "campaign", "celeba", "backdoor", "donors"]
BOTH = [("lin", 0), ("log", 1)]
PARTS = {
    "choices": (
        [
            dict(norm=n, sched=s, detach=d)
            for n in ("layer", "tree", "literal", "none")
            for s in ("lin", "log")
            for d in (0, 1)
        ],
        OPEN,
    ),
    "hard": (
        [dict(norm=n, hard2=1, sched=s, detach=d) for n in ("layer", "tree", "literal", "none") for s, d in BOTH],
        ["thyroid", "celeba", "donors", "backdoor", "cpu", "siesmic", "campaign", "nyc"],
    ),
    "rest": (
        [
            dict(norm="none"),
            dict(norm="tree"),
            dict(norm="layer", sched="log"),
            dict(norm="none", hard2=1),
            dict(norm="tree", hard2=1),
        ],
        ["vowels", "musk", "satimage-2", "at", "mt", "smtp", "http", "fraud", "census"],
    ),
    "more": (
        [
            dict(norm="none"),
            dict(norm="none", lr=5e-3),
            dict(norm="none", lr=5e-3, hard2=1),
            dict(norm="none", min_temp=0.03),
            dict(norm="none", lr=5e-3, detach=1, sched="log"),
            dict(norm="tree", lr=5e-3, hard2=1),
            dict(norm="none", drop=0.0, hard2=1),
            dict(norm="none", lr=2e-3),
        ],
        ["nyc", "celeba", "siesmic", "thyroid", "backdoor"],
    ),
}
SEEDS = range(4)
MOST = 32


def measure(name, data, settings, lines):
    rows, labels = twin.load(f"{data}/{name}.npz")
    slots = [dict(setting, seed=seed) for setting in settings for seed in SEEDS]
    model = twin.Twin(rows, slots)
    model.fit()
    for hard in (False, True):
        layers = model.layer_scores(hard2=hard)
        for kind, scores in (("all", layers.mean(0)), ("first", layers[0]), ("last", layers[-1])):
            for slot, (auc, ap) in zip(slots, twin.metrics(scores, labels)):
                full = dict(twin.FIELDS, **slot)
                other = ";".join(f"{k}={v}" for k, v in sorted(slot.items()) if k not in (*COLUMNS, "seed"))
                chosen = [full[column] for column in COLUMNS]
                lines.writerow(
                    [name, *chosen, other, slot["seed"], "hard" if hard else "soft", kind, f"{auc:.3f}", f"{ap:.3f}"]
                )


def main():
    target, data, seconds, part = sys.argv[1:5]
    settings, sets = PARTS[part]
    begun, longest = time.time(), 0.0
    twin.check()
    with open(target, "a", newline="") as file:
        lines = csv.writer(file)
        for start in range(0, len(settings), MOST // len(SEEDS)):
            for name in sets:
                if time.time() - begun + longest > float(seconds):
                    sys.exit(f"out of time before {name}")
                began = time.time()
                measure(name, data, settings[start : start + MOST // len(SEEDS)], lines)
                file.flush()
                longest = max(longest, time.time() - began)
                print(f"{name}: {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
