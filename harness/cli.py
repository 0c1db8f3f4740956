"""The command line: parse arguments, run a command, turn every failure into a clear exit.

Nothing heavy is imported before a command needs it, so that `critic --help` is instant.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from harness.commands.exit_status import EXIT_INTERRUPTED, EXIT_INVALID

_MODULES = {"loop": "code_loop"}
"""The modules of commands that are not named as their command."""

_LOOP_EXITS = (
    "Exit status: 0 success; 1 a limit of iterations or time was reached; 2 an error; "
    "130 interrupted."
)
_EXITS = "Exit status: 0 all ok; 1 some refused, or not the same; 2 some input is invalid."


class _Parser(argparse.ArgumentParser):
    """A parser whose help raises the error of an output that cannot be written."""

    def print_help(self, file: Any = None) -> None:
        """Print the help. The inherited method would hide an error of the output."""
        (file or sys.stdout).write(self.format_help())


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of `critic` with all its commands."""
    parser: argparse.ArgumentParser = _Parser(
        prog="critic",
        description="The Critic between a Planner and an Executor: verify plans before they run, "
        "score runs, record decisions, replay them byte for byte.",
        epilog=_EXITS,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_verify(commands)
    _add_judge(commands, "score", "judge finished runs", "Run")
    _add_run(commands)
    _add_replay(commands)
    _add_log(commands)
    _add_loop(commands)
    _add_sessions(commands)
    schema = _add(commands, "schema", "print the JSON Schemas of the envelopes")
    schema.add_argument("name", nargs="?", help="one envelope, such as Plan (default: all)")
    _add(commands, "doctor", "check this installation and report what to fix")
    return parser


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    exits: str = _EXITS,
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name, help=summary, description=summary, epilog=exits, formatter_class=_formatter
    )


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter with a width: argparse would import three compressors to find it."""
    try:
        columns = os.get_terminal_size().columns
    except OSError:
        columns = 80
    return argparse.HelpFormatter(prog, width=max(columns - 2, 40))


def _add_demo(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    demo = _add(commands, "demo", "a refund refused, a refund run, both recorded and replayed")
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
        type=_positive,
        metavar="N",
        help="refuse documents of more bytes without reading them (default: 33554432, 32 MiB)",
    )


def _add_judge(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    envelope: str,
) -> argparse.ArgumentParser:
    judge = _add(commands, name, summary)
    _add_inputs(judge, envelope)
    judge.add_argument(
        "--format",
        choices=("text", "json", "junit", "sarif", "github"),
        help="text; one JSON verdict a line with file, line and trace_id; JUnit XML; SARIF; or "
        "annotations for GitHub Actions (default: json for JSON Lines, else text)",
    )
    return judge


def _add_verify(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    verify = _add_judge(commands, "verify", "judge plans before they run", "Proposal or Plan")
    verify.add_argument("--advise", action="store_true", help="say how to fix each refused plan")
    parts = verify.add_argument_group(
        "parts", "Give all three to judge Plans in place of whole Proposals."
    )
    parts.add_argument("--context", metavar="FILE", help="the RunContext")
    parts.add_argument("--compiled", metavar="FILE", help="the CompiledContext: tools, evidence")
    parts.add_argument("--spec", metavar="FILE", help="the DecisionSpec")


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


class _Version(argparse.Action):
    """Print the version. It is looked up when it is asked for: that takes some milliseconds."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "nargs": 0})

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        version = import_module("importlib.metadata").version("plan-critic")
        sys.stdout.write(f"critic {version}\n")
        parser.exit()


def _add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = _add(commands, "run", "take recorded runs through the whole pipeline into a log")
    _add_inputs(run, "Run (a Proposal with its transcript), or Proposal (a dry run),")
    run.add_argument("--log", required=True, help="decision log to append to, made if missing")
    run.add_argument("--decided-at", metavar="TIME", help="RFC 3339 time to record (default: now)")


def _add_replay(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    replay = _add(commands, "replay", "derive every recorded verdict again and compare the bytes")
    replay.add_argument("log", metavar="LOG")
    replay.add_argument("--head", metavar="SEQ:HASH", help="the last record there must be")
    replay.add_argument("--format", choices=("text", "json"), default="text")


def _add_log(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    exits = (
        "Exit status: 0 all ok; 1 records are missing, hashes or chain do not hold, or the tables "
        "were changed; 2 the log or the command cannot be read."
    )
    log = _add(commands, "log", "look at a decision log", exits)
    actions = log.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _add(actions, "list", "one line per decision, and one per gap", exits)
    show = _add(actions, "show", "one record in full, with its inputs", exits)
    check = _add(actions, "verify", "check hashes, chain and tables without judging again", exits)
    check.add_argument("--head", metavar="SEQ:HASH", help="the last record there must be")
    for action in (listing, show, check):
        action.add_argument("log", metavar="LOG")
    show.add_argument("seq", type=int, metavar="SEQ")


def _add_loop(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    summary = "let an actor change code until a critic finds the task done"
    loop = _add(commands, "loop", summary, _LOOP_EXITS)
    loop.add_argument("task", metavar="TASK", nargs="?", help="the task; - reads standard input")
    loop.add_argument("--resume", metavar="ID", help="go on with an unfinished session")
    _add_loop_agents(loop)
    _add_loop_gate(loop)
    loop.add_argument(
        "-n", "--max-iterations", type=int, metavar="N", help="maximum iterations (default: 3)"
    )
    loop.add_argument(
        "--max-minutes",
        type=float,
        metavar="N",
        help="maximum time of this run (default: no limit)",
    )
    loop.add_argument("--dir", help="the folder to work in (default: this one)")
    loop.add_argument("--config", metavar="FILE", help="read this file instead of .critic.toml")
    loop.add_argument("--sessions", metavar="DIR", help="the folder to record the session in")
    loop.add_argument(
        "--accept-unreviewed",
        action="store_true",
        help="start although an unfinished session left changes; the record says so",
    )
    loop.add_argument("--dry-run", action="store_true", help="print what would run; run nothing")
    loop.add_argument(
        "--verbose", action="store_true", help="print what the agents print, not only to a terminal"
    )
    loop.add_argument(
        "--format",
        choices=("text", "json"),
        default="text",
        help="json: one event a line, each with seq, time and kind: session_started, "
        "agent_started, agent_output, agent_ended, gate_command_ended, diff_captured, "
        "change_refused, critic_replied, decision, session_ended",
    )


def _add_loop_agents(loop: argparse.ArgumentParser) -> None:
    agent = "claude, codex, opencode, or a command line"
    loop.add_argument("--actor", metavar="CMD", help=f"the agent that works: {agent}")
    loop.add_argument("--critic", metavar="CMD", help=f"the agent that reviews: {agent}")
    loop.add_argument("--model", metavar="NAME", help="the model of both agents")
    loop.add_argument("--actor-model", metavar="NAME", help="the model of the actor alone")
    loop.add_argument("--critic-model", metavar="NAME", help="the model of the critic alone")
    loop.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="for each run of an agent (default: 3600)"
    )
    loop.add_argument(
        "--retries",
        type=int,
        metavar="N",
        help="run an agent again that could not be started or timed out, at most N times "
        "(default: 0)",
    )


def _add_loop_gate(loop: argparse.ArgumentParser) -> None:
    loop.add_argument(
        "--gate",
        action="append",
        metavar="CMD",
        help="a command that must pass before the critic; adds to those of config files",
    )
    loop.add_argument(
        "--protect",
        action="append",
        metavar="PATTERN",
        help="paths that must not change, as in .gitignore; adds to those of config files",
    )
    loop.add_argument(
        "--allow-agent-settings",
        action="store_true",
        help="let the actor change settings of agents and of git (CLAUDE.md, .claude/, hooks)",
    )
    loop.add_argument(
        "--max-lines",
        type=int,
        metavar="N",
        help="maximum changed lines; a line counts once for each 1,000 bytes that it begins",
    )
    loop.add_argument("--max-files", type=int, metavar="N", help="maximum changed files")


def _add_sessions(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    sessions = _add(commands, "sessions", "look at the sessions of `critic loop`")
    actions = sessions.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _add(actions, "list", "list the sessions, one per line, newest first")
    show = _add(actions, "show", "show one session with its iterations")
    diff = _add(actions, "diff", "print what an iteration had changed since the session began")
    stats = _add(actions, "stats", "print success rate, average iterations and duration")
    for action in (show, diff):
        action.add_argument("session", metavar="ID", help="the id, or the beginning of it")
    diff.add_argument("--iteration", type=int, metavar="N", help="which one (default: the last)")
    for action in (listing, show, diff, stats):
        action.add_argument("--format", choices=("text", "json"), default="text")
        action.add_argument("--sessions", metavar="DIR", help="the folder they are recorded in")


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
    module = import_module(f"harness.commands.{_MODULES.get(args.command, args.command)}")
    status: int = module.run(args)
    sys.stdout.flush()
    return status


def _explanation(error: Exception) -> str:
    try:
        line: str = import_module("harness.commands.complaint").explain(error)
    except Exception:  # a package that this program needs is missing or shadowed
        return f"cannot start ({type(error).__name__}): run `critic doctor`"
    return line


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
        sys.stderr.write(f"critic: {line}\n" if line else "")
        sys.stderr.flush()
    return EXIT_INVALID


if __name__ == "__main__":
    sys.exit(main())
