"""What a person said counts for the plan that they were shown, if it is an approval."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic_ai import DeferredToolResults, ToolApproved, ToolDenied
from pydantic_ai.messages import ToolReturn

from harness.integrations.pydantic_ai.pydantic_ai_parts import reply_of
from harness.integrations.pydantic_ai.pydantic_ai_run import GuardedRun
from harness.integrations.seam.guarded import AskedCall
from harness.integrations.seam.ruling_replies import SeamRuling

CALLS = {name: AskedCall(name, "pay", {"n": 1}) for name in "ab"}


class Session:
    """A session that waits for two calls, and notes how it is answered."""

    def __init__(self) -> None:
        self.session, self.waiting = "s", dict(CALLS)
        self.guard = SimpleNamespace(status=lambda _name: SimpleNamespace(turn=1))
        self.answers: list[tuple[dict[str, bool], dict[str, Any]]] = []

    def answer(self, replies: Any, **facts: Any) -> Any:
        self.answers.append(({name: one.yes for name, one in replies.items()}, facts))
        return dict.fromkeys(replies, SeamRuling("allow", "ok"))

    def start(self, _call: AskedCall) -> SeamRuling:
        return SeamRuling("allow", "ok")


SHOWN: list[tuple[dict[str, Any], str | None]] = [
    ({}, None),
    ({"a": {"plan_digest": "1"}}, "1"),
    ({"a": {"plan_digest": "1"}, "b": {"plan_digest": "1"}}, "1"),
]


@pytest.mark.parametrize(("metadata", "digest"), SHOWN)
def test_an_answer_names_the_plan_that_was_shown(
    metadata: dict[str, Any], digest: str | None
) -> None:
    assert answered(metadata)["plan_digest"] == digest


@pytest.mark.parametrize("pair", ["12", "21"])
def test_an_answer_to_two_plans_is_to_neither(pair: str) -> None:
    metadata = {name: {"plan_digest": one} for name, one in zip("ab", pair, strict=True)}
    assert answered(metadata)["plan_digest"] not in {None, "1", "2"}


def answered(metadata: dict[str, Any]) -> dict[str, Any]:
    session: Any = Session()
    results = DeferredToolResults(approvals={"a": True, "b": False}, metadata=metadata)
    asyncio.run(GuardedRun(session, "user").take_answers(results))
    [(replies, facts)] = session.answers
    assert replies == {"a": True, "b": False}
    return dict(facts)


SAID: list[tuple[dict[str, Any], bool]] = [
    ({}, True),
    ({"plan_digest": "1"}, True),
    ({"plan_digest": "2"}, False),
    ({"plan_digest": None}, False),
    ({"plan_digest": 1}, False),
]


@pytest.mark.parametrize(("said", "counts"), SAID)
def test_a_handler_approves_the_plan_that_it_was_shown(said: dict[str, Any], counts: bool) -> None:
    session: Any = Session()
    run = GuardedRun(session, "user")
    run._asked, run._shown = dict(CALLS), {"a": "1"}
    ruling = asyncio.run(run._approve_call(CALLS["a"], said))
    assert bool(ruling) == counts
    assert len(session.answers) == counts


@pytest.mark.parametrize("result", [True, 1, "yes", None, {}, ToolDenied(), ToolReturn("yes")])
def test_what_is_not_an_approval_is_a_no(result: Any) -> None:
    reply = reply_of(result)
    assert not reply.yes
    assert reply.args is None


def test_an_approval_is_a_yes_to_the_arguments_in_it() -> None:
    for args in (None, {}, {"n": 2}):
        reply = reply_of(ToolApproved(override_args=args))
        assert reply.yes
        assert reply.args == args
