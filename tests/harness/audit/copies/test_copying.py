"""`critic log copy`: the same records, claims and open sessions in another place."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.audit.copies.copying import copy_log, fill_log, rows_up_to
from harness.errors import UsageError
from harness.log import LogDamaged, SqlDecisionLog
from harness.record import Head
from harness.replay import check_log, replay
from tests.harness.commands.log.proving import signed_log
from tests.harness.console import Critic
from tests.harness.log.decisions import decision, meddle
from tests.harness.log.guard_logs import write_guard_log
from tests.support.guarding import answers_to, call, desk, guard_of, open_, result
from tests.support.postgres import PostgresServer


def contents(place: Path | str) -> list[object]:
    """Return all that a log holds."""
    with SqlDecisionLog.open_for_reading(place) as log:
        sessions = [*log.journaled_sessions()]
        index = log.index(range(1, log.head().seq + 1))
        return [
            *([*log.stored_records()], sorted(log.bodies()), sorted(log.all_claims())),
            *(index, [(one, log.journal(one)) for one in sessions]),
        ]


def open_log(path: Path) -> Path:
    """Return a log of guards with a session that is open."""
    write_guard_log(path)
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [open_("kept"), call("list_mail", "kept")])
    return path


def test_a_copy_is_the_same_log_and_its_sessions_go_on(critic: Critic, tmp_path: Path) -> None:
    source, copy = open_log(tmp_path / "a.db"), tmp_path / "b.db"
    said = critic("log", "copy", source, copy)
    with SqlDecisionLog.open(copy) as log:
        head = log.head()
        assert said.out.endswith(f"{head.seq} records, head {head.seq}:{head.hash}\n")
        assert check_log(log).text() == ""
    assert contents(copy) == contents(source)
    with SqlDecisionLog.open(copy) as log:
        again = guard_of(desk(), log=log)
        assert answers_to(again, [result("x", "kept")]) == {}
        assert "tampered" not in {one.status for one in replay(log)}


@pytest.mark.slow
def test_a_log_goes_to_a_server_and_back(
    critic: Critic, tmp_path: Path, postgres: PostgresServer
) -> None:
    source, back, url = open_log(tmp_path / "a.db"), tmp_path / "back.db", postgres.url()
    assert critic("log", "copy", source, url).status == 0
    assert contents(url) == contents(source)
    assert critic("log", "copy", url, back).status == 0
    assert contents(back) == contents(source)
    again = critic("log", "copy", source, url)
    assert (again.status, "it holds records" in again.err) == (2, True)
    postgres.disconnect_logs()


def test_old_checkpoints_hold_for_a_copy(critic: Critic, tmp_path: Path) -> None:
    signed = signed_log(critic, tmp_path)
    copy = tmp_path / "copy.db"
    assert critic("log", "copy", signed.log, copy).status == 0
    assert signed.check(copy).status == 0


def test_nothing_is_copied_over_and_no_damage_is_copied(critic: Critic, tmp_path: Path) -> None:
    source, copy = open_log(tmp_path / "a.db"), tmp_path / "b.db"
    copy.write_text("mine")
    said = critic("log", "copy", source, copy)
    assert (said.status, copy.read_text()) == (2, "mine")
    assert "exists" in said.err
    with closing(sqlite3.connect(source)) as db, db:
        db.execute("DROP TRIGGER records_no_delete")
        db.execute("DELETE FROM records WHERE seq = 3")
    said = critic("log", "copy", source, tmp_path / "c.db")
    assert said.status == 2
    assert not [*tmp_path.glob("c.db*")]


def test_a_copy_has_no_claims_of_records_that_it_does_not_have(tmp_path: Path) -> None:
    with SqlDecisionLog.open(open_log(tmp_path / "a.db")) as log:
        claimed = sorted({seq for _, seq in log.all_claims()})
        upto = claimed[len(claimed) // 2]
        (last,) = (raw for raw in log.raw() if raw.seq == upto)
        with SqlDecisionLog.open(tmp_path / "b.db") as target:
            rows = rows_up_to(upto, log.stored_records())
            fill_log(log, target, Head(upto, last.hash), log.bodies(), rows)
            assert {seq for _, seq in target.all_claims()} == {
                one for one in claimed if one <= upto
            }


def test_a_log_is_not_copied_over_parts_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.audit.copies.copying.is_url", lambda _: True)
    with SqlDecisionLog.open(open_log(tmp_path / "a.db")) as log:
        digest, body = next(iter(log.bodies()))
        used = tmp_path / "used.db"
        with SqlDecisionLog.open(used) as target:
            target.copy_stored({digest: body}, {})
        with pytest.raises(UsageError, match="name an empty schema"):
            copy_log(log, str(used))
        assert copy_log(log, str(tmp_path / "empty.db")) == log.head()


def test_a_log_that_lacks_an_input_is_not_copied(tmp_path: Path) -> None:
    place = tmp_path / "a.db"
    with SqlDecisionLog.open(place) as log:
        log.append(decision())
    meddle(place, ("DELETE FROM inputs WHERE digest IN (SELECT digest FROM inputs LIMIT 1)", ()))
    with SqlDecisionLog.open(place) as log:
        assert [one.status for one in replay(log, judge=False)] == ["incomplete"]
        with pytest.raises(LogDamaged):
            copy_log(log, str(tmp_path / "b.db"))
    assert not (tmp_path / "b.db").exists()


@pytest.mark.parametrize(
    "damage", ["DELETE FROM records WHERE seq > 20", "UPDATE record_index SET facts = 1"]
)
def test_no_damage_beside_the_records_is_copied(
    damage: str, critic: Critic, tmp_path: Path
) -> None:
    source = open_log(tmp_path / "a.db")
    meddle(source, (damage, ()))
    redacted = ("--trace", "alpha/1", "--by", "raj", "--because", "x")
    for said in (
        critic("log", "copy", source, tmp_path / "b.db"),
        critic("log", "redact", source, tmp_path / "b.db", *redacted),
    ):
        assert (said.status, "the log is damaged" in said.err) == (2, True)
    assert not [*tmp_path.glob("b.db*")]
