"""Which tests may draw examples, so that the profile in use changes what they try.

A test draws through Hypothesis. Its module imports that, or the testing kit, or another module of
the tests that does so, or the assurance, which imports what it tries by name. The other tests try
the same in every profile.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.paths import ROOT

_DRAWING: Final = ("hypothesis", "harness.testing", "tests.assurance")
_NOT_BY_ITSELF: Final = {"tests.support.effort": {"examples", "settings"}}
"""Modules that draw nothing where only other names are imported from them."""


def draws(path: Path) -> bool:
    """Return whether a test of this file may draw examples."""
    if path.is_relative_to(ROOT / "tests" / "assurance"):
        return True
    folders = [one for one in path.parents if ROOT / "tests" in one.parents]
    beside = [one / "conftest.py" for one in folders if (one / "conftest.py").exists()]
    return any(name.startswith(_DRAWING) for one in (path, *beside) for name in _reached(one))


def _reached(path: Path) -> set[str]:
    """Return the names that a file imports, itself or by modules of the tests."""
    reached, waiting = set[str](), [path]
    while waiting:
        for name in _imported(waiting.pop()) - reached:
            reached.add(name)
            waiting += _files(name)
    return reached


def _files(name: str) -> Iterator[Path]:
    if name.startswith("tests.") and name not in _NOT_BY_ITSELF:
        place = ROOT.joinpath(*name.split("."))
        yield from (
            one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file()
        )


@cache
def _imported(path: Path) -> frozenset[str]:
    """Return the modules that a file imports, and names that may be modules."""
    found = set[str]()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= _from(node.module, {one.name for one in node.names})
    return frozenset(found)


def _from(module: str, names: set[str]) -> set[str]:
    if names & _NOT_BY_ITSELF.get(module, set()):
        return {"hypothesis"}
    return {module, *(f"{module}.{name}" for name in names)}
