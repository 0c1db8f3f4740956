"""`critic init`: write a policy to begin with, or one for tools that exist already."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from evals.escaping import escape_line
from harness.commands.exit_status import EXIT_OK
from harness.commands.mcp.pin_files import pin_file
from harness.commands.policy.policy_command import guesses_text
from harness.commands.policy.tool_sources import ToolSource, read_sources
from harness.errors import UsageError
from harness.integrations.mcp.mcp_pins import Pin
from harness.policy import PolicyDocument, parse_policy
from harness.policy.analysis.policy_writing import STARTER, derived_policy
from harness.whole_files import replace_file


def run(args: argparse.Namespace) -> int:
    """Write the file, and say what is left to do."""
    text, notes, pins = _derive_text([ToolSource(*source) for source in args.sources or ()])
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
    """The text of a policy, what to say about it, and what its tools said of themselves."""

    text: str
    notes: Sequence[str] = ()
    pins: Mapping[str, Pin] = MappingProxyType({})


def _derive_text(sources: Sequence[ToolSource]) -> _Derived:
    if not sources:
        return _Derived(STARTER)
    drafts, names, notes, pins = read_sources(sources)
    named = ", ".join(source.name for source in sources)
    return _Derived(derived_policy(named, names[0], drafts), notes, pins)


def _write(path: Path, text: str, *, force: bool) -> None:
    data = text.encode()
    if force and path.exists():
        replace_file(path.resolve(), data)
        return
    try:
        with path.open("xb") as file:
            file.write(data)
    except FileExistsError:
        shown = escape_line(str(path))
        raise UsageError(f"{shown} is there already: give --force to replace it") from None
