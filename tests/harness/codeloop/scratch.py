"""Git repositories to work in, and agents that are small Python scripts."""

import json
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.clock import SystemClock
from harness.codeloop.loop import CodeLoop
from harness.codeloop.record import GateRules, SessionEnd
from harness.codeloop.scribe import Job
from harness.codeloop.sessions import Session, SessionWriter, load
from harness.codeloop.workspace import Workspace

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
    """A repository with one commit of these files."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q")
    write(folder, {"a.txt": "a\n"} if files is None else files)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "start")
    return folder


def python(code: str) -> tuple[str, ...]:
    """The words that run a piece of Python; its prompt is `sys.stdin.read()`."""
    return (sys.executable, "-S", "-c", f"import os, pathlib, subprocess, sys\n{code}")


def says(*replies: str) -> tuple[str, ...]:
    """An agent that gives these replies one after the other, and the last one from then on.

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
    """What the agent of `says` was asked so far."""
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


class Silent:
    """Somebody who looks on and remembers what was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def begin(self, number: int, phase: str) -> None:
        self.told.append(f"{number} {phase}")

    def end(self, said: str) -> None:
        self.told[-1] += f": {said}"


@dataclass(frozen=True)
class Ended:
    """How a session came out, on the wire and to those who looked on."""

    end: SessionEnd
    session: Session
    told: list[str]


async def run_loop(
    folder: Path,
    *,
    actor: Sequence[str] = WRITES,
    critic: Sequence[str],
    max_iterations: int = 3,
    timeout: float = 20,
    **gate: Any,
) -> Ended:
    """One session in a repository; its file lies above it."""
    rules = GateRules(**{"timeout": 20.0, **gate})
    job = Job(
        session=SESSION,
        task="make it so",
        folder=folder,
        actor=tuple(actor),
        critic=tuple(critic),
        max_iterations=max_iterations,
        timeout=timeout,
        gate=rules,
    )
    watch = Silent()
    place = folder.parent / "sessions"
    with Workspace(folder) as workspace, SessionWriter(place, SESSION) as record:
        end = await CodeLoop(job, workspace, record, SystemClock(), watch).run()
    return Ended(end, load(place, SESSION), watch.told)


def lines_of(place: Path) -> list[dict[str, Any]]:
    return [json.loads(text) for text in place.read_text().splitlines()]


def ends(pid: int) -> bool:
    """Whether the process is gone, or soon will be; one that nobody has waited for yet counts."""
    for _ in range(500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state in "ZX":
            return True
        time.sleep(0.01)
    return False
