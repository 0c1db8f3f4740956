"""The page of a log: all that is recorded, and nothing that a record could do with it."""

import base64
import hashlib
import json
import re
import tempfile
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.audit.copies.redaction import Wanted, redact_log, value_named
from harness.audit.report.report_page import WIDTH
from harness.log import SqlDecisionLog
from tests.harness.audit.report.hostile_log import TRAPS, log_with
from tests.harness.audit.report.pages import page_of, strings, text_of
from tests.harness.log.decisions import NOON, decision, filled, judged, meddle, proposal, run_of
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.log.search.searched import varied
from tests.support.effort import examples
from tests.support.guarding import ASKS, answers_to, call, desk, guard_of, yes

pytest.importorskip("jinja2")

_TEXTS = st.lists(st.sampled_from(TRAPS) | st.text(), max_size=3).map("".join)


@cache
def plain_shape() -> list[tuple[str, ...]]:
    """Return the elements of the page of a log in which no text is hostile."""
    with tempfile.TemporaryDirectory() as folder:
        return page_of(log_with("x", Path(folder) / "plain.db")).shape


@settings(max_examples=examples(40), deadline=None)
@given(_TEXTS)
@example("".join(TRAPS))
def test_no_text_of_a_record_is_markup_or_is_hidden(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        page = page_of(log_with(text, Path(folder) / "hostile.db"), name=text)
        raw = text_of(Path(folder) / "hostile.db", name=text)
    assert page.shape == plain_shape()
    assert all(char.isprintable() or char == "\n" for char in raw)
    for block in page.blocks:
        told = list(strings(page.data(block)))
        assert all(char.isprintable() or char == "\n" for one in told for char in one)
        assert not set(page.blocks[block]) & set("<>&\u2028\u2029")


def test_the_page_holds_all_that_it_needs_and_may_load_nothing(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db").close()
    page = page_of(tmp_path / "audit.db")
    (policy,) = [value for value in page.values if value.startswith("default-src")]
    assert policy.startswith("default-src 'none'; ")
    for name in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.inline[name].encode()).digest()).decode()
        assert f"{name}-src 'sha256-{digest}';" in policy
    loads = [
        row for row in page.shape if {"src", "style", "onclick", "onload", "action"} & {*row[1:]}
    ]
    assert loads == []
    addresses = [value for value in page.values if re.match(r"[a-z]+:", value)]
    assert addresses == ["data:,"]
    assert not re.search(
        r"url\(|@import|https?:|fetch\(|innerHTML|eval\(", "".join(page.inline.values())
    )


def test_one_log_gives_one_page(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db").close()
    assert text_of(tmp_path / "audit.db") == text_of(tmp_path / "audit.db")


def test_every_record_has_a_line_and_opens_as_it_was_recorded(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db", 8).close()
    page = page_of(tmp_path / "audit.db")
    with SqlDecisionLog.open_for_reading(tmp_path / "audit.db") as log:
        records = list(log.records())
    assert [*page.rows] == [record.seq for record in records]
    for record in records:
        row, detail = page.rows[record.seq], page.data(f"detail-{record.seq}")
        assert detail["said"] == record.report.rationale
        assert page.turns[record.seq]["of"] == [row["seq"]]
        assert (detail["hash"], detail["prev"]) == (record.hash, record.prev_hash)
        assert detail["inputs"] == record.inputs.wire()
        calls = [one for step in detail["plan"]["steps"] for one in step.get("calls", ())]
        assert len(calls) == len(record.run.calls if record.run else ())
        assert not any("other_args" in one or "other_tool" in one for one in calls)
        pins = [pin for step in detail["plan"]["steps"] for pin in step["pins"]]
        assert all(page.data(f"shared-{pin['item']}")["id"] == "ev_1" for pin in pins)


def test_what_was_sent_is_set_against_what_was_planned(tmp_path: Path) -> None:
    page = page_of(log_with("x", tmp_path / "audit.db"))
    detail = page.data("detail-1")
    sent = [one for step in detail["plan"]["steps"] for one in step.get("calls", ())]
    assert [json.loads(one["other_args"]) for one in sent] == [{"key x": "x"}] * 2
    assert [one["other_tool"] for one in detail["run"]["calls"]] == ["payments.refund"]
    assert page.data("detail-2")["plan"]["steps"][0]["tier"] is None


@pytest.mark.parametrize("answer", [True, False, None])
def test_a_question_has_its_answer(tmp_path: Path, answer: bool | None) -> None:
    answers = [] if answer is None else [{**yes(), "yes": answer}]
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        answers_to(guard_of(desk(), log=log), [*ASKS[:4], *answers, call("read_note", name="x")])
    said = page_of(tmp_path / "audit.db").said
    numbers: dict[bool | None, str] = {True: "1 answered yes, 0 answered no, 0 expired, 0"}
    numbers |= {False: "0 answered yes, 1 answered no, 0 expired, 0"}
    numbers[None] = "0 answered yes, 0 answered no, 1 expired, 0"  # by the next call
    assert f"{numbers[answer]} without an answer" in said
    texts: dict[bool | None, str] = {
        True: "yes, by ada",
        False: "no, by ada",
        None: "it expired without an answer",
    }
    assert texts[answer] in said


def test_older_records_are_left_out_and_it_says_so(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db", 9).close()
    page = page_of(tmp_path / "audit.db", last=4)
    assert [*page.rows] == [6, 7, 8, 9]
    assert "4 records checked" in page.said
    assert "Left out: records 1 to 5." in page.said


@pytest.mark.parametrize("size", [1, 3_000, 9_000])
def test_a_page_within_a_size_says_whose_details_are_left_out(tmp_path: Path, size: int) -> None:
    filled(tmp_path / "audit.db", 9).close()
    page = page_of(tmp_path / "audit.db", size=size)
    kept = {
        name: text for name, text in page.blocks.items() if name not in ("words", "rows", "turns")
    }
    opens = [seq for seq, row in page.rows.items() if row.get("more")]
    assert sum(map(len, kept.values())) <= size
    assert opens == [*range(10 - len(opens), 10)]
    assert {f"detail-{seq}" for seq in opens} == {name for name in kept if name[0] == "d"}
    details = [page.data(f"detail-{seq}") for seq in opens]
    named = {
        pin["item"] for one in details for step in one["plan"]["steps"] for pin in step["pins"]
    }
    named |= {number for one in details for number in one["others"]}
    assert {f"shared-{number}" for number in named} == {name for name in kept if name[0] == "s"}
    assert f"the details of the {9 - len(opens)} oldest records here" in page.said


def test_an_empty_log_has_a_page(tmp_path: Path) -> None:
    SqlDecisionLog.open(tmp_path / "audit.db").close()
    page = page_of(tmp_path / "audit.db")
    assert "0 records checked" in page.said
    assert page.rows == {}


def test_turns_are_counted_by_the_kind_of_their_refusal(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        log.append_all(decision(n, kind="refused", minutes=n * 600) for n in range(1, 30))
    page = page_of(tmp_path / "audit.db")
    assert "missing_evidence 29" in page.said
    assert "Turns that did not run as planned, for each 6 hours" in page.said
    assert sum(row[0] == "rect" and "x" in row for row in page.shape) == 29


def test_an_execution_without_an_end_is_not_called_damage(tmp_path: Path) -> None:
    varied(tmp_path / "audit.db").close()
    said = page_of(tmp_path / "audit.db").said
    assert "✔ The records hold together 34 records checked" in said
    assert "1 Began, with no end on record It may have had effects" in said
    meddle(tmp_path / "audit.db", ("DELETE FROM records WHERE seq = 2", ()))
    said = page_of(tmp_path / "audit.db").said
    assert "The log is not as it should be" in said
    assert "hold together" not in said


def test_what_is_missing_or_cannot_be_read_is_counted_with_what_was_decided(tmp_path: Path) -> None:
    filled(tmp_path / "audit.db", 8).close()
    meddle(
        tmp_path / "audit.db",
        ("DELETE FROM records WHERE seq IN (2, 3)", ()),
        ("UPDATE records SET body = ? WHERE seq = 5", (b"{",)),
    )
    said = page_of(tmp_path / "audit.db").said
    assert "Missing from the log 2" in said
    assert "Cannot be read 1" in said
    said = page_of(tmp_path / "audit.db", last=6).said
    assert "Missing from the log 1" in said


def test_values_that_were_taken_out_are_no_damage_and_nothing_is_claimed_of_the_rest(
    tmp_path: Path,
) -> None:
    proposed = proposal()
    executed = run_of(proposed, outputs={"receipt": "x" * 2_000})
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        log.append(judged(proposed, executed))
        wanted = Wanted([value_named("1:/run")])
        redact_log(log, tmp_path / "public.db", wanted, by="ada", because="asked", now=NOON)
    said = page_of(tmp_path / "public.db").said
    assert "Values were taken out of records" in said
    assert "2 records checked: 1 " in said
    assert "1 with values taken out." in said
    assert "hold together" not in said


def test_no_date_of_the_chart_is_cut_at_its_edge(tmp_path: Path) -> None:
    write_guard_log(tmp_path / "guard.db")
    found = re.findall(
        r'<text class="tick[^"]*" x="([0-9.]+)" y="[^"]*" text-anchor="(\w+)">(\d{4}-[^<]*)',
        text_of(tmp_path / "guard.db"),
    )
    assert len(found) > 2
    for at, anchor, _ in found:
        assert float(at) + {"middle": 36, "end": 0}[anchor] <= WIDTH
