"""Send the cases to a program and compare its answers with the expected ones."""

import base64
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from evals.escaping import escape_name
from harness.cases import Case, Command, case_files, read_case
from tests.conformance.compare import Level, problem
from tests.support.large_cases import every_case
from tests.support.paths import CASES

COMMANDS: Final[tuple[Command, ...]] = get_args(Command)
PATIENCE: Final = 300.0
"""Seconds that a program may take for all documents of one command."""


class Named(NamedTuple):
    """A case and the name of its file below the root of the cases."""

    name: str
    case: Case


class Result(NamedTuple):
    """What came of one case. `why` is ready to print, and empty where it passed."""

    name: str
    status: Literal["passed", "failed", "skipped"]
    why: str = ""

    @property
    def folder(self) -> str:
        """Return the folder of the case."""
        return str(Path(self.name).parent)


class Output(NamedTuple):
    """The lines a program wrote, and how it ended."""

    lines: list[bytes]
    ending: str


def read_cases(root: Path = CASES) -> list[Named]:
    """Return every case below `root`, in the order of their names; by default the large ones too.

    Raises:
        harness.wire.InvalidInput: a file holds no case.
    """
    if root == CASES:
        return [Named(*one) for one in every_case().items()]
    return [Named(str(path.relative_to(root)), read_case(path)) for path in case_files(root)]


def on_one_line(document: bytes) -> bool:
    """Return whether a document can be sent as one line of UTF-8."""
    try:
        document.decode()
    except UnicodeDecodeError:
        return False
    return bool(document.strip()) and not {10, 13} & set(document)


def check(
    program: str,
    cases: Iterable[Named],
    level: Level,
    *,
    commands: Sequence[Command] = COMMANDS,
    encoded: bool = False,
    folder: Path | None = None,
) -> list[Result]:
    """Return the result of every case of those commands, in the order of the cases.

    Args:
        program: its command line; `{}` in it is where the command goes (default: the end).
        cases: what to put to it.
        level: how much to compare.
        commands: cases of others are left out.
        encoded: whether to send in base64 what does not fit on a line (default: skipped).
        folder: where to start the program (default: here).

    Raises:
        OSError: the program cannot be started.
        ValueError: the command line is not well-formed.
    """
    asked = [one for one in cases if one.case.command in commands]
    results: dict[str, Result] = {}
    put = _Question(program, level, folder)
    for command in commands:
        mine = [one for one in asked if one.case.command == command]
        plain = [one for one in mine if on_one_line(one.case.document())]
        others = [one for one in mine if not on_one_line(one.case.document())]
        results |= put.asked(command, plain, encoded=False)
        if encoded:
            results |= put.asked(command, others, encoded=True)
        else:
            skipped = "does not fit on a line"
            results |= {one.name: Result(one.name, "skipped", skipped) for one in others}
    return [results[one.name] for one in asked]


class _Question(NamedTuple):
    """What is the same for all commands."""

    program: str
    level: Level
    folder: Path | None

    def asked(self, command: Command, cases: list[Named], *, encoded: bool) -> dict[str, Result]:
        """Return the results by name, of one start of the program."""
        if not cases:
            return {}
        documents = [one.case.document() for one in cases]
        if encoded:
            documents = [base64.b64encode(document) for document in documents]
        arguments = _arguments(self.program, command, encoded)
        output = _output(arguments, documents, self.folder)
        return {result.name: result for result in _judged(cases, output, self.level)}


def _arguments(program: str, command: Command, encoded: bool) -> list[str]:
    words = shlex.split(program)
    if not words:
        raise ValueError("the command line is empty")
    placed = [word.replace("{}", command) for word in words]
    arguments = placed if placed != words else [*words, command]
    return [*arguments, "--base64"] if encoded else arguments


def _output(arguments: list[str], documents: list[bytes], folder: Path | None) -> Output:
    sent = b"".join(document + b"\n" for document in documents)
    try:
        done = subprocess.run(
            arguments, input=sent, capture_output=True, timeout=PATIENCE, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        return Output([], f"the program took longer than {PATIENCE:.0f} s")
    lines = done.stdout.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    complaint = f": {escape_name(said[0][:300])}" if said else ""
    return Output(lines, f"the program ended with status {done.returncode}{complaint}")


def _judged(cases: list[Named], output: Output, level: Level) -> Iterator[Result]:
    for place, one in enumerate(cases):
        if place < len(output.lines):
            why = problem(one.case, output.lines[place].rstrip(b"\r"), level)
        else:
            why = f"no answer: {output.ending}"
        if place == len(cases) - 1 and len(output.lines) > len(cases):
            why = f"{len(output.lines)} answers to {len(cases)} documents\n{why}".rstrip()
        yield Result(one.name, "failed" if why else "passed", why)
