"""The command line: parse arguments, run a command, turn every failure into a clear exit.

Nothing heavy is imported before a command needs it, so that `critic --help` is instant.
"""

import argparse
import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, NoReturn

from harness.commands.arguments import EXITS, formatter
from harness.commands.exit_status import EXIT_INTERRUPTED, EXIT_INVALID
from harness.commands.misspelt import command_of, nearest_choice, unknown_options
from harness.commands.table import COMMANDS


class _Parser(argparse.ArgumentParser):
    """A parser whose help raises the error of an output that cannot be written."""

    def print_help(self, file: Any = None) -> None:
        """Print the help. The inherited method would hide an error of the output."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command, without the password of a log that it names."""
        super().error(_printable(nearest_choice(message)))

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse a command. An unknown option is an error of the command that it was given to."""
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command = command_of(self, known)
            command.error(unknown_options(unknown, [*command._option_string_actions]))
        return known


def build_parser(command: str | None = None) -> argparse.ArgumentParser:
    """Build the parser of `critic`.

    Args:
        command: the one whose arguments are read; the others have their names alone. All have
            their arguments if none is named.
    """
    parser: argparse.ArgumentParser = _Parser(
        prog="critic",
        description="Stop prompt-injected tool calls in an agent: judge calls and plans before "
        "they run, keep an audit log, replay every decision. Start with `critic docs guide`.",
        epilog=EXITS,
        formatter_class=formatter,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (summary, folder) in COMMANDS.items():
        if command in (None, name):
            module = import_module(f"harness.commands.{folder}.{folder}_arguments")
            getattr(module, f"add_{name.replace('-', '_')}")(commands)
        else:
            commands.add_parser(name, help=summary, add_help=False)
    return parser


class _Version(argparse.Action):
    """Print the version. It is looked up when it is asked for: that takes some milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "nargs": 0})

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        version = import_module("importlib.metadata").version("plan-critic")
        sys.stdout.write(f"critic {version}\n")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. A traceback never reaches the user."""
    if sys.stderr is None:  # it was closed before we started
        sys.stderr = io.open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, UP020 - until we end
    if sys.stdout is None:  # before anything runs or is recorded that nobody could read about
        return _ended_by("standard output is closed: send it to a file, a pipe or /dev/null")
    # A terminal that cannot show a character gets its escape, not an error.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        return _run(argv)
    except BrokenPipeError:  # the reader has left: end quietly, but not with success
        return _ended_by()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # the guard's own failure must never look like a pass
        return _ended_by(_explanation(error))


def _run(argv: Sequence[str] | None) -> int:
    try:
        given = sys.argv[1:] if argv is None else argv
        args = build_parser(given[0] if given else "").parse_args(given)
    except SystemExit:  # it has printed what was asked for
        sys.stdout.flush()
        raise
    name = getattr(args, "module", f"{args.command.replace('-', '_')}_command")
    module = _load_command(f"{COMMANDS[args.command].folder}.{name}", stays=argv is None)
    status: int = module.run(args)
    sys.stdout.flush()
    return status


def _load_command(command: str, *, stays: bool) -> Any:
    """Return the module of a command.

    What a process of its own loads `stays` until it ends. To search that for garbage, again and
    again while it is loaded and once more at the end, takes a quarter of the start.
    """
    searches = gc.isenabled()
    if stays:
        gc.disable()
    try:
        module = import_module(f"harness.commands.{command}")
        if stays:
            gc.freeze()
    finally:
        if searches:
            gc.enable()
    return module


def _explanation(error: Exception) -> str:
    try:
        line: str = import_module("harness.commands.complaint").explain(error)
    except Exception:  # a package that this program needs is missing or shadowed
        return f"cannot start ({type(error).__name__}): run `critic doctor`"
    return line


def _printable(line: str) -> str:
    """Return a line without the passwords of the URLs in it."""
    if ":/" not in line:
        return line
    shown: str = import_module("harness.log.passwords").without_passwords(line)
    return shown


def _ended_by(line: str = "") -> int:
    """Print why the command failed, if there is a line, and return the exit status."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        # Python would fail on the rest once more as it ends: send it to nowhere.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    # Where standard error is closed, the exit status still says it.
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"critic: {_printable(line)}\n" if line else "")
        sys.stderr.flush()
    return EXIT_INVALID


if __name__ == "__main__":
    sys.exit(main())
