"""A permit is good for one call as it was ruled on, once."""

import copy
import pickle
from contextlib import suppress
from threading import Barrier, Thread
from typing import Any, Final

import pytest

from critic.session import Call
from harness.guard import CallPermit, Guard
from harness.guard.permits import permit_of
from harness.single_use import PermitError
from tests.support.guarding import ASKS, answers_to, call, close, desk, guard_of, open_, result, yes


def permitted(*events: Any) -> Guard:
    guard = guard_of(desk())
    answers_to(guard, [open_(), call("read_note", name="plan.md"), *events])
    return guard


def test_a_permit_gives_the_arguments_once() -> None:
    permit = permitted().permit("s", "c")
    given = {"name": "plan.md"}
    assert permit.redeem("read_note", given) == given
    with pytest.raises(PermitError, match="used before"):
        permit.redeem("read_note", given)


@pytest.mark.parametrize(
    "attempt",
    [
        ("read_note", {"name": "other.md"}),
        ("read_note", {"name": "plan.md", "x": None}),
        ("read_note", {}),
        ("list_mail", {"name": "plan.md"}),
        ("read_note", {"name": object()}),
        ("read_note", None),
    ],
)
def test_an_edited_call_is_not_covered_and_uses_the_permit_up(attempt: Any) -> None:
    permit = permitted().permit("s", "c")
    with pytest.raises(PermitError, match="not the call"):
        permit.redeem(*attempt)
    with pytest.raises(PermitError, match="used before"):
        permit.redeem("read_note", {"name": "plan.md"})


def test_numbers_are_told_from_booleans() -> None:
    permit = permit_of(Call("c", "t", {"n": 1}))
    with pytest.raises(PermitError):
        permit.redeem("t", {"n": True})


NEAR_TOOLS: Final = ("read_note", "Read_note", "read_note ", "read_not", "read_notes", "read-note")
NEAR_ARGS: Final[tuple[Any, ...]] = (
    *(
        {},
        {"n": None},
        {"n": 1},
        {"n": "1"},
        {"n": True},
        {"n": [1]},
        {"N": 1},
        {"n": 1, "m": None},
    ),
    *({"n": "a"}, {"n": "A"}, {"n": "a "}, {"n": "\u00e9"}, {"n": "e\u0301"}, {"n": {"a": 1}}),
)


def test_of_names_and_arguments_that_are_nearly_equal_each_covers_itself_alone() -> None:
    calls = [(one, {"n": 1}) for one in NEAR_TOOLS] + [("t", one) for one in NEAR_ARGS]
    for tool, args in calls:
        for other, sent in calls:
            permit = permit_of(Call("c", tool, args))
            if (tool, repr(args)) == (other, repr(sent)):
                made = permit.redeem(other, sent)
                assert made == args
                assert made is not sent
            else:
                with pytest.raises(PermitError, match="not the call"):
                    permit.redeem(other, sent)


def test_who_gives_a_permit_up_is_told_whether_the_call_may_have_been_made() -> None:
    unused, used, missed = (permit_of(Call("c", "t", {"n": [1]})) for _ in range(3))
    sent = {"n": [1]}
    assert used.redeem("t", sent)["n"] is not sent["n"]
    with pytest.raises(PermitError):
        missed.redeem("u", sent)
    assert [one.give_up() for one in (unused, used, missed)] == [True, False, True]
    with pytest.raises(PermitError, match="used before"):
        unused.redeem("t", sent)


def test_what_is_given_is_no_part_of_what_was_ruled_on() -> None:
    call_ = Call("c", "t", {"names": ["a"]})
    permit = permit_of(call_)
    call_.args["names"].append("b")
    assert permit.redeem("t", {"names": ["a"]}) == {"names": ["a"]}


@pytest.mark.parametrize(
    "then",
    [[result("x")], [close()]],
    ids=["it has ended", "the session closed"],
)
def test_a_permit_is_withdrawn_when(then: list[Any]) -> None:
    guard = permitted()
    permit = guard.permit("s", "c")
    answers_to(guard, then)
    with pytest.raises(PermitError):
        permit.redeem("read_note", {"name": "plan.md"})


@pytest.mark.parametrize("halts_at", ["a refusal", "a denial"])
def test_where_a_session_halts_no_call_can_be_made_any_more(halts_at: str) -> None:
    guard = guard_of(desk(on_refusal="halt"))
    answers_to(guard, [open_(), call("read_note", name="plan.md"), result("iban-4711-22")])
    answers_to(guard, [call("list_mail", id="m")])
    permit = guard.permit("s", "m")
    iban = "iban-9" if halts_at == "a refusal" else "iban-4711-22"
    answers_to(guard, [call("transfer", iban=iban, reason="x"), {**yes(), "yes": False}])
    with pytest.raises(PermitError, match="used before"):
        permit.redeem("list_mail", {})
    with pytest.raises(PermitError, match="not allowed"):
        guard.permit("s", "m")


@pytest.mark.parametrize("session", ["s", "t"])
def test_there_is_no_permit_for_what_was_not_allowed(session: str) -> None:
    with pytest.raises(PermitError, match="not allowed"):
        permitted().permit(session, "d")


def test_a_question_has_no_permit_before_its_yes() -> None:
    guard = guard_of(desk())
    answers_to(guard, ASKS)
    with pytest.raises(PermitError):
        guard.permit("s", "c")
    guard = guard_of(desk())
    answers_to(guard, [*ASKS, yes()])
    assert guard.permit("s", "c").redeem("transfer", {"iban": "iban-4711-22", "reason": "x"})


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_permit_cannot_be_copied(copied: Any) -> None:
    with pytest.raises(TypeError, match="one call"):
        copied(permit_of(Call("c", "t", {})))


def test_a_permit_is_not_made_by_hand() -> None:
    with pytest.raises(PermitError, match="issued by a guard"):
        CallPermit(object(), Call("c", "t", {}))


def test_of_many_threads_one_redeems_it() -> None:
    for _ in range(20):
        permit, barrier, given = permit_of(Call("c", "t", {})), Barrier(4), list[Any]()

        def redeem(permit: CallPermit = permit, barrier: Barrier = barrier) -> None:
            barrier.wait()
            with suppress(PermitError):
                given.append(permit.redeem("t", {}))  # noqa: B023 - joined in this turn

        threads = [Thread(target=redeem) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert given == [{}]
