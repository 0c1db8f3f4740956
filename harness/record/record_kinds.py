"""The records beside decisions: an execution that begins, one that is settled, a failed critic.

All are recorded as they were when they were built, like a decision.
"""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Final, Literal, NamedTuple, Self

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from evals.envelope import ARRAY, OPTIONAL, Envelope, Identifier
from evals.joined_json import join_object
from evals.json_value import SAFE_INTEGER, PresentJson
from evals.kinds import SettledOutcome
from evals.plan import Proposal
from evals.timestamps import Time, format_time
from harness.canonical import canonical_json
from harness.record.closed_words import seal_members
from harness.record.decision import (
    INPUT_NAMES,
    DecisionRecord,
    drafted_inputs,
    drafted_versions,
    held_of,
    spell_inputs,
)
from harness.record.drafts import (
    HANDED_OVER,
    CanonicalLine,
    Digest,
    RecordDraft,
    approval_claim,
    begun_claim,
    one_line,
    sha256,
)
from harness.record.index_row import IndexRow, index_row
from harness.record.inputs import InputDigests, RecordInputs
from harness.record.redactions import RedactedRecord
from harness.record.rotation import (
    HandedOverRecord,
    SessionClosedRecord,
    SessionReopenedRecord,
    TakenOverRecord,
)
from harness.wire import build

BegunAction = Literal["allow", "shadow"]
"""Why an execution may begin: see `RecordedAction`."""

Seq = Annotated[int, Field(ge=1, le=SAFE_INTEGER)]
"""The number of a record in its log."""


class UsedApproval(Envelope):
    """An approval that an execution relies on. `plan_digest` has no prefix."""

    approval_id: Identifier
    plan_digest: Digest

    @property
    def claim(self) -> str:
        """Return the claim: a log takes it once."""
        return approval_claim(self.approval_id, self.plan_digest)


class _Entry(Envelope):
    """Base of what is recorded as it was when it was built."""

    @cached_property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry, taken when it was built.

        Raises:
            ValueError, RecursionError: a part was changed in place and is not JSON any more.
        """
        return self._draft_record(None)

    @abstractmethod
    def _draft_record(self, held: RecordInputs | None) -> RecordDraft:
        """Return the canonical bytes of the entry."""

    @model_validator(mode="after")
    def _take_snapshot(self, info: ValidationInfo[Any]) -> Self:
        with suppress(ValueError, RecursionError):
            self.__dict__["snapshot"] = self._draft_record(held_of(info))
        return self


class Begun(_Entry):
    """An execution that is about to begin. To be recorded before its first effect.

    `approvals` are those that it relies on: see `harness.record.used_approvals`. `action` is
    `shadow` where the plan was not allowed, and that was not enforced.
    """

    proposal: Proposal
    action: BegunAction = "allow"
    approvals: Annotated[tuple[UsedApproval, ...], ARRAY] = ()
    begun_at: Time

    @classmethod
    def of(cls, inputs: RecordInputs, **facts: Any) -> Self:
        """Return the beginning of what executes held inputs: they are not drafted again."""
        fields = {"proposal": inputs.proposal, **facts}
        begun: Self = cls.__pydantic_validator__.validate_python(fields, context=inputs)
        begun.__dict__["proposal"] = inputs.handed_out()
        return begun

    def _draft_record(self, held: RecordInputs | None) -> RecordDraft:
        drafted = drafted_inputs(self.proposal, held)
        permit = held.digest if held else permit_digest(*spell_inputs(self.proposal))
        begun_at = format_time(self.begun_at)
        members = {
            "kind": canonical_json("begun"),
            "inputs": drafted.member,
            "permit": canonical_json(permit),
            "action": canonical_json(self.action),
            "trace_id": canonical_json(self.proposal.ctx.trace_id),
            "begun_at": canonical_json(begun_at),
            **drafted_versions(),
        }
        if self.approvals:
            members["approvals"] = canonical_json([one.wire() for one in self.approvals])
        record = {"kind": "begun", "inputs": drafted.digests, "begun_at": self.begun_at}
        record |= {"action": self.action}
        record |= {"trace_id": self.proposal.ctx.trace_id, "approvals": self.approvals}
        given = self.proposal.ctx, self.proposal.plan
        row = index_row(record, *given, columns=drafted.columns)
        claims = tuple(one.claim for one in self.approvals)
        return RecordDraft(drafted.bodies, members, members, row, claims)


class _Settlement(Envelope):
    """The fields of a settlement."""

    outcome: SettledOutcome
    by: Identifier
    because: Annotated[str, AfterValidator(one_line)]
    settled_at: Time


class Settled(NamedTuple):
    """The end of an execution that has none on record, as a person says it.

    `row` are the columns of the record in which it began. `because` is escaped and cut unless it is
    one safe line of at most 300 characters.
    """

    begun: "BegunRecord"
    row: IndexRow
    outcome: SettledOutcome
    by: str
    because: str
    settled_at: datetime

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the settlement. It names no input that is not stored.

        Raises:
            InvalidInput: a field is not what it should be.
        """
        begun, own = self.begun, {name: getattr(self, name) for name in _Settlement.model_fields}
        wire = build(_Settlement, own).wire()
        wire |= {"kind": "settled", "action": begun.action, "trace_id": begun.trace_id}
        wire |= {"begun": begun.hash, "inputs": begun.inputs.wire()}
        members = {name: canonical_json(value) for name, value in wire.items()}
        said = index_row(wire, None, None)
        kept = {name: getattr(said, name) for name in ("status", "at_us", "facts")}
        row = self.row._replace(seq=0, approvals=0, **kept)
        members |= drafted_versions()
        claims = (begun_claim(begun.hash),)
        return RecordDraft({}, members, seal_members(members, wire), row, claims)


class _Failure(Envelope):
    """The fields of a critic's failure."""

    asked: PresentJson
    where: Annotated[str, AfterValidator(one_line)]
    failed_at: Time
    trace_id: Annotated[Identifier | None, OPTIONAL] = None


class CriticError(_Failure, _Entry):
    """A critic that failed inside, and so refused. `asked` is what it was asked, as JSON.

    `where` says where it failed: it is escaped and cut unless it is one safe line of at most 300
    characters.
    """

    def _draft_record(self, _held: RecordInputs | None) -> RecordDraft:
        # Frozen is shallow: `asked` may have been changed in place. A copy of this class itself
        # would be drafted too, and so on.
        wire = build(_Failure, self.model_dump(exclude_none=True)).wire()
        members = {name: canonical_json(value) for name, value in wire.items()}
        members |= {"kind": canonical_json("critic_error"), **drafted_versions()}
        row = index_row({**wire, "kind": "critic_error"}, None, None)
        return RecordDraft({}, members, seal_members(members, wire), row)


class BegunRecord(Envelope):
    """An execution in the log that may have had effects from here on.

    `permit` is the digest of the proposal. The decision that ends the execution names the `hash` of
    this record. `begun` is the hash of the record of an earlier log in which it began, if it did.
    """

    kind: Literal["begun"]
    seq: Seq
    prev_hash: Digest
    inputs: InputDigests
    permit: Digest
    action: BegunAction
    trace_id: Identifier
    approvals: Annotated[tuple[UsedApproval, ...] | None, OPTIONAL, ARRAY, Field(min_length=1)] = (
        None
    )
    begun: Annotated[Digest | None, OPTIONAL] = None
    begun_at: Time
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class CarriedOn(NamedTuple):
    """An execution that began in the log before, and has no end there: its record once more.

    `row` are the columns of that record.
    """

    begun: "BegunRecord"
    row: IndexRow

    @property
    def snapshot(self) -> RecordDraft:
        """Return the canonical bytes of the entry. Its inputs have to be stored beside it."""
        first = self.begun.begun or self.begun.hash
        kept = self.begun.wire()
        wire = {name: one for name, one in kept.items() if name not in _OF_PLACE} | {"begun": first}
        members = {name: canonical_json(value) for name, value in wire.items()}
        claims = (begun_claim(first), *(one.claim for one in self.begun.approvals or ()))
        return RecordDraft({}, members, members, self.row._replace(seq=0), claims)


_OF_PLACE: Final = frozenset({"seq", "prev_hash", "hash"})


class SettledRecord(Envelope):
    """The end of an execution in the log, as a person said it. `begun` is the hash of its record.

    Inputs, action and trace are those of that record. A decision that ends the execution after all
    names the `hash` of this one.
    """

    kind: Literal["settled"]
    seq: Seq
    prev_hash: Digest
    begun: Digest
    inputs: InputDigests
    action: BegunAction
    trace_id: Identifier
    outcome: SettledOutcome
    by: Identifier
    because: CanonicalLine
    settled_at: Time
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


class CriticErrorRecord(Envelope):
    """A failure of the critic in the log: it refused what it was `asked`."""

    kind: Literal["critic_error"]
    seq: Seq
    prev_hash: Digest
    asked: PresentJson
    where: CanonicalLine
    failed_at: Time
    trace_id: Annotated[Identifier | None, OPTIONAL] = None
    ruleset_version: Identifier
    rules_digest: Annotated[Digest | None, OPTIONAL] = None
    hash: Digest


NoTurnRecord = (
    SessionClosedRecord
    | SessionReopenedRecord
    | HandedOverRecord
    | TakenOverRecord
    | RedactedRecord
)
"""A record that is of no turn."""

TurnRecord = DecisionRecord | BegunRecord | SettledRecord | CriticErrorRecord
"""A record that is of a turn."""

KindRecord = BegunRecord | SettledRecord | CriticErrorRecord | NoTurnRecord
"""A record that says its kind."""

LogRecord = TurnRecord | NoTurnRecord
"""A record of any kind."""

_KINDS: Final[Mapping[str, type[KindRecord]]] = {
    "begun": BegunRecord,
    "settled": SettledRecord,
    "closed": SessionClosedRecord,
    "reopened": SessionReopenedRecord,
    "handed_over": HandedOverRecord,
    "taken_over": TakenOverRecord,
    "redacted": RedactedRecord,
    "critic_error": CriticErrorRecord,
}
"""The kinds of records that say their kind. A decision does not."""


def permit_digest(digests: Mapping[str, str], bodies: Mapping[str, bytes]) -> str:
    """Return the digest of the proposal that these inputs make."""
    return sha256(join_object({name: bodies[digests[name]] for name in INPUT_NAMES}))


def record_model(document: Mapping[str, Any]) -> type[LogRecord]:
    """Return the envelope of a record, given as parsed JSON. Of an unknown kind: a decision's."""
    kind = document.get("kind")
    return _KINDS.get(kind, DecisionRecord) if isinstance(kind, str) else DecisionRecord


def claims_of(record: LogRecord) -> tuple[str, ...]:
    """Return what a record claims: no other record of its log may claim one of them."""
    if isinstance(record, CriticErrorRecord | RedactedRecord):
        return ()
    if isinstance(record, HandedOverRecord):
        return (HANDED_OVER,)
    if isinstance(record, SessionClosedRecord | SessionReopenedRecord | TakenOverRecord):
        return record.claims or ()
    begun = () if record.begun is None else (begun_claim(record.begun),)
    if isinstance(record, BegunRecord):
        return (*begun, *(one.claim for one in record.approvals or ()))
    return (*begun, *(record.claims or ())) if isinstance(record, DecisionRecord) else begun
