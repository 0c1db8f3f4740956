"""A guarded session whose process is killed at a chosen write, and gone on with elsewhere.

An agent asks, is answered, acts and tells, over a log. Its process is killed before or after one
statement of the database, or one effect of a tool. Another process, or two at once, go on with the
session by its id alone, and with what the tools did. Held against:

- no effect happens twice, and none that is not on record as begun before it;
- no event that was answered is lost: a question is found and not asked again, and a result is told
  once;
- replay says same of every record, and nobody who goes on meets an error;
- half of the kills are between what began and its result, each write of the protocol has its
  share, and one process or two go on after kills of each kind.
"""

import json
import os
import random
import signal
import sqlite3
from collections import Counter
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any, Final, NamedTuple

from harness.guard import Guard, Ruling
from harness.guard.session_events import event_of
from harness.log.sql import SqlDecisionLog
from harness.record import BegunRecord, DecisionRecord
from harness.replay import replay
from harness.single_use import PermitError
from tests.assurance.crash.check import Writer, patched, row_of
from tests.assurance.row import Row
from tests.support.guarding import Json, asking_desk, policy_of

_SESSION: Final = "s"
_CALLS: Final[tuple[tuple[str, Json], ...]] = (
    ("list_mail", {}),
    ("shred", {"name": "old.pdf"}),
    ("make_note", {"title": "done"}),
    ("shred", {"name": "older.pdf"}),
)
"""What the agent does, each in a turn of its own. A person is asked about what is shredded."""
_ASKED: Final = sum(tool == "shred" for tool, _ in _CALLS)
_BETWEEN: Final = "between begun and result"
_LEAST, _LEAST_QUICK = 20, 1
"""How often the process is killed at each write of the protocol, at least."""
_MOST_ROUNDS: Final = 60


class _Point(NamedTuple):
    """A moment of the first process: before or after a write, and where in the protocol."""

    number: int
    phase: str
    write: str

    @property
    def is_between(self) -> bool:
        """Whether a call began and its result is not on record."""
        return self.phase == _BETWEEN

    @property
    def kind(self) -> str:
        """The write of the protocol that it is at."""
        return f"{self.phase}: {self.write}"


class _Counter:
    """Counts the writes of this process, and kills it at one of them."""

    def __init__(self, kill_at: int, note: Callable[[_Point], None]) -> None:
        self._left, self._note = kill_at, note
        self._number = 0
        self.phase = "open"

    def step(self, write: str, real: Callable[..., Any], *given: Any) -> Any:
        """Write something between two moments at which the process may be killed."""
        self._pass(write)
        done = real(*given)
        self._pass(write)
        return done

    def _pass(self, write: str) -> None:
        self._note(_Point(self._number, self.phase, write))
        if self._number == self._left:
            os.kill(os.getpid(), signal.SIGKILL)
        self._number += 1

    def connect(self, *args: Any, **options: Any) -> sqlite3.Connection:
        """Connect in place of `sqlite3.connect`."""
        counter = self

        class Connection(sqlite3.Connection):
            def execute(self, *given: Any) -> Any:
                write = _write_of(given[0])
                if not write:
                    return super().execute(*given)
                return counter.step(write, super().execute, *given)

            def executemany(self, *given: Any) -> Any:
                if not given[1]:
                    return super().executemany(*given)
                return counter.step(_write_of(given[0]), super().executemany, *given)

            def commit(self) -> None:
                counter.step("COMMIT", super().commit)

        made: sqlite3.Connection = _CONNECT(*args, **options, factory=Connection)
        return made


_CONNECT: Final[Any] = sqlite3.connect


def _write_of(statement: str) -> str:
    """Return what a statement writes; nothing for one that only reads, or makes the log."""
    words = statement.split()
    if words[0] in ("INSERT", "DELETE"):
        return " ".join(words[:3])
    return "BEGIN" if words[:2] == ["BEGIN", "IMMEDIATE"] else ""


class _Agent:
    """Does its calls through a guard. It knows what its tools did, and nothing else of before."""

    def __init__(self, guard: Guard, effects: Path, counter: _Counter | None = None) -> None:
        self._guard, self._effects, self._counter = guard, effects, counter

    def go_on(self) -> None:
        """Go on with the session, wherever it stands, until it is closed."""
        self._tell("open", request="Shred old.pdf and older.pdf, and note it", scope=["make_note"])
        for _ in range(_MOST_ROUNDS):
            status = self._guard.status(_SESSION)
            if status is None:
                return
            for name in sorted(status.awaited):
                self._end(name)
            if status.question is not None:
                digest = status.question.plan_digest
                said = self._tell("answer", plan_digest=digest, yes=True, approver="ada")
                self._act(said, status.turn)
            elif not status.awaited and status.turn < len(_CALLS):
                self._ask(status.turn)
            elif not status.awaited:
                self._tell("close")

    def _ask(self, turn: int) -> None:
        tool, args = _CALLS[turn]
        call = {"id": f"c{turn}", "tool": tool, "args": args}
        self._act(self._tell("calls", calls=[call]), turn + 1)

    def _act(self, ruling: Any, turn: int) -> None:
        """Make the call of a ruling that allows, and tell how it ended.

        If it is of a later turn than was looked at, another process did what this one was about to
        do: nothing is done twice. So it is where two asked at once, and there are more turns than
        calls to make.
        """
        if not isinstance(ruling, Ruling) or not ruling or ruling.turn != turn:
            return
        if turn > len(_CALLS):
            return
        turn -= 1
        tool, args = _CALLS[turn]
        self._in_phase(_BETWEEN)
        try:
            self._guard.permit(_SESSION, f"c{turn}").redeem(tool, args)
        except PermitError:  # another process had the answer before
            return
        self._do(self._have_effect, f"c{turn}")
        self._tell("result", id=f"c{turn}", status="completed", output="ok")

    def _end(self, name: str) -> None:
        """Tell how a call ended that another process was allowed."""
        happened = name in _effects_in(self._effects)
        told = {"status": "completed", "output": "ok"} if happened else {"status": "unknown"}
        self._tell("result", id=name, **told)

    def _have_effect(self, name: str) -> None:
        with self._effects.open("a") as file:
            file.write(f"{name}\n")

    def _tell(self, kind: str, **members: Any) -> Any:
        if kind != "result":  # that one ends what began
            self._in_phase(kind)
        return self._guard.handle(event_of({"event": kind, "session": _SESSION, **members}))

    def _in_phase(self, phase: str) -> None:
        if self._counter is not None:
            self._counter.phase = phase

    def _do(self, work: Callable[..., Any], *given: Any) -> None:
        if self._counter is None:
            work(*given)
        else:
            self._counter.step("effect of a tool", work, *given)


def killed_sessions(folder: Path, *, quick: bool) -> Row:
    """Kill agents at chosen writes, and go on with their sessions in one process or two."""
    points, least = _points(folder / "whole"), _LEAST_QUICK if quick else _LEAST
    chosen = _chosen(points, least)
    problems = [
        _one(folder / f"kill{at}", point, rivals) for at, (point, rivals) in enumerate(chosen)
    ]
    problems[0] = problems[0] or _missing_share(points, chosen, least)
    met = Counter(point.phase for point, _ in chosen)
    places = len({point.number for point, _ in chosen})
    pairs = sum(rivals == 2 for _, rivals in chosen)
    phases = ", ".join(f"{count} {phase}" for phase, count in met.items())
    kinds = len({point.kind for point in points})
    note = f"{phases}; {places} places, {kinds} writes, {pairs} gone on with by two processes"
    return row_of("crash: killed sessions", "kills", problems, note)


def _points(folder: Path) -> list[_Point]:
    """Return every moment at which a process may be killed, from one that is not."""
    folder.mkdir()
    found: list[_Point] = []
    _run_first(folder, -1, found.append)
    return found


_Chosen = list[tuple[_Point, int]]
"""Moments of kills, each with the number of processes that go on after it."""


def _chosen(points: list[_Point], least: int) -> _Chosen:
    """Return moments at which to kill: as many between what began and its result as elsewhere.

    Each write is met at least so often, at all its moments in turn, with one process or two that
    go on.
    """
    chance = random.Random(7)  # noqa: S311 - chance, not a secret
    kinds: dict[str, list[_Point]] = {}
    for point in chance.sample(points, len(points)):
        kinds.setdefault(point.kind, []).append(point)
    between = [kind for kind in kinds.values() if kind[0].is_between]
    others = [kind for kind in kinds.values() if not kind[0].is_between]
    most = max(len(between), len(others)) * least
    chosen: _Chosen = []
    for some in (between, others):
        turns = [(at, *one) for at in range(ceil(most / len(some))) for one in enumerate(some)]
        chosen += [
            (kind[at % len(kind)], 1 + (place + at // len(kind)) % 2)
            for at, place, kind in turns[:most]
        ]
    chance.shuffle(chosen)
    return chosen


def _missing_share(points: list[_Point], chosen: _Chosen, least: int) -> str:
    """Return which moments were met too seldom, or nothing."""
    met = Counter(point.kind for point, _ in chosen)
    if seldom := sorted(kind for point in points if met[kind := point.kind] < least):
        return f"killed fewer than {least} times at {seldom[0]}"
    if 2 * sum(point.is_between for point, _ in chosen) < len(chosen):
        return "fewer than half of the kills are between what began and its result"
    phases = {point.phase for point, _ in chosen}
    if missing := {"open", "calls", "answer", "close", _BETWEEN} - phases:
        return f"no kill in the phase {sorted(missing)[0]}"
    return ""


def _one(folder: Path, point: _Point, rivals: int) -> str:
    """Return what is wrong after a kill at one moment, or nothing."""
    folder.mkdir()
    first = Writer.start(_run_and_tell, folder, point.number)
    first.said()
    writers = [Writer.start(_go_on, folder) for _ in range(rivals)]
    for writer in writers:
        writer.said()
    wrong = _wrong_in(folder, alone=rivals == 1)
    if first.process.exitcode != -signal.SIGKILL:
        wrong = "the first process was not killed"
    if any(writer.process.exitcode for writer in writers):
        wrong = "a process that went on met an error"
    return f"kill at {point.number} ({point.kind}), {rivals} went on: {wrong}" if wrong else ""


def _run_and_tell(folder: Path, kill_at: int, _pipe: int) -> None:
    _run_first(folder, kill_at, lambda _point: None)


def _run_first(folder: Path, kill_at: int, note: Callable[[_Point], None]) -> None:
    counter = _Counter(kill_at, note)
    with patched(sqlite3, "connect", counter.connect), SqlDecisionLog.open(_log(folder)) as log:
        guard = Guard(policy_of(asking_desk()), log=log)
        _Agent(guard, folder / "effects", counter).go_on()


def _go_on(folder: Path, _pipe: int) -> None:
    with SqlDecisionLog.open(_log(folder)) as log:
        _Agent(Guard(policy_of(asking_desk()), log=log), folder / "effects").go_on()


def _wrong_in(folder: Path, *, alone: bool) -> str:
    """Return what is wrong of what happened: by the tools, and by the log."""
    effects = _effects_in(folder / "effects")
    with SqlDecisionLog.open_for_reading(_log(folder)) as log:
        answers = [answer.status for answer in replay(log)]
        left = [*log.journaled_sessions()]
        entries = [*log.entries()]
    begun = sum(isinstance(entry, BegunRecord) for entry in entries)
    asked = sum(isinstance(entry, DecisionRecord) and entry.action == "ask" for entry in entries)
    if twice := [name for name, count in Counter(effects).items() if count > 1]:
        return f"{twice} ran twice"
    if begun < len(effects):
        return f"{len(effects)} effects and {begun} beginnings on record"
    if bad := [status for status in answers if status != "same"]:
        return f"replay says {json.dumps(bad)}"
    if left:
        return "the session is still open"
    if alone and asked != _ASKED:
        return f"{asked} questions were asked"
    # Of two, one may tell of a call that the other was about to make: then it is not made.
    return "" if len(effects) >= len(_CALLS) - 1 or not alone else f"only {effects} ran"


def _effects_in(path: Path) -> list[str]:
    return path.read_text().split() if path.exists() else []


def _log(folder: Path) -> Path:
    return folder / "log.db"
