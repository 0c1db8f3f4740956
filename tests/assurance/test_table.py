"""The assurance table claims figures of today's code only."""

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.assurance import table
from tests.assurance.table import CLOSED, Kept, code_digest, rendered
from tests.support.paths import ROOT

ROW = {"layer": "laws of verify", "tried": 7, "unit": "laws", "held": 7, "met": True, "note": ""}


def kept(**layers: Any) -> Kept:
    return {"full": {"laws": {"seconds": 3.0, "rows": [ROW], **layers}}}


@pytest.mark.parametrize("layer", [{"code": "sha256:" + "0" * 64}, {}])
def test_figures_of_other_code_are_not_shown(layer: dict[str, str]) -> None:
    table = rendered(kept(**layer))
    assert "7" not in table.replace("0 minutes", "")
    assert "Not measured on this code: laws." in table


def test_figures_of_this_code_are_shown() -> None:
    figures = kept(code=code_digest("laws"))
    assert "| laws of verify | full | 7 laws | 7 | 3 |  |" in rendered(figures)
    assert "Not measured" not in rendered(figures)


def test_a_quick_run_of_this_code_is_shown_where_the_full_one_is_of_other_code() -> None:
    figures = kept(code="sha256:" + "0" * 64)
    figures["quick"] = {"laws": {"seconds": 1.0, "rows": [ROW], "code": code_digest("laws")}}
    assert "| laws of verify | quick | 7 laws |" in rendered(figures)


_OPEN: Final = ("critic/checks/a.py", "critic/commands.py", "critic/session/a.py", "evals/a.py")
_ENDS: Final = (".py", "/a.py")
"""A module that is closed may be a package."""


@pytest.mark.parametrize("layer", [*CLOSED, "fuzz"])
def test_a_change_of_a_file_changes_the_digest_of_the_layers_that_can_import_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, layer: str
) -> None:
    closed = [f"{name.replace('.', '/')}{end}" for name in CLOSED.get(layer, ()) for end in _ENDS]
    files = (*_OPEN, *closed, "critic/command/a.py")
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("1")
    monkeypatch.setattr(table, "ROOT", tmp_path)
    before, noticed = code_digest(layer), list[str]()
    for file in files:
        (tmp_path / file).write_text("2")
        noticed += [file] if code_digest(layer) != before else []
        (tmp_path / file).write_text("1")
    assert noticed == [*_OPEN, *(["critic/command/a.py"] if layer == "fuzz" else [])]


@pytest.mark.parametrize("name", ["critic.command", "critic.command.steps"])
def test_a_closed_package_cannot_be_imported(name: str) -> None:
    told = _run(f"close_modules(['critic.command']); import {name}")
    assert "ModuleNotFoundError: " in told and "critic.command" in told


def test_a_package_that_is_imported_cannot_be_closed() -> None:
    assert "imported already" in _run("import critic.command; close_modules(['critic.command'])")


def test_no_worker_of_a_run_can_import_what_is_closed() -> None:
    """Else the figures of a layer would be kept by a digest that leaves out what it runs."""
    told = _run(
        "close_modules(['critic.command']); from tests.assurance.layers import model;"
        "from importlib import import_module; model.judge_chunk = import_module;"
        "model._jobs = lambda counts: ['critic.command']; model.judge_all({}, 2)"
    )
    assert "ModuleNotFoundError: " in told


def test_its_neighbours_can_be_imported() -> None:
    assert _run("close_modules(['critic.command']); import critic.session") == ""


def _run(lines: str) -> str:
    """Return what a program of these lines prints on its error stream."""
    program = f"from tests.assurance.table import close_modules; {lines}"
    ran = [sys.executable, "-c", program]
    return subprocess.run(ran, cwd=ROOT, capture_output=True, text=True, check=False).stderr
