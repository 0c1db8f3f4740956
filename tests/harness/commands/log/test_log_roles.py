"""`critic log roles`: who appends cannot change what is there, and who audits cannot append."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from harness.log import LogUnavailable, SqlDecisionLog
from tests.harness.console import Critic
from tests.harness.log.decisions import decision, filled
from tests.support.postgres import PostgresServer, pg_rows


class Roles(NamedTuple):
    """The URLs of one log for three users."""

    owner: str
    writer: str
    auditor: str


@pytest.fixture
def roles(postgres: PostgresServer, critic: Critic) -> Iterator[Roles]:
    owner = postgres.url()
    schema = pg_rows(owner, "SELECT current_schema()")[0][0]
    names = {"--writer": f"{schema}_writer", "--auditor": f"{schema} auditor"}
    given = [part for pair in names.items() for part in pair]
    said = critic("log", "roles", owner, *given)
    assert (said.status, said.err) == (0, "")
    pg_rows(owner, said.out)
    again = critic("log", "roles", owner, *given)
    assert again.lines == [line for line in said.lines if not line.startswith("CREATE ROLE")]
    pg_rows(owner, again.out)
    users = {}
    for option, role in names.items():
        users[option] = f"{schema}_{option.strip('-')}_user"
        pg_rows(owner, f'CREATE ROLE {users[option]} LOGIN IN ROLE "{role}"')
    yield Roles(owner, *(postgres.url(schema, user=user) for user in users.values()))
    postgres.disconnect_logs()


_CHANGES = (
    "UPDATE records SET seq = seq",
    "DELETE FROM records",
    "TRUNCATE records",
    "UPDATE inputs SET body = body",
    "DELETE FROM inputs WHERE digest = 'x'",
    "DELETE FROM claims",
    "UPDATE log_format SET format = 3",
    "INSERT INTO log_format VALUES (3)",
    "INSERT INTO records SELECT * FROM records ON CONFLICT (seq) DO UPDATE SET body = ''",
    "SELECT * FROM records FOR UPDATE",
    "ALTER TABLE records DISABLE TRIGGER ALL",
    "DROP TRIGGER records_append_only ON records",
    "DROP TABLE claims",
    "CREATE TABLE extra (a int)",
    "CREATE VIEW extra AS SELECT 1",
    "CREATE OR REPLACE FUNCTION keep_order() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    "SET session_replication_role = replica",
)


def test_who_appends_can_append_and_replay_and_change_nothing(roles: Roles, critic: Critic) -> None:
    filled(roles.owner, 2).close()
    with SqlDecisionLog.open(roles.writer) as log:
        assert log.append(decision(3)).seq == 3
        assert [one.seq for one in log.append_all([decision(4), decision(5)])] == [4, 5]
        before = list(log.raw())
    for sql in _CHANGES:
        with pytest.raises(_errors().InsufficientPrivilege):
            pg_rows(roles.writer, sql)
    assert list(SqlDecisionLog.open_for_reading(roles.writer).raw()) == before
    assert critic("replay", roles.writer).status == 0


def test_who_audits_can_look_at_everything_and_append_nothing(roles: Roles, critic: Critic) -> None:
    filled(roles.owner, 3).close()
    assert critic("replay", roles.auditor).status == 0
    assert critic("replay", roles.auditor, "--jobs", "2").status == 0
    assert critic("log", "verify", roles.auditor).lines[0] == "3 records: hashes and chain hold"
    assert len(critic("log", "list", roles.auditor).lines) == 4  # the last is the head
    assert critic("log", "show", roles.auditor, "2").status == 0
    with SqlDecisionLog.open(roles.auditor) as log:
        before = list(log.raw())
        with pytest.raises(LogUnavailable, match=r"42501.*grant it what `critic log roles` prints"):
            log.append(decision(4))
    for sql in (*_CHANGES, "INSERT INTO inputs VALUES ('x', '')"):
        with pytest.raises(_errors().InsufficientPrivilege):
            pg_rows(roles.auditor, sql)
    assert list(SqlDecisionLog.open_for_reading(roles.auditor).raw()) == before


def test_a_user_without_a_role_sees_nothing(roles: Roles, critic: Critic) -> None:
    pg_rows(roles.owner, "DROP ROLE IF EXISTS critic_nobody", "CREATE ROLE critic_nobody LOGIN")
    name = roles.owner.replace("critic_owner@", "critic_nobody@")
    for command in (("replay",), ("log", "list"), ("log", "roles")):
        said = critic(*command, name)
        assert said.status == 2
        assert said.err.count("\n") == 1


def test_even_the_owner_does_not_change_a_row_by_mistake(roles: Roles) -> None:
    filled(roles.owner, 2).close()
    for sql in ("UPDATE records SET seq = seq", "DELETE FROM inputs", "TRUNCATE claims"):
        with pytest.raises(_errors().RestrictViolation, match="the decision log is append-only"):
            pg_rows(roles.owner, "SET session_replication_role = replica", sql)


@pytest.mark.parametrize("name", ["log", "no/log"])
def test_a_file_has_no_roles(critic: Critic, tmp_path: Path, name: str) -> None:
    said = critic("log", "roles", tmp_path / name)
    assert (said.status, said.out) == (2, "")
    assert "a file has no roles: give the file and its folder the rights" in said.err
    assert not (tmp_path / name).exists()


def test_one_role_cannot_be_both(critic: Critic) -> None:
    said = critic("log", "roles", "postgresql://h/db", "--writer", "a", "--auditor", "a")
    assert said.status == 2
    assert "two roles" in said.err


def _errors() -> Any:
    return pytest.importorskip("psycopg").errors
