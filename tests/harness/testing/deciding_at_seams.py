"""What integrations decide by equality: states that come back, answers, and the calls of both."""

from collections.abc import Callable, Iterator
from typing import Any, Final
from unittest.mock import patch

from harness.guard import Guard
from harness.integrations.mcp.mcp_asking import Continuation, RepeatedRequests, read_consent
from harness.integrations.mcp.mcp_guarded import McpCall
from harness.integrations.seam.guarded import AskedCall, CallReply, GuardedSession
from harness.testing._seams.scene import policy_of_scene
from harness.testing.equalities import Equality

_STATE: Final = "Ab-17_cdEFghIJklMNopQRstUVwxYZ01"
_CALL: Final = AskedCall("call-Ab-9", "issue_refund", {"order_id": "Ab-1", "cents": 1})
_YES: Final = CallReply(yes=True)


def of_seams() -> Iterator[Equality]:
    yield from _of_mcp()
    yield from _of_sessions()


def _of_mcp() -> Iterator[Equality]:
    """A client comes back with the very state, for the very call, and a person with a yes."""
    kept = McpCall("mcp-1", _CALL.tool, _CALL.tool, dict(_CALL.args), is_tool=True)  # type: ignore[arg-type]

    def takes(near: Any) -> bool:
        asked = RepeatedRequests()
        with patch("secrets.token_urlsafe", return_value=_STATE):
            asked.keep(Continuation(kept, None))
        return asked.take(near) is not None

    def accepts(**changed: Any) -> bool:
        answer = {"action": "accept", "content": {"approve": True}, **changed}
        return read_consent(answer) is True

    yield Equality("the state of a request that comes again", _STATE, takes)
    yield Equality(
        "the tool of a request that comes again", _CALL.tool, lambda n: kept.is_for(n, kept.args)
    )
    yield Equality(
        "the arguments of a request that comes again",
        kept.args,
        lambda near: kept.is_for(_CALL.tool, near),
        "json",
    )
    yield Equality("the action of a person", "accept", lambda near: accepts(action=near))
    yield Equality(
        "the tick of a person", True, lambda near: accepts(content={"approve": near}), "json"
    )


def _of_sessions() -> Iterator[Equality]:
    """A reply is to the call with its id, in the plan that was shown; a yes is to one call."""

    def asked() -> GuardedSession:
        session = GuardedSession(Guard(policy_of_scene("destructive", asks=True)), "s")
        session.began("Refund order Ab-1")
        session.rule([_CALL])
        return session

    def replied(change: Callable[[GuardedSession], Any]) -> GuardedSession:
        session = asked()
        change(session)
        return session

    def answers(near: Any, **how: Any) -> bool:
        session = replied(lambda one: one.answer({near: _YES}, approver="ada", **how))
        return bool(session.start(_CALL))

    question = asked().question
    assert question is not None
    yield Equality(
        "the call of a reply",
        _CALL.id,
        lambda near: isinstance(near, str) and answers(near),
    )
    yield Equality(
        "the plan of a reply",
        question.plan_digest,
        lambda near: answers(_CALL.id, plan_digest=near),
        "digest",
        same=("nothing",),  # a framework that carries no digest names none
    )

    def approved(**changed: Any) -> bool:
        session = replied(lambda one: one.answer({_CALL.id: _YES}, approver="ada"))
        return bool(session.start(_CALL._replace(**changed)))

    yield Equality("the tool that a person approved", _CALL.tool, lambda n: approved(tool=n))
    yield Equality(
        "the arguments that a person approved", _CALL.args, lambda n: approved(args=n), "json"
    )
