"""A session that was closed goes on with `again`: what binds it comes along, and no authority."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.audit.copies.succession import go_on_in
from harness.guard import EventError, Guard, OpenEvent
from harness.guard.course_answers import OutOfPlace
from harness.guard.reopening import find_closed, next_life
from harness.guard.session_folder import SessionFolder
from harness.guard.session_journal import claim_prefix
from harness.log import SqlDecisionLog
from harness.log.journal_rows import JournalMoved, JournalStep
from harness.record import SessionClosedRecord, SessionReopenedRecord
from harness.record.drafts import session_key
from harness.replay import check_log, replay, stretches
from tests.harness.console import Critic
from tests.harness.log.decisions import meddle
from tests.harness.replay.forging import edited, forged, forged_input
from tests.harness.replay.test_stretches import in_stretches
from tests.harness.serve.asking import app_of, ask, event_path
from tests.support.guarding import (
    ASKS,
    NOON,
    Json,
    answers_to,
    call,
    close,
    desk,
    guard_of,
    open_,
    result,
    yes,
)
from tests.support.turns import fates_in

Guards = Callable[..., Guard]
AGAIN = open_(again=True)
SHRED = call("shred", id="shred", name="old-note")
SHREDDER = {"request": "Shred the note old-note"}


@pytest.fixture
def log(tmp_path: Path) -> Iterator[SqlDecisionLog]:
    with SqlDecisionLog.open(tmp_path / "log.db") as opened:
        yield opened


@pytest.fixture(params=["one process", "another process"])
def guards(request: pytest.FixtureRequest, log: SqlDecisionLog) -> Guards:
    """Return what gives the guard of each life: one for both, or each its own."""
    one = guard_of(desk(max_questions=2), log=log)

    def guard() -> Guard:
        return one if request.param == "one process" else guard_of(desk(max_questions=2), log=log)

    return guard


def told(guard: Guard, *events: Json) -> Json:
    """Return the answer to the last of some events."""
    return answers_to(guard, [*events]).get(len(events) - 1, {})


def refusal(guard: Guard, event: Json = AGAIN) -> str:
    return str(told(guard, event)["error"]["message"])


def sound(log: SqlDecisionLog) -> None:
    found = list(replay(log))
    assert {one.status for one in found} <= {"same", "open"}, [one.reasons for one in found]
    assert check_log(log).text() == ""


def spent_before(log: SqlDecisionLog) -> list[tuple[int, int]]:
    """Return the steps and tokens that were spent before each ruling."""
    with_inputs = [one for one in log.records() if one.run is None]
    ctxs = [json.loads(log.input(one.inputs.ctx) or b"") for one in with_inputs]
    return [(ctx["spent"]["steps"], ctx["spent"]["tokens"]) for ctx in ctxs]


def test_no_denial_is_forgotten(log: SqlDecisionLog, guards: Guards) -> None:
    told(guards(), *ASKS, yes(yes=False), close())
    again = told(guards(), AGAIN, *ASKS[1:])
    assert (again["action"], again["turn"]) == ("refuse", 4)
    assert again["note"] == "a person said no to this call in this session"
    other = told(guards(), close(), AGAIN, *ASKS[1:])
    assert (other["action"], other["turn"]) == ("refuse", 6)
    sound(log)


def test_questions_are_counted_over_all_lives(log: SqlDecisionLog, guards: Guards) -> None:
    assert told(guards(), *ASKS)["action"] == "ask"
    told(guards(), close())
    assert told(guards(), AGAIN, *ASKS[1:])["action"] == "ask"
    told(guards(), close())
    last = told(guards(), AGAIN, *ASKS[1:])
    assert last["note"] == "2 questions were asked already, which is the limit"
    sound(log)
    assert sorted(fates_in(log).values())[:2] == ["asked_no", "asked_no"]


def test_a_destructive_call_is_not_made_twice(log: SqlDecisionLog, guards: Guards) -> None:
    first = told(guards(), open_(**SHREDDER), SHRED)
    assert first["action"] == "allow"
    told(guards(), result("gone", id="shred"), close())
    second = told(guards(), open_(**SHREDDER, again=True), SHRED)
    assert (second["action"], second["turn"]) == ("ask", 2)
    assert "repeats the destructive call desk.shred" in second["verdict"]["reasons"][0]
    sound(log)


def test_a_call_without_an_end_counts_as_made(log: SqlDecisionLog, guards: Guards) -> None:
    told(guards(), open_(**SHREDDER), SHRED, close())
    assert told(guards(), open_(**SHREDDER, again=True), SHRED)["action"] == "ask"
    sound(log)


def test_what_was_spent_stays_spent(log: SqlDecisionLog) -> None:
    wire = desk(budget={"max_steps": 3, "bucket_tokens": 100})
    guard = guard_of(wire, log=log)
    reads = [[call("list_mail", id=f"c{at}"), result("x", id=f"c{at}", tokens=7)] for at in "12"]
    told(guard, open_(), *reads[0], *reads[1], close())
    assert told(guard_of(wire, log=log), AGAIN, call("list_mail"))["action"] == "allow"
    told(guard, result("x"), close())
    refused = told(guard_of(wire, log=log), AGAIN, call("list_mail"))
    assert (refused["action"], refused["turn"]) == ("refuse", 4)
    assert refused["verdict"]["reasons"] == [
        "plan has 1 step after 3 already spent, exceeds max_steps"
    ]
    assert spent_before(log) == [(0, 0), (1, 7), (2, 14), (3, 14)]
    sound(log)


def test_authority_is_not_carried(log: SqlDecisionLog, guards: Guards) -> None:
    pay = call("transfer", id="t", iban="iban-4711-22", reason="x")
    assert told(guards(), open_(request="Pay iban-4711-22"), pay)["action"] == "allow"
    told(guards(), result({"ok": True}, id="t"), close())
    assert told(guards(), open_(request="Hello", again=True), pay)["action"] == "refuse"
    sound(log)


def test_what_was_sent_before_comes_back_as_an_echo(log: SqlDecisionLog, guards: Guards) -> None:
    """A system that shows what an earlier life sent says nothing new by it; a user does."""
    pay = call("transfer", id="t", iban="iban-4711-22", reason="x")
    told(guards(), open_(request="Pay iban-4711-22"), pay, result({"ok": True}, id="t"), close())
    asked = told(guards(), open_(request="Pay iban-4711-22 again", again=True), pay)
    assert (asked["action"], asked["turn"]) == ("allow", 2)
    told(guards(), result({"ok": True}, id="t"), close())
    told(guards(), open_(again=True), call("read_note", name="plan.md"))
    told(guards(), close())
    ctx = json.loads(log.input([*log.records()][-1].inputs.ctx) or b"")
    assert [one["seq"] for one in ctx["session"]["sent"]] == [1, 1]
    sound(log)


def test_an_approval_is_of_its_life(log: SqlDecisionLog, guards: Guards) -> None:
    """A yes of one life allows nothing in the next, where a person is asked again."""
    assert told(guards(), *ASKS, yes())["action"] == "allow"
    told(guards(), result({"ok": True}, id=ASKS[-1]["calls"][0]["id"]), close())
    again = told(guards(), AGAIN, *ASKS[1:])
    assert again["action"] == "ask"
    assert told(guards(), yes(digest=again["plan_digest"]))["action"] == "allow"
    sound(log)


def test_turns_of_two_lives_are_told_apart(log: SqlDecisionLog, guards: Guards) -> None:
    same = [call("list_mail"), result("x"), close()]
    for events in ([open_(), *same], [AGAIN, *same], [AGAIN, *same]):
        told(guards(), *events)
    assert [*fates_in(log).values()] == ["ran"] * 3
    sound(log)


def test_an_open_session_goes_on_in_its_second_life(log: SqlDecisionLog) -> None:
    """Each event reaches another process, which reads the journal that began again."""
    told(guard_of(desk(), log=log), *ASKS, yes(yes=False), close())
    for event in (AGAIN, *ASKS[1:-1]):
        told(guard_of(desk(), log=log), event)
    assert told(guard_of(desk(), log=log), ASKS[-1])["action"] == "refuse"
    sound(log)


def test_what_cannot_go_on_is_refused(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    assert "it was never open here: choose a new id" in refusal(guard)
    told(guard, *ASKS)
    for one in (guard, guard_of(desk(), log=log)):
        assert refusal(one) == "session s is open: close it before it is opened again"
    told(guard, close())
    before = log.head()
    assert "or was before" in refusal(guard, open_())
    assert "or was before" in refusal(guard, open_(again=False))
    assert "another policy" in refusal(guard_of(desk(max_questions=7), log=log))
    assert "never open" in refusal(guard, open_("S", again=True))
    assert log.head() == before
    for other in (
        guard_of(desk()),
        guard_of(desk(), sessions=SessionFolder(Path(log.where + "x"))),
    ):
        assert "only a log does" in refusal(other)


def test_a_session_that_halted_does_not_go_on(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(on_refusal="halt"), log=log)
    assert told(guard, open_(request="Hi"), SHRED, close())["status"]
    assert "it halted at a refusal" in refusal(guard)


def test_of_two_that_open_it_again_one_does(log: SqlDecisionLog) -> None:
    told(guard_of(desk(), log=log), *ASKS, close())
    one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
    find = two._recorder.find_closed

    def find_late(session: str) -> Any:
        found = find(session)
        told(one, AGAIN)
        return found

    two._recorder.find_closed = find_late  # type: ignore[method-assign]
    assert refusal(two) == "session s is open: close it before it is opened again"
    assert told(one, call("list_mail"))["action"] == "allow"
    sound(log)


def test_who_looked_before_a_whole_life_went_by_is_refused(log: SqlDecisionLog) -> None:
    told(guard_of(desk(), log=log), *ASKS, close())
    one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
    find = two._recorder.find_closed

    def find_late(session: str) -> Any:
        found = find(session)
        told(one, AGAIN, call("list_mail"), result("x"), close())
        return found

    two._recorder.find_closed = find_late  # type: ignore[method-assign]
    assert "error" in told(two, AGAIN)
    assert log.last_step(session_key("s")) == 0
    sound(log)


def test_a_journal_that_is_there_does_not_begin_again(log: SqlDecisionLog) -> None:
    told(guard_of(desk(), log=log), *ASKS)
    key = session_key("s")
    step = JournalStep(key, log.last_step(key) + 1, b"{}", is_whole=True, is_reopening=True)
    with pytest.raises(JournalMoved):
        log.append_step((), step)


def test_a_journal_that_is_gone_is_no_close(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    told(guard, *ASKS)
    meddle(Path(log.where), ("DELETE FROM session_journal", ()))
    assert "its close was not recorded" in refusal(guard_of(desk(), log=log))


def test_a_close_that_was_edited_is_not_believed(log: SqlDecisionLog) -> None:
    told(guard_of(desk(), log=log), *ASKS, yes(yes=False), close())
    edited(Path(log.where), log.head().seq, lambda record: record["carried"].pop("denied"))
    assert "its close was not recorded" in refusal(guard_of(desk(), log=log))


def test_the_close_of_another_session_is_not_gone_on_from(log: SqlDecisionLog) -> None:
    """Somebody has written in the log that the last step of one session is that of another."""
    told(guard_of(desk(), log=log), *ASKS, yes(yes=False), close())
    other = "another"
    opened = [{**event, "session": other} for event in (open_(), call("list_mail", id="m"))]
    ended = [{**event, "session": other} for event in (result("x", id="m"), close())]
    told(guard_of(desk(), log=log), *opened, *ended)
    seq, steps = log.head().seq, f"{claim_prefix(session_key('s'))}%"
    meddle(
        log.where,
        (
            "UPDATE claims SET seq = ? WHERE claim = "
            "(SELECT max(claim) FROM claims WHERE claim LIKE ?)",
            (seq, steps),
        ),
    )
    assert "its last record is of another session" in refusal(guard_of(desk(), log=log))


def test_what_was_taken_out_of_the_log_is_not_forgotten(
    log: SqlDecisionLog, critic: Critic
) -> None:
    told(guard_of(desk(), log=log), *ASKS, yes(yes=False), close())
    copy = Path(log.where).with_name("copy.db")
    why = ("--because", "asked for", "--by", "raj")
    said = critic("log", "redact", log.where, copy, "--containing", "iban-4711-22", *why)
    assert said.status == 0, said
    with SqlDecisionLog.open(copy) as redacted:
        assert "taken out of the log" in refusal(guard_of(desk(), log=redacted))
        assert {one.status for one in replay(redacted)} <= {"same", "redacted"}


def test_a_second_life_stays_provable_when_the_first_is_taken_out(
    log: SqlDecisionLog, critic: Critic
) -> None:
    told(guard_of(desk(), log=log), *ASKS, yes(yes=False), close())
    told(guard_of(desk(), log=log), AGAIN, call("list_mail"), result("x"), close())
    copy = Path(log.where).with_name("copy.db")
    why = ("--because", "asked for", "--by", "raj")
    assert (
        critic("log", "redact", log.where, copy, "--containing", "iban-4711-22", *why).status == 0
    )
    with SqlDecisionLog.open(copy) as redacted:
        found = list(replay(redacted))
    assert {one.status for one in found} == {"same", "redacted"}, [one.reasons for one in found]


def test_an_id_that_was_closed_in_the_log_before_does_not_go_on(
    log: SqlDecisionLog, tmp_path: Path
) -> None:
    told(guard_of(desk(), log=log), *ASKS, close())
    told(guard_of(desk(), log=log), open_("kept"), call("list_mail", "kept"))
    go_on_in(log, str(tmp_path / "next.db"), NOON)
    with SqlDecisionLog.open(tmp_path / "next.db") as new:
        guard = guard_of(desk(), log=new)
        assert "its close is not in this log" in refusal(guard)
        told(guard, result("x", "kept"), close("kept"))
        assert told(guard, open_("kept", again=True), call("list_mail", "kept"))["turn"] == 2
        sound(new)


def carried(log: Path, change: Callable[[Json], Any]) -> list[Any]:
    """Return the answers of replay for a log with two lives, whose first close was rewritten."""
    with SqlDecisionLog.open(log) as opened:
        told(guard_of(desk(), log=opened), open_(**SHREDDER), SHRED, result("x", id="shred"))
        told(guard_of(desk(), log=opened), close())
        told(guard_of(desk(), log=opened), open_(**SHREDDER, again=True), SHRED, close())
        seq = next(one.seq for one in opened.entries() if isinstance(one, SessionClosedRecord))
        assert {one.status for one in replay(opened)} == {"same"}
    forged(log, seq, change)
    with SqlDecisionLog.open_for_reading(log) as read:
        return list(replay(read))


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["carried"].update(spent={"steps": 0, "tokens": 0}),
        lambda record: record["carried"]["spent"].pop("calls"),
        lambda record: record["carried"]["spent"]["calls"][0].update(args_digest="0" * 64),
        lambda record: record["carried"].pop("sent"),
        lambda record: record.update(turns=0),
        lambda record: record.update(turns=2),
    ],
    ids=["steps", "calls", "another call", "sent", "fewer turns", "more turns"],
)
def test_a_close_that_carries_something_else_is_found(
    change: Callable[[Json], Any], tmp_path: Path
) -> None:
    answers = carried(tmp_path / "log.db", change)
    first = next(one for one in answers if one.status != "same")
    assert (first.kind, first.status) == ("closed", "tampered"), first.reasons


def test_a_second_life_that_spent_nothing_before_is_found(log: SqlDecisionLog) -> None:
    """The context of its first turn says less than the close that it goes on from."""
    told(guard_of(desk(), log=log), open_(**SHREDDER), SHRED, result("x", id="shred"), close())
    told(guard_of(desk(), log=log), open_(**SHREDDER, again=True), call("list_mail"))
    place = Path(log.where)
    ruling = next(one.seq for one in log.records() if one.seq > 5)
    forged_input(place, ruling, "ctx", lambda ctx: ctx["spent"].pop("calls"))
    (found,) = [one for one in replay(log) if one.seq == ruling]
    assert found.status == "tampered"
    assert "spent.calls" in found.reasons[-1]


def test_a_reopening_names_the_close_that_it_goes_on_from(log: SqlDecisionLog) -> None:
    told(guard_of(desk(), log=log), *ASKS, close())
    told(guard_of(desk(), log=log), open_("t"), call("list_mail", "t"), result("x", "t"))
    told(guard_of(desk(), log=log), close("t"), AGAIN, call("list_mail"))
    closes = {one.trace_id: one for one in log.entries() if isinstance(one, SessionClosedRecord)}
    (record,) = (one for one in log.entries() if isinstance(one, SessionReopenedRecord))
    assert (record.closed, record.turns) == (closes["s"].hash, 2)
    other = closes["t"].hash
    forged(Path(log.where), record.seq, lambda one: one.update(closed=other))
    (found,) = [one for one in replay(log) if one.seq == record.seq]
    assert found.status == "tampered"
    assert "is of another session" in found.reasons[-1]


def test_it_is_listed_and_shown(log: SqlDecisionLog, critic: Critic) -> None:
    told(guard_of(desk(), log=log), *ASKS, close(), AGAIN)
    listed = critic("log", "list", log.where, "--records", "--status", "reopened")
    assert listed.lines[0].endswith("reopened: the session was reopened, with its carried state")
    shown = critic("log", "show", log.where, str(log.head().seq), "--format", "text").lines
    assert shown[0].startswith(f"record {log.head().seq}: a closed session was reopened, 2026-")
    assert critic("replay", log.where).status == critic("log", "verify", log.where).status == 0


def test_replay_from_any_record_and_in_parts_says_the_same(
    log: SqlDecisionLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stretches, "_SIZE", 2)
    told(guard_of(desk(), log=log), *ASKS, yes(yes=False), close(), AGAIN, *ASKS[1:])
    told(guard_of(desk(), log=log), close(), AGAIN, call("list_mail"), result("x"))
    whole = list(replay(log))
    for number in range(0, log.head().seq + 1, 3):
        assert in_stretches(log, after=number) == [one for one in whole if one.seq > number]


def test_the_python_event_the_service_and_the_stream_open_it_again(
    log: SqlDecisionLog, critic: Critic, tmp_path: Path
) -> None:
    app, path = app_of(desk(), log=log), event_path("s")
    *_, asked = (ask(app, path, event) for event in ASKS)
    digest = asked.json()["plan_digest"]
    assert ask(app, path, yes(digest=digest, yes=False)).json()["action"] == "refuse"
    ask(app, path, close())
    assert ask(app, path, open_()).status_code == 409
    for event in (AGAIN, *ASKS[1:]):
        asked = ask(app, path, event)
    assert (asked.json()["action"], asked.json()["turn"]) == ("refuse", 4)
    assert ask(app, path, AGAIN).status_code == 409
    assert ask(app, path, close()).json()["status"]
    policy = tmp_path / "critic.json"
    policy.write_text(json.dumps(desk()))
    lines = "".join(f"{json.dumps(event)}\n" for event in (AGAIN, *ASKS[1:], close()))
    said = critic("guard", "--policy", policy, "--log", log.where, stdin=lines.encode())
    assert [json.loads(line).get("turn") for line in said.lines] == [5, 6, None]
    assert json.loads(said.lines[1])["note"].startswith("a person said no")
    guard = guard_of(desk(), log=log)
    assert guard.handle(OpenEvent(session="s", request="Hello", again=True)) is None
    assert isinstance(guard.handle(OpenEvent(session="s", request="x", again=True)), EventError)
    sound(log)


def test_a_life_without_a_turn_is_closed_on_record_and_keeps_the_note(log: SqlDecisionLog) -> None:
    told(guard_of(desk(), log=log), open_(), call("list_mail"), close())
    for number in range(3):
        first, other = guard_of(desk(), log=log), guard_of(desk(), log=log)
        again = OpenEvent(session="s", request="x", again=True)
        assert first.handle(again, note=f"note {number}") is None
        assert [one.note("s") for one in (first, other)] == [f"note {number}"] * 2
        told(other, close())
    kinds = [type(one) for one in log.entries() if not hasattr(one, "inputs")]
    assert kinds == [SessionClosedRecord, *[SessionReopenedRecord, SessionClosedRecord] * 3]
    sound(log)


def test_a_session_is_reopened_under_the_whole_digest_of_its_policy(log: SqlDecisionLog) -> None:
    guard = guard_of(desk(), log=log)
    told(guard, open_(), call("list_mail"), close())
    _, closed = find_closed(log, "s")
    course = guard._opened_course(OpenEvent(session="s", request="x", again=True), NOON)
    assert next_life(course, closed).session.turn == closed.turns
    carried = closed.carried
    assert carried is not None
    for at in (0, 11, 12, 40, 63):
        digest = carried.policy_digest
        near = digest[:at] + ("0" if digest[at] != "0" else "1") + digest[at + 1 :]
        other = carried.model_copy(update={"policy_digest": near})
        with pytest.raises(OutOfPlace, match="another policy"):
            next_life(course, closed.model_copy(update={"carried": other}))
