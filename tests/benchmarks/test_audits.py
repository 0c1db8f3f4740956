"""What is measured of an audit does what its rows say."""

from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from harness.audit.proofs.comparison import compare_log
from harness.log.sql import SqlDecisionLog
from tests.benchmarks import audits
from tests.benchmarks.logs import checked, filled


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    with filled(tmp_path / "audited.db", 3) as made:
        yield made


def test_a_search_reads_every_row_and_finds_none(log: SqlDecisionLog) -> None:
    assert (audits.searched(log), audits.listed(log), audits.counted(log)) == (0, 3, 3)


def test_all_records_are_in_the_tree_and_in_the_events(log: SqlDecisionLog, tmp_path: Path) -> None:
    assert audits.grown(log) == compare_log(log).root
    export = audits.exporting(tmp_path, "opa")
    events = [orjson.loads(line) for line in export(log).splitlines()]
    assert [event["decision_id"] for event in events] == [own for _, own in log.hashes()]
    assert export(log) == export(log)


def test_what_is_read_as_a_whole_is_sound(log: SqlDecisionLog) -> None:
    checked(log)
    audits.compared(log)
    assert audits.reported(log) > 10_000
