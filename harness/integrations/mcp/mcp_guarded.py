"""One MCP server under the guard: a session, the names of its tools, its pins. No JSON-RPC.

Rule 1: a call of a tool is made only if the guard allows it, with the arguments of its permit.
Rule 2: what a tool says of itself is compared with its pin before a client sees it, and before it
        is called. A shadow compares nothing, since it hides nothing.
Rule 3: what a call returned is on record before a client sees it.
"""

import time
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from critic import MODE_RANK, Refused
from harness.canonical import canonical_json
from harness.errors import HarnessError
from harness.failures import describe_failure
from harness.guard import Answer, EventError, EventFault, Guard, Ruling
from harness.guard.rulings import NOT_RUN, SAID_NO
from harness.guard.session_events import event_of
from harness.integrations.mcp.mcp_pins import PinFile
from harness.integrations.seam.ruling_replies import not_approved, reply_to_error
from harness.policy import Policy

Json = dict[str, Any]


class McpCall(NamedTuple):
    """A call as a client asks for it.

    Attributes:
        id: its id in the session.
        name: what the server calls the tool.
        tool: what the policy calls it.
        is_tool: whether `tools/call` asks for it, and not another method.
        started: when it was passed on, in seconds of a monotonic clock; 0 before.
    """

    id: str
    name: str
    tool: str
    args: Json
    is_tool: bool = True
    started: float = 0.0

    def is_for(self, name: str, args: Json) -> bool:
        """Return whether this is the same call, asked for once more."""
        return self.name == name and canonical_json(self.args) == canonical_json(args)


class Denial(NamedTuple):
    """Why a call is not made, for a model to read and for a program.

    `kind` is that of the verdict, or what else failed. `reply` is what the model reads, and `asks`
    what a person is asked.
    """

    kind: str
    reasons: tuple[str, ...]
    wire: Json
    reply: str = NOT_RUN
    asks: tuple[str, ...] = ()

    def refuse_unasked(self, tool: str, why: str) -> "Denial":
        """Return the refusal where a person would have to be asked, and cannot be."""
        reply = (
            f"{tool} not run: it needs a person's yes, and {why}:"
            " tell the user what you wanted to do."
        )
        return self._replace(reasons=(why, *self.reasons), reply=reply)


class UserQuestion(NamedTuple):
    """A call that a person is asked about, the plan that the answer is of, and why it is asked.

    `denial` is what the call is answered if none comes. `says` is why, and what a person is asked,
    without what changes when the same is asked again: whether it is the last question.
    """

    call: McpCall
    plan_digest: str
    denial: Denial
    says: tuple[str, ...]


class GuardedServer:
    """The state of one server in one session. Use it from one thread at a time."""

    def __init__(
        self,
        policy: Policy,
        guard: Guard,
        session: str,
        *,
        pins: PinFile,
        adapter: str | None = None,
        approver: str = "mcp-user",
        allowed_methods: Collection[str] = (),
    ) -> None:
        """Guard a server in an open session.

        Args:
            adapter: only tools with this adapter_id are the server's, under their capability_id.
                Without it all tools of the policy are, under the names that agents have for them.
            approver: who answers questions: authenticated by whoever starts the proxy.
            allowed_methods: methods that pass without being judged.
        """
        self._policy: Final = policy
        self._guard: Final = guard
        self._session: Final = session
        self._pins: Final = pins
        self._approver: Final = approver
        self._names: Final = _names_by_server(policy, adapter)
        self._listed: Final[dict[str, Json]] = {}
        self._count = 0
        self.allowed_methods: Final = frozenset(allowed_methods)
        self.is_listed = False

    def shows(self, tool: Json) -> bool:
        """Note an entry of `tools/list`, and return whether a client may see it."""
        name = tool.get("name")
        if type(name) is not str:
            return False
        self._listed[name] = tool
        if self._policy.guard.shadow:
            return True
        known = self._policy.tools.get(self._names.get(name, ""))
        if known is None or self._difference(name) is not None:
            return False
        modes = (self._policy.guard.safety_mode, self._policy.spec.approval_mode)
        rank = MODE_RANK[known.approval_mode]
        return all(mode is None or rank <= MODE_RANK[mode] for mode in modes)

    def input_schema(self, name: str) -> Any:
        """Return what the server says of the arguments of a tool, or None."""
        return self._listed.get(name, {}).get("inputSchema")

    def forget_list(self) -> None:
        """Take note that the server has other tools now."""
        self._listed.clear()
        self.is_listed = False

    def must_list(self, name: str) -> bool:
        """Return whether the tools have to be listed before this one is called."""
        if self._policy.guard.shadow or self.is_listed:
            return False
        return name in self._names and name not in self._listed

    def call(self, name: str, args: Json, *, is_tool: bool) -> McpCall:
        """Return a call with an id of its own."""
        self._count += 1
        return McpCall(f"mcp-{self._count}", name, self._names.get(name, name), args, is_tool)

    def rule(self, call: McpCall) -> Denial | UserQuestion | None:
        """Have a call ruled on: None if it may be made."""
        if denial := self._unlike_its_pin(call):
            return denial
        answer = self._rule_call(call)
        if plan_digest := _plan_asked(answer):
            return UserQuestion(call, plan_digest, _denial_of(answer), _says(answer))
        return None if answer else _denial_of(answer)

    def answer(self, question: UserQuestion, *, yes: bool) -> Denial | None:
        """Take in what a person said about a call: None if they said yes and it may be made now.

        Other calls may have been ruled on since. The question is then put again, and answered as
        the person did: with yes only if it says the same.
        """
        return self._take_yes(question) if yes else self._take_no(question)

    def _take_yes(self, question: UserQuestion) -> Denial | None:
        if denial := self._unlike_its_pin(question.call):
            return denial
        answer = self._answer_question(question.plan_digest, yes=True)
        if isinstance(answer, EventError):
            answer = self._rule_call(question.call)
            if (again := _plan_asked(answer)) and _says(answer) == question.says:
                answer = self._answer_question(again, yes=True)
        return None if answer else _denial_of(answer)

    def _take_no(self, question: UserQuestion) -> Denial:
        """Refuse a call for the session, even where a yes to another one covers it by now."""
        answer = self._answer_question(question.plan_digest, yes=False)
        if isinstance(answer, EventError):
            answer = self._rule_call(question.call)
            if again := _plan_asked(answer):
                answer = self._answer_question(again, yes=False)
        if not answer:
            return _denial_of(answer)
        how = {"status": "failed", "error": SAID_NO, "denied_by": self._approver}
        self._tell_guard("result", id=question.call.id, **how)
        said_no, wire = not_approved(SAID_NO), {"action": "refuse", "note": SAID_NO}
        return Denial(said_no.kind, said_no.reasons, wire, said_no.reply)

    def redeem_call(self, call: McpCall) -> McpCall:
        """Return an allowed call as it has to be made, right before that.

        Raises:
            PermitError: it is not the call that was allowed, or was made before.
        """
        permit = self._guard.permit(self._session, call.id)
        return call._replace(args=permit.redeem(call.tool, call.args), started=time.monotonic())

    def report_end(self, call: McpCall, how: Json) -> str | None:
        """Record how a call ended, and return why that could not be done, or None."""
        duration = round((time.monotonic() - call.started) * 1000)
        answer = self._tell_guard("result", id=call.id, duration_ms=duration, **how)
        return "; ".join(_reasons(answer)) if isinstance(answer, EventError) else None

    def close(self) -> Answer:
        """End the session, and return its report."""
        return self._tell_guard("close")

    def _difference(self, name: str) -> str | None:
        """Return why what a tool says of itself is not what was accepted, or None."""
        try:
            return self._pins.check(self._names[name], self._listed[name])
        except Exception as error:  # also where the file of pins cannot be read or written
            return describe_failure(error)

    def _unlike_its_pin(self, call: McpCall) -> Denial | None:
        """Return the refusal of a tool that is not the one that the policy speaks of."""
        if self._policy.guard.shadow or (call.name in self._names and not call.is_tool):
            return None
        if call.name not in self._names:
            foreign = call.tool in self._policy.tools
            what = "the policy has a tool of this name that is not of this server"
            return _refuse_unserved(what) if foreign else None
        if call.name not in self._listed:
            return _refuse_unserved(
                "the server does not list it, so that its pin cannot be compared"
            )
        why = self._difference(call.name)
        return None if why is None else _refuse_unserved(f"{why}: see `critic mcp pins list`")

    def _rule_call(self, call: McpCall) -> Answer:
        return self._tell_guard(
            "calls", calls=[{"id": call.id, "tool": call.tool, "args": call.args}]
        )

    def _answer_question(self, plan_digest: str, *, yes: bool) -> Answer:
        return self._tell_guard("answer", plan_digest=plan_digest, yes=yes, approver=self._approver)

    def _tell_guard(self, kind: str, **members: Any) -> Answer:
        try:
            event = event_of({"event": kind, "session": self._session, **members})
        except HarnessError as error:
            return EventError(error=EventFault(path="", message=str(error)))
        return self._guard.handle(event)


def _names_by_server(policy: Policy, adapter: str | None) -> Mapping[str, str]:
    """Return the names of the policy by those of the server."""
    if adapter is None:
        return {name: name for name in policy.tools}
    own = [tool for tool in policy.tool if tool.adapter_id == adapter]
    return {tool.capability_id: tool.called for tool in own}


def _refuse_unserved(reason: str) -> Denial:
    """Return a refusal that is not a verdict."""
    reply = f"{NOT_RUN[:-1]}: {reason}. This needs a change by the operator of this server."
    return Denial("not_served", (reason,), {"action": "refuse", "note": reason}, reply)


def _denial_of(answer: Answer) -> Denial:
    """Return what a model and a program are told of an answer that allows nothing."""
    asks = () if not isinstance(answer, Ruling) else answer.questions or ()
    match answer:
        case Ruling(critic_error=str()):
            kind = "critic_error"
        case Ruling(verdict=Refused() as verdict):
            kind = verdict.kind
        case Ruling(unknown=unknown) if unknown:
            kind = "unknown_tool"
        case EventError():
            kind = "invalid_call"
        case _:
            return _refuse_unserved("the guard gave no ruling")
    reasons, asked = _reasons(answer), tuple(dict.fromkeys(one.ask for one in asks))
    return Denial(kind, reasons, answer.wire(), _reply(answer, reasons), asked)


def _reasons(answer: Answer) -> tuple[str, ...]:
    """Return why, in lines that are safe to print."""
    match answer:
        case EventError(error=fault):
            return (f"{fault.path or 'the session'}: {fault.message}",)
        case Ruling(critic_error=str() as error):
            return (f"the guard failed: {error}",)
        case Ruling(verdict=Refused() as verdict, note=note):
            return verdict.reasons if note is None else (note, *verdict.reasons)
        case Ruling(unknown=unknown):
            return tuple(one.say for one in unknown or ())
        case _:
            return ()


def _says(answer: Answer) -> tuple[str, ...]:
    """Return what a question says, without the note beside it."""
    if isinstance(answer, Ruling) and isinstance(answer.verdict, Refused):
        return (*answer.verdict.reasons, *(one.ask for one in answer.questions or ()))
    return ()


def _reply(answer: Answer, reasons: tuple[str, ...]) -> str:
    """Return what the model is told."""
    if isinstance(answer, Ruling) and answer.reply is not None:
        return answer.reply
    if isinstance(answer, EventError):
        return reply_to_error(answer)
    return f"{NOT_RUN[:-1]}: {'; '.join(reasons)}."


def _plan_asked(answer: Answer) -> str | None:
    """Return the digest of the plan that a ruling asks about."""
    if isinstance(answer, Ruling) and answer.action == "ask":
        return answer.plan_digest
    return None
