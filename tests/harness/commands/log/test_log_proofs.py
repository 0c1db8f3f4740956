"""`critic log checkpoint`, `prove` and `check`: each change of a log is found and named."""

import base64
import json
import sqlite3
from pathlib import Path

import pytest

from harness.canonical import canonical_json
from harness.record import record_hash
from harness.wire import parse_json
from tests.harness.commands.log.proving import ORIGIN, Signed, changed, signed_log
from tests.harness.console import Critic
from tests.harness.log.decisions import body_of, decision, filled, meddle, put_body, query


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


def move(log: Path, *places: tuple[int, int]) -> None:
    """Give records other numbers: (from, to)."""
    away = [("UPDATE records SET seq = ? WHERE seq = ?", (-to, at)) for at, to in places]
    back = [("UPDATE records SET seq = ? WHERE seq = ?", (to, -to)) for _, to in places]
    meddle(log, *away, *back)


def rewritten(body: bytes, **members: object) -> tuple[bytes, str]:
    """Return a record with other members and the hash that it has then."""
    document = {**parse_json(body), **members}
    document["hash"] = record_hash(document)
    return canonical_json(document), document["hash"]


def put_record(log: Path, seq: int, body: bytes, own_hash: str) -> None:
    meddle(log, ("UPDATE records SET body = ?, hash = ? WHERE seq = ?", (body, own_hash, seq)))


def names(signed: Signed, log: Path) -> set[str]:
    """Return what a comparison names, and check that it says so in every form."""
    said = signed.check(log)
    assert (said.status, said.err) == (1, "")
    found = {line.partition(":")[0] for line in said.lines if not line.startswith("note")}
    told = json.loads(signed.check(log, "--format", "json").out)
    assert told["ok"] is False
    assert {one["kind"] for one in told["departures"]} == found
    return found


def test_a_log_is_as_it_was_signed_and_may_grow(signed: Signed) -> None:
    assert signed.check(signed.log) == (0, "8 records: as signed\n", "")
    signed.grow(3)
    assert signed.check(signed.log) == (0, "8 records: as signed, 3 more follow\n", "")
    told = json.loads(signed.check(signed.log, "--format", "json").out)
    counts = {"signed": 8, "records": 11, "redacted": 0, "without_inputs": 0}
    assert told == {"ok": True, "departures": [], **counts}


def test_a_checkpoint_has_the_form_of_c2sp(signed: Signed) -> None:
    lines = signed.checkpoint.read_text("utf-8").split("\n")
    assert lines[:2] == [ORIGIN, "8"]
    first = query(signed.log, "SELECT hash FROM records WHERE seq = 1")[0][0]
    assert lines[3:5] == [f"record 1 {first}", ""]
    assert lines[5].startswith(f"\u2014 {ORIGIN} ")
    assert lines[6:] == [""]
    again = signed.sign("again", "--origin", ORIGIN)
    assert again.read_bytes() == signed.checkpoint.read_bytes()


def test_a_log_that_nobody_named_is_named_after_its_first_record(signed: Signed) -> None:
    unnamed = signed.sign("unnamed")
    first = query(signed.log, "SELECT hash FROM records WHERE seq = 1")[0][0]
    assert unnamed.read_text("utf-8").startswith(f"critic-log/{first[:32]}\n8\n")
    assert signed.check(signed.log, checkpoint=unnamed).status == 0


def test_a_log_without_records_has_a_checkpoint_that_every_log_extends(
    critic: Critic, tmp_path: Path
) -> None:
    empty = signed_log(critic, tmp_path, 0)
    assert empty.checkpoint.read_text("utf-8").startswith(f"{ORIGIN}\n0\n47DEQpj8HBSa")
    assert empty.check(empty.log).out == "0 records: as signed\n"
    empty.grow(2)
    assert empty.check(empty.log).out == "0 records: as signed, 2 more follow\n"


def test_truncation_is_named(signed: Signed) -> None:
    meddle(signed.log, ("DELETE FROM records WHERE seq > ?", (5,)))
    assert names(signed, signed.log) == {"truncated"}
    assert signed.check(signed.log).lines == [
        "truncated: the checkpoint is of 8 records, the log holds 5"
    ]
    meddle(signed.log, ("DELETE FROM records", ()))
    assert names(signed, signed.log) == {"truncated"}


@pytest.mark.parametrize(
    "places",
    [
        [(2, 3), (3, 2)],
        [(1, 2), (2, 1)],
        [(7, 8), (8, 7)],
        [(2, 4), (4, 6), (6, 2)],
        [(at, 9 - at) for at in range(1, 9)],
    ],
)
def test_reordering_is_named(signed: Signed, places: list[tuple[int, int]]) -> None:
    move(signed.log, *places)
    assert names(signed, signed.log) == {"reordered"}


def test_a_record_cut_out_is_named(signed: Signed) -> None:
    meddle(signed.log, ("DELETE FROM records WHERE seq = 4", ()))
    assert names(signed, signed.log) == {"removed", "truncated"}
    assert "removed: record 4 is missing" in signed.check(signed.log).lines
    move(signed.log, *[(at, at - 1) for at in range(5, 9)])
    assert names(signed, signed.log) == {"removed", "truncated"}


def test_a_splice_is_named(signed: Signed, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    filled(other, 8, kinds=("refused",)).close()
    foreign = query(other, "SELECT body, hash FROM records WHERE seq = 4")[0]
    put_record(signed.log, 4, *foreign)
    assert names(signed, signed.log) == {"spliced", "removed"}
    assert signed.check(signed.log).lines[0].startswith("spliced: record 4: it does not follow")
    for row in query(other, "SELECT digest, body FROM inputs"):
        meddle(signed.log, ("INSERT OR IGNORE INTO inputs VALUES (?, ?)", tuple(row)))
    assert names(signed, signed.log) == {"spliced"}


def test_a_record_put_in_is_named(signed: Signed) -> None:
    extra = query(signed.log, "SELECT body FROM records WHERE seq = 3")[0][0]
    body, own_hash = rewritten(bytes(extra), prev_hash="0" * 64)
    move(signed.log, *[(at, at + 1) for at in range(4, 9)])
    meddle(signed.log, ("INSERT INTO records VALUES (?, ?, ?)", (4, own_hash, body)))
    assert "spliced" in names(signed, signed.log)


@pytest.mark.parametrize("seq", [1, 4, 8])
def test_an_altered_record_is_named(signed: Signed, seq: int) -> None:
    body = body_of(signed.log, seq)
    put_body(signed.log, seq, body.replace(b"refund", b"refind", 1))
    assert names(signed, signed.log) == {"altered"}
    put_body(signed.log, seq, b"{")
    assert "altered" in names(signed, signed.log)


@pytest.mark.parametrize("seq", [1, 4, 7])
def test_a_record_made_anew_with_its_hash_does_not_lead_on(signed: Signed, seq: int) -> None:
    body, own_hash = rewritten(body_of(signed.log, seq), trace="x")
    put_record(signed.log, seq, body, own_hash)
    assert names(signed, signed.log) == {"spliced"}


def test_the_last_record_made_anew_is_a_fork(signed: Signed) -> None:
    put_record(signed.log, 8, *rewritten(body_of(signed.log, 8), trace="x"))
    assert names(signed, signed.log) == {"forked"}


@pytest.mark.parametrize("common", [1, 5, 7])
def test_a_fork_is_named(signed: Signed, critic: Critic, tmp_path: Path, common: int) -> None:
    fork = tmp_path / "fork.db"
    filled(fork, common).close()
    signed.grow(8 - common, kind="refused", log=fork)
    assert critic("log", "verify", fork).status == 0
    assert names(signed, fork) == {"forked"}
    signed.grow(4, log=fork)
    assert names(signed, fork) == {"forked"}


@pytest.mark.parametrize("count", [8, 12])
def test_a_log_exchanged_as_a_whole_is_named(
    signed: Signed, critic: Critic, tmp_path: Path, count: int
) -> None:
    other = tmp_path / "other.db"
    filled(other, count, kinds=("partial",)).close()
    assert critic("log", "verify", other).status == 0
    assert names(signed, other) == {"exchanged"}


@pytest.mark.parametrize("name", ["ctx", "compiled", "spec", "plan"])
def test_an_input_that_was_altered_or_is_gone_is_named(signed: Signed, name: str) -> None:
    digest = parse_json(body_of(signed.log, 4))["inputs"][name]
    ((body,),) = query(signed.log, "SELECT body FROM inputs WHERE digest = ?", digest)
    other = bytes(body).replace(b"refund", b"refind").replace(b"2025", b"2026")
    meddle(signed.log, ("UPDATE inputs SET body = ? WHERE digest = ?", (other, digest)))
    assert names(signed, signed.log) == {"altered"}
    meddle(signed.log, ("DELETE FROM inputs WHERE digest = ?", (digest,)))
    assert names(signed, signed.log) == {"removed"}


def test_an_altered_input_does_not_hide_a_fork(signed: Signed, tmp_path: Path) -> None:
    fork = tmp_path / "fork.db"
    filled(fork, 5).close()
    signed.grow(5, kind="refused", log=fork)
    digest = parse_json(body_of(fork, 4))["inputs"]["plan"]
    meddle(fork, ("UPDATE inputs SET body = ? WHERE digest = ?", (b"{}", digest)))
    assert names(signed, fork) == {"forked", "altered"}


def test_tables_that_were_changed_are_told(signed: Signed) -> None:
    with sqlite3.connect(signed.log) as database:
        database.execute("DROP TRIGGER records_no_delete")
    database.close()
    said = signed.check(signed.log)
    assert said.status == 1
    assert said.lines == ["the log is damaged: trigger records_no_delete is missing"]


def test_nothing_is_signed_of_a_log_that_is_not_sound(signed: Signed, critic: Critic) -> None:
    signed.grow(2)
    assert signed.sign("next", "--since", signed.checkpoint).read_text("utf-8").startswith(ORIGIN)
    put_body(signed.log, 10, b"{")
    said = critic("log", "checkpoint", signed.log, "--key", signed.key)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("altered: record 10: ")
    assert said.err.endswith("critic: nothing was signed\n")


def test_nothing_is_signed_that_does_not_extend_the_last_checkpoint(
    signed: Signed, critic: Critic, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    filled(other, 9, kinds=("partial",)).close()
    given = ("--key", signed.key, "--since", signed.checkpoint)
    said = critic("log", "checkpoint", other, *given)
    assert (said.status, said.out) == (1, "")
    assert said.err.startswith("exchanged: it is another log: ")
    said = critic("log", "checkpoint", signed.log, *given, "--origin", "example.com/other")
    assert said.status == 2
    assert "is of another origin: example.com/audit, not example.com/other" in said.err


@pytest.mark.parametrize("record", range(1, 9))
def test_every_record_is_proved(signed: Signed, record: int) -> None:
    proof = signed.prove("proof", str(record), "--checkpoint", signed.checkpoint)
    said = signed.check(proof)
    assert (said.status, said.err) == (0, "")
    assert said.lines[0] == f"record {record} of 8: it is in the log as it was signed"
    assert proof.read_text("utf-8").startswith("c2sp.org/tlog-proof@v1\nextra ")
    assert proof.read_text("utf-8").endswith(signed.checkpoint.read_text("utf-8"))


def test_a_proof_without_a_checkpoint_leads_to_the_log_as_it_is(signed: Signed) -> None:
    assert signed.check(signed.prove("proof", "3")).status == 0
    signed.grow(1)
    said = signed.check(signed.prove("later", "3"))
    assert (said.status, said.out) == (2, "")
    assert "the proof leads to a checkpoint of 9 records, this one is of 8" in said.err


def test_a_proof_of_another_record_is_refused(signed: Signed) -> None:
    proof = signed.prove("proof", "3", "--checkpoint", signed.checkpoint)
    with changed(proof, "\nindex 2\n", "\nindex 3\n"):
        said = signed.check(proof)
    assert said.status == 1
    assert said.out.startswith("altered: it is of another record: its place is 4")
    other = signed.prove("other", "4", "--checkpoint", signed.checkpoint)
    extra, wrong = (path.read_text("utf-8").split("\n")[1] for path in (proof, other))
    with changed(proof, extra, wrong):
        said = signed.check(proof)
    assert said.status == 1
    assert "another record" in said.out
    assert signed.check(proof).status == 0


@pytest.mark.parametrize("signs", [True, False])
def test_a_proof_with_something_after_it_is_refused(signed: Signed, signs: bool) -> None:
    given = ("--checkpoint", signed.checkpoint) if signs else ()
    proof = signed.prove("proof", "3", *given).read_text("utf-8")
    for more in ("more", "more\n", "\n", "\n\n", "index 3\n"):
        said = signed.check(signed.write("longer", proof + more))
        assert (said.status, said.out) == (2, ""), more
    assert signed.check(signed.write("same", proof)).status == 0


def test_a_proof_for_the_checkpoint_of_another_log_is_refused(signed: Signed) -> None:
    proof = signed.prove("proof", "3", "--checkpoint", signed.checkpoint)
    with changed(proof, f"\n{ORIGIN}\n", "\nexample.com/other\n"):
        said = signed.check(proof)
    assert (said.status, said.out) == (2, "")
    assert "is of another origin: example.com/other, not example.com/audit" in said.err


def test_a_proof_that_names_another_root_is_refused(signed: Signed) -> None:
    proof = signed.prove("proof", "3", "--checkpoint", signed.checkpoint)
    _, size, root, *_ = signed.checkpoint.read_text("utf-8").split("\n")
    other = base64.b64encode(bytes(32)).decode()
    with changed(proof, f"\n{size}\n{root}\n", f"\n{size}\n{other}\n"):
        said = signed.check(proof)
    assert (said.status, said.out) == (2, "")
    assert "the proof leads to other 8 records than those of this checkpoint" in said.err


def test_the_growth_of_a_log_is_proved(signed: Signed) -> None:
    signed.grow(5)
    later = signed.sign("later", "--origin", ORIGIN, "--since", signed.checkpoint)
    proof = signed.prove("growth", "--since", signed.checkpoint, "--checkpoint", later)
    said = signed.check(proof)
    assert said == (0, "13 records: they extend the 8 of the checkpoint\n", "")
    assert proof.read_text("utf-8").startswith("old 8\n")


def test_the_growth_of_a_fork_is_not_proved(signed: Signed, tmp_path: Path) -> None:
    fork = tmp_path / "fork.db"
    filled(fork, 5).close()
    signed.grow(9, kind="refused", log=fork)
    later = signed.sign("later", "--origin", ORIGIN, log=fork)
    said = signed.critic("log", "prove", fork, "--since", signed.checkpoint, "--checkpoint", later)
    assert said.status == 2
    assert "the log does not lead to the checkpoint" in said.err
    older = signed.sign("older", "--origin", ORIGIN, log=fork)
    lie = f"old 8\n\n{older.read_text('utf-8')}"
    said = signed.check(signed.write("lie", lie))
    assert (said.status, said.out) == (1, "forked: the 14 records do not extend the 8\n")


@pytest.mark.parametrize("kind", ["completed", "refused", "partial", "ended_early"])
def test_the_proof_of_a_record_holds_its_bytes(signed: Signed, kind: str) -> None:
    signed.grow(1, kind=kind)
    proof = signed.prove("proof", "9")
    extra = base64.b64decode(proof.read_text("utf-8").split("\n")[1].removeprefix("extra "))
    assert extra == body_of(signed.log, 9)
    assert decision(9, kind=kind).report.status.encode() in extra
    later = signed.sign("later", "--origin", ORIGIN)
    said = signed.check(proof, "--format", "json", checkpoint=later)
    told = json.loads(said.out)
    assert (said.status, told["ok"], told["inputs"]) == (0, True, [])
    assert told["record"] == parse_json(extra)
