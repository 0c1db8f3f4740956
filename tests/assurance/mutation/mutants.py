"""Every mutant of a source text: one node of its syntax tree changed, constraints included.

Left as they are, since they make no difference when the code runs: docstrings, imports,
`__all__`, and annotations, except those of the fields of an envelope: pydantic reads them.
"""

import ast
from collections.abc import Iterable, Iterator
from copy import copy
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.assurance.mutation.kinds import is_marked, replacements
from tests.support.paths import ROOT

PACKAGES: Final = ("critic", "evals")
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
_LONGEST: Final = 160


class Mutant(NamedTuple):
    """One file with one node changed. `before` and `after` are the line of code around it."""

    file: str
    line: int
    where: str
    """The class and function that contain the line, such as `Backing.backs`; empty outside."""
    before: str
    after: str
    text: str
    """The whole file, changed."""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Return the key that stays the same while lines move."""
        return self.file, self.where, self.before, self.after


class _Place(NamedTuple):
    """A node, and the way to it from the root of the tree: field and position, step by step."""

    node: ast.AST
    path: tuple[tuple[str, int | None], ...]
    statement: int
    """How many steps lead to the statement that contains the node."""


def _children(place: _Place, *, of_envelope: bool) -> Iterator[_Place]:
    node = place.node
    for name, value in ast.iter_fields(node):
        if _left_out(node, name, of_envelope=of_envelope):
            continue
        items = enumerate(value) if isinstance(value, list) else [(None, value)]
        for position, item in items:
            if not isinstance(item, ast.AST) or _no_code(node, item):
                continue
            path = (*place.path, (name, position))
            depth = len(path) if isinstance(item, ast.stmt) else place.statement
            yield _Place(item, path, depth)


def _left_out(node: ast.AST, name: str, *, of_envelope: bool) -> bool:
    if isinstance(node, _FUNCTIONS):
        return name in {"returns", "type_params"}
    if isinstance(node, ast.ClassDef):
        return name in {"bases", "type_params"}
    if isinstance(node, ast.arg):
        return True
    return name == "annotation" and isinstance(node, ast.AnnAssign) and not of_envelope


def _no_code(parent: ast.AST, node: ast.AST) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom | ast.expr_context):
        return True
    if isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING":
        return True  # only type checkers read it
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    targets = getattr(node, "targets", [])
    return any(getattr(target, "id", "") == "__all__" for target in targets)


def _is_tuple(node: ast.ClassDef) -> bool:
    return any(getattr(base, "id", "") == "NamedTuple" for base in node.bases)


def _places(place: _Place, *, of_envelope: bool = False) -> Iterator[_Place]:
    node = place.node
    if isinstance(node, ast.ClassDef):
        of_envelope = not node.decorator_list and not _is_tuple(node)
    elif isinstance(node, _FUNCTIONS):
        of_envelope = False
    for child in _children(place, of_envelope=of_envelope):
        if not is_marked(node):  # what it holds is changed with it
            yield child
        yield from _places(child, of_envelope=of_envelope)


def _rebuilt(node: Any, path: tuple[tuple[str, int | None], ...], new: ast.AST) -> Any:
    """Return the tree with another node at the end of the path; other parts are shared."""
    if not path:
        return new
    (name, position), rest = path[0], path[1:]
    other, value = copy(node), getattr(node, name)
    if position is None:
        setattr(other, name, _rebuilt(value, rest, new))
    else:
        items = list(value)
        items[position] = _rebuilt(items[position], rest, new)
        setattr(other, name, items)
    return other


def _at(node: Any, path: tuple[tuple[str, int | None], ...]) -> Any:
    for name, position in path:
        value = getattr(node, name)
        node = value if position is None else value[position]
    return node


def _where(tree: ast.AST, path: tuple[tuple[str, int | None], ...]) -> str:
    nodes = [_at(tree, path[:depth]) for depth in range(len(path))]
    scopes = [node for node in nodes if isinstance(node, (ast.ClassDef, *_FUNCTIONS))]
    return ".".join(scope.name for scope in scopes)


def _said(statement: ast.stmt) -> str:
    """Return the statement on one line; of a block only its head."""
    bodies = [name for name in ("body", "orelse") if isinstance(getattr(statement, name, 0), list)]
    head = copy(statement)
    for name in bodies:
        setattr(head, name, [ast.Expr(ast.Constant(...))] if name == "body" else [])
    return " ".join(ast.unparse(head).split())


def mutants_of(file: str, text: str) -> Iterator[Mutant]:
    """Yield the mutants of one file, in the order of its lines, each text once."""
    tree = ast.parse(text)
    parts = [ast.unparse(part) for part in tree.body]
    seen = set(enumerate(parts))
    for place in _places(_Place(tree, (), 0)):
        way = place.path[: place.statement]
        statement = _at(tree, way)
        at = way[0][1] or 0
        for new in replacements(place.node):
            changed = _rebuilt(tree, place.path, new)
            part = ast.unparse(ast.fix_missing_locations(changed.body[at]))
            if (at, part) in seen:
                continue
            seen.add((at, part))
            said = _around(_said(statement), _said(_at(changed, way)))
            whole = "\n".join([*parts[:at], part, *parts[at + 1 :]])
            yield Mutant(file, statement.lineno, _where(tree, way), *said, whole)


def _around(before: str, after: str) -> tuple[str, str]:
    """Return both texts, cut to the stretch around the place where they differ."""
    if max(len(before), len(after)) <= _LONGEST:
        return before, after
    pairs = zip(before, after, strict=False)
    same = next((at for at, (one, other) in enumerate(pairs) if one != other), len(after))
    start = max(0, same - 60)
    return before[start : start + _LONGEST], after[start : start + _LONGEST]


def sources(places: Iterable[str] = PACKAGES) -> list[str]:
    """Return the files to mutate, by path from the root: `places` are folders and files."""
    found = [path for place in places for path in _files(ROOT / place)]
    return [str(path.relative_to(ROOT)) for path in dict.fromkeys(found)]


def _files(place: Path) -> list[Path]:
    return [place] if place.is_file() else sorted(place.rglob("*.py"))


def each_mutant(places: Iterable[str]) -> Iterator[Mutant]:
    """Yield the mutants of all files of some places, one file after the other."""
    for file in sources(places):
        yield from mutants_of(file, (ROOT / file).read_text("utf-8"))


def all_mutants(places: Iterable[str] = PACKAGES) -> list[Mutant]:
    """Return the mutants of all files."""
    return list(each_mutant(places))
