"""Copy a log without some values: each is replaced by its digest, and every hash stays.

Rule 1: records keep their numbers, hashes and links, so every checkpoint and proof holds for the
        copy. What was taken out is in none of its bytes.
Rule 2: a value is taken out where the log keeps it apart: alone if it is large, else with what is
        around it. A part that several records have is taken out of all of them.
Rule 3: a log that is not as it was recorded is not copied: the copy would look sound.
Rule 4: what is appended while it is copied is not in the copy: nobody looked for values there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from harness.audit.copies.copying import (
    LogExtent,
    batches,
    extent_of,
    fill_log,
    new_log,
    require_sound,
    rows_up_to,
)
from harness.audit.copies.member_cuts import cut_members
from harness.canonical import canonical_json
from harness.errors import UsageError, escape_text
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import INPUT_NAMES, RawRecord, sha256
from harness.record.closed_words import SEALED, TEXT_MEMBER, close_record
from harness.record.integrity import StoredDocument
from harness.record.parts import part_document, pieces_of, reference, references
from harness.replay.engine import Replayer
from harness.wire import parse_finite_json

_BATCH: Final = 200  # rows in one transaction
_WANTED: Final = re.compile(r"([1-9][0-9]{0,17}):((?:/[^/]*)+)")
_IN_RECORD: Final = SEALED
_SOUND: Final = frozenset({"same", "open", "redacted"})

_T = TypeVar("_T")


class ValueInRecord(NamedTuple):
    """A value to take out: the number of a record, and the members that lead to it.

    `run` and `asked` are in the record itself; `inputs` and a name lead into one of its inputs.
    """

    seq: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        return escape_text(f"{self.seq}:/{'/'.join(self.path)}")


@dataclass(frozen=True)
class Redaction:
    """The values that were taken out of a log.

    Attributes:
        digests: the digests of what was taken out, each with the value that was asked for.
        kept: how many parts of them stay, because other values have them too.
        found: where bytes of them are still in the copy: digests of parts, or records.
    """

    digests: Mapping[str, ValueInRecord]
    kept: int
    found: tuple[str, ...]

    def lines(self) -> Iterator[str]:
        """Yield what to tell a person, a line each."""
        for digest, value in self.digests.items():
            yield f"{value}: replaced by its digest {digest}"
        if self.kept:
            parts = "1 part of it stays" if self.kept == 1 else f"{self.kept} parts of it stay"
            yield f"note: {parts}: other values have {'it' if self.kept == 1 else 'them'} too"
        for place in self.found:
            yield f"note: the same bytes are also in {place}"


def value_named(text: str) -> ValueInRecord:
    """Return the value that `RECORD:POINTER` names, as 2:/run/outputs or 1:/inputs/plan.

    Raises:
        UsageError: it names none that can be taken out.
    """
    found = _WANTED.fullmatch(text)
    parts = found[2].split("/")[1:] if found else []
    path = tuple(part.replace("~1", "/").replace("~0", "~") for part in parts)
    inside = path[:1] == ("inputs",) and path[1:2] and path[1] in INPUT_NAMES
    if found is None or not (inside or path[0] in _IN_RECORD):
        raise UsageError(
            f"{escape_text(text)}: name a value as 2:/run/outputs or 1:/inputs/plan: what can be "
            f"taken out is in run, asked, or inputs/{', inputs/'.join(INPUT_NAMES)}"
        )
    return ValueInRecord(int(found[1]), path)


def redact_log(log: SqlDecisionLog, new: Path, wanted: Sequence[ValueInRecord]) -> Redaction:
    """Copy a log to the file `new` without some values. The log itself is not changed.

    Raises:
        UsageError: `new` exists, or no part holds the value.
        LogError: the log cannot be read or is not as it was recorded, or `new` cannot be written.
    """
    with new_log(new) as target:
        upto = extent_of(log)
        require_sound(log)
        places = [_place_of(log, value) for value in wanted]
        taken = {place.digest: value for place, value in zip(places, wanted, strict=True)}
        rows = dict[int, list[_Place]]()
        for place in places:
            if place.seq:
                rows.setdefault(place.seq, []).append(place)
        dropped, kept = _parts_below(log, taken, rows, upto, places)
        cut = _Cut(taken, dropped, rows)
        bodies, records = _bodies(log, cut, upto), _rows(log, cut, upto.head.seq)
        fill_log(log, target, upto.head, bodies, records)
        if target.head() != upto.head:
            raise LogDamaged(f"{_show_path(new)}: the copy has another head: try again")
        found = tuple(_find_remains(target, places))
    return Redaction(taken, kept, found)


class _Place(NamedTuple):
    """Where a value is kept: its digest and its bytes, and the row that has to name it now."""

    digest: str
    whole: bytes
    seq: int = 0
    member: str = ""


class _Cut(NamedTuple):
    """The parts that a copy leaves out, and the rows that it changes."""

    taken: Mapping[str, ValueInRecord]
    dropped: frozenset[str]
    rows: Mapping[int, list[_Place]]


def _place_of(log: SqlDecisionLog, value: ValueInRecord) -> _Place:
    """Return where the log keeps a value apart: alone, or with what is around it."""
    (document,) = _read_documents(log, value.seq, 1) or (None,)
    if document is None or document.raw.seq != value.seq:
        raise UsageError(f"no such record: {value.seq}: the last one is {log.head().seq}")
    member, inner = value.path[0], value.path[1:]
    if member == "inputs":
        digest = document.digests.get(inner[0], "")
        body, inner = log.stored((digest,)).get(digest, b""), inner[1:]
        whole = _parse_body(log.input(digest), value)
    elif member in document.gone or {*document.redacted} - {*document.gone.values()}:
        raise UsageError(f"{value}: a part of it was redacted before")
    else:
        told = {**document.value, TEXT_MEMBER: close_record(document.value)[1] or None}
        digest, body = "", next(log.stored_records(value.seq)).body
        whole = _value_at(told, (member,), value)
    parts = pieces_of([body], log.stored)
    for end in range(len(inner), 0, -1):
        part = canonical_json(_value_at(whole, inner[:end], value))
        if sha256(part) in parts:
            return _Place(sha256(part), part)
    if digest:
        return _Place(digest, canonical_json(whole))
    return _Place(sha256(canonical_json(whole)), canonical_json(whole), value.seq, member)


def _read_documents(log: SqlDecisionLog, start: int | None, most: int) -> list[StoredDocument]:
    return Replayer(log, None, judge=False).documents(islice(log.raw(start), most))


def _parse_body(body: bytes | None, value: ValueInRecord) -> Any:
    if body is None:
        raise UsageError(f"{value}: a part of it was redacted before")
    return parse_finite_json(body, len(body))


def _value_at(document: Any, path: Sequence[str], value: ValueInRecord) -> Any:
    for name in path:
        if isinstance(document, list) and name.isascii() and name.isdecimal():
            document = document[int(name) : int(name) + 1] or None
            document = document[0] if document else None
        else:
            document = document.get(name) if isinstance(document, dict) else None
        if document is None:
            raise UsageError(f"{value}: the record holds no such value")
    return document


def _parts_below(
    log: SqlDecisionLog,
    taken: Mapping[str, Any],
    rows: Iterable[int],
    upto: LogExtent,
    places: Iterable[_Place],
) -> tuple[frozenset[str], int]:
    """Return the parts that only redacted values name, and how many of theirs others name too."""
    bodies = list(log.stored(taken).values())
    bodies += [next(log.stored_records(seq)).body for seq in rows]
    # What is stored whole here may be in parts elsewhere.
    apart = [digest for place in places for digest in part_document(place.whole).pieces]
    below = {*pieces_of(bodies, log.stored), *log.stored(apart)} - {*taken}
    kept: set[str] = set()
    for raw in rows_up_to(upto.head.seq, log.stored_records()):
        if raw.seq not in rows:
            kept |= below.intersection(references(raw.body))
    for digest, body in log.bodies():
        if digest in upto.digests and digest not in below and digest not in taken:
            kept |= below.intersection(references(body))
    kept |= below.intersection(_inputs_named(log, upto.head.seq))
    kept |= below.intersection(pieces_of(list(log.stored(kept).values()), log.stored))
    return frozenset(below - kept), len(kept)


def _inputs_named(log: SqlDecisionLog, last: int) -> Iterator[str]:
    replayer, rows = Replayer(log, None, judge=False), rows_up_to(last, log.raw())
    for page in batches(rows):
        for document in replayer.documents(page):
            yield from document.digests.values()


def _bodies(source: SqlDecisionLog, cut: _Cut, upto: LogExtent) -> Iterator[tuple[str, bytes]]:
    for digest, body in source.bodies():
        if digest in upto.digests and digest not in cut.dropped:
            yield digest, reference(digest) if digest in cut.taken else body
    for place in (place for places in cut.rows.values() for place in places):
        yield place.digest, reference(place.digest)


def _rows(source: SqlDecisionLog, cut: _Cut, last: int) -> Iterator[RawRecord]:
    for raw in rows_up_to(last, source.stored_records()):
        places = {place.member: place.digest for place in cut.rows.get(raw.seq, ())}
        yield raw._replace(body=cut_members(raw.body, places)) if places else raw


def _find_remains(target: SqlDecisionLog, places: Iterable[_Place]) -> Iterator[str]:
    """Yield where the bytes of what was taken out still are."""
    removed = [place.whole for place in places]
    for digest, body in target.bodies():
        if any(one in body for one in removed):
            yield f"part {digest}"
    for raw in target.stored_records():
        if any(one in raw.body for one in removed):
            yield f"record {raw.seq}"


def _show_path(path: Path) -> str:
    return escape_text(str(path)[-200:])
