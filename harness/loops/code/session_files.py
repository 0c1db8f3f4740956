"""Session files: one JSON Lines file for each session, only ever appended to.

Rule 1: a line is on disk before the loop goes on. So a crash can tear only the last line. A torn
        last line is dropped; damage anywhere else is an error that names the line.
Rule 2: a session without an end is incomplete: it is still running, or it crashed.
Rule 3: an id becomes a file name only after it was found in the folder.
"""

import os
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final, Self, get_args

import orjson

from evals.envelope import OPTIONAL, Count, Envelope
from harness.errors import escape_text
from harness.loops.code.code_errors import CodeLoopError
from harness.loops.code.session_lines import (
    LINES,
    Iteration,
    SessionEnd,
    SessionLine,
    SessionOutcome,
    SessionResumed,
    SessionStart,
)
from harness.whole_files import LineFile
from harness.wire import InvalidInput, build, parse_json

_SUFFIX: Final = ".jsonl"
_ID: Final = re.compile(r"[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{4}")
_LISTED_IDS: Final = 5
# Diff and outputs are capped when they are recorded; escapes can make six characters of one.
_LONGEST_LINE: Final = 128 << 20


class DamagedSession(CodeLoopError):
    """A session file that cannot be read, or does not hold what this program wrote."""


class SessionRunning(CodeLoopError):
    """The session is running in another process."""


def data_folder() -> Path:
    """Return the folder of this program's data: the user's, so that no diff reaches it."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "critic"


def sessions_folder() -> Path:
    """Return the folder where sessions are recorded unless another one is named."""
    return data_folder() / "sessions"


def new_id(moment: datetime) -> str:
    """Return a new id for a session. Ids sort by time."""
    in_utc = moment.astimezone(UTC)
    millis = in_utc.microsecond // 1000
    return f"{in_utc:%Y%m%dT%H%M%S}.{millis:03}Z-{secrets.token_hex(2)}"


def session_file(folder: Path, session: str) -> Path:
    """Return the path of a session's file."""
    return folder / f"{session}{_SUFFIX}"


class SessionWriter:
    """Appends lines to a session file. When `write` returns, the line is on disk.

    The file is locked while it is written, so that no second process goes on with the session.
    """

    def __init__(self, folder: Path, session: str, *, resume: bool = False) -> None:
        """Create the file of a session, or open it again to `resume` the session.

        Raises:
            SessionRunning: another process is writing it.
            OSError: it cannot be created (it may exist already), or it cannot be opened.
        """
        if not resume:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            self._file = LineFile(session_file(folder, session), exists=resume)
        except BlockingIOError:
            raise SessionRunning(f"session {session} is running: wait until it ends") from None
        try:
            self._file.cut_torn()
        except BaseException:
            self._file.close()
            raise

    def write(self, line: Envelope) -> None:
        """Append one line.

        Raises:
            OSError: it cannot be written, or another process removed or changed the file.
        """
        try:
            self._file.append(orjson.dumps(line.wire()))
        except OSError as error:
            if error.errno is None:  # not of the system, which names nothing else either
                raise OSError(f"the session file: {error}") from None
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, and remove it if no line was written."""
        if self._file.is_empty():
            self._file.path.unlink(missing_ok=True)
        self._file.close()


@dataclass(frozen=True, slots=True)
class RecordedSession:
    """A session as read back.

    Attributes:
        start: the first line.
        iterations: all iterations, those after a resumption too.
        end: the last line; None while the session runs, and if it crashed.
        max_iterations: the limit, as it was set last.
    """

    start: SessionStart
    iterations: tuple[Iteration, ...]
    end: SessionEnd | None
    max_iterations: int

    @property
    def state(self) -> str:
        """Return the outcome, or `incomplete`."""
        return self.end.outcome if self.end else "incomplete"


def identifiers(folder: Path) -> list[str]:
    """Return the ids of all sessions in the folder, newest first."""
    try:
        names = [path.name.removesuffix(_SUFFIX) for path in folder.iterdir() if _is_session(path)]
    except FileNotFoundError:
        return []
    return sorted(names, reverse=True)


def _is_session(path: Path) -> bool:
    return path.suffix == _SUFFIX and bool(_ID.fullmatch(path.stem)) and path.is_file()


def find(folder: Path, prefix: str) -> str:
    """Return the one id that begins with `prefix`.

    Raises:
        CodeLoopError: no id begins with it, or several do.
    """
    ids = identifiers(folder)
    matching = [name for name in ids if prefix and name.startswith(prefix)]
    if len(matching) == 1:
        return matching[0]
    listed = ", ".join((matching or ids)[:_LISTED_IDS])
    if matching:
        raise CodeLoopError(f"{escape_text(prefix)} is not unique: it begins {listed}")
    hint = f"the newest are {listed}" if ids else f"{escape_text(str(folder))} has none"
    raise CodeLoopError(f"no such session: {escape_text(prefix)}: {hint}")


def load(folder: Path, session: str) -> RecordedSession:
    """Read the session of an id that `identifiers` or `find` returned.

    Raises:
        DamagedSession: the file cannot be read, or a line other than a torn last one is damaged.
    """
    try:
        data = session_file(folder, session).read_bytes()
    except OSError as error:
        reason = escape_text(error.strerror or str(error))
        raise DamagedSession(f"session {session} cannot be read: {reason}") from None
    *whole, _torn = data.split(b"\n")
    lines = [_read_line(session, number, line) for number, line in enumerate(whole, start=1)]
    return _assemble_session(session, lines)


def _read_line(session: str, number: int, data: bytes) -> SessionLine:
    try:
        value: Any = parse_json(data, _LONGEST_LINE)
        kind = value.get("type") if isinstance(value, dict) else None
        model = LINES.get(kind) if isinstance(kind, str) else None
        if model is None:
            raise InvalidInput("/type", f"must be one of {', '.join(LINES)}")
        return build(model, value)
    except InvalidInput as error:
        raise DamagedSession(f"session {session} is damaged: line {number}: {error}") from None


def _assemble_session(session: str, lines: list[SessionLine]) -> RecordedSession:
    def damage_at(number: int, reason: str) -> DamagedSession:
        return DamagedSession(f"session {session} is damaged: line {number}: {reason}")

    if not lines or not isinstance(lines[0], SessionStart):
        raise damage_at(1, "a session begins with its session_start")
    if lines[0].session != session:
        raise damage_at(1, "it belongs to another session")
    read = RecordedSession(lines[0], (), None, lines[0].max_iterations)
    for number, line in enumerate(lines[1:], start=2):
        if problem := _problem(line, read):
            raise damage_at(number, problem)
        read = _extend_session(read, line)
    return read


def _problem(line: SessionLine, before: RecordedSession) -> str | None:
    """Return why a line cannot follow what was read before it, or None."""
    match line:
        case SessionStart():
            return "a session begins once"
        case Iteration() | SessionEnd() if before.end is not None:
            return "there is a line after the session_end"
        case SessionEnd() if line.iterations != len(before.iterations):
            return "the session_end counts other iterations than there are"
        case Iteration() if line.number != len(before.iterations) + 1:
            return f"iteration {line.number} is not the next one"
        case Iteration() if line.diff is not None and not line.diff.is_whole():
            return "the diff does not match its SHA-256"
        case _:
            return None


def _extend_session(session: RecordedSession, line: SessionLine) -> RecordedSession:
    match line:
        case Iteration():
            return replace(session, iterations=(*session.iterations, line))
        case SessionEnd():
            return replace(session, end=line)
        case SessionResumed():
            return replace(session, end=None, max_iterations=line.max_iterations)
        case _:
            return session


class Stats(Envelope):
    """Many sessions in numbers. The averages and the rate count only sessions that ended."""

    sessions: Count
    incomplete: Count
    outcomes: dict[SessionOutcome, Count]
    success_rate: Annotated[float | None, OPTIONAL] = None
    avg_iterations: Annotated[float | None, OPTIONAL] = None
    avg_duration: Annotated[float | None, OPTIONAL] = None
    """In seconds."""


def statistics(ends: Iterable[SessionEnd | None]) -> Stats:
    """Return the numbers of the sessions with these ends; None is a session without an end."""
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


def load_all(folder: Path) -> Iterator[tuple[str, RecordedSession | DamagedSession]]:
    """Yield every session, newest first; for one that cannot be read, the error."""
    for session in identifiers(folder):
        try:
            yield session, load(folder, session)
        except DamagedSession as error:
            yield session, error
