"""Examples in the documentation and in `examples/` run, and stubs tell the truth."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT

import diad

PACKAGE = ROOT / "crates" / "diad-python"


@pytest.mark.parametrize("name", ["diad", "diad._base", "diad._detector", "diad._explain", "diad.sklearn"])
def test_examples_of_docstrings(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
    if name in ("diad", "diad._detector", "diad.sklearn"):
        assert results.attempted > 0


@pytest.mark.parametrize("path", [PACKAGE / "README.md", ROOT / "docs" / "python.md"], ids=lambda path: path.name)
def test_examples_of_pages(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(str(path), module_relative=False)
    assert results.attempted > 3 and results.failed == 0


@pytest.mark.parametrize("path", sorted((PACKAGE / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(path, tmp_path):
    arguments = [str(ROOT / "crates" / "diad-cli" / "data" / "thyroid.csv")] if path.name == "few_labels.py" else []
    done = subprocess.run(
        [sys.executable, str(path), *arguments],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("path", sorted((PACKAGE / "examples").glob("*.ipynb")), ids=lambda path: path.name)
def test_notebooks_run(path, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without what they print"
    environment = {**os.environ, "DIAD_DATA": str(ROOT / "crates" / "diad-cli" / "data")}
    client = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    client.execute(env=environment)
    shown = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    kinds = {kind for output in shown for kind in output.get("data", {})}
    assert "image/png" in kinds and "text/html" in kinds


def test_types_are_strict(tmp_path):
    """The package, and what users write, by mypy."""
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text(USER)
    folder = pathlib.Path(diad.__file__).parent
    for target in (["-p", "diad"], [str(user)]):
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--config-file", str(PACKAGE / "pyproject.toml"), "--cache-dir", str(tmp_path), *target],
            cwd=tmp_path,
            env={**os.environ, "MYPYPATH": str(folder.parent) if folder.parent.name != "site-packages" else ""},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr


USER = """
from typing_extensions import assert_type

import numpy as np
import numpy.typing as npt

import diad

X = np.zeros((9, 2))
detector = diad.DIAD(contamination="auto", categorical=["a", 1], n_jobs=1).fit(X, sample_weight=np.ones(9))
assert_type(detector, diad.DIAD)
assert_type(detector.predict(X), npt.NDArray[np.int64])
assert_type(detector.predict(X, return_confidence=True), tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]])
assert_type(detector.predict_proba(X), npt.NDArray[np.float64])
assert_type(detector.explain_local(X).data(0)["score"], float)
assert_type(detector.counterfactual(X[0])[0]["score"], float)
assert_type(diad.load("m.diad"), diad.DIAD)
"""


def test_everything_public_has_a_docstring_and_types():
    for name in diad.__all__:
        thing = getattr(diad, name)
        if not callable(thing):
            continue
        assert thing.__doc__, name
        for method, member in inspect.getmembers(thing):
            if method.startswith("_") or not inspect.isfunction(member) or not member.__module__.startswith("diad"):
                continue
            assert member.__doc__, f"{name}.{method}"
            signature = inspect.signature(member)
            assert signature.return_annotation is not signature.empty, f"{name}.{method}"
            for parameter in list(signature.parameters.values())[1:]:
                assert parameter.annotation is not parameter.empty, f"{name}.{method}: {parameter.name}"


def test_the_stub_of_the_compiled_module_is_right():
    folder = pathlib.Path(diad.__file__).parent
    assert (folder / "py.typed").exists()
    compiled = importlib.import_module("diad._diad")
    tree = ast.parse((folder / "_diad.pyi").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    names = [node.target.id for node in tree.body if isinstance(node, ast.AnnAssign)]
    public = {name for name in dir(compiled) if not name.startswith("_")} | {"__version__"}
    assert public == {*classes, *functions, *names}
    for name, node in classes.items():
        kind = getattr(compiled, name)
        members = {item.name: item for item in node.body if isinstance(item, ast.FunctionDef) and not item.name.startswith("_")}
        assert set(members) == {member for member in dir(kind) if not member.startswith("_")}, name
        for method, item in members.items():
            if any(isinstance(decorator, ast.Name) and decorator.id == "property" for decorator in item.decorator_list):
                continue
            expected = [argument.arg for argument in item.args.args]
            assert list(inspect.signature(getattr(kind, method)).parameters) == expected, f"{name}.{method}"
