"""Pack the records of a log, with all that they name, to replay them where the log cannot be read.

Rule 1: the answers for the parcels, one after the other, are those for the whole log.
Rule 2: a parcel holds stored bytes: each part once, however many of its records name it.
Rule 3: a parcel is bounded in records and in bytes; only one record alone may be larger.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, Protocol, TypeVar

from harness.errors import HarnessError
from harness.record import Head, RawRecord
from harness.record.integrity import Link, read_text_of
from harness.record.parts import references
from harness.replay.document_reading import PartedLog, claims_for, rows_named
from harness.replay.engine import Replayer
from harness.replay.log_page import Bodies, InputReader
from harness.replay.session_facts import AnswerAlone
from harness.replay.stretches import AnsweredStretch, NumberedLog, last_decided

_RECORDS: Final = 128  # of a parcel: what an interruption repeats, and what one more copy costs
_BYTES: Final = 4 * 1024 * 1024  # of its records, and of what they name as well


class PackedLog(NumberedLog, PartedLog, Protocol):
    """A log that can be packed: it is read from any number on, and keeps inputs in parts."""


class Parcel(NamedTuple):
    """Some records of a log that are next to each other, and what the log holds of what they name.

    Attributes:
        before: the link that the first of them has to follow.
        rows: the stored rows.
        bodies: stored bodies of inputs and parts, by digest.
        claims: the number of the record that made each claim.
        named: the rows of executions that began, by hash.
        link: what the record after the parcel has to follow.
    """

    before: Link
    rows: tuple[RawRecord, ...]
    bodies: dict[str, bytes]
    claims: dict[str, int]
    named: dict[str, RawRecord]
    link: Link

    @property
    def size(self) -> int:
        """Return how many bytes it holds, about."""
        rows = (*self.rows, *self.named.values())
        return sum(len(raw.body) for raw in rows) + sum(map(len, self.bodies.values()))

    @property
    def numbers(self) -> list[int]:
        """Return the numbers that the answers have: of the rows, and of each gap before one."""
        numbers, last = list[int](), self.before.seq
        for raw in self.rows:
            numbers += (last + 1, raw.seq) if raw.seq > last + 1 else (raw.seq,)
            last = max(last, raw.seq)
        return numbers

    @property
    def place(self) -> str:
        """Say which records it holds, in a few words."""
        first, last = self.rows[0].seq, self.rows[-1].seq
        return f"record {first}" if first == last else f"records {first} to {last}"


def parcels(log: PackedLog, before: Link, after: int | None) -> Iterator[Parcel]:
    """Yield a log, or its records with numbers above `after`, in parcels.

    The records are read as they are needed, so those that are appended meanwhile are included.

    Raises:
        harness.log.log_errors.LogError: the log cannot be read any further. All before it is
            yielded.
    """
    for rows in _group_rows(log.raw(None if after is None else after + 1)):
        for parcel in _pack_rows(log, rows, before):
            yield parcel
            before = parcel.link


def _group_rows(rows: Iterator[RawRecord]) -> Iterator[list[RawRecord]]:
    """Yield stored rows, some at a time. What cannot be read is said after all before it."""
    some: list[RawRecord] = []
    held = 0
    try:
        for raw in rows:
            some.append(raw)
            held += len(raw.body)
            if len(some) == _RECORDS or held > _BYTES:
                yield some
                some, held = [], 0
    except HarnessError:
        if some:
            yield some
        raise
    if some:
        yield some


def _pack_rows(log: PackedLog, rows: Sequence[RawRecord], before: Link) -> Iterator[Parcel]:
    """Yield the rows in one parcel, or in halves if it would be too large."""
    bodies = Bodies(log.stored)
    most = _BYTES if len(rows) > 1 else 2**63
    whole = bodies.fetch((one for raw in rows for one in references(raw.body)), most)
    documents = [read_text_of(raw, bodies, checked=False) for raw in rows] if whole else []
    if whole and bodies.fetch((one for each in documents for one in each.digests.values()), most):
        claims, named = claims_for(log, documents) or {}, rows_named(log, documents)
        link = _link_after(rows, bodies, before)
        yield Parcel(before, tuple(rows), dict(bodies), dict(claims), dict(named), link)
        return
    bodies.forget()
    middle = len(rows) // 2
    for half in (rows[:middle], rows[middle:]):
        for parcel in _pack_rows(log, half, before):
            yield parcel
            before = parcel.link


def _link_after(rows: Sequence[RawRecord], bodies: Mapping[str, bytes], before: Link) -> Link:
    """Return the link to what follows, of the last rows alone: most often of one."""
    # A row with a number that does not follow is nothing to follow: its own answer says so.
    backwards = [raw for raw in reversed(rows) if raw.seq > before.seq]
    if not backwards:
        return before
    documents = (read_text_of(raw, bodies) for raw in backwards)
    last = next(documents)
    decided = last_decided(chain([last], documents)) or before.decided_at
    return Link(last.raw.seq, last.hashes, decided, last.is_end)


class _ParcelLog:
    """A parcel as the log that its records are replayed of."""

    def __init__(self, parcel: Parcel) -> None:
        self._parcel = parcel

    def raw(self) -> Iterator[RawRecord]:
        return iter(self._parcel.rows)

    def stored(self, digests: Iterable[str]) -> dict[str, bytes]:
        return _pick_named(self._parcel.bodies, digests)

    inputs = stored

    def claims(self, claims: Iterable[str]) -> dict[str, int]:
        return _pick_named(self._parcel.claims, claims)

    def named(self, hashes: Iterable[str]) -> dict[str, RawRecord]:
        return _pick_named(self._parcel.named, hashes)


_Value = TypeVar("_Value")


def _pick_named(held: Mapping[str, _Value], names: Iterable[str]) -> dict[str, _Value]:
    return {name: held[name] for name in names if name in held}


def replay_parcel(
    parcel: Parcel, expected: Head | None, inputs: InputReader | None = None
) -> AnsweredStretch:
    """Replay the records of a parcel. `expected` and `inputs` are as for `Replayer`."""
    replayer = Replayer(_ParcelLog(parcel), expected, judge=True, inputs=inputs)
    answers: list[AnswerAlone] = []
    link = parcel.before
    for one in replayer.replay_rows(iter(parcel.rows), parcel.before):
        answers.append(one.answer)
        link = one.link
    return AnsweredStretch(answers, link)
