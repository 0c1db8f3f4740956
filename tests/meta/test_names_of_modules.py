"""A name means one thing in the whole project: that of a module, and one without an underscore."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Final

import pytest

from tests.meta.api_page import FRONTS
from tests.support.paths import ROOT

SHARED: Final = {
    "Content": "the label of an argument; what of a record is found in a search",
    "Day": "the label of an argument; a day in a text",
    "run": "every command has one",
    "reporter": "every format has one",
    "evaluate": "every evaluator has one",
    "main": "the entry point, and what it starts",
    "pytest_configure": "a hook of pytest",
    "Json": "a JSON object: the kit of laws does not depend on the checks of schemas",
    "Place": "where a repair of a plan goes; where a subschema is",
}
"""The names that several modules define, and why."""

# Modules whose names are for users, classes that pytest prints, hooks that it calls, and parsers
# that are asked for by the name of their command.
USED_FROM_OUTSIDE: Final = re.compile(
    r"harness/testing/(_pytest/|plugin)|.*/pytest_plugin\.py|.*/cli|.*/commands/\w+/\w+_arguments"
)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def modules(*packages: str) -> list[Path]:
    return sorted(path for package in packages for path in (ROOT / package).rglob("*.py"))


def test_no_two_modules_share_a_name() -> None:
    named = defaultdict[str, list[str]](list)
    for path in modules("harness", "critic", "evals"):
        if path.name != "__init__.py":
            named[path.name].append(str(path.relative_to(ROOT)))
    shared = {name: paths for name, paths in named.items() if len(paths) > 1}
    assert not shared, f"rename all but one, by what they hold: {shared}"


def test_the_tests_mirror_the_packages() -> None:
    folders = {
        path.parent.relative_to(ROOT / "tests")
        for package in ("harness", "critic", "evals")
        for path in (ROOT / "tests" / package).rglob("test_*.py")
    }
    lost = sorted(f"tests/{folder}" for folder in folders if not (ROOT / folder).is_dir())
    assert not lost, f"there is no such folder of source: {lost}"


def public_names(path: Path) -> Iterator[str]:
    """Yield the names without an underscore that a module defines at its top."""
    for node in parsed(path).body:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names = [node.name]
            case ast.Assign():
                names = [target.id for target in node.targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name)):
                names = [name]
            case _:
                names = []
        yield from (name for name in names if not name.startswith("_"))


def in_signatures(path: Path) -> set[str]:
    """Return the names in annotations, bases and defaults, which are a part of what is public."""
    parts: list[ast.expr | None] = []
    for node in ast.walk(parsed(path)):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() if not _private(node.name):
                given = node.args
                arguments = (*given.posonlyargs, *given.args, *given.kwonlyargs)
                parts += [node.returns, *(argument.annotation for argument in arguments)]
                parts += [*given.defaults, *given.kw_defaults]
            case ast.ClassDef():
                parts += node.bases
            case ast.AnnAssign():
                parts.append(node.annotation)
            case ast.Assign(targets=[ast.Name(id=name)]) if not _private(name):
                parts.append(node.value)
    return {
        part.id if isinstance(part, ast.Name) else str(part.value)
        for part in chain.from_iterable(ast.walk(part) for part in parts if part is not None)
        if isinstance(part, ast.Name | ast.Constant)
    }


def _private(name: str) -> bool:
    return name.startswith("_") and name != "__init__"


@pytest.mark.slow
def test_a_public_name_means_one_thing() -> None:
    defined = defaultdict[str, set[str]](set)
    for path in modules("harness", "critic", "evals"):
        for name in public_names(path):
            defined[name].add(str(path.relative_to(ROOT)))
    twice = {name: sorted(paths) for name, paths in defined.items() if len(paths) > 1}
    unexplained = {name: paths for name, paths in twice.items() if name not in SHARED}
    assert not unexplained, f"rename them, or share one definition: {unexplained}"
    assert twice.keys() == SHARED.keys()


@pytest.mark.slow
def test_a_name_that_only_its_own_module_uses_is_private() -> None:
    fronts = {ROOT / f"{front.replace('.', '/')}.py" for front in FRONTS}
    readers = modules("harness", "tests", "fixtures")
    words = {path: set(re.findall(r"\w+", path.read_text(encoding="utf-8"))) for path in readers}
    lonely = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules("harness")
        if path not in fronts and not USED_FROM_OUTSIDE.match(str(path.relative_to(ROOT)))
        for name in public_names(path)
        if name not in in_signatures(path)
        and not any(name in words[other] for other in readers if other != path)
    ]
    assert not lonely, f"begin them with an underscore: {lonely}"
