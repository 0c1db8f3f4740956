"""Who answered a turn: the record of an answer says it, and an approval that was there before."""

from pathlib import Path

import pytest

from harness.audit.report.page_turns import TurnsOfPage
from harness.log import SqlDecisionLog
from harness.record import DecisionRecord, RecordFacts
from harness.record.index_row import index_row
from tests.support.guarding import ASKS, answers_to, desk, guard_of, yes


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
