"""Files cut short at every length, with and without the journal of a killed writer beside them."""

import os
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from harness.log.sql import SqlDecisionLog
from harness.log.sqlite.sqlite_store import SqliteStore
from harness.record import Head
from tests.assurance.crash.check import READY, Writer, connecting, existing, outcome
from tests.assurance.row import Row, all_held
from tests.harness.log.decisions import decision, filled

_PAGE: Final = 4096
_SAFE: Final = frozenset({"damaged", "no log", "incomplete"})
"""Answers that hide nothing. `same` is one only where nothing is missing."""


def cuts(folder: Path, *, quick: bool) -> Row:
    """Open every prefix of a log of two records in each of the three ways."""
    path, made = folder / "cut", folder / "made"
    head = filled(path, 2).head()
    content = path.read_bytes()
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    for length in sorted(_lengths(len(content), quick=quick), reverse=True):
        os.truncate(path, length)
        made.write_bytes(content[:length])
        said = [
            outcome(SqlDecisionLog.open_for_reading, path, head),
            outcome(existing, path, head),
            outcome(SqlDecisionLog.open, made, head),
        ]
        tally.update(said)
        whole = length == len(content)
        right = set(said) == {"same"} if whole else set(said) <= _SAFE
        if not right or path.stat().st_size != length or len(list(folder.iterdir())) > 2:
            wrong.append(f"{length} bytes: {', '.join(said)}")
    tried = sum(tally.values()) // 3
    return all_held("crash: log cut short", tried, "lengths", len(wrong), _note(tally, wrong))


def cuts_beside_a_journal(folder: Path, *, quick: bool) -> Row:
    """Open prefixes of a log in the middle of a transaction, each with the whole hot journal.

    A cut inside a page that the journal does not hold may come out as tampered: SQLite undoes the
    transaction, and so fills the file with zeros up to its old length, before the log can look.
    After that nothing tells the cut from bytes that somebody set to zero.
    """
    path = folder / "log"
    head, size = _interrupted(path)
    content, journal = path.read_bytes(), _journal(path).read_bytes()
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    lengths = _lengths(len(content), quick=quick, stride=127)
    for length in lengths:
        path.write_bytes(content[:length])
        _journal(path).write_bytes(journal)
        looked = outcome(SqlDecisionLog.open_for_reading, path, head)
        untouched = path.read_bytes() == content[:length]
        said = outcome(existing, path, head)
        tally[said] += 1
        if looked not in ("unavailable", "no log", "damaged") or not untouched:
            wrong.append(f"{length} bytes: looking says {looked}")
        elif said not in _SAFE | {"same"} and (said, length < size) != ("tampered", True):
            wrong.append(f"{length} bytes: {said}")
    layer = "crash: cut beside a hot journal"
    return all_held(layer, len(lengths), "lengths", len(wrong), _note(tally, wrong))


def cut_journals(folder: Path, *, quick: bool) -> Row:
    """Open the whole file with prefixes of its hot journal.

    SQLite syncs a journal before it writes the pages that it holds, so no kill and no loss of
    power leaves this behind; but somebody may copy half of it.
    """
    path = folder / "log"
    head, _ = _interrupted(path)
    content, journal = path.read_bytes(), _journal(path).read_bytes()
    tally: Counter[str] = Counter()
    wrong: list[str] = []
    lengths = _lengths(len(journal), quick=quick, stride=127)
    for length in lengths:
        path.write_bytes(content)
        _journal(path).write_bytes(journal[:length])
        said = outcome(existing, path, head)
        tally[said] += 1
        if said not in _SAFE | {"same"}:
            wrong.append(f"{length} bytes: {said}")
    layer = "crash: hot journal cut short"
    return all_held(layer, len(lengths), "lengths", len(wrong), _note(tally, wrong))


def _lengths(size: int, *, quick: bool, stride: int = 1) -> list[int]:
    """Return every length, or every `stride`th and all near page borders (quick: a sample)."""
    borders = range(0, size + 1, _PAGE * 4 if quick else _PAGE)
    reach = 1 if quick else 9
    near = {border + step for border in borders for step in range(-reach, reach + 1)}
    special = {0, 1, 15, 16, 99, 100, 101, size - 1, size}
    chance = random.Random(3)  # noqa: S311 - where to cut, not a secret
    others: Iterable[int] = range(0, size + 1, stride)
    if quick:
        others = chance.sample(range(size), 40)
    return sorted(length for length in near | special | set(others) if 0 <= length <= size)


def _interrupted(path: Path) -> tuple[Head, int]:
    """Return a log of six records and half of a killed append; the head and the size before it."""
    head = filled(path, 6).head()
    size = path.stat().st_size
    writer = Writer.start(_write_half, path)
    writer.said()
    if writer.process.exitcode != -signal.SIGKILL or not _journal(path).exists():
        raise RuntimeError("the writer left no journal")
    return head, size


def _write_half(path: Path, fd: int) -> None:
    """Write pages before the commit, and be killed instead of committing."""
    patched: Any = SqliteStore
    patched._connect = connecting(_without_cache)
    original: Any = sqlite3.connect
    python: Any = sqlite3
    log = SqlDecisionLog.open(path)
    python.connect = lambda *a, **k: original(*a, **k, factory=_Killing)
    os.write(fd, READY)
    log.append_all(decision(number) for number in range(7, 37))


def _without_cache(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA cache_size = 1")


class _Killing(sqlite3.Connection):
    def commit(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _note(tally: Counter[str], wrong: list[str]) -> str:
    told = ", ".join(f"{count} {word}" for word, count in tally.most_common())
    return told + (f"; first wrong: {wrong[0]}" if wrong else "")
