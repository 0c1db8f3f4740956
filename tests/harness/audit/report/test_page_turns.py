"""Who was asked about a turn, answered it or settled it, as its own records say."""

from pathlib import Path

import pytest

from harness.audit.report.page_turns import TurnsOfPage
from harness.audit.settlements import settle
from harness.log import SqlDecisionLog
from harness.record import DecisionRecord, RecordFacts
from harness.record.index_row import index_row
from tests.harness.audit.report.pages import page_of, text_of
from tests.harness.log.decisions import NOON
from tests.support.guarding import ASKS, answers_to, desk, guard_of, result, yes

pytest.importorskip("jinja2")


@pytest.mark.parametrize("answers", ["no", "yes", ""])
def test_an_approval_in_a_context_answers_only_where_no_record_does(
    answers: str, tmp_path: Path
) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        said = [{**yes(), "yes": answers == "yes"}] if answers else []
        answers_to(guard_of(desk(), log=log), [*ASKS, *said])
        records = [one for one in log.records() if isinstance(one, DecisionRecord)]
    turns = TurnsOfPage()
    for record in records:
        turn = turns.add(record, index_row(record, None, None), None)
    assert (turn.answer, turn.approver) == ((answers, "ada") if answers else (None, None))
    later = records[-1].model_copy(update={"answer": None})
    row = index_row(later, None, None)
    same = turns.add(later, row._replace(facts=row.facts | RecordFacts.YES), "emma")
    assert same is turn
    assert (turn.answer, turn.approver) == ((answers, "ada") if answers else ("yes", "emma"))


SENT = {"tool": "transfer", "args": {"iban": "iban-9", "reason": "mine"}}


def test_a_question_is_what_the_record_that_asked_says(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [*ASKS, yes(), result({"ok": True}, sent=SENT)])
    turn = [*page_of(path).turns.values()][-1]
    assert turn["said"].startswith("policy fail: ")
    questions = text_of(path).partition("Questions for a person")[2].partition("</table>")[0]
    assert "[iban-4711-22] appears only in the text of call/1" in questions
    assert "policy fail" not in questions


def test_a_turn_says_who_settled_it_and_what_overtook_that(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [*ASKS, yes()])
        begun = log.head().seq
        settle(log, begun, outcome="not_run", by="raj", because="no money went", now=NOON)
    said = "settled as not_run by raj: no money went"
    assert [*page_of(path).turns.values()][-1]["settled"] == [[begun + 1, said, None]]
    with SqlDecisionLog.open(path) as log:
        answers_to(guard_of(desk(), log=log), [result({"ok": True})])
    assert [*page_of(path).turns.values()][-1]["settled"] == [[begun + 1, said, begun + 2]]
