"""A log on a server: what only a server can do wrong, and that no message holds a password."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.log import (
    LogBusy,
    LogFull,
    LogUnavailable,
    LogWriteFailed,
    NotALog,
    SqlDecisionLog,
)
from harness.log.log_places import store_at
from harness.log.log_writing import Written, write
from harness.log.passwords import without_passwords
from harness.log.store import Connection
from harness.replay import check_log, replay
from tests.harness.commands.log.proving import WHY
from tests.harness.console import Critic
from tests.harness.log.decisions import decision, filled
from tests.harness.log.faults import replace_commits
from tests.support.examples import is_safe
from tests.support.paths import ROOT
from tests.support.postgres import PostgresServer, pg_rows, postgres_server

SECRET = "s3cret%40x"  # noqa: S105 - of a server that lives for one test
DOUBTED = "the commit failed, nothing was acknowledged: the next append first checks what is stored"


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    yield postgres.url()
    postgres.disconnect_logs()


@pytest.fixture
def fragile(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """Return a server of the test's own, which it may stop and start."""
    with postgres_server() as server:
        yield server


def assert_sound(url: str, count: int) -> None:
    with SqlDecisionLog.open_for_reading(url) as log:
        assert log.problems == ()
        assert [answer.status for answer in replay(log)] == ["same"] * count
        assert check_log(log).text() == ""


def test_a_server_that_was_started_anew_is_asked_again(fragile: PostgresServer) -> None:
    url = fragile.url()
    log = filled(url, 2)
    for by in (signal.SIGINT, signal.SIGQUIT):
        fragile.stop(by)
        fragile.start()
        log.append(decision(3))
        assert log.head().seq == len(list(log.raw()))
    assert_sound(url, 4)


def test_without_its_server_a_log_says_so_and_goes_on_later(fragile: PostgresServer) -> None:
    url = fragile.url()
    log = filled(url, 2)
    fragile.stop(signal.SIGQUIT)
    for call in (lambda: log.append(decision(3)), log.head, lambda: SqlDecisionLog.open(url)):
        with pytest.raises(LogUnavailable, match="check the URL, the password, and that the ser"):
            call()
    fragile.start()
    assert log.append(decision(3)).seq == 3
    assert_sound(url, 3)


@pytest.mark.parametrize("committed", [True, False])
def test_a_server_that_dies_at_a_commit_leaves_its_outcome_open(
    fragile: PostgresServer, monkeypatch: pytest.MonkeyPatch, committed: bool
) -> None:
    def dying(commit: Callable[[], None]) -> None:
        if committed:
            commit()
        fragile.stop(signal.SIGQUIT)
        commit()
        raise _of_psycopg("OperationalError")("the answer was lost")

    url = fragile.url()
    log = filled(url, 2)
    replace_commits(monkeypatch, dying)
    with pytest.raises(LogWriteFailed, match=DOUBTED):
        log.append(decision(3))
    monkeypatch.undo()
    fragile.start()
    assert log.head().seq == 2 + committed
    assert log.append(decision(4)).seq == 3 + committed
    assert_sound(url, 3 + committed)


def test_a_server_that_dies_before_the_commit_has_recorded_nothing(
    fragile: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = fragile.url()
    log = filled(url, 2)

    def dying(connection: Connection, written: Written) -> bool:
        fragile.stop(signal.SIGQUIT)
        return write(connection, written)

    monkeypatch.setattr("harness.log.appending.write", dying)
    with pytest.raises(LogUnavailable) as caught:
        log.append(decision(3))
    assert type(caught.value) is LogUnavailable
    assert is_safe(str(caught.value))
    monkeypatch.undo()
    fragile.start()
    with log as again:
        assert again.append(decision(3)).seq == 3
    assert_sound(url, 3)


def test_the_command_says_in_one_line_that_the_server_is_gone(
    fragile: PostgresServer, critic: Critic
) -> None:
    url = fragile.url()
    filled(url, 2).close()
    fragile.stop()
    for command in (("log", "list"), ("log", "verify"), ("replay",)):
        said = critic(*command, url)
        assert (said.status, said.out) == (2, "")
        assert said.err.count("\n") == 1
        assert is_safe(said.err.removesuffix("\n"))


@pytest.mark.parametrize("command", [("log", "verify"), ("replay",), ("log", "roles")])
def test_a_wrong_password_is_said_and_not_shown(
    postgres: PostgresServer, critic: Critic, command: tuple[str, ...]
) -> None:
    with suppress(_of_psycopg("errors.DuplicateObject")):
        postgres.do("CREATE ROLE critic_checked LOGIN PASSWORD 'right'")
    url = postgres.url(user=f"critic_checked:{SECRET}")
    said = critic(*command, url)
    assert said.status == 2
    assert "password authentication failed" in said.err
    assert said.err.count("\n") == 1
    assert "s3cret" not in said.err + said.out


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ada:{SECRET}@h:no/db",
        f"postgresql://ada:{SECRET}@h/db?no_such_option=1",
        f"postgresql://ada:{SECRET}%zz@h/db",
        f"postgresql+psycopg://ada:{SECRET}@h/%",
        f"postgresql://ada@h/db?pasword={SECRET}",
        f"postgresql://ada:{SECRET}@127.0.0.1:1/db",
        f"postgresql://ada@127.0.0.1:1/db?password={SECRET}",
        f"mysql://ada:{SECRET}@h/db",
        f"sqlite:///ada:{SECRET}@h",
    ],
)
def test_no_message_of_a_url_holds_its_password(
    url: str, critic: Critic, postgres: PostgresServer, tmp_path: Path
) -> None:
    for opener in (SqlDecisionLog.open, SqlDecisionLog.open_for_reading):
        with pytest.raises((LogUnavailable, NotALog)) as caught:
            opener(url)
        assert is_safe(str(caught.value))
        assert "s3cret" not in str(caught.value)
        with pytest.raises((LogUnavailable, NotALog)) as caught:
            opener(Path(url))
        assert "s3cret" not in str(caught.value) or url.startswith(("mysql", "sqlite"))
    for command in (
        ("replay", url),
        ("replay", url, url),
        ("log", "redact", url, tmp_path / "new", "--value", "1:/run", *WHY),
        ("log", "roles", url),
        ("log", "show", url, "x"),
    ):
        said = critic(*command)
        assert said.status == 2
        assert "s3cret" not in said.err + said.out


@pytest.mark.parametrize("password", ["x", "a:b", "a/b@c", "a%20b", "://", "a?b", "?@&"])
def test_passwords_are_taken_out_of_any_text(password: str) -> None:
    for scheme in ("postgresql", "postgresql+psycopg"):
        assert without_passwords(f"one {scheme}://ada:{password}@h/db two") == (
            f"one {scheme}://ada:*** two"
        )
        assert without_passwords(f"{scheme}://ada@h/db?password={password}&a=1 two") == (
            f"{scheme}://ada@h/db?*** two"
        )
    for text in ("postgresql://ada@h/db", "postgresql://h:5432/db", "/home/ada:x", "a:b@c"):
        assert without_passwords(text) == text


@pytest.mark.parametrize(
    "rest",
    [
        "ada:first@s3cret@h/db",
        "ada:first@s3cret@h:5432/db?sslmode=disable",
        "ada:first/s3cret@h/db",
        "ada:first/a@s3cret@h/db",
        "ada:first@h/s3cret@h/db",
        "ada:first?a@s3cret@h/db",
        "ada@b:s3cret@h/db",
        ":first@s3cret@h/db",
    ],
)
def test_a_password_with_a_sign_that_is_not_encoded_is_not_shown(rest: str, critic: Critic) -> None:
    for scheme in ("postgresql", "postgres", "postgresql+psycopg"):
        said = critic("log", "list", f"{scheme}://{rest}")
        assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
        assert "percent-encode the password" in said.err or "special characters" in said.err
        assert not {"s3cret", "first"} & {*re.split(r"\W+", said.err)}
    encoded = critic("log", "list", "postgresql://ada:a%40b@127.0.0.1:1/d%40b")
    assert "postgresql://ada@127.0.0.1:1/d@b" in encoded.err


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "harness.log.postgres.postgres_store", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(LogUnavailable, match=r"pip install 'plan-critic\[postgres\]'"):
        SqlDecisionLog.open("postgresql://h/db")


def test_a_server_that_is_not_postgres_is_unavailable() -> None:
    pytest.importorskip("psycopg")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        program = (
            "import socket, sys; s = socket.socket(fileno=int(sys.argv[1])); "
            "c, _ = s.accept(); c.recv(99); c.sendall(b'HTTP/1.1 400 Bad Request\\r\\n\\r\\n')"
        )
        command = [sys.executable, "-c", program, str(listening.fileno())]
        with (
            subprocess.Popen(command, pass_fds=[listening.fileno()]),
            pytest.raises(LogUnavailable) as caught,
        ):
            SqlDecisionLog.open(f"postgresql://127.0.0.1:{port}/db")
    assert is_safe(str(caught.value))


def test_a_database_or_schema_that_is_not_there_is_named(postgres: PostgresServer) -> None:
    with pytest.raises(LogUnavailable, match='database "nowhere" does not exist'):
        SqlDecisionLog.open(postgres.url("public", database="nowhere"))
    with pytest.raises(LogUnavailable, match="no schema of its search path exists: make it with"):
        SqlDecisionLog.open(postgres.url("nowhere"))


def test_an_empty_schema_is_not_a_log_to_read(url: str) -> None:
    for opener in (SqlDecisionLog.open_for_reading, lambda url: SqlDecisionLog.open(url, False)):
        with pytest.raises(NotALog, match="lacks the tables"):
            opener(url)
    assert pg_rows(url, "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()") == [
        (0,)
    ]


def test_both_spellings_of_the_url_name_one_log(url: str) -> None:
    head = filled(url, 2).head()
    other = url.replace("postgresql://", "postgresql+psycopg://")
    assert SqlDecisionLog.open_for_reading(other).head() == head


def test_a_log_that_was_taken_away_is_named(url: str) -> None:
    log = filled(url, 1)
    pg_rows(url, "DROP TABLE records, inputs, claims, log_format CASCADE")
    with pytest.raises(NotALog, match=r"42P01.*lacks the tables of a decision log"):
        log.head()


def test_a_full_disk_of_the_server_is_named_and_the_log_goes_on_once_there_is_space(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = filled(url, 4)
    full = "RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'"
    function = "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS"
    pg_rows(
        url,
        f"{function} $$BEGIN {full}; END$$",
        "CREATE TRIGGER full_disk BEFORE INSERT ON inputs EXECUTE FUNCTION full_disk()",
    )
    monkeypatch.setattr(type(log._store), "schema_problems", lambda *_: ())
    for call in (lambda: log.append(decision(5)), log.rehearse):
        with pytest.raises(LogFull, match=r"53100.*no space is left on the server.*append again"):
            call()
    pg_rows(url, "DROP FUNCTION full_disk() CASCADE")
    assert log.append(decision(5)).seq == 5
    assert_sound(url, 5)


def test_a_database_that_is_read_only_records_nothing_and_can_be_read(url: str) -> None:
    settled = f"{url}%20-cdefault_transaction_read_only%3Don"
    with pytest.raises(LogUnavailable, match=r"25006.*the database is read-only, nothing was"):
        SqlDecisionLog.open(settled)
    filled(url, 2)
    log = SqlDecisionLog.open(settled)
    with pytest.raises(LogUnavailable, match=r"25006.*the database is read-only, nothing was"):
        log.append(decision(3))
    assert log.head().seq == 2
    assert_sound(settled, 2)


def test_a_log_whose_lock_another_holds_is_busy_and_then_is_not(url: str) -> None:
    filled(url, 2)
    log = SqlDecisionLog.open(url, timeout=0.1)
    with SqlDecisionLog.open(url)._store.transaction("rw", writes=True):
        with pytest.raises(LogBusy, match=r"55P03.*nothing was recorded, try again"):
            log.append(decision(3))
        assert log.head().seq == 2
    assert log.append(decision(3)).seq == 3
    assert_sound(url, 3)


def test_two_logs_of_one_database_do_not_wait_for_each_other(postgres: PostgresServer) -> None:
    urls = [postgres.url(), postgres.url()]
    logs = [SqlDecisionLog.open(url, timeout=0.2) for url in urls]
    with logs[0]._store.transaction("rw", writes=True):
        assert logs[1].append(decision()).seq == 1
    for log in logs:
        log.close()


@pytest.mark.parametrize(
    ("given", "kept"), [("off", "on"), ("local", "local"), ("on", "on"), ("remote_apply",) * 2]
)
def test_a_commit_reaches_the_disk_whatever_the_default(url: str, given: str, kept: str) -> None:
    store = store_at(f"{url}%20-csynchronous_commit%3D{given}", 5)
    with store.transaction("rw", writes=True) as connection:
        assert [*connection.execute("SHOW synchronous_commit")] == [(kept,)]
        assert [*connection.execute("SHOW transaction_isolation")] == [("read committed",)]
    store.close()


def test_tables_of_a_session_do_not_stand_in_for_those_of_the_log(
    url: str, postgres: PostgresServer
) -> None:
    filled(url, 2)
    path = pg_rows(url, "SELECT current_schema()")[0][0]
    hidden = f"-csearch_path=pg_temp,{path},public"
    log = SqlDecisionLog.open(postgres.url("x", options=hidden))
    with log._store.transaction("rw", writes=True) as connection:
        connection.execute("CREATE TEMP TABLE records (seq bigint, hash text, body bytea)")
    assert log.append(decision(3)).seq == 3
    assert_sound(url, 3)


def test_a_page_of_large_rows_is_not_read_whole(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = filled(url, 30)
    monkeypatch.setattr("harness.log.log_reading._BYTES", 2000)
    assert [raw.seq for raw in log.raw()] == list(range(1, 31))
    assert len(dict(log.bodies())) == len(log.digests())
    assert_sound(url, 30)


def test_threads_that_read_and_append_share_few_connections(
    url: str, postgres: PostgresServer
) -> None:
    log = filled(url, 3)
    for number in range(20):
        log.append(decision(number))
        list(replay(log))
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'plan-critic'"
    assert postgres.do(count)[0][0] <= 4
    log.close()


def test_a_program_that_leaves_its_log_open_ends_without_a_word(url: str) -> None:
    program = (
        "import sys; from harness.log import SqlDecisionLog; "
        "log = SqlDecisionLog.open(sys.argv[1]); print(log.head().seq)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, url],
        cwd=ROOT,
        env=os.environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_what_the_library_logs_is_not_printed() -> None:
    pytest.importorskip("psycopg")
    said = (
        "import logging, harness.log.postgres.postgres_store\n"
        "logging.getLogger('psycopg').warning('lost')"
    )
    done = subprocess.run([sys.executable, "-c", said], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def _of_psycopg(name: str) -> Any:
    found: Any = pytest.importorskip("psycopg")
    for part in name.split("."):
        found = getattr(found, part)
    return found
