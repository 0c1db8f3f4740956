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
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def is_judged(bounds: Bounds, tool: ToolCapability | None) -> bool:
    """Return whether the values of a call of the tool are judged by where they come from."""
    judges = bounds.spec.provenance is not None
    return judges and tool is not None and MODE_RANK[tool.approval_mode] > _READ_ONLY


def is_known(bounds: Bounds, tool: ToolCapability, args: Json) -> bool:
    """Return whether the given context holds what the call needs."""
    ctx = bounds.ctx.wire()
    session = ctx.get("session", {})
    approved = session.get("approved", ())
    values = [one["value"] for one in approved if "expires_at" not in one]
    listed = _name(tool) in ctx.get("scope", ())
    return listed and all(value in values for value in _values(args))


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
    for _, step in calls:
        known = [one["value"] for one in approved]
        more = [value for value in _values(step.get("args", {})) if value not in known]
        approved += [{"value": value} for value in more]
    scope = [*ctx.get("scope", ())]
    scope += [name for tool, _ in calls if (name := _name(tool)) not in scope]
    return {**ctx, "scope": scope, "session": {**session, "approved": approved}}


def _name(tool: ToolCapability) -> Json:
    return {"adapter_id": tool.adapter_id, "capability_id": tool.capability_id}


def _values(args: Json) -> list[Any]:
    """Return each argument as a whole, and the words and days in its texts."""
    found = [value for value in args.values() if value is not None]
    return [*found, *(word for text in _texts(args) for word in _words(text))]


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
