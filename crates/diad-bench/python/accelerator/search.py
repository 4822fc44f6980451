"""The paper's way to few labels as a whole, on an accelerator: a random search of the settings of the fit without labels by the validation
rows, for each set; then the fits of ten splits with the best ones and their fine-tuning; and fits that settle open questions.

    python search.py PACKED STATE --phase search --minutes 9 [--copy OUT] [--processes 3] [--sets A,B]

Several processes share the accelerator. Every finished piece is written at once to a file in STATE (and copied to OUT), and is not done
again; figures that are known already may lie there as known.csv, with the columns of search.csv. The phases, and what each writes:

    search    rounds of settings drawn at random, each measured on all sets before the next: search.csv
    tune      ten splits with the best settings of every set, then fine-tuning: tuned.csv
    fidelity  readings of the final splits, eight seeds each, on the sets that disagree: readings.csv
    scratch   fine-tuning from random trees, without any pre-training: scratch.csv
"""

import argparse
import csv
import functools
import json
import os
import random
import shutil
import sys
import time
import traceback
import zlib
from collections import defaultdict

SETS = (
    "vowels siesmic thyroid satimage-2 mammography at nyc cpu mt campaign backdoor celeba fraud donors census".split()
)
SPLITS = range(10)
# Splits whose validation rows judge a setting, and settings that share a shape in a round.
JUDGES = (0, 1, 2)
TOGETHER = 4
ROUNDS = 40
DEFAULT = dict(layers=3, trees=300, depth=4, outputs=2, batch=2048, steps=2000)
SHAPES = dict(
    layers=(2, 3, 4, 5),
    trees=(100, 200, 300, 500),
    depth=(2, 3, 4, 5),
    outputs=(1, 2, 3),
    batch=(512, 1024, 2048, 4096),
    steps=(1000, 2000),
)
OTHERS = dict(
    norm=("layer", "none", "tree"),
    lr=(5e-4, 1e-3, 2e-3, 5e-3),
    gamma=(0.05, 0.1, 0.3),
    delta=(10.0, 50.0, 100.0, 200.0),
    drop=(0.0, 0.5, 0.75, 0.9),
    rho=(0.2, 0.4, 0.7, 1.0),
    min_temp=(0.05, 0.1, 0.3),
)
# Work of a fit, in fits by default, beyond which a shape is drawn again.
MOST_WORK = 1.2
# Readings of the splits after annealing: soft, steps, or ever steeper until the last step.
READINGS = [
    dict(norm="none"),
    dict(norm="none", hard2=1),
    dict(norm="none", late=0.03),
    dict(norm="none", late=0.01),
    dict(norm="none", min_temp=0.05),
    dict(norm="none", sched="log", late=0.03),
]
# The sets of all readings, and those of the ever steeper ones alone, with half the seeds.
DISPUTED = ["backdoor", "nyc", "celeba", "siesmic"]
OTHERS_OF_THE_PAPER = (
    "thyroid vowels musk mammography campaign donors cpu at mt smtp satimage-2 fraud http census".split()
)
STEEPER = 1
SEEDS = range(8)


def work(shape):
    """Of a fit, in fits by default: trees, and attention between pairs of trees, are seven and three tenths of it."""
    trees = lambda s: s["layers"] * s["trees"] * (8 + 2 ** s["depth"])
    pairs = lambda s: s["trees"] ** 2 * s["layers"] * (s["layers"] - 1)
    rows = lambda s: s["batch"] * s["steps"]
    a_row = 0.7 * trees(shape) / trees(DEFAULT) + 0.3 * pairs(shape) / pairs(DEFAULT)
    return a_row * rows(shape) / rows(DEFAULT)


def drawn(number):
    """The shape and the other settings of a round; the first round has the default's shape."""
    r = random.Random(1000 + number)
    draw = lambda space: {name: r.choice(values) for name, values in space.items()}
    shape = DEFAULT
    while number and (shape == DEFAULT or work(shape) > MOST_WORK):
        shape = draw(SHAPES)
    return shape, [draw(OTHERS) for _ in range(TOGETHER)]


def timed(shape):
    return dict(shape, warmup=shape["steps"] // 2, anneal=shape["steps"] // 2)


class Results:
    """Files of results, one line a figure, written by several processes."""

    def __init__(s, state, copy, lock):
        s.state, s.copy, s.lock = state, copy, lock

    def write(s, name, lines):
        with s.lock:
            path = os.path.join(s.state, name)
            with open(path, "a", newline="") as file:
                csv.writer(file).writerows(lines)
            if s.copy:
                shutil.copy(path, s.copy)


def read(state, name):
    path = os.path.join(state, name)
    if not os.path.exists(path):
        return []
    with open(path, newline="") as file:
        return list(csv.reader(file))


def best_setting(state, name):
    """The shape and the settings with the highest validation figure over the judging splits; defaults are known from earlier runs."""
    found = defaultdict(list)
    for table in ("known.csv", "search.csv"):
        for set_, _, setting, split, valid, _ in read(state, table):
            if set_ == name and int(split) in JUDGES:
                found[setting].append(float(valid))
    means = {setting: sum(all_) / len(all_) for setting, all_ in found.items() if len(all_) == len(JUDGES)}
    setting = json.loads(max(means, key=means.get)) if means else dict(DEFAULT, norm="layer")
    shape = {key: setting.pop(key) for key in DEFAULT}
    return shape, setting


# ---- what a process does
@functools.cache
def load(packed, name):
    import tuning
    import twin

    X, labels = twin.load(os.path.join(packed, f"{name}.npz"))
    y = labels.cpu().numpy()
    return X, labels, y, {s: tuning.split(y, s) for s in SPLITS}


def figures(fitted, y, splits, slots):
    """Validation and test AUC of every slot, of its own split."""
    import torch
    import tuning

    out = []
    for part, most in zip((1, 2), tuning.MOST):
        rows = [tuning.thinned(y, splits[slot["seed"]][part], most) for slot in slots]
        told = fitted.scores(tuning.padded(rows, 1))
        known = torch.tensor(y, device=told.device)
        out.append(
            [
                tuning.auc(told[i, : len(own)], known[torch.tensor(own, device=told.device)]).item()
                for i, own in enumerate(rows)
            ]
        )
    return list(zip(*out))


def search(job, packed, state, results):
    import tuning

    _, name, number = job
    shape, settings = drawn(number)
    X, _, y, splits = load(packed, name)
    slots = [dict(setting, seed=split) for setting in settings for split in JUDGES]
    fitted = tuning.fit(X, y, slots, splits, **timed(shape))
    lines = []
    for slot, (valid, test) in zip(slots, figures(fitted, y, splits, slots)):
        split = slot["seed"]
        setting = json.dumps({**shape, **{k: v for k, v in slot.items() if k != "seed"}}, sort_keys=True)
        lines.append([name, number, setting, split, f"{valid:.3f}", f"{test:.3f}"])
    results.write("search.csv", lines)


def tune(job, packed, state, results):
    import tuning

    phase, name = job
    X, _, y, splits = load(packed, name)
    scratch = phase == "scratch"
    shape, setting = (DEFAULT, dict(norm="none")) if scratch else best_setting(state, name)
    slots = [dict(setting, seed=s) for s in SPLITS]
    fitted = tuning.fit(X, y, slots, splits, scratch=scratch, **timed(shape))
    told = json.dumps({**shape, **setting}, sort_keys=True)
    lines = []

    def write(s, count, loss, rate, what, valid, test):
        lines.append([name, s, count, loss, rate, what, f"{valid:.3f}", f"{test:.3f}", told])

    chosen = tuning.measure(fitted, y, [splits[s] for s in SPLITS], write)
    results.write(f"{'scratch' if scratch else 'tuned'}.csv", lines)
    return chosen


def fidelity(job, packed, state, results):
    import twin

    _, name, number = job
    X, labels, _, _ = load(packed, name)
    readings = READINGS[2 * number : 2 * number + 2]
    seeds = SEEDS if name in DISPUTED else SEEDS[: len(SEEDS) // 2 or 1]
    slots = [dict(reading, seed=seed) for reading in readings for seed in seeds]
    model = twin.Twin(X, slots, **timed(DEFAULT))
    model.fit()
    scores = model.layer_scores().mean(0)
    told = [json.dumps({k: v for k, v in slot.items() if k != "seed"}, sort_keys=True) for slot in slots]
    measured = zip(slots, told, twin.metrics(scores, labels))
    results.write("readings.csv", [[name, t, slot["seed"], f"{auc:.3f}", f"{ap:.3f}"] for slot, t, (auc, ap) in measured])


def jobs_of(phase, state, sets):
    """The jobs that are not done, in order: each round on all sets before the next."""
    if phase == "search":
        done = {(line[0], int(line[1])) for line in read(state, "search.csv")}
        return [("search", name, r) for r in range(ROUNDS) for name in sets if (name, r) not in done]
    if phase in ("tune", "scratch"):
        done = {line[0] for line in read(state, "tuned.csv" if phase == "tune" else "scratch.csv")}
        return [(phase, name) for name in sets if name not in done]
    told = lambda number: json.dumps(READINGS[2 * number], sort_keys=True)
    done = {(line[0], line[1]) for line in read(state, "readings.csv")}
    asked = [(name, n) for name in DISPUTED for n in range(len(READINGS) // 2)]
    asked += [(name, STEEPER) for name in OTHERS_OF_THE_PAPER]
    return [("fidelity", name, n) for name, n in asked if (name in sets or sets == SETS) and (name, told(n)) not in done]


def check():
    import tuning
    import twin

    for depth in (2, 3, 4, 5):
        twin.check(depth)
        tuning.check(depth)


WORK = dict(search=search, tune=tune, scratch=tune, fidelity=fidelity)


def worker(jobs, packed, state, copy, lock, stop, longest, small):
    import torch

    results = Results(state, copy, lock)
    if small:
        small()
    while True:
        with lock:
            if jobs[1].value >= len(jobs[0]) or time.time() + longest.value > stop:
                return
            job = jobs[0][jobs[1].value]
            jobs[1].value += 1
        began = time.time()
        torch.manual_seed(zlib.crc32(repr(job).encode()))
        try:
            told = WORK[job[0]](job, packed, state, results) or ""
        except Exception:
            told = "FAILED\n" + traceback.format_exc()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        took = time.time() - began
        line = f"{time.strftime('%H:%M:%S')} {' '.join(map(str, job))}: {took:.0f} s {told}"
        print(line, flush=True)
        with lock:
            longest.value = max(longest.value, took)
            with open(os.path.join(state, "log.txt"), "a") as file:
                file.write(line + "\n")
            if copy:
                shutil.copy(os.path.join(state, "log.txt"), copy)


def tiny():
    """For a trial without an accelerator (TWIN_DEVICE=cpu TRITON_INTERPRET=1): fits of a few steps."""
    import tuning

    global SPLITS, DEFAULT, JUDGES, TOGETHER, SEEDS
    SPLITS, JUDGES, TOGETHER, SEEDS = range(2), (0, 1), 1, range(1)
    DEFAULT = dict(layers=2, trees=2, depth=3, outputs=2, batch=64, steps=4)
    SHAPES.update(layers=(2,), trees=(2, 3), depth=(2, 3), outputs=(1, 2), batch=(32, 64), steps=(4,))
    tuning.HALF, tuning.LOOKS, tuning.MOST = 16, (0, 1), (100, 100)
    tuning.COUNTS, tuning.RATES = (5, 120), (5e-3,)


def main():
    import torch.multiprocessing as mp

    asked = argparse.ArgumentParser()
    asked.add_argument("packed")
    asked.add_argument("state")
    asked.add_argument("--phase", required=True, help="search, tune, fidelity, scratch; several with commas")
    asked.add_argument("--minutes", type=float, required=True)
    asked.add_argument("--copy", default="")
    asked.add_argument("--processes", type=int, default=3)
    asked.add_argument("--sets", default=",".join(SETS))
    asked.add_argument("--tiny", action="store_true", help="a trial of a few steps")
    given = asked.parse_args()
    stop = time.time() + 60 * given.minutes
    os.makedirs(given.state, exist_ok=True)
    if given.tiny:
        tiny()
    context = mp.get_context("spawn")
    checking = context.Process(target=check)
    checking.start()
    checking.join()
    if checking.exitcode:
        sys.exit("the kernels are wrong on this machine: nothing was begun")
    lock, longest = context.RLock(), context.Value("d", 10.0)
    for phase in given.phase.split(","):
        jobs = jobs_of(phase, given.state, given.sets.split(","))
        print(f"{phase}: {len(jobs)} jobs to do", flush=True)
        longest.value = 0.0
        taken = context.Value("i", 0)
        small = tiny if given.tiny else None
        arguments = ((jobs, taken), given.packed, given.state, given.copy, lock, stop, longest, small)
        processes = [context.Process(target=worker, args=arguments) for _ in range(given.processes)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
        print(f"{phase}: {len(jobs) - len(jobs_of(phase, given.state, given.sets.split(',')))} of {len(jobs)} done", flush=True)


if __name__ == "__main__":
    main()
