"""Measure everything, print the table, write the figures. The exit status is always 0."""

import argparse
import gc
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from tests.benchmarks.doubled import doubled_rows
from tests.benchmarks.field import field_rows
from tests.benchmarks.report import document, table
from tests.benchmarks.rows import crafted_rows, refund_rows, wire_rows
from tests.benchmarks.startup import startup_rows
from tests.benchmarks.timing import Effort, measure
from tests.support.paths import ROOT

THOROUGH = Effort(rounds=31, milliseconds=10)
QUICK = Effort(rounds=7, milliseconds=4)


def _progress(rounds: Iterable[int]) -> Iterable[int]:
    return tqdm(rounds, desc="rounds", disable=None, leave=False)


def main() -> None:
    """Run the benchmark as the command line asks."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds, under 15 seconds")
    parser.add_argument(
        "--output",
        type=Path,
        default=ROOT / "fixtures" / "benchmarks.json",
        help="where the figures go (default: fixtures/benchmarks.json)",
    )
    args = parser.parse_args()
    effort = QUICK if args.quick else THOROUGH
    others, skipped = field_rows()
    startup = startup_rows()
    if not startup:
        skipped.append("critic --help: this system does not count the CPU time of children")
    rows = [*refund_rows(), *wire_rows(), *startup, *crafted_rows(), *doubled_rows(), *others]
    gc.collect()
    gc.freeze()
    figures = measure(rows, effort, _progress)
    print(table(figures))
    for line in skipped:
        print(f"skipped: {line}")
    args.output.write_bytes(document(figures, skipped, effort))


if __name__ == "__main__":
    main()
