"""Sessions as files: one JSON Lines file each, only ever appended to.

Rule 1: a line is on disk before the loop goes on. A crash can tear the last line and no other, so a
        torn last line is dropped; damage anywhere else is an error that names the line.
Rule 2: a session without an end is incomplete: it is still running, or it crashed.
Rule 3: an id names a file only after it was found in the folder.
"""

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Self, get_args

import orjson

from evals.envelope import OPTIONAL, Count, Envelope
from evals.escaping import escape_name
from harness.codeloop.errors import CodeLoopError
from harness.codeloop.record import LINES, Iteration, SessionEnd, SessionOutcome, SessionStart
from harness.wire import InvalidInput, build, parse_json

_SUFFIX: Final = ".jsonl"
_ID: Final = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{4}")
_NAMED: Final = 5
# Diff and outputs are capped when they are recorded; escapes can make six characters of one.
_LONGEST_LINE: Final = 128 << 20


class DamagedSession(CodeLoopError):
    """A session file that does not hold what this program wrote."""


def sessions_folder() -> Path:
    """Where sessions are kept: in the user's data folder, out of reach of every diff."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "critic" / "sessions"


def new_id(moment: datetime) -> str:
    """An id of its own for a session; ids sort by time."""
    in_utc = moment.astimezone(UTC)
    millis = in_utc.microsecond // 1000
    return f"{in_utc:%Y%m%dT%H%M%S}.{millis:03}Z-{secrets.token_hex(2)}"


def session_file(folder: Path, session: str) -> Path:
    """The file of a session."""
    return folder / f"{session}{_SUFFIX}"


class SessionWriter:
    """One session being written. Every line is on disk when `write` returns."""

    def __init__(self, folder: Path, session: str) -> None:
        """Begin the file of a session.

        Raises:
            OSError: it cannot be made, or it is there already.
        """
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._file = os.open(session_file(folder, session), flags, 0o600)
        self._size = 0

    def write(self, line: Envelope) -> None:
        """Append one line.

        Raises:
            OSError: it cannot be written, or somebody else removed or changed the file.
        """
        data = orjson.dumps(line.wire()) + b"\n"
        while data:
            written = os.write(self._file, data)
            self._size, data = self._size + written, data[written:]
        os.fsync(self._file)
        found = os.fstat(self._file)
        if not found.st_nlink or found.st_size != self._size:
            raise OSError("the session file was removed or changed while the session was running")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


@dataclass(frozen=True, slots=True)
class Session:
    """A session as read back. `end` is None while it runs, and for ever if it crashed."""

    start: SessionStart
    iterations: tuple[Iteration, ...]
    end: SessionEnd | None

    @property
    def state(self) -> str:
        """The outcome, or `incomplete`."""
        return self.end.outcome if self.end else "incomplete"


def identifiers(folder: Path) -> list[str]:
    """The ids of all sessions in the folder, newest first."""
    try:
        names = [path.name.removesuffix(_SUFFIX) for path in folder.iterdir() if _is_ours(path)]
    except FileNotFoundError:
        return []
    return sorted(names, reverse=True)


def _is_ours(path: Path) -> bool:
    named = path.suffix == _SUFFIX and _ID.fullmatch(path.stem)
    return bool(named) and path.is_file()


def find(folder: Path, prefix: str) -> str:
    """The one id that begins so.

    Raises:
        CodeLoopError: none does, or several do.
    """
    known = identifiers(folder)
    matching = [name for name in known if prefix and name.startswith(prefix)]
    if len(matching) == 1:
        return matching[0]
    named = ", ".join((matching or known)[:_NAMED])
    if matching:
        raise CodeLoopError(f"{escape_name(prefix)} is not unique: it begins {named}")
    there = f"the newest are {named}" if known else f"there is none in {escape_name(str(folder))}"
    raise CodeLoopError(f"there is no session {escape_name(prefix)}: {there}")


def load(folder: Path, session: str) -> Session:
    """The session of an id that `identifiers` or `find` gave.

    Raises:
        DamagedSession: a line other than a torn last one is not what was written.
    """
    data = session_file(folder, session).read_bytes()
    *whole, _torn = data.split(b"\n")
    lines = [_line(session, number, line) for number, line in enumerate(whole, start=1)]
    return _assembled(session, lines)


def _line(session: str, number: int, data: bytes) -> SessionStart | Iteration | SessionEnd:
    try:
        value: Any = parse_json(data, _LONGEST_LINE)
        kind = value.get("type") if isinstance(value, dict) else None
        model = LINES.get(kind) if isinstance(kind, str) else None
        if model is None:
            raise InvalidInput("/type", f"is none of {', '.join(LINES)}")
        return build(model, value)
    except InvalidInput as error:
        raise DamagedSession(f"session {session} is damaged: line {number}: {error}") from None


def _assembled(session: str, lines: list[SessionStart | Iteration | SessionEnd]) -> Session:
    def damaged(number: int, why: str) -> DamagedSession:
        return DamagedSession(f"session {session} is damaged: line {number}: {why}")

    if not lines or not isinstance(lines[0], SessionStart):
        raise damaged(1, "a session begins with its session_start")
    if lines[0].session != session:
        raise damaged(1, "it is of another session")
    iterations: list[Iteration] = []
    end: SessionEnd | None = None
    for number, line in enumerate(lines[1:], start=2):
        if end is not None:
            raise damaged(number, "there is a line after the session_end")
        if isinstance(line, SessionStart):
            raise damaged(number, "a session begins once")
        if isinstance(line, SessionEnd):
            end = line
        elif fault := _fault(line, len(iterations) + 1):
            raise damaged(number, fault)
        else:
            iterations.append(line)
    if end is not None and end.iterations != len(iterations):
        raise damaged(len(lines), "the session_end counts other iterations than there are")
    return Session(lines[0], tuple(iterations), end)


def _fault(line: Iteration, due: int) -> str | None:
    if line.number != due:
        return f"iteration {line.number} is not the next one"
    if line.diff is not None and not line.diff.is_whole():
        return "the diff is not what its SHA-256 says"
    return None


class Stats(Envelope):
    """Many sessions in numbers. The averages and the rate are over those that ended."""

    sessions: Count
    incomplete: Count
    outcomes: dict[SessionOutcome, Count]
    success_rate: Annotated[float | None, OPTIONAL] = None
    avg_iterations: Annotated[float | None, OPTIONAL] = None
    avg_duration: Annotated[float | None, OPTIONAL] = None
    """In seconds."""


def statistics(ends: Iterable[SessionEnd | None]) -> Stats:
    """The numbers of the sessions that have these ends; None is one without."""
    everything = list(ends)
    ended = [end for end in everything if end is not None]
    outcomes = {
        name: sum(end.outcome == name for end in ended) for name in get_args(SessionOutcome)
    }
    counts = {"sessions": len(everything), "incomplete": len(everything) - len(ended)}
    if not ended:
        return Stats(**counts, outcomes=outcomes)
    return Stats(
        **counts,
        outcomes=outcomes,
        success_rate=outcomes["success"] / len(ended),
        avg_iterations=sum(end.iterations for end in ended) / len(ended),
        avg_duration=sum(end.duration_ms for end in ended) / 1000 / len(ended),
    )


def load_all(folder: Path) -> Iterator[tuple[str, Session | DamagedSession]]:
    """Every session, newest first; in place of a damaged one, what is wrong with it."""
    for session in identifiers(folder):
        try:
            yield session, load(folder, session)
        except DamagedSession as error:
            yield session, error
