"""Derive one record again from itself and its inputs, and compare byte for byte.

Pure, but for the digest of the rules, which is read from disk once per process.

Rule 1: a record that its own bytes contradict is tampered, even if more is wrong.
Rule 2: what is missing or redacted is named, and nothing is derived from it.
Rule 3: a record of other versions, or of other code under the same, is drift, never same.
Rule 4: only what the critic cannot know is believed: the run, `decided_at`, `error`, which plans
        were tried, and what a person answered. Every verdict, score and report is derived again,
        and the action has to follow from them.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any, Final, NamedTuple

from critic.consolidate import consolidate
from critic.reports import CriticReport
from critic.score import score
from critic.verify import verify_proposal
from evals.escaping import escape_line, escape_name
from evals.plan import Proposal, has_commands
from evals.plan_verdicts import RULESET_VERSION, Refused, Verified, VerifyVerdict
from evals.run import refused_opening
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, canonical_json
from harness.record import (
    INPUT_NAMES,
    BegunRecord,
    DecisionRecord,
    Gap,
    Head,
    LogRecord,
    SessionClosedRecord,
    SessionReopenedRecord,
    SettledRecord,
    TakenOverRecord,
)
from harness.record.closed_words import TEXT_MEMBER, without_texts
from harness.record.integrity import Link, StoredDocument, document_errors, link_error
from harness.record.record_kinds import record_model
from harness.replay.action_check import check_action
from harness.replay.begun import check_begun, check_end, check_settled
from harness.replay.json_diff import differences
from harness.replay.log_page import Page
from harness.replay.openings_check import check_openings
from harness.replay.outline import DecisionOutline, outline_of
from harness.replay.problems import Problems
from harness.replay.record_notes import check_claims, note_record
from harness.replay.reopened_check import carried_by, check_reopened
from harness.replay.result import ReplayResult
from harness.replay.session_entries import (
    ClosedEntry,
    LostEntry,
    ReopenedEntry,
    SessionEntry,
    TakenEntry,
)
from harness.replay.session_facts import AnswerAlone
from harness.rules import rules_digest
from harness.wire import InvalidInput, build

_Read = LogRecord | DecisionOutline
_DECISIONS: Final = (DecisionRecord, DecisionOutline)


class RecordedInputs(NamedTuple):
    """A record with its inputs, as far as they can be read, and what follows from them today.

    Attributes:
        problems: those of the record by itself: earlier records of its session may add to them.
        report: the report of a decision; None where it cannot be derived.
        verdicts: what verify says of each plan that was tried before.
    """

    seq: int
    record: LogRecord | None
    proposal: Proposal | None
    problems: Problems
    report: CriticReport | None = None
    verdicts: tuple[VerifyVerdict, ...] = ()


class Rechecked(NamedTuple):
    """The answer for a record, the link that the next record has to follow, and what was read.

    Attributes:
        recorded: the record with its inputs, or the records that are missing; None where nothing
            was derived.
    """

    answer: AnswerAlone
    link: Link
    recorded: RecordedInputs | Gap | None = None


class _Derived(NamedTuple):
    report: CriticReport | None = None
    verdicts: tuple[VerifyVerdict, ...] = ()


def recheck(
    document: StoredDocument,
    inputs: Page | Mapping[str, bytes],
    before: Link,
    expected: Head | None = None,
    *,
    judge: bool = True,
) -> Rechecked:
    """Check one record by itself and return the answer. Never raises.

    Args:
        document: the stored record, read by `read_text_of`.
        inputs: what the log holds of what the record names, or stored bodies by digest alone; more
            than needed is fine.
        before: the link that the record before returned, or `START`.
        expected: a head known from elsewhere; its record is compared with it.
        judge: whether to derive verdicts and report. Without, `same` is of bytes, links and claims.
    """
    page = inputs if isinstance(inputs, Page) else Page(inputs)
    problems = _stored_problems(document, before, expected)
    inputs_read, unreadable = _read_proposal(document, page, problems, judge=judge)
    proposal = inputs_read if judge else None
    problems.drift += _other_versions(document) if judge else ()
    record = _decode_record(document, problems) if judge else _outline_record(document)
    if record is not None:
        note_record(record, before, problems)
        check_claims(document, page, problems)
        for reason in unreadable if judge else ():
            problems.contradiction(reason)
    derived = _derive_and_compare(document, record, proposal, page, problems)
    entry = _session_entry(record, proposal, page, problems) if judge else None
    answer = AnswerAlone(_result(document, record, problems), entry, problems if entry else None)
    recorded = None
    if judge and not isinstance(record, DecisionOutline):
        recorded = RecordedInputs(document.raw.seq, record, proposal, problems, *derived)
    return Rechecked(answer, _next_link(document, record, before), recorded)


def _derive_and_compare(
    document: StoredDocument,
    record: _Read | None,
    proposal: Proposal | None,
    page: Page,
    problems: Problems,
) -> _Derived:
    """Compare a record with what it names, and with what follows from its inputs today."""
    if record is not None:
        _check_execution(document, record, proposal, page, problems)
    if proposal is not None and has_commands(proposal.plan):
        from harness.replay.command_check import check_commands  # noqa: PLC0415 - for commands only

        check_commands(proposal, problems)
    if isinstance(record, DecisionRecord) and proposal is not None:
        return _compare(document, record, proposal, page, problems)
    return _Derived()


def _check_execution(
    document: StoredDocument,
    record: _Read,
    proposal: Proposal | None,
    page: Page,
    problems: Problems,
) -> None:
    """Check the execution that a record begins, settles or ends, or the session that it goes on."""
    if isinstance(record, (*_DECISIONS, SettledRecord)):
        check_end(document, page, problems)
    if isinstance(record, SettledRecord):
        check_settled(document, record, page, problems)
    elif isinstance(record, SessionReopenedRecord):
        check_reopened(record, page, problems)
    elif isinstance(record, BegunRecord):
        check_begun(document, record, proposal, page, problems)


def entry_in(document: StoredDocument, page: Page) -> SessionEntry | None:
    """Return what a record says of the session of a guard, as `recheck` does, without judging."""
    record = _decode_record(document, Problems())
    problems = Problems()
    proposal, _ = _read_proposal(document, page, problems, judge=True)
    return _session_entry(record, proposal, page, problems)


def _session_entry(
    record: _Read | None, proposal: Proposal | None, page: Page, problems: Problems
) -> SessionEntry | None:
    if record is None or isinstance(record, DecisionOutline):
        return None
    if isinstance(record, SessionClosedRecord | SessionReopenedRecord | TakenOverRecord):
        return _seam_entry(record, page)
    if proposal is None:
        return _lost_entry(record, problems)
    if proposal.ctx.session is None:
        return None
    from harness.replay.session_reading import entry_of  # noqa: PLC0415 - loads all of sessions

    try:
        return entry_of(record, proposal)
    except Exception as error:
        # If this code fails, the log is not to blame.
        problems.drift.append(f"the session cannot be derived here: {type(error).__name__}")
        return None


def _seam_entry(
    record: SessionClosedRecord | SessionReopenedRecord | TakenOverRecord, page: Page
) -> SessionEntry:
    """Return the entry of a record that is of no turn."""
    if isinstance(record, SessionClosedRecord):
        carried = record.carried
        facts = (None, None) if carried is None else (carried.spent, carried.sent or ())
        return SessionEntry(record.trace_id, 0, (), ClosedEntry(record.turns, *facts))
    if isinstance(record, SessionReopenedRecord):
        carried = carried_by(page.named.get(record.closed))
        known = (None, ()) if carried is None else (carried.spent, carried.sent or ())
        said = ReopenedEntry(record.turns, record.seen, *known)
        return SessionEntry(record.trace_id, 0, (), said)
    return SessionEntry("", 0, (), TakenEntry(frozenset(record.sessions or ())))


def _lost_entry(record: LogRecord, problems: Problems) -> SessionEntry | None:
    """Return the entry of a record whose inputs cannot be read, if it may be of a session."""
    if isinstance(record, BegunRecord):
        trace = record.trace_id
    elif isinstance(record, DecisionRecord):
        trace = record.report.trace_id
    else:
        return None
    return SessionEntry(trace, 0, (), LostEntry(bool(problems.redacted)))


def _stored_problems(document: StoredDocument, before: Link, expected: Head | None) -> Problems:
    """Return what is wrong with the bytes, the hash and the link of a record."""
    problems = Problems()
    problems.tampered += document_errors(document, expected)
    problems.incomplete += [f"its body is missing a part: no {one}" for one in document.missing]
    problems.redacted += [
        f"its texts are redacted: {one}"
        if name == TEXT_MEMBER
        else f"its {name} is redacted: {one}"
        for name, one in document.gone.items()
    ]
    problems.redacted += [
        f"its body is redacted, what is left of it cannot be proved: part {one}"
        for one in document.redacted
        if one not in document.gone.values()
    ]
    if error := link_error(document, before):
        problems.tampered.append(error)
    elif not before.hashes:
        problems.incomplete.append(
            f"record {before.seq} is missing: the link to it cannot be checked"
        )
    return problems


def missing_answer(before: Link, until: int) -> tuple[ReplayResult, Link]:
    """Return the answer for the missing records after `before`, up to and including `until`."""
    gap = Gap(before.seq + 1, until)
    replayed = ReplayResult(seq=gap.first, status="incomplete", reasons=(gap.text(),))
    return replayed, Link(until, frozenset(), before.decided_at)


def _other_versions(document: StoredDocument) -> Iterator[str]:
    ruleset = document.value.get("ruleset_version")
    if isinstance(ruleset, str) and ruleset != RULESET_VERSION:
        written = f"written under ruleset {escape_name(ruleset)}"
        yield f"{written}, checked under {RULESET_VERSION}"
    elif (rules := document.value.get("rules_digest")) and rules != rules_digest():
        written = f"decided by code with rules digest {escape_name(str(rules))}"
        present = rules_digest() or "an unknown one"
        yield f"{written}, checked by {present} of the same ruleset"
    recorded = document.value.get("evaluator_versions")
    if not isinstance(recorded, dict):
        return
    here: Mapping[str, str] = {str(name): version for name, version in EVALUATOR_VERSIONS.items()}
    for name in sorted({*recorded, *here}):
        there, now = recorded.get(name, "none"), here.get(name, "none")
        if there != now:
            written = f"written under version {escape_name(str(there))}"
            yield f"evaluator {escape_name(name)}: {written}, checked under {now}"


def _read_proposal(
    document: StoredDocument, page: Page, problems: Problems, *, judge: bool
) -> tuple[Proposal | None, list[str]]:
    """Return the inputs as they were recorded, and why this version cannot read them."""
    values: dict[str, Any] = {}
    unreadable: list[str] = []
    for name, digest in document.digests.items():
        read = page.inputs.read(name, digest, page.bodies, parsed=judge)
        problems.tampered += filter(None, [read.tampered])
        problems.incomplete += filter(None, [read.incomplete])
        problems.redacted += filter(None, [read.redacted])
        unreadable += filter(None, [read.unreadable])
        if read.value is not None:
            values[name] = read.value
    return Proposal(**values) if len(values) == len(INPUT_NAMES) else None, unreadable


def _decode_record(document: StoredDocument, problems: Problems) -> LogRecord | None:
    if not document.own_hash or not document.is_readable:
        return None
    model = record_model(document.value)
    try:
        record: LogRecord = build(model, dict(document.value))
    except InvalidInput as error:
        kind = "decision record" if model is DecisionRecord else "record"
        problems.contradiction(f"it is not a {kind} of this version: {error}")
        return None
    return record


def _outline_record(document: StoredDocument) -> _Read | None:
    """Return what is read of a record where nothing is derived: of a decision, its outline."""
    is_decision = record_model(document.value) is DecisionRecord
    if document.own_hash and document.is_readable and is_decision:
        return outline_of(document.value)
    return _decode_record(document, Problems())


def _compare(
    document: StoredDocument,
    record: DecisionRecord,
    proposal: Proposal,
    page: Page,
    problems: Problems,
) -> _Derived:
    """Compare a decision with what follows from its inputs, and return that."""
    if record.report.decision_key != proposal.spec.id:
        key = escape_name(record.report.decision_key)
        problems.tampered.append(
            f"decision_key is {key}, but the id of the spec is {escape_name(proposal.spec.id)}"
        )
    try:
        verdict = page.inputs.verdict_on(document.digests, partial(verify_proposal, proposal))
        report, verdicts = derive(record, proposal, verdict), _attempt_verdicts(record, proposal)
        problems.notes += _failures_of_unscored(record, proposal)
        check_openings(document, record, proposal, problems)
    except Exception as error:
        # A verdict is a value on any input. If this code fails, the log is not to blame.
        problems.drift.append(f"the report cannot be derived here: {type(error).__name__}")
        return _Derived()
    _compare_report(document, report, problems)
    if not problems.differences:
        check_action(record, proposal, problems)
    for index, verdict in enumerate(verdicts):
        _compare_attempt(document.value["attempts"][index]["verdict"], verdict, index, problems)
    return _Derived(report, tuple(verdicts))


def _compare_report(document: StoredDocument, derived: CriticReport, problems: Problems) -> None:
    wire = derived.wire()
    if TEXT_MEMBER in document.gone:
        wire = without_texts({"report": wire})["report"]
    if document.report == canonical_json(wire):
        return
    problems.differences = differences(document.value["report"], wire)
    if not problems.drift:
        paths = [difference.path for difference in problems.differences[:5]]
        shown = ", ".join(paths) or "its spelling"
        problems.tampered.append(f"the report does not follow from its inputs: see {shown}")


def _compare_attempt(recorded: Any, derived: VerifyVerdict, index: int, problems: Problems) -> None:
    if canonical_json(recorded) == canonical_bytes(derived):
        return
    above = f"/attempts/{index}/verdict"
    problems.differences += differences(recorded, derived.wire(), above)
    problems.contradiction(f"attempt {index}: its verdict does not follow from its inputs")


def _failures_of_unscored(record: DecisionRecord, proposal: Proposal) -> Iterator[str]:
    """Yield what a run without a score would fail: no call may hide in it."""
    if record.run is None or not record.report.verify.ok or not _is_unscored(record):
        return
    scores = score(record.run.run_of(proposal)).scorecard.scores
    for verdict in (scores.policy, scores.safety):
        if verdict.status == "fail":
            messages = "; ".join(escape_line(finding.message) for finding in verdict.findings)
            yield f"the run without a score fails {verdict.evaluator_id}: {messages}"


def _attempt_verdicts(record: DecisionRecord, proposal: Proposal) -> list[VerifyVerdict]:
    """Return what `verify` says today of each plan that was tried before."""
    given: dict[str, Any] = {name: getattr(proposal, name) for name in INPUT_NAMES}
    plans = [attempt.plan for attempt in record.attempts or ()]
    return [verify_proposal(Proposal(**{**given, "plan": plan})) for plan in plans]


def derive(record: DecisionRecord, proposal: Proposal, verdict: Verified | Refused) -> CriticReport:
    """Return the report that the critic makes of a record's proposal and run today.

    `verdict` is what `verify` says of the proposal.

    A run that ended early (`error`) and was recorded without a score stays without one: older
    versions left such runs unscored.
    """
    scored = None
    if record.run is not None and verdict.ok and not _is_unscored(record):
        scored = score(record.run.run_of(proposal))
    return consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key=proposal.spec.id,
        verify=verdict,
        score=scored,
        opening=refused_opening(record.run.openings) if scored is not None and record.run else None,
        decided_at=record.report.decided_at,
    )


def _is_unscored(record: DecisionRecord) -> bool:
    return record.error is not None and record.report.score is None


def _result(document: StoredDocument, record: _Read | None, problems: Problems) -> ReplayResult:
    named: dict[str, Any] = {}
    if isinstance(record, _DECISIONS):
        named = {"trace_id": record.report.trace_id, "decision_key": record.report.decision_key}
    elif record is not None:
        trace = getattr(record, "trace_id", None)
        named = {"kind": record.kind, **({} if trace is None else {"trace_id": trace})}
    return ReplayResult(
        seq=document.raw.seq,
        status=problems.status,
        reasons=problems.reasons,
        notes=tuple(problems.notes),
        differences=problems.differences,
        **named,
    )


def decided_at(document: StoredDocument) -> datetime | None:
    """Return the time of a decision, as a link keeps it; None for what is not a decision."""
    record = _decode_record(document, Problems())
    return record.report.decided_at if isinstance(record, DecisionRecord) else None


def _next_link(document: StoredDocument, record: _Read | None, before: Link) -> Link:
    if document.raw.seq <= before.seq:
        return before
    if isinstance(record, _DECISIONS):
        return Link(document.raw.seq, document.hashes, record.report.decided_at)
    return Link(document.raw.seq, document.hashes, before.decided_at, document.is_end)
