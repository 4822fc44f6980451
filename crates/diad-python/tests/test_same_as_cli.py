"""A model fitted here is the one the command fits, and scores are equal bit for bit."""

import gzip

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.feather as feather
import pytest
from conftest import QUICK, QUICK_OPTIONS, ROOT

import diad


@pytest.fixture(params=["thyroid", "mixed", "plain", "types", "nulls"])
def table(request, tmp_path):
    """A file for the command and the same table for Python."""
    if request.param in ("types", "nulls"):
        path = ROOT / "fixtures" / f"{request.param}.parquet"
        return path, pd.read_parquet(path)
    if request.param == "plain":
        X = request.getfixturevalue("plain")
        path = tmp_path / "plain.csv"
        pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).to_csv(path, index=False)
        return path, X
    frame = request.getfixturevalue(request.param)
    path = tmp_path / "table.parquet"
    frame.to_parquet(path)
    return path, frame


def scores_of(cli, model, table, folder):
    out = folder / "scores.csv"
    cli("score", model, table, "-o", out)
    return pd.read_csv(out, dtype={"score": np.float32})["score"].to_numpy()


@pytest.mark.parametrize("seed", [0, 11])
def test_models_and_scores_are_the_same(cli, table, tmp_path, seed):
    path, X = table
    model = tmp_path / "cli.diad"
    try:
        detector = diad.DIAD(random_state=seed, **QUICK).fit(X)
    except ValueError as error:
        # What one cannot fit, the other cannot, and both say why in the same words.
        told = cli("fit", path, "-o", model, "--seed", seed, *QUICK_OPTIONS, fails=True)
        assert told.startswith(f"diad: {error}".rstrip("."))
        return
    cli("fit", path, "-o", model, "--seed", seed, *QUICK_OPTIONS)
    own = tmp_path / "own.diad"
    detector.save(own)
    assert own.read_bytes() == model.read_bytes()
    expected = scores_of(cli, own, path, tmp_path)
    np.testing.assert_array_equal(detector.decision_scores_, expected.astype(float))
    np.testing.assert_array_equal(diad.load(model).decision_function(X), expected.astype(float))


SAME = ROOT / "fixtures" / "tables"


@pytest.fixture(scope="module")
def scores_of_csv(cli, tmp_path_factory):
    """The model of the rows as CSV, and their scores."""
    folder = tmp_path_factory.mktemp("same")
    cli("fit", SAME / "same.csv", "-o", folder / "m.diad", *QUICK_OPTIONS)
    return folder / "m.diad", scores_of(cli, folder / "m.diad", SAME / "same.csv", folder)


@pytest.mark.parametrize("file", sorted(path.name for path in SAME.glob("same*")) + ["same.csv.gz", "same.jsonl.gz"])
def test_the_same_rows_score_alike_in_every_format(cli, scores_of_csv, tmp_path, file):
    model, expected = scores_of_csv
    path = SAME / file
    if file.endswith(".gz"):
        path = tmp_path / file
        path.write_bytes(gzip.compress((SAME / file.removesuffix(".gz")).read_bytes()))
    np.testing.assert_array_equal(scores_of(cli, model, path, tmp_path), expected)


@pytest.mark.parametrize("library", ["pandas", "pandas on Arrow", "polars", "pyarrow", "duckdb"])
def test_the_same_rows_score_alike_in_every_data_frame(scores_of_csv, library):
    model, expected = scores_of_csv
    arrow = feather.read_table(SAME / "same.feather")
    parquet = str(SAME / "same-gzip.parquet")
    table = {
        "pandas": lambda: pd.read_parquet(parquet),
        "pandas on Arrow": lambda: pd.read_parquet(parquet, dtype_backend="pyarrow"),
        "polars": lambda: pl.from_arrow(arrow),
        "pyarrow": lambda: arrow,
        "duckdb": lambda: duckdb.sql(f"select * from '{parquet}'"),
    }[library]()
    np.testing.assert_array_equal(np.float32(diad.load(model).decision_function(table)), expected)
    # A fit of its own gives the same model.
    own = diad.DIAD(**QUICK).fit(table)
    np.testing.assert_array_equal(np.float32(own.decision_scores_), expected)


def test_a_model_of_the_command_scores_an_array_without_names(cli, thyroid, tmp_path):
    model = tmp_path / "thyroid.diad"
    cli("fit", ROOT / "crates" / "diad-cli" / "data" / "thyroid.csv", "-o", model, "--label", "label", *QUICK_OPTIONS)
    loaded = diad.load(model)
    features = thyroid.drop(columns="label")
    np.testing.assert_array_equal(
        loaded.decision_function(features.to_numpy()), loaded.decision_function(features)
    )
    with pytest.raises(ValueError, match="3 unnamed columns, but the model was trained on 6"):
        loaded.decision_function(features.to_numpy()[:, :3])


def test_a_tuned_model_is_the_same(cli, thyroid, tmp_path):
    features = thyroid.drop(columns="label")
    known = np.arange(len(thyroid)) % 20 == 0
    y = np.where(known, thyroid["label"], -1)
    detector = diad.DIAD(**QUICK).fit(features, y)
    labels = features.assign(label=pd.array(np.where(known, thyroid["label"], 0), dtype="Int64").astype(object))
    labels.loc[~known, "label"] = None
    path, model, tuned = tmp_path / "labels.csv", tmp_path / "m.diad", tmp_path / "t.diad"
    labels.to_csv(path, index=False)
    # A model remembers which columns it was told to ignore: here none, since the table has no label column.
    features.to_csv(tmp_path / "features.csv", index=False)
    cli("fit", tmp_path / "features.csv", "-o", model, *QUICK_OPTIONS)
    cli("tune", model, path, "--label", "label", "-o", tuned)
    detector.save(tmp_path / "own.diad")
    assert (tmp_path / "own.diad").read_bytes() == tuned.read_bytes()


def test_bad_tables_are_refused_in_the_same_words(cli, tmp_path):
    good = pd.DataFrame({"a": np.arange(40.0) % 7, "b": np.arange(40.0) % 5})
    model = tmp_path / "m.diad"
    detector = diad.DIAD(**QUICK).fit(good)
    detector.save(model)
    bad_tables = {
        "missing": good.assign(a=good["a"].where(good.index != 9)),
        "infinite": good.assign(b=good["b"].where(good.index != 3, np.inf)),
        "text": good.assign(b="x"),
        "lacking": good[["a"]],
    }
    for name, bad in bad_tables.items():
        path = tmp_path / f"{name}.parquet"
        bad.to_parquet(path)
        if name != "lacking":
            # Cells that do not fit are answered, in both with the same scores.
            with pytest.warns(UserWarning, match="count"):
                scores = detector.decision_function(bad)
            cli("score", model, path, "-o", tmp_path / "s.csv")
            assert np.array_equal(pd.read_csv(tmp_path / "s.csv")["score"].to_numpy(np.float32), np.float32(scores)), name
            continue
        with pytest.raises(ValueError) as error:
            detector.decision_function(bad)
        assert cli("score", model, path, "-o", tmp_path / "s.csv", fails=True) == f"diad: {error.value}\n", name
    for name, bad in {"constant": good * 0, "one row": good[:1]}.items():
        path = tmp_path / "bad.parquet"
        bad.to_parquet(path)
        with pytest.raises(ValueError) as error:
            diad.DIAD(**QUICK).fit(bad)
        # How a column is left out is said in the words of each.
        said = str(error.value).split("ignore=")[0]
        assert cli("fit", path, "-o", model, fails=True).startswith(f"diad: {said}"), name
    with pytest.raises(ValueError) as error:
        diad.DIAD(trees=0).fit(good)
    assert cli("fit", path, "-o", model, "--trees", "0", fails=True) == f"diad: {error.value}\n"


def test_files_that_are_no_models_are_refused(tmp_path):
    bad = tmp_path / "bad.diad"
    with pytest.raises(OSError, match="there is no such file"):
        diad.load(bad)
    bad.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="it is not a model file"):
        diad.load(bad)
