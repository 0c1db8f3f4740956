"""The facts that a session needs for the calls of a plan to pass where provenance is judged.

The plainest way is always open: a person approved each value, and the tool is in the scope. It
leans on no rule about what a source is worth, so the generator cannot share an error there.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

from critic import ToolCapability
from evals.kinds import MODE_RANK
from harness.testing._draw.bounds import Bounds
from harness.testing._draw.primitives import Json

_READ_ONLY: Final = MODE_RANK["read_only"]
_BORDERS: Final = "\"'`.,;:!?()[]{}<>"
_PLAIN: Final = re.compile(r"(?!www\.)[^\\/%:\x00-\x1f\x7f-\x9f]*")
_GIVEN_TO: Final = ("recipient", "object")
_SHORTEST_TITLE: Final = 3
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_judged(bounds: Bounds, tool: ToolCapability | None) -> bool:
    """Return whether the values of a call of the tool are judged by where they come from."""
    judges = bounds.spec.provenance is not None
    return judges and tool is not None and MODE_RANK[tool.approval_mode] > _READ_ONLY


def can_be_known(tool: ToolCapability, args: Json) -> bool:
    """Return whether approvals can let the call pass: its values are read in one way, none lacks.

    What is plain is told by its characters alone; many a value that could be read is left out.
    """
    roles = tool.arg_roles
    aims = {name for name, role in (roles or {}).items() if role in _GIVEN_TO}
    if roles is not None and aims and not any(_holds(args.get(name)) for name in aims):
        return False
    texts = [text for value in args.values() for text in [*_texts(value), *_names(value)]]
    if roles and not aims and any(len(text) >= _SHORTEST_TITLE for text in texts):
        return False
    return not tool.arg_kinds and all(map(_PLAIN.fullmatch, texts))


def is_known(bounds: Bounds, tool: ToolCapability, args: Json) -> bool:
    """Return whether the given context holds what the call needs."""
    ctx = bounds.ctx.wire()
    approved = ctx.get("session", {}).get("approved", ())
    listed = _name(tool) in ctx.get("scope", ())
    return listed and all(one in approved for one in _yeses(tool, args))


def add_known(bounds: Bounds, ctx: Json, steps: list[Json]) -> Json:
    """Return the context with what the calls of a plan need: approved values, tools in scope."""
    tools = bounds.compiled.manifests.tools
    pairs = [
        (tools.get((one.get("adapter_id", ""), one.get("capability_id", ""))), one) for one in steps
    ]
    calls = [(tool, step) for tool, step in pairs if tool is not None and is_judged(bounds, tool)]
    if not calls:
        return ctx
    session = ctx.get("session", {"id": "s", "turn": 1})
    approved = [*session.get("approved", ())]
    for tool, step in calls:
        approved += [one for one in _yeses(tool, step.get("args", {})) if one not in approved]
    scope = [*ctx.get("scope", ())]
    scope += [name for tool, _ in calls if (name := _name(tool)) not in scope]
    return {**ctx, "scope": scope, "session": {**session, "approved": approved}}


def _yeses(tool: ToolCapability, args: Json) -> list[Json]:
    """Return a yes to each value of a call in each role of its tool."""
    roles = dict.fromkeys((tool.arg_roles or {"": "recipient"}).values())
    named = {"tool": _name(tool), "approval_mode": tool.approval_mode}
    return [{"value": value, "role": role, **named} for role in roles for value in _values(args)]


def _name(tool: ToolCapability) -> Json:
    return {"adapter_id": tool.adapter_id, "capability_id": tool.capability_id}


def _values(args: Json) -> list[Any]:
    """Return each argument as a whole, its members' names, and the words and days in its texts."""
    found = [value for value in args.values() if value is not None]
    texts = [text for value in args.values() for text in _texts(value)]
    names = [name for value in args.values() for name in _names(value)]
    return [*found, *names, *(word for text in texts for word in _words(text))]


def _holds(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_holds, value.values() if isinstance(value, dict) else value))
    return value is not None and value != "" and not isinstance(value, bool)


def _words(text: str) -> Iterator[str]:
    for word in text.split():
        yield from dict.fromkeys((word, word.strip(_BORDERS)))
    yield from _DAY.findall(text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
    elif isinstance(value, str):
        yield value


def _names(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _names(part)
