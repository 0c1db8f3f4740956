"""The policies that ruled on the decisions of a page, as far as records hold them. Pure.

Rule 1: a policy of a guard is known by its digest, with its spec, mode and budget as they were
        recorded. Others are known by all that they say.
Rule 2: a record holds the tools of its plan and no others. A tool that was not seen under a policy
        may be in it all the same: it is never said to be gone, or new. So it is with `late` of a
        guard's spec, which only turns have whose calls wait for one another, and with whether it
        is enforced, which no ruling says that allows.
Rule 3: one is compared with the one for the same spec that was seen before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Final, NamedTuple

from evals.capability import ToolCapability
from evals.context import RunContext
from evals.envelope import Envelope
from evals.manifest import CompiledContext
from evals.spec import DecisionSpec
from harness.audit.report.parsed_inputs import ShownInputs
from harness.audit.report.visible_text import make_visible, visible_json
from harness.canonical import canonical_json
from harness.record import DecisionRecord
from harness.record.integrity import is_digest

_MOST: Final = 50
"""Policies that are shown, at most."""
_MOST_PARTS: Final = 500
"""Tools and other things that are kept of one policy, at most."""
_MOST_TEXT: Final = 256 * 1024
"""Characters of all policies together, at most: for the size of the page."""

_TOOL: Final = "6 tool"
_LATE: Final = "2 late"
_ENFORCED: Final = "3 enforcement"
_OF_ACTIONS: Final = {"ask": "enforced", "refuse": "enforced", "shadow": "not enforced"}
"""What a ruling says of its policy. One that allows says nothing of it."""
_SELDOM: Final = (_TOOL, _LATE, _ENFORCED)
"""The kinds of things that not every record under a policy tells."""

PolicyPlace = tuple[str, str]
"""What a policy says a thing of: its kind, and the name of the thing."""


@dataclass(slots=True)
class RulingPolicy:
    """A policy, as far as the records under it say.

    Attributes:
        digest: its digest; None where records name none.
        first: the number of the first record under it.
        last: that of the last one.
        turns: the numbers of the turns that it ruled on.
        enforced: whether its last ruling that says so was.
        parts: what it says, as text, by what it says it of; None for what is left out here.
    """

    digest: str | None
    spec: str
    first: int
    last: int
    turns: set[int] = field(default_factory=set)
    enforced: str | None = None
    parts: dict[PolicyPlace, str | None] = field(default_factory=dict)
    tools: dict[tuple[str, str], ToolCapability] = field(default_factory=dict)

    def new_enforcement(self, record: DecisionRecord) -> Iterator[tuple[PolicyPlace, str]]:
        """Take whether a ruling is enforced, and yield that if it is new, or has changed."""
        enforced = _OF_ACTIONS.get(record.action)
        if enforced not in (None, self.enforced):
            since = "" if self.enforced is None else f"from record {record.seq} on"
            self.enforced = enforced
            yield (_ENFORCED, since), str(enforced)

    def new_tools(self, compiled: CompiledContext) -> Iterator[tuple[PolicyPlace, str]]:
        """Take the tools of a plan, and yield what is new: one that is described anew, too."""
        for tool in compiled.manifests.tool_manifest:
            pair = tool.adapter_id, tool.capability_id
            known = self.tools.get(pair)
            if known == tool or len(self.parts) >= _MOST_PARTS:
                continue
            other = "" if known is None else f" from record {self.last} on"
            self.tools[pair] = tool
            yield (_TOOL, f"{'/'.join(pair)}{other}"), visible_json(tool.wire())

    @property
    def name(self) -> str:
        """Return what it is called on the page."""
        version = "" if self.digest is None else f", version {make_visible(self.digest)}"
        return f"of spec {make_visible(self.spec)}{version}"

    @property
    def text(self) -> str:
        """Return all that is known of it."""
        told = ((_title(part), self.parts[part]) for part in sorted(self.parts))
        left_out = "left out here, for the size of the page: `critic log show` prints it"
        return "\n\n".join(f"{title}\n{left_out if said is None else said}" for title, said in told)


class ChangedLine(NamedTuple):
    """A line of a part that changed: `+` is new, `-` is gone, and a blank one stays."""

    sign: str
    text: str


class ChangedPart(NamedTuple):
    """What a policy says of a thing otherwise than the one before it."""

    title: str
    lines: tuple[ChangedLine, ...]


class ShownPolicy(NamedTuple):
    """A policy, and how it differs from the one before it; None where there is none before."""

    policy: RulingPolicy
    changes: tuple[ChangedPart, ...] | None


class PoliciesOfPage:
    """The policies of the decisions so far, in the order of their first records.

    Attributes:
        unshown: how many decisions are under policies that are one too many to be shown.
    """

    def __init__(self) -> None:
        self._policies: dict[bytes, RulingPolicy] = {}
        self.unshown: int = 0
        self._left = _MOST_TEXT

    def add(self, record: DecisionRecord, turn: int, given: ShownInputs) -> None:
        """Take a decision; one whose inputs cannot be read says nothing."""
        ctx, compiled, spec = given.ctx, given.compiled, given.spec
        if ctx is None or compiled is None or spec is None:
            return
        key = _key_of(record.inputs.spec, ctx, compiled, spec)
        policy, seq = self._policies.get(key), record.seq
        if policy is None and len(self._policies) >= _MOST:
            self.unshown += 1
            return
        if policy is None:
            policy = RulingPolicy(compiled.pack_version, spec.id, seq, seq)
            self._policies[key] = policy
            self._keep(policy, _parts_of(ctx, compiled, spec).items())
        policy.last = seq
        policy.turns.add(turn)
        if _is_of_a_guard(compiled) and spec.late is not None and (_LATE, "") not in policy.parts:
            self._keep(policy, [((_LATE, ""), visible_json(spec.late))])
        self._keep(policy, policy.new_enforcement(record))
        self._keep(policy, policy.new_tools(compiled))

    def _keep(self, policy: RulingPolicy, told: Iterable[tuple[PolicyPlace, str]]) -> None:
        """Keep what is told of a policy, as long as there is room for it."""
        for part, text in told:
            fits = len(text) <= self._left
            policy.parts[part] = text if fits else None
            self._left -= len(text) if fits else 0

    def list_shown(self) -> Iterator[ShownPolicy]:
        """Yield the policies, each with its changes."""
        before: dict[str, RulingPolicy] = {}
        for one in self._policies.values():
            known = before.get(one.spec)
            yield ShownPolicy(one, None if known is None else tuple(_changes(known, one)))
            before[one.spec] = one


def _key_of(digest: str, ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec) -> bytes:
    """Return what tells a policy from others. `digest` is that of its spec."""
    version, manifests = compiled.pack_version, compiled.manifests
    if _is_of_a_guard(compiled):
        told = [version, _without_late(spec), ctx.safety_mode, _wire_of(ctx.run_budget)]
        return canonical_json(told)
    own: list[Any] = [version, digest]
    classes = [one.wire() for one in manifests.classes or ()]
    fields = None if manifests.record_fields is None else [*manifests.record_fields]
    tools = [one.wire() for one in manifests.tool_manifest]
    return canonical_json([*own, classes, fields, tools])


def _without_late(spec: DecisionSpec) -> dict[str, Any]:
    return {name: value for name, value in spec.wire().items() if name != "late"}


def _is_of_a_guard(compiled: CompiledContext) -> bool:
    """Return whether a policy of a guard was compiled: its version is a digest."""
    return is_digest(compiled.pack_version)


def _wire_of(one: Envelope | None) -> Any:
    return None if one is None else one.wire()


def _parts_of(
    ctx: RunContext, compiled: CompiledContext, spec: DecisionSpec
) -> dict[PolicyPlace, str]:
    """Return what a record says of its policy, but for the tools."""
    manifests = compiled.manifests
    parts: dict[PolicyPlace, str] = {("1 spec", spec.id): visible_json(spec.wire())}
    if _is_of_a_guard(compiled):
        parts["1 spec", spec.id] = visible_json(_without_late(spec))
        parts["2 safety mode", ""] = visible_json(ctx.safety_mode)
        parts["3 budget", ""] = visible_json(_wire_of(ctx.run_budget))
    if manifests.record_fields is not None:
        parts["4 record fields", ""] = visible_json([*manifests.record_fields])
    for one in manifests.classes or ():
        parts["5 class", one.class_] = visible_json(one.wire())
    return parts


def _title(part: PolicyPlace) -> str:
    kind, name = part
    return " ".join(filter(None, (kind[2:], make_visible(name))))


def _changes(old: RulingPolicy, new: RulingPolicy) -> Iterator[ChangedPart]:
    for part in sorted({*old.parts, *new.parts}):
        before, after = _texts(old.parts, new.parts, part)
        if before != after:
            lines = _diff(before.splitlines(), after.splitlines())
            yield ChangedPart(_title(part), tuple(lines))


def _texts(
    old: Mapping[PolicyPlace, str | None], new: Mapping[PolicyPlace, str | None], part: PolicyPlace
) -> tuple[str, str]:
    """Return what both say of a thing; the same where it is not known of one of them.

    That is so of what not every record tells, and of what is left out.
    """
    before, after = old.get(part, ""), new.get(part, "")
    if before is None or after is None or (part[0] in _SELDOM and "" in (before, after)):
        return "", ""
    return before, after


def _diff(old: Sequence[str], new: Sequence[str]) -> Iterator[ChangedLine]:
    """Yield the lines of both, each once: what is gone before what is new."""
    for kind, first, last, start, end in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            yield from (ChangedLine("", line) for line in old[first:last])
            continue
        yield from (ChangedLine("-", line) for line in old[first:last])
        yield from (ChangedLine("+", line) for line in new[start:end])
