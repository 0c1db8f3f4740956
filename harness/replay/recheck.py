"""Derive one record again from itself and its inputs, and compare byte for byte.

Pure, but for the digest of the rules, which is read from disk once per process.

Rule 1: a record that its own bytes contradict is tampered, even if more is wrong.
Rule 2: what is missing is named, and the record is incomplete.
Rule 3: a record of other versions, or of other code under the same, is drift, never same.
Rule 4: only what the critic cannot know is believed: the run, `decided_at`, `error`, and which
        plans were tried. Every verdict, score and report is derived again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from critic.consolidate import consolidate
from critic.score import score
from critic.verdicts import RULESET_VERSION, CriticReport, VerifyVerdict
from critic.verify import verify_proposal
from evals.context import RunContext
from evals.envelope import Envelope
from evals.escaping import escape_line, escape_name
from evals.manifest import CompiledContext
from evals.plan import Plan, Proposal
from evals.spec import DecisionSpec
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, canonical_json
from harness.record import INPUT_NAMES, DecisionRecord, Gap, Head, RunFacts, sha256
from harness.replay.diff import differences
from harness.replay.integrity import Link, StoredDocument, document_errors, link_error
from harness.replay.result import Difference, ReplayResult, ReplayStatus
from harness.rules import rules_digest
from harness.wire import InvalidInput, build, parse

_MODELS: Final[dict[str, type[Envelope]]] = {
    "ctx": RunContext,
    "compiled": CompiledContext,
    "spec": DecisionSpec,
    "plan": Plan,
}


class Rechecked(NamedTuple):
    """The answer for a record, and the link that the next record has to follow."""

    replayed: ReplayResult
    link: Link


@dataclass
class _Problems:
    """The problems of a record so far, by the status that they lead to."""

    tampered: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    differences: tuple[Difference, ...] = ()

    def contradiction(self, reason: str) -> None:
        """Note a contradiction: drift in a record of other versions, else tampering."""
        (self.drift if self.drift else self.tampered).append(reason)


def recheck(
    document: StoredDocument,
    inputs: Mapping[str, bytes],
    before: Link,
    expected: Head | None = None,
    *,
    judge: bool = True,
) -> Rechecked:
    """Check one record and return the answer. Never raises.

    Args:
        document: the stored record, read by `read_text_of`.
        inputs: stored input bodies by the digest they are stored under; more than needed is fine.
        before: the link that the record before returned, or `START`.
        expected: a head known from elsewhere; its record is compared with it.
        judge: whether to derive the verdicts and the report. Without, `same` means that bytes,
            hashes, inputs and link are as recorded, for any versions.
    """
    problems = _Problems()
    problems.tampered += document_errors(document, expected)
    if error := link_error(document, before):
        problems.tampered.append(error)
    elif not before.hashes:
        problems.incomplete.append(
            f"record {before.seq} is missing: the link to it cannot be checked"
        )
    bodies = _intact(document, inputs, problems)
    problems.drift += _other_versions(document) if judge else ()
    record = _decoded(document, problems if judge else _Problems())
    if record is not None:
        _note(record, before, problems)
    if record is not None and judge:
        _compare(document, record, _proposal(bodies, problems), problems)
    return Rechecked(_answer(document, record, problems), _next_link(document, record, before))


def missing(before: Link, until: int) -> tuple[ReplayResult, Link]:
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


def _intact(
    document: StoredDocument, inputs: Mapping[str, bytes], problems: _Problems
) -> dict[str, bytes]:
    """Return the bodies of the inputs that are stored as they were recorded, by name."""
    intact: dict[str, bytes] = {}
    for name, digest in document.digests.items():
        body = inputs.get(digest)
        if body is None:
            problems.incomplete.append(f"input {name} is missing: no {digest}")
        elif sha256(body) != digest:
            problems.tampered.append(f"input {name} is not what was recorded: digest {digest}")
        else:
            intact[name] = body
    return intact


def _decoded(document: StoredDocument, problems: _Problems) -> DecisionRecord | None:
    if not document.own_hash:
        return None
    try:
        return build(DecisionRecord, dict(document.value))
    except InvalidInput as error:
        problems.contradiction(f"it is not a decision record of this version: {error}")
        return None


def _note(record: DecisionRecord, before: Link, problems: _Problems) -> None:
    if before.decided_at is not None and record.report.decided_at < before.decided_at:
        problems.notes.append("decided_at is earlier than that of a record before")
    if record.run is None:
        return
    if not record.report.verify.ok:
        problems.notes.append("a plan that verify refused has a run")
    elif _unscored(record):
        problems.notes.append(f"the run ended early and has no score: {_calls(record.run)}")


def _calls(run: RunFacts) -> str:
    if len(run.calls) == 1:
        return "it holds 1 call"
    return f"it holds {len(run.calls)} calls"


def _compare(
    document: StoredDocument,
    record: DecisionRecord,
    proposal: Proposal | None,
    problems: _Problems,
) -> None:
    if proposal is None:
        return
    if record.report.decision_key != proposal.spec.id:
        key = escape_name(record.report.decision_key)
        problems.tampered.append(
            f"decision_key is {key}, but the id of the spec is {escape_name(proposal.spec.id)}"
        )
    try:
        report, verdicts = derive(record, proposal), _attempt_verdicts(record, proposal)
        problems.notes += _failures_of_unscored(record, proposal)
    except Exception as error:
        # A verdict is a value on any input. If this code fails, the log is not to blame.
        problems.drift.append(f"the report cannot be derived here: {type(error).__name__}")
        return
    _compare_report(document.value["report"], report, problems)
    for index, verdict in enumerate(verdicts):
        _compare_attempt(document.value["attempts"][index]["verdict"], verdict, index, problems)


def _compare_report(recorded: Any, derived: CriticReport, problems: _Problems) -> None:
    if canonical_json(recorded) == canonical_bytes(derived):
        return
    problems.differences = differences(recorded, derived.wire())
    if not problems.drift:
        paths = [difference.path for difference in problems.differences[:5]]
        shown = ", ".join(paths) or "its spelling"
        problems.tampered.append(f"the report does not follow from its inputs: see {shown}")


def _compare_attempt(
    recorded: Any, derived: VerifyVerdict, index: int, problems: _Problems
) -> None:
    if canonical_json(recorded) == canonical_bytes(derived):
        return
    above = f"/attempts/{index}/verdict"
    problems.differences += differences(recorded, derived.wire(), above)
    problems.contradiction(f"attempt {index}: its verdict does not follow from its inputs")


def _failures_of_unscored(record: DecisionRecord, proposal: Proposal) -> Iterator[str]:
    """Yield what a run without a score would fail: no call may hide in it."""
    if record.run is None or not record.report.verify.ok or not _unscored(record):
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


def derive(record: DecisionRecord, proposal: Proposal) -> CriticReport:
    """Return the report that the critic makes of a record's proposal and run today.

    A run that ended early (`error`) and was recorded without a score stays without one: older
    versions left such runs unscored.
    """
    verdict = verify_proposal(proposal)
    scored = None
    if record.run is not None and verdict.ok and not _unscored(record):
        scored = score(record.run.run_of(proposal))
    return consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key=proposal.spec.id,
        verify=verdict,
        score=scored,
        decided_at=record.report.decided_at,
    )


def _unscored(record: DecisionRecord) -> bool:
    return record.error is not None and record.report.score is None


def _proposal(bodies: Mapping[str, bytes], problems: _Problems) -> Proposal | None:
    """Return the inputs as they were recorded, or None if one is missing or unreadable."""
    read = {name: _read(name, body) for name, body in bodies.items()}
    unreadable = [f"input {name} {result.error}" for name, result in read.items() if result.error]
    for reason in unreadable:
        problems.contradiction(reason)
    if unreadable or len(read) < len(INPUT_NAMES):
        return None
    values: dict[str, Any] = {name: result.value for name, result in read.items()}
    return Proposal(**values)


class _Read(NamedTuple):
    value: Envelope | None
    error: str


# Records share most of their large inputs; 64 keeps the shared ones among those of 16 records.
@lru_cache(maxsize=64)
def _read(name: str, body: bytes) -> _Read:
    try:
        value = parse(_MODELS[name], body)
    except InvalidInput as error:
        return _Read(None, f"cannot be read: {error}")
    return _Read(value, "" if canonical_bytes(value) == body else "is not in its canonical form")


def _answer(
    document: StoredDocument, record: DecisionRecord | None, problems: _Problems
) -> ReplayResult:
    named: dict[str, Any] = {}
    if record is not None:
        named = {"trace_id": record.report.trace_id, "decision_key": record.report.decision_key}
    return ReplayResult(
        seq=document.raw.seq,
        status=_status(problems),
        reasons=(*problems.tampered, *problems.incomplete, *problems.drift),
        notes=tuple(problems.notes),
        differences=problems.differences,
        **named,
    )


def _status(problems: _Problems) -> ReplayStatus:
    if problems.tampered:
        return "tampered"
    if problems.incomplete:
        return "incomplete"
    return "drift" if problems.drift else "same"


def _next_link(document: StoredDocument, record: DecisionRecord | None, before: Link) -> Link:
    if document.raw.seq <= before.seq:
        return before
    decided_at = before.decided_at if record is None else record.report.decided_at
    return Link(document.raw.seq, document.hashes, decided_at)
