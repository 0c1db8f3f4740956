"""`python -m tests.conformance --command "..."`: run the kit, print a table by folder.

Exit status: 0 every case passed or was skipped; 1 some failed; 2 the program cannot be started.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.conformance.compare import Level
from tests.conformance.kit import COMMANDS, Result, check, read_cases
from tests.support.paths import CASES

_STATUSES = ("passed", "failed", "skipped")
_LONGEST = 25  # lines of one difference


def main(argv: Sequence[str] | None = None) -> int:
    """Check one program; the protocol is in the docstring of this package."""
    args = _parser().parse_args(argv)
    try:
        results = check(
            args.command,
            read_cases(args.cases),
            Level(args.strict, args.verdicts_only),
            commands=[name for name in COMMANDS if name in args.only],
            encoded=args.base64,
        )
    except (OSError, ValueError) as error:
        sys.stderr.write(f"conformance: {error}\n")
        return 2
    sys.stdout.write(table(results) + differences(results, args.show))
    failed = sum(result.status == "failed" for result in results)
    return 0 if results and not failed else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--command", required=True, help='the program, e.g. "critic {} --lines -"')
    parser.add_argument("--strict", action="store_true", help="compare the paths of errors too")
    parser.add_argument(
        "--verdicts-only", action="store_true", help="compare what decides, not what explains"
    )
    parser.add_argument(
        "--base64", action="store_true", help="send what does not fit on a line in base64"
    )
    parser.add_argument(
        "--only",
        type=_commands,
        default=COMMANDS,
        metavar="COMMANDS",
        help=f"some of {','.join(COMMANDS)}",
    )
    parser.add_argument("--cases", type=Path, default=CASES, metavar="FOLDER")
    parser.add_argument(
        "--show", type=int, default=5, metavar="N", help="differences to show (default: 5)"
    )
    return parser


def _commands(text: str) -> list[str]:
    names = text.split(",")
    if unknown := set(names) - set(COMMANDS):
        raise argparse.ArgumentTypeError(f"no such command: {', '.join(sorted(unknown))}")
    return names


def table(results: Sequence[Result]) -> str:
    """Return the counts by folder, with their totals."""
    counts: Counter[tuple[str, str]] = Counter((result.folder, result.status) for result in results)
    folders = sorted({result.folder for result in results})
    lines = [_line("folder", ("cases", *_STATUSES))]
    for name in folders:
        numbers = [counts[name, status] for status in _STATUSES]
        lines.append(_line(name, (sum(numbers), *numbers)))
    sums = [sum(counts[name, status] for name in folders) for status in _STATUSES]
    lines.append(_line("all", (sum(sums), *sums)))
    return "\n".join(lines) + "\n"


def _line(name: str, columns: Iterable[object]) -> str:
    return f"{name:<16}" + "".join(f"{column!s:>9}" for column in columns)


def differences(results: Sequence[Result], most: int) -> str:
    """Return the first of the failed cases, each with its difference."""
    failed = [result for result in results if result.status == "failed"]
    told = []
    for result in failed[:most]:
        lines = result.why.splitlines()
        cut = [f"... {len(lines) - _LONGEST} lines more"] if len(lines) > _LONGEST else []
        shown = "\n".join(f"  {line}" for line in lines[:_LONGEST] + cut)
        told.append(f"\n{result.name}\n{shown}\n")
    left = len(failed) - len(told)
    return "".join(told) + (f"\nand {left} more failed\n" if left else "")


if __name__ == "__main__":
    sys.exit(main())
