"""The index says what the records say, and whoever changes it is found."""

import json
import sqlite3
from pathlib import Path

import psycopg
import pytest

from harness.log.log_places import is_url
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import COLUMN_TYPES, Filters
from harness.log.sql import SqlDecisionLog
from harness.record import Gap
from harness.record.index_row import IndexRow
from harness.replay import check_log, replay
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, filled, meddle, query
from tests.harness.log.search.searched import varied
from tests.support.effort import sampled
from tests.support.postgres import PostgresServer


@pytest.fixture
def path(place: LogPlace) -> LogPlace:
    """Return a log with records of every kind."""
    varied(place).close()
    return place


def _listed(path: LogPlace, filters: Filters = Filters()) -> list[Listed | Gap]:  # noqa: B008
    with SqlDecisionLog.open_for_reading(path) as log:
        return list(Listing(log).rows(filters))


def test_an_entry_and_its_stored_record_have_the_same_row(path: LogPlace) -> None:
    with SqlDecisionLog.open_for_reading(path) as log:
        assert check_log(log).text() == ""
        assert {one.row.status for one in _listed(path) if isinstance(one, Listed)} == {
            "completed",
            "refused_by_critic",
            "partial",
            "begun",
            "critic_error",
            "closed",
        }


@pytest.mark.one_in(4)
@pytest.mark.parametrize("column", sampled(IndexRow._fields[1:], one_in=4))
def test_every_changed_column_is_found(critic: Critic, path: LogPlace, column: str) -> None:
    other = f"coalesce({column}, 0) || 'x'"
    if is_url(path):
        is_text = COLUMN_TYPES[column] == "TEXT"
        other = f"coalesce({column}, '') || 'x'" if is_text else f"coalesce({column}, 0) + 1"
    meddle(path, (f"UPDATE record_index SET {column} = {other}", ()))  # noqa: S608
    said = critic("log", "verify", path)
    assert said.status == 1
    assert f"the log is damaged: record 1: the index says {column} " in said.out
    assert critic("replay", path).status == 1
    with SqlDecisionLog.open_for_reading(path) as log:
        assert all(one.status in ("same", "open") for one in replay(log)), "records are untouched"


def test_a_row_that_is_gone_or_too_many_is_found(critic: Critic, path: LogPlace) -> None:
    whole = critic("log", "list", path, "--records")
    meddle(path, ("DELETE FROM record_index WHERE seq = 2", ()))
    assert "record 2: the index has no row for it" in critic("log", "verify", path).out
    said = critic("log", "list", path, "--records")
    assert (said.status, said.lines) == (1, [whole.lines[0], *whole.lines[2:]])
    assert "1 record is not listed, because the index has no row: run `critic log v" in said.err
    copy = ", ".join(IndexRow._fields[1:])
    meddle(
        path,
        (f"INSERT INTO record_index SELECT 2, {copy} FROM record_index WHERE seq = 1", ()),  # noqa: S608
        (f"INSERT INTO record_index SELECT 999, {copy} FROM record_index WHERE seq = 1", ()),  # noqa: S608
    )
    said = critic("log", "verify", path)
    assert "record 2: the index says" in said.out
    assert "the index has rows without a record: 999" in said.out
    said = critic("log", "list", path, "--records")
    assert (said.status, len(said.lines)) == (1, len(whole.lines))
    assert "the index has 1 row without a record" in said.err


def test_rows_and_records_that_are_equally_many_are_told_apart(
    critic: Critic, path: LogPlace
) -> None:
    whole = critic("log", "list", path, "--records").lines
    counted = critic("log", "stats", path, "--format", "json")
    meddle(
        path,
        ("DELETE FROM records WHERE seq = 2", ()),
        ("DELETE FROM record_index WHERE seq = 3", ()),
    )
    said = critic("log", "list", path, "--records")
    assert (said.status, said.lines) == (1, [whole[0], "     2  record 2 is missing", *whole[3:]])
    assert "1 record is not listed, because the index has no row" in said.err
    fewer = critic("log", "stats", path, "--format", "json")
    assert json.loads(fewer.out)["records"] == json.loads(counted.out)["records"] - 2


def test_the_index_takes_no_row_out_of_order_and_no_change_in_postgresql(
    postgres: PostgresServer,
) -> None:
    url = postgres.url()
    filled(url, 2).close()
    for statement in (
        "INSERT INTO record_index (seq, facts, approvals, attempts) VALUES (4, 0, 0, 0)",
        "UPDATE record_index SET status = 'completed'",
        "DELETE FROM record_index",
        "TRUNCATE record_index",
    ):
        with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
            query(url, statement)


def test_the_index_takes_no_row_out_of_order_and_no_change(tmp_path: Path) -> None:
    filled(tmp_path / "log", 2).close()
    for statement in (
        "INSERT OR REPLACE INTO record_index SELECT * FROM record_index WHERE seq = 1",
        "UPDATE record_index SET status = 'completed'",
        "DELETE FROM record_index",
    ):
        connection = sqlite3.connect(tmp_path / "log")
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            connection.execute(statement)
        connection.close()
