"""Bugs of integrations: a call that is made although nobody allowed it as it is."""

from typing import Final

from tests.assurance.planted.bug import Bug, slip

_ASKING: Final = "harness/integrations/mcp/mcp_asking.py"
_FILTER: Final = "harness/integrations/mcp/mcp_filter.py"
_GATE: Final = "harness/integrations/langchain/langchain_gate.py"
_GUARDED: Final = "harness/integrations/seam/guarded.py"
_HANDOVERS: Final = "harness/integrations/langchain/langchain_handovers.py"
_HTTP: Final = "harness/integrations/mcp/mcp_http.py"
_MCP: Final = "harness/integrations/mcp/mcp_guarded.py"
_MESSAGES: Final = "harness/integrations/mcp/mcp_messages.py"
_METHODS: Final = "harness/integrations/mcp/mcp_methods.py"
_NODE: Final = "harness/integrations/langchain/langchain_node.py"
_OBSERVED: Final = "harness/integrations/otel/observed_guard.py"
_OPENAI: Final = "harness/integrations/openai/openai_guard.py"
_OPENAI_RUN: Final = "harness/integrations/openai/openai_run.py"
_PARTS: Final = "harness/integrations/pydantic_ai/pydantic_ai_parts.py"
_PINS: Final = "harness/integrations/mcp/mcp_pins.py"
_REPLIES: Final = "harness/integrations/seam/ruling_replies.py"
_RUN: Final = "harness/integrations/pydantic_ai/pydantic_ai_run.py"
_SAID: Final = "harness/integrations/langchain/langchain_messages.py"
_SESSIONS: Final = "harness/integrations/langchain/langchain_sessions.py"
_UPSTREAM: Final = "harness/integrations/mcp/mcp_upstream.py"

INTEGRATION_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "question-about-other-arguments",
        _GUARDED,
        "a question stands for a call that asks for other values",
        "    return canonical_json(dict(call))",
        '    return canonical_json({name: dict(call)[name] for name in ("id", "tool")})',
    ),
    slip(
        "yes-to-the-silent-ones",
        _GUARDED,
        "a yes to one call of a turn is a yes to those that nobody answered",
        "if all(name in given and given[name] == CallReply(yes=True) for name in calls):",
        "if all(given[name] == CallReply(yes=True) for name in given):",
    ),
    slip(
        "no-to-the-doubted-alone",
        _GUARDED,
        "of several calls that a person denied, those that the guard allows are not remembered",
        "                self._denied_alone(left, approver)\n",
        "                del left\n",
    ),
    slip(
        "denied-and-still-allowed",
        _GUARDED,
        "a call that a person denied stays allowed",
        "        for one in calls if ruling else ():\n",
        "        for one in calls if not ruling else ():\n",
    ),
    slip(
        "one-sub-agent-of-a-call",
        _GUARDED,
        "the second sub-agent of a call has the ids of the first",
        'nested._prefix = f"{session._prefix}{call}/{next(session._nested)}/"',
        'nested._prefix = f"{session._prefix}{call}/1/"',
    ),
    slip(
        "prompt-under-another-guard",
        _GUARDED,
        "what an agent asks a sub-agent under another guard are words of its user",
        '                request = ""\n',
        "                pass\n",
    ),
    slip(
        "long-ids-cut",
        _GUARDED,
        "two calls whose long ids begin alike are one",
        "return name if len(name) <= _LONGEST_ID else sha256(name.encode()).hexdigest()",
        "return name[:_LONGEST_ID]",
    ),
    slip(
        "left-calls-of-a-turn",
        _GUARDED,
        "calls that waited for one which was refused are put to the guard by themselves",
        "        for other in gone:\n",
        "        for other in gone - before.waiting:\n",
    ),
    slip(
        "halted-session-only-refuses",
        _REPLIES,
        "a run goes on in a session that has halted",
        '    action: SeamAction = "halt" if halts else "refuse"\n    match answer:',
        "    action: SeamAction = "
        '"halt" if halts and isinstance(answer, EventError) else "refuse"\n    match answer:',
    ),
    slip(
        "paused-call-with-other-arguments",
        _GATE,
        "a call that paused goes on with arguments that nobody ruled on",
        "is_same = self.paused.pop(call.id) == _call_bytes(call)",
        "is_same = bool(self.paused.pop(call.id))",
    ),
    slip(
        "gates-of-two-guards",
        _GATE,
        "of two agents with guards of their own one is held by neither",
        "return isinstance(other, ToolGate) and other.guard is self.guard",
        "return isinstance(other, ToolGate)",
    ),
    slip(
        "one-way-to-run-is-known",
        _GATE,
        "a tool passes that has one way of its own to run",
        "if tool is not None and not all(way.__module__",
        "if tool is not None and not any(way.__module__",
    ),
    slip(
        "error-of-a-cancelled-tool",
        _GATE,
        "a tool that was cancelled is recorded as one that failed, and may run again",
        'status = call_status(error, None) if isinstance(error, Exception) else "unknown"',
        'status = call_status(error, None) if isinstance(error, Exception) else "failed"',
    ),
    slip(
        "all-words-anew",
        _SAID,
        "where the last message is gone all human messages are words of the user once more",
        "    if heard is not None and heard not in ids:\n",
        "    if heard is not None and not ids:\n",
    ),
    slip(
        "result-of-another-call-of-a-turn",
        _SAID,
        "what one call returned is recorded as the result of another of its turn",
        "message = next((one for one in told if one.tool_call_id == call), None)",
        "message = next((one for one in told if one.tool_call_id), None)",
    ),
    slip(
        "words-of-a-tool",
        _HANDOVERS,
        "a human message that a tool returned is said by the user",
        "if isinstance(message, HumanMessage) and not is_marked(message, known):",
        "if isinstance(message, HumanMessage) and is_marked(message, known):",
    ),
    slip(
        "langchain-session-of-another-thread",
        _NODE,
        "a message that its caller wrote names the session of somebody else",
        'if stamp is not None and stamp.rpartition(".")[0] != owner:',
        "if stamp is not None and not owner:",
    ),
    slip(
        "langchain-session-of-another-user",
        _NODE,
        "without threads a message names the session of another user",
        "        whom = self._principals.names_in(runtime)\n        return",
        "        whom: dict[str, str] = {}\n        return",
    ),
    slip(
        "langchain-nested-in-another-session",
        _NODE,
        "a sub-agent acts in the session that its messages name",
        "if held is not None and held.session.session == within.session:",
        "if held is not None:",
    ),
    slip(
        "langchain-texts-under-another-name",
        _NODE,
        "texts that a tool adds to messages under a name of their own are no evidence",
        "execution.known, execution.key",
        "execution.known",
    ),
    slip(
        "langchain-words-in-a-dict",
        _HANDOVERS,
        "a dict or a pair that a tool hands over becomes a message of the user",
        "if (message := _read_message(value, any_form=holds)) is not None:",
        "if isinstance(message := value, BaseMessage):",
    ),
    slip(
        "langchain-words-that-are-sent",
        _HANDOVERS,
        "what a tool sends to a node is said by the user",
        "goto=self._goto(value.goto))",
        "goto=value.goto)",
    ),
    slip(
        "langchain-words-under-a-known-id",
        _HANDOVERS,
        "a tool puts other words into a message of the user",
        "return str(message.id), repr(message.content)",
        'return str(message.id), ""',
    ),
    slip(
        "langchain-words-that-are-raised",
        _GATE,
        "words in a command that a tool raises are said by the user",
        "            mark_raised(raised, self.known, key=self.key)\n",
        "            mark_raised(raised, self.known, key=self.key) if self.running else None\n",
    ),
    slip(
        "unread-call-is-no-call",
        _SAID,
        "a call that the framework could not read is not ruled on",
        "asked: list[Any] = [*message.tool_calls, *message.invalid_tool_calls]",
        "asked: list[Any] = [*message.tool_calls]",
    ),
    slip(
        "calls-of-one-id-are-one-turn",
        _NODE,
        "a message whose calls have the ids of the one before is taken for it",
        "        key = tuple(map(repr, calls))",
        "        key = tuple(call.id for call in calls)",
    ),
    slip(
        "lost-session-begun-anew",
        _NODE,
        "a session that this process does not have is begun anew",
        "        if stamp is not None and not self._guard.is_open(name):\n",
        "        if stamp is not None and not name:\n",
    ),
    slip(
        "made-again-after-a-pause",
        _NODE,
        "a call that was made is made again when its node is entered again",
        "    if call.id in turn.done:\n",
        "    if call.id in turn.done and call.id not in turn.left:\n",
    ),
    slip(
        "answered-once-more",
        _NODE,
        "an answer counts once more for a turn that was answered",
        "    if turn.is_answered:\n        return\n",
        "    if turn.is_answered and not turn.calls:\n        return\n",
    ),
    slip(
        "words-to-a-sub-agent",
        _SESSIONS,
        "what an agent of another guard asks are words of the user",
        'words = [] if is_within_a_call() else new_words(messages, known.get("heard"))',
        'words = new_words(messages, known.get("heard"))',
    ),
    slip(
        "tool-of-the-provider-by-its-name",
        _OPENAI,
        "any tool that is not a function runs unguarded under a name that was let through",
        "if type(tool).__name__ in _BY_THE_PROVIDER and tool.name in unguarded:",
        "if type(tool).__name__ in _BY_THE_PROVIDER or tool.name in unguarded:",
    ),
    slip(
        "sub-agent-goes-on-refused",
        _OPENAI_RUN,
        "a sub-agent that waited goes on in a call that was refused since",
        "return waiting[1] if against is None else None",
        "return waiting[1]",
    ),
    slip(
        "sub-agent-waits-for-ever",
        _OPENAI_RUN,
        "a sub-agent that a run left waiting goes on in a later turn, without a ruling",
        "left, self.memory.nested = self.memory.nested, {}",
        "left = self.memory.nested and {}",
    ),
    slip(
        "sub-agent-goes-on-otherwise",
        _OPENAI_RUN,
        "a sub-agent that waited goes on with arguments that nobody ruled on",
        "if waiting is None or waiting[0] != call:",
        "if waiting is None or waiting[0].id != call.id:",
    ),
    slip(
        "one-guarded-handoff",
        _OPENAI,
        "an agent passes as guarded that has one guarded handoff among others",
        "return is_held and all(isinstance(way, _Transfer) for way in ways)",
        "return is_held and (not ways or any(isinstance(way, _Transfer) for way in ways))",
    ),
    slip(
        "half-answered-turn",
        _OPENAI_RUN,
        "a turn goes on of which a person answered some calls",
        "        if len(said) < len(decided):\n",
        "        if len(said) > len(decided):\n",
    ),
    slip(
        "yes-to-a-tool-is-a-yes-to-its-call",
        _OPENAI_RUN,
        "a standing yes to a tool answers a question about one of its calls",
        "return tool not in handoffs and context.is_tool_approved(tool, uuid4().hex) is None",
        "return tool not in handoffs",
    ),
    slip(
        "one-of-two-plans-shown",
        _RUN,
        "an answer counts that was given to two different plans",
        'plan_digest="+".join(sorted(digests)) or None,',
        "plan_digest=max(digests, default=None),",
    ),
    slip(
        "approved-as-it-was-not-shown",
        _RUN,
        "a handler approves another plan than the one that it was shown",
        '        if said.get("plan_digest", shown) != shown:\n',
        '        if said.get("plan_digest", shown) is None:\n',
    ),
    slip(
        "approved-by-a-handler-unasked",
        _RUN,
        "an approval counts for a call that the model did not ask for",
        "is_answer = ctx.tool_call_approved and asked.id in self._asked",
        "is_answer = ctx.tool_call_approved",
    ),
    slip(
        "not-an-approval-is-a-yes",
        _PARTS,
        "whatever is true counts as an approval",
        "    return CallReply(yes=False)",
        "    return CallReply(yes=result is True)",
    ),
    slip(
        "two-requests-under-one-id",
        _FILTER,
        "a second request under an id in progress gets the answer of the first",
        "        if message.key in self._open:\n",
        "        if message.key in self._open and self._open[message.key].call is None:\n",
    ),
    slip(
        "yes-to-a-cancelled-call",
        _FILTER,
        "a call that was cancelled is made when a person says yes later",
        "            del self._questions[name]\n",
        "            self._questions.get(name)\n",
    ),
    slip(
        "list-that-is-none",
        _FILTER,
        "a server that does not list its tools is not asked for them again",
        "        self._server.is_listed = tools is not None\n",
        "        self._server.is_listed = True\n",
    ),
    slip(
        "yes-to-another-question",
        _MCP,
        "a yes counts for a question that says something else by now",
        "if (again := _plan_asked(answer)) and _says(answer) == question.says:",
        "if again := _plan_asked(answer):",
    ),
    slip(
        "no-outdone-by-another-yes",
        _MCP,
        "a call that a person declined is made where a yes to another one covers it",
        "        if not answer:\n            return _denial_of(answer)\n",
        "        return None if answer else _denial_of(answer)\n",
    ),
    slip(
        "yes-to-the-reasons-alone",
        _MCP,
        "a yes counts for a question whose words are other ones by now",
        "return (*answer.verdict.reasons, *(one.ask for one in answer.questions or ()))",
        "return answer.verdict.reasons",
    ),
    slip(
        "last-question-says-something-else",
        _MCP,
        "a yes is lost where the same question is the last one by now",
        "_says(answer) == question.says:",
        "_reasons(answer) == question.denial.reasons:",
    ),
    slip(
        "no-to-this-call-alone",
        _MCP,
        "a no is forgotten once the call that a yes to another one covers was not made",
        '"error": SAID_NO, "denied_by": self._approver}',
        '"error": SAID_NO}',
    ),
    slip(
        "shown-above-the-mode",
        _MCP,
        "a tool is shown that may not run by the spec",
        "return all(mode is None or rank <= MODE_RANK[mode] for mode in modes)",
        "return any(mode is not None and rank <= MODE_RANK[mode] for mode in modes)",
    ),
    slip(
        "ids-of-two-types",
        _MESSAGES,
        "a request with the id 1 gets the answer to the one with the id of that text",
        "return json.dumps(name) if type(name) in (str, int) else None",
        "return str(name) if type(name) in (str, int) else None",
    ),
    slip(
        "answer-with-an-error-and-a-result",
        _MESSAGES,
        "an answer that is a result and an error as well is taken",
        'if key is None or ("result" in value) == ("error" in value):',
        'if key is None or not ("result" in value or "error" in value):',
    ),
    slip(
        "server-spends-the-model",
        _METHODS,
        "a server may ask the model of the user",
        'frozenset({"ping", "elicitation/create", "roots/list"})',
        'frozenset({"ping", "elicitation/create", "roots/list", "sampling/createMessage"})',
    ),
    slip(
        "call-with-more-members",
        _METHODS,
        "a call is passed on with members that nobody judged",
        "or type(args) is not dict or message.params.keys() - _CALL_PARAMS:",
        "or type(args) is not dict:",
    ),
    slip(
        "two-hosts-of-a-proxy",
        _HTTP,
        "a request with a second header Host passes the proxy",
        "    if len(named) != 1 or not _is_here",
        "    if not named or not _is_here",
    ),
    slip(
        "header-names-another-tool",
        _UPSTREAM,
        "the headers of a call name another tool than its body",
        '_OF_BODY: Final = ("mcp-method", "mcp-name", "mcp-param-")',
        '_OF_BODY: Final = ("mcp-method", "mcp-param-")',
    ),
    slip(
        "header-of-another-argument",
        _UPSTREAM,
        "the headers of a call say other arguments than its body",
        '_OF_BODY: Final = ("mcp-method", "mcp-name", "mcp-param-")',
        '_OF_BODY: Final = ("mcp-method", "mcp-name")',
    ),
    slip(
        "header-named-by-the-server",
        _UPSTREAM,
        "a schema names a header that is none, or several",
        "type(mark) is str and _TOKEN.fullmatch(mark) and",
        "type(mark) is str and mark and",
    ),
    slip(
        "name-as-it-is",
        _UPSTREAM,
        "a name in a header is read as another one",
        "    if is_plain and not _ENCODED.fullmatch(text):\n",
        "    if is_plain:\n",
    ),
    slip(
        "cancelled-with-a-tick",
        _ASKING,
        "a person who cancelled said yes",
        'content = answer.get("content") if action == "accept" else None',
        'content = answer.get("content") if action != "decline" else None',
    ),
    slip(
        "accepted-another-change",
        _PINS,
        "a person accepts a change that they did not see",
        "            if not pin.digest.startswith(digest):\n",
        "            if not pin.digest.startswith(digest[:1]):\n",
    ),
    slip(
        "reasons-in-telemetry",
        _OBSERVED,
        "reasons are shown in telemetry although they were left out",
        "if explain and explanation else {}",
        "if explanation else {}",
    ),
)
"""Most of them take one call, question, guard or id for another."""
