"""Slips that a model makes in a call of a good run, each of which some other call would mend."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

Json = dict[str, Any]


class Run(NamedTuple):
    """A good run: its request, its calls in order with what they returned, and who made it."""

    id: str
    wire: Json
    calls: tuple[Json, ...]


class Slip(NamedTuple):
    """A call with a slip in it, and how many calls of the run were made before."""

    kind: str
    call: Json
    before: int


def schemas_of(runs: list[Run]) -> dict[str, Json]:
    """Return for each tool a closed schema that every call of the runs satisfies."""
    found: dict[str, list[Json]] = {}
    for run in runs:
        for call in run.calls:
            found.setdefault(call["tool"], []).append(call["args"])
    return {tool: _schema_of(every) for tool, every in found.items()}


def _schema_of(every: list[Json]) -> Json:
    names = dict.fromkeys(name for args in every for name in args)
    return {
        "type": "object",
        "properties": {
            name: _property([one[name] for one in every if name in one]) for name in names
        },
        "required": [name for name in names if all(name in one for one in every)],
        "additionalProperties": False,
    }


def _property(values: list[Any]) -> Json:
    types = {type(value) for value in values}
    if types <= {int, float}:
        return {"type": "number", "maximum": max(values)}
    if types == {str}:
        return {"type": "string"}
    return {}


def slips_in(run: Run, schemas: Mapping[str, Json], effects: set[str]) -> Iterator[Slip]:
    """Yield the slips that a model could make in the calls of a run with effects."""
    for number, call in enumerate(run.calls):
        if call["tool"] not in effects:
            continue
        schema = schemas[call["tool"]]
        yield Slip("tool", {**call, "tool": _misspell(call["tool"])}, number)
        if number:
            yield Slip("unread", call, 0)
        for name, value in call["args"].items():
            yield from _slips_of(call, name, value, schema, number)


def _slips_of(call: Json, name: str, value: Any, schema: Json, number: int) -> Iterator[Slip]:
    rest = {one: given for one, given in call["args"].items() if one != name}
    known = schema["properties"][name]
    if name in schema["required"]:
        yield Slip("missing", {**call, "args": rest}, number)
        yield Slip("argument", {**call, "args": {**rest, _misspell(name): value}}, number)
    if known.get("type") == "number":
        over = {**rest, name: known["maximum"] * 10 + 1}
        yield Slip("limit", {**call, "args": over}, number)
        yield Slip("type", {**call, "args": {**rest, name: str(value)}}, number)
    if isinstance(value, str) and any(char.isdigit() for char in value):
        yield Slip("value", {**call, "args": {**rest, name: f"{value}7"}}, number)


def _misspell(name: str) -> str:
    return name[:-2] + name[-1]
