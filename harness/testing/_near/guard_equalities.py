"""What a guard decides by equality, each tried in a session of its own."""

import json
from collections.abc import Callable
from typing import Any, Final

from critic.session import SessionReport
from evals.envelope import Envelope
from harness.guard import Guard
from harness.policy import Policy
from harness.single_use import PermitError
from harness.testing._draw.primitives import Json
from harness.testing._near.equality import Equality
from harness.testing._seams.scene import policy_of_scene

MakeGuard = Callable[[Policy], Guard]
"""Returns a guard with no session open. `Guard` is one."""

_SESSION: Final = "case-Ab-17"
_CALL: Final = "call-Ab-9"
_TOOL: Final = "issue_refund"
_ARGS: Final[Json] = {"order_id": "Ab-1", "cents": 1}
_SAME_TARGETS: Final = (
    *("one more that is null", "order_id renamed", "cents renamed"),
    *("at order_id: another case", "at order_id: lower case", "at order_id: upper case"),
    *("at order_id: full-width letters", "at order_id: a list of it"),
    *("at order_id: a space before it", "at order_id: a space after it"),
    *("at order_id: a line end after it", "at order_id: a no-break space after it"),
    *("at order_id: a zero-width space after it", "at cents: a text of it", "at cents: in a list"),
)
"""A no is of the targets of a call as a reader takes them: other spellings are not asked again."""
_OTHERS: Final = {"another tool": "lookup", "with its adapter": "shop/issue_refund"}
_NOTE: Final = "a person said no to this call in this session"


def guard_equalities(make: MakeGuard) -> tuple[Equality, ...]:
    """Return what a guard decides by equality. A near miss of each is nothing to it."""
    return (*_of_sessions(make), *_of_calls(make), *_of_answers(make), *_of_states(make))


class _Session:
    """A session of a guard in which one refund was asked for."""

    def __init__(self, make: MakeGuard, *, asks: bool = False, **call: Any) -> None:
        self.guard = make(policy_of_scene("destructive", asks=asks))
        self.send("open", request="Refund order Ab-1")
        self.ruling = self.calls(**call)

    def send(self, event: str, **fields: Any) -> Any:
        line = json.dumps({"event": event, "session": _SESSION, **fields})
        answer = self.guard.handle_line(line.encode())
        return answer.wire() if isinstance(answer, Envelope) else answer

    def calls(self, **call: Any) -> Any:
        return self.send("calls", calls=[{"id": _CALL, "tool": _TOOL, "args": _ARGS, **call}])

    def result(self, **fields: Any) -> Any:
        return self.send("result", **{"id": _CALL, "status": "completed", **fields})

    def answer(self, **fields: Any) -> Any:
        asked = {"plan_digest": self.ruling["plan_digest"], "yes": True, "approver": "ada"}
        return self.send("answer", **{**asked, **fields})

    def redeems(self, session: Any = _SESSION, call: Any = _CALL, **changed: Any) -> bool:
        """Return whether a permit is there, and good for a call."""
        try:
            asked = {"tool": _TOOL, "args": _ARGS, **changed}
            return bool(self.guard.permit(session, call).redeem(**asked) == _ARGS)
        except (PermitError, TypeError):
            return False


def _is_allowed(answer: Any) -> bool:
    return bool(answer) and answer.get("action") == "allow"


def _asking_session(make: MakeGuard) -> _Session:
    return _Session(make, asks=True)


def _of_sessions(make: MakeGuard) -> tuple[Equality, ...]:
    """Return what the id of a session is compared with."""

    def of(name: str, matches: Callable[[Any], bool]) -> Equality:
        return Equality(f"the session of {name}", _SESSION, matches)

    return (
        of("calls", lambda near: _is_allowed(_Session(make).send("calls", **_again(near)))),
        of("a result", lambda near: _Session(make).result(session=near) is None),
        of("an answer", lambda near: _is_allowed(_asking_session(make).answer(session=near))),
        of("words", lambda near: _Session(make).send("said", session=near, text="go on") is None),
        of("its end", lambda near: "status" in _Session(make).send("close", session=near)),
        of("a permit", lambda near: _is_text(near) and _Session(make).redeems(session=near)),
        of("its export", lambda near: bool(_is_text(near) and _Session(make).guard.export(near))),
        of("a look at it", lambda near: _is_text(near) and _is_seen(_Session(make).guard, near)),
        of("its being given up", lambda near: _is_text(near) and _gives_up(make, near)),
        of("a second one", lambda near: _is_open_already(make, near)),
    )


def _again(session: Any) -> Json:
    return {"session": session, "calls": [{"id": "o", "tool": "lookup", "args": {"order_id": "2"}}]}


def _is_text(near: Any) -> bool:
    """Return whether a value is one that a caller in Python may give as an id."""
    return isinstance(near, str)


def _is_seen(guard: Guard, session: Any) -> bool:
    return guard.is_open(session) or guard.status(session) is not None


def _gives_up(make: MakeGuard, session: Any) -> bool:
    guard = _Session(make).guard
    guard.abandon(session)
    return not guard.is_open(_SESSION)


def _is_open_already(make: MakeGuard, session: Any) -> bool:
    again = _Session(make).send("open", session=session, request="x")
    return again is not None and "is open already" in again["error"]["message"]


def _of_calls(make: MakeGuard) -> tuple[Equality, ...]:
    """Return what the tool, the arguments and the id of a call are compared with."""
    ruled = "redeemed for what was ruled on"
    return (
        Equality(
            "the tool of a call", _TOOL, lambda near: _is_allowed(_Session(make, tool=near).ruling)
        ),
        Equality(
            "the call of a result", _CALL, lambda near: _Session(make).result(id=near) is None
        ),
        Equality(
            "the call of a permit",
            _CALL,
            lambda near: _is_text(near) and _Session(make).redeems(call=near),
        ),
        Equality(
            f"a tool {ruled}", _TOOL, lambda near: _Session(make).redeems(tool=near), also=_OTHERS
        ),
        Equality(
            f"arguments {ruled}", _ARGS, lambda near: _Session(make).redeems(args=near), "json"
        ),
        Equality("a call whose result is awaited", _CALL, lambda near: _is_awaited(make, near)),
    )


def _is_awaited(make: MakeGuard, call: Any) -> bool:
    """Return whether another call may not have this id while the first has no result."""
    answer = _Session(make).calls(id=call, tool="lookup", args={"order_id": "2"})
    return "is awaited" in answer.get("error", {}).get("message", "")


def _of_answers(make: MakeGuard) -> tuple[Equality, ...]:
    """Return what an answer is compared with: the plan that is asked about, and what was denied."""
    digest = _asking_session(make).ruling["plan_digest"]
    other = _Session(make, asks=True, args={**_ARGS, "cents": 2}).ruling["plan_digest"]
    return (
        Equality(
            "the plan of an answer",
            digest,
            lambda near: _is_allowed(_asking_session(make).answer(plan_digest=near)),
            "digest",
            also={"another plan": other},
        ),
        Equality(
            "a yes",
            True,
            lambda near: _is_allowed(_asking_session(make).answer(yes=near)),
            "json",
        ),
        Equality(
            "arguments that were denied",
            _ARGS,
            lambda near: _is_denied(make, args=near),
            "json",
            same=_SAME_TARGETS,
        ),
        Equality(
            "a tool that was denied", _TOOL, lambda near: _is_denied(make, tool=near), also=_OTHERS
        ),
    )


def _is_denied(make: MakeGuard, **call: Any) -> bool:
    session = _asking_session(make)
    session.answer(yes=False)
    return bool(session.calls(id="again", **call).get("note") == _NOTE)


def _of_states(make: MakeGuard) -> tuple[Equality, ...]:
    """Return what a state is compared with, when a session goes on from it."""
    state = json.loads(_Session(make).guard.export(_SESSION))
    return (
        Equality(
            "the policy of a state",
            state["session"]["policy_digest"],
            lambda near: _resumes(make, near),
            "digest",
        ),
    )


def _resumes(make: MakeGuard, policy: Any) -> bool:
    session = _Session(make)
    state = json.loads(session.guard.export(_SESSION))
    state["session"]["policy_digest"] = policy
    data = json.dumps(state).encode()
    return session.guard.resume(data) == _SESSION and isinstance(
        session.guard.handle_line(b'{"event":"close","session":"%s"}' % _SESSION.encode()),
        SessionReport,
    )
