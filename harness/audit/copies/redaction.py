"""Copy a log without some values: each is replaced by its digest, and every hash stays.

Rule 1: records keep their numbers, hashes and links, so every checkpoint and proof holds for the
        copy. What was taken out is in none of its bytes.
Rule 2: a value is taken out where the log keeps it apart: alone if it is large, else with what is
        around it. A part that several records have is taken out of all of them.
Rule 3: a log that is not as it was recorded is not copied: the copy would look sound.
Rule 4: what is appended while it is copied is not in the copy: nobody looked for values there.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.audit.copies.copying import (
    LogExtent,
    batches,
    copy_journals,
    extent_of,
    fill_log,
    new_log,
    require_sound,
    rows_up_to,
)
from harness.audit.copies.held_parts import (
    HeldParts,
    parts_holding,
    parts_of_trace,
    records_holding,
    require_gone,
)
from harness.audit.copies.member_cuts import cut_members
from harness.audit.copies.value_search import SoughtValues, values_told
from harness.canonical import canonical_json
from harness.errors import UsageError, escape_text
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import INPUT_NAMES, RawRecord, Redacted, sha256
from harness.record.closed_words import SEALED, TEXT_MEMBER, close_record
from harness.record.integrity import StoredDocument
from harness.record.parts import part_document, pieces_of, reference, references
from harness.replay.engine import Replayer
from harness.whole_files import show_path
from harness.wire import InvalidInput, parse_finite_json

_WANTED: Final = re.compile(r"([1-9][0-9]{0,17}):((?:/[^/]*)+)")
_IN_RECORD: Final = SEALED


class ValueInRecord(NamedTuple):
    """A value to take out: the number of a record, and the members that lead to it.

    `run` and `asked` are in the record itself; `inputs` and a name lead into one of its inputs.
    """

    seq: int
    path: tuple[str, ...]

    def __str__(self) -> str:
        return escape_text(f"{self.seq}:/{'/'.join(self.path)}")


@dataclass(frozen=True)
class Wanted:
    """What is to be taken out of a log.

    Attributes:
        values: values that are named by their places.
        sought: values that are searched for: every part that holds one.
        trace: a trace, of which all goes that no other trace has.
    """

    values: Sequence[ValueInRecord] = ()
    sought: SoughtValues | None = None
    trace: str | None = None


@dataclass(frozen=True)
class Redaction:
    """The values that were taken out of a log.

    Attributes:
        digests: the digests of what was taken out, each with the value that was named by its place.
        parts: how many other parts went.
        in_records: how many of them are runs, texts or questions of records.
        kept: how many parts of what went stay, because other values have them too.
        left_out: how many open sessions are not in the copy, because they hold a value.
        found: where bytes of named values are still in the copy: digests of parts, or records.
        holding: how many records of the copy hold a value of what was named.
    """

    digests: Mapping[str, ValueInRecord]
    parts: int = 0
    in_records: int = 0
    kept: int = 0
    left_out: int = 0
    found: tuple[str, ...] = ()
    holding: int = 0

    def warnings(self) -> Iterator[str]:
        """Yield what a person may not expect, a line each."""
        if self.holding:
            records = "1 record" if self.holding == 1 else f"{self.holding} records"
            holds = "holds" if self.holding == 1 else "hold"
            yield (
                f"note: {records} of the copy still {holds} a value that was taken out: "
                "--containing VALUE takes it out wherever it stands"
            )

    def lines(self) -> Iterator[str]:
        """Yield what to tell a person, a line each."""
        for digest, value in self.digests.items():
            yield f"{value}: replaced by its digest {digest}"
        if self.parts:
            parts = "1 part" if self.parts == 1 else f"{self.parts} parts"
            yield f"{parts} replaced by a digest, {self.in_records} of them in records themselves"
        if self.left_out:
            what = "open sessions whose journals hold a value are left out, and cannot go on in NEW"
            yield f"note: {what}: {self.left_out}"
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
            f"taken out is in {', '.join(_IN_RECORD)}, or inputs/{', inputs/'.join(INPUT_NAMES)}"
        )
    return ValueInRecord(int(found[1]), path)


def redact_log(
    log: SqlDecisionLog, new: Path, wanted: Wanted, *, by: str, because: str, now: datetime
) -> Redaction:
    """Copy a log to the file `new` without some values. The log itself is not changed.

    The last record of the copy says what was taken, by whom and why.

    Raises:
        UsageError: `by` or `because` cannot be recorded; or `new` exists, no part holds a value, or
            what holds one cannot be taken out.
        LogError: the log cannot be read or is not as it was recorded, or `new` cannot be written.
    """
    for option, text in (("--by", by), ("--because", because)):
        if wanted.sought is not None and wanted.sought.hold(text):
            raise UsageError(f"{option}: it holds a value that is taken out, and stays in the copy")
    with new_log(new) as target:
        upto = extent_of(log)
        require_sound(log)
        places = [_place_of(log, value) for value in wanted.values]
        held = _held_parts(log, wanted, upto.head.seq)
        cut, kept = _cut_of(log, places, held, upto)
        bodies, records = _bodies(log, cut, upto), _rows(log, cut, upto.head.seq)
        fill_log(log, target, upto.head, bodies, records)
        if target.head() != upto.head:
            raise LogDamaged(f"{show_path(new)}: the copy has another head: try again")
        left_out = copy_journals(log, target, wanted.sought)
        named = {*held.digests, *(place.digest for place in places)}
        _note_redaction(target, Redacted(sorted(named), by, because, now))
        found = tuple(_find_remains(target, places))
        if wanted.sought is not None:
            require_gone(target, wanted.sought)
        told = [one for place in places for one in place.told]
        holding = records_holding(target, SoughtValues(told)) if told else 0
    taken = {place.digest: value for place, value in zip(places, wanted.values, strict=True)}
    count = len(held.digests - {*taken})
    in_records = sum(map(len, held.members.values()))
    return Redaction(taken, count, in_records, kept, left_out, found, holding)


def _note_redaction(target: SqlDecisionLog, redacted: Redacted) -> None:
    if not redacted.because.strip():
        raise UsageError("--because: say why it is taken out")
    try:
        redacted.snapshot  # noqa: B018 - an error of it is one of the command
    except InvalidInput as error:
        raise UsageError(f"--{error.path[1:]}: {error.message}") from None
    target.append_all((redacted,))


class _Place(NamedTuple):
    """Where a value is kept, what it told, and the row that has to name its digest now."""

    digest: str
    whole: bytes
    told: list[str]
    seq: int = 0
    member: str = ""


class _Cut(NamedTuple):
    """The stored bodies that a copy leaves out or replaces, and the members of records."""

    taken: frozenset[str]
    dropped: frozenset[str]
    rows: Mapping[int, Mapping[str, str]]


def _held_parts(log: SqlDecisionLog, wanted: Wanted, last: int) -> HeldParts:
    """Return the parts that hold a value, or that are of a trace.

    Raises:
        UsageError: there are none.
    """
    held = HeldParts()
    if wanted.sought is not None:
        held = parts_holding(log, wanted.sought, last)
        if not held:
            raise UsageError("no part of the log holds such a value: nothing was copied")
    return held if wanted.trace is None else held.join(parts_of_trace(log, wanted.trace, last))


def _cut_of(
    log: SqlDecisionLog, places: Sequence[_Place], held: HeldParts, upto: LogExtent
) -> tuple[_Cut, int]:
    """Return what a copy leaves out, and how many parts of it stay, because others name them."""
    rows = {seq: dict(members) for seq, members in held.members.items()}
    for place in places:
        if place.seq:
            rows.setdefault(place.seq, {})[place.member] = place.digest
    taken = {*held.bodies, *(place.digest for place in places if not place.seq)}
    dropped, kept = _parts_below(log, taken, rows, upto, places)
    return _Cut(frozenset(taken), dropped, rows), kept


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
    parts, texts = pieces_of([body], log.stored), values_told(_value_at(whole, inner, value))
    for end in range(len(inner), 0, -1):
        part = canonical_json(_value_at(whole, inner[:end], value))
        if sha256(part) in parts:
            return _Place(sha256(part), part, texts)
    if digest:
        return _Place(digest, canonical_json(whole), texts)
    return _Place(sha256(canonical_json(whole)), canonical_json(whole), texts, value.seq, member)


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
    taken: Set[str],
    rows: Mapping[int, Mapping[str, str]],
    upto: LogExtent,
    places: Iterable[_Place],
) -> tuple[frozenset[str], int]:
    """Return the bodies that nothing names any more, and how many parts others name too."""
    bodies = list(log.stored(taken).values())
    bodies += [next(log.stored_records(seq)).body for seq in rows]
    # What is stored whole here may be in parts elsewhere.
    apart = [digest for place in places for digest in part_document(place.whole).pieces]
    below = {*pieces_of(bodies, log.stored), *log.stored(apart), *taken}
    kept: set[str] = set()
    for raw in _rows(log, _Cut(frozenset(), frozenset(), rows), upto.head.seq):
        kept |= below.intersection(references(raw.body))
    for digest, body in log.bodies():
        if digest in upto.digests and digest not in below:
            kept |= below.intersection(references(body))
    kept |= below.intersection(_inputs_named(log, upto.head.seq))

    def read_stored(some: Iterable[str]) -> dict[str, bytes]:
        return log.stored(one for one in some if one not in taken)

    kept |= below.intersection(pieces_of(list(read_stored(kept).values()), read_stored))
    return frozenset(below - kept), len(kept - {*taken})


def _inputs_named(log: SqlDecisionLog, last: int) -> Iterator[str]:
    replayer, rows = Replayer(log, None, judge=False), rows_up_to(last, log.raw())
    for page in batches(rows):
        for document in replayer.documents(page):
            yield from document.digests.values()


def _bodies(source: SqlDecisionLog, cut: _Cut, upto: LogExtent) -> Iterator[tuple[str, bytes]]:
    for digest, body in source.bodies():
        if digest in upto.digests and digest not in cut.dropped:
            yield digest, reference(digest) if digest in cut.taken else body
    members = {digest for named in cut.rows.values() for digest in named.values()}
    for digest in sorted(members - upto.digests):
        yield digest, reference(digest)


def _rows(source: SqlDecisionLog, cut: _Cut, last: int) -> Iterator[RawRecord]:
    for raw in rows_up_to(last, source.stored_records()):
        digests = cut.rows.get(raw.seq)
        yield raw._replace(body=cut_members(raw.body, digests)) if digests else raw


def _find_remains(target: SqlDecisionLog, places: Iterable[_Place]) -> Iterator[str]:
    """Yield where the bytes of what was taken out still are."""
    removed = [place.whole for place in places]
    for digest, body in target.bodies():
        if any(one in body for one in removed):
            yield f"part {digest}"
    for raw in target.stored_records():
        if any(one in raw.body for one in removed):
            yield f"record {raw.seq}"
