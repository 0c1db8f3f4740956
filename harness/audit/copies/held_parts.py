"""Which parts of a log hold a value, and which records of a trace name what. It reads the log."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harness.audit.copies.copying import batches, rows_up_to
from harness.audit.copies.value_search import SoughtValues
from harness.canonical import canonical_json
from harness.errors import UsageError
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import sha256
from harness.record.closed_words import SEALED, TEXT_MEMBER, WITH_TEXTS, close_record, read_closed
from harness.record.integrity import StoredDocument
from harness.record.parts import is_redacted, pieces_of, split_body
from harness.replay.engine import Replayer

_MOST_NAMED: Final = 3  # places
_PAGE: Final = 500  # rows of the index


@dataclass
class HeldParts:
    """What is to be taken out.

    Attributes:
        bodies: the digests of stored inputs and parts.
        members: of records, by their numbers: the digests of members, by name.
    """

    bodies: set[str] = field(default_factory=set)
    members: dict[int, dict[str, str]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.bodies or self.members)

    def join(self, other: "HeldParts") -> "HeldParts":
        """Return both together."""
        numbers = {*self.members, *other.members}
        return HeldParts(
            self.bodies | other.bodies,
            {seq: {**self.members.get(seq, {}), **other.members.get(seq, {})} for seq in numbers},
        )

    @property
    def digests(self) -> set[str]:
        """Return the digests of all that is taken out."""
        return self.bodies.union(*(one.values() for one in self.members.values()))


def require_gone(log: SqlDecisionLog, sought: SoughtValues) -> None:
    """Read a whole log: bodies, records, index, claims and journals. None of them holds a value.

    Raises:
        LogDamaged: one does.
    """
    last = log.head().seq
    places = [f"part {digest}" for digest in bodies_holding(log, sought)]
    for document in _documents_of(log, last):
        names = [one for some in members_holding(document, sought) for one in some]
        places += [f"record {document.raw.seq}: /{name}" for name in names]
    for first in range(1, last + 1, _PAGE):
        rows = log.index(range(first, min(first + _PAGE, last + 1)))
        places += [f"row {seq} of the index" for seq, row in rows.items() if _in_row(row, sought)]
    places += [f"claim of record {seq}" for claim, seq in log.all_claims() if sought.hold(claim)]
    for session in log.journaled_sessions():
        told = [session, *(row.body.decode("utf-8", "replace") for row in log.journal(session))]
        places += [f"journal {session}"] if any(map(sought.hold, told)) else []
    if places:
        raise LogDamaged(f"the copy still holds a value, so it was not kept: {places[0]}")


def _in_row(row: tuple[Any, ...], sought: SoughtValues) -> bool:
    return sought.hold(list(row), numbers=False)


def _documents_of(log: SqlDecisionLog, last: int) -> Iterator[StoredDocument]:
    """Yield the records of a log up to a number, a few in memory at a time."""
    replayer = Replayer(log, None, judge=False)
    for page in batches(rows_up_to(last, log.stored_records())):
        yield from replayer.documents(page)


def parts_holding(log: SqlDecisionLog, sought: SoughtValues, last: int) -> HeldParts:
    """Return every part of a log that holds one of the values.

    Raises:
        UsageError: a record holds one where nothing can be taken out.
    """
    held, stay = HeldParts(set(bodies_holding(log, sought))), list[str]()
    for document in _documents_of(log, last):
        members, closed = members_holding(document, sought)
        stay += [f"record {document.raw.seq}: /{name}" for name in closed]
        if members:
            held.members[document.raw.seq] = digests_of(document, members)
    if stay:
        more = f" and {len(stay) - _MOST_NAMED} more" if len(stay) > _MOST_NAMED else ""
        raise UsageError(
            f"{', '.join(stay[:_MOST_NAMED])}{more}: it holds a value where nothing can be taken "
            "out, so nothing was copied: keep such values out of names"
        )
    return held


def records_holding(log: SqlDecisionLog, sought: SoughtValues) -> int:
    """Return how many records of a log hold one of the values, in their inputs too."""
    held, known, count = {*bodies_holding(log, sought)}, dict[str, bool](), 0
    for document in _documents_of(log, log.head().seq):
        inputs = document.digests.values()
        for digest in {*inputs} - {*known} if held else ():
            below = pieces_of(log.stored((digest,)).values(), log.stored)
            known[digest] = digest in held or not held.isdisjoint(below)
        in_inputs = any(known.get(one) for one in inputs)
        count += in_inputs or any(members_holding(document, sought))
    return count


def bodies_holding(log: SqlDecisionLog, sought: SoughtValues) -> Iterator[str]:
    """Yield the digests of the stored inputs and parts that hold one of the values themselves."""
    for digest, body in log.bodies():
        if not is_redacted(digest, body) and sought.may_hold(body) and _holds(body, sought):
            yield digest


def _holds(body: bytes, sought: SoughtValues) -> bool:
    own = b"".join(literal + (b"" if one is None else b"null") for literal, one in split_body(body))
    return sought.hold_bytes(b"[%b]" % own)  # a piece may be several elements of an array


def members_holding(document: StoredDocument, sought: SoughtValues) -> tuple[list[str], list[str]]:
    """Return the members of a record that hold a value: those to take, and those that stay."""
    record = document.value
    if not sought.may_hold(canonical_json(dict(record))):
        return [], []
    taken = [name for name in SEALED if name in record and sought.hold(record[name])]
    if TEXT_MEMBER not in document.gone and sought.hold(close_record(record)[1]):
        taken.append(TEXT_MEMBER)
    closed = {name: one for name, one in record.items() if name not in SEALED}
    told = {name: read_closed(closed[name], name) for name in WITH_TEXTS if name in closed}
    stay = [name for name, one in {**closed, **told}.items() if sought.hold(one, numbers=False)]
    return taken, stay


def digests_of(document: StoredDocument, names: Iterable[str]) -> dict[str, str]:
    """Return the digests of members of a record that is there.

    Raises:
        UsageError: a piece of it was redacted before, so that the digest cannot be had.
    """
    told: Mapping[str, Any] = {**document.value, TEXT_MEMBER: close_record(document.value)[1]}
    if {*document.redacted} - {*document.gone.values()}:
        raise UsageError(f"record {document.raw.seq}: a piece of its run was redacted before")
    return {name: sha256(canonical_json(told[name])) for name in names}


def parts_of_trace(log: SqlDecisionLog, trace: str, last: int) -> HeldParts:
    """Return the plans, contexts, runs and texts of a trace, without what other traces name too.

    Raises:
        UsageError: no record is of this trace.
    """
    held, others, is_there = HeldParts(), set[str](), False
    for document in _documents_of(log, last):
        if _trace_of(document.value) != trace:
            others.update(document.digests.values())
            continue
        is_there = True
        held.bodies.update(one for name, one in document.digests.items() if name != "spec")
        texts = [TEXT_MEMBER] if close_record(document.value)[1] else []
        names = [*(name for name in SEALED if name in document.value), *texts]
        members = digests_of(document, [name for name in names if name not in document.gone])
        if members:
            held.members[document.raw.seq] = members
    if not is_there:
        raise UsageError("no record is of this trace")
    held.bodies -= others
    return held


def _trace_of(record: Mapping[str, Any]) -> Any:
    """Return the trace of a record of any kind."""
    report = record.get("report")
    return record.get("trace_id", report.get("trace_id") if isinstance(report, dict) else None)
