"""A real cluster of Spark: a master and two workers on this machine, started and stopped here. `cargo xtask engines` runs this."""

import contextlib
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pyarrow as pa
import pytest
from conftest import QUICK

import diad

pytestmark = pytest.mark.cluster
pyspark = pytest.importorskip("pyspark", reason="PySpark is not installed; `cargo xtask engines` tests with it")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)

import diad.spark  # noqa: E402

ROWS = 200_000


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait(condition, what, seconds=180):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)


class Cluster:
    """Processes of Spark, each known by its id."""

    def __init__(self, folder):
        self.folder, self.url, self.running = folder, f"spark://127.0.0.1:{free_port()}", []
        self.environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}

    def start(self, kind, name, *options):
        program = pathlib.Path(pyspark.__file__).parent / "bin" / "spark-class"
        log = self.folder / f"{name}.log"
        command = [program, f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", "--webui-port", "0", *options]
        with log.open("w") as out:
            process = subprocess.Popen(command, stdout=out, stderr=out, cwd=self.folder, env=self.environment)
        self.running.append(process)
        return process, log

    def start_master(self):
        _, log = self.start("master.Master", "master", "--port", self.url.rsplit(":", 1)[1])
        wait(lambda: "ALIVE" in log.read_text(), "the master")

    def start_worker(self, name):
        work = ["--cores", "1", "--memory", "1g", "--work-dir", str(self.folder / name)]
        process, log = self.start("worker.Worker", name, *work, self.url)
        wait(lambda: "Successfully registered" in log.read_text(), name)
        return process

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
        for process in self.running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            process.kill()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    cluster = Cluster(tmp_path_factory.mktemp("spark"))
    try:
        cluster.start_master()
        cluster.workers = [cluster.start_worker(f"worker{number}") for number in (1, 2)]
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture(scope="module")
def spark(cluster):
    from pyspark.sql import SparkSession

    os.environ.update(cluster.environment)
    builder = SparkSession.builder.master(cluster.url).config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.executor.memory", "900m")
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    x = random.normal(size=ROWS)
    columns = {"number": np.arange(ROWS), "x": x, "y": 2 * x + random.normal(size=ROWS), "z": random.integers(0, 9, ROWS)}
    columns["x"] = np.where(random.random(ROWS) < 0.02, np.nan, columns["x"])
    return pa.table({**columns, "kind": random.choice(["a", "b", "c"], ROWS, p=[0.9, 0.09, 0.01])})


@pytest.fixture(scope="module")
def detector(table):
    return diad.DIAD(ignore=["number"], **QUICK).fit(table.slice(0, 20_000))


@pytest.fixture(scope="module")
def expected(detector, table):
    return detector._model.judge(table, 1)


def executors(spark):
    return spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1


def check(found, expected):
    found = found.sort_by("number")
    for name, numbers in zip(["score", "percentile", "p_value"], expected, strict=False):
        np.testing.assert_array_equal(found[name].to_numpy(), numbers, err_msg=name)
    assert found["reason_1"].to_pylist() == expected[5][0]


def test_the_partitions_change_nothing(spark, table, detector, expected):
    wait(lambda: executors(spark) == 2, "both workers")
    df = spark.createDataFrame(table)
    for parts in (1, 2, 7, 64):
        check(diad.spark.score(df.repartition(parts), detector, id="number", reasons=1).toArrow(), expected)
    small = df.where("number < 20000")
    models = [diad.spark.fit(small.repartition(parts), id="number", **QUICK) for parts in (1, 2, 7, 64)]
    assert {model._model.to_bytes() for model in models} == {detector._model.to_bytes()}
    drifts = [diad.spark.drift(df.repartition(parts), detector) for parts in (2, 7)]
    assert [drift["rows"] for drift in drifts] == [ROWS, ROWS]
    assert [c["moved"] for c in drifts[0]["columns"]] == [c["moved"] for c in drifts[1]["columns"]]


def test_a_fit_to_a_sample_does_not_depend_on_the_partitions(spark, table):
    df = spark.createDataFrame(table)
    models = {diad.spark.fit(df.repartition(parts), id="number", rows=5000, **QUICK)._model.to_bytes() for parts in (2, 7)}
    assert len(models) == 1


def test_a_worker_that_is_killed_changes_nothing(spark, cluster, table, detector, expected):
    wait(lambda: executors(spark) == 2, "both workers")
    df = spark.createDataFrame(table).repartition(64)
    found = []
    job = threading.Thread(target=lambda: found.append(diad.spark.score(df, detector, id="number", reasons=1).toArrow()))
    job.start()
    tracker = spark.sparkContext.statusTracker()

    def under_way():
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return any(stage and stage.numTasks == 64 and stage.numCompletedTasks >= 3 for stage in stages)

    wait(under_way, "some of 64 tasks")
    cluster.workers[1].kill()
    assert job.is_alive()
    job.join(300)
    check(found[0], expected)
    wait(lambda: executors(spark) == 1, "the loss of a worker to be seen")


CONNECTED = """
import sys
import diad, diad.spark, numpy as np, pyarrow as pa
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false").getOrCreate()
assert "connect" in type(spark).__module__
x = np.random.default_rng(0).normal(size=3000)
table = pa.table({"number": np.arange(3000), "x": x, "y": x.round(1)})
detector = diad.DIAD(ignore=["number"], steps=30, trees=8).fit(table)
df = spark.createDataFrame(table)
found = diad.spark.score(df, detector, id="number", reasons=1).toArrow().sort_by("number")
assert (found["score"].to_numpy() == detector.decision_scores_).all()
assert diad.spark.fit(df, id="number", steps=30, trees=8)._model.to_bytes() == detector._model.to_bytes()
assert diad.spark.drift(df, detector)["rows"] == 3000
known = diad.spark.fit(df, id="number", rows=1000, steps=30, trees=8)
assert known._model.training_rows == 3000 and known.decision_scores_.size < 1200
spark.stop()
"""


def test_it_works_with_spark_connect(cluster):
    pytest.importorskip("grpc", reason="Spark Connect is not installed")
    # A session of its own kind needs a process of its own.
    subprocess.run([sys.executable, "-c", CONNECTED], check=True, env=cluster.environment, timeout=300)
