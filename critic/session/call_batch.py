"""One batch of calls: what was asked for, the plan that it makes, and the calls that ended."""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from critic.prepared import CallKey
from critic.reports import ScoreVerdict
from critic.session.sent_log import SentLog
from critic.session.session_evidence import Trail
from critic.session.session_rules import SessionRules
from critic.session.session_values import OwnKey
from evals.canonical_json import canonical_json
from evals.context import ApprovedValue, RunContext
from evals.manifest import CompiledContext, EvidenceItem
from evals.plan import Plan, Proposal, ToolStep, parts_by_command
from evals.plan_verdicts import Refused, Verified
from evals.run import CallStatus, Run, ToolCall

Action = Literal["allow", "ask", "refuse"]
"""What becomes of a batch: it may run, a person is asked, or nothing of it runs."""

NO_RESULT: Final = "no result was reported"


class Call(NamedTuple):
    """A call as an agent asks for it. `id` is any text; `tool` is the name that the policy has.

    `shell` are the facts by which its shell command is read, if it has one.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    estimated_tokens: int | None = None
    shell: Mapping[str, Any] | None = None


class OtherCall(NamedTuple):
    """A call that was made in the place of the one that was allowed."""

    adapter_id: str
    capability_id: str
    args: Mapping[str, Any]


class CallResult(NamedTuple):
    """How a call ended. Measures that are absent were not taken.

    `cut` says that it returned more than `output` and `error` hold. `sent` is what was made, where
    that is not the call that was allowed: no ruling was about it.
    """

    status: CallStatus
    output: Any = None
    error: str | None = None
    tokens: int | None = None
    duration_ms: int | None = None
    cost_micros: int | None = None
    cut: bool = False
    sent: OtherCall | None = None

    @property
    def measured(self) -> dict[str, Any]:
        """What a run says of it, by the fields of a ToolCall."""
        told = self._asdict()
        del told["cut"], told["sent"]
        return told


class Past(NamedTuple):
    """The acts of a session and the approvals of a person, to look things up in.

    Attributes:
        made: the destructive calls.
        own: the things that calls made.
        approved: the values that a person approved, of approvals that hold.
        sent: what calls sent.
    """

    made: Container[CallKey]
    own: Container[OwnKey]
    approved: tuple[ApprovedValue, ...]
    sent: SentLog


@dataclass(frozen=True, eq=False)
class Batch:
    """The calls of one turn of an agent, and the plan that they make.

    Attributes:
        turn: counts the batches of a session from 1.
        trail: what was seen before.
        past: what the session did before; None where only `ctx` says so.
    """

    turn: int
    calls: tuple[Call, ...]
    ctx: RunContext
    plan: Plan
    rules: SessionRules
    trail: Trail
    past: Past | None = None

    @property
    def seen(self) -> int:
        """How many items of evidence the proposal has."""
        return len(self.trail)

    def call_at(self, step: int) -> int:
        """Return the index of the call of a step, which may be a thing that its command does."""
        planned = self.plan.steps[step]
        of = planned.of if isinstance(planned, ToolStep) else None
        return step if of is None else of

    @cached_property
    def acting(self) -> frozenset[int]:
        """The calls whose commands do more than read, by their steps."""
        return acting_commands(self.plan, self.rules.compiled_for(call.tool for call in self.calls))

    @cached_property
    def proposal(self) -> Proposal:
        """The inputs of `verify`: made when asked for, since they hold all that was seen."""
        return self._make_proposal(self.trail.items)

    def _make_proposal(self, items: tuple[EvidenceItem, ...]) -> Proposal:
        compiled = self.rules.compiled_for((call.tool for call in self.calls), items)
        return Proposal(ctx=self.ctx, compiled=compiled, spec=self.rules.batch_spec, plan=self.plan)

    @property
    def scored(self) -> Proposal:
        """The proposal, with no more evidence than what the score of its run depends on.

        That is what the steps pin, and what must not leave if the calls hold any of it; with an
        approval, which is of a context, all of it.
        """
        if self.ctx.approvals:
            return self.proposal
        pinned = [ref for step in self.plan.steps for ref in step.evidence_refs or ()]
        classes = self.rules.spec.confined_evidence or ()
        confined = self.trail.confined_content(classes)
        if any(confined.found_in(call.args for call in self.calls)):
            return self._make_proposal(self.trail.pick_items(pinned, classes))
        return self._make_proposal(self.trail.pick_items([*confined.without_text(), *pinned]))


@dataclass(frozen=True, slots=True)
class RunningBatch:
    """A batch that was allowed, with the calls that ended so far.

    It holds no evidence, which the session has: many batches may wait for results.

    Attributes:
        seen: how many items of evidence its proposal has.
        verdict: what `verify` says of it. Where it refuses, only a shadow let the batch through.
        ended: the calls that ended, in the order of their results.
        results: positions in the evidence of what they returned.
    """

    turn: int
    calls: tuple[Call, ...]
    seen: int
    ctx: RunContext
    plan: Plan
    verdict: Verified | Refused
    ended: tuple[ToolCall, ...] = ()
    results: tuple[int, ...] = ()

    @classmethod
    def of(cls, batch: Batch, verdict: Verified | Refused) -> "RunningBatch":
        """Return a batch that begins to run."""
        return cls(batch.turn, batch.calls, batch.seen, batch.ctx, batch.plan, verdict)

    def batch(self, rules: SessionRules, trail: Trail) -> Batch:
        """Return the batch as it was when it was ruled on.

        Args:
            trail: what its session saw, then or later.
        """
        seen = trail.first_items(self.seen)
        return Batch(self.turn, self.calls, self.ctx, self.plan, rules, seen)

    def with_call(self, step: int, result: CallResult, results: range) -> "RunningBatch":
        """Return the batch with one more call that ended."""
        call = self._tool_call(step, result)
        return replace(self, ended=(*self.ended, call), results=(*self.results, *results))

    @property
    def is_over(self) -> bool:
        """Whether all its calls ended."""
        return len(self.ended) == len(self.calls)

    def given_up(self) -> "RunningBatch":
        """Return the batch with all its calls: what became of the open ones is not known."""
        ended = {call.step for call in self.ended}
        open_steps = [step for step in range(len(self.calls)) if step not in ended]
        unknown = CallResult("unknown", error=NO_RESULT)
        calls = (self._tool_call(step, unknown) for step in open_steps)
        return replace(self, ended=(*self.ended, *calls))

    def _tool_call(self, step: int, result: CallResult) -> ToolCall:
        planned = self.plan.steps[step]
        assert isinstance(planned, ToolStep)  # noqa: S101 - the plan of a batch has no others
        sent = result.sent or OtherCall(planned.adapter_id, planned.capability_id, planned.args)
        return ToolCall(step=step, **sent._asdict(), **result.measured)

    @property
    def has_strayed(self) -> bool:
        """Whether a call was made that is not the one of its step."""
        return any(call.args != self._planned_args(call.step) for call in self.ended)

    def _planned_args(self, step: int) -> Mapping[str, Any] | None:
        planned = self.plan.steps[step]
        return planned.args if isinstance(planned, ToolStep) else None

    def effects_of(self, call: Call) -> frozenset[str]:
        """Return what the command of a call does, by the names of the effects."""
        at = next(at for at, one in enumerate(self.calls) if one.id == call.id)
        return frozenset(
            step.capability_id
            for step in self.plan.steps
            if isinstance(step, ToolStep) and step.of == at
        )

    def run_of(self, proposal: Proposal) -> Run:
        """Return what ran, as a run of the batch's proposal."""
        return Run(proposal=proposal, **self.run_facts)

    @property
    def run_facts(self) -> dict[str, Any]:
        """The fields of the run but its proposal."""
        return {
            "run_id": f"turn/{self.turn}",
            "trace_id": self.ctx.trace_id,
            "calls": self.ended,
            "outputs": {},
        }


@dataclass(frozen=True, eq=False)
class EndedBatch:
    """A batch whose calls all ended, and what they scored."""

    batch: Batch
    running: RunningBatch
    score: ScoreVerdict

    @property
    def verdict(self) -> Verified | Refused:
        """The verdict of `verify` on the batch."""
        return self.running.verdict

    @cached_property
    def run(self) -> Run:
        """The calls that ran, as a run of the batch's proposal."""
        return self.running.run_of(self.batch.proposal)


def acting_commands(plan: Plan, compiled: CompiledContext) -> frozenset[int]:
    """Return the steps whose commands do more than read."""
    tools = compiled.manifests.tools
    return frozenset(
        of
        for of, parts in parts_by_command(plan).items()
        for step in (plan.steps[part] for part in parts)
        if isinstance(step, ToolStep)
        for tool in [tools.get((step.adapter_id, step.capability_id))]
        if tool is None or tool.approval_mode != "read_only"
    )


def same_args(args: Mapping[str, Any]) -> bytes:
    """Return the one form of the arguments of a call."""
    return canonical_json(dict(args))
