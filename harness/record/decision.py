"""One decision as the log keeps it.

A decision is recorded as it was when it was built; later changes in place do not count. Pure, but
for the digest of the rules, which is read from disk once per process.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, Final, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from critic.reports import CriticReport
from evals.envelope import ARRAY, MEMBERS, OPTIONAL, Count, Envelope, Identifier
from evals.joined_json import join_array
from evals.json_value import SAFE_INTEGER, JsonValue
from evals.kinds import RecordedAction
from evals.plan import Plan, Proposal
from evals.plan_verdicts import RULESET_VERSION, VerifyVerdict
from evals.run import Opening, Run, ToolCall, refused_opening
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, canonical_json
from harness.record.actions import RecordedAnswer, action_problem
from harness.record.closed_words import seal_members
from harness.record.drafts import (
    RESERVED_CLAIMS,
    CanonicalLine,
    Claim,
    Digest,
    RecordDraft,
    begun_claim,
    one_line,
    revalidate_envelope,
    sha256,
)
from harness.record.index_row import IndexRow, index_row
from harness.record.inputs import DraftedInputs, InputDigests, RecordInputs
from harness.rules import rules_digest
from harness.wire import EnvelopeT

INPUT_NAMES: Final = ("ctx", "compiled", "spec", "plan")
"""The names of the four inputs of `verify`, in a Proposal and in InputDigests."""

_EVALUATORS: Final = canonical_json(dict(EVALUATOR_VERSIONS))


class RunFacts(Envelope):
    """A Run without its proposal, which a record names by digest."""

    run_id: Identifier
    trace_id: Identifier
    calls: Annotated[tuple[ToolCall, ...], ARRAY]
    outputs: Annotated[dict[Identifier, JsonValue], MEMBERS]
    wall_ms: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    pack_version: Annotated[Identifier | None, OPTIONAL] = None
    intent: Annotated[str | None, OPTIONAL] = None
    openings: Annotated[tuple[Opening, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return the facts of a run: everything except `run.proposal`."""
        fields = {name: getattr(run, name) for name in run.model_fields_set - {"proposal"}}
        return cls(**fields)

    def run_of(self, proposal: Proposal) -> Run:
        """Return these facts as a run of `proposal`."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return Run(proposal=proposal, **fields)


class PlanAttemptRecord(Envelope):
    """A plan that a planner tried before the one it proposed, with the verdict on that plan.

    It was judged with the `ctx`, `compiled` and `spec` of the decision.
    """

    plan: Plan
    verdict: VerifyVerdict


class Decision(Envelope):
    """One decision to be appended: what was proposed, what was done, and the critic's report.

    `action` says what was made of the plan: `allow` if it might run. A guard may `ask` a person
    instead, and records the `answer` with a decision of its own. One that enforces nothing records
    `shadow` where it would not have allowed it.

    `error` says why an execution ended early. It is escaped and cut unless it is one safe line of
    at most 300 characters. `attempts` are the plans that were tried and refused before, oldest
    first. `begun` is the hash of the BegunRecord of the execution that this decision ends. `claims`
    are texts that one record of a log may hold, such as the state that a session goes on from: a
    log refuses a second record with one of them.

    The run of a verified plan is always scored, even if it ended early: calls that happened are
    never hidden. The decision is recorded as it is now: what is changed in place in its parts
    later does not reach the record.

    Raises:
        pydantic.ValidationError: the parts contradict each other, so replay would refuse them.
    """

    proposal: Proposal
    run: Annotated[RunFacts | Run | None, OPTIONAL] = None
    report: CriticReport
    action: RecordedAction
    answer: Annotated[RecordedAnswer | None, OPTIONAL] = None
    error: Annotated[str | None, OPTIONAL, AfterValidator(one_line)] = None
    attempts: Annotated[tuple[PlanAttemptRecord, ...], ARRAY] = ()
    begun: Annotated[Digest | None, OPTIONAL] = None
    claims: Annotated[tuple[Claim, ...], ARRAY] = ()

    @model_validator(mode="after")
    def _without_contradiction(self) -> Self:
        if any(claim.startswith(RESERVED_CLAIMS) for claim in self.claims):
            raise _contradiction("a claim on an approval or an execution is not free to be made")
        if isinstance(self.run, Run) and not _is_same(self.run.proposal, self.proposal):
            raise _contradiction("the run is of another proposal than the decision")
        if self.report.trace_id != self.proposal.ctx.trace_id:
            raise _contradiction("the report has another trace_id than the proposal's context")
        if self.report.decision_key != self.proposal.spec.id:
            raise _contradiction("the report has another decision_key than the id of the spec")
        if self.run is None and self.report.score is not None:
            raise _contradiction("the report has a score: give the run that was scored")
        if self.run is not None and self.report.verify.ok and self.report.score is None:
            raise _contradiction("the run has no score: score it, even if it ended early")
        refused = refused_opening(self.run.openings if self.run is not None else None)
        opening = None if refused is None or self.report.score is None else refused.verdict
        if (self.report.refused_at == "open") != (opening is not None):
            raise _contradiction("refused_at is not what the last opening of the run says")
        given = self.action, self.answer, self.report.verify
        if problem := action_problem(*given, opening=opening):
            raise _contradiction(problem)
        return self

    @classmethod
    def of(cls, inputs: RecordInputs, **facts: Any) -> Self:
        """Return the decision on inputs that are held: they are not drafted again.

        The report, and the facts of a run, are of the caller's own making: they are not read again.

        Raises:
            pydantic.ValidationError: the parts contradict each other.
        """
        given = {name: value for name, value in facts.items() if value is not None}
        fields = {"proposal": inputs.proposal, **given}
        decision: Self = cls.__pydantic_validator__.validate_python(fields, context=inputs)
        decision.__dict__["proposal"] = inputs.handed_out()
        return decision

    @model_validator(mode="after")
    def _take_snapshot(self, info: ValidationInfo[Any]) -> Self:
        # What cannot be recorded is still a decision. The log refuses it and hands it back.
        with suppress(ValueError, RecursionError):
            self.__dict__["snapshot"] = self._draft_record(held_of(info))
        return self

    @cached_property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the decision, taken when it was built.

        Raises:
            ValueError, RecursionError: a part was changed in place and is not JSON any more.
        """
        return self._draft_record(None)

    def _draft_record(self, held: RecordInputs | None) -> RecordDraft:
        drafted, checked = drafted_inputs(self.proposal, held), _checked_by(held)
        report, facts = checked(self.report).wire(), self.facts
        members = {
            "inputs": drafted.member,
            "report": canonical_json(report),
            "action": canonical_json(self.action),
            "evaluator_versions": _EVALUATORS,
            **drafted_versions(),
        }
        if facts is not None:
            members["run"] = canonical_bytes(checked(facts))
        if self.attempts:
            attempts = [canonical_bytes(revalidate_envelope(attempt)) for attempt in self.attempts]
            members["attempts"] = join_array(attempts)
        if self.answer is not None:
            members["answer"] = canonical_bytes(revalidate_envelope(self.answer))
        optional = {"error": self.error, "begun": self.begun, "claims": list(self.claims) or None}
        members |= {name: canonical_json(it) for name, it in optional.items() if it is not None}
        begun = () if self.begun is None else (begun_claim(self.begun),)
        told = {"error": self.error} if self.error is not None else {}
        sealed = seal_members(members, {**told, "report": report})
        row = self._make_row(drafted)
        return RecordDraft(drafted.bodies, members, sealed, row, (*begun, *self.claims))

    def _make_row(self, drafted: DraftedInputs) -> IndexRow:
        record = {
            "inputs": drafted.digests,
            "report": self.report,
            **({} if self.run is None else {"run": self.run}),
            "action": self.action,
            "answer": self.answer,
            "attempts": self.attempts,
            "error": self.error,
        }
        given = self.proposal.ctx, self.proposal.plan
        return index_row(record, *given, columns=drafted.columns)

    def detach_decision(self, proposal: Proposal | None = None) -> Self:
        """Return a copy that shares nothing that can be changed, recorded as this decision is.

        Args:
            proposal: a copy of the proposal for it, which nobody else holds; made if absent.

        Raises:
            ValueError, RecursionError: a part was changed in place and is not JSON any more.
        """
        copied, snapshot = self.__copy__(), self.snapshot
        copied.__dict__ |= {
            "proposal": revalidate_envelope(self.proposal) if proposal is None else proposal,
            "run": None if self.run is None else revalidate_envelope(self.run),
            "report": revalidate_envelope(self.report),
            "attempts": tuple(map(revalidate_envelope, self.attempts)),
            "snapshot": snapshot._replace(
                bodies={**snapshot.bodies},
                members={**snapshot.members},
                sealed={**snapshot.sealed},
            ),
        }
        return copied

    @property
    def facts(self) -> RunFacts | None:
        """Return the run without the proposal."""
        return RunFacts.of(self.run) if isinstance(self.run, Run) else self.run


class DecisionRecord(Envelope):
    """One decision in the log. `seq` counts from 1; the versions are those that made the report.

    `rules_digest` is that of the code that made it: see `harness.rules`.

    Only `harness.replay` shows that `hash`, `prev_hash`, `report` and `attempts` are right.
    """

    seq: Annotated[int, Field(ge=1, le=SAFE_INTEGER)]
    prev_hash: Digest
    inputs: InputDigests
    attempts: Annotated[
        tuple[PlanAttemptRecord, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)
    ] = None
    run: Annotated[RunFacts | None, OPTIONAL] = None
    report: CriticReport
    action: RecordedAction
    answer: Annotated[RecordedAnswer | None, OPTIONAL] = None
    error: Annotated[CanonicalLine | None, OPTIONAL] = None
    begun: Annotated[Digest | None, OPTIONAL] = None
    claims: Annotated[tuple[Claim, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = None
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    evaluator_versions: Annotated[dict[Identifier, Identifier], MEMBERS]
    hash: Digest


def draft(decision: Decision) -> RecordDraft:
    """Return the decision as canonical bytes, as it was when it was built.

    Raises:
        ValueError, RecursionError: a part was changed in place and is not JSON any more.
    """
    return decision.snapshot


def held_of(info: ValidationInfo[Any]) -> RecordInputs | None:
    """Return the held inputs that an entry is built of, or None."""
    return info.context if isinstance(info.context, RecordInputs) else None


def drafted_inputs(proposal: Proposal, held: RecordInputs | None = None) -> DraftedInputs:
    """Return the four inputs as a record of them has them.

    Args:
        proposal: the inputs.
        held: the same, where they are held: then nothing is read again.

    Raises:
        ValueError, RecursionError: a part was changed in place and is not JSON any more.
    """
    if held is not None:
        return held.drafted
    digests, bodies = spell_inputs(proposal)
    return DraftedInputs.of(digests, bodies, proposal)


def spell_inputs(proposal: Proposal) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the digests of the four inputs by name, and their canonical bytes by digest.

    Raises:
        ValueError, RecursionError: a part was changed in place and is not JSON any more.
    """
    checked = revalidate_envelope(proposal)
    by_name = {name: canonical_bytes(getattr(checked, name)) for name in INPUT_NAMES}
    digests = {name: sha256(body) for name, body in by_name.items()}
    return digests, {digests[name]: body for name, body in by_name.items()}


def _checked_by(held: RecordInputs | None) -> Callable[[EnvelopeT], EnvelopeT]:
    """Return what reads the parts of a decision again that others may have changed in place."""
    return revalidate_envelope if held is None else _keep_envelope


def _keep_envelope(envelope: EnvelopeT) -> EnvelopeT:
    return envelope


def drafted_versions() -> dict[str, bytes]:
    """Return the members of a record that say which rules decided."""
    members = {"ruleset_version": canonical_json(RULESET_VERSION)}
    if rules := rules_digest():
        members["rules_digest"] = canonical_json(rules)
    return members


def _is_same(left: Proposal, right: Proposal) -> bool:
    # Compared as bytes: to Python, `True` equals `1`.
    return left is right or canonical_bytes(left) == canonical_bytes(right)


def _contradiction(what: str) -> PydanticCustomError:
    return PydanticCustomError("contradiction", "{what}", {"what": what})
