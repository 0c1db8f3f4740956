"""A text is searched for in the records themselves, and what they say is read from them."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.audit.record_texts import RecordTexts, says, texts_of
from harness.audit.tables import text_search
from harness.audit.tables.text_search import find_texts
from harness.commands.log import checked_rows
from harness.errors import UsageError
from harness.log.search.listing import Listed, Listing
from harness.log.search.query import Filters
from harness.log.sql import SqlDecisionLog
from harness.record.index_row import time_of
from tests.harness.console import Critic
from tests.harness.log.decisions import LogPlace, meddle
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.log.search.searched import varied

REFUSED = Filters(kind="missing_evidence")


@pytest.fixture
def log(place: LogPlace) -> LogPlace:
    """Return a log with records of every kind."""
    varied(place).close()
    return place


def _found(log: LogPlace, filters: Filters, text: str) -> tuple[set[int], tuple[str, ...]]:
    with SqlDecisionLog.open_for_reading(log) as opened:
        found = find_texts(opened, filters, text)
    return {*found.numbers}, found.problems


def _saying(critic: Critic, log: LogPlace) -> dict[int, dict[str, Any]]:
    said = critic("log", "list", log, "--records", "--format", "json")
    rows = map(json.loads, said.lines)
    return {row["seq"]: row for row in rows if row["status"] != "missing"}


def test_every_text_that_is_listed_is_found_and_nothing_else(critic: Critic, log: LogPlace) -> None:
    rows = _saying(critic, log)
    texts = {row[name] for row in rows.values() for name in ("said", "error") if name in row}
    assert len(texts) > 5
    for text in texts:
        told = {seq for seq, row in rows.items() if text in (row.get("said"), row.get("error"))}
        found, problems = _found(log, Filters(), text.swapcase())
        assert (found >= told, problems) == (True, ())
        assert all(
            text.lower() in f"{rows[seq].get('said')}\n{rows[seq].get('error')}".lower()
            for seq in found
        )


def test_a_search_reads_no_record_of_another_time(tmp_path: Path) -> None:
    """Neither itself nor its turn is of the time that is asked for."""
    write_guard_log(tmp_path / "log.db")
    with SqlDecisionLog.open_for_reading(tmp_path / "log.db") as opened:
        listing = Listing(opened)
        rows = {one.row.seq: one.row for one in listing.rows(Filters()) if isinstance(one, Listed)}
        ages = {seq: row.at_us or 0 for seq, row in rows.items()}
        middle = sorted(ages.values())[len(ages) // 2]
        moment = time_of(middle)
        for times in (Filters(since=moment), Filters(until=moment)):
            read = {*text_search._select_numbers(listing, times)}
            turns = [{*turn.records} for turn in listing.turns(Filters()).turns()]
            late = {seq for seq, age in ages.items() if age >= middle}
            own = late if times.since else {*rows} - late
            of_turns = [turn for turn in turns if min(turn) in own]
            assert read == own.union(*of_turns)
            assert {*rows} - read


def test_a_search_reads_no_record_that_other_filters_leave_out(log: LogPlace) -> None:
    found, problems = _found(log, REFUSED, "e")
    assert found
    assert problems == ()
    meddle(log, ("UPDATE records SET body = ? WHERE seq = ?", (b"{", min(found))))
    meddle(log, ("UPDATE records SET body = ? WHERE seq NOT IN (?, ?)", (b"{", *sorted(found)[:2])))
    told = _found(log, REFUSED, "e")
    assert told[0] == {sorted(found)[1]}
    unread = {*found} - told[0]
    assert {*told[1]} == {f"record {seq} cannot be read" for seq in unread}


def test_a_record_that_cannot_be_searched_is_damage(
    critic: Critic, log: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checked_rows, "FEW", 0)
    meddle(log, ("UPDATE records SET body = ? WHERE seq = 1", (b"{",)))
    for command in (("list",), ("stats",), ("export", "--to", "opa", "-o", "-")):
        said = critic("log", command[0], log, *command[1:], "--text", "no record says this")
        assert said.status == 1
        assert "the log is damaged: record 1 cannot be read" in said.err


@pytest.mark.parametrize("options", [(), ("--records",), ("--text", "evidence")])
def test_a_large_log_is_listed_with_the_texts_of_its_records(
    critic: Critic, log: LogPlace, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    whole = critic("log", "list", log, "--format", "json", *options)
    assert '"said":' in whole.out
    for few in (0, 3):
        monkeypatch.setattr(checked_rows, "FEW", few)
        said = critic("log", "list", log, "--format", "json", *options)
        assert said.lines == whole.lines
        assert "index not checked" in said.err


def test_a_search_that_finds_too_many_is_refused(
    log: LogPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, _ = _found(log, REFUSED, "e")
    monkeypatch.setattr(text_search, "MOST", len(found))
    assert _found(log, REFUSED, "e")[0] == found
    monkeypatch.setattr(text_search, "MOST", len(found) - 1)
    with pytest.raises(UsageError, match="records say it: ask for fewer"):
        _found(log, REFUSED, "e")


def test_a_text_and_a_content_hold_together(critic: Critic, log: LogPlace) -> None:
    text, tier = ("--text", "verify passed"), ("--tier", "destructive")
    said, of_tier = _json(critic, log, *text), _json(critic, log, *tier)
    both = _json(critic, log, *text, *tier)
    assert both == [line for line in said if line in of_tier]
    assert len(both) < min(len(said), len(of_tier))
    assert both
    assert _json(critic, log, *text, "--approver", "nobody") == []


def _json(critic: Critic, log: LogPlace, *options: str) -> list[str]:
    return critic("log", "list", log, "--records", "--format", "json", *options).lines


@pytest.mark.parametrize(
    "value", [None, 1, "x", [], {}, {"report": 1}, {"kind": []}, {"kind": "settled", "by": 1}]
)
def test_the_texts_of_anything_are_texts(value: Any) -> None:
    assert all(one is None or isinstance(one, str) for one in texts_of(value))


def test_a_text_is_one_line_and_is_found_as_it_is_written_and_as_it_is_shown() -> None:
    texts = texts_of({"report": {"rationale": "caf\u00e9\n<b>"}, "error": "E\x1b"})
    assert texts == RecordTexts("E\\u001b", "caf\\u00e9\\u000a\\u003cb>")
    assert texts.hold("CAF\u00e9\n<B>")
    assert texts.hold("e\x1b")
    assert not texts.hold("cafe")


def test_why_a_call_failed_and_why_a_person_settled_are_found(
    critic: Critic, tmp_path: Path
) -> None:
    log = tmp_path / "log.db"
    write_guard_log(log)
    (failed,) = critic("log", "list", log, "--text", "THE DISK is full", "--format", "json").lines
    assert json.loads(failed)["fate"] == "ran_in_part"
    opened = critic("log", "list", log, "--status", "open", "--records", "--format", "json").lines
    seq = json.loads(opened[0])["seq"]
    why = ("--outcome", "ran", "--by", "raj", "--because", "the ledger has it")
    assert critic("log", "settle", log, seq, *why).status == 0
    (settled,) = critic("log", "list", log, "--text", "ledger", "--format", "json").lines
    assert seq in json.loads(settled)["records"]


def test_the_errors_of_all_calls_are_searched() -> None:
    record = {"run": {"calls": [{"error": "the first"}, {}, {"error": "the second"}]}}
    asked = ("THE FIRST", "the second", "the third")
    assert [says(record, one) for one in asked] == [True, True, False]


def test_each_kind_of_record_says_what_became_of_its_session() -> None:
    kinds = ("closed", "reopened", "handed_over")
    said = [str(texts_of({"kind": kind}).said) for kind in kinds]
    wanted = ("was closed", "was reopened", "continues in another log")
    for number, words in enumerate(wanted):
        assert [words in one for one in said] == [at == number for at in range(len(kinds))]
