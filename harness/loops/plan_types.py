"""What goes in and out of the plan loop: its ports, the request it makes, the outcome it gives."""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Annotated, Protocol

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
from critic.repairs.kinds import Advice, AskApproval, GrantBudget, ObtainEvidence
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.json_value import Text
from harness.agents.usage import Usage
from harness.runtime.revise import Attempt, StopReason


class RevisionRequest(Envelope):
    """What a planner is told when its last plan was refused, or its last reply was no plan.

    `round` is the round the new plan is for, from 0. `plan` is the refused plan, with every
    violation, the advice on it, and findings of the advisor; it is absent where there was no plan
    yet. A plan that verifies and is sent back all the same has findings and no violations.
    `complaint` says why the last reply was no plan.
    """

    round: Count
    plan: Annotated[Plan | None, OPTIONAL] = None
    plan_digest: Annotated[Identifier | None, OPTIONAL] = None
    violations: Annotated[tuple[Violation, ...], ARRAY] = ()
    advice: Annotated[Advice | None, OPTIONAL] = None
    findings: Annotated[tuple[Finding, ...], ARRAY] = ()
    complaint: Annotated[Text | None, OPTIONAL] = None


@dataclass(frozen=True, slots=True)
class PlannerReply:
    """A reply with what it cost. An answer that is no `PlannerReply` cost nobody knows what."""

    content: object
    usage: Usage


class RevisingPlanner(Protocol):
    """Proposes a plan, and another when told what was wrong with the last.

    The reply is a Plan, its JSON as bytes or text, or a `PlannerReply` that holds one of these.
    Anything else is no plan, and is asked for again once.
    """

    def plan(
        self,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        request: RevisionRequest | None = None,
        /,
    ) -> object | Awaitable[object]: ...


class Advisor(Protocol):
    """A second opinion, such as a model's: a list of findings, or a `PlannerReply` that holds one.

    An `error` among them holds back a plan that verifies. Nothing lets pass one that does not.
    """

    def review(
        self,
        ctx: RunContext,
        compiled: CompiledContext,
        spec: DecisionSpec,
        plan: Plan,
        verdict: Verified | Refused,
        /,
    ) -> object | Awaitable[object]: ...


@dataclass(frozen=True, slots=True)
class PlanCritique:
    """All that was said of one plan. `advice` belongs to a refusal."""

    verdict: Verified | Refused
    advice: Advice | None
    findings: tuple[Finding, ...]


PlanAttempt = Attempt[Plan, PlanCritique]


@dataclass(frozen=True, slots=True)
class PlanRevision:
    """How a plan loop ended, or where it stands.

    Attributes:
        stop_reason: why it ended; None while it goes on.
        plan: the approved plan, and nothing but an approved one.
        best_attempt: the approved attempt, else the one with the fewest violations. Its
            judgement holds its verdict; without `plan`, it must not be executed.
        attempts: every plan that was proposed, in order.
        detail: what there is to say about the end, one line, safe to print.
        error: what the planner or the advisor raised last, if they did.
        usage: what the replies cost; what any of them did not say is absent.
    """

    stop_reason: StopReason | None
    plan: Plan | None
    best_attempt: PlanAttempt | None
    attempts: tuple[PlanAttempt, ...]
    detail: str
    error: Exception | None
    usage: Usage

    @property
    def outstanding(self) -> tuple[AskApproval | ObtainEvidence | GrantBudget, ...]:
        """What somebody other than the planner has to do for the last plan: approvals first."""
        judgement = self.attempts[-1].judgement if self.attempts else None
        advice = judgement.critique.advice if judgement is not None else None
        repairs = advice.repairs if advice is not None else ()
        others = [one for one in repairs if one.by != "planner"]
        return tuple(sorted(others, key=lambda one: one.by))

    @property
    def best_refused(self) -> PlanAttempt | None:
        """The best of the plans that `verify` refused, which are no danger to propose."""
        ranked = [
            (one.judgement.merit, -one.round, one)
            for one in self.attempts
            if one.judgement is not None and not one.judgement.critique.verdict
        ]
        return max(ranked, default=(None, None, None))[2]
