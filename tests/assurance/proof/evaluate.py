"""A small evaluator: whether a z3 formula holds in a finite world of plain Python values.

It knows nothing of plans. A formula is compiled once into nested functions and then asked in as
many worlds as one likes; quantifiers try every element of their sort's domain.
"""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.assurance.proof.solver import Term, z3


class Finite(NamedTuple):
    """What each symbol means, and what each sort ranges over."""

    meanings: Mapping[str, Callable[..., Any]]
    domains: Mapping[str, Sequence[Any]]


Compiled = Callable[[Finite, tuple[Any, ...]], Any]
"""The value in a world, given the bound variables, innermost last."""

_BINARY: Final = {
    z3.Z3_OP_EQ: operator.eq,
    z3.Z3_OP_LE: operator.le,
    z3.Z3_OP_GE: operator.ge,
    z3.Z3_OP_LT: operator.lt,
    z3.Z3_OP_GT: operator.gt,
}


def compiled(formula: Term) -> Compiled:
    """Return the formula as a function.

    Raises:
        NotImplementedError: it uses something that no formula of this package needs.
    """
    if z3.is_quantifier(formula):
        return _quantified(formula)
    if z3.is_var(formula):
        place = -1 - z3.get_var_index(formula)
        return lambda _, bound: bound[place]
    parts = [compiled(part) for part in formula.children()]
    return _applied(formula, parts)


def _quantified(formula: Term) -> Compiled:
    if formula.num_vars() != 1:
        raise NotImplementedError("one variable at a time")
    sort, body = str(formula.var_sort(0)), compiled(formula.body())
    combine = all if formula.is_forall() else any
    return lambda world, bound: combine(body(world, (*bound, one)) for one in world.domains[sort])


def _applied(  # noqa: PLR0911 - one line for each kind of node
    formula: Term, parts: list[Compiled]
) -> Compiled:
    kind = formula.decl().kind()
    if kind == z3.Z3_OP_UNINTERPRETED:
        return _symbol(formula.decl().name(), parts)
    if kind in (z3.Z3_OP_TRUE, z3.Z3_OP_FALSE, z3.Z3_OP_ANUM, z3.Z3_OP_DT_CONSTRUCTOR):
        value = _literal(formula, kind)
        return lambda *_: value
    if kind == z3.Z3_OP_AND:
        return lambda world, bound: all(part(world, bound) for part in parts)
    if kind == z3.Z3_OP_OR:
        return lambda world, bound: any(part(world, bound) for part in parts)
    if kind == z3.Z3_OP_ADD:
        return lambda world, bound: sum(part(world, bound) for part in parts)
    if kind == z3.Z3_OP_NOT:
        (only,) = parts
        return lambda world, bound: not only(world, bound)
    if kind == z3.Z3_OP_ITE:
        when, then, other = parts
        return lambda world, bound: (then if when(world, bound) else other)(world, bound)
    left, right = parts
    if kind == z3.Z3_OP_IMPLIES:
        return lambda world, bound: not left(world, bound) or right(world, bound)
    if kind in _BINARY:
        compare = _BINARY[kind]
        return lambda world, bound: compare(left(world, bound), right(world, bound))
    raise NotImplementedError(formula.decl().name())


def _literal(formula: Term, kind: int) -> Any:
    if kind == z3.Z3_OP_ANUM:
        return formula.as_long()
    if kind == z3.Z3_OP_DT_CONSTRUCTOR:
        return formula.decl().name()
    return kind == z3.Z3_OP_TRUE


def _symbol(name: str, parts: list[Compiled]) -> Compiled:
    if not parts:
        return lambda world, _: world.meanings[name]()
    if len(parts) == 1:
        (only,) = parts
        return lambda world, bound: world.meanings[name](only(world, bound))
    return lambda world, bound: world.meanings[name](*[part(world, bound) for part in parts])
