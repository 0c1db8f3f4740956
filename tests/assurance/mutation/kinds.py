"""The mutations of one node of a syntax tree: small slips, and constraints left out.

Each function takes a node and yields its replacements. The node itself is not changed.
"""

import ast
import re
from collections.abc import Iterator
from copy import copy
from typing import Any, Final
from warnings import catch_warnings, simplefilter

_COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
_NAMES: Final = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "sorted": "list",
    "issuperset": "issubset",
    "union": "intersection",
    "update": "intersection_update",
    "ljust": "rjust",
    "rstrip": "lstrip",
    "isascii": "isprintable",
    "fullmatch": "match",
}
_PASS: Final = ast.Pass()


def _changed(node: Any, **fields: Any) -> Any:
    other = copy(node)
    for name, value in fields.items():
        setattr(other, name, value)
    return other


def _without(items: list[Any]) -> Iterator[list[Any]]:
    for place in range(len(items)):
        yield items[:place] + items[place + 1 :]


def _constant(value: str | bytes | bool | int | float | None) -> ast.Constant:
    return ast.Constant(value)


# Expressions.


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for place, operator in enumerate(node.ops):
        for other in _COMPARISONS[type(operator)]:
            ops = [*node.ops[:place], other(), *node.ops[place + 1 :]]
            yield _changed(node, ops=ops)


def _bool_op(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield _changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    for values in _without(node.values):
        yield values[0] if len(values) == 1 else _changed(node, values=values)


def _unary_op(node: ast.UnaryOp) -> Iterator[ast.AST]:
    yield node.operand


def _bin_op(node: ast.BinOp | ast.AugAssign) -> Iterator[ast.AST]:
    is_type = getattr(getattr(node, "right", None), "value", node) is None  # `Count | None`
    if type(node.op) in _OPERATORS and not is_type:
        yield _changed(node, op=_OPERATORS[type(node.op)]())


def _any_constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield _constant(not value)
    elif isinstance(value, int | float):
        yield from (_constant(value + 1), _constant(value - 1))
    elif isinstance(value, str):
        yield _constant("" if value else "x")
        yield from map(_constant, _shorter_patterns(value))
    elif isinstance(value, bytes):
        yield _constant(b"" if value else b"x")


def _shorter_patterns(text: str) -> Iterator[str]:
    """Yield the pattern with one character left out or one number raised, if that is a pattern."""
    if "[" not in text and "\\d" not in text and not text.startswith("^"):
        return
    raised = [
        text[: found.start()] + str(int(found[0]) + 1) + text[found.end() :]
        for found in re.finditer(r"(?<=[{,])\d+(?=[,}])", text)
    ]
    shorter = [text[:place] + text[place + 1 :] for place in range(len(text))]
    yield from filter(_compiles, dict.fromkeys([*raised, *shorter]))


def _compiles(pattern: str) -> bool:
    try:
        with catch_warnings():
            simplefilter("ignore")  # the tests make an error of each warning, and so notice it
            re.compile(pattern)
    except (re.error, OverflowError):
        return False
    return True


def _call(node: ast.Call) -> Iterator[ast.AST]:
    yield from (_changed(node, keywords=fewer) for fewer in _without(node.keywords))
    function = node.func
    if isinstance(function, ast.Name) and function.id in _NAMES:
        yield _changed(node, func=_changed(function, id=_NAMES[function.id]))
    if isinstance(function, ast.Attribute) and function.attr in _NAMES:
        yield _changed(node, func=_changed(function, attr=_NAMES[function.attr]))


def is_marked(node: ast.AST) -> bool:
    """Return whether it is an `Annotated`, or a `Literal` of several values."""
    name = getattr(getattr(node, "value", None), "id", "")
    listed = isinstance(getattr(node, "slice", None), ast.Tuple)
    return name in {"Annotated", "Literal"} and listed


def _subscript(node: ast.Subscript) -> Iterator[ast.AST]:
    """Yield `Annotated` without one of its marks, or `Literal` without one of its values."""
    inner = node.slice
    if not is_marked(node) or not isinstance(inner, ast.Tuple):
        return
    name = getattr(node.value, "id", "")
    kept = 1 if name == "Annotated" else 0
    for fewer in _without(inner.elts[kept:]):
        items = [*inner.elts[:kept], *fewer]
        bare = name == "Annotated" and len(items) == 1
        yield items[0] if bare else _changed(node, slice=_changed(inner, elts=items))


def _slice(node: ast.Slice) -> Iterator[ast.AST]:
    for bound in ("lower", "upper"):
        if getattr(node, bound) is not None:
            yield _changed(node, **{bound: None})


def _if_exp(node: ast.IfExp) -> Iterator[ast.AST]:
    yield from (node.body, node.orelse)


def _comprehension(node: ast.comprehension) -> Iterator[ast.AST]:
    yield from (_changed(node, ifs=fewer) for fewer in _without(node.ifs))


def _elements(node: ast.Tuple | ast.List | ast.Set) -> Iterator[ast.AST]:
    if len(node.elts) > 1 and not isinstance(getattr(node, "ctx", None), ast.Store):
        yield from (_changed(node, elts=fewer) for fewer in _without(node.elts))


def _dict(node: ast.Dict) -> Iterator[ast.AST]:
    for place in range(len(node.keys)):
        keys = node.keys[:place] + node.keys[place + 1 :]
        values = node.values[:place] + node.values[place + 1 :]
        yield _changed(node, keys=keys, values=values)


# Statements.


def _if(node: ast.If) -> Iterator[ast.AST]:
    yield from (_changed(node, test=_constant(outcome)) for outcome in (True, False))


def _loop(node: ast.For | ast.While) -> Iterator[ast.AST]:
    name = "iter" if isinstance(node, ast.For) else "test"
    yield _changed(node, **{name: ast.Tuple([], ast.Load())})


def _return(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is not None and getattr(node.value, "value", node) is not None:
        yield _changed(node, value=_constant(None))


def _simple(node: ast.stmt) -> Iterator[ast.AST]:
    yield _PASS


def _aug_assign(node: ast.AugAssign) -> Iterator[ast.AST]:
    yield _PASS
    yield from _bin_op(node)


def _ann_assign(node: ast.AnnAssign) -> Iterator[ast.AST]:
    yield _PASS
    if node.value is not None:
        yield _changed(node, value=None)


def _function(node: ast.FunctionDef) -> Iterator[ast.AST]:
    yield _PASS
    yield from (_changed(node, decorator_list=fewer) for fewer in _without(node.decorator_list))


def _class(node: ast.ClassDef) -> Iterator[ast.AST]:
    yield from (_changed(node, decorator_list=fewer) for fewer in _without(node.decorator_list))


_KINDS: Final[dict[type[ast.AST], Any]] = {
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.UnaryOp: _unary_op,
    ast.BinOp: _bin_op,
    ast.Constant: _any_constant,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.IfExp: _if_exp,
    ast.comprehension: _comprehension,
    ast.Tuple: _elements,
    ast.List: _elements,
    ast.Set: _elements,
    ast.Dict: _dict,
    ast.If: _if,
    ast.For: _loop,
    ast.While: _loop,
    ast.Return: _return,
    ast.Raise: _simple,
    ast.Expr: _simple,
    ast.Assign: _simple,
    ast.AugAssign: _aug_assign,
    ast.Continue: _simple,
    ast.Break: _simple,
    ast.AnnAssign: _ann_assign,
    ast.FunctionDef: _function,
    ast.ClassDef: _class,
}


def replacements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the replacements of a node."""
    yield from _KINDS.get(type(node), lambda _: iter(()))(node)
