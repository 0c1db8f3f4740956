"""The only import of z3, which ships no types: `Term` is the type of all that it returns.

Imported by name, so that the type checker asks neither for stubs nor for the package.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

z3: Any = import_module("z3")

Term = Any
"""A z3 expression, sort or declaration."""


def every(sort: Term, says: Callable[[Term], Term]) -> Term:
    """Return the formula that holds for all of the sort."""
    bound, body = _bound(sort, says)
    return z3.ForAll([bound], body)


def some(sort: Term, says: Callable[[Term], Term]) -> Term:
    """Return the formula that holds for at least one of the sort."""
    bound, body = _bound(sort, says)
    return z3.Exists([bound], body)


def a(sort: Term, name: str) -> Term:
    """Return an arbitrary constant of the sort: what is proven of it is proven of all."""
    return z3.Const(name, sort)


_open: list[Term] = []


def _bound(sort: Term, says: Callable[[Term], Term]) -> tuple[Term, Term]:
    """Return a variable named by its depth: equal formulas are one term, and names are unique."""
    bound = z3.Const(f"bound{len(_open)}", sort)
    _open.append(bound)
    try:
        return bound, says(bound)
    finally:
        _open.pop()
