"""Read runs for the release gate, of a decision log or not, scored by today's rules.

Rule 1: a record that is damaged or missing is counted as unread, and never left out quietly.
Rule 2: a turn counts once, with all of its records, and a run of it counts as a run.
Rule 3: what became of a turn of which a record is redacted is what the index keeps of it.
Rule 4: a measure is that of the run, or of its calls if all of them have it. It is never a part.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from critic import Proposal, Run, ScoreVerdict, score, verify_proposal
from harness.audit.gate.release_decision import JudgedCase, MeasuredRun, ReleaseCase
from harness.canonical import digest
from harness.log.search.turns import TurnRecords
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    Gap,
    NoTurnRecord,
    RecordFacts,
    RunFacts,
    SettledRecord,
)
from harness.record.fates import TurnKey, end_known, fate
from harness.record.index_row import measures_of_run
from harness.record.record_facts import facts_of_record
from harness.replay.findings import RecordFinding
from harness.replay.recheck import RecordedInputs

_MEASURES: Final = {"wall_ms": "duration_ms", "cost_micros": "cost_micros", "tokens": "tokens"}
"""The measures of a run, and those of its calls that they are made of."""
_NO_FACTS: Final = RecordFacts(0)
_ASKED: Final = RecordFacts.ASKED | RecordFacts.YES | RecordFacts.NO | RecordFacts.LAPSED


class ReleaseSample(NamedTuple):
    """The runs of a release in a log.

    Attributes:
        runs: those that were scored.
        judged: every turn with a decision, in the order of their first records.
        unread: how many records could not be read.
        failures: how often the critic itself failed.
    """

    runs: list[MeasuredRun]
    judged: list[JudgedCase]
    unread: int
    failures: int = 0


class _DecisionFacts(NamedTuple):
    """What only a decision says of its turn: the case, the verdict and the run."""

    case: ReleaseCase
    is_verified: bool
    run: MeasuredRun | None


class ReleaseRecord(NamedTuple):
    """What one record says of a release: what became of a turn, or that the critic failed."""

    turn: TurnKey | None = None
    facts: RecordFacts = _NO_FACTS
    decision: _DecisionFacts | None = None
    has_failed: bool = False


def release_record(recorded: RecordedInputs) -> ReleaseRecord | None:
    """Return what a record says of a release; None if it cannot be read. Never raises."""
    try:
        return _release_record(recorded)
    except Exception:
        # If this code fails, the record counts as unread, and the gate does not pass.
        return None


def _release_record(recorded: RecordedInputs) -> ReleaseRecord | None:
    record, proposal, problems = recorded.record, recorded.proposal, recorded.problems
    if isinstance(record, CriticErrorRecord | NoTurnRecord):
        return ReleaseRecord(has_failed=isinstance(record, CriticErrorRecord))
    if record is None or proposal is None:
        return None
    turn = TurnKey(proposal.ctx.trace_id, _number_of(proposal), record.inputs.plan)
    facts = facts_of_record(record, proposal.ctx, proposal.plan)
    if isinstance(record, BegunRecord | SettledRecord):
        return ReleaseRecord(turn, end_known(facts) if problems.is_ended else facts)
    report = recorded.report
    if report is None:
        return None
    case, run = _case_of(proposal), None
    if record.run is not None and report.score is not None:
        run = _measure_run(case, report.score, record.run)
    return ReleaseRecord(turn, facts, _DecisionFacts(case, report.verify.ok, run))


@dataclass
class _Turn:
    """What the records of a turn say so far. It has no case before its first decision."""

    facts: RecordFacts = _NO_FACTS
    case: ReleaseCase | None = None
    is_verified: bool = False
    failed: frozenset[str] = frozenset()
    records: list[int] = field(default_factory=list)

    def take(self, seq: int, said: ReleaseRecord) -> None:
        self.records.append(seq)
        self.facts |= said.facts
        if said.decision is not None:
            self.case, self.is_verified, run = said.decision
            self.failed |= frozenset() if run is None else run.failed

    def judged_cases(self) -> list[JudgedCase]:
        if self.case is None:
            return []
        marks = bool(self.facts & _ASKED), bool(self.facts & RecordFacts.SHADOW)
        of = float(self.is_verified), fate([self.facts]), *marks, self.failed
        return [JudgedCase(self.case, *of, tuple(self.records))]


def release_sample(
    found: Iterable[RecordFinding[ReleaseRecord | None]],
    kept: Callable[[], Iterable[TurnRecords]] = tuple,
) -> ReleaseSample:
    """Return the runs of a log, from what its records say.

    Args:
        found: what was found in each record.
        kept: returns the turns as the index keeps them. It is called once, if a record is redacted.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    turns, runs, unread, failures = dict[TurnKey, _Turn](), list[MeasuredRun](), 0, 0
    redacted = set[int]()
    for one in found:
        said = one.found
        if isinstance(said, Gap):
            unread += said.last - said.first + 1
        elif said is None or one.is_damaged:
            unread += 1
            redacted |= {one.answer.seq} if one.answer.status == "redacted" else set()
        elif said.turn is None:
            failures += said.has_failed
        else:
            turns.setdefault(said.turn, _Turn()).take(one.answer.seq, said)
            runs += [said.decision.run] if said.decision and said.decision.run else []
    if redacted:
        _add_kept(turns.values(), (one for one in kept() if not redacted.isdisjoint(one.records)))
    judged = [one for turn in turns.values() for one in turn.judged_cases()]
    return ReleaseSample(runs, judged, unread, failures)


def _add_kept(turns: Iterable[_Turn], kept: Iterable[TurnRecords]) -> None:
    """Add to turns what the index keeps of them."""
    of = {seq: turn for turn in turns for seq in turn.records}
    for one in kept:
        for turn in filter(None, map(of.get, one.records)):
            turn.facts |= one.facts
            turn.records = [*one.records]


def _case_of(proposal: Proposal) -> ReleaseCase:
    return ReleaseCase(proposal.spec.id, proposal.ctx.trace_id, _number_of(proposal))


def _number_of(proposal: Proposal) -> int | None:
    session = proposal.ctx.session
    return None if session is None else int(session.turn)


def sample_of(runs: Iterable[Run]) -> ReleaseSample:
    """Return finished runs that are in no log, scored. Their plans are verified, too.

    Nothing was enforced on them: a run of a plan that is refused is as one in a shadow.
    """
    measured, judged = list[MeasuredRun](), list[JudgedCase]()
    for run in runs:
        proposal = run.proposal
        case, verdict = _case_of(proposal), verify_proposal(proposal)
        measured.append(_measure_run(case, score(run), run))
        action = "allow" if verdict.ok else "shadow"
        record = {"action": action, "run": run, "inputs": {"plan": digest(proposal.plan)}}
        facts = facts_of_record(record, proposal.ctx, proposal.plan)
        judged += _Turn(facts, case, verdict.ok, measured[-1].failed).judged_cases()
    return ReleaseSample(measured, judged, 0)


def _measure_run(case: ReleaseCase, scored: ScoreVerdict, run: Run | RunFacts) -> MeasuredRun:
    scores, measures = dict(scored.scorecard.scores), _measures_of(run)
    return MeasuredRun(
        case,
        frozenset(name for name, verdict in scores.items() if verdict.status == "fail"),
        {name: verdict.score for name, verdict in scores.items()},
        measures,
        is_idle=not run.calls and not measures,
    )


def _measures_of(run: Run | RunFacts) -> dict[str, float]:
    taken = measures_of_run(run)
    return {
        name: float(value)
        for name, of_call in _MEASURES.items()
        if (value := taken[name]) is not None and _is_whole(run, name, of_call)
    }


def _is_whole(run: Run | RunFacts, name: str, of_call: str) -> bool:
    """Return whether a measure is of the whole run: its own, or of every one of its calls."""
    own = getattr(run, name) is not None
    return own or all(getattr(call, of_call) is not None for call in run.calls)
