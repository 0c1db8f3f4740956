"""The types tell the truth: what the checkers accept runs, and what they refuse raises."""

import ast
import inspect
import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

import critic
from evals.envelope import OPTIONAL, RESTRICTION, Envelope
from tests.support.paths import ROOT

TYPED = ROOT / "tests" / "evals" / "typed"
ACCEPTED, REFUSED = TYPED / "accepted.py", TYPED / "refused.py"
SETTINGS = {
    "plain": "[tool.mypy]\nstrict = true\n",
    "plugin": '[tool.mypy]\nstrict = true\nplugins = ["pydantic.mypy"]\n',
}


def calls(path: Path) -> dict[int, str]:
    """Return the bare calls of a file, by line."""
    body = ast.parse(path.read_text("utf-8")).body
    return {node.lineno: ast.unparse(node) for node in body if isinstance(node, ast.Expr)}


SNIPPETS = {line: text for line, text in calls(REFUSED).items() if line > 1}
PLACES = {("refused.py", line) for line in SNIPPETS}


def mypy_places(settings: str, folder: Path) -> set[tuple[str, int]]:
    """Return the files and lines that mypy refuses."""
    config = folder / "pyproject.toml"
    config.write_text(SETTINGS[settings], "utf-8")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--config-file",
        str(config),
        "--follow-imports=silent",
    ]
    command += ["--cache-dir", str(folder / "cache"), str(ACCEPTED), str(REFUSED)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(r"(\w+\.py):(\d+): error", done.stdout)
    return {(name, int(line)) for name, line in found}


@pytest.mark.slow
@pytest.mark.parametrize("settings", SETTINGS)
def test_mypy_accepts_and_refuses_what_the_files_say(settings: str, tmp_path: Path) -> None:
    assert mypy_places(settings, tmp_path) == PLACES


def test_what_the_checkers_accept_runs() -> None:
    runpy.run_path(str(ACCEPTED))


@pytest.mark.parametrize("snippet", SNIPPETS.values())
def test_what_the_checkers_refuse_raises(snippet: str) -> None:
    with pytest.raises(ValidationError):
        eval(snippet, dict(vars(critic)))  # noqa: S307 - our own file, a line at a time


def envelopes(base: type[Envelope] = Envelope) -> Iterator[type[Envelope]]:
    """Return every envelope of the core, also of the modules that nothing needed yet."""
    _ = [getattr(critic, name) for name in critic.__all__]
    for model in base.__subclasses__():
        yield from envelopes(model)
        if model.__module__.startswith(("evals.", "critic.")):
            yield model


def test_every_optional_field_is_of_one_of_the_two_sorts() -> None:
    for model in envelopes():
        for name, field in model.model_fields.items():
            sorts = [mark for mark in (OPTIONAL, RESTRICTION) if mark in field.metadata]
            assert len(sorts) == (field.default is None), f"{model.__name__}.{name}"


def written_parameters() -> Iterator[tuple[type[Envelope], ast.arguments]]:
    """Return the constructors that are written out for type checkers."""
    for model in envelopes():
        module = ast.parse(inspect.getsource(sys.modules[model.__module__]))
        for node in ast.walk(module):
            if isinstance(node, ast.ClassDef) and node.name == model.__name__:
                inits = [
                    inner
                    for inner in ast.walk(node)
                    if isinstance(inner, ast.FunctionDef) and inner.name == "__init__"
                ]
                yield from ((model, init.args) for init in inits)


PARAMETERS = list(written_parameters())


@pytest.mark.parametrize(
    ("model", "parameters"), PARAMETERS, ids=[model.__name__ for model, _ in PARAMETERS]
)
def test_a_written_constructor_takes_the_fields_of_its_envelope(
    model: type[Envelope], parameters: ast.arguments
) -> None:
    assert [each.arg for each in parameters.kwonlyargs] == list(model.model_fields)
    for each, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True):
        field = model.model_fields[each.arg]
        spelled = ast.unparse(default) if default else None
        expected = None if field.is_required() else "..."
        assert spelled == ("None" if OPTIONAL in field.metadata else expected), each.arg
        assert each.annotation
        takes_none = "None" in ast.unparse(each.annotation).split(" | ")
        assert takes_none == (OPTIONAL in field.metadata and ast.unparse(each.annotation) != "Any")


def test_every_envelope_with_a_restriction_has_a_written_constructor() -> None:
    written = {model for model, _ in PARAMETERS}
    for model in envelopes():
        marks = [mark for field in model.model_fields.values() for mark in field.metadata]
        assert RESTRICTION not in marks or model in written, model.__name__


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None, reason="pyright runs on the node of the system, never on another"
)
def test_the_public_types_are_complete(tmp_path: Path) -> None:
    """Asked once for a package that holds all three, since pyright reads their libraries anew."""
    pytest.importorskip("pyright")
    packages = ("evals", "critic", "harness")
    (tmp_path / "whole").mkdir()
    for name in ("__init__.py", "py.typed"):
        (tmp_path / "whole" / name).touch()
    for package in packages:
        (tmp_path / "whole" / package).symlink_to(ROOT / package)
    # It finds the libraries by the `python` on the path, and an editable checkout by PYTHONPATH.
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "VIRTUAL_ENV": sys.prefix,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]),
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
    }
    command = [sys.executable, "-m", "pyright"]
    command += ["--verifytypes", "whole", "--ignoreexternal", "--outputjson"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    report = json.loads(done.stdout)["typeCompleteness"]
    exported = [symbol for symbol in report["symbols"] if symbol["isExported"]]
    for package in packages:
        known = {
            symbol["name"]: symbol["isTypeKnown"]
            for symbol in exported
            if symbol["name"].startswith(f"whole.{package}.")
        }
        assert len(known) > 100, package
        unknown = [name for name, is_known in known.items() if not is_known]
        assert len(unknown) <= len(known) / 100, unknown


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("node") is None, reason="pyright runs on the node of the system, never on another"
)
def test_pyright_accepts_and_refuses_what_the_files_say(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(
        [*command, str(ACCEPTED), str(REFUSED)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = json.loads(done.stdout)["generalDiagnostics"]
    places = {
        (Path(error["file"]).name, error["range"]["start"]["line"] + 1)
        for error in errors
        if error["severity"] == "error"
    }
    assert places == PLACES
