"""Give annotations with a `typing.TypedDict` in them a form that pydantic takes on Python 3.11.

There it takes only those of `typing_extensions`, since those of `typing` do not know their bases.
Bases may hold settings of pydantic, which are lost; all keys and what they may hold are known.
"""

import dataclasses
import sys
from collections.abc import Callable
from functools import reduce
from operator import or_
from types import UnionType
from typing import (
    Annotated,
    Any,
    Final,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_BASES_ARE_KNOWN: Final = sys.version_info >= (3, 12)

Hint = Any
"""An annotation: a type, a form of `typing`, or any other object."""


def hints_of(function: Callable[..., Any]) -> dict[str, Hint]:
    """Return the annotations of a function by parameter, so that pydantic takes each TypedDict.

    Raises:
        Exception: an annotation cannot be evaluated.
    """
    hints = get_type_hints(function, include_extras=True)
    if _BASES_ARE_KNOWN:
        return hints
    rewritten = _Rewritten()
    return {name: rewritten.hint(hint) for name, hint in hints.items()}


class _Rewritten:
    """Rewrites annotations; a class that occurs often, or within itself, is rewritten once."""

    def __init__(self) -> None:
        self._known: dict[type, type] = {}

    def hint(self, hint: Hint) -> Hint:
        """Return the annotation with other classes in it, or itself where none has changed."""
        if isinstance(hint, type) and get_origin(hint) is None:
            return self._class(hint)
        before = get_args(hint)
        after = tuple(map(self.hint, before))
        if all(one is other for one, other in zip(before, after, strict=True)):
            return hint
        return _with_arguments(hint, after)

    def _class(self, given: type) -> type:
        if given not in self._known:
            self._known[given] = given
            if is_typeddict(given):
                self._typed_dict(given)
            elif dataclasses.is_dataclass(given):
                self._dataclass(given)
        return self._known[given]

    def _typed_dict(self, given: type) -> None:
        """Copy a TypedDict. Pydantic tells it apart by the module of its metaclass."""
        meta = type("_CopiedMeta", (type(given),), {"__module__": __name__})
        members = {**vars(given), "__orig_bases__": (TypedDict,)}
        copied: Any = type.__new__(meta, given.__name__, (dict,), members)
        self._known[given] = copied
        hints = get_type_hints(given, include_extras=True)
        copied.__annotations__ = {name: self.hint(hint) for name, hint in hints.items()}

    def _dataclass(self, given: Any) -> None:
        """Copy a dataclass where a field of it has changed."""
        hints = get_type_hints(given, include_extras=True)
        fields = [(one.name, self.hint(hints[one.name]), one) for one in dataclasses.fields(given)]
        if all(hint is hints[name] for name, hint, _ in fields):
            return
        self._known[given] = dataclasses.make_dataclass(
            given.__name__,
            [(name, hint, _copied(one)) for name, hint, one in fields],
            namespace={"__doc__": given.__doc__, "__module__": given.__module__},
        )


def _copied(one: dataclasses.Field[Any]) -> Any:
    """Return a field that says the same as one of another dataclass."""
    names = ("default", "default_factory", "init", "repr", "hash", "compare", "kw_only")
    settings: dict[str, Any] = {name: getattr(one, name) for name in names}
    return dataclasses.field(**settings, metadata=one.metadata)


def _with_arguments(hint: Hint, arguments: tuple[Hint, ...]) -> Hint:
    origin: Any = get_origin(hint)
    if origin is UnionType or origin is Union:
        return reduce(or_, arguments)
    if origin is Annotated:
        return Annotated[arguments]
    return origin[arguments[0] if len(arguments) == 1 else arguments]
