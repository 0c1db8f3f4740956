"""`critic log query` answers one statement that selects, and can do nothing else."""

import json
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

from harness.log import SqlDecisionLog
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, decision, filled, meddle
from tests.harness.log.guard_logs import write_guard_log
from tests.support.turns import fates_in

pytest.importorskip("duckdb")


@cache
def _recorded(folder: Path) -> Path:
    write_guard_log(folder / "asked.db")
    return folder / "asked.db"


@pytest.fixture
def log(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Path:
    source = _recorded(tmp_path_factory.getbasetemp())
    return Path(shutil.copy(source, tmp_path / "log.db"))


@pytest.mark.slow
def test_a_log_and_its_tables_give_the_same_answer(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    with SqlDecisionLog.open_for_reading(log) as kept:
        fates = [*fates_in(kept).values()]
    sql = "SELECT fate, count(*) AS turns FROM turns GROUP BY fate ORDER BY fate"
    assert critic("log", "export", log, "--to", "parquet", tmp_path / "tables").status == 0
    expected = [{"fate": one, "turns": fates.count(one)} for one in sorted({*fates})]
    for place in (log, tmp_path / "tables"):
        said = critic("log", "query", place, sql, "--format", "json")
        assert (said.status, said.warned) == (0, "")
        assert [json.loads(line) for line in said.lines] == expected
    cells = critic("log", "query", log, sql, "--format", "csv")
    assert cells.lines[1:] == [f"{one['fate']},{one['turns']}" for one in expected]
    table = critic("log", "query", log, sql)
    assert table.listed[-1] == f"{len(expected)} rows"
    assert table.listed[2].split() == [expected[0]["fate"], str(expected[0]["turns"])]


REFUSED = [
    *("", "-- nothing", "SELECT 1; SELECT 2", "EXPLAIN SELECT 1", "PRAGMA database_list"),
    *("CREATE TABLE mine (a INT)", "DROP VIEW turns", "INSERT INTO turns VALUES (1)"),
    *("CREATE OR REPLACE VIEW turns AS SELECT 1", "DELETE FROM turns", "UPDATE turns SET seq = 1"),
    *("ATTACH 'FOLDER/own.db'", "COPY turns TO 'FOLDER/own.csv'", "EXPORT DATABASE 'FOLDER/own'"),
    *("INSTALL httpfs", "LOAD httpfs", "SET enable_external_access = true", "CALL dbgen(sf = 1)"),
    *("SELECT * FROM 'SECRET'", "SELECT * FROM read_csv('SECRET')", "FROM read_text('SECRET')"),
    *("SELECT * FROM read_parquet('FOLDER/foreign.parquet')", "FROM glob('FOLDER/*')"),
    *("SELECT * FROM read_csv('https://127.0.0.1:9/x.csv')", "FROM sniff_csv('SECRET')"),
    *("SELECT * FROM folder", "SELECT nothing FROM turns", "SELECT FROM WHERE", "SELECT \0"),
    *("SELECT getenv('HOME')", "SELECT 'a' + 1 FROM turns", "FROM query('DROP VIEW turns')"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("sql", REFUSED)
def test_what_does_not_only_select_is_one_line(
    sql: str, critic: Critic, log: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "secret.csv").write_text("a,b\n1,hidden\n")
    shutil.copytree(folder, tmp_path / "before")
    said = critic(
        *("log", "query", log),
        sql.replace("SECRET", str(folder / "secret.csv")).replace("FOLDER", str(folder)),
    )
    assert (said.status, said.out) == (2, "")
    assert len(said.err.splitlines()) == 1
    assert said.err.startswith("critic: ")
    assert "hidden" not in said.err
    assert sorted(path.name for path in folder.iterdir()) == ["secret.csv"]


def test_what_a_log_says_is_escaped(critic: Critic, log: Path) -> None:
    sql = "SELECT session, chr(27) || '[2Jx' AS shown, '=1+1' AS cell FROM turns WHERE turn = 1"
    for form in ("text", "csv", "json"):
        said = critic("log", "query", log, sql, "--format", form)
        assert said.status == 0
        assert said.out.isascii()
        assert "\x1b" not in said.out
    assert "'=1+1" in critic("log", "query", log, sql, "--format", "csv").out


def test_values_of_every_type_are_told(critic: Critic, log: Path) -> None:
    sql = (
        "SELECT TRUE AS yes, 1.5::DECIMAL(9, 2) AS money, 2::HUGEINT AS big, 'inf'::DOUBLE AS inf, "
        "NULL AS none, [1, 2] AS list, MAP {'/amount': 1200.5} AS map, {'a': DATE '2026-05-09'} AS "
        "row, TIMESTAMP '2026-05-09 09:00:00' AS at_time, 'a'::BLOB AS bytes"
    )
    said = critic("log", "query", log, sql, "--format", "json")
    assert json.loads(said.lines[0]) == {
        "yes": True,
        "money": 1.5,
        "big": 2,
        "inf": "inf",
        "none": None,
        "list": [1, 2],
        "map": {"/amount": 1200.5},
        "row": {"a": "2026-05-09"},
        "at_time": "2026-05-09T09:00:00Z",
        "bytes": "b'a'",
    }
    for form in ("text", "csv"):
        assert critic("log", "query", log, sql, "--format", form).status == 0


def test_a_damaged_log_is_answered_and_told(critic: Critic, log: Path, tmp_path: Path) -> None:
    meddle(log, ("DELETE FROM records WHERE seq = 7", ()))
    critic("log", "export", log, "--to", "parquet", tmp_path / "tables")
    for place in (log, tmp_path / "tables"):
        said = critic("log", "query", place, "SELECT count(*) AS turns FROM turns")
        assert (said.status, said.listed) == (1, ["turns", "-----", "18", "1 row"])
        assert "the log is damaged: record 7 is missing\n" in said.err


def test_another_log_than_is_known_is_told(critic: Critic, log: Path, tmp_path: Path) -> None:
    sql, folder = "SELECT count(*) FROM turns", tmp_path / "tables"
    assert critic("log", "query", log, sql, "--head", f"42:{'a' * 64}").status == 1
    critic("log", "export", log, "--to", "parquet", folder)
    said = critic("log", "query", folder, sql, "--head", f"42:{'a' * 64}")
    assert (said.status, said.out) == (2, "")


def test_an_export_says_what_it_added(critic: Critic, log: Path, tmp_path: Path) -> None:
    folder = str(tmp_path / "tables")
    said = critic("log", "export", log, "--to", "parquet", folder)
    with SqlDecisionLog.open(log) as kept:
        records = kept.head().seq
        assert said.listed == [f"{records} new records: 18 turns written to {folder}"]
        kept.append(decision(5))
    said = critic("log", "export", log, "--to", "parquet", folder)
    assert said.listed == [f"1 new record: 1 turn written to {folder}"]
    assert critic("log", "query", folder, "SELECT 1").lines[-1] == said.lines[-1]


@pytest.mark.parametrize(
    "options",
    [
        ("--to", "csv"),
        ("--to", "opa", "FOLDER"),
        ("--to", "parquet", "FOLDER", "more"),
        ("--to", "parquet"),
        ("--to", "parquet", "FOLDER", "--plans"),
        ("--to", "parquet", "FOLDER", "-o", "FILE"),
        ("--to", "parquet", "FOLDER", "--tool", "transfer"),
    ],
    ids=" ".join,
)
def test_an_export_that_cannot_be_meant_is_refused(
    options: tuple[str, ...], critic: Critic, log: Path, tmp_path: Path
) -> None:
    given = [str(tmp_path / "out") if one in ("FOLDER", "FILE") else one for one in options]
    assert critic("log", "export", log, *given).status == 2
    assert not (tmp_path / "out").exists()


def test_without_duckdb_the_extra_is_named(
    critic: Critic, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    said = critic("log", "query", log, "SELECT 1")
    assert (said.status, said.out) == (2, "")
    assert said.err == "critic: questions need DuckDB: pip install 'plan-critic[query]'\n"


def test_a_log_is_asked_wherever_it_is(critic: Critic, place: LogPlace, tmp_path: Path) -> None:
    filled(place, 4).close()
    folder = tmp_path / "tables"
    assert critic("log", "export", place, "--to", "parquet", folder).status == 0
    with SqlDecisionLog.open(place) as kept:
        kept.append_all([decision(number, kind="refused") for number in (9, 10)])
        fates = [*fates_in(kept).values()]
    assert critic("log", "export", place, "--to", "parquet", folder).status == 0
    sql = "SELECT count(*) AS refused FROM turns WHERE fate = 'refused'"
    for asked in (place, folder):
        said = critic("log", "query", asked, sql, "--format", "json")
        assert json.loads(said.out) == {"refused": fates.count("refused")}
    said = critic("log", "list", place, "--value", "o-17", "--tool", "refunt")
    assert said.listed == [
        f"0 of {len(fates)} turns match",
        "--tool refunt: no turn has it: did you mean refund?",
    ]
    said = critic("log", "list", place, "--value", "o-17", "--fate", "refused")
    assert said.listed[-1] == f"{fates.count('refused')} of {len(fates)} turns match"


def test_nothing_is_seen_but_the_tables(critic: Critic, log: Path) -> None:
    said = critic("log", "query", log, "SHOW TABLES", "--format", "csv")
    assert said.out.split()[1:] == ["answers", "calls", "effects", "evidence", "turns"]
