"""The command line. Parses arguments, picks a command, turns every failure into a clear exit.

Nothing heavy is imported before a command needs it, so that `critic --help` is instant.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

EXIT_INVALID = 2
EXIT_INTERRUPTED = 130

_EXITS = "Exit status: 0 all ok; 1 some refused, or not the same; 2 some input is invalid."


def build_parser() -> argparse.ArgumentParser:
    """The parser of `critic` with all its commands."""
    parser = argparse.ArgumentParser(
        prog="critic",
        description="The Critic between a Planner and an Executor: verify plans before they run, "
        "score runs, record decisions, replay them byte for byte.",
        epilog=_EXITS,
        formatter_class=_formatter,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_demo(commands)
    _add_judge(commands, "verify", "judge plans before they run", "Proposal")
    _add_judge(commands, "score", "judge finished runs", "Run")
    _add_run(commands)
    _add_replay(commands)
    _add_log(commands)
    schema = _add(commands, "schema", "print the JSON Schemas of the envelopes")
    schema.add_argument("name", nargs="?", help="one envelope, such as Plan (default: all)")
    _add(commands, "doctor", "check this installation and say what to mend")
    return parser


def _add(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, summary: str
) -> argparse.ArgumentParser:
    return commands.add_parser(
        name, help=summary, description=summary, epilog=_EXITS, formatter_class=_formatter
    )


def _formatter(prog: str) -> argparse.HelpFormatter:
    """A formatter that knows its width: asking argparse for it imports three compressors."""
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
        type=int,
        metavar="N",
        help="refuse larger documents unread (default: 32 MiB)",
    )


def _add_judge(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    summary: str,
    envelope: str,
) -> None:
    judge = _add(commands, name, summary)
    _add_inputs(judge, envelope)
    judge.add_argument(
        "--format",
        choices=("text", "json"),
        help="one verdict per line as text or JSON (default: json for JSON Lines, else text)",
    )


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
    log = _add(commands, "log", "look at a decision log")
    actions = log.add_subparsers(dest="action", metavar="ACTION", required=True)
    listing = _add(actions, "list", "one line per decision")
    show = _add(actions, "show", "one record in full, with its inputs")
    check = _add(actions, "verify", "check hashes and chain without judging anything again")
    check.add_argument("--head", metavar="SEQ:HASH", help="the last record there must be")
    for action in (listing, show, check):
        action.add_argument("log", metavar="LOG")
    show.add_argument("seq", type=int, metavar="SEQ")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Returns the exit status; no traceback ever reaches the user."""
    # A terminal that cannot show a character gets its escape, not an error.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    args = build_parser().parse_args(argv)
    try:
        status: int = import_module(f"harness.commands.{args.command}").run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        return _reader_left()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except Exception as error:  # the guard's own failure must never look like a pass
        return _failed(error)
    return status


def _reader_left() -> int:
    """The reader of our output closed it: end quietly, but not with success."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_INVALID


def _failed(error: Exception) -> int:
    try:
        explain = import_module("harness.commands.complaint").explain
        sys.stderr.write(f"critic: {explain(error)}\n")
    except Exception:  # something this program stands on is missing or shadowed
        sys.stderr.write(f"critic: cannot start ({type(error).__name__}): run `critic doctor`\n")
    return EXIT_INVALID


if __name__ == "__main__":
    sys.exit(main())
