"""Work out the facts of a guarded session again, from the earlier records of its log. Pure.

Rule 1: only what earlier records show is compared. A batch whose calls have not all ended on record
        may have made more known than they show.
Rule 2: a turn that is not on record leaves the facts after it unproved: they are incomplete.
Rule 3: sessions of one id, one after the other or at once, are told apart by their facts.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from critic.session.values import (
    asked_values,
    call_hosts,
    doubts_about,
    roles_of,
    values_made,
)
from evals.capability import ToolName
from evals.context import ApprovedValue, SessionFacts, Spent
from evals.plan import Proposal, ToolStep
from harness.canonical import canonical_json, digest
from harness.record import BegunRecord, DecisionRecord, LogRecord, sha256, without_approvals
from harness.replay.problems import Problems

_SHA256: Final = re.compile("[0-9a-f]{64}")
_MOST_LIVES: Final = 16
"""How many sessions of one id are kept apart: those that began last."""


class _Call(NamedTuple):
    """A call of a batch that may run. `spent` is its digest, if it is destructive."""

    tool: ToolName
    spent: str | None


@dataclass(slots=True)
class _Batch:
    """A batch that was ruled on: what was known then, and what it adds to that, if it may run.

    `evidence` are the digests of what was seen before it.
    """

    inputs: tuple[str, ...]
    known: tuple[SessionFacts, Spent | None]
    evidence: tuple[str, ...]
    calls: tuple[_Call, ...]
    hosts: tuple[str, ...]
    made: tuple[str, ...]
    verified: bool
    runs: bool = False
    ended: dict[int, str] = field(default_factory=dict)
    approved: tuple[ApprovedValue, ...] = ()
    waives_scope: bool = False


class SessionHistory:
    """What the records so far say of each session, by its trace."""

    def __init__(self) -> None:
        """Start before the first record."""
        self._lives: dict[str, list[dict[int, _Batch]]] = {}
        self._begun: dict[str, _Batch] = {}

    def check(self, record: LogRecord, proposal: Proposal, problems: Problems) -> None:
        """Compare the facts of a record of a guard with those before it, and keep what it adds."""
        facts = proposal.ctx.session
        if facts is None or not _is_of_a_guard(proposal):
            return
        if isinstance(record, DecisionRecord) and record.run is None:
            self._ruled(record, facts, proposal, problems)
        elif isinstance(record, DecisionRecord):
            self._ended(record, facts.turn)
        elif isinstance(record, BegunRecord):
            self._runs(record, facts.turn, proposal)

    def _ruled(
        self, record: DecisionRecord, facts: SessionFacts, proposal: Proposal, problems: Problems
    ) -> None:
        lives = self._lives.setdefault(record.report.trace_id, [])
        if facts.turn == 1:
            lives.append({})
        candidates = [life for life in lives if facts.turn - 1 in life or facts.turn == 1]
        if not candidates:
            problems.incomplete.append(
                f"turn {facts.turn - 1} of its session is missing: its facts cannot be derived"
            )
            return
        batch = _batch_of(record, facts, proposal)
        found = [(life, [*_differences(life, batch)]) for life in candidates[::-1]]
        life, different = min(found, key=lambda one: len(one[1]))
        if different:
            named = ", ".join(different)
            problems.contradiction(f"session facts do not follow from earlier records: {named}")
        if facts.turn - 1 in life:  # only the last batch needs it
            life[facts.turn - 1].evidence = ()
        life[facts.turn] = batch
        del lives[:-_MOST_LIVES]

    def _runs(self, record: BegunRecord, turn: int, proposal: Proposal) -> None:
        batch = self._batch(record, turn)
        if batch is None:
            return
        batch.runs = True
        self._begun[record.hash] = batch
        batch.approved, batch.waives_scope = _approved_in(proposal)

    def _ended(self, record: DecisionRecord, turn: int) -> None:
        begun = self._begun.pop(record.begun or "", None)
        batch = begun or self._batch(record, turn)
        if batch is not None and record.run is not None:
            batch.ended |= {call.step: call.status for call in record.run.calls}

    def _batch(self, record: DecisionRecord | BegunRecord, turn: int) -> _Batch | None:
        """Return the batch that was ruled on last with the same inputs."""
        trace = record.trace_id if isinstance(record, BegunRecord) else record.report.trace_id
        batches = (life.get(turn) for life in reversed(self._lives.get(trace, [])))
        inputs = _inputs(record)
        return next((one for one in batches if one and one.inputs == inputs), None)


def _is_of_a_guard(proposal: Proposal) -> bool:
    ids = (proposal.plan.plan_id, proposal.compiled.pack_version)
    return all(one is not None and _SHA256.fullmatch(one) for one in ids)


def _is_shadow(record: DecisionRecord) -> bool:
    return record.error is not None and record.error.startswith("shadow: ")


def _inputs(record: DecisionRecord | BegunRecord) -> tuple[str, ...]:
    inputs = record.inputs
    return (inputs.ctx, inputs.compiled, inputs.spec, inputs.plan)


def _batch_of(record: DecisionRecord, facts: SessionFacts, proposal: Proposal) -> _Batch:
    calls, hosts, made = list[_Call](), list[str](), list[str]()
    tools = proposal.compiled.manifests.tools
    for step in proposal.plan.steps:
        if not isinstance(step, ToolStep):
            continue
        name = ToolName(adapter_id=step.adapter_id, capability_id=step.capability_id)
        tool = tools.get((step.adapter_id, step.capability_id))
        destructive = tool is not None and tool.approval_mode == "destructive"
        calls.append(_Call(name, sha256(canonical_json(step.args)) if destructive else None))
        if tool is not None:
            hosts += call_hosts(roles_of(tool), step.args)
            makes = tool.result is not None and tool.result.makes is True
            made += values_made(roles_of(tool), step.args) if makes else ()
    verified = record.report.verify.ok
    return _Batch(
        inputs=_inputs(record),
        known=(facts, proposal.ctx.spent),
        evidence=tuple(map(digest, proposal.compiled.manifests.evidence_manifest)),
        calls=tuple(calls),
        hosts=tuple(hosts),
        made=tuple(made),
        verified=verified,
        runs=not verified and _is_shadow(record),
    )


def _approved_in(proposal: Proposal) -> tuple[tuple[ApprovedValue, ...], bool]:
    """Return the values that an approval of a batch gave to its session, and whether of a tool."""
    given = proposal.ctx.approvals
    if not given:
        return (), False
    case, doubts = doubts_about(without_approvals(proposal, None))
    expiry = {} if given[0].expires_at is None else {"expires_at": given[0].expires_at}
    values = tuple(ApprovedValue(value=one, **expiry) for one in asked_values(case, doubts))
    return values, any(doubt.path == f"/steps/{doubt.step}" for doubt in doubts.asks)


def _differences(life: dict[int, _Batch], batch: _Batch) -> Iterator[str]:
    """Yield the names of the facts that earlier records contradict.

    An answer is judged on what was known at its question.
    """
    facts, spent = batch.known
    asked = life.get(facts.turn)
    if asked is not None and (asked.known, asked.evidence) == (batch.known, batch.evidence):
        return
    before = life[facts.turn - 1].evidence if facts.turn > 1 else ()
    if batch.evidence[: len(before)] != before:
        yield "evidence"
    ran = [one for turn, one in life.items() if turn < facts.turn and one.runs]
    trusted = [one for one in ran if one.verified]
    if spent is None or spent.steps != sum(len(batch.calls) for batch in ran):
        yield "spent.steps"
    elif not _between(_spent(ran, certain=True), _digests(spent), _spent(ran, certain=False)):
        yield "spent.calls"
    if facts.hosts != (_each_once(host for one in trusted for host in one.hosts) or None):
        yield "hosts"
    if not {value for one in trusted for value in one.made} <= {*(facts.own or ())}:
        yield "own"
    if not _between(_tools(trusted, certain=True), facts.ran or (), _tools(trusted, certain=False)):
        yield "ran"
    if facts.approved != (_each_once(value for one in ran for value in one.approved) or None):
        yield "approved"
    if (facts.scope_waived is True) != any(one.waives_scope for one in ran):
        yield "scope_waived"


def _between(least: Iterable[object], given: Iterable[object], most: Iterable[object]) -> bool:
    return {*map(repr, least)} <= {*map(repr, given)} <= {*map(repr, most)}


def _each_once(values: Iterable[object]) -> tuple[object, ...]:
    return tuple({repr(value): value for value in values}.values())


def _digests(spent: Spent) -> list[str]:
    return [one.args_digest for one in spent.calls or ()]


def _spent(batches: Iterable[_Batch], *, certain: bool) -> Iterator[str]:
    """Yield the destructive calls that count; `certain`: that surely do, by the records so far."""
    for batch in batches:
        for step, call in enumerate(batch.calls):
            status = batch.ended.get(step)
            counts = status not in (None, "failed") if certain else status != "failed"
            if call.spent is not None and counts:
                yield call.spent


def _tools(batches: Iterable[_Batch], *, certain: bool) -> Iterator[ToolName]:
    """Yield the tools that completed; `certain`: that surely did, by the records so far."""
    for batch in batches:
        for step, call in enumerate(batch.calls):
            status = batch.ended.get(step)
            if status == "completed" or (status is None and not certain):
                yield call.tool
