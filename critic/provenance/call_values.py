"""The values of one call that are judged, in their roles."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from critic.provenance.content_values import ContentValue, content_values
from critic.provenance.roles import TARGETS, Placed, RoleTree, placed_values, tool_roles
from critic.provenance.spoken_words import Nouns, nouns_in, nouns_of
from critic.provenance.value_facts import Asked
from critic.provenance.value_kinds import Sought, sought
from critic.provenance.written_lists import Scalar, elements
from evals.capability import Role, ToolCapability
from evals.kinds import MODE_RANK

Pair = tuple[str, str]


class JudgedValue(NamedTuple):
    """A value in a call: what it is asked for, where it is, as written, and as it is looked for."""

    asked: Asked
    path: tuple[str | int, ...]
    written: Scalar
    sought: Sought
    content: ContentValue | None = None


class CallValues:
    """Finds the values in the calls of some tools."""

    def __init__(self, tools: Mapping[Pair, ToolCapability]) -> None:
        self._tools: Final = tools
        self._others: frozenset[str] | None = None
        self._trees: dict[Pair, RoleTree] = {}
        self._asked: dict[tuple[Pair, Role, tuple[str, ...], str | None], Asked] = {}

    def values_of(self, pair: Pair, args: Mapping[str, Any]) -> Iterator[JudgedValue]:
        """Yield the values of a call: those of each scalar once, in each of its roles."""
        tree = self._trees.get(pair)
        if tree is None:
            tree = self._trees[pair] = tool_roles(self._tools[pair])
        for place in placed_values(tree, args):
            for role in place.roles:
                yield from self._values_at(pair, place, role)

    def _values_at(self, pair: Pair, place: Placed, role: Role) -> Iterator[JudgedValue]:
        asked = self._asked_for(pair, place, role)
        if role == "content":
            for one in content_values(place.value) if type(place.value) is str else ():
                yield JudgedValue(asked, place.path, one.shown, one.parts[0], one)
            return
        found: dict[Sought, Scalar] = {}
        for value in elements(place.value, every=role in TARGETS):
            found.setdefault(sought(value, place.kind), value)
        yield from (JudgedValue(asked, place.path, value, one) for one, value in found.items())

    def _asked_for(self, pair: Pair, place: Placed, role: Role) -> Asked:
        names = tuple(name for name in place.path if isinstance(name, str))
        key = (pair, role, names, place.kind)
        found = self._asked.get(key)
        if found is None:
            tool = self._tools[pair]
            if self._others is None:
                self._others = nouns_in(self._tools.values())
            own = nouns_of(tool, "_".join(names), place.kind)
            rank = MODE_RANK[tool.approval_mode]
            found = Asked(role, pair, rank, place.kind, Nouns(own, self._others - own))
            self._asked[key] = found
        return found


def target_keys(values: Iterable[JudgedValue]) -> frozenset[tuple[str, str]]:
    """Return the narrow forms of the values that a call is aimed at."""
    return frozenset(
        (one.sought.form, one.sought.narrow) for one in values if one.asked.role in TARGETS
    )
