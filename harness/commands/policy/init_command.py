"""`critic init`: write a policy to begin with, or one for tools that exist already."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import NamedTuple

from evals.escaping import escape_line, escape_name
from harness.commands.documents import read_whole
from harness.commands.exit_status import EXIT_OK
from harness.commands.mcp.pin_files import pin_file
from harness.commands.policy.policy_command import guesses_text
from harness.errors import UsageError
from harness.integrations.mcp.mcp_listing import list_server
from harness.integrations.mcp.mcp_pins import Pin, pin_of
from harness.policy import parse_policy
from harness.policy.analysis.derive_mcp import drafts_of_mcp
from harness.policy.analysis.derive_tools import (
    ToolDraft,
    drafts_of_module,
    drafts_of_openai,
    identifier,
)
from harness.policy.analysis.policy_writing import STARTER, derived_policy
from harness.whole_files import replace_file
from harness.wire import InvalidInput, parse_json


def run(args: argparse.Namespace) -> int:
    """Write the file, and say what is left to do."""
    text, notes, pins = _derive_text(args)
    document = parse_policy(text.encode(), syntax="toml")
    if args.file == "-":
        sys.stdout.write(text)
    else:
        _write(Path(args.file), text, force=args.force)
        shown = escape_line(args.file)
        count = len(document.policy.tool)
        tools = f"{count} tool{'' if count == 1 else 's'}"
        left = f", {guesses_text(document)}" if document.policy.guessed else ""
        sys.stdout.write(
            f"{shown}: written: {tools}{left}; then run `critic policy check {shown}`\n"
        )
        if pins:
            pin_file(args.file, None).replace(pins)
    sys.stdout.flush()
    for note in notes:
        sys.stderr.write(f"{note}\n")
    return EXIT_OK


class _Derived(NamedTuple):
    """The text of a policy, what to say about it, and what its tools said of themselves."""

    text: str
    notes: Sequence[str] = ()
    pins: Mapping[str, Pin] = MappingProxyType({})


def _derive_text(args: argparse.Namespace) -> _Derived:
    if args.from_python is not None:
        drafts, name = _from_python(args.from_python), args.from_python
        return _Derived(derived_policy(name, identifier(Path(name).stem), drafts))
    if args.from_openai is not None:
        drafts, others = _from_openai(args.from_openai)
        notes = [f"left out a tool of type {kind}: its arguments are not known" for kind in others]
        return _Derived(derived_policy(args.from_openai, "tools", drafts), notes)
    return _Derived(STARTER) if args.from_mcp is None else _from_mcp(args.from_mcp)


def _from_mcp(server: str) -> _Derived:
    """Derive the tools of an MCP server, which is asked: a command is run."""
    listing = list_server(server)
    try:
        drafts, left = drafts_of_mcp(listing.name, listing.tools, listing.offers)
    except InvalidInput as error:
        raise UsageError(error.message) from None
    names = {draft.capability_id for draft in drafts}
    pins = {tool["name"]: pin_of(tool) for tool in listing.tools if tool["name"] in names}
    return _Derived(derived_policy(server, identifier(listing.name), drafts), left, pins)


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


def _from_python(name: str) -> list[ToolDraft]:
    """Derive the tools of a module, which is imported: its code runs."""
    try:
        with _folder_first(), redirect_stdout(sys.stderr):  # standard output may be the policy
            module = _load_file(Path(name)) if name.endswith(".py") else import_module(name)
    except (Exception, SystemExit) as error:
        kind, text = type(error).__name__, escape_line(str(error))
        raise UsageError(f"cannot import {escape_name(name)}: {kind}: {text}") from None
    try:
        return drafts_of_module(module)
    except InvalidInput as error:
        raise UsageError(error.message) from None


@contextmanager
def _folder_first() -> Iterator[None]:
    """Put this folder first on the import path, as `python -m` does."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    try:
        yield
    finally:
        sys.path.remove(here)


def _load_file(path: Path) -> ModuleType:
    spec = spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError("not a Python file")
    module = module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # annotations are looked up in it
    spec.loader.exec_module(module)
    return module


def _from_openai(name: str) -> tuple[list[ToolDraft], list[str]]:
    document = read_whole(name)
    try:
        return drafts_of_openai(document.parse_with(parse_json))
    except InvalidInput as error:
        raise UsageError(f"{document.source}: {error}") from None
