"""The plan loop: a planner proposes, `verify` refuses with every violation, the planner revises.

Rule 1: the deterministic verdict decides. An advisor can add findings and hold back a plan that
        verifies; it can never overrule a refusal.
Rule 2: what is verified is a copy that nobody else holds, and so is what is approved. What a plan
        is verified against is out of reach too: planner and advisor are given copies.
Rule 3: a loop that is cut short has lost nothing: see `PlanLoop.revision`.
"""

import asyncio
from typing import Any, Final, TypedDict, Unpack

from critic import (
    CompiledContext,
    DecisionSpec,
    Finding,
    Plan,
    Refused,
    RunContext,
    Verified,
    advise,
    digest,
    verify,
)
from critic.repairs.kinds import Advice
from evals.escaping import escape_name
from harness.agents.agent import describe
from harness.agents.journal import Journal, JournalError
from harness.agents.usage import NO_USAGE, UNLIMITED, Budget, add_usage
from harness.loops.plan_replies import (
    Json,
    findings_of,
    plan_of,
    planned,
    reviewed,
    settled,
    usage_of,
)
from harness.loops.plan_types import (
    Advisor,
    PlanCritique,
    PlanRevision,
    RevisingPlanner,
    RevisionRequest,
)
from harness.runtime.revise import (
    DEFAULT_MAX_ROUNDS,
    Cancelled,
    Drafted,
    Failed,
    JudgedDraft,
    Judgement,
    Malformed,
    OverBudget,
    Revision,
    RevisionEvent,
    Ruling,
)
from harness.wire import detached_copy

_Event = RevisionEvent[Plan, PlanCritique]
_Inputs = tuple[RunContext, CompiledContext, DecisionSpec]


class Options(TypedDict, total=False):
    """How a plan loop is run.

    max_rounds: how many plans are judged at most.
    advisor: asked about a plan that verifies, and about a refused one that is to be revised.
    budget: what all replies together may cost. What a reply did not measure is spent.
    journal: keeps the replies, in sessions `{session}__planner_{round}` and
        `{session}__advisor_{round}`, and `__again` after that for a reply that was asked for
        again. Verdicts are not kept there: they are derived afresh.
    session: names this loop in the journal; by default, the trace.
    """

    max_rounds: int
    advisor: Advisor | None
    budget: Budget
    journal: Journal | None
    session: str | None


async def revise_plan(
    *,
    ctx: RunContext,
    compiled: CompiledContext,
    spec: DecisionSpec,
    planner: RevisingPlanner,
    **options: Unpack[Options],
) -> PlanRevision:
    """Have a plan made and mended until it verifies, or cannot be mended, or rounds run out.

    Raises:
        ValueError: `max_rounds` is not a whole number of at least 1.
        JournalError: what is asked diverges from what the journal holds.
        asyncio.CancelledError: cancelled. Run a `PlanLoop` to keep what there was until then.
    """
    return await PlanLoop(ctx=ctx, compiled=compiled, spec=spec, planner=planner, **options).run()


class PlanLoop:
    """One run of the plan loop; see `Options`."""

    def __init__(
        self,
        *,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        planner: RevisingPlanner,
        max_rounds: int = DEFAULT_MAX_ROUNDS,
        advisor: Advisor | None = None,
        budget: Budget = UNLIMITED,
        journal: Journal | None = None,
        session: str | None = None,
    ) -> None:
        """A loop that has not begun.

        Raises:
            ValueError: `max_rounds` is not a whole number of at least 1.
        """
        self._machine: Final = Revision[Plan, PlanCritique](max_rounds)
        self._inputs: Final = (ctx, compiled, spec)
        self._planner: Final = planner
        self._advisor: Final = advisor
        self._budget: Final = budget
        self._journal: Final = journal
        self._session: Final = ctx.trace_id if session is None else session
        self._usage = NO_USAGE
        self._error: Exception | None = None
        self._copies: Final = dict[str, _Inputs]()

    @property
    def revision(self) -> PlanRevision:
        """Where the loop stands: complete after `run`; before its end, or cancelled, partial."""
        machine = self._machine
        approved = machine.approved
        return PlanRevision(
            stop_reason=machine.stop_reason,
            plan=None if approved is None else approved.draft,
            best_attempt=machine.best,
            attempts=machine.attempts,
            detail=_detail(machine),
            error=self._error,
            usage=self._usage,
        )

    async def run(self) -> PlanRevision:
        """Go on until the loop has ended.

        Raises:
            JournalError: what is asked diverges from what the journal holds.
            asyncio.CancelledError: cancelled; `revision` has what there was until then.
        """
        machine = self._machine
        try:
            while machine.state != "stopped":
                machine.feed(await self._next())
        except BaseException as interrupt:
            cancelled = isinstance(interrupt, asyncio.CancelledError)
            machine.feed(Cancelled("cancelled" if cancelled else type(interrupt).__name__))
            raise
        return self.revision

    async def _next(self) -> _Event:
        """Do what is due."""
        if self._machine.state in ("drafting", "redrafting"):
            return await self._draft()
        return await self._judge()

    async def _draft(self) -> _Event:
        if limit := self._budget.exceeded_by(self._usage):
            return OverBudget(f"budget:{limit}")
        try:
            reply = await self._planner_reply(self._request())
        except JournalError:
            raise
        except Exception as error:
            self._error = error
            return Failed(describe(error))
        self._usage = add_usage(self._usage, usage_of(reply))
        if "malformed" in reply:
            return Malformed(reply["malformed"])
        plan = plan_of(reply)
        return Drafted(plan, digest(plan))

    async def _planner_reply(self, request: RevisionRequest | None) -> Json:
        async def call() -> Json:
            told = None if request is None else detached_copy(request)
            return planned(await settled(self._planner.plan(*self._given("planner"), told)))

        if self._journal is None:
            return await call()
        inputs = {} if request is None else {"request": request.wire()}
        kept: Json = await self._journal.step(*self._step("planner", "plan", inputs), call)
        return kept

    def _given(self, role: str) -> _Inputs:
        """The inputs for somebody else to hold, whatever becomes of them there."""
        if role not in self._copies:
            ctx, compiled, spec = self._inputs
            self._copies[role] = detached_copy(ctx), detached_copy(compiled), detached_copy(spec)
        return self._copies[role]

    def _request(self) -> RevisionRequest | None:
        """What to tell the planner; at first, nothing."""
        machine, facts = self._machine, dict[str, Any]()
        if machine.state == "redrafting":
            facts["complaint"] = machine.detail
        last = machine.attempts[-1] if machine.attempts else None
        if last is not None and last.judgement is not None:
            critique = last.judgement.critique
            facts |= {"plan": last.draft, "plan_digest": last.digest, "findings": critique.findings}
            if isinstance(critique.verdict, Refused):
                facts |= {"violations": critique.verdict.violations, "advice": critique.advice}
        return RevisionRequest(round=machine.round, **facts) if facts else None

    async def _judge(self) -> _Event:
        """Verify the newest plan, and ask the advisor where that can make a difference."""
        machine = self._machine
        plan = machine.attempts[-1].draft
        verdict = verify(*self._inputs, plan)
        advice = advise(*self._inputs, plan)
        last = len(machine.attempts) == machine.max_rounds
        limit = self._budget.exceeded_by(self._usage)
        hopeless = advice is not None and (last or limit or not _revisable(advice))
        if self._advisor is None or hopeless:
            return JudgedDraft(_judgement(PlanCritique(verdict, advice, ())))
        if limit:
            return OverBudget(f"budget:{limit}")
        try:
            reply = await self._advisor_reply(self._advisor, plan, verdict)
        except JournalError:
            raise
        except Exception as error:
            self._error = error
            return JudgedDraft(_unadvised(PlanCritique(verdict, advice, ()), describe(error)))
        self._usage = add_usage(self._usage, usage_of(reply))
        if "findings" in reply:
            return JudgedDraft(_judgement(PlanCritique(verdict, advice, findings_of(reply))))
        if machine.state == "judging":
            return Malformed(reply["malformed"])
        return JudgedDraft(_unadvised(PlanCritique(verdict, advice, ()), reply["malformed"]))

    async def _advisor_reply(
        self, advisor: Advisor, plan: Plan, verdict: Verified | Refused
    ) -> Json:
        async def call() -> Json:
            given = self._given("advisor")
            return reviewed(await settled(advisor.review(*given, detached_copy(plan), verdict)))

        if self._journal is None:
            return await call()
        step = self._step("advisor", "review", {"plan": plan.wire()})
        kept: Json = await self._journal.step(*step, call)
        return kept

    def _step(self, role: str, name: str, inputs: Json) -> tuple[str, str, Json]:
        """Where a call stands in the journal, and what it is given."""
        again = "__again" if self._machine.state in ("redrafting", "rejudging") else ""
        session = f"{self._session}__{role}_{self._machine.round}{again}"
        ctx, compiled, spec = map(digest, self._inputs)
        return session, name, {"ctx": ctx, "compiled": compiled, "spec": spec, **inputs}


def _judgement(critique: PlanCritique) -> Judgement[PlanCritique]:
    """Approved is only a plan that verifies and that nobody holds back."""
    faults = [one for one in critique.findings if one.severity == "error"]
    ruling: Ruling = "refused" if faults else "approved"
    violations = 0
    if isinstance(critique.verdict, Refused):
        revisable = critique.advice is not None and _revisable(critique.advice)
        ruling = "refused" if revisable else "rejected"
        violations = len(critique.verdict.violations)
    return Judgement(ruling, (-violations, -len(faults)), critique)


def _revisable(advice: Advice) -> bool:
    """Whether it is the planner's turn.

    An approval is of one exact plan, so a plan that needs other repairs as well is revised first,
    and what is to be approved is the plan that lacks nothing else.
    """
    needed = {repair.by for repair in advice.repairs}
    return advice.disposition == "replan" or needed == {"planner", "approver"}


def _unadvised(critique: PlanCritique, why: str) -> Judgement[PlanCritique]:
    """The judgement where the advisor gave none: a refusal stands, and nothing is approved."""
    said = Finding(severity="error", message=f"no advice: {why}")
    judgement = _judgement(PlanCritique(critique.verdict, critique.advice, (said,)))
    if isinstance(critique.verdict, Refused):
        return judgement
    return Judgement("rejected", judgement.merit, judgement.critique)  # no revision mends that


def _detail(machine: Revision[Plan, PlanCritique]) -> str:
    """What there is to say about the end: what cut it short, or what the last plan lacks."""
    if machine.stop_reason in ("planner_error", "budget", "cancelled"):
        return machine.detail
    judgement = machine.attempts[-1].judgement if machine.attempts else None
    if machine.stop_reason == "approved" or judgement is None:
        return ""
    faults = [one.message for one in judgement.critique.findings if one.severity == "error"]
    verdict = judgement.critique.verdict
    reasons = verdict.reasons if isinstance(verdict, Refused) else ()
    return "; ".join([*reasons, *map(escape_name, faults)])
