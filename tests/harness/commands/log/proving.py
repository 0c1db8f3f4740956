"""A log with keys and a checkpoint, for the tests of what is proved to others."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

from harness.log.sql import SqlDecisionLog
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import KINDS, decision, filled

WHY = ("--by", "raj", "--because", "a customer asked for it")
"""Who redacts a log, and why."""
ORIGIN = "example.com/audit"


class Signed(NamedTuple):
    """A log of eight records, the key of its operator, and the checkpoint that it signed."""

    log: Path
    key: Path
    checkpoint: Path
    critic: Critic

    @property
    def public(self) -> Path:
        return self.key.with_name(f"{self.key.name}.pub")

    def check(self, target: Path, *more: str | Path, checkpoint: Path | None = None) -> Said:
        """Compare a log or a proof with the checkpoint."""
        given = ("--checkpoint", checkpoint or self.checkpoint, "--public-key", self.public)
        return self.critic("log", "check", target, *given, *more)

    def sign(self, name: str, *more: str | Path, log: Path | None = None) -> Path:
        """Sign what a log holds now, in a file of that name."""
        said = self.critic("log", "checkpoint", log or self.log, "--key", self.key, *more)
        assert (said.status, said.err) == (0, "")
        return self.write(name, said.out)

    def prove(self, name: str, *more: str | Path) -> Path:
        """Write a proof of the log to a file of that name."""
        said = self.critic("log", "prove", self.log, *more)
        assert (said.status, said.err) == (0, "")
        return self.write(name, said.out)

    def write(self, name: str, text: str) -> Path:
        path = self.log.with_name(name)
        path.write_text(text, encoding="utf-8")
        return path

    def grow(self, count: int, *, kind: str | None = None, log: Path | None = None) -> None:
        """Append decisions to a log."""
        with SqlDecisionLog.open(log or self.log) as opened:
            start = opened.head().seq + 1
            kinds = [kind or KINDS[number % len(KINDS)] for number in range(start, start + count)]
            opened.append_all(
                decision(number, kind=one) for number, one in enumerate(kinds, start=start)
            )


def signed_log(critic: Critic, folder: Path, count: int = 8) -> Signed:
    """Copy a log of decisions, a key, and a checkpoint of the log."""
    pattern = _signed(_pattern(count), critic)
    if not pattern.checkpoint.exists():
        filled(pattern.log, count).close()
        assert critic("log", "key", "--new", pattern.key).status == 0
        pattern.sign("checkpoint", "--origin", ORIGIN)
    shutil.copytree(pattern.log.parent, folder, dirs_exist_ok=True)
    return _signed(folder, critic)


def _signed(folder: Path, critic: Critic) -> Signed:
    return Signed(folder / "audit.db", folder / "log.key", folder / "checkpoint", critic)


@cache
def _pattern(count: int) -> Path:
    """Return a folder for what is made once, to be copied."""
    folder = Path(tempfile.mkdtemp(prefix="critic-pattern-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@contextmanager
def changed(path: Path, old: str, new: str) -> Iterator[None]:
    """Change a text within a file for a while."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")
