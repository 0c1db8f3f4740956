"""Replay works out the facts of a session again, from its earlier records."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from critic import Proposal, verify_proposal
from harness.audit.copies.redaction import Wanted, redact_log, value_named
from harness.canonical import digest
from harness.errors import UsageError
from harness.log import SqlDecisionLog
from harness.replay import begun, recheck, replay
from tests.harness.audit.tables.drawn_logs import write_drawn_log
from tests.harness.log.decisions import NOON
from tests.harness.replay.session_logs import EVENTS, REWRITTEN, at, nothing, recorded
from tests.support.effort import sampled, sampled_rows
from tests.support.guarding import (
    ASKS,
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


def replayed(path: Path, change: Callable[[Json], Any], events: list[Any]) -> list[Any]:
    recorded(path / "log.db", change, events)
    with SqlDecisionLog.open_for_reading(path / "log.db") as log:
        return list(replay(log))


def test_what_drawn_sessions_recorded_follows(tmp_path: Path) -> None:
    """Calls of theirs fail, are changed, and are told as what was sent, in any spelling."""
    seed = random.randrange(2**32)  # noqa: S311
    print(f"seed {seed}")  # noqa: T201 - for who repeats it
    write_drawn_log(tmp_path / "log.db", seed, 12)
    with SqlDecisionLog.open_for_reading(tmp_path / "log.db") as log:
        answers = list(replay(log))
    assert {one.status for one in answers} <= {"same", "open"}, [one.reasons for one in answers]


def test_what_a_guard_recorded_follows(tmp_path: Path) -> None:
    answers = replayed(tmp_path, nothing, EVENTS)
    assert {one.status for one in answers} == {"same"}, [one.reasons for one in answers]


def test_inputs_that_several_records_name_are_judged_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[str] = []

    def judge(proposal: Proposal) -> Any:
        judged.append(digest(proposal))
        return verify_proposal(proposal)

    monkeypatch.setattr(recheck, "verify_proposal", judge)
    monkeypatch.setattr(begun, "verify_proposal", judge)
    answers = replayed(tmp_path, nothing, EVENTS)
    assert len(judged) == len({*judged}) < len(answers)


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    ("turn", "change", "named"), REWRITTEN, ids=lambda one: "" if callable(one) else str(one)
)
def test_a_fact_that_earlier_records_contradict_is_named(
    turn: int, change: Callable[[Json], Any], named: str, tmp_path: Path
) -> None:
    answers = replayed(tmp_path, at(turn, change), EVENTS)
    (first, *_) = [one for one in answers if one.status != "same"]
    assert first.status == "tampered"
    assert f"session facts do not follow from earlier records: {named}" in first.reasons


def test_a_turn_that_is_not_on_record_leaves_the_next_one_incomplete(tmp_path: Path) -> None:
    guard = guard_of(desk())
    answers_to(guard, EVENTS[:3])
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        other = guard_of(desk(), log=log)
        other.resume(guard.export("s"))
        answers_to(other, EVENTS[3:5])
        (ruling, *_) = replay(log)
    assert ruling.status == "incomplete"
    assert ruling.reasons == ("turn 1 of its session is missing: its facts cannot be derived",)


PLACES = ("ctx", "ctx/approvals", "ctx/session", "compiled", "plan", "spec")


def redacted(path: Path, seq: int, place: str) -> list[Any] | None:
    """Return the answers for a copy without a value, if the record has it."""
    new = path.with_name(f"{seq}-{place.replace('/', '-')}.db")
    with SqlDecisionLog.open_for_reading(path) as log:
        try:
            wanted = Wanted([value_named(f"{seq}:/inputs/{place}")])
            redact_log(log, new, wanted, by="ada", because="asked", now=NOON)
        except UsageError:
            return None
    with SqlDecisionLog.open_for_reading(new) as log:
        return list(replay(log))


@pytest.mark.slow
@pytest.mark.parametrize("place", sampled(PLACES, one_in=5))
def test_turns_after_one_that_was_redacted_are_redacted_or_the_same(
    place: str, tmp_path: Path
) -> None:
    before = replayed(tmp_path, nothing, EVENTS)
    later, redactions = 0, 0
    for one in before:
        answers = redacted(tmp_path / "log.db", one.seq, place)
        if answers is None:
            continue
        redactions += 1
        assert {"same", "redacted"} >= {other.status for other in answers}, (
            one.seq,
            [other.reasons for other in answers],
        )
        assert answers[one.seq - 1].status == "redacted"
        later += sum(other.reasons == (LATER,) for other in answers if other.seq > one.seq)
    assert redactions >= (2 if place == "ctx/approvals" else len(before))
    assert later or place == "spec"  # which all of them have


LATER = "an earlier record of its session is redacted: its facts cannot be derived"


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("turn", "change", "named"),
    sampled_rows(REWRITTEN, one_in=3),
    ids=lambda one: "" if callable(one) else str(one),
)
def test_a_redaction_hides_no_fact_that_says_less_than_the_records_left(
    turn: int, change: Callable[[Json], Any], named: str, tmp_path: Path
) -> None:
    """That a person approved something is on record where it is redacted, and nowhere else."""
    before = replayed(tmp_path, at(turn, change), EVENTS)
    copies = (redacted(tmp_path / "log.db", one.seq, "ctx/approvals") for one in before)
    answers = next(one for one in copies if one is not None)
    reasons = [reason for one in answers for reason in one.reasons]
    assert LATER in reasons
    if (turn, named) != (5, "approved"):
        assert f"session facts do not follow from earlier records: {named}" in reasons


def test_sessions_of_one_id_are_told_apart(tmp_path: Path) -> None:
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        one, two = guard_of(desk(), log=log), guard_of(desk(), log=log)
        answers_to(one, EVENTS[:5])
        answers_to(two, ASKS)
        answers_to(one, [*EVENTS[5:], *EVENTS])
        assert {result.status for result in replay(log)} == {"same"}


def test_a_result_between_a_question_and_its_answer_is_not_known_to_it(tmp_path: Path) -> None:
    late = result({}, id="late")
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        guard = guard_of(desk(), log=log)
        answers_to(guard, [ASKS[0], call("list_mail", id="late"), *ASKS[1:]])
        answers_to(guard, [late])
        digest = next(
            record.inputs.plan for record in reversed(list(log.records())) if record.run is None
        )
        assert answers_to(guard, [yes(digest=digest), close()])[0]["action"] == "allow"
        assert {one.status for one in replay(log)} == {"same"}


def test_a_shadow_and_refusals_follow_too(tmp_path: Path) -> None:
    events = [open_(), call("transfer", iban="iban-9", reason=""), result("x"), *EVENTS[5:]]
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers_to(guard_of(desk(shadow=True), log=log), events)
        answers_to(guard_of(desk(), log=log), [*events[:2], *EVENTS[1:]])
        assert {one.status for one in replay(log)} == {"same"}


MISSED = {"id": "old-9"}
MET = {"id": "old-9", "kind": "note"}


@pytest.mark.parametrize(("output", "action"), [(MISSED, "refuse"), (MET, "allow")])
def test_only_a_record_of_its_class_shows_what_was_made(
    output: Json, action: str, tmp_path: Path
) -> None:
    wire = desk()
    result_of = {"author": "member", "format": "json", "makes": {"/id": "note"}}
    made = {"yields": "note", "result": result_of}
    wire["tool"] = [
        {**one, **made} if one["capability_id"] == "make_note" else one for one in wire["tool"]
    ]
    wire["class"] = [{"name": "note", "fields": {}, "schema": {"required": ["kind"]}}]
    events = [
        *(open_(request="Go on"), call("make_note", name="a", text="x"), result(output)),
        *(call("shred", id="d", name="old-9"), close()),
    ]
    with SqlDecisionLog.open(tmp_path / "log.db") as log:
        answers = answers_to(guard_of(wire, log=log), events)
        assert answers[3]["action"] == action
        assert {one.status for one in replay(log)} == {"same"}
