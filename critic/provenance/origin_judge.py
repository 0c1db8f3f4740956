"""Where the values of a plan come from, and what that is worth in their roles.

Rule 1: the authority of a call is that of its tool and that of each target value. What a text says
        is not judged, only who wrote it and how the session came to read it.
Rule 2: a value without authority refuses the step or asks a person, by its role. A tool that the
        request is not for asks; in `closed` it refuses where no value ties it to the request.
Rule 3: evidence that has expired gives no authority but still contests: each value is judged with
        it and without it, and the worse counts.
Rule 4: what asks is cleared by an approval of this plan that covers the step. In `closed`, two
        doubts about one step, one of its tool and one of a value, are not.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from critic.doubts import NO_DOUBTS, Doubt, Doubts
from critic.prepared import PreparedPlan
from critic.provenance.reasons import (
    NEEDS_APPROVAL,
    TWO_DOUBTS,
    day_reason,
    tool_reason,
    value_reason,
)
from critic.provenance.roles import Placed, RoleTree, placed_values, role_tree
from critic.provenance.tool_words import stems_of_name
from critic.provenance.value_facts import KnownValues, ValueFacts
from critic.provenance.value_forms import addresses_in, elements, iso_days, spelling
from critic.provenance.worth import ALLOW, ASK, REFUSE
from critic.surface import ToolEntry
from evals.capability import Role, ToolCapability, ToolName
from evals.escaping import pointer
from evals.kinds import MODE_RANK

_READ_ONLY: Final = MODE_RANK["read_only"]
_NETWORK: Final = MODE_RANK["network"]
_EFFECTS: Final = sum(1 << rank for rank in MODE_RANK.values() if rank > _READ_ONLY)
"""The traits of tools that do more than read."""
_ACTED_ON: Final = frozenset({"recipient", "object", "attribute", "secret"})
_ASKED_FOR: Final = frozenset({"approved", "request", "own"})
"""The origins that tie a call to the request by themselves."""


def needs_judging(case: PreparedPlan) -> bool:
    """Return whether the evidence is looked at: the spec has provenance, and a step has effects."""
    return case.spec.provenance is not None and bool(case.traits & _EFFECTS)


def doubts_of(case: PreparedPlan, known: KnownValues | None = None) -> Doubts:
    """Return what provenance finds in the plan, judged once.

    Args:
        known: what is known of values, if it is at hand. It is what the context says.
    """
    if not needs_judging(case):
        return NO_DOUBTS
    if case.doubts is None:
        case.doubts = _Judge(case, known).doubts()
    return case.doubts


class _Tool(NamedTuple):
    """What all calls of a tool share: its roles, and whether the request or session is for it."""

    roles: RoleTree
    expected: bool


class _Finding(NamedTuple):
    """A reason to ask or refuse: its place in the args, and its words, given what would help."""

    level: int
    path: tuple[str | int, ...]
    reason: Callable[[str | None], str]


_Target = tuple[Role, str]
"""A value that a call is aimed at: its role and its spelling."""


class _Judge:
    """Judges the steps of one plan, and collects the doubts."""

    def __init__(self, case: PreparedPlan, known: KnownValues | None) -> None:
        session = case.ctx.session
        self._case, self._facts = case, ValueFacts(case, known)
        self._closed = case.spec.provenance == "closed"
        self._waived = session is not None and bool(session.waived)
        self._scope = _pairs(case.ctx.scope)
        self._ran = _pairs(session.ran if session else None)
        self._tools: dict[tuple[str, str], _Tool] = {}
        self._refused_tools: list[Doubt] = []
        self._asks: list[Doubt] = []
        self._refused_values: list[Doubt] = []

    def doubts(self) -> Doubts:
        """Judge every step that calls a tool of the surface above `read_only`."""
        for index, entry, fields in self._case.steps:
            if entry.rank > _READ_ONLY:
                self._judge_step(index, entry, fields)
        return Doubts(tuple(self._refused_tools), tuple(self._asks), tuple(self._refused_values))

    def _judge_step(self, index: int, entry: ToolEntry, fields: Mapping[str, Any]) -> None:
        tool = self._tool_of(fields["adapter_id"], fields["capability_id"])
        targets: list[_Target] = []
        findings: list[_Finding] = []
        for place in placed_values(tool.roles, fields["args"]):
            for role, spelled, value in _values_at(place):
                findings += self._findings_about(place.path, role, spelled, value)
                if role not in ("content", "time"):
                    targets.append((role, spelled))
        level = self._tool_level(entry, tool, targets)
        approvable = not (self._closed and level and findings)
        if level:
            of_tool = _Finding(level, (), partial(tool_reason, entry.name))
            self._report_finding(self._refused_tools, index, of_tool, approvable)
        for finding in findings:
            self._report_finding(self._refused_values, index, finding, approvable)

    def _findings_about(
        self, path: tuple[str | int, ...], role: Role, spelled: str, value: str | float
    ) -> Iterator[_Finding]:
        """Yield what is doubted about a value; of a text with days, one for each."""
        if role == "time":
            for day in dict.fromkeys(iso_days(spelled)):
                level, seen_day = self._facts.judge_day(day, spelled)
                if level:
                    yield _Finding(level, path, partial(day_reason, day, seen_day))
            return
        level, seen = self._facts.judge_value(role, spelled)
        if level:
            yield _Finding(level, path, partial(value_reason, role, value, seen))

    def _tool_of(self, adapter_id: str, capability_id: str) -> _Tool:
        """Return what is known of a tool, worked out at its first call."""
        name = (adapter_id, capability_id)
        if name not in self._tools:
            capability = self._case.surface.manifests.tools[name]
            roles = role_tree(capability.arg_roles)
            self._tools[name] = _Tool(roles, self._is_expected(name, capability))
        return self._tools[name]

    def _is_expected(self, name: tuple[str, str], capability: ToolCapability) -> bool:
        """Return whether the request or the session is for a tool, with any arguments."""
        roles = {*(capability.arg_roles or {}).values()}
        if "locator" in roles and not roles & _ACTED_ON:
            return True
        if name in self._scope or not _pairs(capability.follows).isdisjoint(self._ran):
            return True
        stems = stems_of_name(capability.capability_id)
        return bool(stems) and stems <= self._facts.fresh.stems

    def _tool_level(self, entry: ToolEntry, tool: _Tool, targets: list[_Target]) -> int:
        if entry.rank < _NETWORK or tool.expected:
            return ALLOW
        recipients = [target for target in targets if target[0] == "recipient"]
        if entry.rank == _NETWORK and recipients and all(map(self._is_asked_for, recipients)):
            return ALLOW
        if not self._closed or self._waived or any(map(self._is_tied, targets)):
            return ASK
        return REFUSE

    def _is_asked_for(self, target: _Target) -> bool:
        return self._facts.origin(*target).origin in _ASKED_FOR

    def _is_tied(self, target: _Target) -> bool:
        """Return whether a target value connects its call to the request."""
        return self._is_asked_for(target) or self._facts.fresh.is_linked(target[1])

    def _report_finding(
        self, refused: list[Doubt], index: int, finding: _Finding, approvable: bool
    ) -> None:
        """Note the doubt, unless it asks and an approval clears it."""
        path = pointer("steps", index, *(("args", *finding.path) if finding.path else ()))
        if finding.level == REFUSE:
            refused.append(Doubt(index, path, f"step {index} {finding.reason(None)}"))
        elif not (approvable and self._case.is_approved(index)):
            help_ = NEEDS_APPROVAL if approvable else TWO_DOUBTS
            reason = f"step {index} {finding.reason(help_)}"
            self._asks.append(Doubt(index, path, reason, approvable))


def _values_at(place: Placed) -> Iterator[tuple[Role, str, str | float]]:
    """Yield what a scalar gives to judge in each of its roles: each spelling once, as written."""
    for role in place.roles:
        values: dict[str, str | float] = {}
        for value in _written_values(role, place.value):
            values.setdefault(spelling(value), value)
        yield from ((role, spelled, value) for spelled, value in values.items())


def _written_values(role: Role, value: Any) -> Iterator[str | float]:
    if role != "content":
        return elements(value)
    return addresses_in(value) if type(value) is str else iter(())


def _pairs(names: Iterable[ToolName] | None) -> frozenset[tuple[str, str]]:
    return frozenset((name.adapter_id, name.capability_id) for name in names or ())
