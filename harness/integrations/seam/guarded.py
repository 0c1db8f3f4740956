"""One session of a guard, held at the two seams of a framework. What every integration calls.

Plan seam: `rule` the calls of a turn before any of them is made. Call seam: `start` each right
before it is made, with the arguments that it would be made with, and tell how it `ended`.

Rule 1: total. Whatever fails here or in the guard is a refusal; only `began` and `ended`, where
        there is nothing to refuse, raise.
Rule 2: an allowance is good once, for exactly these arguments. A call that was edited, tried again,
        or never ruled on is ruled on anew, as a turn of its own. A refusal stands.
        A call that waits for others of its turn is opened when it starts, which `wait_turn` waits
        for. Where that is refused, the calls that are left of its turn are refused too.
Rule 3: a person's yes is to calls with their arguments. A call that was edited, or that is left
        over where others were denied, is ruled on anew and approved by that answer.
Rule 4: a sub-agent acts in the session of the call that runs it, or in one of its own where another
        guard holds it. Its prompt was written by a model, so it gives no authority. It is known by
        its context: an agent that is built as a sub-agent ends where a thread has lost that.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from hashlib import sha256
from itertools import count
from threading import RLock
from time import sleep
from typing import Any, Final, NamedTuple

from harness.canonical import canonical_json
from harness.failures import describe_error
from harness.guard import (
    EventError,
    Guard,
    OpeningRuling,
    PendingQuestion,
    ReadyEvent,
    RequestedCall,
    Ruling,
)
from harness.guard.rulings import SAID_NO
from harness.guard.session_events import event_of
from harness.integrations.seam.ruling_replies import (
    BEFORE_REFUSED,
    GuardHalted,
    SeamRuling,
    failed_ruling,
    not_approved,
    opening_ruling,
    seam_ruling,
    unknown_rulings,
    unread_ruling,
)
from harness.single_use import PermitError
from harness.tool_results import to_json_value
from harness.wire import InvalidInput, parse_json

_LONGEST_ID: Final = 256
_PATIENCE_S: Final = 10.0
"""How long a call waits while no other call of its session runs."""
_PAUSE_S: Final = 0.01
_NOT_WITHIN: Final = (
    "a sub-agent (nested=True) began outside of the calls of a guarded agent: a tool that runs it"
    " in a thread must hand its context on, by contextvars.copy_context().run or asyncio.to_thread"
)
_OUTER: Final[ContextVar[tuple["GuardedSession", str] | None]] = ContextVar("outer", default=None)


class AskedCall(NamedTuple):
    """A call as a model asked for it. Arguments that are still text are read as strict JSON."""

    id: str
    tool: str
    args: Mapping[str, Any] | str


class CallReply(NamedTuple):
    """The answer of a person about one call. `args` are those that they changed it to."""

    yes: bool
    args: Mapping[str, Any] | None = None


class GuardedSession:
    """One session of a guard. Thread-safe. Keep one for each session while it is open."""

    def __init__(self, guard: Guard, session: str) -> None:
        """Act in a session of a guard, which need not be open yet."""
        self.guard: Final = guard
        self.session: Final = session
        self._prefix = ""
        self._lock = RLock()
        self._standing: dict[str, SeamRuling] = {}
        self._nested = count(1)
        self._agents: set[str] = set()

    def began(
        self,
        request: str,
        *,
        system: str | None = None,
        scope: Sequence[str] | None = None,
        user: str | None = None,
        tenant: str | None = None,
    ) -> None:
        """Tell what the user said: it opens the session, or is said in it.

        A sub-agent that began says nothing, whichever guard holds it: its prompt is not the
        user's.

        Args:
            request: what they said.
            system: the words of the operator.
            scope: the tools that the request is for.
            user, tenant: whom the session is for: identifiers, kept from when it opens. The caller
                authenticates them.

        Raises:
            GuardHalted: the guard does not take it.
        """
        if self._prefix:
            return
        with self._lock:
            is_open = self.guard.status(self.session) is not None
            if _OUTER.get() is not None:  # another guard holds the call that runs this agent
                request = ""
            listed = scope if scope is None or isinstance(scope, str) else list(scope)
            known = {"system": system, "scope": listed, "user": user, "tenant": tenant}
            given = {name: value for name, value in known.items() if value is not None}
            event = {"event": "said", "text": request}
            self._tell(event if is_open else {"event": "open", "request": request, **given})

    def rule(self, calls: Sequence[AskedCall]) -> SeamRuling:
        """Rule on the calls of a turn, as one plan. A question that is open about them stands."""
        with self._lock:
            try:
                ruling = self._rule_calls([self._requested_call(call) for call in calls])
            except InvalidInput as error:
                ruling = unread_ruling(str(error))
            except Exception as error:
                ruling = failed_ruling(error)
            unknown = unknown_rulings(ruling)
            for call in calls:
                self._stand(call.id, unknown.get(self._id(call.id), ruling))
            return ruling

    def start(self, call: AskedCall) -> SeamRuling:
        """Rule on a call right before it is made: call the tool with the `args` of the ruling."""
        with self._lock:
            try:
                return self._start_call(call)
            except Exception as error:
                return failed_ruling(error)

    def wait_turn(self, call: str) -> None:
        """Wait until a call waits for no other call of its turn, which run meanwhile.

        It returns at once for a call that waits for none, and without a word where nothing goes
        on any more: then it is refused when it starts.
        """
        name, seen, left = self._id(call), None, _PATIENCE_S
        while left > 0:
            with suppress(Exception):  # then it is refused when it starts
                status = self.guard.status(self.session)
                if status is None or name not in status.waiting - status.ready:
                    return
                now = status.awaited, status.waiting, status.ready
                left = _PATIENCE_S if now != seen or status.awaited else left
                seen = now
            sleep(_PAUSE_S)
            left -= _PAUSE_S

    def answer(
        self,
        replies: Mapping[str, CallReply],
        *,
        approver: str,
        plan_digest: str | None = None,
    ) -> dict[str, SeamRuling]:
        """Take in what a person said to the calls that they were asked about, by id.

        Calls without a reply are not made. Return what becomes of each call that has one.

        Args:
            approver: who answered. The caller authenticates them.
            plan_digest: what the person was shown, if the framework carries it.
        """
        with self._lock:
            try:
                rulings = self._answer_replies(replies, approver, plan_digest)
            except Exception as error:
                rulings = dict.fromkeys(replies, failed_ruling(error))
            for name, ruling in rulings.items():
                self._stand(name, ruling)
            return rulings

    def standing(self, call: str) -> SeamRuling | None:
        """Return what stands against a call: a refusal, or an open question; None if nothing."""
        with self._lock:
            try:
                return self._find_against(call)
            except Exception as error:
                return failed_ruling(error)

    def deny(self, calls: Sequence[AskedCall], *, approver: str) -> None:
        """Have the session remember that a person said no to calls. Nothing may be made of them."""
        with self._lock, suppress(Exception):  # they are told no in any case
            known = [call for call in calls if self.guard.knows_tool(call.tool)]
            self._denied_alone([self._requested_call(call) for call in known], approver)

    def ended(self, call: str, status: str, **facts: Any) -> None:
        """Tell how a call ended that was started.

        Args:
            call: its id.
            status: of a `ResultEvent`: `completed`, `failed`, `timed_out` or `unknown`.
            facts: the other members of a `ResultEvent`. An output without JSON form is left out.

        Raises:
            GuardHalted: the guard does not take it, so that nothing may be built on it.
        """
        if "output" in facts:
            facts = {**facts, **_keep_output(facts["output"])}
        given = {name: value for name, value in facts.items() if value is not None}
        with self._lock:
            self._tell({"event": "result", "id": self._id(call), "status": status, **given})

    @contextmanager
    def running(self, call: str) -> Iterator[None]:
        """Say that what happens in this context happens within a call: agents in it are nested."""
        token = _OUTER.set((self, call))
        try:
            yield
        finally:
            _OUTER.reset(token)

    @property
    def question(self) -> PendingQuestion | None:
        """The question that is open in the session, if one is."""
        status = self.guard.status(self.session)
        return None if status is None else status.question

    @property
    def waiting(self) -> dict[str, RequestedCall]:
        """The calls of this agent that the open question is about, by their ids there."""
        asked, prefix = self.question, self._prefix
        calls = () if asked is None else asked.calls
        return {one.id.removeprefix(prefix): one for one in calls if one.id.startswith(prefix)}

    def waits_for_agent(self, call: str) -> bool:
        """Return whether a call has run a sub-agent, and a person is asked something."""
        return call in self._agents and self.question is not None

    def _rule_calls(self, calls: list[dict[str, Any]]) -> SeamRuling:
        asked = self.question
        known = [one for one in calls if self.guard.knows_tool(one["tool"])]
        if asked is not None and [_call_bytes(one.wire()) for one in asked.calls] == [
            *map(_call_bytes, known)
        ]:
            return seam_ruling(asked.ruling, halts=False)
        return self._ask_guard(calls)

    def _ask_guard(self, calls: list[dict[str, Any]]) -> SeamRuling:
        status = self.guard.status(self.session)
        awaited = frozenset[str]() if status is None else status.awaited
        for call in calls:
            if call["id"] in awaited:
                self._give_up(call["id"])
        return self._handle_event({"event": "calls", "calls": calls})

    def _give_up(self, name: str) -> None:
        """End an allowance of a call that is asked for anew, unless the call is being made here."""
        how = {"status": "unknown", "error": "it began in another process, and was asked for anew"}
        with suppress(PermitError):
            if not self.guard.permit(self.session, name).give_up():
                return
            how = {"status": "failed", "error": "it was not made: it was asked for anew"}
        self._tell({"event": "result", "id": name, **how})

    def _start_call(self, call: AskedCall) -> SeamRuling:
        if (against := self._find_against(call.id)) is not None:
            return against
        requested, name = self._requested_call(call), self._id(call.id)
        opened = self._open_call(call.id)
        if opened is not None and not opened:
            return opened
        try:
            args = self.guard.permit(self.session, name).redeem(call.tool, requested["args"])
        except PermitError:
            ruling = self.rule([call])
            if not ruling:
                return ruling
            args = self.guard.permit(self.session, name).redeem(call.tool, requested["args"])
        return SeamRuling("allow", "ok", reply="", args=args)

    def _open_call(self, call: str) -> SeamRuling | None:
        """Open a call that waits for others of its turn; None where it does not wait."""
        name, before = self._id(call), self.guard.status(self.session)
        if before is None or name not in before.waiting:
            return None
        event = ReadyEvent(session=self.session, id=name)
        answer, after = self.guard.handle(event), self.guard.status(self.session)
        ruling = opening_ruling(answer, halts=after is not None and after.has_halted)
        if ruling or ruling.action == "ask" or isinstance(answer, EventError):
            return ruling
        self._stand(call, ruling)
        gone = before.waiting - (frozenset() if after is None else after.waiting) - {name}
        told = replace(ruling, action="refuse", reply=BEFORE_REFUSED)
        for other in gone:
            self._stand(other.removeprefix(self._prefix), told)
        return ruling

    def _find_against(self, call: str) -> SeamRuling | None:
        if (standing := self._standing.get(call)) is not None:
            return standing
        asked, name = self.question, self._id(call)
        if asked is not None and any(name == one.id for one in asked.calls):
            return seam_ruling(asked.ruling, halts=False)
        return None

    def _answer_replies(
        self, replies: Mapping[str, CallReply], approver: str, plan_digest: str | None
    ) -> dict[str, SeamRuling]:
        asked = self.question
        calls = {} if asked is None else {one.id: one for one in asked.calls}
        given = {self._id(name): reply for name, reply in replies.items()}
        if asked is None or not given.keys() <= calls.keys():
            return dict.fromkeys(replies, not_approved("no question is open about this call"))
        if plan_digest not in (None, asked.plan_digest):
            return dict.fromkeys(replies, not_approved("this is not the plan that is asked about"))
        if all(name in given and given[name] == CallReply(yes=True) for name in calls):
            return dict.fromkeys(replies, self._answer_question(asked, approver, yes=True))
        kept = [
            {**one.wire(), **({} if given[name].args is None else {"args": given[name].args})}
            for name, one in calls.items()
            if name in given and given[name].yes
        ]
        denied = {name for name, reply in given.items() if not reply.yes}
        self._deny(asked, denied, approver, keeps={one["id"] for one in kept})
        ruling = self._approve_calls(kept, approver) if kept else None
        said_no = not_approved(SAID_NO)
        return {
            name: ruling if reply.yes and ruling is not None else said_no
            for name, reply in replies.items()
        }

    def _deny(
        self, asked: PendingQuestion, denied: set[str], approver: str, *, keeps: set[str]
    ) -> None:
        """Have the session remember a no, without denying the calls that are kept."""
        if denied & asked.doubted and not keeps & asked.doubted:
            self._answer_question(asked, approver, yes=False)
            denied = denied - asked.doubted
        self._denied_alone([one.wire() for one in asked.calls if one.id in denied], approver)

    def _denied_alone(self, calls: list[dict[str, Any]], approver: str) -> None:
        """Put calls to the guard that a person said no to, so that it holds for the session.

        All at once, which is one question: questions are counted. A no to it is one to the calls
        that the guard itself doubts, so the others are put again.
        """
        ruling, again = self._ask_guard(calls) if calls else None, self.question
        if ruling is None:
            return
        if ruling.action == "ask" and again is not None:
            self._answer_question(again, approver, yes=False)
            left = [one for one in calls if one["id"] not in again.doubted]
            if len(left) < len(calls):
                self._denied_alone(left, approver)
        for one in calls if ruling else ():
            told = {"event": "result", "id": one["id"], "denied_by": approver}
            self._tell({**told, "status": "failed", "error": SAID_NO})

    def _approve_calls(self, calls: list[dict[str, Any]], approver: str) -> SeamRuling:
        """Rule on calls that a person has approved as they are now."""
        ruling, asked = self._ask_guard(calls), self.question
        if ruling.action == "ask" and asked is not None:
            return self._answer_question(asked, approver, yes=True)
        return ruling

    def _answer_question(self, asked: PendingQuestion, approver: str, *, yes: bool) -> SeamRuling:
        answer = {"plan_digest": asked.plan_digest, "yes": yes, "approver": approver}
        return self._handle_event({"event": "answer", **answer})

    def _requested_call(self, call: AskedCall) -> dict[str, Any]:
        """Return a call as the guard is told.

        Raises:
            InvalidInput: its arguments are not one strict JSON object.
        """
        args: Any = call.args
        args = parse_json(args.encode()) if isinstance(args, str) else args
        if not isinstance(args, Mapping):
            raise InvalidInput("/args", "must be an object")
        return {"id": self._id(call.id), "tool": call.tool, "args": dict(args)}

    def _handle_event(self, event: dict[str, Any]) -> SeamRuling:
        answer = self.guard.handle(event_of({**event, "session": self.session}))
        if isinstance(answer, OpeningRuling):
            status = self.guard.status(self.session)
            return opening_ruling(answer, halts=status is not None and status.has_halted)
        if not isinstance(answer, Ruling | EventError):
            raise TypeError(f"the guard answered {type(answer).__name__}")
        status = self.guard.status(self.session)
        return seam_ruling(answer, halts=status is not None and status.has_halted)

    def _tell(self, event: dict[str, Any]) -> None:
        try:
            answer = self.guard.handle(event_of({**event, "session": self.session}))
        except Exception as error:
            raise GuardHalted(replace(failed_ruling(error), action="halt")) from error
        if isinstance(answer, EventError):
            raise GuardHalted(seam_ruling(answer, halts=True))

    def _stand(self, call: str, ruling: SeamRuling) -> None:
        if ruling.action in ("allow", "ask"):
            self._standing.pop(call, None)
        else:
            self._standing[call] = ruling

    def _id(self, call: str) -> str:
        """Return the id of a call in the session: those of sub-agents are told apart."""
        name = f"{self._prefix}{call}"
        return name if len(name) <= _LONGEST_ID else sha256(name.encode()).hexdigest()


def session_within(guard: Guard, *, is_nested: bool = False) -> GuardedSession | None:
    """Return a session for an agent that runs within a guarded call; None outside of one.

    Args:
        is_nested: the agent is only ever a sub-agent. A shadow lets it run by itself.

    Raises:
        GuardHalted: it is, and does not run within a call of a guarded agent.
    """
    outer = _OUTER.get()
    if is_nested and outer is None and not guard.is_shadow:
        raise GuardHalted(SeamRuling("halt", "critic_error", (_NOT_WITHIN,)))
    if outer is None or outer[0].guard is not guard:
        return None
    session, call = outer
    session._agents.add(call)
    nested = GuardedSession(guard, session.session)
    nested._prefix = f"{session._prefix}{call}/{next(session._nested)}/"
    nested._lock = session._lock
    return nested


def _keep_output(output: Any) -> dict[str, Any]:
    """Return what is told of an output: a value without JSON form is cut, and said."""
    try:
        return {"output": to_json_value(output)}
    except Exception as error:
        told = f"its output is not kept: {describe_error(error)}"
        return {"output": None, "error": told, "cut": True}


def _call_bytes(call: Mapping[str, Any]) -> bytes:
    return canonical_json(dict(call))
