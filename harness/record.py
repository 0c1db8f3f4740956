"""One decision as the log keeps it, and how its hash is computed.

Pure, but for the digest of the rules, which is read from disk once per process.

Rule 1: a record and the inputs it names are all that is needed to derive its verdict again.
Rule 2: a record is one RFC 8785 JSON object, and `hash` is the SHA-256 of that object without
        the member `hash`. A canonicalizer and SHA-256 are enough to check a log.
Rule 3: `prev_hash` is the `hash` of the record before; the first record names 64 zeros.
Rule 4: an input is stored once, under the SHA-256 of its canonical bytes.
Rule 5: a decision is recorded as it was when it was built; later changes in place do not count.
"""

import hashlib
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from typing import Annotated, Any, Final, NamedTuple, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from critic.verdicts import RULESET_VERSION, CriticReport, VerifyVerdict
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.escaping import escape_name
from evals.json_value import SAFE_INTEGER, JsonValue
from evals.plan import Plan, Proposal
from evals.run import Run, ToolCall
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, canonical_json
from harness.rules import rules_digest
from harness.wire import EnvelopeT, build, parse

GENESIS: Final = "0" * 64
"""The `prev_hash` of record 1."""

INPUT_NAMES: Final = ("ctx", "compiled", "spec", "plan")
"""The names of the four inputs of `verify`, in a Proposal and in InputDigests."""

_LONGEST_ERROR: Final = 300
"""The number of characters up to which an `error` is kept as it is."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 as 64 lower-case hexadecimal digits."""

# Escaping turns 200 characters into 2,000 at most, and says how many there were.
CanonicalLine = Annotated[str, Field(pattern="^[ -~]{1,2100}$")]
"""One line of printable ASCII."""


class Head(NamedTuple):
    """The number of the last record of a log and its hash; `(0, GENESIS)` for an empty log."""

    seq: int
    hash: str


class Gap(NamedTuple):
    """Records that are missing: the first and the last of their numbers."""

    first: int
    last: int

    def text(self) -> str:
        """Say which records are missing, in a few words."""
        if self.first == self.last:
            return f"record {self.first} is missing"
        return f"records {self.first} to {self.last} are missing"


class RawRecord(NamedTuple):
    """A stored record, unchecked: `hash` and `body` may be any text and bytes."""

    seq: int
    hash: str
    body: bytes


class RunFacts(Envelope):
    """A Run without its proposal, which a record names by digest."""

    run_id: Identifier
    trace_id: Identifier
    calls: Annotated[tuple[ToolCall, ...], ARRAY]
    outputs: dict[Identifier, JsonValue]
    wall_ms: Annotated[Count | None, OPTIONAL] = None
    tokens: Annotated[Count | None, OPTIONAL] = None
    cost_micros: Annotated[Count | None, OPTIONAL] = None
    pack_version: Annotated[Identifier | None, OPTIONAL] = None
    intent: Annotated[str | None, OPTIONAL] = None

    @classmethod
    def of(cls, run: Run) -> Self:
        """Return the facts of a run: everything except `run.proposal`."""
        fields = {name: getattr(run, name) for name in run.model_fields_set - {"proposal"}}
        return cls(**fields)

    def run_of(self, proposal: Proposal) -> Run:
        """Return these facts as a run of `proposal`."""
        fields = {name: getattr(self, name) for name in self.model_fields_set}
        return Run(proposal=proposal, **fields)


class InputDigests(Envelope):
    """The digest of each input of `verify`. The log stores the inputs under these digests."""

    ctx: Digest
    compiled: Digest
    spec: Digest
    plan: Digest


class PlanAttemptRecord(Envelope):
    """A plan that a planner tried before the one it proposed, with the verdict on that plan.

    It was judged with the `ctx`, `compiled` and `spec` of the decision.
    """

    plan: Plan
    verdict: VerifyVerdict


def _one_line(text: str) -> str:
    """Return `text` if it is safe to print, else escaped: no message costs us a record."""
    safe = text.isascii() and text.isprintable() and not set(text) & set("<>&\"'`")
    if safe and 0 < len(text) <= _LONGEST_ERROR:
        return text
    return escape_name(text) or "no message"


class Decision(Envelope):
    """One decision to be appended: what was proposed, what was done, and the critic's report.

    `error` says why an execution ended early. It is escaped and cut unless it is one safe line of
    at most 300 characters. `attempts` are the plans that were tried and refused before, oldest
    first.

    The run of a verified plan is always scored, even if it ended early: calls that happened are
    never hidden. The decision is recorded as it is now: what is changed in place in its parts
    later does not reach the record.

    Raises:
        pydantic.ValidationError: the parts contradict each other, so replay would refuse them.
    """

    proposal: Proposal
    run: Annotated[RunFacts | Run | None, OPTIONAL] = None
    report: CriticReport
    error: Annotated[str | None, OPTIONAL, AfterValidator(_one_line)] = None
    attempts: Annotated[tuple[PlanAttemptRecord, ...], ARRAY] = ()

    @model_validator(mode="after")
    def _without_contradiction(self) -> Self:
        if isinstance(self.run, Run) and not _same(self.run.proposal, self.proposal):
            raise _contradiction("the run is of another proposal than the decision")
        if self.report.trace_id != self.proposal.ctx.trace_id:
            raise _contradiction("the report has another trace_id than the proposal's context")
        if self.report.decision_key != self.proposal.spec.id:
            raise _contradiction("the report has another decision_key than the id of the spec")
        if self.run is None and self.report.score is not None:
            raise _contradiction("the report has a score: give the run that was scored")
        if self.run is not None and self.report.verify.ok and self.report.score is None:
            raise _contradiction("the run has no score: score it, even if it ended early")
        return self

    @model_validator(mode="after")
    def _take_snapshot(self) -> Self:
        # What cannot be recorded is still a decision. The log refuses it and hands it back.
        with suppress(ValueError, RecursionError):
            draft(self)
        return self

    @cached_property
    def snapshot(self) -> "RecordDraft":
        """Return the canonical bytes of the decision, taken when it was built.

        Raises:
            ValueError, RecursionError: a part was changed in place and is not JSON any more.
        """
        proposal, facts = _revalidated(self.proposal), self.facts
        by_name = {name: canonical_bytes(getattr(proposal, name)) for name in INPUT_NAMES}
        digests = {name: sha256(body) for name, body in by_name.items()}
        members = {
            "inputs": canonical_bytes(InputDigests(**digests)),
            "report": canonical_bytes(_revalidated(self.report)),
            "ruleset_version": canonical_json(RULESET_VERSION),
            "evaluator_versions": canonical_json(dict(EVALUATOR_VERSIONS)),
        }
        if rules := rules_digest():
            members["rules_digest"] = canonical_json(rules)
        if facts is not None:
            members["run"] = canonical_bytes(_revalidated(facts))
        if self.error is not None:
            members["error"] = canonical_json(self.error)
        if self.attempts:
            attempts = [canonical_bytes(_revalidated(attempt)) for attempt in self.attempts]
            members["attempts"] = b"[%s]" % b",".join(attempts)
        return RecordDraft(
            bodies={digests[name]: body for name, body in by_name.items()}, members=members
        )

    def detached(self) -> Self:
        """Return a copy that shares nothing that can be changed, recorded as this decision is.

        Raises:
            ValueError, RecursionError: a part was changed in place and is not JSON any more.
        """
        copied, snapshot = self.__copy__(), self.snapshot
        copied.__dict__ |= {
            "proposal": _revalidated(self.proposal),
            "run": None if self.run is None else _revalidated(self.run),
            "report": _revalidated(self.report),
            "attempts": tuple(map(_revalidated, self.attempts)),
            "snapshot": RecordDraft({**snapshot.bodies}, {**snapshot.members}),
        }
        return copied

    @property
    def facts(self) -> RunFacts | None:
        """Return the run without the proposal."""
        return RunFacts.of(self.run) if isinstance(self.run, Run) else self.run


class DecisionRecord(Envelope):
    """One entry of the log. `seq` counts from 1; the versions are those that made the report.

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
    error: Annotated[CanonicalLine | None, OPTIONAL] = None
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    evaluator_versions: dict[Identifier, Identifier]
    hash: Digest


class RecordDraft(NamedTuple):
    """A decision in canonical bytes, before it has a place in the chain.

    Everything slow is done here, so that a log is locked only to number and to hash.
    """

    bodies: Mapping[str, bytes]
    """The canonical bytes of the inputs, by digest."""
    members: Mapping[str, bytes]
    """The canonical bytes of each member of the record except seq, prev_hash and hash."""


class Sealed(NamedTuple):
    """A record in its place in the chain, as the bytes that are stored."""

    seq: int
    hash: str
    body: bytes

    @property
    def record(self) -> DecisionRecord:
        """Return the record that the bytes spell. It shares nothing with the decision."""
        return parse(DecisionRecord, self.body, max_bytes=len(self.body))


def draft(decision: Decision) -> RecordDraft:
    """Return the decision as canonical bytes, as it was when it was built.

    Raises:
        ValueError, RecursionError: a part was changed in place and is not JSON any more.
    """
    return decision.snapshot


def sealed(drafted: RecordDraft, before: Head) -> Sealed:
    """Return the record that follows `before`, as bytes."""
    seq = before.seq + 1
    members = {
        **drafted.members,
        "seq": canonical_json(seq),
        "prev_hash": canonical_json(before.hash),
    }
    own_hash = sha256(_object(members))
    return Sealed(seq, own_hash, _object({**members, "hash": canonical_json(own_hash)}))


def record_hash(document: Mapping[str, Any]) -> str:
    """Return what the `hash` of a record must be, given the record as parsed JSON."""
    return sha256(canonical_json({name: document[name] for name in document if name != "hash"}))


def sha256(data: bytes) -> str:
    """Return the SHA-256 of `data` as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _object(members: Mapping[str, bytes]) -> bytes:
    """Return the canonical JSON object of canonical members. Names are plain ASCII."""
    pairs = (b'"%s":%s' % (name.encode(), members[name]) for name in sorted(members))
    return b"{" + b",".join(pairs) + b"}"


def _revalidated(envelope: EnvelopeT) -> EnvelopeT:
    """Return a checked copy. Frozen is shallow: args may have been changed in place."""
    return build(type(envelope), envelope.model_dump(exclude_none=True))


def _same(left: Proposal, right: Proposal) -> bool:
    # Compared as bytes: to Python, `True` equals `1`.
    return left is right or canonical_bytes(left) == canonical_bytes(right)


def _contradiction(what: str) -> PydanticCustomError:
    return PydanticCustomError("contradiction", "{what}", {"what": what})
