"""Each ruling is on record before it is answered, and replay derives it again."""

import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from critic import verify_proposal
from harness.guard import Guard
from harness.log import SqlDecisionLog
from harness.record import (
    Begun,
    BegunRecord,
    CriticErrorRecord,
    Decision,
    DecisionRecord,
    LogRecord,
    UsedApproval,
)
from harness.replay import replay
from tests.harness.log.decisions import proposal
from tests.harness.log.faults import FailingStatement, replace_commits
from tests.support.effort import sampled
from tests.support.guarding import (
    ASKS,
    NOON,
    answers_to,
    bare,
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
    rulings = [one for one in answers.values() if "plan_digest" in one]
    recorded = [one for one in log.decisions if one.run is None and not has_lapsed(one)]
    assert len(rulings) == len(recorded)
    for ruling, decision in zip(rulings, recorded, strict=True):
        assert ruling["plan_digest"] == _plan_digest(decision)
        if not ruling.get("note"):
            assert bare(ruling["verdict"]) == decision.report.verify.wire()


def has_lapsed(decision: Decision) -> bool:
    return decision.answer is not None and decision.answer.answer == "lapsed"


def _plan_digest(decision: Decision) -> str:
    return decision.snapshot.members["inputs"].decode().partition('"plan":"')[2][:64]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", sampled(STREAMS, one_in=2), ids=lambda case: case["name"])
def test_replay_derives_every_ruling_again(case: Any, tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        with_log = answers_to(guard_of(case["policy"], log=log), case["events"])
        assert [one.status for one in replay(log)] == expected_of([*log.entries()])
    without = answers_to(guard_of(case["policy"]), case["events"])
    assert with_log.keys() == without.keys()
    for index, answer in with_log.items():  # a log knows that a session was open before
        assert answer == without[index] or "it was closed" in answer["error"]["message"]


def expected_of(records: list[LogRecord]) -> list[str]:
    """Return what replay says of records of which only the last beginnings may have no end."""
    ended = {record.begun for record in records if isinstance(record, DecisionRecord)}
    return [
        "open" if isinstance(one, BegunRecord) and one.hash not in ended else "same"
        for one in records
    ]


@pytest.mark.one_in(4)
@pytest.mark.parametrize("case", sampled(STREAMS, one_in=2), ids=lambda case: case["name"])
def test_each_batch_that_may_run_begins_on_record_and_its_end_names_it(
    case: Any, tmp_path: Path
) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers = answers_to(guard_of(case["policy"], log=log), case["events"])
        records = [*log.entries()]
    begun = [one for one in records if isinstance(one, BegunRecord)]
    rulings = [one for one in records if isinstance(one, DecisionRecord) and one.run is None]
    ended = [one for one in records if isinstance(one, DecisionRecord) and one.run is not None]
    allowed = [one for one in answers.values() if one.get("action") == "allow"]
    assert [one.inputs.plan for one in begun] == [one["plan_digest"] for one in allowed]
    assert [one.action for one in begun] == [
        "allow" if one["verdict"]["ok"] else "shadow" for one in allowed
    ]
    for one in begun:
        (before,) = (ruling for ruling in rulings if ruling.seq == one.seq - 1)
        assert before.inputs == one.inputs
    assert {one.inputs.plan: one.hash for one in begun}.items() >= {
        (one.inputs.plan, one.begun) for one in ended
    }


def test_the_records_of_a_session_have_one_trace(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [*ASKS, open_("a session\n"), call("list_mail", "a session\n"), yes()])
        traces = [record.report.trace_id for record in log.records()]
        assert {one.trace_id for one in log.entries() if isinstance(one, BegunRecord)} == {*traces}
    assert traces[:3] == ["s", "s", "s"]
    assert traces[3].startswith("session:")
    assert traces[4] == "s"


def test_what_a_ruling_adds_to_the_verdict_is_on_record() -> None:
    log = Kept()
    events = [*ASKS, call("transfer", iban="iban-4711-22", reason="x")]
    answers_to(guard_of(desk(max_questions=1), log=log), events)
    assert log.decisions[-1].error == "1 questions were asked already, which is the limit"


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
    assert (ruling.action, ended.action) == ("shadow", "shadow")
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


def test_an_approval_is_used_up_by_the_beginning_that_relies_on_it(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers = answers_to(guard_of(desk(), log=log), [*ASKS, yes()])
        (*_, begun) = [one for one in log.entries() if isinstance(one, BegunRecord)]
        assert begun.approvals
        (used,) = begun.approvals
        assert used.plan_digest == answers[4]["plan_digest"]
        assert log.claims([used.claim]) == {used.claim: begun.seq}


def _entry_kinds(log: SqlDecisionLog) -> list[str]:
    """Return what each record is: an allowed ruling, a beginning, or something else."""
    return [_entry_kind(record) for record in log.entries()]


def _entry_kind(record: LogRecord) -> str:
    if not isinstance(record, DecisionRecord):
        return record.kind
    allowed = record.run is None and record.action == "allow"
    return "ruled" if allowed else "other"


def test_an_approval_that_was_used_lets_nothing_run_and_no_ruling_says_so(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers = answers_to(guard, ASKS)
        plan, asked = answers[max(answers)]["plan_digest"], log.head().seq
        used = UsedApproval(approval_id=f"turn/2/after/{asked}", plan_digest=plan)
        log.append_all([Begun(proposal=proposal(), approvals=(used,), begun_at=NOON)])
        (answer,) = answers_to(guard, [yes(digest=plan)]).values()
        assert answer["action"] == "refuse"
        assert "used up before" in answer["critic_error"]
        assert _entry_kinds(log)[asked:] == ["begun", "critic_error"]


def test_a_ruling_and_the_beginning_of_what_it_lets_run_share_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commits: list[None] = []
    replace_commits(monkeypatch, lambda commit: commits.append(commit()))  # type: ignore[func-returns-value]
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [open_()])
        for event in (call("list_mail"), result("x"), call("list_mail"), close()):
            commits.clear()
            answers_to(guard, [event])
            # A close looks first whether a person settled what has no result.
            assert len(commits) == 1 + (event == close()), event
        assert _entry_kinds(log) == [*["ruled", "begun", "other"] * 2, "closed"]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_wherever_the_disk_fails_a_ruling_and_its_beginning_are_both_on_record_or_neither(
    after: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[str, ...]] = []
    for left in range(99):
        path = tmp_path / f"{left}.db"
        disk = FailingStatement(left, sqlite3.SQLITE_IOERR, after=after)
        with SqlDecisionLog.open(path) as log, monkeypatch.context() as patch:
            guard = guard_of(desk(), log=log)
            answers_to(guard, [open_()])
            log._store.close()  # so that the next connection is one that fails
            patch.setattr(sqlite3, "connect", disk.connect)
            (answer,) = answers_to(guard, [call("list_mail")]).values()
        with SqlDecisionLog.open(path) as log:
            found.append(tuple(_entry_kinds(log)))
        assert answer["action"] == ("refuse" if disk.met else "allow")
        if not disk.met:
            break
    # The last one met no fault, and the one before it failed at its commit, or after it.
    both = ("ruled", "begun")
    assert len(found) > 10
    assert found == [*[()] * (len(found) - 2), both if after else (), both]


def test_what_only_a_shadow_lets_run_begins_on_record_too(tmp_path: Path) -> None:
    events = [open_(), call("transfer", iban="iban-9", reason=""), call("list_mail", id="m")]
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(desk(shadow=True), log=log), events)
        entries = [*log.entries()]
        assert [one.status for one in replay(log)] == ["same", "open", "same", "open"]
    assert [getattr(one, "action", None) for one in entries] == [
        *("shadow", "shadow", "allow", "allow")
    ]
    assert isinstance(entries[1], BegunRecord)


FAILING = [call("list_mail", id="d"), result("x"), close(), open_("t")]


@pytest.mark.parametrize("event", FAILING, ids=lambda event: str(event["event"]))
def test_a_failure_of_the_guard_is_on_record(
    event: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("oh\n")

    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [open_(), call("list_mail")])
        for name in ("propose", "ran", "closed", "opened"):
            monkeypatch.setattr(f"critic.session.Session.{name}", fail)
        (answer,) = answers_to(guard, [event]).values()
        (*_, record) = log.entries()
        assert [one.status for one in replay(log)] == ["same", "open", "same"]
    assert "ZeroDivisionError: oh" in str(answer)
    assert isinstance(record, CriticErrorRecord)
    assert record.asked == event
    assert record.where.startswith("ZeroDivisionError: oh")
    assert record.trace_id == ("s" if event["session"] == "s" else None)


def test_a_failure_over_an_event_that_is_too_large_is_on_record_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.log.appending.MAX_DOCUMENT_BYTES", 5000)
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("critic.session.Session.opened", None)
            answers_to(guard, [open_(request="x" * 5000)])
        (record,) = log.entries()
    assert isinstance(record, CriticErrorRecord)
    assert record.asked == {"event": "open", "session": "s"}


@pytest.mark.parametrize("now", [None, datetime(2026, 5, 9, 12), 1.5])
def test_a_failure_of_the_clock_is_on_record(now: Any, tmp_path: Path) -> None:
    class Clock:
        def now(self) -> Any:
            return now

    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log, clock=Clock())
        answers_to(guard, [open_(), call("list_mail")])
        (record,) = log.entries()
    assert isinstance(record, CriticErrorRecord)
