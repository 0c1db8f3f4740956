"""`critic log pack`, and `critic log check` of such a page."""

import json
import random
import re
from pathlib import Path
from typing import Final

import pytest

from harness.audit.packs.pack_page import read_pack, render_pack
from harness.log import SqlDecisionLog
from harness.record import sha256
from harness.record.index_row import name_column
from harness.wire import parse_json
from tests.harness.audit.packs.signed_packs import guarded_log, pack, places_in
from tests.harness.audit.report.hostile_log import TRAPS, log_with
from tests.harness.commands.log.proving import ORIGIN, WHY, Signed, signed_log
from tests.harness.console import Critic, Said
from tests.harness.log.decisions import body_of, meddle, query
from tests.support.effort import examples
from tests.support.guarding import answers_to, call, close, desk, guard_of, open_

pytest.importorskip("jinja2")


@pytest.fixture
def signed(critic: Critic, tmp_path: Path) -> Signed:
    return signed_log(critic, tmp_path)


def check(signed: Signed, page: Path, *more: str | Path) -> Said:
    return signed.critic("log", "check", page, "--public-key", signed.public, *more)


def one_line(said: Said) -> str:
    text = said.out + said.err
    assert said.status in (1, 2), text
    assert (text.count("\n"), "internal error" in text) == (1, False), text
    return text


def test_a_pack_of_a_trace_holds_its_records_and_shows_them(critic: Critic, tmp_path: Path) -> None:
    signed = guarded_log(critic, tmp_path)
    page = pack(signed, "--trace", "alpha/1")
    rows = query(signed.log, "SELECT seq FROM record_index WHERE trace = 'alpha/1' ORDER BY seq")
    held = read_pack(page.read_bytes(), "")
    assert [one.seq for one in held.records] == [seq for (seq,) in rows]
    said = check(signed, page)
    assert (said.status, said.err) == (0, "")
    shown = [line for line in said.lines if line.endswith("it is in the log as it was signed")]
    assert [line.split()[1] for line in shown] == [str(seq) for (seq,) in rows]
    assert "by ada of plan" in said.out, "who approved"
    assert said.lines[-1].startswith("trust this key only if")
    told = json.loads(check(signed, page, "--format", "json").out)
    assert (told["ok"], len(told["records"])) == (True, len(rows))
    assert told["records"][0]["hash"] == parse_json(body_of(signed.log, rows[0][0]))["hash"]


def test_records_are_packed_by_number_with_one_copy_of_an_input(signed: Signed) -> None:
    page = pack(signed, "--record", "5", "--record", "2", "--record", "5")
    held = read_pack(page.read_bytes(), "")
    assert [one.seq for one in held.records] == [2, 5]
    named = {
        one for seq in (2, 5) for one in parse_json(body_of(signed.log, seq))["inputs"].values()
    }
    named |= {json.loads(one.body or "{}")["texts"] for one in held.records if one.body}
    assert {*held.inputs} == named
    assert check(signed, page).status == 0
    assert pack(signed, "--record", "2", "--record", "5", name="again").read_bytes() == (
        page.read_bytes()
    )


def test_a_pack_leads_to_the_checkpoint_that_is_given(signed: Signed) -> None:
    page = pack(signed, "--record", "2")
    assert check(signed, page, "--checkpoint", signed.checkpoint).status == 0
    signed.grow(1)
    later = signed.sign("later", "--origin", ORIGIN)
    assert "pack it again" in one_line(check(signed, page, "--checkpoint", later))
    said = signed.critic("log", "check", page)
    assert (said.status, "no signature was checked" in said.err) == (2, True)
    assert "as it was signed" not in said.out
    assert signed.critic("log", "key", "--new", signed.key.with_name("other")).status == 0
    other = signed._replace(key=signed.key.with_name("other"))
    assert "is not signed by" in one_line(check(other, page))


@pytest.mark.parametrize("record", ["9", "0"])
def test_what_the_checkpoint_does_not_cover_is_not_packed(signed: Signed, record: str) -> None:
    signed.grow(1)
    given = ("--checkpoint", signed.checkpoint, "--public-key", signed.public)
    page = signed.log.with_name("page")
    said = signed.critic("log", "pack", signed.log, "--record", record, *given, "-o", page)
    assert said.status == 2
    assert not page.exists()
    said = signed.critic("log", "pack", signed.log, "--trace", "none", *given, "-o", page)
    assert "no record is of trace none" in one_line(said)
    said = signed.critic("log", "pack", signed.log, "--record", "2", *given, "-o", signed.log)
    assert "name another file" in one_line(said)


def test_an_altered_log_is_not_packed(signed: Signed) -> None:
    digest = parse_json(body_of(signed.log, 4))["inputs"]["plan"]
    meddle(signed.log, ("UPDATE inputs SET body = '{}' WHERE digest = ?", (digest,)))
    given = ("--checkpoint", signed.checkpoint, "--public-key", signed.public, "-o", "page")
    said = signed.critic("log", "pack", signed.log, "--record", "4", *given)
    assert "input plan of record 4 is not what was recorded" in one_line(said)


def test_what_is_redacted_is_said_to_be(signed: Signed) -> None:
    copy = signed._replace(log=signed.log.with_name("copy.db"))
    values = ("--value", "3:/inputs/plan", "--value", "4:/run")
    assert signed.critic("log", "redact", signed.log, copy.log, *values, *WHY).status == 0
    page = pack(copy, "--record", "3", "--record", "4")
    said = check(signed, page)
    assert said.status == 0
    assert "  input plan: redacted in the log that this was proved from" in said.lines
    held = read_pack(page.read_bytes(), "")
    (run,) = [json.loads(one.body or "")["run"] for one in held.records if one.seq == 4]
    assert f"  redacted: part {run}" in said.lines
    assert "  why: " in said.out


def test_no_byte_of_a_page_can_be_changed(signed: Signed) -> None:
    """In its data or around it: the page is written anew and compared."""
    page = pack(signed, "--record", "3")
    whole, draw = page.read_bytes(), random.Random(11)  # noqa: S311 - not a secret
    data = places_in(whole.decode())
    places = [draw.choice(data) for _ in range(examples(60))]
    places += [draw.randrange(len(whole)) for _ in range(examples(30))]
    for at in places:
        page.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        if page.read_bytes().startswith(b"<!DOCTYPE html>\n<!-- plan-critic pack"):
            one_line(check(signed, page))


def test_an_input_that_no_record_names_is_refused(signed: Signed) -> None:
    page = pack(signed, "--record", "3")
    held = read_pack(page.read_bytes(), "")
    for more in ({"inputs": {**held.inputs, sha256(b"{}"): "{}"}}, {"redacted": ("0" * 64,)}):
        page.write_text(render_pack(held.model_copy(update=more)), "utf-8")
        assert "it holds an input that no record names" in one_line(check(signed, page))


def test_a_page_of_another_version_is_shown_and_not_compared(signed: Signed) -> None:
    page = pack(signed, "--record", "3")
    text = page.read_text("utf-8")
    other = re.sub('"version":"[^"]*"', '"version":"9\\\\u001b[2J"', text, count=1)
    assert other != text
    page.write_text(other, "utf-8")
    said = check(signed, page)
    assert said.status == 0
    assert any(line.startswith("not checked: the page around it") for line in said.lines)
    assert "\x1b" not in said.out


def test_a_pack_of_a_hostile_log_ends_no_element(signed: Signed) -> None:
    hostile = signed._replace(log=log_with("".join(TRAPS), signed.log.with_name("h.db")))
    hostile = hostile._replace(checkpoint=hostile.sign("of-hostile", "--origin", ORIGIN))
    page = pack(hostile, "--record", "1", "--record", "2", "--record", "3")
    text = page.read_text("utf-8")
    data = text[places_in(text).start : places_in(text).stop]
    assert not set(data) & set("<>&\u2028\u2029")
    assert text.count("<script") == 2
    said = check(hostile, page)
    assert said.status == 0
    assert not set(said.out) & {"\x1b", "\r", "\u202e", "\u2028"}


SPOKEN: Final = "Fall 17: R\u00fcckfrage"
"""The id of a session that is no identifier, so that its trace is made of it."""


def add_spoken_session(log: Path) -> str:
    """Add a session of this id to a log that guards wrote, and return its trace."""
    with SqlDecisionLog.open(log) as opened:
        events = [open_(SPOKEN, request="Read x.md"), call("read_note", SPOKEN, "r1", name="x.md")]
        answers_to(guard_of(desk(), log=opened), [*events, close(SPOKEN)])
    rows = query(log, "SELECT DISTINCT session, trace FROM record_index")
    return next(str(trace) for session, trace in rows if session == name_column(SPOKEN))


def test_a_pack_of_a_session_holds_the_records_of_its_trace(critic: Critic, tmp_path: Path) -> None:
    signed = guarded_log(critic, tmp_path)
    trace = add_spoken_session(signed.log)
    signed = signed._replace(checkpoint=signed.sign("grown", "--origin", ORIGIN))
    page = pack(signed, "--session", SPOKEN)
    assert read_pack(page.read_bytes(), "").records
    assert pack(signed, "--trace", trace, name="again").read_bytes() == page.read_bytes()


def test_a_session_is_redacted_by_its_id(critic: Critic, tmp_path: Path) -> None:
    signed = guarded_log(critic, tmp_path)
    trace = add_spoken_session(signed.log)
    copies = [tmp_path / "one.db", tmp_path / "two.db"]
    for wanted, copy in zip((("--session", SPOKEN), ("--trace", trace)), copies, strict=True):
        assert critic("log", "redact", signed.log, copy, *wanted, *WHY).status == 0
    kept = [query(one, "SELECT digest FROM inputs ORDER BY 1") for one in (*copies, signed.log)]
    assert kept[0] == kept[1] != kept[2]
    both = critic(
        "log", "redact", signed.log, tmp_path / "x", "--session", "a", "--trace", "b", *WHY
    )
    assert "not allowed with" in both.err


@pytest.mark.parametrize("action", ["pack", "redact"])
def test_a_session_that_is_not_there_is_named(action: str, critic: Critic, tmp_path: Path) -> None:
    signed = guarded_log(critic, tmp_path)
    key = ("--checkpoint", signed.checkpoint, "--public-key", signed.public)
    rest = {"pack": ("-o", tmp_path / "p", *key), "redact": (tmp_path / "new.db", *WHY)}[action]
    said = critic("log", action, signed.log, *rest, "--session", "Fall 18\x1b")
    assert (said.status, said.out) == (2, "")
    assert said.err == "critic: no record is of session Fall 18\\u001b\n"
