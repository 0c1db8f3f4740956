"""Facts about a policy for the rules of the lint: tools, arguments, and sources of classes."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Literal

from critic import MODE_RANK, Binding, Demand
from evals.capability import Role
from evals.pointers import segments
from harness.policy.analysis.argument_shapes import ArgumentShapes
from harness.policy.analysis.guessing.tier_guess import words_of
from harness.policy.analysis.lint_finding import LintFinding
from harness.policy.envelopes import Policy, PolicyClass, PolicyTool

AIMED_ROLES: Final = frozenset({"recipient", "object"})
"""The roles of what a call is aimed at."""


class ToolFacts:
    """A tool of a policy, as the rules of the lint see it."""

    def __init__(self, tool: PolicyTool, path: str) -> None:
        self.tool: Final = tool
        self.path: Final = path
        self.rank: Final = MODE_RANK[tool.approval_mode]
        self.names: Final = tuple(
            {_words_in(one): None for one in (tool.called, tool.capability_id)}
        )

    @cached_property
    def shapes(self) -> ArgumentShapes:
        """Return the shapes of its arguments by its schema."""
        return ArgumentShapes(True if self.tool.args_schema is None else self.tool.args_schema)

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """Return the roles of whole arguments, by name."""
        ways = {_way_of(name): role for name, role in (self.tool.arg_roles or {}).items()}
        return {way[0]: role for way, role in ways.items() if len(way) == 1}

    @cached_property
    def arguments(self) -> tuple[str, ...]:
        """Return the arguments in its schema or its roles."""
        return tuple(dict.fromkeys((*self.shapes.names, *self.roles)))

    @property
    def author(self) -> str:
        """The author of its results."""
        return self.tool.result.author if self.tool.result else "public"

    @property
    def is_web(self) -> bool:
        """Whether its results are web pages."""
        return bool(self.tool.result and self.tool.result.web)

    @property
    def is_believed(self) -> bool:
        """Whether its results count as more than anybody's text."""
        return self.author != "public" and not self.is_web

    def bindings(self) -> Iterator[tuple[str, Binding]]:
        """Yield each bound argument with its binding."""
        for name, bound in (self.tool.bound_args or {}).items():
            yield name, bound if isinstance(bound, Binding) else Binding(from_=bound)

    def demands(self) -> Iterator[tuple[int, Demand]]:
        """Yield each demand with its place in the list."""
        for index, wanted in enumerate(self.tool.requires_evidence or ()):
            yield index, wanted if isinstance(wanted, Demand) else Demand(class_=wanted)

    @cached_property
    def needed_classes(self) -> tuple[str, ...]:
        """Return the classes that back a call, in their order."""
        demanded = (demand.class_ for _, demand in self.demands())
        bound = (name for _, binding in self.bindings() for name in binding.from_)
        return tuple(dict.fromkeys((*demanded, *bound)))

    def report_finding(
        self, rule: str, path: str, message: str, *, is_latent: bool = False
    ) -> LintFinding:
        """Return a finding about the tool, at a JSON pointer below it."""
        text = f"tool {self.tool.called}: {message}"
        return LintFinding(rule, f"{self.path}{path}", text, is_latent)


def _words_in(name: str) -> tuple[str, ...]:
    """Return the words of a name without numbers and versions, such as in `read_mail_v2`."""
    return tuple(word for word in words_of(name) if not word.isdecimal() and word != "v")


def _way_of(name: str) -> tuple[str, ...]:
    return segments(name) if name[:1] == "/" else (name,)


class PolicyFacts:
    """A policy with its tools, and the tools that yield or need each class."""

    def __init__(self, policy: Policy) -> None:
        self.policy: Final = policy
        self.tools: Final = [ToolFacts(tool, f"/tool/{at}") for at, tool in enumerate(policy.tool)]
        self.classes: Final[Mapping[str, PolicyClass]] = {one.name: one for one in policy.class_}
        self.held: Final = {item.classification for item in policy.evidence}
        self.yielding: Final[dict[str, list[ToolFacts]]] = {}
        self.needing: Final[dict[str, list[ToolFacts]]] = {}
        for one in self.tools:
            if one.tool.result_class is not None:
                self.yielding.setdefault(one.tool.result_class, []).append(one)
            for name in one.needed_classes:
                self.needing.setdefault(name, []).append(one)

    @property
    def provenance(self) -> Literal["closed", "open"] | None:
        """The provenance mode of the spec."""
        return self.policy.spec.provenance

    @cached_property
    def reads(self) -> Mapping[tuple[str, str], ToolFacts]:
        """Return the tools that only read, by their ids."""
        return {one.tool.pair: one for one in self.tools if one.rank == 0}

    @property
    def effects(self) -> list[ToolFacts]:
        """The tools that do more than read."""
        return [one for one in self.tools if one.rank > 0]

    def sources_of(self, names: Iterable[str]) -> Iterator[tuple[str, ToolFacts]]:
        """Yield each class with the tools that yield it."""
        for name in names:
            yield from ((name, one) for one in self.yielding.get(name, ()))
