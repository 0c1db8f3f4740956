"""Flipped bits: of a record, of an input, and anywhere in the file. Noticed, and never a crash."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from harness.log.log_errors import LogError
from harness.log.sql import SqlDecisionLog
from harness.record import Head, RawRecord
from harness.record.integrity import read_text_of
from harness.record.parts import pieces_of, reference
from harness.replay.engine import replay
from tests.assurance.crash.check import worst
from tests.assurance.row import Row, all_held
from tests.harness.log.decisions import decision, filled

_ALTERED = 2  # the number of the record that is altered, of three


class _Kept:
    """A log held in memory, of which one record or one input can be another."""

    def __init__(self, rows: list[RawRecord], bodies: Mapping[str, bytes]) -> None:
        self._rows, self._bodies = rows, dict(bodies)

    def raw(self) -> Iterator[RawRecord]:
        return iter(self._rows)

    def inputs(self, digests: Iterable[str]) -> dict[str, bytes]:
        return {one: self._bodies[one] for one in digests if one in self._bodies}

    def with_body(self, body: bytes) -> "_Kept":
        """Return the same log with other bytes as the body of the record."""
        place = _ALTERED - 1
        row = self._rows[place]._replace(body=body)
        return _Kept([*self._rows[:place], row, *self._rows[place + 1 :]], self._bodies)

    def with_input(self, digest: str, body: bytes) -> "_Kept":
        """Return the same log with other bytes under that digest."""
        return _Kept(self._rows, {**self._bodies, digest: body})


def flips(folder: Path, *, quick: bool) -> Row:
    """Flip one bit of each byte (quick: of every 20th) of a record, its inputs and their parts."""
    log = filled(folder / "log", 3, kinds=("completed",))
    rows = list(log.raw())
    named = set(read_text_of(rows[_ALTERED - 1]).digests.values())
    kept = _Kept(rows, dict(log.bodies()))
    names = pieces_of(map(reference, named), log.stored)
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    if (untouched := worst(kept)) != "same":
        wrong.append(f"untouched: {untouched}")
    altered = [("record", body, kept.with_body(body)) for body in _flipped(rows[1].body, quick)]
    for digest, stored in names.items():
        bodies = _flipped(stored, quick)
        altered += [(digest, body, kept.with_input(digest, body)) for body in bodies]
    for name, body, one in altered:
        said = _said(one)
        tally[said] += 1
        if said not in ("tampered", "incomplete"):
            wrong.append(f"{name} as {body[:40]!r}...: {said}")
    return all_held("crash: flipped bits", len(altered), "flips", len(wrong), _note(tally, wrong))


def flips_of_the_file(folder: Path, *, quick: bool) -> Row:
    """Flip one bit of every byte of the file (quick: a sample): refused, noticed or no effect.

    In the bytes that locate a record and its number, every bit. Without effect are bytes
    that SQLite does not use; then all rows must be as they were.
    """
    whole, path = folder / "whole", folder / "log"
    log = filled(whole, 1)
    log.append(decision(2, kind="refused"))
    before, content = _rows(log), whole.read_bytes()
    chance = random.Random(5)  # noqa: S311 - where to flip, not a secret
    places = chance.sample(range(len(content)), 60) if quick else list(range(len(content)))
    flipped = [(place, place % 8) for place in places]
    flipped += [(place, bit) for place in _heads(content, log.head()) for bit in range(8)]
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    for place, bit in flipped:
        path.write_bytes(_flip(content, place, bit))
        said = _opened(path, log.head(), before)
        tally[said] += 1
        if said.startswith(("crash", "endless", "same,")):
            wrong.append(f"byte {place}, bit {bit}: {said}")
    layer = "crash: flipped bits of the file"
    return all_held(layer, len(flipped), "flips", len(wrong), _note(tally, wrong))


def _heads(content: bytes, head: Head) -> Iterator[int]:
    """Yield the places of the bytes before the last hash: number and lengths in SQLite's format."""
    found = content.find(head.hash.encode())
    while found >= 0:
        yield from range(found - 12, found)
        found = content.find(head.hash.encode(), found + 1)


def _opened(path: Path, head: Head, before: list[object]) -> str:
    try:
        with SqlDecisionLog.open_for_reading(path) as log:
            said = worst(log, head)
            if said == "same" and _rows(log) != before:
                return "same, though the rows are others"
            return said
    except LogError as error:
        return type(error).__name__
    except Exception as error:
        return f"crash {type(error).__name__}"


def _said(log: _Kept) -> str:
    try:
        answers = {one.seq: one.status for one in replay(log)}
    except Exception as error:
        return f"crash {type(error).__name__}"
    # An input may belong to several records: the altered one is what counts.
    return answers.get(_ALTERED, "nothing")


def _flipped(body: bytes, quick: bool) -> list[bytes]:
    return [_flip(body, place, place % 8) for place in range(0, len(body), 20 if quick else 1)]


def _flip(content: bytes, place: int, bit: int) -> bytes:
    flipped = bytearray(content)
    flipped[place] ^= 1 << bit
    return bytes(flipped)


def _rows(log: SqlDecisionLog) -> list[object]:
    rows = list(log.raw())
    return [*rows, *log.bodies(), *log.all_claims()]


def _note(tally: Counter[str], wrong: list[str]) -> str:
    told = ", ".join(f"{count} {word}" for word, count in tally.most_common())
    return told + (f"; first wrong: {wrong[0]}" if wrong else "")
