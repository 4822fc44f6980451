"""Prints what docs/findings.md says of the paper's figures with --preset paper.

    python crates/diad-bench/python/findings.py DIAD DATA WORK [mammography thyroid donors celeba backdoor]

DIAD is the program, DATA the folder of the Parquet files; models are made in WORK, where they are not there yet.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

QUANTILES = (0.05, 0.5, 0.95, 0.99)


class Study:
    def __init__(self, diad, data, work, name):
        self.diad, self.table, self.name, self.work = diad, data / f"{name}.parquet", name, work
        self.first, self.tuned = work / f"{name}.diad", work / f"{name}-tuned.diad"
        if not self.first.exists():
            self.run("fit", self.table, "-o", self.first, "--label", "label", "--preset", "paper")

    def run(self, *arguments):
        done = subprocess.run([self.diad, *map(str, arguments)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        return done.stdout

    def tune(self, table):
        """The paper's loss, by descent, with a margin of 0."""
        if not self.tuned.exists():
            self.run("tune", self.first, table, "-o", self.tuned, "--label", "label", "--loss", "auc", "--margin", "0")

    def column(self, name):
        return pq.read_table(self.table, columns=[name])[name].to_numpy().astype(float)

    def explain(self, model, rows):
        rows = ",".join(map(str, rows))
        return json.loads(self.run("explain", model, self.table, "--rows", rows, "--terms", 1000, "--format", "json"))

    def scores(self):
        path = self.work / f"{self.name}-scores.csv"
        self.run("score", self.first, self.table, "-o", path)
        lines = path.read_text().splitlines()
        at = lines[0].split(",").index("score")
        return np.array([float(line.split(",")[at]) for line in lines[1:]])


def words(term):
    return " × ".join(f"{column['name']} = {column['value']}" for column in term["columns"])


def show(study, row, terms):
    told = study.explain(study.first, [row])["rows"][0]
    print(f"row {row}: score {told['score']:.1f}")
    for place, term in enumerate(told["terms"], 1):
        if place <= terms or (len(term["columns"]) == 2 and place <= 4 * terms):
            print(f"  {place:3} {term['contribution']:+8.2f}  {words(term)}")


def before_and_after(study, columns):
    """What a column adds by itself at quantiles of its values, less what it adds at its median."""
    for name in columns:
        order = np.argsort(study.column(name), kind="stable")
        rows = [int(order[int(q * (len(order) - 1))]) for q in QUANTILES]
        for label, model in (("before", study.first), ("after", study.tuned)):
            added = []
            for told in study.explain(model, rows)["rows"]:
                own = [t["contribution"] for t in told["terms"] if [c["name"] for c in t["columns"]] == [name]]
                added.append(sum(own))
            cells = " ".join(f"{q:g}: {a - added[1]:+.2f}" for q, a in zip(QUANTILES, added))
            print(f"  {name} {label}: {cells}")


def first_labels(study, anomalies, others):
    """A table of the first labelled rows, for tuning."""
    table = pq.read_table(study.table)
    labels = table["label"].to_numpy()
    rows = np.concatenate([np.flatnonzero(labels == 1)[:anomalies], np.flatnonzero(labels == 0)[:others]])
    path = study.work / f"{study.name}-labels.parquet"
    pq.write_table(table.take(pa.array(np.sort(rows))), path)
    return path


def main():
    diad, data, work = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    for name in sys.argv[4:] or ["mammography", "thyroid", "donors", "celeba", "backdoor"]:
        print(f"== {name}")
        study = Study(diad, data, work, name)
        if name == "thyroid":
            study.tune(study.table)
            before_and_after(study, ["TSH", "T3", "TT4", "T4U", "FTI"])
        elif name == "donors":
            study.tune(first_labels(study, 120, 1904))
            values = study.column("fully_funded")
            rows = [int(np.flatnonzero(values == v)[0]) for v in np.unique(values)]
            for label, model in (("before", study.first), ("after", study.tuned)):
                for value, told in zip(np.unique(values), study.explain(model, rows)["rows"]):
                    own = [t["contribution"] for t in told["terms"] if [c["name"] for c in t["columns"]] == ["fully_funded"]]
                    print(f"  fully_funded = {value:g} {label}: {sum(own):+.2f}")
            print(f"  share of rows with 1: {values.mean():.3f}, of anomalies {values[study.column('label') == 1].mean():.3f}")
        else:
            scores = study.scores()
            for row in np.argsort(-scores)[: 2 if name == "backdoor" else 1]:
                show(study, int(row), 6)
            if name == "celeba":
                show(study, int(scores.argmin()), 6)
            if name == "backdoor":
                found = np.zeros(2)
                for told in study.explain(study.first, np.argsort(-scores)[:100])["rows"]:
                    kinds = [sorted(c["name"].split("=")[0] for c in t["columns"]) for t in told["terms"][:3]]
                    found += [["proto", "state"] in kinds, any("state" in kind for kind in kinds)]
                print(f"  among the first three reasons of the 100 highest rows: proto × state {found[0]:.0f}, state {found[1]:.0f}")


if __name__ == "__main__":
    main()
