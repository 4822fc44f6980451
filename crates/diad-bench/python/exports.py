"""Exports against `diad score`, and how fast they are.

    python exports.py parity --diad target/release/diad [--rows 1000000] [--engines duckdb sqlite] [--kinds dates]
        [--trees 60] [--results FILE]
    python exports.py speed --diad target/release/diad

need duckdb, numpy, onnxruntime and pyarrow; speed also interpret-core, ebm2onnx and onnx; parity uses PostgreSQL where it is installed and
Spark where pyspark and Java are. With --results, every comparison is added to that file, and one that is in it is not made again while
the export is the same. `cargo xtask engines --rows 1000000` runs parity in all engines.
"""

import argparse
import hashlib
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "tests/exports"))
import engines  # noqa: E402
import models  # noqa: E402
from processor import processor_seconds  # noqa: E402

ENGINES = {
    "onnx": lambda: True,
    "duckdb": lambda: True,
    "sqlite": lambda: True,
    "postgres": engines.Postgres.programs,
    "spark": lambda: importlib.util.find_spec("pyspark") and shutil.which("java"),
}


#: How far from the exact score an export may be, relative to the score or to 1. Of two rows, both may be.
NEAR = 1e-5


def parity(options, folder):
    """The largest difference of any score, relative to the score or to 1, by model and engine: from tables and from `--exact`."""
    missing = [engine for engine in options.engines if not ENGINES[engine]()]
    if missing and options.all_engines:
        sys.exit(f"these engines are not installed: {', '.join(missing)}")
    known = [json.loads(line) for line in options.results.open()] if options.results and options.results.exists() else []
    print("| model | trees | engine | rows | from tables | from `--exact` | ranks that differ | rows a second |\n|---|---:|---|---:|---:|---:|---:|---:|")
    wrong = 0
    for kind in options.kinds:
        model, given = models.make(kind, folder, options.diad, ["--trees", options.trees]), None
        for engine in options.engines:
            if engine in missing:
                continue
            target = export(options.diad, engine, model, folder)
            digest = hashlib.sha256(target.read_bytes()).hexdigest()
            same = {"model": kind, "trees": options.trees, "engine": engine, "rows": options.rows, "export": digest}
            result = next((one for one in known if same.items() <= one.items()), None)
            if result is None:
                given = given or table_and_scores(options, kind, model, folder)
                result = same | compared(engine, target, *given)
                if options.results:
                    with options.results.open("a") as file:
                        file.write(json.dumps(result) + "\n")
            # Tables have a bound of their own.
            wrong += result["exact"] > NEAR or result["ranks"] > 0
            print("| {model} | {trees} | {engine} | {rows:,} | {tables:.1e} | {exact:.1e} | {ranks} | {speed:,.0f} |".format(**result), flush=True)
    if wrong:
        sys.exit(f"{wrong} exports are further off than {NEAR}, or order rows otherwise")


def table_and_scores(options, kind, model, folder):
    """A table of new rows, and their scores from tables and from `--exact`."""
    table, scores, ways = folder / "new.parquet", folder / "scores.parquet", []
    pq.write_table(models.table(kind, options.rows, 7, new=True), table)
    for more in ([], ["--exact"]):
        subprocess.run([options.diad, "score", model, table, *more, "-o", scores], check=True, capture_output=True)
        ways.append(pq.read_table(scores)["score"].to_numpy().astype(float))
    return table, ways


def compared(engine, target, table, ways):
    before = processor_seconds()
    found = score(engine, target, table)
    seconds = processor_seconds() - before
    off = [float((np.abs(found - known) / np.maximum(1, np.abs(known))).max()) for known in ways]
    # In the order of the export: rows that some row before them is above by more than both may be off.
    ordered = ways[0][np.argsort(found, kind="stable")]
    highest = np.maximum.accumulate(ordered)
    ranks = int(((highest - ordered) / np.maximum(1, np.abs(highest)) > 2 * NEAR).sum())
    assert len(found) == len(ordered) and np.isfinite(found).all()
    return {"tables": off[0], "exact": off[1], "ranks": ranks, "speed": len(found) / seconds}


def export(diad, engine, model, folder):
    target = folder / f"export.{engine}"
    form = ["onnx"] if engine == "onnx" else ["sql", "--dialect", engine, "--keep", "n"]
    subprocess.run([diad, "export", model, "--to", *form, "-o", target], check=True, capture_output=True)
    return target


def score(engine, target, table):
    if engine == "onnx":
        return engines.score_onnx(table, str(target))
    statement = target.read_text()
    if engine == "postgres":
        with engines.Postgres() as server:
            return server.score(table, statement)
    return getattr(engines, f"score_{engine}")(table, statement)


def speed(options, folder):
    """Rows a second of processor time of a model of 50 columns, beside an EBM of the same terms; and sizes of SQL."""
    import ebm2onnx
    import onnx
    import onnxruntime
    from interpret.glassbox import ExplainableBoostingClassifier

    table, diad = models.wide(20_000), options.diad
    names = table.column_names[1:]
    x = np.column_stack([table[name].to_numpy() for name in names])
    pq.write_table(table.select(names), folder / "wide.parquet")
    words = {"json": ["--to", "json"], "onnx": ["--to", "onnx"]}
    words |= {f"{dialect}.sql": ["--to", "sql", "--dialect", dialect] for dialect in models.DIALECTS}
    subprocess.run([diad, "fit", folder / "wide.parquet", "-o", folder / "wide.diad"], check=True, capture_output=True)
    for form, more in words.items():
        target = folder / f"wide.{form}"
        subprocess.run([diad, "export", folder / "wide.diad", *more, "-o", target], check=True, capture_output=True)
        print(f"{form}: {target.stat().st_size / 1e6:.2f} MB")
    terms = [term["name"].split(" × ") for term in json.loads((folder / "wide.json").read_text())["terms"]]
    pairs = [tuple(names.index(name) for name in term) for term in terms if len(term) == 2]
    settings = {"max_rounds": 30, "outer_bags": 1, "inner_bags": 0, "n_jobs": 1, "max_interaction_bins": 32}
    ebm = ExplainableBoostingClassifier(feature_names=names, interactions=pairs, **settings)
    ebm.fit(x[:5000], (x[:5000, 0] * x[:5000, 1] > 0).astype(int))
    onnx.save(ebm2onnx.to_onnx(ebm, dtype={name: "double" for name in names}), folder / "ebm.onnx")
    print(f"terms: {len(terms)}, of the EBM {len(ebm.term_names_)}")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for file in ("wide.onnx", "ebm.onnx"):
        session = onnxruntime.InferenceSession(str(folder / file), options, providers=["CPUExecutionProvider"])
        for rows in (512, 2048, 8192):
            feed = {put.name: x[:rows, names.index(put.name)].reshape([-1, 1][: len(put.shape)]) for put in session.get_inputs()}
            session.run(None, feed)
            seconds = []
            for _ in range(5):
                start = time.process_time()
                session.run(None, feed)
                seconds.append(time.process_time() - start)
            print(f"{file}, {rows} rows at a time: {rows / min(seconds):,.0f} rows a second")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["parity", "speed"])
    parser.add_argument("--diad", default="diad")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--trees", type=int, default=300, help="of each model")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--kinds", nargs="+", choices=models.KINDS, default=models.KINDS)
    parser.add_argument("--all-engines", action="store_true", help="refuse to leave out one that is not installed")
    parser.add_argument("--results", type=pathlib.Path, help="what has been compared, a line of JSON each")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        globals()[options.what](options, pathlib.Path(folder))
