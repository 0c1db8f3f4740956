"""Give the modules that are loaded the code of a mutant, without importing anything anew.

An overlay imports the whole project again, which takes a second or two: most mutants need none.

Rule 1: where only the body of a function differs, the function that is loaded gets the new body.
Rule 2: where only constants differ that no other module imports, they are set in the module.
Rule 3: code that ran at an import, under a decorator or in a class has left traces elsewhere: such
        a mutant is not put in place, and needs an overlay.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from inspect import CO_OPTIMIZED, getattr_static, unwrap
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final

from tests.assurance.mutation.mutants import Mutant
from tests.assurance.mutation.overlay import HOUSE, module_name
from tests.support.paths import ROOT

_PLAIN: Final = {str, bytes, bool, int, float, type(None), re.Pattern}
_FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)


def put_in_place(mutant: Mutant, ran_at_import: Set[int]) -> bool:
    """Return whether the module that is loaded now does what the mutant says.

    `ran_at_import` are the lines of its file that ran outside of tests. False: all is as it was.
    """
    module, path = sys.modules.get(module_name(mutant.file)), ROOT / mutant.file
    if module is None:
        return False
    tree = ast.parse(path.read_text("utf-8"))
    texts = (ast.unparse(tree), mutant.text)
    old, new = (compile(text, str(path), "exec", dont_inherit=True) for text in texts)
    if _frame(old) == _frame(new):
        ran = mutant.line in ran_at_import
        return not ran and _set_function(module, _functions(old), _functions(new))
    if [*map(_bare, _functions(old))] != [*map(_bare, _functions(new))]:
        return False
    if _run_by_others(tree, ran_at_import):
        return False
    return _set_constants(module, new, set(_read_at_import(tree)))


def _bare(code: CodeType) -> CodeType:
    """Return the code without the lines that it stands on."""
    return code.replace(
        co_firstlineno=1,
        co_linetable=b"",
        co_consts=tuple(_bare(one) if isinstance(one, CodeType) else one for one in code.co_consts),
    )


def _frame(code: CodeType) -> CodeType:
    """Return the code of a module or class with the names of its functions for their bodies."""
    kept = [_framed(one) for one in code.co_consts]
    return code.replace(co_firstlineno=1, co_linetable=b"", co_consts=tuple(kept))


def _framed(constant: Any) -> Any:
    if not isinstance(constant, CodeType):
        return constant
    if _is_function(constant):
        return constant.co_qualname
    return _bare(constant) if constant.co_flags & CO_OPTIMIZED else _frame(constant)


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & CO_OPTIMIZED) and not code.co_name.startswith("<")


def _functions(code: CodeType) -> list[CodeType]:
    """Return the code of each function of a module, those of its classes included."""
    found = list[CodeType]()
    for one in code.co_consts:
        if isinstance(one, CodeType):
            found += [one] if _is_function(one) else _functions(one)
    return found


def _set_function(module: ModuleType, old: list[CodeType], new: list[CodeType]) -> bool:
    names = [one.co_qualname for one in old]
    for before, after in zip(old, new, strict=True):
        if _bare(before) == _bare(after):
            continue
        function = _function_at(module, before.co_qualname)
        if function is None or names.count(before.co_qualname) > 1:
            return False
        if function.__code__.co_freevars != after.co_freevars:
            return False
        function.__code__ = after
    return True


def _function_at(module: ModuleType, qualified: str) -> FunctionType | None:
    """Return the function of that name under whatever wraps it, if it is the module's."""
    found: Any = module
    for name in qualified.split("."):
        found = getattr_static(found, name, None)
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, cached_property):
        found = found.func
    elif isinstance(found, staticmethod | classmethod):
        found = found.__func__
    found = unwrap(found) if callable(found) else None
    own = isinstance(found, FunctionType) and found.__code__.co_filename == module.__file__
    return found if own and found.__code__.co_qualname == qualified else None


def _run_by_others(tree: ast.Module, ran_at_import: Set[int]) -> bool:
    """Return whether a function may have run at the import of another module."""
    public = [
        one
        for top in tree.body
        for one in ([top] if not isinstance(top, ast.ClassDef) else top.body)
        if isinstance(one, _FUNCTIONS) and not (one in tree.body and one.name.startswith("_"))
    ]
    inner = (line.lineno for one in public for line in one.body)
    return not ran_at_import.isdisjoint(inner)


def _read_at_import(tree: ast.Module) -> Iterator[str]:
    """Yield the names that classes, decorators and defaults of the module read."""
    for one in tree.body:
        if isinstance(one, (ast.ClassDef, *_FUNCTIONS)):
            yield from _names(_heads(one))


def _heads(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    yield from node.decorator_list
    if not isinstance(node, ast.ClassDef):
        yield node.args
        return
    yield from node.bases
    for one in node.body:
        yield from _heads(one) if isinstance(one, (ast.ClassDef, *_FUNCTIONS)) else [one]


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    inner = (one for node in nodes for one in ast.walk(node))
    return (one.id for one in inner if isinstance(one, ast.Name))


def _set_constants(module: ModuleType, new: CodeType, read: Set[str]) -> bool:
    fresh: dict[str, Any] = {"__name__": module.__name__, "__file__": module.__file__}
    try:
        exec(new, fresh)  # noqa: S102 - a mutant of ours, in a child
    except Exception:
        return False
    live = vars(module)
    changed = {name: fresh[name] for name in _own(fresh) if _differ(live.get(name), fresh[name])}
    if not changed or _own(fresh) != _own(live) or changed.keys() & read:
        return False
    if not all(_is_plain(one) and _is_plain(live[name]) for name, one in changed.items()):
        return False
    if _held_elsewhere(module, changed):
        return False
    live.update(changed)
    return True


def _own(names: Iterable[str]) -> set[str]:
    return {name for name in names if not name.startswith("__")}


def _differ(old: Any, new: Any) -> bool:
    if old is new:
        return False
    if _is_code(old) or _is_code(new):
        return _name_of(old) != _name_of(new)
    if type(old) is not type(new):
        return True
    if isinstance(old, Mapping):
        return _differ([*old.items()], [*new.items()])
    if isinstance(old, tuple | list):
        return len(old) != len(new) or any(map(_differ, old, new))
    return bool(old != new)


def _is_code(value: Any) -> bool:
    return isinstance(value, type) or isinstance(unwrap(value), FunctionType)


def _name_of(value: Any) -> str:
    return str(getattr(value, "__qualname__", ""))


def _is_plain(value: Any) -> bool:
    """Return whether it holds nothing of the module's own classes and functions."""
    if type(value) is dict:
        return all(_is_plain(one) for pair in value.items() for one in pair)
    if type(value) in {tuple, list, frozenset, set}:
        return all(map(_is_plain, value))
    return type(value) in _PLAIN


def _held_elsewhere(module: ModuleType, names: Iterable[str]) -> bool:
    others = [
        vars(one)
        for name, one in list(sys.modules.items())
        if name.partition(".")[0] in HOUSE and one is not module
    ]
    return any(
        name in those and those[name] is vars(module)[name] for name in names for those in others
    )
