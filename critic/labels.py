"""Labels of a tool in its code: what its arguments are, what it may do, who writes its results.

    @labelled(tier="destructive", author="system", yields="receipt")
    def pay(to: Annotated[str, Recipient], eur: Annotated[int, Attribute]) -> Receipt: ...

Code declares, and the policy decides: `critic init --from-agent` writes these labels into a file,
and `critic policy check --against-agent` reports what the file loosens. No call is judged by them.
They change no schema, and work under or above the decorator of a framework.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final, Literal, TypeVar, get_args, get_type_hints

from evals.capability import Role
from evals.escaping import escape_name
from evals.kinds import ApprovalMode

__all__ = [
    "Attribute",
    "Code",
    "Content",
    "Day",
    "Locator",
    "Object",
    "Recipient",
    "Secret",
    "labelled",
]

ResultAuthor = Literal["system", "member", "public"]
"""Who writes what a tool returns: our systems, our people, or anybody."""

_ATTRIBUTE: Final = "__critic_labels__"
_BEHIND: Final = ("func", "coroutine", "fn", "function")
"""Where the frameworks keep the function of a tool."""
_MOST_LEVELS: Final = 8

_ToolT = TypeVar("_ToolT")


@dataclass(frozen=True, slots=True)
class RoleLabel:
    """The role of an argument, in its annotation: `Annotated[str, Recipient]`."""

    role: Role


Recipient: Final = RoleLabel("recipient")
Object: Final = RoleLabel("object")
Attribute: Final = RoleLabel("attribute")
Locator: Final = RoleLabel("locator")
Content: Final = RoleLabel("content")
Secret: Final = RoleLabel("secret")
Code: Final = RoleLabel("code")
Day: Final = RoleLabel("time")


@dataclass(frozen=True, slots=True)
class ToolLabels:
    """The labels of a tool in its code; None, or no entry, for what it does not say.

    Attributes:
        tier: what it may do.
        author: who writes its results.
        yields: the class of its results as evidence.
        roles: of its arguments, by name.
    """

    tier: ApprovalMode | None = None
    author: ResultAuthor | None = None
    yields: str | None = None
    roles: tuple[tuple[str, Role], ...] = ()


def labelled(
    *,
    tier: ApprovalMode | None = None,
    author: ResultAuthor | None = None,
    yields: str | None = None,
) -> Callable[[_ToolT], _ToolT]:
    """Return what labels a function, or the tool that a framework made of one.

    Raises:
        ValueError: the tier or the author is unknown.
    """
    _require_choice("tier", tier, get_args(ApprovalMode))
    _require_choice("author", author, get_args(ResultAuthor))
    labels = ToolLabels(tier, author, yields)

    def label(tool: _ToolT) -> _ToolT:
        setattr(_function_of(tool), _ATTRIBUTE, labels)
        return tool

    return label


def read_labels(*tools: Any) -> ToolLabels | None:
    """Return the labels of a tool; None without any.

    Args:
        tools: the function, and what a framework made of it, as far as they are known.
    """
    functions = [_function_of(one) for one in tools if one is not None]
    known = [getattr(one, _ATTRIBUTE, None) for one in functions]
    said = next((one for one in known if isinstance(one, ToolLabels)), ToolLabels())
    roles = next(filter(None, map(_roles_of, functions)), ())
    found = ToolLabels(said.tier, said.author, said.yields, roles)
    return None if found == ToolLabels() else found


def _require_choice(name: str, given: str | None, choices: tuple[str, ...]) -> None:
    if given is not None and given not in choices:
        near = get_close_matches(str(given), choices, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        what = f"there is no {name} {escape_name(str(given))}: {hint}known are {', '.join(choices)}"
        raise ValueError(what)


def _function_of(tool: Any) -> Any:
    """Return the function of a tool, or else the tool: where its labels are kept."""
    held = getattr(tool, "__dict__", {})
    found = next((held[name] for name in _BEHIND if callable(held.get(name))), tool)
    return getattr(found, "__func__", found)


def _roles_of(function: Any) -> tuple[tuple[str, Role], ...]:
    try:
        hints = get_type_hints(function, include_extras=True)  # of what it wraps
    except Exception:  # of annotations, which may be any code, and of what has none
        return ()
    found = ((name, next(_labels_in(hint), None)) for name, hint in hints.items())
    return tuple((name, one.role) for name, one in found if one is not None and name != "return")


def _labels_in(hint: Any, level: int = 0) -> Iterator[RoleLabel]:
    """Yield the labels of an annotation, also of the elements of a list."""
    yield from (one for one in getattr(hint, "__metadata__", ()) if isinstance(one, RoleLabel))
    if level < _MOST_LEVELS:
        for part in get_args(hint):
            yield from _labels_in(part, level + 1)
