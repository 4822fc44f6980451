"""Scores in DuckDB and Spark against those of the package and of the command, and how fast they are.

    python crates/diad-bench/python/engines.py parity --diad target/release/diad
    python crates/diad-bench/python/engines.py speed --table donors.parquet --master spark://127.0.0.1:7077

``parity`` scores a million rows with infinities, gaps, huge numbers and categories that no training row had, with six models, in each way
and compares all numbers bit for bit. ``speed`` measures rows per second and processor time of the scores of one table, each as the best of
some runs, in turns. A cluster that was started elsewhere is no child of this process, so that its processor time is not known.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import diad
import diad.duckdb
import diad.spark
from processor import processor_seconds

QUICK = {"steps": 300, "trees": 60}


def made_up(rows, seed):
    """A table of every kind of column, as it would be trained on."""
    random = np.random.default_rng(seed)
    x = random.normal(size=rows)
    amount = random.lognormal(3, 1, rows)
    when = np.datetime64("2024-01-01", "us") + random.integers(0, 365 * 86_400, rows) * np.timedelta64(1, "s")
    return pa.table(
        {
            "number": np.arange(rows),
            "x": x,
            "y": 3 * x + random.normal(size=rows),
            "count": random.poisson(3, rows),
            "amount": amount,
            "single": x.astype(np.float32),
            "gap": pa.array(amount.round(1), mask=random.random(rows) < 0.1),
            "kind": random.choice(["card", "cash", "invoice", "üçä"], rows, p=[0.6, 0.3, 0.09, 0.01]),
            "city": pa.array(random.choice([f"city {i}" for i in range(40)], rows), mask=random.random(rows) < 0.05),
            "flag": random.random(rows) < 0.2,
            "when": when,
            "day": pa.array(when.astype("datetime64[D]")),
        }
    )


#: What no training row had.
ODD = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1e308, -1e308, 5e-324, 1e19, -1e19, 2.0**53 + 2]


def strange(rows, seed):
    """The same columns with every odd value in every one of them."""
    random = np.random.default_rng(seed)
    table = made_up(rows, seed)
    for place, name in enumerate(table.column_names):
        column, odd = table[name], random.random(rows) < 0.05
        if pa.types.is_floating(column.type):
            values = column.to_numpy(zero_copy_only=False).copy()
            with np.errstate(over="ignore"):
                values[odd] = random.choice(ODD, odd.sum())
            column = pa.array(values.astype(column.type.to_pandas_dtype()), mask=random.random(rows) < 0.02)
        elif pa.types.is_string(column.type):
            texts = np.array(column.to_pylist(), dtype=object)
            texts[odd] = random.choice(["", "unseen", "CARD", "NaN", "a\x00b", "🏔", "x" * 300], odd.sum())
            column = pa.array(texts, pa.string(), mask=random.random(rows) < 0.02)
        elif name != "number":
            column = pa.array(column.to_numpy(zero_copy_only=False), column.type, mask=odd)
        table = table.set_column(place, name, column)
    return table


def models(folder, program):
    """Six models of the same rows, each as a file."""
    table = made_up(20_000, 1)
    numbers, texts = ["x", "y", "count", "amount", "single"], ["kind", "city", "flag"]
    chosen = {"numbers": numbers, "categories": texts, "gaps": ["gap", "city", "x"], "dates": ["when", "day", "amount"]}
    for name, columns in chosen.items():
        diad.DIAD(**QUICK).fit(table.select(columns)).save(folder / f"{name}.diad")
    labels = np.where(np.arange(len(table)) % 50 == 0, table["amount"].to_numpy() > 60, -1)
    tuned = diad.DIAD(ignore=["number"], **QUICK).fit(table, labels)
    tuned.save(folder / "tuned.diad")
    edits = ["--mute", "kind=cash", "--cap", "amount=1", "--alert", "share=1%"]
    subprocess.run([program, "edit", folder / "tuned.diad", *edits, "-o", folder / "edited.diad"], check=True, stdout=subprocess.DEVNULL)
    return [*chosen, "tuned", "edited"]


def session(master):
    """A session of Spark."""
    from pyspark.sql import SparkSession

    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    builder = SparkSession.builder.master(master).config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.driver.memory", "3g")
    spark = builder.config("spark.driver.maxResultSize", "2g").config("spark.executor.memory", "2g").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def parity(args):
    table = strange(args.rows, 2)
    asked = {"id": "number", "reasons": 1, "alert": "share=1%"}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        rows = folder / "rows.parquet"
        pq.write_table(table, rows)
        spark, con = session(args.master), duckdb.connect()
        con.execute("SET TimeZone = 'UTC'")
        for name in models(folder, args.diad):
            model, scores = folder / f"{name}.diad", folder / "scores.parquet"
            command = [args.diad, "score", model, rows, "--id", "number", "--reasons", "1", "--alert", "share=1%", "-o", scores]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            expected = pq.read_table(scores)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                package = diad.load(model).decision_function(table)
            diad.duckdb.register(con, model)
            function = con.sql(f"SELECT diad_score(t) AS s FROM '{rows}' t ORDER BY number").to_arrow_table()["s"]
            query = diad.duckdb.score(con, f"SELECT * FROM '{rows}'", model, **asked).order("number").to_arrow_table()
            df = spark.read.parquet(str(rows)).repartition(args.partitions)
            sparks = diad.spark.score(df, model, **asked).toArrow().sort_by("number")
            want = expected["score"].to_numpy().astype(np.float64)
            result = {"model": name, "rows": len(want), "package": same(package, want), "duckdb function": same(function, want)}
            for engine, found in (("duckdb query", query), ("spark", sparks)):
                result[engine] = same(found["score"], want) and all(
                    found[column].to_pylist() == expected[column].to_pylist()
                    for column in ("percentile", "p_value", "severity", "alert", "reason_1")
                )
            print(json.dumps(result), flush=True)
        con.close()
        spark.stop()


def same(found, expected):
    """Whether numbers are equal to the last bit."""
    return np.asarray(found, dtype=np.float64).tobytes() == expected.tobytes()


def best(works, runs):
    """The least seconds by the clock of some runs, and the least of processors, of each work by its name. They take turns, so that what
    else the machine does slows all of them down."""
    seconds = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            start, used = time.perf_counter(), processor_seconds()
            work()
            seconds[name].append((time.perf_counter() - start, processor_seconds() - used))
    return {name: tuple(map(min, zip(*found, strict=True))) for name, found in seconds.items()}


def speed(args):
    table = pq.read_table(args.table)
    label = [name for name in table.column_names if name == "label"]
    table = pa.concat_tables([table.drop(label)] * args.times)
    detector = diad.DIAD().fit(table.slice(0, len(table) // args.times))

    def told(works, runs, threads, rows=len(table)):
        for name, (clock, processors) in best(works, runs).items():
            speed = {"rows_per_second": round(rows / clock)}
            if not str(threads).startswith("spark:"):
                speed["processor_us_per_row"] = round(1e6 * processors / rows, 3)
            print(json.dumps({"what": name, "threads": threads, **speed}), flush=True)

    if "duckdb" in args.engines:
        duckdb_speed(args, table, detector, told)
    if "spark" in args.engines:
        spark_speed(args, table, told)


def duckdb_speed(args, table, detector, told):
    model, con = detector._model, duckdb.connect()
    con.register("given", table)
    con.execute("CREATE TABLE rows AS SELECT * FROM given")
    diad.duckdb.register(con, detector)
    function = con.sql("SELECT sum(diad_score(r)) FROM rows r")
    query = diad.duckdb.score(con, "SELECT * FROM rows", detector)
    alone = diad.duckdb.score(con, "SELECT * FROM rows", detector, columns="score")
    for threads in args.threads:
        con.execute(f"SET threads = {threads}")
        works = {
            "package, from Arrow": lambda: model.score(table, threads),
            "package, with percentiles and p-values": lambda: model.judge(table),
            "DuckDB: diad_score(row)": function.fetchall,
            "DuckDB: diad.duckdb.score": lambda: query.aggregate("sum(score), max(p_value)").fetchall(),
            "DuckDB: diad.duckdb.score, the score alone": lambda: alone.aggregate("sum(score)").fetchall(),
        }
        if threads != 1:
            del works["package, with percentiles and p-values"]
        told(works, args.runs, threads)
    con.close()


def spark_speed(args, table, told):
    import pandas as pd
    from pyspark.sql.functions import pandas_udf
    from sklearn.ensemble import IsolationForest

    from diad.spark._fit import known

    spark = session(args.master)
    with tempfile.TemporaryDirectory() as folder:
        # Spark's lists of columns are commas and dots to it.
        plain = table.rename_columns([f"c{place}" for place in range(table.num_columns)])
        path = os.path.join(folder, "rows.parquet")
        pq.write_table(plain, path, row_group_size=len(plain) // 16)
        fitted = diad.DIAD().fit(plain.slice(0, len(plain) // args.times))
        df = spark.read.parquet(path).repartition(args.partitions).cache()
        df.count()
        forest = IsolationForest(random_state=0).fit(plain.slice(0, len(plain) // args.times).to_pandas().to_numpy())

        @pandas_udf("double")
        def isolation(*columns: pd.Series) -> pd.Series:
            return pd.Series(-forest.score_samples(np.column_stack(columns)))

        @pandas_udf("double")
        def as_it_is(column: pd.Series) -> pd.Series:
            return column

        def write(frame):
            frame.write.format("noop").mode("overwrite").save()

        works = {
            "Spark: diad.spark.score": lambda: write(diad.spark.score(df, fitted)),
            "Spark: diad.spark.score, the score alone": lambda: write(diad.spark.score(df, fitted, columns="score")),
            "Spark: pandas UDF of IsolationForest": lambda: write(df.select(isolation(*df.columns))),
            "Spark: pandas UDF that returns a column": lambda: write(df.select(as_it_is(df.columns[0]))),
        }
        # Compilers warm up, and workers load libraries.
        best(works, 1)
        told(works, args.runs, args.master)
        others = {
            "Spark: with two reasons": lambda: write(diad.spark.score(df, fitted, reasons=2)),
            "Spark: drift": lambda: diad.spark.drift(df, fitted),
            "Spark: the sample of a fit": lambda: diad.spark.sample(df, 100_000),
            "Spark: what all rows hold": lambda: known(df, few, diad.DIAD()),
        }
        few = plain.slice(0, 100_000)
        told(others, 1, args.master)
    spark.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["parity", "speed"])
    parser.add_argument("--diad", default="diad", help="the diad command")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--table", help="the table to measure with, a Parquet file")
    parser.add_argument("--times", type=int, default=4, help="how often the table is repeated")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--partitions", type=int, default=8)
    parser.add_argument("--engines", nargs="+", choices=["duckdb", "spark"], default=["duckdb", "spark"], help="what to measure")
    parser.add_argument("--master", default="local[2]")
    args = parser.parse_args()
    parity(args) if args.what == "parity" else speed(args)


if __name__ == "__main__":
    main()
