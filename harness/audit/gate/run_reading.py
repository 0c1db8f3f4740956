"""Read runs for the release gate, of a decision log or not, scored by today's rules.

Rule 1: a record that is damaged or missing is counted as unread, and never left out quietly.
Rule 2: a turn counts once, with all of its records, and a run of it counts as a run.
Rule 3: a measure is that of the run, or of its calls if all of them have it. It is never a part.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from critic import CriticReport, Proposal, Run, ScoreVerdict, score, verify_proposal
from harness.audit.gate.release_decision import JudgedCase, MeasuredRun, ReleaseCase
from harness.canonical import canonical_bytes, digest
from harness.record import (
    BegunRecord,
    CriticErrorRecord,
    DecisionRecord,
    Gap,
    RecordFacts,
    RunFacts,
    SettledRecord,
)
from harness.record.fates import TurnKey, end_known, fate
from harness.record.index_row import measures_of_run
from harness.record.record_facts import facts_of_record
from harness.replay.action_check import check_action
from harness.replay.engine import RecordedLog, Replayer
from harness.replay.problems import Problems
from harness.replay.recheck import RecordedInputs, derive

_MEASURES: Final = {"wall_ms": "duration_ms", "cost_micros": "cost_micros", "tokens": "tokens"}
"""The measures of a run, and those of its calls that they are made of."""
_EXECUTIONS: Final = (BegunRecord, SettledRecord)
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


@dataclass
class _Turn:
    """What the records of a turn say so far. It has no case before its first decision."""

    facts: RecordFacts = _NO_FACTS
    case: ReleaseCase | None = None
    is_verified: bool = False
    failed: frozenset[str] = frozenset()
    records: list[int] = field(default_factory=list)

    def judged_cases(self) -> list[JudgedCase]:
        if self.case is None:
            return []
        marks = bool(self.facts & _ASKED), bool(self.facts & RecordFacts.SHADOW)
        of = float(self.is_verified), fate([self.facts]), *marks, self.failed
        return [JudgedCase(self.case, *of, tuple(self.records))]


class _Reading:
    """The records of a log so far, by turns."""

    def __init__(self) -> None:
        self.turns: dict[TurnKey, _Turn] = {}
        self.runs = list[MeasuredRun]()
        self.unread = self.failures = 0

    def take(self, recorded: RecordedInputs) -> None:
        """Take a record with its inputs."""
        record, proposal, problems = recorded.record, recorded.proposal, recorded.problems
        if isinstance(record, CriticErrorRecord) and not _is_damaged(problems):
            self.failures += 1
        elif isinstance(record, _EXECUTIONS) and proposal and not _is_damaged(problems):
            facts = facts_of_record(record, proposal.ctx, proposal.plan)
            left = end_known(facts) if problems.is_ended else facts
            self._turn_of(recorded.seq, record, proposal).facts |= left
        elif isinstance(record, DecisionRecord) and proposal and (report := _report_of(recorded)):
            self._take_decision(recorded.seq, record, proposal, report)
        else:
            self.unread += 1

    def _turn_of(
        self, seq: int, record: BegunRecord | SettledRecord | DecisionRecord, proposal: Proposal
    ) -> _Turn:
        key = TurnKey(proposal.ctx.trace_id, _number_of(proposal), record.inputs.plan)
        turn = self.turns.setdefault(key, _Turn())
        turn.records.append(seq)
        return turn

    def _take_decision(
        self, seq: int, record: DecisionRecord, proposal: Proposal, report: CriticReport
    ) -> None:
        turn = self._turn_of(seq, record, proposal)
        turn.facts |= facts_of_record(record, proposal.ctx, proposal.plan)
        turn.case, turn.is_verified = _case_of(proposal), report.verify.ok
        if record.run is not None and report.score is not None:
            run = _measure_run(turn.case, report.score, record.run)
            turn.failed |= run.failed
            self.runs.append(run)


def release_sample(log: RecordedLog) -> ReleaseSample:
    """Return the runs of a log.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    reading = _Reading()
    for recorded in Replayer(log, None, judge=True).read_recorded(log.raw()):
        if isinstance(recorded, Gap):
            reading.unread += recorded.last - recorded.first + 1
        else:
            reading.take(recorded)
    judged = [one for turn in reading.turns.values() for one in turn.judged_cases()]
    return ReleaseSample(reading.runs, judged, reading.unread, reading.failures)


def _is_damaged(problems: Problems) -> bool:
    return bool(problems.tampered or problems.incomplete or problems.redacted)


def _report_of(recorded: RecordedInputs) -> CriticReport | None:
    """Return the report that is derived today; None if the record cannot be trusted or read."""
    record, problems = recorded.record, recorded.problems
    if not isinstance(record, DecisionRecord) or recorded.proposal is None or problems.tampered:
        return None
    try:
        report = derive(record, recorded.proposal)
        if canonical_bytes(report) != canonical_bytes(record.report):
            return report if problems.drift else None
        check_action(record, recorded.proposal, problems)
    except Exception:
        return None
    return None if problems.tampered else report


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
