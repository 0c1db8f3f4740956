"""What a seam makes of each answer of a guard: no more than it says, and whether the run ends."""

from typing import Any

import pytest

from critic import Refused, verify_proposal
from harness.guard import EventError, OpeningRuling, Ruling
from harness.guard.rulings import FAILED, EventFault, UnknownCall
from harness.integrations.seam.ruling_replies import opening_ruling, reply_to_error, seam_ruling
from tests.harness.log.decisions import proposal

PASSED, STOPPED = verify_proposal(proposal()), verify_proposal(proposal(pinned=False))
assert isinstance(STOPPED, Refused)
NOPE = UnknownCall(id="u", tool="nope", say="There is no tool nope.")


def ruling(action: Any, **members: Any) -> Ruling:
    return Ruling(session="s", turn=1, action=action, **members)


def error(message: str, path: str = "/calls/0/args") -> EventError:
    return EventError(error=EventFault(path=path, message=message))


ANSWERS: list[tuple[Any, str, str]] = [
    (ruling("allow", verdict=PASSED), "allow", "ok"),
    (ruling("ask", verdict=STOPPED, plan_digest="d" * 64), "ask", STOPPED.kind),
    (ruling("refuse", verdict=STOPPED), "refuse", STOPPED.kind),
    (ruling("refuse", unknown=[NOPE]), "refuse", "unknown_tool"),
    (ruling("refuse", critic_error="lost"), "refuse", "critic_error"),
    (error("is missing"), "refuse", "invalid_call"),
    (error("critic_error: lost"), "refuse", "critic_error"),
]


@pytest.mark.parametrize("halts", [False, True])
@pytest.mark.parametrize(("answer", "action", "kind"), ANSWERS)
def test_a_refusal_ends_the_run_of_a_halted_session_and_nothing_else_does(
    answer: Any, action: str, kind: str, halts: bool
) -> None:
    found = seam_ruling(answer, halts=halts)
    assert found.action == ("halt" if halts and action == "refuse" else action)
    assert found.kind == kind
    assert bool(found) is (action == "allow")
    assert found.args is None
    wire = found.wire()
    assert (wire["action"], wire["kind"]) == (found.action, kind)


def test_a_failure_of_the_guard_itself_is_told_to_no_model() -> None:
    assert reply_to_error(error("critic_error: secret")) == FAILED
    assert "secret" in reply_to_error(error("secret"))


OPENINGS: list[tuple[Any, Any, str, str]] = [
    (PASSED, "allow", "allow", "ok"),
    (STOPPED, "ask", "ask", STOPPED.kind),
    (STOPPED, "refuse", "refuse", STOPPED.kind),
    (PASSED, "refuse", "refuse", "approval_mode_mismatch"),  # a person said no before
]


@pytest.mark.parametrize("halts", [False, True])
@pytest.mark.parametrize(("verdict", "given", "action", "kind"), OPENINGS)
def test_a_call_that_was_opened_has_arguments_if_it_may_be_made_alone(
    verdict: Any, given: Any, action: str, kind: str, halts: bool
) -> None:
    told: dict[str, Any] = {"note": "n", "reply": "r", "expires_at": "2026-05-09T13:00:00Z"}
    answer = OpeningRuling(
        session="s",
        turn=1,
        id="c",
        action=given,
        verdict=verdict,
        plan_digest="d" * 64,
        args={"n": 1},
        **told,
    )
    found = opening_ruling(answer, halts=halts)
    assert found.action == ("halt" if halts and action == "refuse" else action)
    assert (found.kind, found.args) == (kind, {"n": 1} if action == "allow" else None)
    assert found.ruling is not None
    whole = found.ruling.wire()
    assert {name: whole.get(name) for name in told} == told
    assert (whole["plan_digest"], whole["turn"], whole["action"]) == ("d" * 64, 1, given)
