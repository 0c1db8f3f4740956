"""The values of one call that are judged, in their roles."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from critic.provenance.argument_nouns import Nouns, nouns_in, nouns_of
from critic.provenance.content_values import ContentValue, content_values
from critic.provenance.mailboxes import read_mailboxes
from critic.provenance.roles import AIMED_AT, Placed, RoleTree, placed_values, tool_roles
from critic.provenance.value_facts import Aim, NamePair
from critic.provenance.value_kinds import Sought, read_value
from critic.provenance.written_lists import Scalar, elements
from evals.capability import Role, ToolCapability
from evals.kinds import MODE_RANK

_MOST_ASKED: Final = 1000
"""How many places of values are kept: a policy is used by many sessions."""


class JudgedValue(NamedTuple):
    """A value in a call: what it is asked for, where it is, as written, and as it is looked for."""

    asked: Aim
    path: tuple[str | int, ...]
    written: Scalar
    sought: Sought
    content: ContentValue | None = None


class CallValues:
    """Finds the values in the calls of some tools."""

    def __init__(self, tools: Mapping[NamePair, ToolCapability]) -> None:
        self._tools: Final = tools
        self._others: frozenset[str] | None = None
        self._trees: dict[NamePair, RoleTree] = {}
        self._asked: dict[tuple[NamePair, Role, tuple[str, ...], str | None], Aim] = {}

    def values_of(self, pair: NamePair, args: Mapping[str, Any]) -> Iterator[JudgedValue]:
        """Yield the values of a call: those of each scalar once, in each of its roles."""
        tree = self._trees.get(pair)
        if tree is None:
            tree = self._trees[pair] = tool_roles(self._tools[pair])
        for place in placed_values(tree, args):
            for role in place.roles:
                yield from self._values_at(pair, place, role)

    def _values_at(self, pair: NamePair, place: Placed, role: Role) -> Iterator[JudgedValue]:
        if role == "content" and type(place.value) is not str:
            return
        asked = self._asked_for(pair, place, role)
        if role == "content":
            yield from _values_in_content(asked, place.path, place.value)
            return
        found: dict[Sought, Scalar] = {}
        names: dict[str, None] = {}
        for value in elements(place.value, every=role in AIMED_AT):
            listed = read_mailboxes(value, role, place.kind) if type(value) is str else None
            for part in listed.targets if listed else (value,):
                found.setdefault(read_value(part, place.kind), part)
            names |= dict.fromkeys(listed.names if listed else ())
        yield from (JudgedValue(asked, place.path, value, one) for one, value in found.items())
        as_content = self._asked_for(pair, place, "content") if names else asked
        for name in names:
            yield from _values_in_content(as_content, place.path, name)

    def _asked_for(self, pair: NamePair, place: Placed, role: Role) -> Aim:
        names = place.spelled  # another name makes no noun: the agent chose it
        key = (pair, role, names, place.kind)
        found = self._asked.get(key)
        if found is None:
            tool = self._tools[pair]
            if self._others is None:
                self._others = nouns_in(self._tools.values())
            own = nouns_of(tool, "_".join(names), place.kind)
            rank = MODE_RANK[tool.approval_mode]
            found = Aim(role, pair, rank, place.kind, Nouns(own, self._others - own))
            if len(self._asked) >= _MOST_ASKED:
                self._asked.clear()
            self._asked[key] = found
        return found


def _values_in_content(asked: Aim, path: tuple[str | int, ...], text: str) -> Iterator[JudgedValue]:
    for one in content_values(text):
        yield JudgedValue(asked, path, one.shown, one.parts[0], one)


def target_keys(values: Iterable[JudgedValue]) -> frozenset[tuple[str, str]]:
    """Return the narrow forms of the values that a call is aimed at."""
    return frozenset(
        (one.sought.form, one.sought.narrow) for one in values if one.asked.role in AIMED_AT
    )
