"""Options that several commands share. It imports nothing heavy, for `critic --help`."""

import argparse
import os
from typing import Final, TypeAlias

from harness.commands.table import COMMANDS

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

CI_FORMATS: Final = ("junit", "sarif", "github")
"""What continuous integration reads."""

EXITS: Final = "Exit status: 0 all ok; 1 some refused, or not the same; 2 some input is invalid."


def add(
    commands: Commands,
    name: str,
    summary: str,
    exits: str = EXITS,
) -> argparse.ArgumentParser:
    """Add a command, and say under its help what the exit statuses mean."""
    return commands.add_parser(
        name, help=summary, description=summary, epilog=exits, formatter_class=formatter
    )


def add_command(commands: Commands, name: str, exits: str = EXITS) -> argparse.ArgumentParser:
    """Add a command of `COMMANDS`, and say under its help what the exit statuses mean."""
    return add(commands, name, COMMANDS[name].summary, exits)


def formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter with a width: argparse would import three compressors to find it."""
    try:
        columns = os.get_terminal_size().columns
    except OSError:
        columns = 80
    return argparse.HelpFormatter(prog, width=max(columns - 2, 40))


def positive_number(text: str) -> int:
    """Return a whole number of at least 1."""
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else 0
    if value < 1:
        raise argparse.ArgumentTypeError("must be a whole number of at least 1")
    return value


def parse_port(text: str) -> int:
    """Return the number of a port; 0 stands for any that is free."""
    value = int(text) if text.isascii() and text.isdecimal() and len(text) <= 5 else -1
    if not 0 <= value <= 65535:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 65535, not {text[:40]}")
    return value


def identifier_argument(text: str) -> str:
    """Return an identifier."""
    from evals.envelope import is_identifier  # noqa: PLC0415 - heavy

    if not is_identifier(text):
        what = "must be an identifier: 1 to 128 letters, digits and -_.:/#@+=~"
        raise argparse.ArgumentTypeError(f"{what}, with a letter, a digit or _ at the start")
    return text


def add_no_open(parser: argparse.ArgumentParser) -> None:
    """Add the option that treats an execution without an end as a fault."""
    parser.add_argument(
        "--no-open", action="store_true", help="exit 1 where an execution began and has no end"
    )


def add_ci_format(
    parser: argparse.ArgumentParser, default: str | None = "text", said: str = "text"
) -> None:
    """Add `--format` for a command that continuous integration runs."""
    parser.add_argument(
        "--format",
        choices=("text", "json", *CI_FORMATS),
        default=default,
        help="text; one JSON object a line; JUnit XML; SARIF; or annotations for GitHub Actions "
        f"(default: {said})",
    )


def add_jobs(parser: argparse.ArgumentParser) -> None:
    """Add the number of processes that read a log."""
    parser.add_argument(
        "--jobs",
        type=positive_number,
        default=1,
        metavar="N",
        help="the number of processes (default: 1); the answers are the same",
    )


def add_known_head(parser: argparse.ArgumentParser, side: str = "", of: str = "the log") -> None:
    """Add the options for what is known about a log: a head, a checkpoint."""
    parser.add_argument(
        f"--{side}head", metavar="SEQ:HASH", help=f"a record that {of} must still contain"
    )
    parser.add_argument(
        f"--{side}checkpoint", metavar="FILE", help=f"a signed checkpoint that {of} must contain"
    )
    if not side:
        parser.add_argument(
            "--public-key",
            action="append",
            default=[],
            metavar="FILE",
            help="public key of a signer; repeat it to require several signatures",
        )
