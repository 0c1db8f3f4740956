"""A guard tells where a session stands, and hands out nothing that it decides by."""

from harness.guard import Guard, PendingQuestion, SessionStatus
from tests.support.guarding import ASKS, answers_to, call, close, desk, guard_of, open_, result, yes

TWO = {
    "event": "calls",
    "session": "s",
    "calls": [
        {"id": "c1", "tool": "read_note", "args": {"name": "plan.md"}},
        {"id": "c2", "tool": "transfer", "args": {"iban": "iban-4711-22", "reason": ["x"]}},
    ],
}


def test_a_session_that_is_not_open_has_no_status() -> None:
    guard = guard_of(desk())
    assert guard.status("s") is None
    answers_to(guard, [open_()])
    status = guard.status("s")
    assert status is not None
    assert status == SessionStatus(0, has_halted=False, question=None)
    answers_to(guard, [close()])
    assert guard.status("s") is None


def asking() -> tuple[Guard, PendingQuestion]:
    guard = guard_of(desk())
    answered = answers_to(guard, [*ASKS[:3], TWO])
    asked = question_of(guard)
    assert asked is not None
    assert asked.ruling.wire() == answered[3]
    return guard, asked


def question_of(guard: Guard) -> PendingQuestion | None:
    status = guard.status("s")
    assert status is not None
    return status.question


def test_the_question_is_the_ruling_that_asks_with_its_calls() -> None:
    _, asked = asking()
    assert [one.wire() for one in asked.calls] == TWO["calls"]
    assert asked.doubted == {"c2"}
    assert {one.call for one in asked.questions} == {"c2"}
    assert asked.plan_digest == asked.ruling.plan_digest


def test_what_is_handed_out_is_not_what_the_guard_decides_by() -> None:
    guard, asked = asking()
    asked.calls[1].args["iban"] = "iban-of-mallory"
    asked.calls[1].args["reason"].append("y")
    answers_to(guard, [yes(digest=asked.plan_digest)])
    made = {"iban": "iban-4711-22", "reason": ["x"]}
    assert guard.permit("s", "c2").redeem("transfer", made) == made


def test_an_answer_or_a_new_turn_ends_the_question() -> None:
    for event in (None, call("read_note", name="plan.md")):
        guard, asked = asking()
        answers_to(guard, [event or yes(digest=asked.plan_digest)])
        assert question_of(guard) is None


def test_a_halt_and_a_shadow_are_told() -> None:
    refused = [open_(), call("shred", name="a")]
    halted = guard_of(desk(on_refusal="halt"))
    answers_to(halted, refused)
    shadow = guard_of(desk(shadow=True))
    answers_to(shadow, [*refused, result("gone")])
    for guard, expected in ((halted, (True, False)), (shadow, (False, True))):
        status = guard.status("s")
        assert status is not None
        assert (status.has_halted, guard.is_shadow) == expected


def test_a_question_has_all_arguments_that_a_yes_is_to() -> None:
    guard, question = asking()
    (asked,) = question.questions
    assert asked.wire()["args"] == {"iban": "iban-4711-22", "reason": ["x"]}
    asked.args["iban"] = "iban-9"
    status = guard.status("s")
    assert status is not None
    assert status.question is not None
    assert status.question.questions[0].args["iban"] == "iban-4711-22"
