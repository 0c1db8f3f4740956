"""Measure everything, print the table, keep the figures and show them. The exit status is 0."""

import argparse
import gc
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from tqdm import tqdm

from tests.benchmarks.audits import audit_rows
from tests.benchmarks.batches import Batches
from tests.benchmarks.clustered import cluster_rows
from tests.benchmarks.commands import command_rows
from tests.benchmarks.doubled import doubled_rows
from tests.benchmarks.evidence import evidence_rows
from tests.benchmarks.field import field_rows
from tests.benchmarks.hooked import hooked_rows
from tests.benchmarks.kept import code_digest, keep, machine
from tests.benchmarks.logs import log_rows
from tests.benchmarks.memory import memory_rows
from tests.benchmarks.openings import opening_rows
from tests.benchmarks.recorded import recorded_rows
from tests.benchmarks.refusals import refusal_rows
from tests.benchmarks.report import entries, table, unexplained
from tests.benchmarks.rows import crafted_rows, refund_rows, wire_rows
from tests.benchmarks.served import served_rows
from tests.benchmarks.server import server_rows
from tests.benchmarks.sessions import session_rows
from tests.benchmarks.shown import write
from tests.benchmarks.startup import startup_rows
from tests.benchmarks.timing import Effort, Row, Unbuilt, measure
from tests.benchmarks.what_if import what_if_rows
from tests.benchmarks.whole import whole_rows

THOROUGH = Effort(rounds=31, milliseconds=10, most_seconds=20)
QUICK = Effort(rounds=7, milliseconds=4, most_seconds=2)


def _progress(rounds: Iterable[int]) -> Iterable[int]:
    return tqdm(rounds, desc="rounds", disable=None, leave=False)


Groups = dict[str, Callable[[], Iterable[Row | Unbuilt]]]


def groups(folder: Path, records: int, missing: list[str]) -> Groups:
    """Return what makes the rows of each group. Files are kept in the folder.

    The names of peers that are not installed are added to `missing`.
    """
    return {
        "verify": refund_rows,
        "wire": wire_rows,
        "whole": whole_rows,
        "log": lambda: log_rows(folder),
        "audit": lambda: audit_rows(folder),
        "server": lambda: server_rows(folder),
        "batch": lambda: Batches(folder).rows(),
        "cluster": lambda: cluster_rows(folder),
        "what_if": lambda: what_if_rows(folder),
        "startup": lambda: startup_rows(folder),
        "served": lambda: served_rows(folder),
        "hooked": lambda: hooked_rows(folder),
        "session": session_rows,
        "command": command_rows,
        "opening": opening_rows,
        "recorded": lambda: recorded_rows(folder),
        "evidence": lambda: evidence_rows(folder),
        "refusal": refusal_rows,
        "memory": lambda: memory_rows(folder, records),
        "crafted": crafted_rows,
        "doubled": doubled_rows,
        "peers": lambda: field_rows(missing),
    }


def main() -> None:
    """Run the benchmark as the command line asks."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--only", nargs="+", default=(), help="groups of rows; keeps nothing")
    parser.add_argument(
        "--records", type=int, default=0, help="measure the memory of replaying so many records"
    )
    args = parser.parse_args()
    effort, code = QUICK if args.quick else THOROUGH, code_digest()
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        made = groups(Path(name), args.records, missing)
        rows = [row for group in args.only or made for row in made[group]()]
        unbuilt = [row for row in rows if isinstance(row, Unbuilt)]
        gc.collect()
        gc.freeze()
        figures = measure([row for row in rows if isinstance(row, Row)], effort, _progress)
    print(table(figures, unbuilt))
    for peer in missing:
        print(f"not installed: {peer}: pip install 'plan-critic[bench]'")
    if args.only:
        return
    found = entries(figures, unbuilt)
    keep(machine=machine(), code=code, rows=found, not_installed=missing)
    write()
    for row in unexplained(found):
        print(f"needs its reason in tests/benchmarks/reasons.py: {row}")


if __name__ == "__main__":
    main()
