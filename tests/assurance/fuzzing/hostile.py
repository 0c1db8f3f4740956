"""Documents of a megabyte for the entries of sessions: shapes of texts and values, part by part."""

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import count, product
from pathlib import Path
from typing import Any, Final

import orjson

from harness.commands.import_runs.import_command import events_of
from harness.guard import Guard
from harness.integrations.hooks.dialect import HookFault
from harness.integrations.hooks.dialects import DIALECTS
from harness.integrations.hooks.hook_answer import HookSettings, answer_event, read_event
from harness.integrations.hooks.install import shipped_policy
from harness.integrations.importers.formats import IMPORTERS
from harness.policy import Policy, parse_policy
from harness.wire import InvalidInput, parse_json
from tests.assurance.fuzzing.guarded import look_at
from tests.assurance.fuzzing.targets import Target
from tests.harness.integrations.hooks.agents import AGENTS, Agent
from tests.harness.integrations.importers.writers import MODELS_ALONE, WRITERS, Asked, Recording

MOST: Final = 1_000_000
_LEFT: Final = 2_000  # bytes for what stands around a part
_ROLES: Final = ("recipient", "object", "attribute", "locator", "time", "content")


def _numbered(pattern: str, size: int) -> str:
    """Return a pattern with numbers of its own again and again, in so many bytes."""
    made, length = [], 0
    for number in count():
        made.append(pattern.format(number))
        length += len(made[-1].encode())
        if length > size:
            return "".join(made[:-1])
    raise AssertionError


def _repeated(pattern: str, size: int) -> str:
    return pattern * (size // len(pattern.encode()))


_AGAIN: Final = {
    "words": "a b ",
    "signs": "\ufdfa",
    "signs apart": "\ufdfa ",
    "marks": "a\u0301\u0327",
    "squares": "\u3300",
    "path": "/a",
    "dots": "../",
    "schemes": "https://",
    "hosts": "a.co/",
    "addresses": "a@b.c",
    "accounts": "US64 1234 ",
    "begun accounts": "DE89 ",
    "words and digits": "a 1 ",
    "counts": "1 2 3 ",
    "digits": "1 ",
    "lists": '["a"]\n',
    "open lists": "[",
    "days": "may 1, 2, ",
    "numbers": "#1 ",
    "sentences": "A.B ",
    "lines": "\n",
}
_COUNTED: Final = {
    "many words": "w{0:x} ",
    "many paths": "/srv/{0:x}/a.txt ",
    "many links": "http://h{0:x}.com/a?b={0} ",
    "many hosts": "h{0:x}.co ",
    "many addresses": "u{0:x}@h.co ",
    "many accounts": "GB29NWBK{0:014} ",
    "many begun accounts": "DE89 {0:04} ",
    "many lists": '["a{0:x}"]\n',
}
TEXTS: Final[Mapping[str, Callable[[int], str]]] = {
    **{name: partial(_repeated, one) for name, one in _AGAIN.items()},
    **{name: partial(_numbered, one) for name, one in _COUNTED.items()},
    "a long word": lambda size: "a" * size,
    "a long page": lambda size: "https://h.co/" + "a" * (size - 13),
}
"""Texts by shape, of so many bytes."""

VALUES: Final[Mapping[str, Callable[[int], Any]]] = {
    "empty arrays": lambda size: [[]] * (size // 3),
    "empty objects": lambda size: [{}] * (size // 3),
    "deep": lambda size: [orjson.loads("[" * 50 + "]" * 50)] * (size // 101),
    "keys": lambda size: {f"{number:x}": 1 for number in range(size // 9)},
    "ones": lambda size: [1] * (size // 2),
    "letters": lambda size: ["a"] * (size // 4),
    "texts": lambda size: [f"{number:x}" for number in range(size // 8)],
    "records": lambda size: [{"id": f"{n:x}", "name": f"a{n:x}@b.co"} for n in range(size // 38)],
    "shapes": lambda size: ["-" * number + "a" for number in range(1, int((2 * size) ** 0.5) - 5)],
    "lists of signs": lambda size: ["\ufdfa" * 80] * (size // 243),
}
"""Values by shape, of so many bytes."""


def _tool(name: str, role: str, mode: str = "destructive", **more: Any) -> dict[str, Any]:
    ids = {"name": name, "adapter_id": "a", "capability_id": name}
    return {**ids, "approval_mode": mode, "arg_roles": {"x": role}, **more}


@cache
def _policy() -> Policy:
    fields = {"id": "system", "name": "party", "note": "public"}
    record = {"yields": "record", "result": {"author": "member", "format": "json"}}
    tools = [_tool(role, role) for role in _ROLES]
    tools.append(_tool("read", "locator", "read_only", result={"author": "public"}))
    tools.append(_tool("look", "locator", "read_only", **record))
    wire = {
        "guard": {"safety_mode": "destructive"},
        "spec": {"id": "s", "required_outputs": [], "provenance": "closed"},
        "class": [{"name": "record", "fields": fields}],
        "tool": tools,
    }
    return parse_policy(orjson.dumps(wire)).policy


def _take_session(data: bytes) -> None:
    guard = Guard(_policy())
    for event in parse_json(data):
        look_at(guard.handle_line(orjson.dumps({"session": "s", **event})))


def _take_import(source: str, data: bytes) -> None:
    lines = data.split(b"\n") if source in ("claude-code", "otlp", "mcp") else [data]
    documents = [("", parse_json(line)) for line in lines if line.strip()]
    for events, _ in events_of(IMPORTERS[source](documents), None, None):
        for event in events:
            event.wire()


def _take_hooks(agent: str, data: bytes) -> None:
    policy = parse_policy(shipped_policy(agent)).policy
    with tempfile.TemporaryDirectory() as folder:
        settings = HookSettings(policy=policy, state=Path(folder, "state"))
        for one in parse_json(data):
            event = read_event(DIALECTS[agent], orjson.dumps(one), None)
            answer_event(DIALECTS[agent], event, (), lambda: settings)


ENTRIES: Final[Mapping[str, Target]] = {
    "session": Target(_take_session, (), 0),
    **{
        f"import {one}": Target(partial(_take_import, one), (InvalidInput,), 0) for one in IMPORTERS
    },
    **{
        f"hooks of {one.name}": Target(partial(_take_hooks, one.name), (HookFault,), 0)
        for one in AGENTS
    },
}
"""The entries of sessions: events, what recorders and agents write."""


def _calls(tool: str, value: Any, name: str = "c") -> dict[str, Any]:
    return {"event": "calls", "calls": [{"id": name, "tool": tool, "args": {"x": value}}]}


def _result(output: Any) -> dict[str, Any]:
    return {"event": "result", "id": "c", "status": "completed", "output": output}


_OPEN: Final = {"event": "open", "request": "read x, look y, send it"}
_AFTER: Final = _calls("content", "see http://a.co and b@c.co", "after")


def _places(part: Any) -> Mapping[str, list[Any]]:
    """Return sessions with the part at each place of an event."""
    said = [_OPEN, {"event": "said", "text": part}, _AFTER]
    return {
        **{f"as {role}": [_OPEN, _calls(role, part)] for role in _ROLES},
        **{
            f"by {tool}": [_OPEN, _calls(tool, "x"), _result(part), _AFTER]
            for tool in ("read", "look")
        },
        "to read": [_OPEN, _calls("read", part), _result("x")],
        "at last": [_OPEN, {"event": "close", "outputs": {"o": part}}],
        "asked for": [{"event": "open", "request": part, "system": "x"}, _AFTER],
        "asked for, with an account": [
            {"event": "open", "request": part, "system": "x"},
            _calls("object", "DE89DE89DE89"),
        ],
        "of the operator": [{**_OPEN, "system": part}, _AFTER],
        "said": said,
    }


_WORDS: Final = ("asked for", "asked for, with an account", "of the operator", "said")
"""The places that hold a text alone."""


def _session(shape: str, place: str) -> bytes:
    return orjson.dumps(_places((TEXTS.get(shape) or VALUES[shape])(MOST - _LEFT))[place])


def _pair(kind: str, shape: str) -> bytes:
    """Return a session with many values over a long text."""
    half = MOST // 2 - _LEFT
    text, values = TEXTS[shape](half), VALUES[kind](half)[:9_000]
    events = [_OPEN, _calls("read", "x"), _result(text), _calls("recipient", values, "d")]
    return orjson.dumps(events)


_RUNS: Final[Mapping[str, Callable[[], list[list[Asked]]]]] = {
    "turns": lambda: [[Asked(f"c{at}", "t", {"a": at}, "x")] for at in range(1_000)],
    "calls": lambda: [[Asked(f"c{at}", "t", {"a": at}, "x") for at in range(1_000)]],
    "a long result": lambda: [[Asked("c", "t", {"a": 1}, "\ufdfa" * 70_000)]],
}


def _recorded(source: str, run: str) -> bytes:
    return WRITERS[source](Recording("do it", _RUNS[run](), "be nice"))


def _hooked(agent: Agent, shape: str) -> bytes:
    part = (TEXTS.get(shape) or VALUES[shape])(MOST // 2)
    events = [
        agent.prompt("read it"),
        agent.call(agent.read, "c"),
        agent.result(agent.read, "c", part),
        agent.call(agent.read, "d"),
    ]
    return orjson.dumps(events)


def _all() -> Iterator[tuple[str, str, Callable[[], bytes]]]:
    for shape in (*TEXTS, *VALUES):
        for place in _places(None):
            if shape in TEXTS or place not in _WORDS:
                yield f"{shape}, {place}", "session", partial(_session, shape, place)
    for shape in ("words", "many paths", "many addresses"):
        for kind in ("shapes", "texts"):
            yield f"{kind} over {shape}", "session", partial(_pair, kind, shape)
    for source, run in product(WRITERS, _RUNS):
        entry = "import otlp" if source == MODELS_ALONE else f"import {source}"
        yield f"{source}: {run}", entry, partial(_recorded, source, run)
    for agent, shape in product(AGENTS, ("signs", "many paths", "empty arrays")):
        entry = f"hooks of {agent.name}"
        yield f"{agent.name}: {shape}", entry, partial(_hooked, agent, shape)


HOSTILE: Final = {name: (entry, made) for name, entry, made in _all()}
"""The documents by name, each with its entry and what makes it."""
