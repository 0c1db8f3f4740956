"""The facts about a plan that texts are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from critic.checks.grounds import Ground
from critic.doubts import Doubt
from critic.prepared import PreparedPlan
from critic.provenance.value_facts import KnownValues
from critic.replies.catalogue import Catalogue, KnownTool
from critic.replies.doubted import DoubtedValue, DoubtedValues
from critic.replies.quoting import Pen
from evals.capability import ToolCapability
from evals.escaping import pointer
from evals.evidence import EvidenceReview
from evals.manifest import EvidenceItem
from evals.plan_verdicts import Violation
from evals.timestamps import is_unexpired

BY_OPERATOR: Final = "this needs a change of the policy by its operator."
"""What helps where nobody else can do anything."""

Asking = Literal["now", "later", "never"]
"""Whether a person is asked: now, only once what no approval clears is corrected, or not at all."""


class CommandPart(NamedTuple):
    """The place of a step among those of its command: the numbers begin with 1."""

    number: int
    total: int


class CalledStep(NamedTuple):
    """A step, with the name of its tool as the model knows it: empty where it calls none.

    `part` is the place of a step that a command does, whose tool is that of the command.
    """

    number: int
    tool: str
    capability: ToolCapability | None
    args: Mapping[str, Any]
    refs: tuple[str, ...]
    part: CommandPart | None = None

    @property
    def pair(self) -> tuple[str, str]:
        """The name that plans call the tool by."""
        tool = self.capability
        return ("", "") if tool is None else (tool.adapter_id, tool.capability_id)


class Stop(NamedTuple):
    """A violation with the facts behind it.

    Attributes:
        step: the step that it is about; None where it is about the plan as a whole.
        value: the value that is doubted; None where it is a tool that is, or nothing.
    """

    violation: Violation
    ground: Ground
    step: CalledStep | None
    value: DoubtedValue | None = None


@dataclass(frozen=True)
class PlanFacts:
    """A plan that is prepared for the checks, and the tools of its agent.

    Attributes:
        names: the tools of the steps as the model calls them, where it has names of its own.
        made_in: returns the turn in which an earlier plan made the call of a step, if it is known.
        known: what is known of values, if it is at hand. It is what the context says.
        ids: the ids that the agent gave its calls, by those of the steps, where they are others.
    """

    case: PreparedPlan
    catalogue: Catalogue
    names: tuple[str, ...] = ()
    made_in: Callable[[int], int | None] = lambda _index: None
    known: KnownValues | None = None
    ids: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def doubted(self) -> DoubtedValues:
        """The values that are doubted."""
        return DoubtedValues(self.case, self.known)

    @cached_property
    def review(self) -> EvidenceReview:
        """What the evidence of the plan says."""
        return EvidenceReview(self.case.surface.evidence, self.as_of)

    @property
    def as_of(self) -> datetime | None:
        """The time of the plan."""
        return self.case.ctx.as_of

    def step(self, index: int) -> CalledStep:
        """Return a step, by its number."""
        _, entry, fields = self.case.steps[index]
        called, of = "", fields.get("of")
        if of is not None:
            refs = tuple(fields["evidence_refs"] or ())
            tool = self.step(of).tool if of < index else ""
            part = self._part_at(index, of)
            return CalledStep(index, tool, entry.capability, fields["args"], refs, part)
        if fields["kind"] == "tool":
            pair = fields["adapter_id"], fields["capability_id"]
            known = self.catalogue.by_pair.get(pair)
            called = self.names[index] if self.names else known.name if known else pair[1]
        refs = tuple(fields["evidence_refs"] or ())
        return CalledStep(index, called, entry.capability, fields.get("args") or {}, refs)

    def _part_at(self, index: int, of: int) -> CommandPart:
        parts = [at for at, _, fields in self.case.steps if fields.get("of") == of]
        return CommandPart(parts.index(index) + 1, len(parts))

    def stop_at(self, violation: Violation, ground: Ground) -> Stop:
        """Return a violation with its facts. Ask for those of a verdict in their order, once."""
        index = violation.offending_step
        if index is None:
            return Stop(violation, ground, None)
        step, path = self.step(index), violation.path or ""
        if not isinstance(ground, Doubt) or path == pointer("steps", index):
            return Stop(violation, ground, step)
        value = self.doubted.at(path, refuses=violation.check != "approval")
        return Stop(violation, ground, step, value)

    def turn_of(self, step: CalledStep) -> int | None:
        """Return the turn in which the call of a step was made before, if it is known."""
        return self.made_in(step.number)

    def call_id(self, step: str) -> str:
        """Return the id of a call as its agent knows it."""
        return self.ids.get(step, step)

    def class_of(self, ref: str) -> str:
        """Return the class of an item of evidence, by its id."""
        item = self.case.surface.evidence.get(ref)
        return ref if item is None else item.classification

    def source_of(self, pen: Pen, item: EvidenceItem | None) -> str:
        """Return where an item was seen, in words for a model or a person."""
        if item is None:
            return "an earlier result"
        author = None if item.source is None else item.source.author
        if author in ("user", "operator"):
            return "the user's message" if author == "user" else "the system prompt"
        tool = self.catalogue.tool_of(item)
        return f"the result of {pen.name(tool.name)}" if tool else self._name_class(pen, item)

    def _name_class(self, pen: Pen, item: EvidenceItem) -> str:
        is_made = ":" in item.classification or item.id.startswith("call/")
        return "an earlier result" if is_made else f"the {pen.name(item.classification)}"

    def age_of(self, item: EvidenceItem) -> str:
        """Return how old an item that has expired is, or that it has expired."""
        tool = self.catalogue.tool_of(item)
        fresh_s = tool.fresh_s if isinstance(tool, KnownTool) else None
        if item.expires_at is None or self.as_of is None:
            return "is too old"
        over = int((self.as_of - item.expires_at).total_seconds())
        return f"is {over + fresh_s} s old" if fresh_s is not None else f"expired {over} s ago"

    def is_fresh(self, item: EvidenceItem) -> bool:
        """Return whether an item has not expired."""
        return is_unexpired(item.expires_at, self.as_of)
