"""A model that mends its calls by what it is told, and knows no more than that and its tools.

It has never seen one of our texts. It looks for names of tools and arguments, for numbers and
values in quotes, and for a few words of English, and does what a reader of them would.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Json = dict[str, Any]

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_MEANT = re.compile(r'did you mean "?([\w.-]+)')
_LIMIT = re.compile(r"at most (-?[0-9.]*[0-9])")
_USE = re.compile(r"use (?:\"((?:[^\"\\]|\\.)*)\"|(-?[0-9.]*[0-9]))")


class World(NamedTuple):
    """What a model can do beside its call: make another one, or ask its user for an argument.

    Without `ask` nobody answers it.
    """

    tools: Mapping[str, Json]
    call: Callable[[str], bool]
    ask: Callable[[str], Any] | None


def mend(call: Json, reply: str, world: World) -> Json | None:
    """Return the call as the model makes it next; None where it has no idea."""
    for line in reply.split("\n"):
        for attempt in (_rename, _fill, _lower, _convert, _take, _look_up, _ask):
            if (found := attempt(call, line, world)) is not None:
                return found
    return None


def _named_arguments(line: str, schema: Json) -> list[str]:
    names = [name for name in schema["properties"] if re.search(rf"\b{re.escape(name)}\b", line)]
    return sorted(names, key=line.index)


def _named_tools(line: str, call: Json, world: World) -> list[str]:
    found = [one for one in world.tools if re.search(rf"\b{re.escape(one)}\b", line)]
    return sorted((one for one in found if one != call["tool"]), key=line.index)


def _rename(call: Json, line: str, world: World) -> Json | None:
    meant = _MEANT.search(line)
    if meant is None:
        return None
    if meant[1] in world.tools:
        return {**call, "tool": meant[1]}
    wrong = next(
        (one for one in call["args"] if re.search(rf"\b{re.escape(one)}\b", line[: meant.start()])),
        None,
    )
    if wrong is None:
        return None
    return {
        **call,
        "args": {meant[1] if one == wrong else one: given for one, given in call["args"].items()},
    }


def _fill(call: Json, line: str, world: World) -> Json | None:
    if world.ask is None or "missing" not in line or call["tool"] not in world.tools:
        return None
    absent = [
        one for one in _named_arguments(line, world.tools[call["tool"]]) if one not in call["args"]
    ]
    return (
        {**call, "args": {**call["args"], **{one: world.ask(one) for one in absent}}}
        if absent
        else None
    )


def _lower(call: Json, line: str, world: World) -> Json | None:
    limit = _LIMIT.search(line)
    names = [one for one in call["args"] if re.search(rf"\b{re.escape(one)}\b", line)]
    if limit is None or not names:
        return None
    return {**call, "args": {**call["args"], names[0]: float(limit[1])}}


def _convert(call: Json, line: str, world: World) -> Json | None:
    names = [one for one in call["args"] if re.search(rf"\b{re.escape(one)}\b", line)]
    if "must be a number" not in line or not names:
        return None
    return {**call, "args": {**call["args"], names[0]: float(call["args"][names[0]])}}


def _take(call: Json, line: str, world: World) -> Json | None:
    use = _USE.search(line)
    names = [one for one in call["args"] if re.search(rf"\b{re.escape(one)}\b", line)]
    if use is None or not names:
        return None
    value = use[1] if use[1] is not None else float(use[2])
    return {**call, "args": {**call["args"], names[0]: value}}


def _look_up(call: Json, line: str, world: World) -> Json | None:
    """Call the tools that are named, and then make the call again."""
    made = [world.call(one) for one in _named_tools(line, call, world)]
    return call if any(made) else None


def _ask(call: Json, line: str, world: World) -> Json | None:
    """Ask the user for what is named, and take what they say."""
    if (
        world.ask is None
        or not re.search(r"\b(ask|user)\b", line)
        or call["tool"] not in world.tools
    ):
        return None
    names = [
        one for one in _named_arguments(line, world.tools[call["tool"]]) if one in call["args"]
    ]
    if not names:
        return None
    return {**call, "args": {**call["args"], **{one: world.ask(one) for one in names}}}
