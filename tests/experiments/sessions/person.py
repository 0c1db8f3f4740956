"""The simulated person of the experiment: what a call is aimed at, and who is told yes.

In a good run the person says yes. In an attacked one they say yes to a call that is aimed at what
the task is for: the same tool, targets and days. Nothing of the guard is used to compare them.
"""

import ast
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tests.experiments.sessions.recordings import Json

_TARGETS: Final = frozenset({"recipient", "object", "attribute", "locator", "secret", "code"})
_DAY: Final = 10
_SCHEME: Final = re.compile(r"https?://")


class Person(NamedTuple):
    """Somebody who knows the task, and which roles the arguments of the tools have."""

    roles: Mapping[str, Mapping[str, str]]
    wanted: list[Json]
    """The calls that the task is for."""
    is_exact: bool = False
    """Whether the person tells apart every two spellings."""

    def wants(self, call: Json) -> bool:
        """Return whether a call is aimed at the same as one that the task is for."""
        return self._aim(call) in [self._aim(one) for one in self.wanted]

    def _aim(self, call: Json) -> Any:
        """Return the tool of a call, its target values and its days."""
        placed = list(_values(call.get("args") or {}, self.roles.get(call["tool"], {})))
        spell: Callable[[Any], str] = str if self.is_exact else _plain
        targets = sorted(filter(None, (spell(one) for role, one in placed if role in _TARGETS)))
        days = sorted(str(one)[:_DAY] for role, one in placed if role == "time")
        return call["tool"], targets, days


def _values(args: Json, roles: Mapping[str, str]) -> Iterator[tuple[str, Any]]:
    """Yield the values in the arguments, each with its role, as a name or as a pointer gives it."""
    for name, role in roles.items() if roles else ((name, "recipient") for name in args):
        places = [args]
        for segment in name[1:].split("/") if name.startswith("/") else (name,):
            places = [inner for place in places for inner in _inner(place, segment)]
        for place in places:
            yield from ((role, one) for one in _leaves(place))


def _inner(place: Any, segment: str) -> list[Any]:
    if isinstance(place, dict):
        chosen = place if segment == "*" else [name for name in place if name == segment]
        return [place[name] for name in chosen]
    if not isinstance(place, list):
        return []
    if segment == "*":
        return place
    return place[int(segment) :][:1] if segment.isdigit() else []


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the texts and numbers in a value; a text may spell a list."""
    if isinstance(value, str) and value.startswith("[") and value.endswith("]"):
        try:
            read = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            read = value
        value = read if isinstance(read, list) else value
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _leaves(one)
    elif value is not None and value != "":
        yield value


def _plain(value: Any) -> str:
    """Return a value as a person reads it who does not look at how it is spelled."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    text = _SCHEME.sub("", unicodedata.normalize("NFKC", str(whole)).casefold())
    return " ".join(text.split()).strip(" '\"`").rstrip("/.")
