"""Bugs of seams: what one object of a framework mixes up, and what it reads into a text."""

from typing import Final

from tests.assurance.planted.bug import Bug, Edit, slip

_LANGCHAIN: Final = "harness/integrations/langchain/langchain_sessions.py"
_OPENAI: Final = "harness/integrations/openai/openai_run.py"
_PYDANTIC: Final = "harness/integrations/pydantic_ai/pydantic_ai_guard.py"
_OPENAI_GUARD: Final = "harness/integrations/openai/openai_guard.py"
_LANGCHAIN_MESSAGES: Final = "harness/integrations/langchain/langchain_messages.py"
_GUARDED: Final = "harness/integrations/seam/guarded.py"
_REPLIES: Final = "harness/integrations/seam/ruling_replies.py"

SEAM_BUGS: Final[tuple[Bug, ...]] = (
    slip(
        "langchain-one-run",
        _LANGCHAIN,
        "a thread of an agent acts in the session that another one has open",
        "run = self._runs.get(name)",
        "run = self._runs.get(name) and next(iter(self._runs.values()))",
    ),
    slip(
        "langchain-nested-under-one-name",
        _LANGCHAIN,
        "the runs of all sub-agents of an agent are kept under one name",
        "name = uuid4().hex\n            self._runs",
        'name = "nested"\n            self._runs',
    ),
    slip(
        "openai-one-memory",
        _OPENAI,
        "all sessions share the calls that a person is asked about with the first one",
        "return _MEMORIES.setdefault(self.session, RunMemory())",
        "return _MEMORIES.setdefault(next(iter(_MEMORIES), self.session), RunMemory())",
    ),
    slip(
        "pydantic-ai-one-run",
        _PYDANTIC,
        "the runs of an agent at one time act in the session of the last one that began",
        "own, conversation = copy(self), str",
        "own, conversation = self, str",
    ),
    slip(
        "mcp-open-of-all-connections",
        "harness/integrations/mcp/mcp_filter.py",
        "a request in progress on one connection has its id on all of them",
        "self._open: dict[str, _Open] = {}",
        'self._open: dict[str, _Open] = vars(asked).setdefault("_open", {})',
    ),
    slip(
        "mcp-newest-state",
        "harness/integrations/mcp/mcp_asking.py",
        "a client that comes back with its state goes on with what was asked last",
        "return self._kept.pop(state, None) if type(state) is str else None",
        "return self._kept.popitem()[1] if state in self._kept else None",
    ),
    slip(
        "standing-of-all-sessions",
        _GUARDED,
        "a refusal stands for the calls with its id in all sessions",
        "self._standing: dict[str, SeamRuling] = {}",
        'self._standing: dict[str, SeamRuling] = vars(guard).setdefault("_standing", {})',
    ),
    slip(
        "nested-ids-cut",
        _GUARDED,
        "the calls of a sub-agent have the ids of the agent that runs it",
        '        name = f"{self._prefix}{call}"\n',
        "        name = call\n",
    ),
    Bug(
        "openai-text-is-a-record",
        "what a tool returned as text is the record that it spells",
        (
            Edit(_OPENAI_GUARD, "import copy\n", "import copy\nimport json\n"),
            Edit(
                _OPENAI_GUARD,
                'return part["text"] if is_text else output',
                'said = part["text"] if is_text else output\n'
                "    return json.loads(said) if str(said)[:2] in ('[\"', '{\"') else said",
            ),
        ),
    ),
    Bug(
        "langchain-text-is-a-record",
        "what a tool returned as text is the record that it spells",
        (
            Edit(_LANGCHAIN_MESSAGES, "from typing import", "import json\nfrom typing import"),
            Edit(
                _LANGCHAIN_MESSAGES,
                'return "completed", {"output": said}',
                "record = json.loads(said) if said[:2] in ('[\"', '{\"') else said\n"
                '    return "completed", {"output": record}',
            ),
        ),
    ),
    slip(
        "mcp-text-is-a-record",
        "harness/integrations/mcp/mcp_results.py",
        "what a server answers as text is the record that it spells",
        "return parsed_result(kept) if content else None",
        "return parsed_result(_read(kept)) if content else None",
    ),
    slip(
        "imported-text-is-a-record",
        "harness/integrations/importers/transcript.py",
        "what a tool of a recorded run returned as text is the record that it spells",
        "        yield RecordedResult(path, name, output=words)\n",
        "        record = words[:2] in ('[\"', '{\"') and parse_finite_json(words.encode())\n"
        "        yield RecordedResult(path, name, output=record or words)\n",
    ),
    slip(
        "empty-scope-is-no-scope",
        _GUARDED,
        "a session that is for no tool is for those of the policy",
        "given = {name: value for name, value in known.items() if value is not None}",
        "given = {name: value for name, value in known.items() if value}",
    ),
    slip(
        "nested-agent-speaks-as-the-user",
        _GUARDED,
        "the prompt of a sub-agent counts as what the user said",
        "        if self._prefix:\n            return\n        with",
        "        with",
    ),
    slip(
        "sub-agent-without-its-context",
        _GUARDED,
        "a sub-agent in a thread of a tool opens a session of its own",
        "if is_nested and outer is None and not guard.is_shadow:",
        "if is_nested and outer is None and guard.is_shadow:",
    ),
    slip(
        "langchain-forgets-that-it-is-nested",
        _LANGCHAIN,
        "an agent that is built as a sub-agent speaks as the user in a thread of a tool",
        "session_within(self.guard, is_nested=self._nested)",
        "session_within(self.guard)",
    ),
    slip(
        "node-forgets-that-it-is-nested",
        "harness/integrations/langchain/langchain_node.py",
        "a node that is built for a sub-agent hears the user in a thread of a tool",
        "session_within(self._guard, is_nested=self._nested)",
        "session_within(self._guard)",
    ),
    slip(
        "pydantic-ai-forgets-that-it-is-nested",
        _PYDANTIC,
        "an agent that is built as a sub-agent speaks as the user in a thread of a tool",
        "session_within(self.guard, is_nested=self.nested)",
        "session_within(self.guard)",
    ),
    slip(
        "unknown-tool-of-a-nested-agent",
        _GUARDED,
        "a sub-agent is told the reasons of other calls where its tool is not there",
        "unknown.get(self._id(call.id), ruling)",
        "unknown.get(call.id, ruling)",
    ),
    slip(
        "begun-elsewhere-is-not-made",
        _GUARDED,
        "a call that may have run in another process is on record as not made",
        'how = {"status": "unknown", "error": "it began',
        'how = {"status": "failed", "error": "it began',
    ),
    slip(
        "nested-call-waits-for-a-refused-one",
        _GUARDED,
        "a call of a sub-agent may start although one that it waited for was refused",
        "self._stand(other.removeprefix(self._prefix), told)",
        "self._stand(other, told)",
    ),
    slip(
        "halt-told-as-a-refusal",
        _REPLIES,
        "an application is told that a run goes on that was ended",
        'return {**told, **self.ruling.wire(), "action": self.action}',
        "return {**told, **self.ruling.wire()}",
    ),
    slip(
        "refusal-that-asks",
        _REPLIES,
        "a person is asked about what is refused, and can approve none of it",
        '"ask" if answer.action == "ask" else action',
        '"ask" if verdict.approvable else action',
    ),
    slip(
        "unknown-tool-goes-on",
        _REPLIES,
        "a halted run goes on after a call of a tool that is not there",
        'return SeamRuling(action, "unknown_tool", reasons',
        'return SeamRuling("refuse", "unknown_tool", reasons',
    ),
    slip(
        "no-goes-on",
        _REPLIES,
        "a halted run goes on after a call that a person denied",
        'action: SeamAction = "halt" if halts else "refuse"\n        return',
        'action: SeamAction = "refuse"\n        return',
    ),
    slip(
        "arguments-of-a-refused-call",
        _REPLIES,
        "a call that was opened and refused has arguments to be made with",
        "replace(ruling, args=answer.args) if answer else ruling",
        "replace(ruling, args=answer.args)",
    ),
    slip(
        "empty-name-is-left-out",
        "harness/integrations/seam/principals.py",
        "a session of an empty name begins as one of nobody",
        "if one is not None}",
        "if one}",
    ),
)
