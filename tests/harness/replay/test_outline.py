"""What is said of a record where nothing is derived: what is said where it is judged."""

from pathlib import Path
from typing import Any

import pytest

from harness.log.sql import SqlDecisionLog
from harness.replay.engine import replay
from harness.replay.outline import outline_of
from tests.harness.log.decisions import LogPlace, decision, filled
from tests.harness.log.search.searched import varied

WHEN = "2025-03-01T12:00:00Z"
REPORT = {"trace_id": "t", "decision_key": "k", "verify": {"ok": True}, "decided_at": WHEN}


@pytest.mark.parametrize("make", [varied, filled])
def test_a_sound_record_gets_one_answer_whether_it_is_judged(tmp_path: Path, make: Any) -> None:
    with make(tmp_path / "log.db") as log:
        assert [*replay(log, judge=False)] == [*replay(log)]


def test_a_run_without_a_score_is_noted_whether_it_is_judged(place: LogPlace) -> None:
    with SqlDecisionLog.open(place) as log:
        log.append_all([decision(2), decision(1, minutes=0)])
        judged, unjudged = ([*replay(log, judge=judge)] for judge in (True, False))
        assert judged == unjudged
        assert judged[1].notes == ("decided_at is earlier than that of a record before",)


@pytest.mark.parametrize(
    "other",
    [
        {"kind": "decision"},
        {"kind": None},
        {"report": {**REPORT, "trace_id": 1}},
        {"report": {**REPORT, "trace_id": "a\nb"}},
        {"report": {**REPORT, "decided_at": "soon"}},
        {"report": {**REPORT, "verify": {"ok": "yes"}}},
        {"report": None},
        {"run": {"calls": 3}},
        {"run": "all"},
        {"error": "a\nb"},
        {"action": "let"},
    ],
)
def test_what_is_not_a_decision_has_no_outline(other: dict[str, Any]) -> None:
    sound = {"report": REPORT, "action": "allow"}
    assert outline_of({**sound, "run": {"calls": []}, "error": "e"}) is not None
    assert outline_of({**sound, **other}) is None
