"""Runs exports in the engines they are for. A table is a Parquet file with a column ``n`` that counts its rows."""

import os
import pathlib
import pwd
import shutil
import sqlite3
import subprocess
import tempfile
import time

import duckdb
import numpy as np
import onnxruntime
import pyarrow as pa
import pyarrow.parquet as pq


def in_order(n, scores):
    return np.asarray(scores, dtype=float)[np.argsort(np.asarray(n))]


def score_duckdb(table, statement):
    connection = duckdb.connect()
    connection.execute("SET threads = 2")
    # A table of its own: from the statistics of a Parquet file, DuckDB 2.0 concludes that no number is NaN.
    connection.execute(f"CREATE TABLE data AS FROM read_parquet('{table}')")
    found = connection.execute(statement).fetchnumpy()
    return in_order(found["n"], found["score"])


def score_spark(table, statement):
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    session = session.config("spark.driver.bindAddress", "127.0.0.1").getOrCreate()
    session.read.parquet(str(table)).createOrReplaceTempView("data")
    found = session.sql(statement).select("n", "score").toArrow()
    return in_order(found["n"], found["score"])


def score_sqlite(table, statement):
    given = pq.read_table(table)
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in given.column_names)
    with sqlite3.connect(":memory:") as connection:
        connection.execute(f"CREATE TABLE data ({names})")
        columns = []
        for column in given.columns:
            if pa.types.is_timestamp(column.type):
                column = pa.compute.strftime(column.cast(pa.timestamp("ms")), "%Y-%m-%d %H:%M:%S")
            columns.append(column.to_pylist())
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO data VALUES ({marks})", zip(*columns))
        found = connection.execute(statement).fetchall()
    return in_order([row[0] for row in found], [row[1] for row in found])


def score_onnx(table, path, output="score"):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    given, parts = pq.read_table(table), []
    for start in range(0, given.num_rows, 8192):
        batch = given.slice(start, 8192)
        feed = {}
        for name in (wanted.name for wanted in session.get_inputs()):
            column = batch[name]
            if pa.types.is_string(column.type):
                values = np.array([text or "" for text in column.to_pylist()], dtype=object)
            elif pa.types.is_timestamp(column.type):
                micros = column.cast(pa.timestamp("us")).cast(pa.int64())
                values = micros.to_numpy(zero_copy_only=False).astype(float) / 1e6
                values[column.is_null().to_numpy()] = np.nan
            else:
                values = column.to_numpy(zero_copy_only=False).astype(float)
            feed[name] = values.reshape(-1, 1)
        parts.append(session.run([output], feed)[0])
    found = np.concatenate(parts)
    return found[:, 0] if output == "score" else found


class Postgres:
    """A server of its own in a temporary folder, on a socket there. Stopped by its process."""

    @staticmethod
    def programs():
        """The folder of the newest server on this machine, if there is one."""
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
        on_path = shutil.which("initdb")
        return found[-1].parent if found else on_path and pathlib.Path(on_path).parent

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="diad-postgres-")
        self.bin = self.programs()
        self.user = {"user": "postgres"} if os.getuid() == 0 else {}
        if self.user:
            account = pwd.getpwnam("postgres")
            os.chown(self.folder, account.pw_uid, account.pw_gid)
        data = f"{self.folder}/data"
        run = lambda *words: subprocess.run(list(map(str, words)), check=True, capture_output=True, cwd="/", **self.user)
        run(self.bin / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "-E", "UTF8", "--no-sync")
        options = ["-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "jit=off"]
        log = open(f"{self.folder}/log", "wb")
        self.server = subprocess.Popen([self.bin / "postgres", "-D", data, *options], stdout=log, stderr=log, cwd="/", **self.user)
        for _ in range(100):
            if subprocess.run([self.bin / "pg_isready", "-q", "-h", self.folder]).returncode == 0:
                return self
            time.sleep(0.2)
        raise RuntimeError("PostgreSQL does not start: " + pathlib.Path(f"{self.folder}/log").read_text())

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def psql(self, *words, text=None):
        command = [self.bin / "psql", "-h", self.folder, "-U", "postgres", "-qX", "-v", "ON_ERROR_STOP=1", *words]
        done = subprocess.run(command, input=text, capture_output=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.decode()[-2000:])
        return done.stdout

    def score(self, table, statement):
        kinds = {"double": "double precision", "string": "text", "int64": "bigint"}
        fields = pq.read_schema(table)
        quoted = lambda name: '"' + name.replace('"', '""') + '"'
        columns = ", ".join(f"{quoted(field.name)} {kinds.get(str(field.type), 'timestamp')}" for field in fields)
        rows = f"{self.folder}/rows.csv"
        duckdb.execute(f"COPY (FROM read_parquet('{table}')) TO '{rows}' (HEADER false, FORCE_QUOTE {self.texts(fields)})")
        script = f"DROP TABLE IF EXISTS data;\nCREATE TABLE data ({columns});\n\\copy data FROM '{rows}' CSV\n"
        self.psql(text=script.encode())
        pathlib.Path(f"{self.folder}/statement.sql").write_text(statement)
        found = self.psql("-At", "-F", ",", "-f", f"{self.folder}/statement.sql").decode().split()
        values = np.array([line.split(",") for line in found], dtype=float)
        return in_order(values[:, 0], values[:, 1])

    @staticmethod
    def texts(fields):
        names = [f'"{field.name}"'.replace('"', '""')[1:-1] for field in fields if str(field.type) == "string"]
        return "(" + ", ".join(names) + ")" if names else "(n)"
