"""Threads, signals, progress, memory and start-up."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from conftest import QUICK

import diad


def in_new_process(code, **environment):
    """Runs code in a new interpreter and returns what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_package_imports_nothing_but_numpy_and_is_quick():
    code = """
        import sys, time
        import numpy
        numpy_modules = set(sys.modules)
        start = time.process_time()
        import diad
        took = time.process_time() - start
        new = {name.split(".")[0] for name in set(sys.modules) - numpy_modules} - set(sys.stdlib_module_names)
        print(f"{took:.3f}", *sorted(new))
    """
    took, *new = in_new_process(code).split()
    assert new == ["diad"]
    assert float(took) <= 0.15


def test_names_are_listed_without_scikit_learn():
    code = """
        import sys, diad
        assert "DIADOutlierDetector" in dir(diad)
        print("sklearn" in sys.modules, hasattr(diad, "nothing"))
    """
    assert in_new_process(code) == "False False"


def test_without_scikit_learn_what_is_not_fitted_says_so():
    code = """
        import diad
        try:
            diad.DIAD().predict([[1.0]])
        except diad.NotFittedError as error:
            print(error)
    """
    assert in_new_process(code) == "This DIAD instance is not fitted yet; call fit first"


def test_other_threads_run_during_a_fit(plain):
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.005)

    counter = threading.Thread(target=count)
    counter.start()
    start = time.monotonic()
    diad.DIAD(steps=600, trees=100).fit(plain)
    end = time.monotonic()
    done.set()
    counter.join()
    during = [tick for tick in ticks if start < tick < end]
    assert len(during) > 0.2 * (end - start) / 0.005, f"{len(during)} ticks in {end - start:.2f} s"


@pytest.mark.parametrize("call", ["fit", "score"])
def test_ctrl_c_stops(call):
    code = f"""
        import os, signal, threading, time
        import numpy as np
        import diad
        X = np.random.default_rng(0).normal(size=(2000, 6))
        quick = diad.DIAD(steps=30, trees=8).fit(X)
        long = np.broadcast_to(X[0], (200_000_000, 6))
        threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.monotonic()
        try:
            diad.DIAD(steps=1_000_000).fit(X) if {call == "fit"} else quick.decision_function(long)
            print("finished")
        except KeyboardInterrupt:
            print(time.monotonic() - start < 30)
        print(len(quick.decision_function(X)))
    """
    assert in_new_process(code).split() == ["True", "2000"]


def test_the_callback_hears_every_step_on_this_thread(plain):
    heard, losses = [], []

    def callback(step, steps, loss, temperature):
        heard.append((step, steps, temperature, threading.get_ident()))
        losses.append(loss)

    diad.DIAD(callback=callback, **QUICK).fit(plain)
    assert [step for step, *_ in heard] == list(range(1, 31))
    assert {steps for _, steps, *_ in heard} == {30}
    # A step whose few trees are all left out of the loss has none.
    assert max(losses) <= 0 and min(losses) < 0
    assert {thread for *_, thread in heard} == {threading.get_ident()}
    assert heard[0][2] == 1.0 and abs(heard[-1][2] - 0.1) < 1e-9


def test_an_exception_of_the_callback_stops_the_fit(plain):
    heard = []

    def callback(step, **_):
        heard.append(step)
        if step == 3:
            raise LookupError("enough")

    detector = diad.DIAD(steps=100_000, callback=callback)
    with pytest.raises(LookupError, match="enough"):
        detector.fit(plain)
    assert heard == [1, 2, 3]
    assert not hasattr(detector, "decision_scores_")


def test_progress_is_shown_when_asked(plain, capfd):
    diad.DIAD(**QUICK).fit(plain)
    assert capfd.readouterr() == ("", "")
    diad.DIAD(verbose=True, **QUICK).fit(plain)
    out, error = capfd.readouterr()
    assert out == "" and "Training 100 %  loss -" in error and error.endswith("\n")


def test_seeds(plain):
    fit = lambda state, **more: diad.DIAD(random_state=state, **QUICK, **more).fit(plain)._model.to_bytes()  # noqa: E731
    assert fit(None) == fit(0) == fit(np.int64(0)) != fit(1)
    assert fit(1) == fit(1, n_jobs=1) == fit(1, n_jobs=3) == fit(1, n_jobs=-1)
    for kind in (np.random.RandomState, np.random.default_rng):
        assert fit(kind(4)) == fit(kind(4)) != fit(kind(5))
    with pytest.raises(ValueError, match="random_state is -1"):
        fit(-1)
    with pytest.raises(TypeError, match="random_state"):
        fit("1")
    with pytest.raises(ValueError, match="n_jobs is 0"):
        fit(0, n_jobs=0)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"trees": 0}, ValueError, "trees is 0, but it must be from 1 to 5000"),
        ({"trees": 2.5}, TypeError, "trees is 2.5, but it must be a whole number"),
        ({"trees": -1}, ValueError, "trees is -1, but it must be from 1 to 5000"),
        ({"dropout": "much"}, TypeError, 'dropout is "much", but it must be a number'),
        ({"dropout": [1]}, TypeError, "dropout is [1], but it must be a number or a word"),
        ({"scale": "odd"}, ValueError, 'scale is "odd", but it must be "linear", "asinh" or "both"'),
        ({"feature_share": 2.0}, ValueError, "feature_share is 2, but it must be above 0 and at most 1"),
        ({"preset": "best"}, ValueError, 'preset is "best", but it must be "default" or "paper"'),
        ({"ignore": ["q"]}, ValueError, 'the table has no column "q"'),
    ],
)
def test_settings_are_checked(plain, settings, kind, message):
    with pytest.raises(kind) as error:
        diad.DIAD(**settings).fit(plain)
    assert message in str(error.value)


def test_every_setting_of_the_library_is_a_parameter():
    from diad._settings import NAMES

    others = {"contamination", "preset", "random_state", "n_jobs", "verbose", "callback", "categorical", "numeric", "ignore", "by"}
    others |= {"feature_types", "exclude", "monotone_constraints"}
    assert set(diad.DIAD._get_param_names()) == {*NAMES, *others}
    for name in NAMES:
        assert f"\n{name} : " in diad.DIAD.__doc__, name


def test_every_setting_of_a_tuning_is_documented():
    from diad._diad import TUNE_SETTINGS

    for name, *_ in TUNE_SETTINGS:
        assert f"\n{name} : " in diad.DIAD.tune.__doc__, name


def test_settings_reach_the_model(plain):
    detector = diad.DIAD(steps=np.int64(20), trees=4, learning_rate=0.01, scale="asinh", warmup=3, preset="paper").fit(plain)
    found = {name: detector.settings_[name] for name in ("steps", "anneal", "warmup", "learning-rate", "scale", "trees")}
    assert found == {"steps": "20", "anneal": "10", "warmup": "3", "learning-rate": "0.01", "scale": "asinh", "trees": "4"}
    assert detector.settings_["feature-share"] == "0.4"


def score_in_child(detector, X, queue):
    queue.put(detector.decision_function(X))


def test_a_forked_process_scores(plain):
    detector = diad.DIAD(**QUICK).fit(plain)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=score_in_child, args=(detector, plain, queue))
    child.start()
    np.testing.assert_array_equal(queue.get(timeout=60), detector.decision_scores_)
    child.join(timeout=60)
    assert child.exitcode == 0


MEMORY = """
    import resource
    import numpy as np, pyarrow as pa, polars as pl
    import diad
    rows, columns = 1_500_000, 16
    peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    random = np.random.default_rng(0)
    quick = dict(steps=2, trees=4, scale="linear", weight_tails=0, weight_isolation=0, weight_surprise=0)
    X = np.empty((rows, columns), dtype=np.float32)
    for part in np.array_split(X, 100):
        part[:] = random.random(part.shape, dtype=np.float32)
    fitted = diad.DIAD(**quick).fit(X[:2000])
    if "{kind}" == "array":
        table = X
    else:
        # Columns of Arrow over the same memory as those of another array.
        Y = np.empty((columns, rows), dtype=np.float32)
        for column in range(columns):
            Y[column] = X[:, column]
        del X
        table = pa.table({{f"x{{i}}": Y[i] for i in range(columns)}})
        table = pl.from_arrow(table) if "{kind}" == "polars" else table
    fitted.decision_function(table[:10])
    before = peak()
    {call}
    print(int(peak() - before), int(rows * columns * 4 / 2**20))
"""


@pytest.mark.parametrize("kind", ["array", "arrow", "polars"])
def test_a_table_is_not_copied_to_be_scored(kind):
    grown, size = map(int, in_new_process(MEMORY.format(kind=kind, call="fitted.decision_function(table)")).split())
    # The scores themselves, and some batches.
    assert grown < 0.5 * size, f"{grown} MB more for a table of {size} MB"


def test_a_table_is_not_copied_to_be_fitted():
    grown, size = map(int, in_new_process(MEMORY.format(kind="array", call="diad.DIAD(**quick).fit(table)")).split())
    # The matrix that the model is trained on is as large as the table; a copy would come on top of it.
    assert grown < 1.5 * size, f"{grown} MB more for a table of {size} MB"
