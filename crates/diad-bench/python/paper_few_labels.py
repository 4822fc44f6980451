"""The page on few labels by the paper's own way: docs/benchmarks/paper/few-labels.md from bench/results/paper (few-labels.csv, search.csv,
tuned.csv, scratch.csv), with curves for every set.

    python crates/diad-bench/python/paper_few_labels.py
"""

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

import curves

ROOT = Path(__file__).resolve().parents[3]
RESULTS = ROOT / "bench/results/paper"
PAGES = ROOT / "docs/benchmarks/paper"
COUNTS = [0, 5, 15, 30, 60, 120]
LABELLED = COUNTS[1:]
PAPER = {
    "DIAD": [87.1, 89.4, 90.0, 90.4, 89.4, 91.0],
    "DIAD, only AUC": [None, 88.9, 89.4, 90.0, 89.1, 90.7],
    "DIAD, only BCE": [None, 88.8, 89.3, 89.4, 88.3, 89.2],
    "DIAD, only leaf weights": [None, 84.8, 85.7, 86.6, 85.7, 88.3],
    "DIAD, unnormalized": [None, 84.1, 85.6, 85.7, 84.2, 85.6],
    "DIAD w/o PT": [None, 86.2, 87.6, 88.3, 87.2, 88.8],
}
SHAPE = ("layers", "trees", "depth", "outputs", "batch", "steps")


class Runs:
    """Test AUC by set, number of labels, loss, rate and what was tuned; for each split."""

    def __init__(self):
        self.valid = defaultdict(dict)
        self.test = defaultdict(dict)

    def add(self, name, count, how, split, valid, test):
        self.valid[name, count, how][split] = float(valid)
        self.test[name, count, how][split] = float(test)

    def sets(self):
        return list(dict.fromkeys(name for name, *_ in self.test))

    def chosen(self, name, losses=("auc", "bce")):
        """The loss and the rate with the best validation figure at 120 labels."""
        found = {how: mean(v.values()) for (n, c, how), v in self.valid.items() if (n, c) == (name, 120) and how[0] in losses}
        return max(sorted(how for how in found if how[2] == "all"), key=found.get)

    def of(self, name, count, losses=("auc", "bce"), what="all"):
        """Test AUC for each split."""
        how = ("", "", "") if count == 0 else (*self.chosen(name, losses)[:2], what)
        return self.test.get((name, count, how), {})

    def cells(self, sets, losses=("auc", "bce"), what="all"):
        """For each count the mean over sets, with its standard error over splits."""
        out = []
        for count in COUNTS:
            found = [self.of(name, count, losses, what) for name in sets]
            splits = sorted(set.intersection(*map(set, found))) if all(found) else []
            out.append(with_error([mean(own[s] for own in found) for s in splits]) if splits else "–")
        return out


def table(name, fields):
    path = RESULTS / name
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [line for line in csv.DictReader(file, fields) if line["set"] != "set"]


def plain(norm):
    """Fine-tuning with the default's settings of pre-training."""
    runs = Runs()
    for line in table("few-labels.csv", None):
        if line["norm"] == norm:
            how = (line["loss"], line["rate"], "all" if line["loss"] else "")
            runs.add(line["set"], int(line["count"]), how, int(line["split"]), line["valid"], line["test"])
    return runs


def tuned(name):
    runs, settings = Runs(), {}
    for line in table(name, ["set", "split", "count", "loss", "rate", "what", "valid", "test", "setting"]):
        how = (line["loss"], line["rate"], line["what"])
        runs.add(line["set"], int(line["count"]), how, int(line["split"]), line["valid"], line["test"])
        settings[line["set"]] = json.loads(line["setting"])
    return runs, settings


def with_error(values):
    error = f" ± {stdev(values) / len(values) ** 0.5:.1f}" if len(values) > 1 else ""
    return f"{mean(values):.1f}{error}" if values else "–"


def row(cells):
    return "| " + " | ".join(cells) + " |\n"


def header(first, *more):
    names = [first, *map(str, COUNTS), *more]
    return row(names) + row(["---"] + ["---:"] * len(COUNTS) + ["---"] * len(more))


def told(setting):
    """A setting in words: the shape, then what else was drawn."""
    shape = f"{setting['layers']} × {setting['trees']}, depth {setting['depth']}, {setting['outputs']} out, {setting['batch']} rows × {setting['steps']}"
    others = ", ".join(f"{key} {value:g}" if key != "norm" else f"scale {value}" for key, value in sorted(setting.items()) if key not in SHAPE)
    return f"{shape}; {others}"


def searched(found):
    """How many settings each set saw, and what the choice brought on the validation rows and on the test rows of the judging splits."""
    by = defaultdict(lambda: defaultdict(list))
    for line in found:
        by[line["set"]][line["setting"]].append((float(line["valid"]), float(line["test"])))
    lines = []
    for name, own in by.items():
        means = {setting: [mean(part) for part in zip(*figures)] for setting, figures in own.items()}
        best = max(means, key=lambda setting: means[setting][0])
        middle = sorted(test for _, test in means.values())[len(means) // 2]
        highest = max(test for _, test in means.values())
        lines.append([name, str(len(means)), f"{means[best][0]:.1f}", f"{means[best][1]:.1f}", f"{middle:.1f}", f"{highest:.1f}"])
    return lines


def main():
    layer, none = plain("layer"), plain("none")
    best, settings = tuned("tuned.csv")
    scratch, _ = tuned("scratch.csv")
    sets = [name for name in layer.sets() if name in best.sets()] or layer.sets()
    text = (
        "# Few labels by the paper's own way\n\n"
        f"ROC-AUC in % on the test rows of {len(sets)} sets, by the number of labelled anomalies: ten splits of 64 % training, 16 % validation and 20 % test rows. "
        "The PyTorch twin's fit to the training rows without labels, then Adam on thresholds, slopes, attention and leaf weights: 400 steps of 512 labelled anomalies "
        "(drawn again and again) and 512 labelled normal rows. The validation rows say when to stop; with 120 labels they choose loss (AUC or BCE) and learning rate (0.005, "
        "0.002, 0.001, 0.0005) of a set, which fewer labels then have, as in the paper. *Searched*: the settings of the fit without labels are chosen too, for each set, by a "
        "random search that the validation rows judge. Mean over the sets ± standard error over the splits.\n\n"
    )
    text += header("")
    if best.sets():
        text += row(["**searched**", *best.cells(sets)])
    text += row(["default settings, sparsities scaled over a layer", *layer.cells(sets)])
    text += row(["default settings, sparsities as they are", *none.cells(sets)])
    if best.sets():
        text += row(["searched, only AUC", *best.cells(sets, ("auc",))])
        text += row(["searched, only BCE", *best.cells(sets, ("bce",))])
        text += row(["searched, only leaf weights", *best.cells(sets, what="leaves")])
    if set(sets) <= set(scratch.sets()):
        text += row(["random trees, no fit without labels", *["–"], *scratch.cells(sets)[1:]])
    for name, values in PAPER.items():
        text += row([f"the paper: {name}", *("–" if value is None else f"{value:.1f}" for value in values)])
    part = [name for name in sets if name in scratch.sets()]
    if part and len(part) < len(sets):
        text += f"\nThe same on {len(part)} sets, {', '.join(part)}:\n\n" + header("")
        text += row(["searched", *best.cells(part)]) + row(["default settings, sparsities as they are", *none.cells(part)])
        text += row(["random trees, no fit without labels", *["–"], *scratch.cells(part)[1:]])
    if best.sets():
        text += "\n## Every set, searched\n\n" + header("set", "loss, rate", "settings of the fit")
        for name in sets:
            figures = [with_error(list(best.of(name, count).values())) for count in COUNTS]
            text += row([name, *figures, ", ".join(best.chosen(name)[:2]), told(settings[name])])
    shown = layer if not best.sets() else none
    title = "scaled over a layer" if shown is layer else "sparsities as they are"
    text += f"\n## Every set with the default settings, {title}\n\n" + header("set", "loss, rate")
    for name in sets:
        figures = [with_error(list(shown.of(name, count).values())) for count in COUNTS]
        text += row([name, *figures, ", ".join(shown.chosen(name)[:2])])
    found = table("search.csv", ["set", "round", "setting", "split", "valid", "test"])
    if found:
        text += "\n## The search\n\nWithout labels, on three splits: the setting that validation chooses, the middle setting by test and the best one by test, which nobody could know.\n\n"
        text += row(["set", "settings", "validation of the chosen", "test of the chosen", "test of the middle one", "highest test"])
        text += row(["---"] + ["---:"] * 5) + "".join(map(row, searched(found)))
    lines = {"searched": best, "default settings": none, "random trees": scratch}
    panels = {
        name: {
            label: [(count, mean(own.values())) for count in COUNTS if (own := runs.of(name, count)) and (count or runs is not scratch)]
            for label, runs in lines.items()
            if name in runs.sets()
        }
        for name in sets
    }
    (PAGES / "few-labels.svg").write_text(curves.small_multiples(panels, COUNTS), encoding="utf-8")
    text += "\n## Curves\n\n![ROC-AUC by the number of labelled anomalies, for every set](few-labels.svg)\n"
    page = PAGES / "few-labels.md"
    notes = page.read_text(encoding="utf-8").split("## Notes", 1)[1] if page.exists() else "\n"
    page.write_text(text + "\n## Notes" + notes, encoding="utf-8")
    print(text.split("\n## ")[0])


if __name__ == "__main__":
    main()
