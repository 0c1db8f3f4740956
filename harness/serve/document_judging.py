"""Judge documents that come as JSON, and record each judgement before it is answered.

Rule 1: a document that has a spec of its own is judged by what it holds. One that leaves it out is
        judged by the policy, and cannot bring tools of its own.
Rule 2: with a log, no verdict leaves before its record is stored.
Rule 3: where approvers have tokens of their own, what a person approved is taken from them alone.
"""

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar

from critic import (
    CriticReport,
    Plan,
    Proposal,
    Refused,
    Run,
    RunContext,
    ScoreVerdict,
    Verified,
    consolidate,
    score,
    verify,
)
from critic.replies.wording import word_refusal
from evals.kinds import RecordedAction
from evals.run import refused_opening
from harness.cases import ConsolidateInput
from harness.policy import Policy
from harness.policy.partial_documents import completed_context, completed_proposal, completed_run
from harness.policy.policy_rules import catalogue_of
from harness.record import Decision
from harness.runtime.ports import Clock
from harness.serve.answering import RequestRefused
from harness.serve.bearer_tokens import Asker
from harness.wire import InvalidInput, build

_T = TypeVar("_T")

_APPROVED: Final = (("approvals",), ("session", "approved"), ("session", "waived"))
"""Where a context says what a person approved."""


class VerdictLog(Protocol):
    """Keeps decisions."""

    def append(self, decision: Decision) -> Any:
        """Keep the decision, and return once it is safely stored."""


class VerdictDesk:
    """Judges documents. Thread-safe."""

    def __init__(self, policy: Policy | None, log: VerdictLog | None, clock: Clock) -> None:
        """Judge by a policy where documents leave out what it says; record in a log, if any."""
        self._policy: Final = policy
        self._compiled: Final = None if policy is None else policy.compiled()
        self._catalogue: Final = None if policy is None else catalogue_of(policy)
        self._log: Final = log
        self._clock: Final = clock

    @property
    def is_recorded(self) -> bool:
        """Whether judgements are recorded, so that they wait for a disk."""
        return self._log is not None

    def verify(self, value: Any) -> Verified | Refused:
        """Judge a Proposal. A refusal says what to tell a model, which is not recorded.

        Raises:
            InvalidInput: it is not one.
        """
        proposal = self._proposal(value)
        verdict = verify(proposal.ctx, proposal.compiled, proposal.spec, proposal.plan)
        self.record(proposal, verdict)
        return word_refusal(proposal, verdict, self._catalogue)

    def score(self, value: Any) -> ScoreVerdict:
        """Judge a Run.

        Raises:
            InvalidInput: it is not one.
        """
        policy, run_value = self._policy, value
        if policy is not None and isinstance(value, dict) and _leaves_out(value.get("proposal")):
            run_value = completed_run(policy, value)
        run = build(Run, run_value)
        scored = score(run)
        if self._log is not None:
            inputs = run.proposal
            verdict = verify(inputs.ctx, inputs.compiled, inputs.spec, inputs.plan)
            self.record(inputs, verdict, run, scored)
        return scored

    def consolidate(self, value: Any) -> CriticReport:
        """Pack verdicts into a report. It is not recorded: it cannot be derived again.

        Raises:
            InvalidInput: they are not verdicts, or contradict each other.
        """
        given = build(ConsolidateInput, value)
        return consolidate(
            trace_id=given.trace_id,
            decision_key=given.decision_key,
            verify=given.verify,
            score=given.score,
            opening=given.opening,
            decided_at=given.decided_at,
        )

    def _proposal(self, value: Any) -> Proposal:
        policy, compiled = self._policy, self._compiled
        if policy is None or compiled is None or not _leaves_out(value):
            return build(Proposal, value)
        if value.keys() == {"ctx", "plan"}:  # the tools are indexed once for all of these
            try:
                ctx = build(RunContext, completed_context(policy, value["ctx"], "/ctx"))
                plan = build(Plan, value["plan"])
                return Proposal(ctx=ctx, compiled=compiled, spec=policy.spec, plan=plan)
            except InvalidInput:  # explained where the Proposal is read as a whole
                pass
        return build(Proposal, completed_proposal(policy, value))

    def record(
        self,
        proposal: Proposal,
        verdict: Verified | Refused,
        run: Run | None = None,
        scored: ScoreVerdict | None = None,
        *,
        shadow: bool = False,
    ) -> None:
        """Record a judgement, if there is a log. What ran of a refused plan has no score.

        In a `shadow`, what was not allowed is not enforced.
        """
        if self._log is None:
            return
        report = consolidate(
            trace_id=proposal.ctx.trace_id,
            decision_key=proposal.spec.id,
            verify=verdict,
            score=scored if verdict.ok else None,
            opening=refused_opening(run.openings) if run is not None and verdict.ok else None,
            decided_at=self._clock.now(),
        )
        against: RecordedAction = "shadow" if shadow else "refuse"
        action: RecordedAction = "allow" if verdict.ok else against
        self._log.append(Decision(proposal=proposal, run=run, report=report, action=action))


def _leaves_out(value: Any) -> bool:
    return isinstance(value, dict) and "spec" not in value


def own_yes_only(asker: Asker, judge: Callable[[Any], _T]) -> Callable[[Any], _T]:
    """Return a judge of documents who takes what a person approved from approvers alone."""
    if asker.is_approver:
        return judge

    def judge_without_yes(value: Any) -> _T:
        for at, proposal in (("", value), ("/proposal", _member(value, "proposal"))):
            _require_no_yes(_member(proposal, "ctx"), f"{at}/ctx")
        _require_no_yes_to_openings(_member(value, "openings"))
        return judge(value)

    return judge_without_yes


def _require_no_yes(ctx: Any, at: str) -> None:
    for path in _APPROVED:
        found = ctx
        for name in path:
            found = _member(found, name)
        if found:
            message = "what a person approved is taken from a token of --approvers alone"
            raise RequestRefused(403, message, "/".join((at, *path)))


def _require_no_yes_to_openings(openings: Any) -> None:
    for index, one in enumerate(openings if isinstance(openings, list) else ()):
        if _member(one, "approvals"):
            message = "what a person approved is taken from a token of --approvers alone"
            raise RequestRefused(403, message, f"/openings/{index}/approvals")


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
