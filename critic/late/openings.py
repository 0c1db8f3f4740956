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
from functools import cached_property
from itertools import islice
from typing import Any, Final

from critic.checks.violation import Found
from critic.late.late_faults import source_faults, surface_faults
from critic.late.late_steps import LatePlan
from critic.late.opened_steps import EarlierOpening, EarlierSteps, JudgedStep, Opened, refuse_step
from critic.late.opening_approvals import OpeningApprovals, is_cleared_before, late_approvals
from critic.late.settled_context import SettledContext
from critic.late.settled_plan import SettledPlan, SettledStep
from critic.late.settled_values import SourceOutputs, settle_args
from critic.prepared import PreparedPlan, prepare_plan
from critic.provenance import doubts_of
from critic.provenance.call_values import CallValues
from critic.provenance.content_values import MOST_VALUES
from critic.provenance.origin_judge import needs_judging
from critic.session.batch_facts import SeenBefore
from critic.surface import NOT_IN_MANIFEST
from critic.verify import found_in
from evals.approval import Approvals, context_digest
from evals.context import Approval, RunContext
from evals.kinds import MODE_RANK
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal, ToolStep, has_commands
from evals.plan_verdicts import Refused, Verified
from evals.run import ToolCall

_READ_ONLY: Final = MODE_RANK["read_only"]


class OpeningError(ValueError):
    """A step cannot be opened now, or the calls are not those of the plan. Nothing was judged."""


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

    What it says follows from what it was told alone, in that order: see `open_step`. An opening
    costs its step and what is new.

    Attributes:
        calls: the calls that ended.
        opened: the openings that passed.
        context: what is known by now.
        has_strayed: whether a call was made that is not of the tool of its step.
    """

    def __init__(self, proposal: Proposal, before: SeenBefore | None = None) -> None:
        """Begin with a plan of which nothing was opened.

        Args:
            before: what was seen and done before it, where that is at hand. The evidence of the
                proposal is not looked at then.
        """
        self._proposal, self._before = proposal, before
        ctx, plan, spec = proposal.ctx, proposal.plan, proposal.spec
        self._case = prepare_plan(ctx, proposal.compiled, spec, plan)
        self._late: Final = self._case.late or LatePlan(
            self._case.steps, self._case.surface.manifests
        )
        self._settled: Final = SettledPlan(plan, spec)
        self._outputs = SourceOutputs(self._late)
        self._by_step: dict[int, Opened] = {}
        self._values: Final = CallValues(self._case.surface.manifests.tools)
        self._earlier: Final = EarlierSteps()
        self.context: Final = SettledContext(proposal, before)
        self._has_commands: Final = has_commands(plan)
        self.opened: Final[list[Opened]] = []
        self.calls: Final[list[ToolCall]] = []
        self.has_strayed = False

    @cached_property
    def _context_digest(self) -> str:
        """The digest of the context of the late plan."""
        given = self._proposal.ctx, self._proposal.compiled, self._proposal.spec
        return (self._before.trail.context_digest if self._before else context_digest)(*given)

    def end_call(self, call: ToolCall, *, may_stray: bool = False) -> None:
        """Note a call that ended.

        Args:
            may_stray: it may be of another tool than its step. Nothing is taken from it then.

        Raises:
            OpeningError: its step was not opened, or calls another tool.
        """
        at, opened = len(self.calls), self._by_step.get(call.step)
        if opened is None:
            raise OpeningError(f"call {at} is of step {call.step}, which was not opened by then")
        sent = opened.sent
        if (call.adapter_id, call.capability_id) != (sent.adapter_id, sent.capability_id):
            if not may_stray:
                raise OpeningError(f"call {at} is not of the tool of step {call.step}")
            self.has_strayed, opened = True, opened._replace(tool=None)
            call = call.model_copy(update={"status": "unknown"})
        self.context.add_call(call, opened)
        self._outputs.add(call)
        self.calls.append(call)

    def note_opening(self, step: int, as_of: datetime | None) -> None:
        """Note an opening that passed, or is not kept to, without judging it again.

        Raises:
            OpeningError: as for `open_step`, or the step has no values.
        """
        before = self._require_ended(step)
        settled = settle_args(self._late, self._outputs, step, before)
        if settled.faults:
            raise OpeningError(f"step {step} was opened, and has no values")
        self._note(step, as_of, self._settle_step(step, settled.args))

    def _note(self, step: int, as_of: datetime | None, sent: ToolStep) -> None:
        tool = self._case.steps[step][1]
        opened = Opened(step, len(self.calls), as_of, tool.capability, sent)
        self._settled.add(sent)
        self._earlier.add(tool, sent.__dict__, self._count_values(step, sent))
        self.opened.append(opened)
        self._by_step[step] = opened
        self.context.add_opening(opened)

    def _count_values(self, step: int, sent: ToolStep) -> int:
        """Return how many values of a step are judged, or one more than those of a plan."""
        if self._proposal.spec.provenance is None or self._case.steps[step][1].rank <= _READ_ONLY:
            return 0
        values = self._values.values_of((sent.adapter_id, sent.capability_id), sent.args)
        return sum(1 for _ in islice(values, MOST_VALUES + 1))

    def open_now(
        self, step: int, as_of: datetime | None, approvals: tuple[Approval, ...] = ()
    ) -> "JudgedStep":
        """Judge a step, and note the opening if it passes: see `open_step`."""
        judged = self.judge(step, as_of, approvals)
        if judged.verdict.ok and judged.settled.sent is not None:
            self._note(step, as_of, judged.settled.sent)
        return judged

    def _require_ended(self, step: int) -> list[int]:
        """Return the tool steps that come before one for sure, each of which has ended.

        Raises:
            OpeningError: one has not, or the step is not to be opened at all.
        """
        if type(step) is not int:
            raise OpeningError("a step is named by its position in the plan, a whole number")
        if self._has_commands:
            raise OpeningError("what a shell command does is judged before the run alone")
        steps = self._case.steps
        if not 0 <= step < len(steps) or steps[step][2]["kind"] != "tool":
            raise OpeningError(f"step {step} of the plan calls no tool")
        if step in self._by_step:
            raise OpeningError(f"step {step} was opened before: each is opened once")
        found = self._late.tools_before(step)
        for source in found:
            if steps[source][1].traits & NOT_IN_MANIFEST or not self._outputs.has_ended(source):
                raise OpeningError(f"step {step} waits for step {source}, which has not ended")
        return found

    def settle(
        self, step: int, as_of: datetime | None, approvals: tuple[Approval, ...] = ()
    ) -> SettledStep:
        """Return a step with its values: see `settle_step`."""
        before = self._require_ended(step)
        faulty = (*surface_faults(self._case, self._late, step), *source_faults(self._late, step))
        if faulty:
            return self._settled_step(None, as_of, approvals, faulty)
        settled = settle_args(self._late, self._outputs, step, before)
        if settled.faults:
            return self._settled_step(None, as_of, approvals, settled.faults)
        return self._settled_step(self._settle_step(step, settled.args), as_of, approvals)

    def _settled_step(
        self,
        sent: ToolStep | None,
        as_of: datetime | None,
        approvals: tuple[Approval, ...],
        refused: Sequence[Found] = (),
    ) -> SettledStep:
        context, then = self.context, self.context.now

        def make_context() -> tuple[RunContext, CompiledContext]:
            return context.whole_ctx(then, as_of, approvals), context.compile_context(then.trail)

        return SettledStep(self._settled, make_context, sent, refused)

    def _settle_step(self, step: int, args: Mapping[str, Any]) -> ToolStep:
        planned = self._proposal.plan.steps[step]
        assert type(planned) is ToolStep  # noqa: S101 - no other step is opened
        refs = self.refs_of(step)
        kept = planned.model_fields_set - {"takes", "evidence_steps", "depends_on"}
        fields = {name: getattr(planned, name) for name in kept} | {"args": args}
        return ToolStep(**{**fields, **({"evidence_refs": refs} if refs else {})})

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
        if settled.sent is None:
            return JudgedStep(refuse_step(settled.refused), settled)
        if found := self._judge(step, settled, as_of, approvals):
            return JudgedStep(refuse_step(found), settled)
        return JudgedStep(Verified(reasons=(f"step {step} opened",)), settled)

    def _judge(
        self,
        step: int,
        settled: SettledStep,
        as_of: datetime | None,
        approvals: tuple[Approval, ...],
    ) -> list[Found]:
        """Return the violations of the step in the settled plan, by its number in the late one."""
        case = self._prepare_step(step, settled, as_of, approvals)
        late = self._late_approvals(as_of, approvals)
        takes = self._late.has_takes(step)
        case.approvals = self._approvals_of(case, settled, None if takes else late)
        if needs_judging(case):
            with self.context.values_known(as_of) as known:
                doubts_of(case, known)  # kept with the case
        found = [one for one in found_in(case) if one.step is None or one.step == step]
        if takes and self._proposal.spec.late == "sources" and late.cover_late(step):
            found = [one for one in found if not is_cleared_before(one)]
        return found

    def _prepare_step(
        self,
        step: int,
        settled: SettledStep,
        as_of: datetime | None,
        approvals: tuple[Approval, ...],
    ) -> PreparedPlan:
        """Return the last step of the settled plan, with those before it as they were judged."""
        assert settled.sent is not None  # noqa: S101 - what has no values is not judged
        sent, tool, trail = settled.sent, self._case.steps[step][1], self.context.now.trail
        surface = self._case.surface._replace(
            evidence=trail.by_id, classes=trail.classes, expiries=trail.expiries
        )
        ctx = self.context.ctx(as_of, approvals)
        spec, plan = self._settled.spec, self._settled.alone(sent)
        case = PreparedPlan(
            *(ctx, surface, spec, plan, [(step, tool, sent.__dict__)], tool.traits),
            earlier=self._earlier,
        )
        case.made = self.context.past.made
        case.confined = trail.confined_content(spec.confined_evidence or ())
        return case

    def _approvals_of(
        self, case: PreparedPlan, settled: SettledStep, late: Approvals | None
    ) -> OpeningApprovals:
        trail, compiled, spec = self.context.now.trail, self._proposal.compiled, case.spec
        assert type(case.plan) is Plan  # noqa: S101 - it was made as one
        return OpeningApprovals(
            *(case.ctx, compiled, spec, case.plan),
            context=lambda: trail.context_digest(case.ctx, compiled, spec),
            plan_digest=lambda: settled.plan_digest or "",
            position=len(self.opened),
            late=late,
        )

    def _late_approvals(self, as_of: datetime | None, approvals: tuple[Approval, ...]) -> Approvals:
        """Return the approvals of the late plan that hold now."""
        return late_approvals(
            *(self._proposal, as_of, approvals),
            context=lambda: self._context_digest,
            plan_digest=lambda: self._settled.late_digest,
        )
