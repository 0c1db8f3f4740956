"""Open a step of a late plan: judge it again, with its values, before it runs.

Rule 1: opening is verifying. The verdict on a step is that of `verify` on the settled plan in the
        settled context; nothing else decides.
Rule 2: the settled plan has the steps that were opened before, in that order, and this one last:
        each with its values, and as plain steps.
Rule 3: each tool step is opened once, and none before its sources have ended.
Rule 4: an approval of the late plan counts in full for a step that takes nothing. For one that does
        it clears, under `sources` and with `late`, the tier and the doubt of the tool.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from critic.checks.grounds import ApprovalMissing
from critic.checks.violation import Found
from critic.doubts import Doubt
from critic.late.late_faults import source_faults, surface_faults
from critic.late.late_steps import LatePlan
from critic.late.opened_steps import EarlierOpening, Opened
from critic.late.settled_context import SettledContext
from critic.late.settled_values import SourceOutputs, settle_args
from critic.prepared import prepare_plan
from critic.surface import NOT_IN_MANIFEST
from critic.verify import found_in
from evals.approval import Approvals
from evals.canonical_json import digest
from evals.context import Approval, RunContext
from evals.plan import Plan, Proposal, Step, ToolStep, has_commands
from evals.plan_verdicts import MOST_LISTED, Refused, Verified
from evals.run import ToolCall
from evals.spec import DecisionSpec


class OpeningError(ValueError):
    """A step cannot be opened now, or the calls are not those of the plan. Nothing was judged."""


class SettledStep(NamedTuple):
    """A step with its values: the settled plan in the settled context, in which it is the last.

    `refused` says why it has none, and then there is no proposal. `args` are what it sends.
    """

    proposal: Proposal | None
    args: dict[str, Any]
    refused: tuple[Found, ...] = ()


def open_step(
    proposal: Proposal,
    calls: Sequence[ToolCall],
    step: int,
    *,
    as_of: datetime | None,
    approvals: Iterable[Approval] = (),
    openings: Sequence[EarlierOpening] = (),
) -> Verified | Refused:
    """Judge a step of a verified late plan by the five checks, with its values.

    Pure. A refusal has the violations of the step, by its number in the late plan.

    Args:
        calls: the calls that ended, in order.
        step: the index of a tool step that was not opened before.
        as_of: the time of the opening; without it, what expires has expired.
        approvals: those given for this opening. They name the settled plan: see `settle_step`.
        openings: the openings before this one that passed, in order.

    Raises:
        OpeningError: the step was opened before, calls no tool, or waits for a step that has not
            ended; or the calls and openings are not those of the plan.
    """
    opener = _opener_of(proposal, calls, openings)
    return opener.judge(step, as_of, tuple(approvals)).verdict


def settle_step(
    proposal: Proposal,
    calls: Sequence[ToolCall],
    step: int,
    *,
    as_of: datetime | None,
    openings: Sequence[EarlierOpening] = (),
) -> SettledStep:
    """Return a step with its values, as it is judged, and as a person approves it.

    Raises:
        OpeningError: as for `open_step`.
    """
    return _opener_of(proposal, calls, openings).settle(step, as_of)


def _opener_of(
    proposal: Proposal, calls: Sequence[ToolCall], openings: Sequence[EarlierOpening]
) -> "StepOpener":
    """Return the opener of a plan whose steps were opened, and called, as is said."""
    opener = StepOpener(proposal)
    for one in openings:
        if not len(opener.calls) <= one.after <= len(calls):
            raise OpeningError(f"the opening of step {one.step} comes after other calls")
        for call in calls[len(opener.calls) : one.after]:
            opener.end_call(call)
        opener.note_opening(one.step, one.as_of)
    for call in calls[len(opener.calls) :]:
        opener.end_call(call)
    return opener


class StepOpener:
    """Opens the steps of one verified late plan, one after the other, as its calls end.

    What it says follows from what it was told alone, in that order: see `open_step`.

    Attributes:
        calls: the calls that ended.
        opened: the openings that passed.
        context: what is known by now.
    """

    def __init__(self, proposal: Proposal) -> None:
        self._proposal = proposal
        ctx, plan = proposal.ctx, proposal.plan
        self._case = prepare_plan(ctx, proposal.compiled, proposal.spec, plan)
        self._late: Final = self._case.late or LatePlan(
            self._case.steps, self._case.surface.manifests
        )
        self._outputs = SourceOutputs(self._late)
        self._by_step: dict[int, Opened] = {}
        self.context: Final = SettledContext(proposal)
        self.opened: Final[list[Opened]] = []
        self.calls: Final[list[ToolCall]] = []

    def end_call(self, call: ToolCall) -> None:
        """Note a call that ended.

        Raises:
            OpeningError: its step was not opened, or calls another tool.
        """
        at, opened = len(self.calls), self._by_step.get(call.step)
        if opened is None:
            raise OpeningError(f"call {at} is of step {call.step}, which was not opened by then")
        named = call.adapter_id, call.capability_id
        if named != (opened.tool.adapter_id, opened.tool.capability_id):
            raise OpeningError(f"call {at} is not of the tool of step {call.step}")
        self.context.add_call(call, opened)
        self._outputs.add(call)
        self.calls.append(call)

    def note_opening(self, step: int, as_of: datetime | None) -> None:
        """Note an opening that passed, without judging it again.

        Raises:
            OpeningError: as for `open_step`, or the step has no values.
        """
        before = self._require_ended(step)
        settled = settle_args(self._late, self._outputs, step, before)
        known = self._case.steps[step][1].capability is not None
        if settled.faults or not known:
            raise OpeningError(f"step {step} was opened, and has no values or no tool")
        self._note(step, as_of, settled.args)

    def _note(self, step: int, as_of: datetime | None, args: Mapping[str, Any]) -> None:
        tool, position = self._late.tool_of(step), len(self.opened)
        opened = Opened(step, len(self.calls), as_of, position, tool, args)
        self.opened.append(opened)
        self._by_step[step] = opened
        self.context.add_opening(opened)

    def open_now(
        self, step: int, as_of: datetime | None, approvals: tuple[Approval, ...] = ()
    ) -> "JudgedStep":
        """Judge a step, and note the opening if it passes: see `open_step`."""
        judged = self.judge(step, as_of, approvals)
        if judged.verdict.ok:
            self._note(step, as_of, judged.settled.args)
        return judged

    def _require_ended(self, step: int) -> list[int]:
        """Return the tool steps that come before one for sure, each of which has ended.

        Raises:
            OpeningError: one has not, or the step is not to be opened at all.
        """
        if has_commands(self._proposal.plan):
            raise OpeningError("what a shell command does is judged before the run alone")
        steps = self._case.steps
        if not 0 <= step < len(steps) or steps[step][2]["kind"] != "tool":
            raise OpeningError(f"step {step} of the plan calls no tool")
        if step in self._by_step:
            raise OpeningError(f"step {step} was opened before: each is opened once")
        found = self._steps_before(step)
        for source in found:
            if steps[source][1].traits & NOT_IN_MANIFEST or not self._outputs.has_ended(source):
                raise OpeningError(f"step {step} waits for step {source}, which has not ended")
        return found

    def _steps_before(self, step: int) -> list[int]:
        """Return the tool steps that a step waits for, and those that these wait for."""
        ids: dict[str, int] = {}
        for index, _, fields in self._case.steps[:step]:
            if fields["id"] is not None:
                ids.setdefault(fields["id"], index)
        found, waiting = set[int](), [step]
        while waiting:
            index = waiting.pop()
            fields, late = self._case.steps[index][2], self._late.steps.get(index)
            named = [ids[name] for name in fields["depends_on"] or () if name in ids]
            if late is not None:
                named += [*late.pinned, *(value.source for value in late.values)]
            new = [one for one in named if one not in found]
            found.update(new)
            waiting += new
        return sorted(one for one in found if self._case.steps[one][2]["kind"] == "tool")

    def settle(
        self, step: int, as_of: datetime | None, approvals: tuple[Approval, ...] = ()
    ) -> SettledStep:
        """Return a step with its values: see `settle_step`."""
        before = self._require_ended(step)
        faulty = (*surface_faults(self._case, self._late, step), *source_faults(self._late, step))
        if faulty:
            return SettledStep(None, {}, faulty)
        settled = settle_args(self._late, self._outputs, step, before)
        if settled.faults:
            return SettledStep(None, {}, tuple(settled.faults))
        given = {one.step: one.args for one in self.opened} | {step: settled.args}
        ctx = _with_approvals(self.context.ctx(as_of), approvals)
        spec, plan = _bare(self._proposal.spec), self._settled_plan(given)
        proposal = Proposal(ctx=ctx, compiled=self.context.compiled, spec=spec, plan=plan)
        return SettledStep(proposal, dict(settled.args))

    def _settled_plan(self, given: dict[int, Any]) -> Plan:
        plan = self._proposal.plan
        fields: dict[str, Any] = {} if plan.trace_id is None else {"trace_id": plan.trace_id}
        steps: list[Step]
        steps = [self._settled_step(step, args) for step, args in given.items()]
        return Plan(steps=steps, declared_outputs=(), plan_id=digest(plan), **fields)

    def _settled_step(self, step: int, args: Any) -> ToolStep:
        planned = self._proposal.plan.steps[step]
        assert type(planned) is ToolStep  # noqa: S101 - no other step is opened
        refs = self.refs_of(step)
        names = planned.model_fields_set - {"takes", "evidence_steps", "depends_on"}
        fields = {name: getattr(planned, name) for name in names}
        return ToolStep(**{**fields, "args": args, **({"evidence_refs": refs} if refs else {})})

    def refs_of(self, step: int) -> tuple[str, ...]:
        """Return what a step pins: its own refs, and then what it waited for."""
        late = self._late.steps.get(step)
        pinned = late.pinned if late is not None else ()
        own = self._proposal.plan.steps[step].evidence_refs or ()
        made = self.context.refs
        return (*own, *(ref for source in pinned for ref in made.get(source, ())))

    def judge(
        self, step: int, as_of: datetime | None, approvals: tuple[Approval, ...] = ()
    ) -> "JudgedStep":
        """Judge a step, and note nothing: see `open_step`."""
        settled = self.settle(step, as_of, approvals)
        if settled.proposal is None:
            return JudgedStep(_refusal(settled.refused), settled)
        found = self._judge(step, settled.proposal, approvals)
        passed = Verified(reasons=(f"step {step} opened",))
        return JudgedStep(_refusal(found) if found else passed, settled)

    def _judge(self, step: int, settled: Proposal, approvals: tuple[Approval, ...]) -> list[Found]:
        """Return the violations of the step in the settled plan, by its number in the late one."""
        case = prepare_plan(settled.ctx, settled.compiled, settled.spec, settled.plan)
        numbers = [*(one.step for one in self.opened), step]
        case.steps = [
            (number, tool, fields)
            for number, (_, tool, fields) in zip(numbers, case.steps, strict=True)
        ]
        late = _late_approvals(self._proposal, settled.ctx, approvals)
        takes = self._late.has_takes(step)
        case.approvals = _OpeningApprovals(settled, numbers, None if takes else late)
        found = [one for one in found_in(case) if one.step is None or one.step == step]
        if takes and self._proposal.spec.late == "sources" and late.cover_late(step):
            found = [one for one in found if not _is_cleared_before(one)]
        return found


class JudgedStep(NamedTuple):
    """The verdict on a step, and what was judged."""

    verdict: Verified | Refused
    settled: SettledStep


class _OpeningApprovals(Approvals):
    """The approvals of an opening, asked by the numbers of the late plan."""

    def __init__(self, settled: Proposal, numbers: list[int], late: Approvals | None) -> None:
        super().__init__(settled.ctx, settled.compiled, settled.spec, settled.plan)
        self._numbers, self._late = numbers, late

    def cover(self, step: int) -> bool:
        """Return whether a valid approval covers the step: of the settled plan, or of the late."""
        of_settled = super().cover(self._numbers.index(step))
        return of_settled or (self._late is not None and self._late.cover(step))


def _is_cleared_before(found: Found) -> bool:
    """Return whether it is a tier or a doubt of a tool, which are seen before the value is."""
    ground = found.words().ground
    of_tool = isinstance(ground, Doubt) and ground.path == f"/steps/{found.step}"
    return found.approvable and (isinstance(ground, ApprovalMissing) or of_tool)


def _late_approvals(
    proposal: Proposal, settled: RunContext, approvals: tuple[Approval, ...]
) -> Approvals:
    """Return the approvals of the late plan that hold now."""
    ctx = proposal.ctx
    given = (*(ctx.approvals or ()), *approvals)
    kept = ctx.model_fields_set - {"as_of", "approvals"}
    fields = {name: getattr(ctx, name) for name in kept}
    now = RunContext(**fields, as_of=settled.as_of, approvals=given)
    return Approvals(now, proposal.compiled, proposal.spec, proposal.plan)


def _with_approvals(ctx: RunContext, approvals: tuple[Approval, ...]) -> RunContext:
    return ctx.model_copy(update={"approvals": (*(ctx.approvals or ()), *approvals)})


def _bare(spec: DecisionSpec) -> DecisionSpec:
    """Return the contract of one opening: what the whole plan has to give was judged before."""
    names = spec.model_fields_set - {"required_evidence"}
    fields = {name: getattr(spec, name) for name in names}
    return DecisionSpec(**{**fields, "required_outputs": ()})


def _refusal(found: Sequence[Found]) -> Refused:
    return Refused.because(tuple(one.violation() for one in found[:MOST_LISTED]))
