"""The command line as a person meets it: what it answers, on which stream, with which status."""

import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness import cli
from tests.support.paths import ROOT

_HEAD = re.compile(
    r"critic: (head \d+:[0-9a-f]{64}|[\d,]+ of [\d,]+ turns? match|--\w+ .*: no\w* .*has it.*)\n"
)
"""What stands beside data, and is no warning: what was read, and how much of it was asked for."""


class Said(NamedTuple):
    """The answer to one command."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Standard output by lines; it ends with the end of one."""
        assert self.out == "" or self.out.endswith("\n")
        return self.out.removesuffix("\n").split("\n") if self.out else []

    @property
    def listed(self) -> list[str]:
        """What a command that reads a log says, without the head that it prints last."""
        *lines, head = self.lines
        assert head.startswith("head ")
        return lines

    @property
    def warned(self) -> str:
        """Standard error, without the head and the counts that stand there beside data."""
        return "".join(
            line for line in self.err.splitlines(keepends=True) if not _HEAD.fullmatch(line)
        )


Critic = Callable[..., Said]


_parser = cache(cli.build_parser)  # a process of its own builds it once, too


def console(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Critic:
    """Run `critic` within this process. `stdin` are the bytes of its standard input."""
    monkeypatch.setattr(cli, "build_parser", _parser)

    def critic(*args: str | Path, stdin: bytes = b"") -> Said:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        try:
            status = cli.main([str(arg) for arg in args])
        except SystemExit as ended:  # how argparse ends on --help and on misuse
            status = int(ended.code or 0)
        return Said(status, *capsys.readouterr())

    return critic


def spawn(*args: str | Path, path: str | None = None, **options: Any) -> Said:
    """Run `critic` in a separate process; `path` is put first on its import path."""
    places = [str(ROOT)] if path is None else [path, str(ROOT)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(places), **options.pop("env", {})}
    flags = options.pop("flags", ())
    command = [sys.executable, *flags, "-m", "harness.cli", *map(str, args)]
    # Elsewhere, because `-m` puts the current folder before everything else on the import path.
    place = {"cwd": os.sep, "stdin": subprocess.DEVNULL, **options}
    done = subprocess.run(command, check=False, capture_output=True, env=environment, **place)
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())
