"""What the decision log keeps of one decision, and how its hash is made. Pure.

Rule 1: a record and the inputs it names are all that is needed to derive its verdict again.
Rule 2: a record is one RFC 8785 JSON object, and `hash` is the SHA-256 of that object without
        the member `hash`. A canonicalizer and SHA-256 are enough to check a log.
Rule 3: `prev_hash` is the `hash` of the record before; the first record names 64 zeros.
Rule 4: an input is kept once, under the SHA-256 of its canonical bytes.
"""

import hashlib
from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from critic.verdicts import RULESET_VERSION, CriticReport
from evals.envelope import ARRAY, OPTIONAL, Count, Envelope, Identifier
from evals.escaping import escape_name
from evals.json_value import SAFE_INTEGER, JsonValue
from evals.plan import Proposal
from evals.run import Run, ToolCall
from evals.verdict import EVALUATOR_VERSIONS
from harness.canonical import canonical_bytes, canonical_json
from harness.wire import build

E = TypeVar("E", bound=Envelope)

GENESIS: Final = "0" * 64
"""The `prev_hash` of record 1."""

INPUTS: Final = ("ctx", "compiled", "spec", "plan")
"""The four inputs of `verify`, by their names in a Proposal and in InputDigests."""

LONGEST_ERROR: Final = 300
"""Characters of an `error` that are kept as they are."""

Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
"""A SHA-256 as 64 lower-case hexadecimal digits."""

# Escaping turns 200 characters into 2,000 at most, and says how many there were.
CanonicalLine = Annotated[str, Field(pattern="^[ -~]{1,2100}$")]
"""One line of escape_name ASCII."""


class Head(NamedTuple):
    """The end of a log: how many records it has, and the hash of the last (`GENESIS` for none)."""

    seq: int
    hash: str


class RawRecord(NamedTuple):
    """A record as it is stored, not believed: `hash` and `body` may be any text and bytes."""

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
        """The facts of a run; `run.proposal` is what they lack."""
        kept = {name: getattr(run, name) for name in run.model_fields_set - {"proposal"}}
        return cls(**kept)

    def run_of(self, proposal: Proposal) -> Run:
        """The run of `proposal` that these are the facts of."""
        kept = {name: getattr(self, name) for name in self.model_fields_set}
        return Run(proposal=proposal, **kept)


class InputDigests(Envelope):
    """The digest of each input of `verify`: the names under which the log keeps them."""

    ctx: Digest
    compiled: Digest
    spec: Digest
    plan: Digest


def _one_line(text: str) -> str:
    """`text` if it is safe as it is, else escaped: no message is a reason to lose a record."""
    safe = text.isascii() and text.isprintable() and not set(text) & set("<>&\"'`")
    if safe and 0 < len(text) <= LONGEST_ERROR:
        return text
    return escape_name(text) or "no message"


class Decision(Envelope):
    """One decision to be appended: what was proposed, what was done, and what the critic said.

    `error` says why an execution ended early; what is not one safe line of at most 300 characters
    is escaped and cut.

    A run must be scored, but for one that ended early, and only a run is.

    Raises:
        pydantic.ValidationError: the parts contradict each other, so replay would refuse them.
    """

    proposal: Proposal
    run: Annotated[RunFacts | Run | None, OPTIONAL] = None
    report: CriticReport
    error: Annotated[str | None, OPTIONAL, AfterValidator(_one_line)] = None

    @model_validator(mode="after")
    def _of_one_piece(self) -> Self:
        if isinstance(self.run, Run) and not _same(self.run.proposal, self.proposal):
            raise _contradiction("the run is of another proposal than the decision")
        if self.report.trace_id != self.proposal.ctx.trace_id:
            raise _contradiction("the report has another trace_id than the proposal's context")
        if self.run is None and self.report.score is not None:
            raise _contradiction("the report has a score: give the run that was scored")
        early = self.run is None or self.error is not None
        if self.report.verify.ok and self.report.score is None and not early:
            raise _contradiction("the run has no score: score it, or say in error why it ended")
        return self

    @property
    def facts(self) -> RunFacts | None:
        """What was done, without the proposal."""
        return RunFacts.of(self.run) if isinstance(self.run, Run) else self.run


class DecisionRecord(Envelope):
    """One entry of the log. `seq` counts from 1; the versions are those that made the report.

    That `hash`, `prev_hash` and `report` are right is for `harness.replay` to show.
    """

    seq: Annotated[int, Field(ge=1, le=SAFE_INTEGER)]
    prev_hash: Digest
    inputs: InputDigests
    run: Annotated[RunFacts | None, OPTIONAL] = None
    report: CriticReport
    error: Annotated[CanonicalLine | None, OPTIONAL] = None
    ruleset_version: Identifier
    evaluator_versions: dict[Identifier, Identifier]
    hash: Digest


class RecordDraft(NamedTuple):
    """A decision in canonical bytes, ready for whatever place in the chain it is given.

    All that costs time is done here, so that a log is locked only to number and to hash.
    """

    said: Mapping[str, Any]
    """report, run? and error?, as the record takes them."""
    inputs: InputDigests
    bodies: Mapping[str, bytes]
    """The canonical bytes of the inputs by digest."""
    members: Mapping[str, bytes]
    """The canonical bytes of every member of the record but seq, prev_hash and hash."""


class Sealed(NamedTuple):
    """A record and the bytes that are stored for it."""

    record: DecisionRecord
    body: bytes


def draft(decision: Decision) -> RecordDraft:
    """The decision as canonical bytes, judged by the versions of this very code.

    Raises:
        ValueError: a value in it was changed after it was built, and is no JSON now.
    """
    proposal, facts = _revalidated(decision.proposal), decision.facts
    by_name = {name: canonical_bytes(getattr(proposal, name)) for name in INPUTS}
    digests = {name: sha256(body) for name, body in by_name.items()}
    inputs = InputDigests(**digests)
    run = None if facts is None else _revalidated(facts)
    parts = {"report": decision.report, "run": run, "error": decision.error}
    said = {name: value for name, value in parts.items() if value is not None}
    members = {
        "inputs": canonical_bytes(inputs),
        "ruleset_version": canonical_json(RULESET_VERSION),
        "evaluator_versions": canonical_json(dict(EVALUATOR_VERSIONS)),
        **{name: _canonical(value) for name, value in said.items()},
    }
    bodies = {digests[name]: body for name, body in by_name.items()}
    return RecordDraft(said=said, inputs=inputs, bodies=bodies, members=members)


def sealed(drafted: RecordDraft, before: Head) -> Sealed:
    """The record that follows `before`, and its bytes."""
    place: dict[str, Any] = {"seq": before.seq + 1, "prev_hash": before.hash}
    members = {**drafted.members, **{name: canonical_json(value) for name, value in place.items()}}
    own_hash = sha256(_object(members))
    record = DecisionRecord(
        inputs=drafted.inputs,
        ruleset_version=RULESET_VERSION,
        evaluator_versions={str(name): version for name, version in EVALUATOR_VERSIONS.items()},
        hash=own_hash,
        **place,
        **drafted.said,
    )
    return Sealed(record, _object({**members, "hash": canonical_json(own_hash)}))


def record_hash(document: Mapping[str, Any]) -> str:
    """What the `hash` of a record must be, given the record as parsed JSON."""
    return sha256(canonical_json({name: document[name] for name in document if name != "hash"}))


def sha256(data: bytes) -> str:
    """SHA-256 as 64 lower-case hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def _canonical(value: Envelope | str) -> bytes:
    return canonical_bytes(value) if isinstance(value, Envelope) else canonical_json(value)


def _object(members: Mapping[str, bytes]) -> bytes:
    """The canonical JSON object of members that are canonical already. Names are plain ASCII."""
    pairs = (b'"%s":%s' % (name.encode(), members[name]) for name in sorted(members))
    return b"{" + b",".join(pairs) + b"}"


def _revalidated(envelope: E) -> E:
    """A copy that nobody else can change. Frozen is shallow: args may have been altered since."""
    return build(type(envelope), envelope.model_dump(exclude_none=True))


def _same(one: Proposal, other: Proposal) -> bool:
    # Compared as bytes: to Python, `True` equals `1`.
    return one is other or canonical_bytes(one) == canonical_bytes(other)


def _contradiction(what: str) -> PydanticCustomError:
    return PydanticCustomError("contradiction", "{what}", {"what": what})
