"""`critic log redact`: a value is gone, its digest stays, and every hash and proof still holds."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evals.plan import Proposal
from harness.audit.copies.redaction import ValueInRecord, Wanted, redact_log, value_named
from harness.canonical import canonical_json
from harness.log.sql import SqlDecisionLog
from harness.record import CriticError, sha256
from harness.replay import check_log, replay
from harness.wire import build
from tests.harness.commands.log.proving import WHY, Signed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import NOON, filled, judged, proposal, put_body, query, run_of
from tests.harness.log.guard_logs import write_guard_log
from tests.support.guarding import answers_to, call, close, desk, guard_of, open_, result, yes

ITEMS = "/inputs/compiled/manifests/evidence_manifest"
SECRET = "Ada Lovelace of 12 St James Square, born 10 December 1815, " * 20

MARK = "UK12345678901234567890"
OTHER = "Charles Babbage of 1 Dorset Street, born 26 December 1791, " * 20


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    """Return a signed log of which record 9 has a run with a secret in its outputs."""
    made = signed_log(critic, tmp_path)
    proposed = proposal(9)
    executed = run_of(proposed, 9, outputs={"receipt": {"customer": SECRET}, "kept": "x" * 600})
    with SqlDecisionLog.open(made.log) as log:
        log.append(judged(proposed, executed))
        log.append(judged(build(Proposal, with_two_items())))
    made.sign("checkpoint", "--origin", "example.com/audit")
    return made


def with_two_items(customer: str = OTHER) -> dict[str, Any]:
    """Return a proposal whose evidence is large enough to be kept in parts."""
    value = proposal(10).wire()
    content = {"order": "o-17", "customer": customer}
    item = {"id": "ev_2", "classification": "profile", "content": content}
    value["compiled"]["manifests"]["evidence_manifest"].append(item)
    return value


def redact(signed: Signed, *values: str) -> Said:
    given = [part for value in values for part in ("--value", value)]
    return signed.critic("log", "redact", signed.log, signed.log.with_name("new.db"), *given, *WHY)


def statuses(path: Path) -> list[str]:
    with SqlDecisionLog.open_for_reading(path) as log:
        assert check_log(log).text() == ""
        answers = [*replay(log)]
    # The last record of a copy says what was taken out.
    notes = [one.status for one in answers if one.kind == "redacted"]
    assert {*notes} <= {"same"}
    return [one.status for one in answers if one.kind != "redacted"]


def raw_bytes(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    return path.read_bytes()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "value",
    ["9:/run", "9:/run/outputs", "9:/run/outputs/receipt", "9:/run/outputs/receipt/customer"],
)
def test_a_value_of_a_run_is_gone_and_every_proof_holds(signed: Signed, value: str) -> None:
    proof = signed.prove("before", "9", "--checkpoint", signed.checkpoint)
    assert SECRET.encode() in raw_bytes(signed.log)
    said = redact(signed, value)
    assert (said.status, said.err) == (0, "")
    new = signed.log.with_name("new.db")
    assert SECRET[:59].encode() not in raw_bytes(new)
    assert statuses(new) == ["same"] * 8 + ["redacted", "same"]
    assert signed.check(new).lines == [
        "note: parts of 1 record are redacted: their digests are proved",
        "10 records: as signed, 1 more follow",
    ]
    verified = signed.critic("log", "verify", new)
    assert verified.status == 1
    assert verified.lines[-2] == "11 records: hashes and chain hold, 1 redacted"
    assert signed.check(proof).status == 0
    anew = signed._replace(log=new).prove("after", "9", "--checkpoint", signed.checkpoint)
    told = "record 9 of 10: it is in the log as it was signed; it is redacted, and its hash alone "
    assert signed.check(anew).lines[0] == f"{told}is proved"
    given = ("--key", signed.key, "--origin", "example.com/audit")
    again = signed.critic("log", "checkpoint", new, *given)
    assert (again.status, again.out.splitlines()[1]) == (0, "11")
    assert again.err == "note: parts of 1 record are redacted: their digests are proved\n"


def test_a_head_that_is_a_redacted_record_shows_another_log(signed: Signed) -> None:
    assert redact(signed, "9:/run").status == 0
    new = signed.log.with_name("new.db")
    with SqlDecisionLog.open_for_reading(new) as log:
        own = next(raw.hash for raw in log.raw(9))
        assert [*replay(log, head=(9, own))][8].status == "redacted"
        answer = [*replay(log, head=(9, "1" * 64))][8]
    assert answer.status == "tampered"
    assert answer.reasons[0].startswith("history was rewritten: its hash is ")
    for action in (("log", "verify"), ("replay",), ("replay", "--jobs", "2")):
        said = signed.critic(*action, new, "--head", "9:" + "1" * 64)
        assert said.status == 1
        assert "history was rewritten" in said.out


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["ctx", "plan", "spec", "compiled"])
def test_an_input_is_gone_and_the_record_stays_whole(signed: Signed, name: str) -> None:
    said = redact(signed, f"3:/inputs/{name}")
    assert said.status == 0
    new = signed.log.with_name("new.db")
    found = statuses(new)
    assert found[2] == "redacted"
    assert {*found} <= {"same", "redacted"}
    count = found.count("redacted")
    records = "1 record" if count == 1 else f"{count} records"
    assert signed.check(new).lines == [
        f"note: inputs of {records} are redacted: their digests are proved",
        "10 records: as signed, 1 more follow",
    ]
    with SqlDecisionLog.open_for_reading(signed.log) as log:
        (record,) = [one for one in log.records(3) if one.seq == 3]
        digest = record.inputs.wire()[name]
    assert said.lines[0] == f"3:/inputs/{name}: replaced by its digest {digest}"


def test_a_part_of_an_input_is_gone_alone(signed: Signed) -> None:
    said = redact(signed, f"10:{ITEMS}/1/content/customer")
    assert said.status == 0
    new = signed.log.with_name("new.db")
    assert said.lines == [
        f"10:{ITEMS}/1/content/customer: replaced by its digest {sha256(canonical_json(OTHER))}"
    ]
    assert statuses(new) == ["same"] * 9 + ["redacted"]
    assert b"profile" in new.read_bytes()
    with SqlDecisionLog.open_for_reading(new) as log:
        (record,) = log.records(10)
        assert log.input(record.inputs.compiled) is None
        assert log.input(record.inputs.plan) is not None


def test_what_is_around_a_small_value_goes_with_it(signed: Signed) -> None:
    said = redact(signed, f"10:{ITEMS}/0/content/order")
    item = with_two_items()["compiled"]["manifests"]["evidence_manifest"][0]
    assert said.lines[0].endswith(f"replaced by its digest {sha256(canonical_json(item))}")


def test_what_others_have_too_is_told(signed: Signed) -> None:
    said = redact(signed, f"10:{ITEMS}/0")
    with SqlDecisionLog.open_for_reading(signed.log) as log:
        others = {record.inputs.compiled for record in log.records() if record.seq < 10}
    assert {*said.lines[1:]} == {f"note: the same bytes are also in part {one}" for one in others}
    assert statuses(signed.log.with_name("new.db")) == ["same"] * 9 + ["redacted"]


def test_a_part_that_other_records_have_stays_and_that_is_told(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        log.append(judged(build(Proposal, with_two_items(SECRET))))
    assert redact(signed, "9:/run/outputs").lines[1:] == [
        "note: 1 part of it stays: other values have it too"
    ]
    new = signed.log.with_name("new.db")
    assert SECRET.encode() in raw_bytes(new)
    assert statuses(new) == ["same"] * 8 + ["redacted", "same", "same"]
    again = new.with_name("again.db")
    value = f"11:{ITEMS}/1/content/customer"
    assert signed.critic("log", "redact", new, again, "--value", value, *WHY).status == 0
    assert SECRET[:59].encode() not in raw_bytes(again)


def test_a_log_can_be_redacted_again_and_appended_to(signed: Signed, critic: Critic) -> None:
    assert redact(signed, "9:/run").status == 0
    new = signed.log.with_name("new.db")
    again = signed.log.with_name("again.db")
    said = critic("log", "redact", new, again, "--value", "9:/inputs/plan", *WHY)
    assert said.status == 0
    assert critic("log", "redact", new, new.with_name("x"), "--value", "9:/run", *WHY).status == 2
    signed.grow(2, log=again)
    assert statuses(again)[-2:] == ["same", "same"]
    assert signed.check(again).lines[-1] == "10 records: as signed, 4 more follow"


def test_what_is_left_of_a_redacted_record_is_not_believed(signed: Signed) -> None:
    assert redact(signed, "9:/run").status == 0
    new = signed.log.with_name("new.db")
    with closing(sqlite3.connect(new)) as database:
        (body,) = database.execute("SELECT body FROM records WHERE seq = 9").fetchone()
    for old, other in ((b'"seq":9', b'"seq":8'), (b'"prev_hash":"', b'"prev_hash":"0')):
        put_body(new, 9, body.replace(old, other))
        assert signed.check(new).status == 1
    for old, other in ((b"completed", b"refused!!"), (b'"seq":9', b'"seq":9,"x":1')):
        put_body(new, 9, body.replace(old, other))
        assert signed.check(new).lines[0].startswith("altered: record 9: its content has hash ")


@pytest.mark.parametrize(
    "value",
    ["", "9", "9:run", "0:/run", "9:/report", "9:/inputs", "9:/inputs/other", "x:/run", "9:/"],
)
def test_what_cannot_be_taken_out_is_refused(signed: Signed, value: str) -> None:
    said = redact(signed, value)
    assert (said.status, said.out) == (2, "")
    assert "name a value as 2:/run/outputs or 1:/inputs/plan" in said.err
    assert (
        "what can be taken out is in asked, attempts, carried, run, texts, or inputs/" in said.err
    )
    assert not signed.log.with_name("new.db").exists()


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("11:/run", "no such record: 11: the last one is 10"),
        ("1:/run", "the record holds no such value"),
        ("9:/run/outputs/99", "the record holds no such value"),
        ("9:/run/calls/99", "the record holds no such value"),
        ("9:/inputs/plan/steps/x", "the record holds no such value"),
    ],
)
def test_a_value_that_is_not_there_is_named(signed: Signed, value: str, problem: str) -> None:
    said = redact(signed, value)
    assert (said.status, said.out) == (2, "")
    assert problem in said.err


def test_nothing_is_copied_over_a_file_or_from_an_unsound_log(signed: Signed) -> None:
    signed.write("new.db", "kept")
    assert "new.db exists" in redact(signed, "9:/run").err
    assert signed.log.with_name("new.db").read_text("utf-8") == "kept"
    signed.log.with_name("new.db").unlink()
    put_body(signed.log, 4, b"{")
    assert "record 4 is tampered, so the log is not copied" in redact(signed, "9:/run").err


def _values(path: Path) -> Iterator[ValueInRecord]:
    with SqlDecisionLog.open_for_reading(path) as log:
        for record in log.records():
            yield from (ValueInRecord(record.seq, ("inputs", one)) for one in ("ctx", "plan"))
            if record.run is not None:
                yield ValueInRecord(record.seq, ("run", "calls"))


def test_any_value_leaves_a_sound_log_with_the_same_hashes(tmp_path: Path) -> None:
    filled(tmp_path / "log", 5).close()
    for number, value in enumerate(_values(tmp_path / "log")):
        with SqlDecisionLog.open_for_reading(tmp_path / "log") as log:
            why = {"by": "raj", "because": "x"}
            place = tmp_path / f"new{number}"
            done = redact_log(log, place, Wanted([value]), **why, now=NOON)
            hashes = [*log.hashes()]
        assert [*done.digests.values()] == [value]
        found = statuses(tmp_path / f"new{number}")
        assert found[value.seq - 1] == "redacted"
        assert {*found} <= {"same", "redacted"}
        with SqlDecisionLog.open_for_reading(tmp_path / f"new{number}") as new:
            assert [*new.hashes()][:-1] == hashes


def test_a_value_is_named_by_a_record_and_a_json_pointer() -> None:
    assert value_named("12:/run/a~1b/c~0d/0") == ValueInRecord(12, ("run", "a/b", "c~d", "0"))
    assert str(value_named("1:/inputs/plan/steps")) == "1:/inputs/plan/steps"


@pytest.mark.parametrize("moment", ["bodies", "stored_records", "all_claims"])
def test_what_is_appended_meanwhile_is_not_in_the_copy(
    signed: Signed, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    read = getattr(SqlDecisionLog, moment)

    def while_another_appends(log: SqlDecisionLog, *args: Any) -> Any:
        if log.where.endswith("audit.db"):
            grown = signed.log.with_name("audit.db")
            with SqlDecisionLog.open(grown) as appender:
                number = appender.head().seq + 1
                run = run_of(proposal(number), number, outputs={"receipt": {"customer": SECRET}})
                appender.append(judged(proposal(number), run))
        yield from read(log, *args)

    monkeypatch.setattr(SqlDecisionLog, moment, while_another_appends)
    said = redact(signed, "9:/run/outputs/receipt/customer")
    monkeypatch.undo()
    assert (said.status, said.err) == (0, "")
    assert "note" not in said.out
    new = signed.log.with_name("new.db")
    assert statuses(new) == ["same"] * 8 + ["redacted", "same"]
    assert SECRET.encode() not in new.read_bytes()
    assert signed.check(new).status == 0


@pytest.mark.parametrize("value", ["9:/run", "9:/run/outputs/receipt/customer"])
def test_what_is_left_of_a_redacted_record_is_shown_and_exported(
    signed: Signed, value: str
) -> None:
    assert redact(signed, value).status == 0
    new = signed.log.with_name("new.db")
    shown = signed.critic("log", "show", new, "9", "--format", "text")
    assert (shown.status, shown.err) == (0, "")
    assert "  redacted: part " in shown.out
    assert "step 1: payments/refund" in shown.out
    told = json.loads(signed.critic("log", "show", new, "9", "--format", "json").out)
    assert told["redacted"]
    assert told["report"]["status"] == "completed"
    assert len(signed.critic("log", "show", new, "9", "--format", "csv").lines) == 3
    exported = signed.critic("log", "export", new, "--to", "opa", "-o", "-")
    assert (exported.status, len(exported.lines)) == (0, 11)
    event = json.loads(exported.lines[8])
    assert (event["erased"], event["path"]) == (["/custom/run"], "critic/score")
    assert all("erased" not in line for line in exported.lines[:8])


def test_a_redacted_question_is_shown_without_it(signed: Signed) -> None:
    with SqlDecisionLog.open(signed.log) as log:
        log.append_error(CriticError(asked={"of": SECRET}, where="x", failed_at=NOON))
    assert redact(signed, "11:/asked").status == 0
    new = signed.log.with_name("new.db")
    shown = signed.critic("log", "show", new, "11", "--format", "text")
    assert (shown.status, shown.err) == (0, "")
    assert "  redacted: part " in shown.out
    event = json.loads(signed.critic("log", "export", new, "--to", "opa", "-o", "-").lines[10])
    assert (event["erased"], event["path"]) == (["/input/asked"], "critic/error")


def with_reason(signed: Signed, name: str) -> int:
    """Append a refusal whose reason and path name an argument, and return its number."""
    value = proposal(11).wire()
    value["plan"]["steps"][1]["requires_evidence"] = [name]
    with SqlDecisionLog.open(signed.log) as log:
        record = log.append(judged(build(Proposal, value)))
    assert name in json.dumps(record.report.wire())
    return record.seq


def test_the_texts_of_a_report_are_gone_and_its_closed_words_stay(signed: Signed) -> None:
    number = with_reason(signed, MARK)
    signed.sign("grown", "--origin", "example.com/audit")
    grown = signed._replace(checkpoint=signed.log.with_name("grown"))
    values = [f"{number}:/{name}" for name in ("texts", "inputs/plan")]
    said = redact(grown, *values)
    assert (said.status, said.err) == (0, "")
    new = grown.log.with_name("new.db")
    assert MARK.encode() not in raw_bytes(new)
    assert statuses(new) == ["same"] * 10 + ["redacted"]
    assert grown.check(new).lines == [
        "note: parts of 1 record are redacted: their digests are proved",
        "note: inputs of 1 record are redacted: their digests are proved",
        "11 records: as signed, 1 more follow",
    ]
    told = json.loads(grown.critic("log", "show", new, number, "--format", "json").out)
    assert told["report"]["verify"]["reasons"] == ["redacted"]
    assert told["report"]["verify"]["kind"] == "missing_evidence"
    listed = json.loads(grown.critic("log", "list", new, "--format", "json").lines[-1])
    assert (listed["kind"], listed["fate"]) == ("missing_evidence", "refused")


def test_a_record_without_texts_is_derived_again_but_for_them(signed: Signed) -> None:
    number = with_reason(signed, MARK)
    assert redact(signed, f"{number}:/texts").status == 0
    new = signed.log.with_name("new.db")
    with SqlDecisionLog.open_for_reading(new) as log:
        answer = [*replay(log)][number - 1]
    assert answer.status == "redacted"
    (reason,) = answer.reasons
    assert reason.startswith("its texts are redacted: ")
    again = signed.critic(
        "log", "redact", new, new.with_name("x"), "--value", f"{number}:/texts", *WHY
    )
    assert "a part of it was redacted before" in again.err
    ((body,),) = query(new, "SELECT body FROM records WHERE seq = ?", number)
    other = bytes(body).replace(b'"offending_step":1', b'"offending_step":0')
    assert other != bytes(body)
    forged = json.loads(other.split(b'"texts":')[0] + b'"texts":0}')
    put_body(new, number, other)
    said = signed.critic("replay", new)
    assert forged["report"]["verify"]["offending_step"] == 0
    assert f"record {number}: tampered" in said.out
    assert "its content has hash" in said.out


def test_what_is_left_of_a_record_has_to_be_one(signed: Signed) -> None:
    assert redact(signed, "9:/run").status == 0
    new = signed.log.with_name("new.db")
    ((body,),) = query(new, "SELECT body FROM records WHERE seq = 9")
    put_body(new, 9, bytes(body).replace(b'"report":{', b'"report":7,"x":{', 1))
    for command in (("show", new, "9"), ("export", new, "--to", "opa", "-o", "-")):
        said = signed.critic("log", *command)
        assert said.status == 1
        assert "record 9 is not what was recorded" in said.err


@pytest.mark.parametrize("wanted", [("--trace", "alpha/1"), ("--containing", "iban-4711-22")])
def test_what_became_of_a_turn_stays(
    wanted: tuple[str, str], critic: Critic, tmp_path: Path
) -> None:
    source, copy, again = (tmp_path / f"{name}.db" for name in "abc")
    write_guard_log(source)
    sent = {"tool": "transfer", "args": {"iban": "iban-4711-22", "reason": "more"}}
    pays = call("transfer", "alpha/2", "t1", iban="iban-4711-22", reason="rent")
    with SqlDecisionLog.open(source) as log:
        events = [open_("alpha/2", request="Pay iban-4711-22"), pays, yes("alpha/2")]
        events += [{**result({"ok": True}, "alpha/2", "t1"), "sent": sent}, close("alpha/2")]
        answers_to(guard_of(desk(), log=log), events)
    before = listed(critic, source)
    assert {"ran_although_refused", "ran_in_part", "ran_after_yes"} <= {*before.values()}
    assert critic("log", "redact", source, copy, *wanted, *WHY).status == 0
    assert listed(critic, copy) == before
    assert critic("log", "copy", copy, again).status == 0
    assert listed(critic, again) == before
    for place in (copy, again):
        shown = {numbers: shown_fate(critic, place, numbers[-1]) for numbers in before}
        assert shown == before
        with SqlDecisionLog.open_for_reading(place) as log:
            assert check_log(log).damage == ()
        counted = json.loads(critic("log", "stats", place, "--format", "json").out)["fates"]
        assert counted == Counter(before.values())


def shown_fate(critic: Critic, log: Path, number: int) -> str:
    """Return the fate of the turn of a record as `critic log show` names it."""
    fate: str = json.loads(critic("log", "show", log, number).out)["turn"]["fate"]
    return fate


def listed(critic: Critic, log: Path) -> dict[tuple[int, ...], str]:
    """Return the fate of each turn of a log, by its records."""
    said = critic("log", "list", log, "--format", "json").out.splitlines()
    return {(*one["records"],): one["fate"] for one in map(json.loads, said)}


@pytest.mark.parametrize("option", ["--by", "--because"])
def test_a_note_does_not_hold_what_is_taken_out(
    option: str, critic: Critic, tmp_path: Path
) -> None:
    write_guard_log(tmp_path / "a.db")
    given = {"--by": "raj", "--because": "a request", option: "iban-4711-22"}
    note = [part for pair in given.items() for part in pair]
    sought = ("--containing", "iban-4711-22")
    said = critic("log", "redact", tmp_path / "a.db", tmp_path / "b.db", *sought, *note)
    reason = "it holds a value that is taken out, and stays in the copy"
    assert (said.status, said.err) == (2, f"critic: {option}: {reason}\n")
    assert not (tmp_path / "b.db").exists()
