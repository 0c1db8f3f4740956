"""The parser of `critic what-if`."""

import argparse
from typing import Final

from harness.commands.arguments import (
    Commands,
    add_command,
    add_jobs,
    add_known_head,
    positive_number,
)

_MODES: Final = ("read_only", "local_write", "network", "delegated", "destructive")
_LIMITS: Final = ("max_steps", "bucket_tokens", "wall_ms", "cost_micros")
_LARGEST: Final = 2**53 - 1
_EXITS: Final = (
    "Exit status: 0 nothing is looser, and every record was judged; 1 something is looser or could "
    "not be judged, or the log is not sound; 2 the log, the policy or the command cannot be read."
)


def add_what_if(commands: Commands) -> None:
    """Add `critic what-if`."""
    parser = add_command(commands, "what-if", _EXITS)
    parser.add_argument("log", metavar="LOG", help="or a Parquet file that has its plans")
    _add_change(parser)
    parser.add_argument("--decision", metavar="ID", help="only the records whose spec has this id")
    parser.add_argument("--allow-loosening", action="store_true", help="exit 0 if some are looser")
    parser.add_argument(
        "--allow-unjudged", action="store_true", help="exit 0 if some records cannot be judged"
    )
    add_known_head(parser)
    add_jobs(parser)
    parser.add_argument("--counts", action="store_true", help="print the counts only")
    parser.add_argument("--format", choices=("text", "json"), default="text")


def _add_change(parser: argparse.ArgumentParser) -> None:
    """Add the options for the change."""
    parser.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="FILE",
        help="the policy to judge by; - is stdin; of several, each judges the plans of its spec",
    )
    parser.add_argument("--safety-mode", choices=_MODES, help="the safety mode to judge by")
    parser.add_argument(
        "--budget",
        type=_budget,
        default={},
        metavar="NAME=N,...",
        help=f"limits to judge by, of {', '.join(_LIMITS)}; the others stay",
    )
    parser.add_argument(
        "--evidence",
        choices=("both", "recorded", "policy"),
        help="with --policy, outside of sessions: what was recorded and what the policy holds "
        "(default), or one of them",
    )
    parser.add_argument(
        "--relabel",
        action="store_true",
        help="with --policy, label recorded results again: class, form and author",
    )
    parser.add_argument(
        "--max-bytes",
        type=positive_number,
        metavar="N",
        help="refuse a policy of more bytes without reading it (default: 33554432, 32 MiB)",
    )


def _budget(text: str) -> dict[str, int]:
    """Return the limits by name."""
    limits: dict[str, int] = {}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in _LIMITS or name in limits:
            raise argparse.ArgumentTypeError(f"name each of {', '.join(_LIMITS)} at most once")
        # Sixteen digits hold every number that a limit may have.
        is_number = number.isascii() and number.isdecimal() and len(number) <= 16
        if not is_number or int(number) > _LARGEST:
            raise argparse.ArgumentTypeError(f"{name} must be a whole number up to 2^53 - 1")
        limits[name] = int(number)
    return limits
