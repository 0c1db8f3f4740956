"""Which lines of a module read a constant of it: their tests are the likeliest to notice."""

import ast
from collections.abc import Iterable, Iterator


def lines_that_read(text: str, line: int) -> set[int]:
    """Return the lines of functions that read what the statement outside of them assigns.

    What other constants are made of it counts as well.
    """
    tree = ast.parse(text)
    assigned = [(_names([one], ast.Store), one) for one in tree.body if _is_assignment(one)]
    names = {name for own, one in assigned if _spans(one, line) for name in own}
    for own, one in assigned:
        if names & _names([one], ast.Load):
            names |= own
    functions = (one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef))
    bodies = (one for function in functions for one in function.body)
    return {name.lineno for name in _each_name(bodies) if name.id in names}


def _is_assignment(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.AnnAssign)


def _spans(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _names(nodes: Iterable[ast.AST], context: type[ast.expr_context]) -> set[str]:
    return {name.id for name in _each_name(nodes) if isinstance(name.ctx, context)}


def _each_name(nodes: Iterable[ast.AST]) -> Iterator[ast.Name]:
    inner = (one for node in nodes for one in ast.walk(node))
    return (one for one in inner if isinstance(one, ast.Name))
