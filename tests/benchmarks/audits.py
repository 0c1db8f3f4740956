"""What an audit costs beside replay, for each record: searches, exports, checkpoints, the page.

Rule 1: a search may cost a fraction of parsing the records that it is not to read. What reads them
        anyway is measured against that parsing, or against checking them.
"""

import hashlib
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Final, Literal

import orjson

from harness.audit.proofs.checkpoint import leaf_of
from harness.audit.proofs.comparison import compare_log
from harness.audit.proofs.merkle import Frontier
from harness.audit.report.collecting import collect
from harness.audit.report.report_page import render_page
from harness.audit.tables.text_search import find_texts
from harness.cli import build_parser
from harness.commands.log.log_export import export_log
from harness.log.search.listing import Listing
from harness.log.search.log_statistics import log_statistics
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from tests.benchmarks.logs import FLOOR, checked, filled, parsed
from tests.benchmarks.timing import Cost, Row, Unbuilt, of_process, shared

_Audit = Callable[[SqlDecisionLog], object]

RECORDS: Final = 2000
_EVENT: Final = "orjson.loads of the event"
_PARQUET: Final = "critic log export --to parquet, a record"
_HASHES: Final = "two SHA-256 of 65 bytes"
_VERIFIED: Final = "critic log verify, a record"
_MOST_BYTES: Final = 64 * 1024 * 1024


def audit_rows(folder: Path) -> list[Row | Unbuilt]:
    """Measure what reads a log of so many records as a whole."""
    log = filled(folder / "audited.db", RECORDS)

    def each(run: _Audit) -> Cost:
        return shared(of_process(run, lambda _: [log]), RECORDS)

    floor, verified = parsed(log), each(checked)
    events = exporting(folder, "opa")
    return [
        Row("critic log list, filtered, a record", FLOOR, 0.2, each(searched), floor),
        Row("critic log list, all, a record", FLOOR, 1.0, each(listed), floor),
        Row("critic log stats, a record", FLOOR, 0.5, each(counted), floor),
        Row(
            "critic log export --to opa, a record", _EVENT, 15.0, each(events), _parsed(events, log)
        ),
        _if_installed(
            "pyarrow",
            "parquet",
            Row(_PARQUET, FLOOR, 1.0, each(exporting(folder, "parquet")), floor),
        ),
        Row("Merkle tree, a record", _HASHES, 10.0, each(grown), _two_hashes()),
        Row("critic log checkpoint, a record", _VERIFIED, 1.0, each(compared), verified),
        _if_installed(
            "jinja2",
            "report",
            Row("critic report, a record", _VERIFIED, 6.0, each(reported), verified),
        ),
    ]


def _if_installed(module: str, extra: str, row: Row) -> Row | Unbuilt:
    if find_spec(module) is not None:
        return row
    return Unbuilt(row.name, row.unit, row.limit, f"pip install 'plan-critic[{extra}]'")


def searched(log: SqlDecisionLog) -> int:
    """Search for what no record says, and return how many were found."""
    filters = Filters(status="completed", tool="issue_refund")
    return len(find_texts(log, filters, "no record says this").numbers)


def listed(log: SqlDecisionLog) -> int:
    """List all records, and return how many there are."""
    return sum(1 for _ in Listing(log).rows(Filters()))


def counted(log: SqlDecisionLog) -> int:
    """Count what the records say, and return how many there are."""
    return log_statistics(Listing(log), Filters()).records


def grown(log: SqlDecisionLog) -> bytes:
    """Return the root of the tree of all records."""
    tree = Frontier()
    for _, own_hash in log.hashes():
        tree.append(leaf_of(own_hash))
    return tree.root()


def compared(log: SqlDecisionLog) -> None:
    """Do what `critic log checkpoint` does before it signs."""
    if not compare_log(log):
        raise AssertionError("the log is not found sound")


def reported(log: SqlDecisionLog) -> int:
    """Make the page of all records, and return how long it is."""
    return sum(map(len, render_page(collect(log, RECORDS, _MOST_BYTES), "audited.db")))


def exporting(folder: Path, form: Literal["opa", "parquet"]) -> Callable[[SqlDecisionLog], bytes]:
    """Return what exports all records to a file of the folder, and reads and removes it."""
    output = folder / f"export.{form}"
    words = ["log", "export", "audited.db", "--to", form, "-o", str(output)]
    args = build_parser("log").parse_args(words)

    def export(log: SqlDecisionLog) -> bytes:
        with redirect_stdout(StringIO()):
            if export_log(args, log):
                raise AssertionError("the log is not found whole")
        data = output.read_bytes()
        output.unlink()
        return data

    return export


def _parsed(export: Callable[[SqlDecisionLog], bytes], log: SqlDecisionLog) -> Cost:
    lines = export(log).splitlines()

    def loaded(each: list[bytes]) -> None:
        for one in each:
            orjson.loads(one)

    return shared(of_process(loaded, lambda _: [lines]), RECORDS)


def _two_hashes() -> Cost:
    parts = [bytes([number % 256]) * 65 for number in range(2 * RECORDS)]
    work = of_process(
        lambda each: [hashlib.sha256(one).digest() for one in each], lambda _: [parts]
    )
    return shared(work, RECORDS)
