"""Each ruling is on record before it is answered, and replay derives it again."""

from pathlib import Path
from typing import Any

import pytest

from critic import verify_proposal
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.record import Decision, DecisionRecord
from harness.replay import replay
from tests.support.guarding import (
    ASKS,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    policy_of,
    result,
    streams,
    yes,
)

STREAMS = [*streams("desk"), *streams("refunds")]


class Kept:
    """Keeps decisions in memory."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []

    def append(self, decision: Decision) -> Any:
        self.decisions.append(decision)
        return type("Record", (), {"seq": len(self.decisions)})


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_each_verdict_is_that_of_the_proposal_on_record(case: Any) -> None:
    log = Kept()
    answers = answers_to(guard_of(case["policy"], log=log), case["events"])
    for decision in log.decisions:
        assert decision.report.verify == verify_proposal(decision.proposal)
    rulings = [one for one in answers.values() if "action" in one]
    recorded = [one for one in log.decisions if one.run is None]
    assert len(rulings) == len(recorded)
    for ruling, decision in zip(rulings, recorded, strict=True):
        assert ruling["plan_digest"] == _plan_digest(decision)
        if not ruling.get("note"):
            assert ruling["verdict"] == decision.report.verify.wire()


def _plan_digest(decision: Decision) -> str:
    return decision.snapshot.members["inputs"].decode().partition('"plan":"')[2][:64]


@pytest.mark.parametrize("case", STREAMS, ids=lambda case: case["name"])
def test_replay_derives_every_ruling_again(case: Any, tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        with_log = answers_to(guard_of(case["policy"], log=log), case["events"])
        assert [one.status for one in replay(log)] == ["same"] * log.head().seq
    assert with_log == answers_to(guard_of(case["policy"]), case["events"])


def test_the_records_of_a_session_have_one_trace(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [*ASKS, open_("a session\n"), call("list_mail", "a session\n"), yes()])
        traces = [record.report.trace_id for record in log.records()]
    assert traces[:3] == ["s", "s", "s"]
    assert traces[3].startswith("session:")
    assert traces[4] == "s"


def test_what_a_ruling_adds_to_the_verdict_is_on_record() -> None:
    log = Kept()
    answers_to(guard_of(desk(), log=log), [*ASKS, {**yes(), "yes": False}])
    assert [decision.error for decision in log.decisions][-1] == "denied by ada"


def test_a_batch_that_ended_is_recorded_with_its_calls_and_their_score() -> None:
    log = Kept()
    events = [open_(), call("list_mail"), result("x", tokens=7), call("list_mail"), close()]
    answers_to(guard_of(desk(), log=log), events)
    ended = [decision for decision in log.decisions if decision.run is not None]
    assert [one.run and one.run.calls[0].status for one in ended] == ["completed", "unknown"]
    assert all(one.report.score is not None for one in ended)


def test_what_a_shadow_let_run_is_recorded_as_refused_with_its_calls() -> None:
    log = Kept()
    events = [open_(), call("transfer", iban="iban-9", reason=""), result("x")]
    answers_to(guard_of(desk(shadow=True), log=log), events)
    ruling, ended = log.decisions
    assert ruling.error == "shadow: this was not enforced"
    assert ended.run is not None
    assert ended.report.status == "refused_by_critic"
    assert ended.report.score is None


def test_it_is_recorded_before_it_is_answered() -> None:
    class Watching(Kept):
        def append(self, decision: Decision) -> DecisionRecord:
            seen.append(guard.handle_line(b"{}") is not None)
            return super().append(decision)  # type: ignore[no-any-return]

    seen: list[bool] = []
    guard = Guard(policy_of(desk()), log=Watching())
    answers_to(guard, [open_(), call("list_mail")])
    assert seen == [True]
