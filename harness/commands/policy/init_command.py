"""`critic init`: write a starter policy, or one for existing tools."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from critic.labels import ResultAuthor
from evals.escaping import escape_line
from harness.commands.exit_status import EXIT_OK
from harness.commands.mcp.pin_files import pin_file
from harness.commands.policy.policy_command import guesses_text
from harness.commands.policy.tool_sources import ToolSource, read_results, read_sources
from harness.errors import UsageError
from harness.integrations.mcp.mcp_pins import Pin
from harness.policy import PolicyDocument, parse_policy
from harness.policy.analysis.policy_writing import (
    STARTER,
    derived_policy,
    unanswered_authors,
)
from harness.policy.analysis.recorded_results import with_recorded_results
from harness.whole_files import replace_file

_ANSWERS: Final[Mapping[str, ResultAuthor]] = MappingProxyType(
    {"s": "system", "m": "member", "p": "public"}
)


def run(args: argparse.Namespace) -> int:
    """Write the file, and print what is left to do."""
    _require_file(args.file)
    text, notes, pins = _derive_text(args)
    document = parse_policy(text.encode(), syntax="toml")
    if args.file == "-":
        sys.stdout.write(text)
    else:
        _write(Path(args.file), text, force=args.force)
        _tell_written(escape_line(args.file), document)
        if pins:
            pin_file(args.file, None).replace(pins)
    sys.stdout.flush()
    for note in notes:
        sys.stderr.write(f"{note}\n")
    return EXIT_OK


def _tell_written(shown: str, document: PolicyDocument) -> None:
    count = len(document.policy.tool)
    tools = f"{count} tool{'' if count == 1 else 's'}"
    left = f", {guesses_text(document)}" if document.policy.guessed else ""
    sys.stdout.write(f"{shown}: written: {tools}{left}; then run `critic policy check {shown}`\n")


class _Derived(NamedTuple):
    """The text of a policy, messages about it, and the pins of its tools."""

    text: str
    notes: Sequence[str] = ()
    pins: Mapping[str, Pin] = MappingProxyType({})


def _derive_text(args: argparse.Namespace) -> _Derived:
    sources = [ToolSource(*source) for source in args.sources or ()]
    if not sources:
        if args.ask or args.results:
            raise UsageError("--ask and --results are for derived tools: name a source of them")
        return _Derived(_starter_for(args.file))
    drafts, names, notes, pins = read_sources(sources)
    results = read_results(args.results)
    drafts = [with_recorded_results(one, results.get(one.capability_id, ())) for one in drafts]
    if args.results and not any(draft.capability_id in results for draft in drafts):
        notes = [*notes, "no result of these tools was recorded"]
    authors = _ask_authors(unanswered_authors(drafts)) if args.ask else {}
    named = ", ".join(source.name for source in sources)
    return _Derived(derived_policy(named, names[0], drafts, authors), notes, pins)


def _starter_for(file: str) -> str:
    """Return the starter, whose comment names its file."""
    if file == "-":
        return STARTER
    return STARTER.replace("critic.toml", escape_line(file), 1)


def _ask_authors(tools: Sequence[str]) -> dict[str, ResultAuthor]:
    """Ask a person who can write what each tool returns, until the end of standard input."""
    answers: dict[str, ResultAuthor] = {}
    for tool in tools:
        answer = _ask_author(tool)
        if answer is None:
            break
        answers[tool] = answer
    return answers


def _ask_author(tool: str) -> ResultAuthor | None:
    while True:
        sys.stderr.write(
            f"Who can write what {tool} returns? [s] our systems [m] our people [p] anybody: "
        )
        sys.stderr.flush()
        line = sys.stdin.readline() if sys.stdin else ""
        if not (line and sys.stdin.isatty()):  # a terminal shows the answer itself
            sys.stderr.write(f"{escape_line(line.strip())}\n")
        if not line:
            return None
        if (answer := _ANSWERS.get(line.strip().lower())) is not None:
            return answer


def _require_file(place: str) -> None:
    """Require that a place is not that of a folder."""
    if place != "-" and (place.endswith("/") or Path(place).is_dir()):
        named = escape_line(str(Path(place, "critic.toml")))
        raise UsageError(f"{escape_line(place)} is a folder: name the file to write, as in {named}")


def _write(path: Path, text: str, *, force: bool) -> None:
    data = text.encode()
    if not path.parent.exists():
        folder = escape_line(str(path.parent))
        raise UsageError(f"there is no folder {folder}: make it, or name another file")
    if force and path.exists():
        replace_file(path.resolve(), data)
        return
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        shown = escape_line(str(path))
        raise UsageError(f"{shown} is there already: give --force to replace it") from None
