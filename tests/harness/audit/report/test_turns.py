"""The page counts turns, each once, under the fate that another reader of the log gives it."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from critic import digest
from evals.kinds import FATES
from evals.plan import Proposal
from harness.audit.copies.redaction import Wanted, redact_log
from harness.audit.copies.value_search import SoughtValues
from harness.audit.report.page_words import FATE_WORDS, WORRIES
from harness.log import SqlDecisionLog
from harness.record.index_row import OF_NO_TURN
from harness.wire import build
from tests.harness.audit.report.pages import Page, page_of
from tests.harness.audit.report.plain_reader import PlainReader
from tests.harness.console import Critic
from tests.harness.log.decisions import NOON, judged, proposal, run_of
from tests.harness.log.guard_logs import write_guard_log
from tests.harness.log.search.searched import varied
from tests.support.guarding import ASKS, answers_to, desk, guard_of

pytest.importorskip("jinja2")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a log with a turn of every fate."""
    path = tmp_path_factory.mktemp("turns") / "audit.db"
    write_guard_log(path)
    refused, strayed, idle = proposal(91, pinned=False), proposal(92), proposal(93)
    calls = [one.wire() | {"args": {"order": "o-18"}} for one in run_of(strayed, 92).calls]
    with SqlDecisionLog.open(path) as kept:
        kept.append(judged(refused, run_of(refused, 91)))
        kept.append(judged(strayed, run_of(strayed, 92, calls=calls)))
        kept.append(judged(idle))
        _append_more(kept)
        answers_to(guard_of(desk(), log=kept), [{**one, "session": "asks"} for one in ASKS[:4]])
    return path


def _append_more(log: SqlDecisionLog) -> None:
    """Append a turn that ran and was then refused, and one that was approved from the start."""
    wire: Any = proposal(94).wire()
    log.append(judged(proposal(94), run_of(proposal(94), 94)))
    wire["compiled"]["manifests"]["tool_manifest"] = []
    log.append(judged(build(Proposal, wire)))
    wire = proposal(95).wire()
    digests = {"plan_digest": digest(proposal(95).plan), "context_digest": "0" * 64}
    wire["ctx"]["approvals"] = [{"approval_id": "a", "approver": "zoe", **digests}]
    log.append(judged(build(Proposal, wire), run_of(build(Proposal, wire), 95)))


@pytest.fixture(scope="module")
def page(log: Path) -> Page:
    return page_of(log)


def test_what_made_a_ruling_stricter_comes_first(page: Page) -> None:
    said = [one["said"] for one in page.turns.values() if one["fate"] == "refused"]
    assert any(
        one.startswith("1 questions were asked already, which is the limit; ") for one in said
    )


def test_the_log_has_a_turn_of_every_fate(log: Path) -> None:
    assert {turn.fate for turn in PlainReader(log).turns()} == {*FATES}


def test_each_turn_has_its_records_its_fate_and_who_answered(log: Path, page: Page) -> None:
    shown = [(one["of"], one["fate"], one.get("by")) for one in page.turns.values()]
    read = [(one.records, one.fate, one.approver) for one in PlainReader(log).turns()]
    assert [one[:2] for one in shown] == [one[:2] for one in read]
    before = [fate for _, fate, by in shown if by == "zoe"]  # in the context: no record answers
    assert before == ["ran_after_yes"]
    assert [one[2] for one in read] == [None if one[2] == "zoe" else one[2] for one in shown]


def test_other_logs_have_the_same_turns_too(tmp_path: Path) -> None:
    varied(tmp_path / "audit.db").close()
    shown = [(one["of"], one["fate"]) for one in page_of(tmp_path / "audit.db").turns.values()]
    assert shown == [(one.records, one.fate) for one in PlainReader(tmp_path / "audit.db").turns()]


def test_each_turn_is_for_whom_its_session_was_opened(tmp_path: Path) -> None:
    opened, *others = ASKS
    whom = {"user": "emma@acme.example", "tenant": "acme"}
    with SqlDecisionLog.open(tmp_path / "audit.db") as kept:
        for session, more in (("s1", whom), ("s2", {}), ("s3", {"user": "raj"})):
            events = [{**opened, **more}, *others]
            answers_to(guard_of(desk(), log=kept), [{**one, "session": session} for one in events])
    turns = page_of(tmp_path / "audit.db").turns.values()
    told = {one["trace"]: (one.get("user"), one.get("tenant")) for one in turns}
    assert told == {"s1": ("emma@acme.example", "acme"), "s2": (None, None), "s3": ("raj", None)}


def test_every_number_of_the_first_screen_is_one_of_turns(log: Path, page: Page) -> None:
    turns = PlainReader(log).turns()
    counts = Counter(turn.fate for turn in turns)
    assert f"What became of {len(turns)} turns " in page.said
    after = page.said.partition("What became of")[2]
    for fate in FATES:
        assert f" {FATE_WORDS[fate]} {counts[fate]} " in after, fate
    answers = [one for one in turns if one.asked]
    assert f"{len(answers)} turns could go ahead only with a person's approval" in page.said


def test_what_should_worry_comes_first_with_links_to_its_turns(log: Path, page: Page) -> None:
    turns = PlainReader(log).turns()
    worries = page.said.partition("What should worry you ")[2].partition("What became of")[0]
    said = [
        (int(number.replace(",", "")), fate)
        for fate in WORRIES
        for number in re.findall(rf"([0-9,]+) {re.escape(FATE_WORDS[fate])} ", worries)
    ]
    expected = {fate: [one for one in turns if one.fate == fate] for fate in WORRIES}
    expected["ran_after_yes"] = [one for one in expected["ran_after_yes"] if one.overruled]
    assert said == [(len(some), fate) for fate, some in expected.items()]
    assert worries.startswith(f"2 {FATE_WORDS['ran_although_refused']} ")
    links = [value for value in page.values if value.startswith("#turn-")]
    worried = [f"#turn-{one.records[0]}" for some in expected.values() for one in some]
    assert links[: len(worried)] == worried
    assert worries.count("(yes by ada)") == len(expected["ran_after_yes"])


def test_a_log_with_nothing_to_worry_about_says_so(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "audit.db") as log:
        log.append(judged(proposal(), run_of(proposal())))
        log.append(judged(proposal(2, pinned=False)))
    said = page_of(tmp_path / "audit.db").said
    assert "What should worry you Nothing: no call ran although it was refused" in said


def test_a_turn_that_ran_although_refused_gives_exit_status_1(
    critic: Critic, log: Path, tmp_path: Path
) -> None:
    red = [one.records for one in PlainReader(log).turns() if one.fate == "ran_although_refused"]
    said = critic("report", log, "-o", tmp_path / "audit.html")
    last = PlainReader(log).records[-1]
    head = f"head {last['seq']}:{last['hash']}"
    assert said.status == 1
    assert head in said.out + said.err
    assert head in page_of(log).said
    for numbers in red:
        assert (
            f"ran_although_refused: calls ran, and no ruling allowed them: records {numbers[0]}"
            in said.err
        )
    assert "✔ The records hold together" in page_of(log).said, "the log itself is sound"


def test_an_open_turn_alone_leaves_the_exit_status_0(critic: Critic, tmp_path: Path) -> None:
    write_guard_log(tmp_path / "audit.db")
    turns = PlainReader(tmp_path / "audit.db").turns()
    assert sum(one.fate == "open" for one in turns) == 2
    assert critic("report", tmp_path / "audit.db", "-o", tmp_path / "audit.html").status == 0


@pytest.mark.parametrize("whole", [True, False])
def test_a_turn_of_which_parts_were_taken_out_keeps_its_fate(
    whole: bool, log: Path, tmp_path: Path, page: Page
) -> None:
    copy, why = tmp_path / "copy.db", {"by": "raj", "because": "x"}
    sought = Wanted(trace="alpha/1") if whole else Wanted(sought=SoughtValues(["iban-4711-22"]))
    with SqlDecisionLog.open_for_reading(log) as kept:
        redact_log(kept, copy, sought, **why, now=NOON)
    after = page_of(copy)
    assert _fates(after) == _fates(page)
    assert [one["of"] for one in after.turns.values()] == [one["of"] for one in page.turns.values()]
    asked = r"(\d+) turns? could go ahead only with a person's approval: ([^.]*)"
    assert re.search(asked, after.said)[0] == re.search(asked, page.said)[0]  # type: ignore[index]


def _fates(page: Page) -> dict[int, str]:
    return {number: one["fate"] for number, one in page.turns.items()}


def test_the_page_names_the_kinds_of_records_that_are_of_no_turn(page: Page) -> None:
    assert {*page.data("words")["apart"]} == {*OF_NO_TURN}
