"""Re-derive one record from itself and its inputs, and compare byte for byte. Pure.

Rule 1: what the bytes contradict is tampered, whatever else is the case.
Rule 2: what is not there is incomplete, and named.
Rule 3: a record of other versions is drift, never same.
Rule 4: the only things believed are those that only the caller of the critic could know: the
        run, `decided_at`, `decision_key` and `error`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple

from critic.consolidate import consolidate
from critic.score import score
from critic.verdicts import RULESET_VERSION, CriticReport
from critic.verify import verify_proposal
from evals.context import CompiledContext, DecisionSpec, RunContext
from evals.envelope import Envelope
from evals.escaping import escape_name
from evals.plan import Plan, Proposal
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, canonical_json
from harness.record import INPUTS, DecisionRecord, Head, sha256
from harness.replay.diff import differences
from harness.replay.integrity import Link, StoredDocument, faults, link_fault
from harness.replay.result import Difference, ReplayResult, ReplayStatus
from harness.wire import InvalidInput, build, parse

_MODELS: Final[dict[str, type[Envelope]]] = {
    "ctx": RunContext,
    "compiled": CompiledContext,
    "spec": DecisionSpec,
    "plan": Plan,
}


class Rechecked(NamedTuple):
    """The answer for a record, and what the next one has to follow."""

    replayed: ReplayResult
    link: Link


@dataclass
class _Found:
    """What was found so far, by what it amounts to."""

    tampered: list[str] = field(default_factory=list)
    incomplete: list[str] = field(default_factory=list)
    drift: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    differences: tuple[Difference, ...] = ()

    def unreadable(self, what: str) -> None:
        """A record of other versions may well look otherwise; one of these must be readable."""
        (self.drift if self.drift else self.tampered).append(what)


def recheck(
    document: StoredDocument,
    inputs: Mapping[str, bytes],
    before: Link,
    expected: Head | None = None,
    *,
    judge: bool = True,
) -> Rechecked:
    """The answer for one record. Never raises.

    Args:
        document: the stored record, read by `read_document`.
        inputs: stored input bodies by the digest they are stored under; more than needed is fine.
        before: the link that the record before returned, or `START`.
        expected: a head known from elsewhere; its record is held against it.
        judge: whether to derive the report. Without, `same` says that bytes, hashes, inputs and
            link are as they were recorded, whatever the versions.
    """
    found = _Found()
    found.tampered += faults(document, expected)
    if broken := link_fault(document, before):
        found.tampered.append(broken)
    elif not before.hashes:
        found.incomplete.append(f"record {before.seq} is missing: the link to it is not checked")
    bodies = _intact(document, inputs, found)
    found.drift += _other_versions(document) if judge else ()
    record = _decoded(document, found if judge else _Found())
    if record is not None:
        _note(record, before, found)
    if record is not None and judge:
        _compare(document, record, _proposal(bodies, found), found)
    return Rechecked(_answer(document, record, found), _next_link(document, record, before))


def missing(before: Link, until: int) -> tuple[ReplayResult, Link]:
    """The answer for the records after `before` up to and with `until`, which are not there."""
    first = before.seq + 1
    which = f"record {first} is" if first == until else f"records {first} to {until} are"
    replayed = ReplayResult(seq=first, status="incomplete", reasons=(f"{which} missing",))
    return replayed, Link(until, frozenset(), before.decided_at)


def _other_versions(document: StoredDocument) -> Iterator[str]:
    ruleset = document.value.get("ruleset_version")
    if isinstance(ruleset, str) and ruleset != RULESET_VERSION:
        written = f"written under ruleset {escape_name(ruleset)}"
        yield f"{written}, checked under {RULESET_VERSION}"
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
    document: StoredDocument, inputs: Mapping[str, bytes], found: _Found
) -> dict[str, bytes]:
    """The bodies of those inputs that are there and are what was recorded, by name."""
    intact: dict[str, bytes] = {}
    for name, digest in document.digests.items():
        body = inputs.get(digest)
        if body is None:
            found.incomplete.append(f"input {name} is missing: no {digest}")
        elif sha256(body) != digest:
            found.tampered.append(f"input {name} is not what was recorded: digest {digest}")
        else:
            intact[name] = body
    return intact


def _decoded(document: StoredDocument, found: _Found) -> DecisionRecord | None:
    if not document.own_hash:
        return None
    try:
        return build(DecisionRecord, dict(document.value))
    except InvalidInput as error:
        found.unreadable(f"it is no decision record of this version: {error}")
        return None


def _note(record: DecisionRecord, before: Link, found: _Found) -> None:
    if before.decided_at is not None and record.report.decided_at < before.decided_at:
        found.notes.append("decided_at is earlier than that of a record before")
    if record.run is not None and not record.report.verify.ok:
        found.notes.append("a plan that verify refused has a run")


def _compare(
    document: StoredDocument, record: DecisionRecord, proposal: Proposal | None, found: _Found
) -> None:
    if proposal is None:
        return
    try:
        derived = derive(record, proposal)
    except Exception as error:
        # A verdict is a value on any input; if this code fails at it, that is not the log's fault.
        found.drift.append(f"the report cannot be derived here: {type(error).__name__}")
        return
    recorded = document.value["report"]
    if canonical_json(recorded) == canonical_bytes(derived):
        return
    found.differences = differences(recorded, derived.wire())
    if not found.drift:
        places = ", ".join(one.path for one in found.differences[:5]) or "its spelling"
        found.tampered.append(f"the report does not follow from its inputs: see {places}")


def derive(record: DecisionRecord, proposal: Proposal) -> CriticReport:
    """The report that the critic makes of a record's proposal and run today.

    A run that ended early (`error`) is scored only where the recorded report has a score.
    """
    verdict = verify_proposal(proposal)
    unscored = record.error is not None and record.report.score is None
    scored = None
    if record.run is not None and verdict.ok and not unscored:
        scored = score(record.run.run_of(proposal))
    return consolidate(
        trace_id=proposal.ctx.trace_id,
        decision_key=record.report.decision_key,
        verify=verdict,
        score=scored,
        decided_at=record.report.decided_at,
    )


def _proposal(bodies: Mapping[str, bytes], found: _Found) -> Proposal | None:
    """The four inputs as they were recorded, or None if one of them is missing or unreadable."""
    read = {name: _read(name, body) for name, body in bodies.items()}
    unreadable = [f"input {name} {one.fault}" for name, one in read.items() if one.fault]
    for what in unreadable:
        found.unreadable(what)
    if unreadable or len(read) < len(INPUTS):
        return None
    values: dict[str, Any] = {name: one.value for name, one in read.items()}
    return Proposal(**values)


class _Read(NamedTuple):
    value: Envelope | None
    fault: str


# Records share most of their large inputs; 64 keeps the shared ones among those of 16 records.
@lru_cache(maxsize=64)
def _read(name: str, body: bytes) -> _Read:
    try:
        value = parse(_MODELS[name], body)
    except InvalidInput as error:
        return _Read(None, f"cannot be read: {error}")
    return _Read(value, "" if canonical_bytes(value) == body else "is not in its canonical form")


def _answer(document: StoredDocument, record: DecisionRecord | None, found: _Found) -> ReplayResult:
    named: dict[str, Any] = {}
    if record is not None:
        named = {"trace_id": record.report.trace_id, "decision_key": record.report.decision_key}
    return ReplayResult(
        seq=document.raw.seq,
        status=_status(found),
        reasons=(*found.tampered, *found.incomplete, *found.drift),
        notes=tuple(found.notes),
        differences=found.differences,
        **named,
    )


def _status(found: _Found) -> ReplayStatus:
    if found.tampered:
        return "tampered"
    if found.incomplete:
        return "incomplete"
    return "drift" if found.drift else "same"


def _next_link(document: StoredDocument, record: DecisionRecord | None, before: Link) -> Link:
    if document.raw.seq <= before.seq:
        return before
    decided_at = before.decided_at if record is None else record.report.decided_at
    return Link(document.raw.seq, document.hashes, decided_at)
