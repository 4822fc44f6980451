"""Exports against `diad score`, and how fast they are.

    python exports.py parity --diad target/release/diad [--rows 1000000] [--engines duckdb sqlite]
    python exports.py speed --diad target/release/diad

need duckdb, numpy, onnxruntime and pyarrow; speed also interpret-core, ebm2onnx and onnx; parity uses PostgreSQL where it is installed and
Spark where pyspark and Java are.
"""

import argparse
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

ENGINES = {
    "onnx": lambda: True,
    "duckdb": lambda: True,
    "sqlite": lambda: True,
    "postgres": engines.Postgres.programs,
    "spark": lambda: importlib.util.find_spec("pyspark") and shutil.which("java"),
}


def parity(diad, rows, wanted, folder):
    """The largest difference of any score, relative to the score or to 1, by model and engine: from tables and from `--exact`."""
    print("| model | engine | rows | from tables | from `--exact` | ranks that differ |\n|---|---|---:|---:|---:|---:|")
    there = [engine for engine, is_there in ENGINES.items() if engine in wanted and is_there()]
    for kind in models.KINDS:
        model, table, scores = models.make(kind, folder, diad), folder / "new.parquet", folder / "scores.parquet"
        whole = models.table(kind, rows, 7, new=True)
        pq.write_table(whole, table)
        ways = []
        for more in (["--exact"], []):
            subprocess.run([diad, "score", model, table, *more, "-o", scores], check=True, capture_output=True)
            ways.append(pq.read_table(scores)["score"].to_numpy().astype(float))
        for engine in there:
            found = score(diad, engine, model, table, folder)
            off = [(np.abs(found - known) / np.maximum(1, np.abs(known))).max() for known in ways]
            known = ways[1]
            # Rows in the order of the export: where the known score falls, by how much more than both may be off.
            ordered = known[np.argsort(found, kind="stable")]
            falls = (ordered[:-1] - ordered[1:]) / np.maximum(1, np.abs(ordered[:-1])) > 2e-5
            print(f"| {kind} | {engine} | {len(found):,} | {off[1]:.1e} | {off[0]:.1e} | {falls.sum()} |", flush=True)


def score(diad, engine, model, table, folder):
    target = folder / f"export.{engine}"
    if engine == "onnx":
        subprocess.run([diad, "export", model, "--to", "onnx", "-o", target], check=True, capture_output=True)
        return engines.score_onnx(table, str(target))
    words = [diad, "export", model, "--to", "sql", "--dialect", engine, "--keep", "n", "-o", target]
    subprocess.run(words, check=True, capture_output=True)
    statement = target.read_text()
    if engine == "postgres":
        with engines.Postgres() as server:
            return server.score(table, statement)
    return getattr(engines, f"score_{engine}")(table, statement)


def speed(diad, _rows, _wanted, folder):
    """Rows a second of processor time of a model of 50 columns, beside an EBM of the same terms; and sizes of SQL."""
    import ebm2onnx
    import onnx
    import onnxruntime
    from interpret.glassbox import ExplainableBoostingClassifier

    table = models.wide(20_000)
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
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        globals()[options.what](options.diad, options.rows, options.engines, pathlib.Path(folder))
