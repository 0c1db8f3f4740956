"""Read runs for the release gate, of a decision log or not, scored by today's rules.

Rule 1: a record that is damaged, missing or open is counted as unread, and never left out quietly.
Rule 2: a decision without a run counts as a plan that was verified or refused, and not as a run.
"""

from collections.abc import Iterable
from typing import NamedTuple

from critic import CriticReport, Run, ScoreVerdict, score, verify_proposal
from harness.audit.gate.release_decision import JudgedCase, MeasuredRun, ReleaseCase
from harness.canonical import canonical_bytes
from harness.record import BegunRecord, DecisionRecord, Gap, RunFacts
from harness.replay.engine import RecordedLog, Replayer
from harness.replay.recheck import RecordedInputs, derive


class ReleaseSample(NamedTuple):
    """The runs of a release in a log.

    Attributes:
        runs: those that were scored.
        judged: every plan, and whether it was verified.
        unread: how many records could not be read.
    """

    runs: list[MeasuredRun]
    judged: list[JudgedCase]
    unread: int


def release_sample(log: RecordedLog) -> ReleaseSample:
    """Return the runs of a log.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further.
    """
    runs, judged, unread = list[MeasuredRun](), list[JudgedCase](), 0
    for recorded in Replayer(log, None, judge=True).read_recorded(log.raw()):
        if isinstance(recorded, Gap):
            unread += recorded.last - recorded.first + 1
            continue
        if isinstance(recorded.record, BegunRecord) and not recorded.problems.reasons:
            continue  # the decision that ends it counts
        report = _report_of(recorded)
        if report is None or not isinstance(recorded.record, DecisionRecord):
            unread += 1
            continue
        judged.append(JudgedCase(_case_of(report), float(report.verify.ok)))
        runs += _run_of(recorded.record, report)
    return ReleaseSample(runs, judged, unread)


def _report_of(recorded: RecordedInputs) -> CriticReport | None:
    """Return the report that is derived today; None if the record cannot be trusted or read."""
    record, problems = recorded.record, recorded.problems
    if not isinstance(record, DecisionRecord) or recorded.proposal is None or problems.tampered:
        return None
    try:
        report = derive(record, recorded.proposal)
    except Exception:
        return None
    is_recorded = canonical_bytes(report) == canonical_bytes(record.report)
    return report if is_recorded or problems.drift else None


def _run_of(record: DecisionRecord, report: CriticReport) -> list[MeasuredRun]:
    if record.run is None or report.score is None:
        return []
    return [_measure_run(_case_of(report), report.score, record.run)]


def _case_of(report: CriticReport) -> ReleaseCase:
    return ReleaseCase(report.decision_key, report.trace_id)


def sample_of(runs: Iterable[Run]) -> ReleaseSample:
    """Return finished runs that are in no log, scored. Their plans are verified, too."""
    measured, judged = list[MeasuredRun](), list[JudgedCase]()
    for run in runs:
        case = ReleaseCase(run.proposal.spec.id, run.proposal.ctx.trace_id)
        measured.append(_measure_run(case, score(run), run))
        judged.append(JudgedCase(case, float(verify_proposal(run.proposal).ok)))
    return ReleaseSample(measured, judged, 0)


def _measure_run(case: ReleaseCase, scored: ScoreVerdict, run: Run | RunFacts) -> MeasuredRun:
    scores = dict(scored.scorecard.scores)
    facts = {"wall_ms": run.wall_ms, "cost_micros": run.cost_micros}
    return MeasuredRun(
        case,
        frozenset(name for name, verdict in scores.items() if verdict.status == "fail"),
        {name: verdict.score for name, verdict in scores.items()},
        {name: float(value) for name, value in facts.items() if value is not None},
    )
