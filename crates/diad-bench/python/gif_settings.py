"""How far the generalised isolation forest depends on what the paper does not print: AUC on small sets by trees, representatives of a
node (K), rows of a leaf at most, and the distance to the representatives at which a node is a leaf, on columns of the unit interval.

    python crates/diad-bench/python/gif_settings.py DATA
"""

import sys

import numpy as np
import pyarrow.parquet as pq
from sklearn.metrics import roc_auc_score

SETS = ["vowels", "siesmic", "thyroid", "satimage-2", "at", "mammography"]
PAPER = [79.0, 53.3, 57.6, 98.9, 56.4, 82.5]
SAMPLE, DEPTH, SEEDS = 256, 24, 2
# Trees, K, rows of a leaf, distance.
SETTINGS = [
    *((trees, 2, 8, 0.0) for trees in (10, 20, 32, 50, 128)),
    *((32, count, few, near) for count in (2, 10) for few, near in ((1, 0.0), (32, 0.0), (1, 0.2), (1, 0.5), (1, 1.0))),
]


def load(path):
    table = pq.read_table(path)
    x = np.column_stack([table[name].to_numpy().astype(float) for name in table.column_names if name != "label"])
    low, high = x.min(0), x.max(0)
    return (x - low) / np.where(high > low, high - low, 1), table["label"].to_numpy()


def distances(a, b):
    return np.sqrt(((a[:, None] - b[None]) ** 2).sum(-1))


def representatives(rows, count, random):
    found = []
    for row in rows[random.permutation(len(rows))]:
        if all((row != other).any() for other in found):
            found.append(row)
        if len(found) == count:
            break
    return np.array(found)


def scores(x, trees, count, few, near, seed):
    random = np.random.RandomState(seed)
    total = np.zeros(len(x))
    for _ in range(trees):
        sample = x[random.choice(len(x), min(SAMPLE, len(x)), replace=False)]
        nodes = [(sample, np.arange(len(x)), 0)]
        while nodes:
            own, rows, depth = nodes.pop()
            split = None
            if len(own) > few and depth < DEPTH:
                split = representatives(own, count, random)
                if len(split) < 2 or distances(own, split).min(1).max() < near:
                    split = None
            if split is None:
                total[rows] += len(own) / len(sample)
                continue
            part, place = distances(own, split).argmin(1), distances(x[rows], split).argmin(1)
            nodes += [(own[part == k], rows[place == k], depth + 1) for k in range(len(split)) if (place == k).any()]
    return -total


def main():
    data = [load(f"{sys.argv[1]}/{name}.parquet") for name in SETS]
    print("| trees | K | rows of a leaf | distance |", " | ".join(SETS), "|")
    print("|" + "---:|" * (4 + len(SETS)))
    for setting in SETTINGS:
        cells = []
        for x, y in data:
            aucs = [100 * roc_auc_score(y, scores(x, *setting, seed)) for seed in range(SEEDS)]
            cells.append(f"{np.mean(aucs):.1f}")
        print("|", " | ".join(f"{value:g}" for value in setting), "|", " | ".join(cells), "|", flush=True)
    print("| the paper |  |  |  |", " | ".join(map(str, PAPER)), "|")


if __name__ == "__main__":
    main()
