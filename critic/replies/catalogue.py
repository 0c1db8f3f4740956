"""The tools that an agent has, as texts speak of them: by name, by what they return."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple

from critic.provenance.tool_words import stem_of, stems_of_name
from critic.provenance.value_facts import NamePair
from evals.capability import ToolCapability
from evals.manifest import CompiledContext, EvidenceClass, EvidenceItem

_TRUST: Final = {"system": 2, "operator": 2, "user": 2, "member": 1, "public": 0}
_NO_NOUN: Final = frozenset(map(stem_of, ("id", "ids", "name", "number", "to", "the", "value")))
_MOST_NAMED: Final = 3
_DEEPEST: Final = 4


class KnownTool(NamedTuple):
    """A tool by the name that its agent calls it by.

    Attributes:
        yields: the class of what it returns.
        fresh_s: how many seconds that is fresh; without it, for ever.
        summary: what a call of it does, in words for a person, with arguments in braces.
    """

    name: str
    capability: ToolCapability
    yields: str | None = None
    fresh_s: int | None = None
    summary: str | None = None

    @property
    def pair(self) -> NamePair:
        """The name that plans call it by."""
        return self.capability.adapter_id, self.capability.capability_id

    @property
    def is_reader(self) -> bool:
        """Whether it changes nothing."""
        return self.capability.approval_mode == "read_only"

    @property
    def trust(self) -> int:
        """How far its results are believed, compared with those of other tools."""
        result = self.capability.result
        return 0 if result is None or result.web else _TRUST[result.author]


@dataclass(frozen=True)
class Catalogue:
    """All tools of an agent, and what their results look like."""

    tools: tuple[KnownTool, ...] = ()
    classes: Mapping[str, EvidenceClass] = field(default_factory=dict)

    @classmethod
    def of_compiled(cls, compiled: CompiledContext) -> "Catalogue":
        """Return the tools of a plan, which are known by their capability_id."""
        manifests = compiled.manifests
        tools = [KnownTool(tool.capability_id, tool) for tool in manifests.tools.values()]
        return cls(tuple(tools), {one.class_: one for one in manifests.classes or ()})

    @cached_property
    def by_pair(self) -> Mapping[NamePair, KnownTool]:
        """The tools by the names that plans call them by."""
        return {tool.pair: tool for tool in self.tools}

    @cached_property
    def by_name(self) -> Mapping[str, KnownTool]:
        """The tools by the names that the agent calls them by."""
        return {tool.name: tool for tool in self.tools}

    def find_yielder(self, classes: Iterable[str]) -> KnownTool | None:
        """Return a tool that returns items of one of these classes, a reading one if there is."""
        wanted = [*classes]
        found = [tool for tool in self.tools if tool.yields in wanted]
        found += [tool for tool in self.tools if {*(tool.capability.produces or ())} & {*wanted}]
        return max(found, key=lambda tool: (tool.is_reader, tool.trust), default=None)

    def tool_of(self, item: EvidenceItem) -> KnownTool | None:
        """Return the tool that returned an item, as far as its subject or its class tells."""
        named = self.by_name.get((item.subject or "").partition(" ")[0])
        return named or self.find_yielder([item.classification])

    def readers_of(self, argument: str, kind: str | None, caller: NamePair) -> list[KnownTool]:
        """Return the reading tools that are the likeliest to return values of an argument.

        Those of which only the class says so, by a member of the same name, come before those whose
        name or class has a noun of the argument. Without any, all whose results are believed.
        """
        nouns = _nouns((argument, kind or ""))
        others = [tool for tool in self.tools if tool.is_reader and tool.pair != caller]
        likely = [(self._likeness(tool, argument, nouns), tool.trust, tool) for tool in others]
        ranked = sorted(likely, key=lambda one: (one[0], one[1]), reverse=True)
        best = ranked[0][0] if ranked else 0
        kept = [tool for found, trust, tool in ranked if found == best and (best or trust)]
        return kept[:_MOST_NAMED]

    def _likeness(self, tool: KnownTool, argument: str, nouns: frozenset[str]) -> int:
        members = {*self._members(tool)}
        own = _nouns((tool.name, tool.yields or ""))
        if argument in members and nouns:
            return 3 + bool(nouns & own)
        if nouns & own:
            return 2 + bool({"id", "id_"} & members)
        return 1 if nouns & _nouns(members) else 0

    def _members(self, tool: KnownTool) -> Iterator[str]:
        """Yield the names of the members of what a tool returns."""
        known = self.classes.get(tool.yields or "")
        if known is not None:
            yield from (path.rpartition("/")[2] for path in known.fields)
            yield from _schema_members(known.schema_, _DEEPEST)


def _schema_members(schema: Any, depth: int) -> Iterator[str]:
    if type(schema) is not dict or not depth:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if type(properties) is dict else ():
        yield name
        yield from _schema_members(inner, depth - 1)
    yield from _schema_members(schema.get("items"), depth - 1)


def _nouns(names: Iterable[str]) -> frozenset[str]:
    return frozenset().union(*map(stems_of_name, names)) - _NO_NOUN
