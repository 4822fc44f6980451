"""Examples in the documentation and in `examples/` run, and stubs tell the truth."""

import ast
import doctest
import importlib
import inspect
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

import diad

PACKAGE = ROOT / "crates" / "diad-python"


@pytest.mark.parametrize("name", ["diad", "diad._base", "diad._detector", "diad._explain", "diad._explaining", "diad.sklearn"])
def test_examples_of_docstrings(name):
    results = doctest.testmod(importlib.import_module(name))
    assert results.failed == 0
    if name in ("diad", "diad._detector", "diad.sklearn"):
        assert results.attempted > 0


PAGES = [PACKAGE / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", [path for path in PAGES if ">>> " in path.read_text(encoding="utf-8")], ids=lambda path: path.name)
def test_examples_of_pages(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    results = doctest.testfile(str(path), module_relative=False, encoding="utf-8")
    assert results.attempted > 3 and results.failed == 0


def fences(path):
    """The commands that a page shows as such, one after another."""
    blocks = re.findall(r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("diad ")]


WALKS = [path for path in PAGES if path.parent.name == "start" or path.name == "editing.md"]


@pytest.mark.parametrize("path", [path for path in WALKS if fences(path)], ids=lambda path: path.name)
def test_commands_of_pages_run(path, tmp_path):
    program = os.environ.get("DIAD") or shutil.which("diad")
    for line in fences(path):
        done = subprocess.run([program, *shlex.split(line)[1:]], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}: {done.stderr}"


def shown_commands():
    """Every command of ``diad`` in a block of a page, with its page."""
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for line in re.findall(r"^(?:    |)diad ((?:[a-z]+) .*?)(?:  +#.*)?$", text, re.MULTILINE):
            yield path.name, line


def test_commands_of_pages_have_options_that_exist():
    program = os.environ.get("DIAD") or shutil.which("diad")
    known, found = {}, list(shown_commands())
    assert len(found) > 45
    for page, line in found:
        command, *words = line.split()
        if command not in known:
            done = subprocess.run([program, command, "--help"], capture_output=True, text=True)
            assert done.returncode == 0, f"{page}: there is no command {command}"
            known[command] = set(re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", done.stdout))
        options = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
        assert options <= known[command], f"{page}: diad {line}: {options - known[command]}"


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
assert_type(detector.explain_global().data("x0")["scores"], npt.NDArray[np.float64])
assert_type(detector.explain_global().data()["names"], list[str])
assert_type(detector.drift(X).verdict, str)
"""


def test_pyright_finds_nothing():
    pyright = shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright is not installed")
    done = subprocess.run([pyright, "--pythonpath", sys.executable], cwd=PACKAGE, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_recipe_for_mlflow(plain, tmp_path, monkeypatch):
    """That of docs/python.md."""
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    recipe = next(block for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL) if "mlflow" in block)
    detector = diad.DIAD(contamination=0.01, steps=30, trees=8).fit(plain)
    exec(recipe, {"mlflow": mlflow, "diad": diad, "detector": detector})  # noqa: S102
    loaded = mlflow.pyfunc.load_model("detector")
    np.testing.assert_array_equal(loaded.predict(plain), detector.decision_scores_)


def test_every_parameter_is_in_its_docstring():
    """Of what is public, with a section for what is returned."""
    for name in diad.__all__:
        thing = getattr(diad, name)
        if not inspect.isclass(thing) or issubclass(thing, Exception):
            continue
        # Explanations are made by detectors; nobody makes one.
        made = [("__init__", thing)] if "fit" in dir(thing) else []
        methods = inspect.getmembers(thing, inspect.isfunction)
        own = [(method, member) for method, member in methods if not method.startswith("_") and member.__module__.startswith("diad")]
        for method, member in made + own:
            text = inspect.getdoc(diad.DIAD if thing is diad.DIADOutlierDetector and method == "__init__" else member)
            signature = inspect.signature(member)
            if method != "__init__" and signature.return_annotation != "None":
                assert "Returns\n-------" in text, f"{name}.{method}"
            for parameter in signature.parameters.values():
                if parameter.name == "self" or (method == "tune" and parameter.name == "settings"):
                    continue
                assert re.search(rf"^(?:.*, )?\*{{0,2}}{re.escape(parameter.name)}(?: :|,|$)", text, re.MULTILINE), f"{name}.{method}: {parameter.name}"


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
