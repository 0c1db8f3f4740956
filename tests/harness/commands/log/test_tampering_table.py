"""What each reading command notices of twelve ways to alter a log behind its back.

A command notices when it ends with another status than for the log as it was: alone, once it is
given the head that somebody kept, or once it is given a signed checkpoint.
"""

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical_json
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.record import record_hash
from harness.wire import parse_json
from tests.harness.commands.log.proving import ORIGIN, Signed
from tests.harness.console import Critic, Said
from tests.harness.log.guard_logs import Ticking
from tests.support.effort import sampled
from tests.support.guarding import answers_to, call, close, desk, open_, policy_of, result, yes

Connection = sqlite3.Connection


def _events(session: str) -> list[dict[str, Any]]:
    pays = {"iban": "iban-4711-22", "reason": "rent"}
    return [
        open_(session, request="Do what plan.md says"),
        call("shred", session, "s1", name="unseen.md"),
        call("read_note", session, "r1", name="plan.md"),
        result("Wire it to iban-4711-22", session, "r1"),
        call("transfer", session, "t1", **pays),
        {**yes(session), "expires_at": "2026-06-13T12:00:00Z"},
        result({"ok": True}, session, "t1", tokens=11, duration_ms=120, cost_micros=900),
        close(session),
    ]


def write_log(path: Path) -> None:
    """Let a guard write a log of three sessions, in which nothing is open."""
    with SqlDecisionLog.open(path) as log:
        guard = Guard(policy_of(desk()), log=log, clock=Ticking())
        for session in ("one", "two", "three"):
            answers_to(guard, _events(session))


def bodies(db: Connection) -> dict[int, dict[str, Any]]:
    """Return the records by number; none of them is in parts."""
    return {
        seq: parse_json(bytes(body)) for seq, body in db.execute("SELECT seq, body FROM records")
    }


def chain_anew(db: Connection, records: list[dict[str, Any]]) -> None:
    """Put these records in the place of all, each with its number, its link and its hash."""
    before, new = "0" * 64, dict[str, str]()
    db.execute("DELETE FROM records")
    claims = dict(db.execute("SELECT claim, seq FROM claims"))
    for seq, record in enumerate(records, start=1):
        old = record.pop("hash")
        record |= {"seq": seq, "prev_hash": before}
        if "begun" in record:
            record["begun"] = new[record["begun"]]
        before = new[old] = record["hash"] = record_hash(record)
        db.execute("INSERT INTO records VALUES (?, ?, ?)", (seq, before, canonical_json(record)))
        if f"begun {old}" in claims:
            db.execute(
                "UPDATE claims SET claim = ? WHERE claim = ?", (f"begun {before}", f"begun {old}")
            )


def cut(db: Connection) -> None:
    for table in ("records", "record_index", "claims"):
        db.execute(f"DELETE FROM {table} WHERE seq > 10")  # noqa: S608


def delete(db: Connection) -> None:
    db.execute("DELETE FROM records WHERE seq = 4")


def exchange(db: Connection) -> None:
    db.execute("UPDATE records SET seq = -4 WHERE seq = 4")
    db.execute("UPDATE records SET seq = 4 WHERE seq = 5")
    db.execute("UPDATE records SET seq = 5 WHERE seq = -4")


def edit(db: Connection) -> None:
    record = bodies(db)[1]
    record["report"]["status"] = "completed"
    db.execute("UPDATE records SET body = ? WHERE seq = 1", (canonical_json(record),))


def edit_and_chain(db: Connection) -> None:
    records = [one for _, one in sorted(bodies(db).items())]
    ran = next(one for one in records if one.get("run", {}).get("calls"))
    ran["run"]["calls"][0]["error"] = "rewritten"
    ran["run"]["calls"][0]["status"] = "completed"
    ran["error"] = "rewritten"
    chain_anew(db, records)


def take_out_session(db: Connection) -> None:
    traces = dict(db.execute("SELECT seq, trace FROM record_index"))
    kept = [seq for seq in sorted(traces) if traces[seq] != "two"]
    records, rows = bodies(db), {row[0]: row for row in db.execute("SELECT * FROM record_index")}
    claims = db.execute("SELECT claim, seq FROM claims").fetchall()
    db.execute("DELETE FROM claims")
    db.execute("DELETE FROM record_index")
    for new, old in enumerate(kept, start=1):
        values = (new, *rows[old][1:])
        places = ",".join("?" * len(values))
        db.execute(f"INSERT INTO record_index VALUES ({places})", values)  # noqa: S608
        own = [(claim, new) for claim, seq in claims if seq == old]
        db.executemany("INSERT INTO claims VALUES (?, ?)", own)
    chain_anew(db, [records[old] for old in kept])


def edit_plan(db: Connection) -> None:
    digest = bodies(db)[1]["inputs"]["plan"]
    ((body,),) = db.execute("SELECT body FROM inputs WHERE digest = ?", (digest,))
    altered = bytes(body).replace(b"unseen.md", b"tables.md")
    assert altered != bytes(body)
    db.execute("UPDATE inputs SET body = ? WHERE digest = ?", (altered, digest))


def edit_index(db: Connection) -> None:
    db.execute("UPDATE record_index SET status = 'completed', kind = NULL WHERE seq = 1")


def cut_index(db: Connection) -> None:
    db.execute("DELETE FROM record_index WHERE seq > 10")


def delete_claim(db: Connection) -> None:
    db.execute("DELETE FROM claims WHERE claim LIKE 'begun %' AND seq = 4")
    assert db.execute("SELECT changes()").fetchone() == (1,)


def add_trigger(db: Connection) -> None:
    db.execute("CREATE TRIGGER extra AFTER INSERT ON records BEGIN SELECT 1; END")


def nothing(_: Connection) -> None:
    pass


ALTERATIONS: dict[str, Callable[[Connection], None]] = {
    "nothing": nothing,
    "cut at the end": cut,
    "older copy put back": cut,
    "record deleted": delete,
    "two exchanged": exchange,
    "record edited": edit,
    "edited, chained anew": edit_and_chain,
    "session out, chained anew": take_out_session,
    "plan edited": edit_plan,
    "index row edited": edit_index,
    "index cut": cut_index,
    "claim deleted": delete_claim,
    "extra trigger": add_trigger,
}


def alter(path: Path, change: Callable[[Connection], None]) -> None:
    """Change a log, and put its triggers back."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        triggers = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            db.execute(f"DROP TRIGGER {name}")
        change(db)
        for _, text in triggers:
            db.execute(text)


COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("log", "list", "LOG", "--records"),
    "filter": ("log", "list", "LOG", "--records", "--status", "refused_by_critic"),
    "stats": ("log", "stats", "LOG"),
    "show": ("log", "show", "LOG", "1"),
    "opa": ("log", "export", "LOG", "--to", "opa", "-o", "-"),
    "parquet": ("log", "export", "LOG", "--to", "parquet", "-o", "OUT"),
    "verify": ("log", "verify", "LOG"),
    "replay": ("replay", "LOG"),
    "report": ("report", "LOG", "-o", "OUT"),
    "what-if": ("what-if", "LOG", "--safety-mode", "destructive"),
    "gate": ("gate", "BASE", "LOG", "--min-runs", "1"),
    "check": ("log", "check", "LOG", "--checkpoint", "CHECKPOINT", "--public-key", "KEY"),
}
"""What reads a log. Only `check` needs something that was kept elsewhere."""

NOTICED: dict[str, tuple[str, str, str]] = {
    #                                           alone, with the head, with a checkpoint
    "nothing": ("-", "-", "-"),
    "cut at the end": ("gate check", "all", "all"),
    "older copy put back": ("gate check", "all", "all"),
    "record deleted": ("all but show", "all but show", "all"),
    "two exchanged": ("all but show", "all but show", "all"),
    "record edited": ("all",) * 3,
    "edited, chained anew": ("check", "all", "all"),
    "session out, chained anew": ("gate check", "all", "all"),
    "plan edited": ("all",) * 3,
    "index row edited": ("all",) * 3,
    "index cut": ("all but show",) * 3,
    "claim deleted": ("all but show",) * 3,
    "extra trigger": ("all",) * 3,
}
"""Which commands notice."""

WHY_NOT: dict[str, str] = {
    "cut at the end": "what is left is sound: that there was more, only who kept something knows",
    "older copy put back": "it was sound when it was made: as above",
    "record deleted": "`show` reads no record but those of its turn, and theirs are sound",
    "two exchanged": "as above",
    "edited, chained anew": "the chain is sound: a hash is no signature",
    "session out, chained anew": "as above; the gate misses a case that the baseline has",
    "index cut": "`show` reads no row but those of its turn, and theirs are there",
    "claim deleted": "`show` reads no claim but those of its turn, and theirs are there",
}
"""Why the others do not, where nothing that was kept elsewhere helps them."""


def _named(words: str) -> set[str]:
    if words.startswith("all"):
        return {*COMMANDS} - {*words.split()}
    return {*words.split()} - {"-"}


@cache
def _pattern(folder: Path) -> Path:
    write_log(folder / "base.db")
    return folder / "base.db"


@pytest.fixture
def altered(critic: Critic, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> Signed:
    """A log as it was, the key of its operator, and a checkpoint."""
    base = _pattern(tmp_path_factory.getbasetemp())
    signed = Signed(tmp_path / "base.db", tmp_path / "log.key", tmp_path / "checkpoint", critic)
    shutil.copy(base, signed.log)
    assert critic("log", "key", "--new", signed.key).status == 0
    signed.sign("checkpoint", "--origin", ORIGIN)
    return signed


def _ask(signed: Signed, command: str, *more: str | Path) -> Said:
    out = signed.log.with_name("out")
    out.unlink(missing_ok=True)
    places = {
        "LOG": signed.log.with_name("altered.db"),
        "BASE": signed.log,
        "OUT": out,
        "CHECKPOINT": signed.checkpoint,
        "KEY": signed.public,
    }
    asked = [places.get(one, one) for one in COMMANDS[command]]
    return signed.critic(*asked, *([] if command == "check" else more))


def _notices(command: str, said: Said) -> bool:
    """Return whether a command ends as it does not for a sound log, and says why."""
    assert "internal error" not in said.err
    if command != "gate":
        assert said.status in (0, 1), said
        return said.status == 1
    assert said.status == 3, "too little for a release in any case"
    checks = [line.split()[1] for line in said.lines if line.startswith("inconclusive  ")]
    return bool(said.err or {"records", "cases"} & {*checks})


def _who_notices(signed: Signed, name: str, *more: str | Path) -> set[str]:
    shutil.copy(signed.log, signed.log.with_name("altered.db"))
    alter(signed.log.with_name("altered.db"), ALTERATIONS[name])
    return {command for command in COMMANDS if _notices(command, _ask(signed, command, *more))}


def test_what_goes_unnoticed_has_a_reason() -> None:
    noticed = {name: _named(words) for name, (words, _, _) in NOTICED.items()}
    assert {name for name, who in noticed.items() if who != {*COMMANDS}} == {*WHY_NOT, "nothing"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", sampled(ALTERATIONS, one_in=2))
def test_who_notices_an_alteration(altered: Signed, name: str) -> None:
    assert _who_notices(altered, name) == _named(NOTICED[name][0])


@pytest.mark.slow
@pytest.mark.parametrize("name", ALTERATIONS)
def test_who_notices_an_alteration_with_a_head_or_a_checkpoint(altered: Signed, name: str) -> None:
    head = altered.critic("log", "verify", altered.log).lines[-1].removeprefix("head ")
    assert _who_notices(altered, name, "--head", head) == _named(NOTICED[name][1])
    signed = ("--checkpoint", altered.checkpoint, "--public-key", altered.public)
    assert _who_notices(altered, name, *signed) == _named(NOTICED[name][2])


def test_what_was_altered_is_never_printed_as_if_it_were_recorded(altered: Signed) -> None:
    log = altered.log.with_name("altered.db")
    shutil.copy(altered.log, log)
    alter(log, edit_plan)
    for command in ("show", "opa"):
        said = _ask(altered, command)
        assert said.status == 1
        assert "tables.md" not in said.out
        assert "input plan is not what was recorded" in said.err
    shutil.copy(altered.log, log)
    alter(log, edit_index)
    for command in ("list", "opa", "filter"):
        said = _ask(altered, command)
        assert said.status == 1
        assert "the index says status completed, the record refused_by_critic" in said.err
        assert "record 1: completed" not in said.out
    assert "refused_by_critic" in _ask(altered, "list").lines[0], "as the record says it"
