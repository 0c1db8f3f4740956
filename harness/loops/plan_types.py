"""The types of the plan loop: ports, options, the request to a planner, events, the outcome."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Protocol, TypedDict

from critic import (
    CompiledContext,
    DecisionSpec,
    Finding,
    Plan,
    Refused,
    RunContext,
    Verified,
    Violation,
)
from critic.repairs.repair_kinds import Advice, AllowTool, AskApproval, GrantBudget, ObtainEvidence
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import Text
from evals.timestamps import Time
from harness.loops.agents.journal import Journal
from harness.loops.agents.retry import CallPolicy
from harness.loops.agents.usage import Budget, Seconds, Usage
from harness.loops.feedback import FeedbackEntry
from harness.loops.revise import Attempt, JudgementKind, StopReason
from harness.runtime.ports import Clock

PlanRole = Literal["planner", "advisor"]


class RevisionRequest(Envelope):
    """The request for another plan, after a plan was refused or a reply was not a plan.

    `round` is the round of the new plan, from 0. `plan` is the refused plan, with all violations,
    the advice on it, and findings of the advisor; it is absent before the first plan. A plan
    that verifies and was held back by the advisor has findings and no violations. `complaint` says
    why the last reply was not a plan. `feedback` is what the loop was given of earlier decisions:
    its names and reasons come from plans, so nothing in it is an instruction.
    """

    round: Count
    plan: Annotated[Plan | None, OPTIONAL] = None
    plan_digest: Annotated[Identifier | None, OPTIONAL] = None
    violations: Annotated[tuple[Violation, ...], ARRAY] = ()
    advice: Annotated[Advice | None, OPTIONAL] = None
    findings: Annotated[tuple[Finding, ...], ARRAY] = ()
    complaint: Annotated[Text | None, OPTIONAL] = None
    feedback: Annotated[tuple[FeedbackEntry, ...], ARRAY] = ()


@dataclass(frozen=True, slots=True)
class PlannerReply:
    """A reply with what it cost. A bare answer has unknown cost."""

    content: object
    usage: Usage


class RevisingPlanner(Protocol):
    """Proposes a plan, and another one after a refusal."""

    def plan(
        self,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        request: RevisionRequest | None = None,
        /,
    ) -> object | Awaitable[object]:
        """Return a Plan, its JSON as bytes or text, or a `PlannerReply` that holds one of these.

        Anything else is not a plan, and is asked for again once. `request` is None for the first
        plan, unless the loop was given feedback. All arguments are copies, and may be changed.

        May be async; it is called from the thread of the event loop, and one loop makes one call at
        a time. Any `Exception` ends the loop, unless it is transient (see `CallPolicy`): then the
        same call is made again.
        """


class Advisor(Protocol):
    """A second opinion on plans, such as a model's. It can refuse a plan, and never allow one."""

    def review(
        self,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        plan: Plan,
        verdict: Verified | Refused,
        /,
    ) -> object | Awaitable[object]:
        """Return a list of findings, or a `PlannerReply` that holds one.

        An `error` among the findings holds back a plan that verifies. All arguments are copies, the
        verdict too: the loop has decided by then. Calls and errors are as for a planner, except
        that an error of the advisor does not end the loop on a refused plan.
        """


@dataclass(frozen=True, slots=True)
class PlanCritique:
    """The verdict on a plan, the advice on a refusal, and the findings of the advisor."""

    verdict: Verified | Refused
    advice: Advice | None
    findings: tuple[Finding, ...]


PlanAttempt = Attempt[Plan, PlanCritique]
"""One plan of a plan loop, with its judgement."""

PlanEventKind = Literal["started", "drafted", "judged", "malformed", "retrying", "stopped"]
"""The events of a plan loop. `started` comes first and `stopped` last."""


class PlanEvent(Envelope):
    """One thing that happened in a plan loop.

    Attributes:
        kind: `drafted` is a new plan, `judged` its judgement, `malformed` a reply that could not
            be used, `retrying` a call that failed and is made again after `wait_s` seconds.
        sequence: counts the events of one loop, from 0 and without gaps.
        at: when it happened, by the clock of the loop.
        session: the session of the loop.
        round: the round it happened in, from 0.
        role: who was called, for `malformed` and `retrying`.
        plan_digest: the plan, for `drafted` and `judged`.
        ruling: the judgement, for `judged`.
        violations: how many violations `verify` found, for `judged`.
        findings: how many findings the advisor gave, for `judged`.
        why: the reason, one line that is safe to print.
        wait_s: how long the loop waits, for `retrying`.
        stop_reason: why the loop ended, for `stopped`.
    """

    kind: PlanEventKind
    sequence: Count
    at: Time
    session: Text
    round: Count
    role: Annotated[PlanRole | None, OPTIONAL] = None
    plan_digest: Annotated[Identifier | None, OPTIONAL] = None
    ruling: Annotated[JudgementKind | None, OPTIONAL] = None
    violations: Annotated[Count | None, OPTIONAL] = None
    findings: Annotated[Count | None, OPTIONAL] = None
    why: Annotated[Text | None, OPTIONAL] = None
    wait_s: Annotated[Seconds | None, OPTIONAL] = None
    stop_reason: Annotated[StopReason | None, OPTIONAL] = None


@dataclass(frozen=True, slots=True)
class PlanRevision:
    """The outcome of a plan loop, or its state while it runs. It holds copies.

    Attributes:
        stop_reason: why the loop ended; None while it runs.
        plan: the approved plan; None where none was approved.
        best_attempt: the approved attempt, else the first with the fewest violations. Its
            judgement holds its verdict. Where `plan` is None, it must not be executed.
        attempts: every plan that was proposed, in order.
        detail: why the loop ended, in one line that is safe to print; empty for an approval.
        error: the last error that the planner or the advisor raised, if any.
        usage: what the replies cost; a part that some reply did not measure is absent.
    """

    stop_reason: StopReason | None
    plan: Plan | None
    best_attempt: PlanAttempt | None
    attempts: tuple[PlanAttempt, ...]
    detail: str
    error: Exception | None
    usage: Usage

    @property
    def outstanding(self) -> tuple[AskApproval | ObtainEvidence | AllowTool | GrantBudget, ...]:
        """Return the repairs of the last plan that the planner cannot make, approvals first."""
        judgement = self.attempts[-1].judgement if self.attempts else None
        advice = judgement.critique.advice if judgement is not None else None
        repairs = advice.repairs if advice is not None else ()
        others = [repair for repair in repairs if repair.by != "planner"]
        return tuple(sorted(others, key=lambda repair: repair.by))

    @property
    def awaits_approval(self) -> bool:
        """Return whether the last plan lacks approvals only; see `PlanLoop.continue_with`."""
        needed = self.outstanding
        only = bool(needed) and all(isinstance(repair, AskApproval) for repair in needed)
        return self.stop_reason == "unrecoverable" and only and not self._to_revise()

    def _to_revise(self) -> bool:
        judgement = self.attempts[-1].judgement
        advice = judgement.critique.advice if judgement is not None else None
        return advice is None or any(repair.by == "planner" for repair in advice.repairs)

    @property
    def refused(self) -> tuple[tuple[Plan, Refused], ...]:
        """Return every plan that `verify` refused, in order, with its verdict."""
        judged = [(a.draft, a.judgement.critique.verdict) for a in self.attempts if a.judgement]
        return tuple((plan, v) for plan, v in judged if isinstance(v, Refused))

    @property
    def best_refused(self) -> PlanAttempt | None:
        """Return the best of the plans that `verify` refused; of equal ones the first.

        Such a plan can be proposed to be recorded: nothing executes a refused plan.
        """
        refused = [
            (attempt.judgement.rank, -attempt.round, attempt)
            for attempt in self.attempts
            if attempt.judgement is not None and not attempt.judgement.critique.verdict
        ]
        return max(refused, key=lambda ranked: ranked[:2], default=(None, None, None))[2]


class PlanLoopOptions(TypedDict, total=False):
    """The options of a plan loop.

    max_rounds: how many plans are judged at most.
    advisor: asked about a plan that verifies, and about a refused one that is to be revised.
    feedback: what was refused or failed before, for the planner: see `harness.loops.feedback`.
    budget: what all replies together may cost, and how long the loop may take. What a reply did
        not measure counts as spent.
    calls: how often a call is tried, and how long it may take.
    clock: gives the times of events and of the budget; by default that of the system.
    journal: keeps the replies, in sessions `{session}__planner_{round}` and
        `{session}__advisor_{round}`, with `__again` after that for a reply that was asked for
        again. Verdicts are not kept there: they are derived again.
    session: names this loop in the journal; by default, the trace.
    settings: a JSON value with everything else that replies depend on, such as the model and its
        instructions: an input of every call in the journal.
    """

    max_rounds: int
    advisor: Advisor | None
    feedback: Sequence[FeedbackEntry]
    budget: Budget
    calls: CallPolicy
    clock: Clock | None
    journal: Journal | None
    session: str | None
    settings: Any
