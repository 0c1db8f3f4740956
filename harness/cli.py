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
from pathlib import Path
from typing import Any, NoReturn

from harness.commands.arguments import EXITS, Commands, add, formatter, positive
from harness.commands.exit_status import EXIT_INTERRUPTED, EXIT_INVALID
from harness.commands.gate_arguments import add_gate
from harness.commands.hook_arguments import add_hook
from harness.commands.import_arguments import add_import
from harness.commands.log_arguments import add_ci_format, add_log, add_replay
from harness.commands.loop_arguments import add_loop, add_sessions
from harness.commands.mcp_arguments import add_mcp
from harness.commands.policy_arguments import add_init, add_policy
from harness.commands.report_arguments import add_report
from harness.commands.serve_arguments import add_serve
from harness.commands.what_if_arguments import add_what_if

_MODULES = {
    "import": "import_",
    "loop": "code_loop",
    "mcp": "mcp_pins",
    "mcp-proxy": "mcp_proxy",
    "what-if": "what_if",
}
"""The modules of commands that are not named as their command."""


class _Parser(argparse.ArgumentParser):
    """A parser whose help raises the error of an output that cannot be written."""

    def print_help(self, file: Any = None) -> None:
        """Print the help. The inherited method would hide an error of the output."""
        (file or sys.stdout).write(self.format_help())

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the command, without the password of a log that it names."""
        super().error(_printable(message))


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of `critic` with all its commands."""
    parser: argparse.ArgumentParser = _Parser(
        prog="critic",
        description="The Critic between a Planner and an Executor: verify plans before they run, "
        "score runs, record decisions, replay them byte for byte.",
        epilog=EXITS,
        formatter_class=formatter,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_verify(commands)
    _add_judge(commands, "score", "judge finished runs", "Run")
    _add_run(commands)
    _add_guard(commands)
    add_hook(commands)
    add_import(commands)
    add_mcp(commands)
    add_serve(commands)
    add_replay(commands)
    add_what_if(commands)
    add_gate(commands)
    add_log(commands)
    add_report(commands)
    add_policy(commands)
    add_init(commands)
    add_loop(commands)
    add_sessions(commands)
    schema = add(commands, "schema", "print the JSON Schemas of the envelopes")
    schema.add_argument("name", nargs="?", help="one envelope, such as Plan (default: all)")
    add(commands, "doctor", "check this installation and report what to fix")
    return parser


def _add_demo(commands: Commands) -> None:
    demo = add(commands, "demo", "two refunds refused, one run, all recorded and replayed")
    demo.add_argument(
        "--log", default="audit.db", help="decision log to write (default: %(default)s)"
    )


def _add_inputs(parser: argparse.ArgumentParser, envelope: str) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help=f"{envelope} as JSON; - is standard input"
    )
    parser.add_argument(
        "--lines", action="store_true", help="read JSON Lines (the default for files named .jsonl)"
    )
    parser.add_argument(
        "--max-bytes",
        type=positive,
        metavar="N",
        help="refuse documents of more bytes without reading them (default: 33554432, 32 MiB)",
    )


def _add_judge(
    commands: Commands,
    name: str,
    summary: str,
    envelope: str,
) -> argparse.ArgumentParser:
    judge = add(commands, name, summary)
    _add_inputs(judge, envelope)
    _add_policy_option(judge)
    judge.add_argument(
        "--format",
        choices=("text", "json", "junit", "sarif", "github"),
        help="text; one JSON verdict a line with file, line and trace_id; JUnit XML; SARIF; or "
        "annotations for GitHub Actions (default: json for JSON Lines, else text)",
    )
    return judge


def _add_policy_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--policy",
        metavar="FILE",
        help="the policy that says what the documents leave out: compiled, spec, safety mode, "
        "budget",
    )


def _add_verify(commands: Commands) -> None:
    verify = _add_judge(commands, "verify", "judge plans before they run", "Proposal or Plan")
    verify.add_argument("--advise", action="store_true", help="say how to fix each refused plan")
    parts = verify.add_argument_group(
        "parts",
        "Give all three, or --against, or --policy and --context, to judge Plans and not "
        "Proposals. They are read once.",
    )
    parts.add_argument(
        "--against", metavar="FILE", help="all three as one object: ctx, compiled and spec"
    )
    parts.add_argument("--context", metavar="FILE", help="the RunContext")
    parts.add_argument("--compiled", metavar="FILE", help="the CompiledContext: tools, evidence")
    parts.add_argument("--spec", metavar="FILE", help="the DecisionSpec")


class _Version(argparse.Action):
    """Print the version. It is looked up when it is asked for: that takes some milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "nargs": 0})

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        version = import_module("importlib.metadata").version("plan-critic")
        sys.stdout.write(f"critic {version}\n")
        parser.exit()


def _add_run(commands: Commands) -> None:
    run = add(commands, "run", "take recorded runs through the whole pipeline into a log")
    _add_inputs(run, "Run (a Proposal with its transcript), or Proposal (a dry run),")
    _add_policy_option(run)
    run.add_argument("--log", required=True, help="decision log to append to, made if missing")
    run.add_argument("--decided-at", metavar="TIME", help="RFC 3339 time to record (default: now)")


def _add_guard(commands: Commands) -> None:
    exits = "Exit status: 0 all ok; 1 something was refused; 2 an event or the command is invalid."
    guard = add(
        commands, "guard", "guard agents that act call by call: events in, rulings out", exits
    )
    guard.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="session events, one JSON object a line; - is standard input (the default)",
    )
    guard.add_argument(
        "--policy", required=True, metavar="FILE", help="what sessions are judged by"
    )
    guard.add_argument("--log", help="decision log to append each ruling to, made if missing")
    guard.add_argument(
        "--explain",
        action="store_true",
        help="print the turns as a person reads them: calls, tiers, origins of values, rulings",
    )
    add_ci_format(guard, default=None, said="json; text is what --explain prints")
    guard.add_argument(
        "--max-bytes",
        type=positive,
        metavar="N",
        help="refuse lines of more bytes without reading them (default: 33554432, 32 MiB)",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit status. A traceback never reaches the user."""
    if sys.stderr is None:  # it was closed before we started
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until we end
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
        args = build_parser().parse_args(argv)
    except SystemExit:  # it has printed what was asked for
        sys.stdout.flush()
        raise
    module = _loaded(_MODULES.get(args.command, args.command), stays=argv is None)
    status: int = module.run(args)
    sys.stdout.flush()
    return status


def _loaded(command: str, *, stays: bool) -> Any:
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
