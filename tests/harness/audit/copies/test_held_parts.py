"""`critic log redact --containing`: no byte of the copy holds the value, and every proof holds."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from critic.verify import verify_proposal
from evals.plan import Plan, Proposal
from harness.audit.copies import held_parts, redaction
from harness.audit.copies.held_parts import HeldParts, require_gone
from harness.audit.copies.value_search import SoughtValues
from harness.log.journal_rows import JournalRow
from harness.log.log_errors import LogDamaged
from harness.log.sql import SqlDecisionLog
from harness.record import CriticError, Decision
from harness.record.decision import PlanAttemptRecord
from harness.replay import check_log, replay
from harness.wire import build
from tests.harness.audit.packs.signed_packs import guarded_log
from tests.harness.commands.log.proving import WHY, Signed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import NOON, filled, judged, meddle, proposal, put_body, run_of
from tests.support.effort import sampled

MARK = "UK12 3456/7890 Zo\u00eb"
ESCAPED = "".join(f"\\u{ord(char):04x}" for char in MARK)
NUMBER = 70123456
SPELLINGS: dict[str, Any] = {
    "text": MARK,
    "within": f"to {MARK}, at once",
    "upper": MARK.upper(),
    "json in a text": json.dumps({"iban": MARK}),
    "json in json": json.dumps(json.dumps([{"iban": MARK}])),
    "every character escaped": f'{{"iban":"{ESCAPED}"}}',
}
NUMBERS: dict[str, Any] = {
    "integer": NUMBER,
    "float": float(NUMBER),
    "text": "70123456.00",
    "exponent": "7.0123456e7",
    "within": f"account {NUMBER}",
}


def with_value(place: str, value: Any) -> Decision | CriticError:
    """Return an entry that holds a value in one place."""
    text = value if isinstance(value, str) else json.dumps(value)
    if place in ("asked", "where"):
        asked, where = ({"of": [value]}, "x") if place == "asked" else ({}, text)
        return CriticError(asked=asked, where=where, failed_at=NOON)
    wire = proposal(11).wire()
    put_value(wire, place, value, text)
    outputs = OUTPUTS[place](value) if place in OUTPUTS else None
    proposed = build(Proposal, wire)
    more: dict[str, Any] = {"error": text} if place == "error" else {}
    if place == "attempts":
        changed = {**wire["plan"], "steps": [{**wire["plan"]["steps"][0], "args": {"n": value}}]}
        plan = build(Plan, changed)
        verdict = verify_proposal(Proposal(**{**dict(proposed), "plan": plan}))
        more["attempts"] = (PlanAttemptRecord(plan=plan, verdict=verdict),)
    run = None if outputs is None else run_of(proposed, 11, outputs=outputs)
    return judged(proposed, run, **more)


OUTPUTS: dict[str, Any] = {
    "outputs": lambda value: {"receipt": {"to": value}},
    "long run": lambda value: {"receipt": ["z" * 5000, {"to": value, "x": "y" * 5000}]},
}


def put_value(wire: dict[str, Any], place: str, value: Any, text: str) -> None:
    """Put a value into a proposal."""
    steps, items = wire["plan"]["steps"], wire["compiled"]["manifests"]["evidence_manifest"]
    contents: dict[str, Any] = {
        "evidence": {"a": value},
        "large": {"a": value, "other": "z" * 700, "deep": [{"b": value, "c": "y" * 700}]},
    }
    if place == "plan":
        steps[0]["args"]["note"] = value
    elif place == "name":
        steps[0]["args"][text] = 1
    elif place == "reason":
        steps[1]["requires_evidence"] = [re.sub("[^A-Za-z0-9]", "_", text)]
    elif place in contents:
        items.append({"id": "ev_2", "classification": "profile", "content": contents[place]})


PLACES = (
    *("asked", "where", "plan", "name", "evidence", "large", "outputs", "long run", "attempts"),
    "error",
)


def append(log: SqlDecisionLog, entry: Decision | CriticError) -> None:
    if isinstance(entry, CriticError):
        log.append_error(entry)
    else:
        log.append(entry)


def everything(path: Path) -> str:
    """Return every byte of a log as a text, its escapes read until none is left."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    data = path.read_bytes()
    texts = [data.decode("utf-8", "ignore")]
    for _ in range(8):
        found = re.sub(r"\\+u([0-9a-f]{4})", lambda one: chr(int(one[1], 16)), texts[-1])
        texts.append(found.replace('\\"', '"').replace("\\/", "/").replace("\\\\", "\\"))
    return "\n".join(texts).casefold()


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


def redact(signed: Signed, *given: str, name: str = "new.db") -> Said:
    return signed.critic("log", "redact", signed.log, signed.log.with_name(name), *given, *WHY)


def statuses(path: Path) -> list[str]:
    with SqlDecisionLog.open_for_reading(path) as log:
        assert check_log(log).text() == ""
        return [one.status for one in replay(log)]


def hashes(path: Path) -> list[tuple[int, str]]:
    with SqlDecisionLog.open_for_reading(path) as log:
        return [*log.hashes()]


def assert_gone(signed: Signed, before: list[tuple[int, str]], values: list[str]) -> Path:
    """Check that values are gone and that hashes, chain, index and checkpoint hold."""
    new = signed.log.with_name("new.db")
    held = everything(new)
    assert not [one for one in values if one.casefold() in held]
    assert hashes(new)[: len(before)] == before
    assert {*statuses(new)} <= {"same", "redacted"}
    checked = signed.check(new)
    assert (checked.status, checked.err) == (0, "")
    return new


@pytest.mark.parametrize("named", ["9:/inputs/plan/steps/0/args/note", "9:/inputs/plan"])
def test_a_value_that_stands_elsewhere_too_is_told(signed: Signed, named: str) -> None:
    wire = proposal(12).wire()
    wire["plan"]["steps"][0]["args"]["note"] = MARK
    with SqlDecisionLog.open(signed.log) as log:
        append(log, judged(build(Proposal, wire)))
        append(log, with_value("large", {"to": MARK, "x": "y" * 700}))
        append(log, with_value("error", f"no account {MARK}"))
    said = redact(signed, "--value", named)
    assert said.status == 0
    assert said.err == (
        "note: 2 records of the copy still hold a value that was taken out: "
        "--containing VALUE takes it out wherever it stands\n"
    )
    said = redact(signed, "--value", named, "--containing", MARK, name="none.db")
    assert (said.status, said.err) == (0, "")
    assert MARK.casefold() not in everything(signed.log.with_name("none.db"))


def test_a_value_that_stands_nowhere_else_has_no_note(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
    said = redact(signed, "--value", "9:/inputs/plan/steps/0/args/note")
    assert (said.status, said.err) == (0, "")


@pytest.mark.one_in(4)
@pytest.mark.parametrize("place", sampled(PLACES, one_in=3))
@pytest.mark.parametrize("spelling", sampled(SPELLINGS, one_in=2))
def test_no_byte_of_the_copy_holds_the_value(signed: Signed, place: str, spelling: str) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value(place, SPELLINGS[spelling]))
        append(log, judged(proposal(12)))
    before = hashes(signed.log)
    assert MARK.casefold() in everything(signed.log)
    said = redact(signed, "--containing", MARK)
    assert (said.status, said.err) == (0, "")
    new = assert_gone(signed, before, [MARK])
    assert statuses(new)[: len(before)].count("same") == len(before) - 1
    assert MARK not in said.out


@pytest.mark.one_in(4)
@pytest.mark.parametrize("place", ["plan", "evidence", "outputs", "asked"])
@pytest.mark.parametrize("spelling", sampled(NUMBERS, one_in=2))
def test_a_number_is_gone_in_every_spelling(signed: Signed, place: str, spelling: str) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value(place, NUMBERS[spelling]))
    before = hashes(signed.log)
    said = redact(signed, "--containing", "7012345.6e1")
    assert (said.status, said.err) == (0, "")
    assert_gone(signed, before, ["70123456", "7.0123456"])


def test_reasons_go_with_what_they_quote_and_the_others_stay(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("reason", "Ada-Lovelace-1815"))
        append(log, with_value("reason", "Charles-Babbage-1791"))
    before, named = hashes(signed.log), "Ada_Lovelace_1815"
    assert named.casefold() in everything(signed.log)
    assert redact(signed, "--containing", named).status == 0
    new = assert_gone(signed, before, [named])
    assert "charles_babbage_1791" in everything(new)
    assert statuses(new)[8:10] == ["redacted", "same"]
    shown = json.loads(signed.critic("log", "show", new, "9", "--format", "json").out)
    assert shown["report"]["verify"]["reasons"] == ["redacted"]


def test_several_values_go_together_and_a_part_that_many_have_goes_once(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        for value in (MARK, MARK, "born 1815-12-10"):
            append(log, with_value("large", value))
        append(log, with_value("outputs", MARK))
    before = hashes(signed.log)
    said = redact(signed, "--containing", MARK, "--containing", "1815-12-10")
    assert (said.status, said.err) == (0, "")
    new = assert_gone(signed, before, [MARK, "1815-12-10"])
    assert statuses(new)[8:12] == ["redacted"] * 4
    assert (
        "no part of the log holds"
        in signed.critic("log", "redact", new, new.with_name("x"), "--containing", MARK, *WHY).err
    )


@pytest.mark.parametrize(
    ("value", "place"),
    [("trace_3", "record 3: /report"), ("refund", "record 1: /report")],
)
def test_a_value_in_a_word_that_stays_is_told_and_nothing_is_copied(
    signed: Signed, value: str, place: str
) -> None:
    said = redact(signed, "--containing", value)
    assert (said.status, said.out) == (2, "")
    assert place in said.err
    assert "nothing was copied" in said.err
    assert not signed.log.with_name("new.db").exists()


def test_the_last_record_of_the_copy_says_what_was_taken_why_and_by_whom(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
        append(log, with_value("outputs", MARK))
    before = hashes(signed.log)
    assert redact(signed, "--containing", MARK).status == 0
    new = assert_gone(signed, before, [MARK])
    with SqlDecisionLog.open_for_reading(new) as log:
        *_, raw = log.raw()
        told = json.loads(raw.body)
        assert {one for one, body in log.bodies() if len(body) == 33} == {*told["taken"]}
    assert (told["kind"], told["seq"], told["by"]) == ("redacted", 11, "raj")
    assert told["because"] == "a customer asked for it"
    shown = signed.critic("log", "show", new, "11", "--format", "text")
    assert shown.lines[0].startswith("record 11: parts were taken out of the log, ")
    assert "  by raj: a customer asked for it" in shown.lines
    listed = [
        json.loads(one) for one in signed.critic("log", "list", new, "--format", "json").lines
    ]
    assert [one["seq"] for one in listed] == [*range(1, 11)]
    (row,) = signed.critic("log", "list", new, "--records", "--status", "redacted").lines[:1]
    assert f"{len(told['taken'])} parts were taken out by raj" in row
    put_body(new, 11, raw.body.replace(b'"by":"raj"', b'"by":"tom"'))
    assert signed.critic("log", "verify", new).status == 1


def test_a_log_that_goes_on_in_another_one_is_redacted_too(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
    assert signed.critic("log", "next", signed.log, signed.log.with_name("next.db")).status == 0
    before = hashes(signed.log)
    assert redact(signed, "--containing", MARK).status == 0
    new = assert_gone(signed, before, [MARK])
    assert len(hashes(new)) == len(before) + 1
    assert statuses(new)[-3:] == ["redacted", "same", "same"]


@pytest.mark.parametrize("given", [("", "x"), ("a b", "x"), ("raj", " "), ("raj", MARK)])
def test_a_note_that_cannot_be_recorded_or_holds_the_value_is_refused(
    signed: Signed, given: tuple[str, str]
) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
    new, (by, because) = signed.log.with_name("new.db"), given
    asked = ("--containing", MARK, "--by", by, "--because", because)
    said = signed.critic("log", "redact", signed.log, new, *asked)
    assert (said.status, len(said.err.splitlines())) == (2, 1)
    assert not new.exists()


def test_what_is_wrong_with_the_command_is_said_in_a_line(signed: Signed) -> None:
    for given, told in (
        ((), "say what to take out"),
        (("--containing", "abc"), "needs at least 4 characters"),
        (("--containing", "not there"), "no part of the log holds such a value"),
        (("--trace", "not there"), "no record is of this trace"),
    ):
        said = redact(signed, *given)
        assert (said.status, said.out) == (2, "")
        assert told in said.err
        assert len(said.err.splitlines()) == 1
        assert not signed.log.with_name("new.db").exists()


def test_a_trace_is_taken_out_and_every_other_one_stays(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
        append(log, with_value("outputs", MARK))
    before = hashes(signed.log)
    said = redact(signed, "--trace", "trace_11")
    assert (said.status, said.err) == (0, "")
    new = assert_gone(signed, before, [MARK])
    assert statuses(new)[:10] == ["same"] * 8 + ["redacted"] * 2
    with SqlDecisionLog.open_for_reading(new) as log:
        *_, last = log.raw()
        assert b"verify passed" not in last.body


def test_a_log_of_guards_is_redacted_with_its_sessions(critic: Critic, tmp_path: Path) -> None:
    signed = guarded_log(critic, tmp_path)
    value = value_in(signed.log)
    before = hashes(signed.log)
    assert value.casefold() in everything(signed.log)
    said = redact(signed, "--containing", value)
    assert (said.status, said.err) == (0, ""), said
    new = signed.log.with_name("new.db")
    assert value.casefold() not in everything(new)
    assert hashes(new)[: len(before)] == before
    assert signed.check(new).status == 0
    with SqlDecisionLog.open_for_reading(new) as log:
        assert check_log(log).text() == ""
        assert {one.status for one in replay(log)} <= {"same", "redacted", "incomplete", "open"}


def value_in(path: Path) -> str:
    """Return a long text of a plan, which nothing that stays has."""
    with SqlDecisionLog.open_for_reading(path) as log:
        for record in log.records():
            body = log.input(record.inputs.plan)
            found = re.search(rb'"args":\{"[a-z_]+":"([^"\\]{9,})"', body or b"")
            if found:
                return found[1].decode()
    raise AssertionError("no plan has such a text")


def test_open_sessions_come_along_but_those_that_hold_the_value(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
        for session, value in (("a" * 64, "other"), ("b" * 64, MARK)):
            for number, text in ((1, "first"), (2, value)):
                body = json.dumps({"said": text}).encode()
                log.copy_journal(session, [JournalRow(number, None, None, body)])
    before = hashes(signed.log)
    said = redact(signed, "--containing", MARK)
    note = "open sessions whose journals hold a value are left out, and cannot go on in NEW: 1"
    assert f"note: {note}" in said.lines
    with SqlDecisionLog.open_for_reading(assert_gone(signed, before, [MARK])) as log:
        assert [*log.journaled_sessions()] == ["a" * 64]
        assert len(log.journal("a" * 64)) == 2


LEFT: dict[str, tuple[str, str]] = {
    "part": ("UPDATE inputs SET body = ? WHERE digest = (SELECT max(digest) FROM inputs)", "part "),
    "record": ("UPDATE records SET body = ? WHERE seq = 3", "record 3: /asked"),
    "index": ("UPDATE record_index SET trace = ? WHERE seq = 3", "row 3 of the index"),
    "claim": ("INSERT INTO claims (claim, seq) VALUES (?, 3)", "claim of record 3"),
    "journal": (
        "INSERT INTO session_journal (session, number, seq, begun, body) "
        "VALUES ('s', 1, NULL, NULL, ?)",
        "journal s",
    ),
}
"""How a value is left in one place alone, and how that is told."""


@pytest.mark.parametrize("place", LEFT)
@pytest.mark.parametrize("value", [MARK, json.dumps(json.dumps(MARK))])
def test_a_copy_that_still_holds_a_value_anywhere_is_not_kept(
    tmp_path: Path, place: str, value: str
) -> None:
    path = tmp_path / "log.db"
    filled(path, 4).close()
    sought = SoughtValues([MARK])
    with SqlDecisionLog.open_for_reading(path) as log:
        require_gone(log, sought)
    statement, told = LEFT[place]
    body = json.dumps({"asked": value}, ensure_ascii=False).encode()
    meddle(path, (statement, (value if place in ("index", "claim") else body,)))
    with (
        SqlDecisionLog.open_for_reading(path) as log,
        pytest.raises(LogDamaged, match="the copy still holds a value") as caught,
    ):
        require_gone(log, sought)
    assert told in str(caught.value)


def test_what_the_search_missed_stops_the_copy(
    signed: Signed, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        append(log, with_value("plan", MARK))
        append(log, with_value("outputs", MARK))
    find = held_parts.parts_holding

    def find_one(log: SqlDecisionLog, sought: SoughtValues, last: int) -> HeldParts:
        return HeldParts(find(log, sought, last).bodies)

    monkeypatch.setattr(redaction, "parts_holding", find_one)
    said = redact(signed, "--containing", MARK)
    assert (said.status, said.out) == (2, "")
    assert "the copy still holds a value, so it was not kept: record 10: /run" in said.err
    assert not signed.log.with_name("new.db").exists()


def test_of_a_record_that_is_cut_for_two_reasons_both_members_go() -> None:
    one, other = HeldParts({"a"}, {1: {"run": "r"}}), HeldParts({"b"}, {1: {"asked": "q"}, 2: {}})
    for both in (one.join(other), other.join(one)):
        assert both.bodies == {"a", "b"}
        assert both.members == {1: {"run": "r", "asked": "q"}, 2: {}}
        assert both.digests == {"a", "b", "r", "q"}
