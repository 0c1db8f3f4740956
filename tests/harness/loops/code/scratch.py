"""Git repositories to work in, and agents that are small Python scripts."""

import atexit
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.loops.code.code_events import CodeLoopEvent, ProgressListener
from harness.loops.code.session_files import RecordedSession, load
from harness.loops.code.session_lines import GateRules, SessionEnd
from harness.loops.code.session_opening import open_session
from harness.loops.code.session_recorder import CodeLoopJob

SESSION = "20260509T093500.000Z-c0de"
DONE = "DECISION: DONE\nSUMMARY: all is there\nCONFIDENCE: 0.9\n"
MORE = "DECISION: CONTINUE\nFEEDBACK: go on\n"
_PERSON = {
    f"GIT_{role}_{part}": "test@example.org"
    for role in ("AUTHOR", "COMMITTER")
    for part in ("NAME", "EMAIL")
}


def git(folder: Path, *args: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *args],
        cwd=folder,
        check=True,
        input=stdin.encode(),
        capture_output=True,
        env={**os.environ, **_PERSON, "GIT_CONFIG_GLOBAL": os.devnull},
    )
    return done.stdout.decode()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def repository(folder: Path, files: dict[str, str] | None = None) -> Path:
    """Return a repository with one commit of these files.

    It is a copy, as most tests begin with the same files; what is in the folder is kept, and is a
    part of the commit.
    """
    content = {"a.txt": "a\n"} if files is None else files
    if folder.exists() and any(folder.iterdir()):
        write(folder, content)
        return _committed(folder)
    shutil.copytree(_pattern(tuple(content.items())), folder, dirs_exist_ok=True)
    git(folder, "update-index", "-q", "--refresh")  # by the times and numbers of the copies
    return folder


@cache
def _pattern(files: tuple[tuple[str, str], ...]) -> Path:
    """Return a repository with one commit of these files, to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="critic-pattern-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write(folder, dict(files))
    return _committed(folder)


def _committed(folder: Path) -> Path:
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def python(code: str) -> tuple[str, ...]:
    """Return the words that run a piece of Python; its prompt is `sys.stdin.read()`."""
    return (sys.executable, "-S", "-c", f"import os, pathlib, subprocess, sys\n{code}")


def says(*replies: str) -> tuple[str, ...]:
    """Return an agent that gives these replies one after the other, then repeats the last.

    What it was asked is kept beside the counter, above the working directory.
    """
    return python(
        f"replies = {list(replies)!r}\n"
        "count = pathlib.Path('../asked'); count.mkdir(exist_ok=True)\n"
        "number = len(list(count.iterdir()))\n"
        "(count / str(number)).write_text(sys.stdin.read())\n"
        "print(replies[min(number, len(replies) - 1)], end='')\n"
    )


def asked(folder: Path) -> list[str]:
    """Return the prompts that the agent of `says` received so far."""
    places = sorted((folder.parent / "asked").iterdir(), key=lambda place: int(place.name))
    return [place.read_text() for place in places]


WRITES = python(
    "name = pathlib.Path('made.txt')\n"
    "name.write_text(name.read_text() + 'x' if name.exists() else 'x')\n"
    "print('made it')\n"
)
"""An actor that writes one more character at every run."""


def line(words: Sequence[str]) -> str:
    return shlex.join(words)


class Collector:
    """A listener that keeps all events, and their gist as text."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def on_event(self, event: CodeLoopEvent) -> None:
        self.events.append(event)

    def kinds(self) -> list[str]:
        """Return the kinds of the events; agents with their role, and without their output."""
        return [
            f"{event.role}_{event.kind.removeprefix('agent_')}"
            if event.kind.startswith("agent_")
            else event.kind
            for event in self.events
            if event.kind != "agent_output"
        ]


@dataclass(frozen=True)
class Ended:
    """The end of a session, its record, and what its listener received."""

    end: SessionEnd
    session: RecordedSession
    listener: Collector


async def run_loop(
    folder: Path,
    *,
    actor: Sequence[str] = WRITES,
    critic: Sequence[str],
    max_iterations: int = 3,
    timeout: float = 20,
    retries: int = 0,
    time_limit: float | None = None,
    listener: ProgressListener | None = None,
    accept_unreviewed: bool = False,
    **gate: Any,
) -> Ended:
    """Run one session in a repository; its record and its base are above it."""
    job = CodeLoopJob(
        task="make it so",
        folder=folder,
        actor=tuple(actor),
        critic=tuple(critic),
        max_iterations=max_iterations,
        timeout=timeout,
        gate=GateRules(**{"timeout": 20.0, **gate}),
        retries=retries,
        time_limit=time_limit,
    )
    collector = Collector()
    place = folder.parent / "sessions"
    opened = open_session(
        job,
        sessions=place,
        listener=listener or collector,
        accept_unreviewed=accept_unreviewed,
    )
    with opened as loop:
        end = await loop.run()
    return Ended(end, load(place, loop.session), collector)


def lines_of(place: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in place.read_text().splitlines()]


def ends(pid: int) -> bool:
    """Return whether the process is gone or soon will be; a zombie counts."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
