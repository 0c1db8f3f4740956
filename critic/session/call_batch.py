"""One batch of calls: what was asked for, the plan that it makes, and the calls that ended."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, NamedTuple

from critic.reports import ScoreVerdict
from critic.session.batch_facts import Derived, Past, SeenBefore
from critic.session.session_evidence import Trail
from critic.session.session_rules import SessionRules
from evals.canonical_json import canonical_json
from evals.context import RunContext
from evals.manifest import CompiledContext, EvidenceItem
from evals.plan import Plan, Proposal, ToolStep, is_late_plan, parts_by_command
from evals.plan_verdicts import Refused, Verified
from evals.run import CallStatus, Opening, Run, ToolCall, refused_opening
from evals.spec import DecisionSpec

Action = Literal["allow", "ask", "refuse"]
"""What becomes of a batch: it may run, a person is asked, or nothing of it runs."""

NO_RESULT: Final = "no result was reported"


class CallTake(NamedTuple):
    """A value of a call's arguments (`arg`), and where it is in what another call returns."""

    arg: str
    call: str
    at: str


class Call(NamedTuple):
    """A call as an agent asks for it. `id` is any text; `tool` is the name that the policy has.

    `shell` are the facts by which its shell command is read, if it has one. It waits for the calls
    that it takes values of, and for those in `after`, by their ids.
    """

    id: str
    tool: str
    args: Mapping[str, Any]
    estimated_tokens: int | None = None
    shell: Mapping[str, Any] | None = None
    takes: tuple[CallTake, ...] = ()
    after: tuple[str, ...] = ()


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


@dataclass(frozen=True, eq=False)
class Batch:
    """The calls of one turn of an agent, and the plan that they make.

    Attributes:
        turn: counts the batches of a session from 1.
        trail: what was seen before.
        past: what the session did before; None where only `ctx` says so.
        is_plan: the agent carries the calls out in later turns.
    """

    turn: int
    calls: tuple[Call, ...]
    ctx: RunContext
    plan: Plan
    rules: SessionRules
    trail: Trail
    past: Past | None = None
    is_plan: bool = False

    @cached_property
    def is_late(self) -> bool:
        """Whether its calls wait for one another: then each is opened before it is made."""
        return is_late_plan(self.plan)

    @property
    def spec(self) -> DecisionSpec:
        """The contract that it is judged by."""
        return self.rules.late_spec if self.is_late else self.rules.batch_spec

    @property
    def before(self) -> SeenBefore:
        """What was seen and done before it, with the indexes of its session."""
        return SeenBefore(self.trail, self.past)

    @property
    def tools(self) -> CompiledContext:
        """The tools of its calls, without evidence."""
        return self._compile()

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
        compiled = self._compile(items)
        return Proposal(ctx=self.ctx, compiled=compiled, spec=self.spec, plan=self.plan)

    def _compile(self, items: tuple[EvidenceItem, ...] = ()) -> CompiledContext:
        names = (call.tool for call in self.calls)
        return self.rules.compiled_for(names, items, is_late=self.is_late)

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
        openings: those of its calls, in order, where they wait for one another.
        made: the steps that may run, or ran, where that is not all of them from the beginning.
        is_plan: the agent carries the calls out in later turns.
        is_stopped: no more of them is made.
        past: what the session did before; None where only `ctx` says so.
        derived: what opens its calls.
        waits: whether its calls are opened one by one, or carried out in later turns.
    """

    turn: int
    calls: tuple[Call, ...]
    seen: int
    ctx: RunContext
    plan: Plan
    verdict: Verified | Refused
    ended: tuple[ToolCall, ...] = ()
    results: tuple[int, ...] = ()
    openings: tuple[Opening, ...] = ()
    made: tuple[int, ...] = ()
    is_plan: bool = False
    is_stopped: bool = False
    past: Past | None = field(default=None, compare=False)
    derived: Derived = field(default_factory=Derived, compare=False)
    waits: bool = field(init=False)

    def __post_init__(self) -> None:
        # Asked of every batch that runs, at each call: the plan is read once.
        object.__setattr__(self, "waits", self.is_plan or self.is_late)

    @classmethod
    def of(cls, batch: Batch, verdict: Verified | Refused) -> "RunningBatch":
        """Return a batch that begins to run."""
        given = batch.turn, batch.calls, batch.seen, batch.ctx, batch.plan, verdict
        return cls(*given, is_plan=batch.is_plan, past=batch.past)

    @property
    def is_late(self) -> bool:
        """Whether its calls wait for one another."""
        return is_late_plan(self.plan)

    @property
    def waiting(self) -> list[int]:
        """The steps that may still be opened, or carried out."""
        if not self.waits or self.is_stopped:
            return []
        return [step for step in range(len(self.calls)) if step not in self.made]

    @property
    def waiting_ids(self) -> list[str]:
        """The ids of the calls that wait to be opened: a plan is carried out under others."""
        return [] if self.is_plan else [self.calls[step].id for step in self.waiting]

    def with_made(self, step: int, args: Mapping[str, Any]) -> "RunningBatch":
        """Return the batch after the call of a step may run, with these arguments."""
        calls = list(self.calls)
        calls[step] = calls[step]._replace(args=args)
        return replace(self, calls=tuple(calls), made=(*self.made, step))

    def batch(self, rules: SessionRules, trail: Trail) -> Batch:
        """Return the batch as it was when it was ruled on.

        Args:
            trail: what its session saw, then or later.
        """
        seen = trail.first_items(self.seen)
        given = self.turn, self.calls, self.ctx, self.plan, rules, seen, self.past, self.is_plan
        return Batch(*given)

    def with_call(self, step: int, result: CallResult, results: range) -> "RunningBatch":
        """Return the batch with one more call that ended."""
        call = self._tool_call(step, result)
        return replace(self, ended=(*self.ended, call), results=(*self.results, *results))

    @property
    def is_over(self) -> bool:
        """Whether all its calls ended, of those that it still makes."""
        return len(self.ended) == len(self._to_end) and not self.waiting

    @property
    def _to_end(self) -> Sequence[int]:
        """The steps whose calls end: all of them, or those that were made."""
        return self.made if self.waits else range(len(self.calls))

    def given_up(self) -> "RunningBatch":
        """Return the batch with all its calls: what became of the open ones is not known."""
        ended = {call.step for call in self.ended}
        open_steps = [step for step in self._to_end if step not in ended]
        unknown = CallResult("unknown", error=NO_RESULT)
        calls = (self._tool_call(step, unknown) for step in open_steps)
        return replace(self, ended=(*self.ended, *calls))

    def _tool_call(self, step: int, result: CallResult) -> ToolCall:
        planned = self.plan.steps[step]
        assert isinstance(planned, ToolStep)  # noqa: S101 - the plan of a batch has no others
        args = self.calls[step].args
        sent = result.sent or OtherCall(planned.adapter_id, planned.capability_id, args)
        return ToolCall(step=step, **sent._asdict(), **result.measured)

    @property
    def has_strayed(self) -> bool:
        """Whether a call was made that is not the one of its step."""
        return any(call.args != self.calls[call.step].args for call in self.ended)

    @property
    def has_gone_on(self) -> bool:
        """Whether calls were made in spite of a refused opening: nothing was enforced."""
        refused = refused_opening(self.openings)
        later = () if refused is None else self.openings[self.openings.index(refused) :]
        return any(one.step in self.made for one in later)

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
            **({"openings": self.openings} if self.openings else {}),
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
