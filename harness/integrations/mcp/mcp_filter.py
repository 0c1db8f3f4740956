"""Between an MCP client and a server: what either says, and what the other gets to hear of it.

Knows no transport: bytes of one message in, messages to send out. Tested with mcp 2.3.0, in both
protocol eras: 2024-11-05 to 2025-11-25 (with a handshake), and 2026-07-28 (without).

Guarded: calls of tools, what `JUDGED` names, what tools say of themselves. Not guarded: what the
server does beside its answers, its own questions to the user, names and descriptions of resources
and prompts, the methods that the user lets pass.

Rule 1: what is not understood is not passed on. A request gets an error, all else gets nothing.
Rule 2: what is passed on is what was read, written anew: never the bytes as they came.
Rule 3: a failure in here is an error to whoever asked. It lets nothing through.
"""

import json
import re
import secrets
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from harness.failures import describe_error
from harness.integrations.mcp import mcp_messages as wire
from harness.integrations.mcp.mcp_asking import (
    OURS,
    Continuation,
    RepeatedRequests,
    form,
    is_shown_whole,
    read_consent,
)
from harness.integrations.mcp.mcp_guarded import GuardedServer, McpCall, UserQuestion
from harness.integrations.mcp.mcp_messages import Json, NotAMessage, RpcMessage
from harness.integrations.mcp.mcp_methods import (
    ASKED_BY_SERVER,
    JUDGED,
    OF_RETRY,
    PASSED,
    SAID_BY_CLIENT,
    SAID_BY_SERVER,
    asks_only,
    listens_further,
    problem_of_call,
    requested_call,
    tools_of,
    without_tasks,
)
from harness.integrations.mcp.mcp_replies import Sent, deny_call, error, reply
from harness.integrations.mcp.mcp_results import ended_with
from harness.wire import MAX_DOCUMENT_BYTES

_MOST_PAGES: Final = 100

_ID_FIRST: Final = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(-?\d{1,16}|"[^"\\]{0,256}")\s*,'
)
"""The id where a message begins with it."""


class _Open(NamedTuple):
    """A request that waits for its answer. `call` is what the guard allowed, if it had to."""

    asked: RpcMessage
    call: McpCall | None = None


class McpFilter:
    """Filters one connection. Use it from one thread at a time, like the server behind it."""

    def __init__(self, server: GuardedServer, asked: RepeatedRequests) -> None:
        """Filter one connection. What clients come back with may come on another one."""
        self._server: Final = server
        self._asked: Final = asked
        self._open: dict[str, _Open] = {}
        self._questions: Final[dict[str, tuple[RpcMessage, UserQuestion]]] = {}
        self._of_server: Final[set[str]] = set()
        self._waiting: list[RpcMessage] = []
        self._pages = 0
        self._can_ask = False

    def from_client(self, data: bytes) -> list[Sent]:
        """Take in one message of the client. Total."""
        try:
            message = wire.read_message(data)
        except NotAMessage as fault:
            return [Sent("client", wire.failure(fault.name, fault.code, str(fault)))]
        if message.method is None:
            return self._told_by_client(message)
        if message.key is None:
            return self._safely(self._noted_by_client(message))
        if message.key in self._open:
            what = "a request with this id is in progress: give each its own"
            return [error(message, wire.INVALID_REQUEST, what)]
        self._open[message.key] = _Open(message)
        return self._safely(self._asked_by_client(message), message)

    def from_server(self, data: bytes) -> list[Sent]:
        """Take in one message of the server. Total."""
        try:
            message = wire.read_message(data)
        except NotAMessage as fault:
            return self._unreadable(data, str(fault))
        if message.method is not None:
            return self._safely(self._said_by_server(message))
        waiting = self._open.pop(str(message.key), None)
        if waiting is None:
            return []
        if waiting.asked.key is None:
            return self._safely(self._take_page(message), *self._waiting)
        return self._safely(self._answered_by_server(message, waiting), waiting.asked)

    def close(self) -> list[Sent]:
        """Return the errors of all requests without an answer, once no more messages come."""
        left, self._open = self._open, {}
        for waiting in left.values():
            if waiting.call is not None:
                self._server.report_end(
                    waiting.call, {"status": "unknown", "error": "no answer came"}
                )
        what = "the server is gone: whether it did what was asked is not known"
        asked = [one.asked for one in left.values() if one.asked.key is not None]
        return [error(one, wire.INTERNAL, what) for one in asked]

    def _safely(self, sent: Iterator[Sent], *asked: RpcMessage) -> list[Sent]:
        """Return what is to be sent, or the errors of the requests that could not be served."""
        try:
            return list(sent)
        except Exception as fault:
            what = f"the guard failed: {describe_error(fault)}"
            return [self._end_request(one, error(one, wire.INTERNAL, what)) for one in asked]

    # From the client.

    def _asked_by_client(self, message: RpcMessage) -> Iterator[Sent]:
        method = str(message.method)
        if message.capabilities is not None and method == "initialize":
            self._can_ask = wire.can_show_forms(message.capabilities)
        if method == "tools/call":
            yield from self._take_call(message)
        elif method in self._server.allowed_methods:
            yield Sent("server", message.wire, message.key)
        elif method in JUDGED:
            yield from self._take_call(message)
        elif method in PASSED and not listens_further(message):
            yield Sent("server", message.wire, message.key)
        else:
            what = f"{method} is not let through: see --allow-method"
            yield self._end_request(message, error(message, wire.NO_METHOD, what))

    def _take_call(self, message: RpcMessage) -> Iterator[Sent]:
        if problem := problem_of_call(message):
            yield self._end_request(message, error(message, wire.INVALID_PARAMS, problem))
            return
        name, args = requested_call(message)
        if message.params.keys() & OF_RETRY:
            yield from self._take_retry(message, name, args)
        elif self._server.must_list(name):
            yield from self._listed_first(message)
        else:
            yield from self._rule_call(message)

    def _rule_call(self, message: RpcMessage) -> Iterator[Sent]:
        name, args = requested_call(message)
        call = self._server.call(name, args, is_tool=message.method == "tools/call")
        decided = self._server.rule(call)
        if decided is None:
            yield self._make_call(message, call)
        elif isinstance(decided, UserQuestion):
            yield self._put(message, decided)
        else:
            yield self._end_request(message, deny_call(message, decided))

    def _make_call(self, message: RpcMessage, call: McpCall) -> Sent:
        """Return the request of a call that is allowed, with the arguments that were allowed."""
        made = self._server.redeem_call(call)
        meta = {name: part for name, part in message.params.items() if name == "_meta"}
        own = {"name": made.name, "arguments": made.args} if made.is_tool else made.args
        self._open[str(message.key)] = _Open(message, made)
        return Sent("server", {**message.wire, "params": {**meta, **own}}, message.key)

    def _put(self, message: RpcMessage, question: UserQuestion) -> Sent:
        """Return the question to the user, in the way of the protocol, or the refusal."""
        stated = message.capabilities or {}
        if not (wire.can_show_forms(stated) if message.is_modern else self._can_ask):
            return self._refuse_unasked(message, question, "the client cannot ask its user")
        if not is_shown_whole(question):
            long = "its arguments are too long to be shown whole, so that nobody can approve it"
            return self._refuse_unasked(message, question, long)
        if message.is_modern:
            result = {
                "resultType": "input_required",
                "inputRequests": {OURS: form(question)},
                "requestState": self._asked.keep(question),
            }
            return self._end_request(message, reply(message, result))
        name = f"critic-{secrets.token_hex(8)}"
        self._questions[str(wire.key_of(name))] = message, question
        return Sent("client", {"jsonrpc": "2.0", "id": name, **form(question)}, message.key)

    def _refuse_unasked(self, message: RpcMessage, question: UserQuestion, why: str) -> Sent:
        denial = question.denial.refuse_unasked(question.call.name, why)
        return self._end_request(message, deny_call(message, denial))

    def _take_retry(self, message: RpcMessage, name: str, args: Json) -> Iterator[Sent]:
        """Take in a request that comes again with what was asked for."""
        kept = self._asked.take(message.params.get("requestState"))
        if kept is None or not kept.call.is_for(name, args):
            what = "requestState is not known, was used before, or is of another call"
            yield self._end_request(message, error(message, wire.INVALID_PARAMS, what))
        elif isinstance(kept, UserQuestion):
            given = message.params.get("inputResponses")
            answer = given.get(OURS) if type(given) is dict else None
            yield from self._take_decision(message, kept, answer)
        else:
            params = {key: part for key, part in message.params.items() if key != "requestState"}
            state = {} if kept.state is None else {"requestState": kept.state}
            self._open[str(message.key)] = _Open(message, kept.call)
            yield Sent("server", {**message.wire, "params": {**params, **state}}, message.key)

    def _take_decision(
        self, message: RpcMessage, question: UserQuestion, answer: Any
    ) -> Iterator[Sent]:
        """Take in what a person said about a call."""
        yes = read_consent(answer)
        denial = question.denial if yes is None else self._server.answer(question, yes=yes)
        if denial is not None:
            yield self._end_request(message, deny_call(message, denial))
        else:
            yield self._make_call(message, question.call)

    def _told_by_client(self, message: RpcMessage) -> list[Sent]:
        """Take in an answer: to a question of ours, to one of the server, or to none."""
        key = str(message.key)
        if key in self._questions:
            about, question = self._questions.pop(key)
            return self._safely(
                self._take_decision(about, question, message.wire.get("result")), about
            )
        is_asked = key in self._of_server
        self._of_server.discard(key)
        return [Sent("server", message.wire)] if is_asked else []

    def _noted_by_client(self, message: RpcMessage) -> Iterator[Sent]:
        if message.method == "notifications/cancelled":
            yield from self._take_cancellation(message)
        elif message.method in SAID_BY_CLIENT | self._server.allowed_methods:
            yield Sent("server", message.wire)

    def _take_cancellation(self, message: RpcMessage) -> Iterator[Sent]:
        """Take in that the client does not want an answer any more. A later yes runs nothing."""
        key = str(wire.key_of(message.params.get("requestId")))
        waiting = self._open.pop(key, None)
        asked = [name for name, (about, _) in self._questions.items() if about.key == key]
        for name in asked:
            del self._questions[name]
        queued = [one for one in self._waiting if one.key == key]
        self._waiting = [one for one in self._waiting if one.key != key]
        if waiting is None or asked or queued:
            return
        if waiting.call is not None:
            self._server.report_end(waiting.call, {"status": "unknown", "error": "cancelled"})
        yield Sent("server", message.wire, key)

    # The tools, listed before the first call.

    def _listed_first(self, message: RpcMessage) -> Iterator[Sent]:
        self._waiting.append(message)
        if len(self._waiting) == 1:
            self._pages = 0
            yield self._list_request(message, {})

    def _list_request(self, asked: RpcMessage, cursor: Json) -> Sent:
        meta = {name: part for name, part in asked.meta.items() if name != "progressToken"}
        params = {**({"_meta": meta} if meta else {}), **cursor}
        own = wire.request(f"critic-{secrets.token_hex(8)}", "tools/list", params)
        key = str(wire.key_of(own["id"]))
        self._open[key] = _Open(RpcMessage(own, None, "tools/list", params))
        return Sent("server", own, asked.key)

    def _take_page(self, message: RpcMessage) -> Iterator[Sent]:
        """Take in a page that we asked for, and rule on what waited for the last one."""
        if not self._waiting:  # all of it was cancelled
            return
        tools = tools_of(message)
        for tool in tools or ():
            self._server.shows(tool)
        cursor = None if tools is None else message.wire["result"].get("nextCursor")
        self._pages += 1
        if type(cursor) is str and self._pages < _MOST_PAGES:
            yield self._list_request(self._waiting[0], {"cursor": cursor})
            return
        self._server.is_listed = tools is not None
        waiting, self._waiting = self._waiting, []
        for asked in waiting:
            yield from self._safely(self._rule_call(asked), asked)

    # From the server.

    def _said_by_server(self, message: RpcMessage) -> Iterator[Sent]:
        method, allowed = str(message.method), self._server.allowed_methods
        if message.key is None:
            if method == "notifications/tools/list_changed":
                self._server.forget_list()
            if method in SAID_BY_SERVER | allowed:
                yield Sent("client", message.wire)
        elif method in ASKED_BY_SERVER | allowed and message.key not in self._questions:
            self._of_server.add(message.key)
            yield Sent("client", message.wire)
        else:
            what = f"{method} is not let through"
            yield Sent("server", wire.failure(message.wire["id"], wire.NO_METHOD, what))

    def _answered_by_server(self, message: RpcMessage, waiting: _Open) -> Iterator[Sent]:
        asked = waiting.asked
        if waiting.call is not None:
            yield self._end_call(message, asked, waiting.call)
        elif asked.method == "tools/list" and "result" in message.wire:
            yield self._show_page(message, asked)
        else:
            yield Sent("client", without_tasks(message.wire), asked.key)

    def _end_call(self, message: RpcMessage, asked: RpcMessage, call: McpCall) -> Sent:
        """Return what a call returned, once that is on record."""
        result = message.wire.get("result")
        if type(result) is dict and result.get("resultType") == "input_required":
            return self._asked_further(message, asked, call, result)
        if why := self._server.report_end(call, ended_with(message.wire)):
            what = f"the call was made, and what it returned is not on record: {why}"
            return error(asked, wire.INTERNAL, what)
        return Sent("client", message.wire, asked.key)

    def _asked_further(
        self, message: RpcMessage, asked: RpcMessage, call: McpCall, result: Json
    ) -> Sent:
        """Return what a server asks in the middle of a call, with a state of ours for its own."""
        state = result.get("requestState")
        if not asks_only(ASKED_BY_SERVER | self._server.allowed_methods, result):
            what = "the proxy does not pass this request of the server on"
            self._server.report_end(call, {"status": "unknown", "error": what})
            return error(asked, wire.REFUSED, what)
        ours = self._asked.keep(Continuation(call, state))
        told = {**message.wire, "result": {**result, "requestState": ours}}
        return Sent("client", told, asked.key)

    def _show_page(self, message: RpcMessage, asked: RpcMessage) -> Sent:
        """Return a page of tools with those that may be called."""
        tools = tools_of(message)
        if tools is None:
            return error(asked, wire.INTERNAL, "the server's list of tools is not one")
        result = message.wire["result"]
        shown = [tool for tool in tools if self._server.shows(tool)]
        if "cursor" not in asked.params and "nextCursor" not in result:
            self._server.is_listed = True
        return Sent("client", {**message.wire, "result": {**result, "tools": shown}}, asked.key)

    def _unreadable(self, data: bytes, why: str) -> list[Sent]:
        """Answer the request whose answer cannot be read.

        What is too large was cut, and is an answer: where its id is not found it may be that to any
        request, so all of them are answered. Other lines without an id are not answers.
        """
        key = _id_of(data)
        if key is None and len(data) > MAX_DOCUMENT_BYTES:
            return [sent for one in [*self._open] for sent in self._fail(one, why)]
        return [] if key is None else self._fail(key, why)

    def _fail(self, key: str, why: str) -> list[Sent]:
        waiting = self._open.pop(key, None)
        if waiting is None:
            return []
        if waiting.call is not None:
            self._server.report_end(waiting.call, {"status": "unknown", "error": why})
        if waiting.asked.key is None:
            return self._safely(self._take_page(waiting.asked), *self._waiting)
        return [error(waiting.asked, wire.INTERNAL, f"the server's answer is unreadable: {why}")]

    def _end_request(self, message: RpcMessage, sent: Sent) -> Sent:
        """Take note that a request is answered here: it waits for nothing any more."""
        self._open.pop(str(message.key), None)
        self._waiting = [one for one in self._waiting if one.key != message.key]
        return sent


def _id_of(data: bytes) -> str | None:
    """Return the key of the request that a message answers, also where its end was cut off."""
    try:
        if found := _ID_FIRST.match(data):
            return str(wire.key_of(json.loads(found[1])))
        return str(wire.key_of(json.loads(data)["id"]))
    except Exception:
        return None
