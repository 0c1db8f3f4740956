"""Which labels of a policy no case needs: each is deleted, and the cases are judged again.

Rule 1: a label is what the text of the policy says of a tool, a class, the spec or the guard. One
        that has to be there is put to the value that says the least: the tier `read_only`, the
        author `public`, the safety mode `destructive`.
Rule 2: what refers to a label goes with it: an argument that is not bound is in no group.
Rule 3: a case needs a label that does not hold without it. A tool that occurs in no case has none
        that is needed.
"""

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from evals.escaping import escape_name, pointer
from harness.case_files.case_reading import ReadCase
from harness.case_files.case_runs import judge_read_case
from harness.case_files.session_case import SessionCase
from harness.policy import Policy, PolicyDocument
from harness.policy.positions import Parts
from harness.wire import InvalidInput, build

Json = dict[str, Any]

MOST_JUDGED: Final = 20_000
"""How many cases are judged for one coverage; what is left is said."""

_LEAST: Final[Mapping[str, str]] = {
    "approval_mode": "read_only",
    "author": "public",
    "safety_mode": "destructive",
}
"""What is put in the place of a label that has to be there."""
_NOT_LABELS: Final = frozenset(
    {"adapter_id", "capability_id", "name", "must_reach", "id", "example", "class", "from"}
)
_LIMITS: Final = frozenset(
    {
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "pattern"),
        *("minLength", "maxLength", "minItems", "maxItems", "enum", "const", "format"),
    }
)
"""Keywords of a property that are labels by themselves; else a schema is one as a whole."""
_WHOLE: Final = frozenset({"schema", "content_schema", "output_schemas"})
_OF_ANY_PLAN: Final = "produces"


class Label(NamedTuple):
    """A label of a policy, by its place and by what it is called.

    `tool` is the number of the tool that it is of; None if it is of none.
    """

    place: Parts
    name: str
    tool: int | None = None


class UnneededLabel(NamedTuple):
    """A label without which every case holds."""

    line: int
    path: str
    name: str
    least: str = ""

    @property
    def text(self) -> str:
        """What was tried, and what came of it."""
        if not self.least:
            return f"deleting {self.name} changes no case"
        return f"putting {self.name} to {self.least} changes no case"


class Coverage(NamedTuple):
    """What cases need of a policy.

    Attributes:
        needed: how many labels some case needs.
        unneeded: those that none does, by their lines.
        untried: how many were not tried: the effort was used up.
    """

    needed: int
    unneeded: tuple[UnneededLabel, ...]
    untried: int


def cover_labels(
    document: PolicyDocument, cases: Sequence[ReadCase], most: int = MOST_JUDGED
) -> Coverage:
    """Return which labels of a policy these cases need. All of them hold under it.

    Args:
        most: how many cases are judged at most, for all labels together.
    """
    wire = document.policy.wire()
    mentions = [(case, _mentioned_in(case)) for case in cases]
    needed, untried, unneeded = 0, 0, list[UnneededLabel]()
    for label in labels_of(wire):
        path = pointer(*label.place)
        without = _without_label(wire, label) if path in document.lines else None
        if without is None:
            continue
        asked = [case for case, words in mentions if _concerns(label, wire, words)]
        if len(asked) > most:
            untried += 1
            continue
        tried = 0
        for tried, case in enumerate(asked, 1):  # noqa: B007 - how far it came is used below
            if not judge_read_case(case, without):
                needed += 1
                break
        else:
            line, least = document.line_of(path), _least_at(label.place)
            unneeded.append(UnneededLabel(line, path, label.name, least or ""))
        most -= tried
    return Coverage(needed, tuple(sorted(unneeded)), untried)


def labels_of(wire: Json) -> Iterator[Label]:
    """Yield the labels of a policy in wire form, in the order of its parts."""
    for name in ("guard", "spec"):
        yield from _below((name,), name, wire.get(name, {}))
    yield from _elements(("record_fields",), "record_fields", wire.get("record_fields", []))
    for at, table in enumerate(wire.get("class", [])):
        yield from _below(("class", at), f"class {table['name']}", table)
    for at, tool in enumerate(wire.get("tool", [])):
        called = tool.get("name", tool["capability_id"])
        found = _below(("tool", at), called, tool)
        yield from (label._replace(tool=at) for label in found)
    for at, item in enumerate(wire.get("evidence", [])):
        yield Label(("evidence", at), f"evidence {item['id']}")


def _below(place: Parts, name: str, table: Json) -> Iterator[Label]:
    for key, value in table.items():
        here, called = (*place, key), f"{name}.{escape_name(key)}"
        if key in _NOT_LABELS or value in (_least_at(here), [], {}):
            continue
        if key == "args_schema":
            yield Label(here, called)
            yield from _limits(here, called, value)
        elif isinstance(value, dict) and key not in _WHOLE:
            yield from _members(here, called, value)
        elif isinstance(value, list):
            yield from _elements(here, called, value)
        else:
            yield Label(here, called)


def _members(place: Parts, name: str, table: Json) -> Iterator[Label]:
    """Yield each member of a table as a label, and with a binding where it has to stand."""
    for key, value in table.items():
        here, called = (*place, key), f"{name}.{escape_name(key)}"
        if isinstance(value, dict) and "from" not in value:
            yield from _members(here, called, value)
            continue
        if value != _least_at(here):
            yield Label(here, called)
        if isinstance(value, dict) and "at" in value:
            yield Label((*here, "at"), f"{called}.at")


def _elements(place: Parts, name: str, values: Sequence[Any]) -> Iterator[Label]:
    """Yield each element as a label: the only one by the name of its list."""
    for at, value in enumerate(values):
        called = name if len(values) == 1 else f"{name}.{at}"
        yield Label((*place, at), called)
        if isinstance(value, dict):
            yield from _below((*place, at), called, value)


def _limits(place: Parts, name: str, schema: Any) -> Iterator[Label]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for key, value in properties.items() if isinstance(properties, dict) else ():
        for keyword in value if isinstance(value, dict) else ():
            if keyword in _LIMITS:
                here = (*place, "properties", key, keyword)
                yield Label(here, f"{name}.{escape_name(key)}.{keyword}")


def _least_at(place: Parts) -> str | None:
    """Return what stands for the absence of a label that has to be there; None if it may go."""
    return _LEAST.get(str(place[-1])) if place[0] != "spec" else None


def _without_label(wire: Json, label: Label) -> Policy | None:
    """Return the policy without a label; None where it has to be there, or says the default."""
    changed: Any = copy.deepcopy(wire)
    *way, last = label.place
    outer = changed
    for part in way:
        outer = outer[part]
    least = _least_at(label.place)
    if least is not None:
        outer[last] = least
    else:
        del outer[last]
    if label.tool is not None and "bound_args" in way:
        _unbind(changed["tool"][label.tool], str(last))
    _drop_empty(changed, way)
    try:
        without = build(Policy, changed)
    except InvalidInput:
        return None
    return None if without.wire() == wire else without


def _unbind(tool: Json, name: str) -> None:
    """Take an argument out of the groups, if nothing binds it any more."""
    if name not in tool.get("bound_args", {}):
        groups = [[one for one in group if one != name] for group in tool.get("bound_together", [])]
        tool["bound_together"] = [group for group in groups if group]


def _drop_empty(changed: Any, way: Sequence[str | int]) -> None:
    """Take a list or table out that is empty now: some of them may not be."""
    if len(way) < 2 or isinstance(way[-1], int):
        return
    outer = changed
    for part in way[:-1]:
        outer = outer[part]
    if way[-1] != "required_outputs" and not outer[way[-1]]:
        del outer[way[-1]]


def _mentioned_in(case: ReadCase) -> frozenset[str]:
    """Return the names of the tools that a case calls, as agents or as plans call them."""
    if isinstance(case.case, SessionCase):
        calls = [one for event in case.events for one in event.get("calls", ())]
        return frozenset(call["tool"] for call in calls)
    return frozenset(_capabilities(_parse(case.case.document())))


def _parse(document: bytes) -> Any:
    try:
        return json.loads(document)
    except (ValueError, RecursionError):
        return None


def _capabilities(value: Any) -> Iterable[str]:
    waiting = [value]
    while waiting:
        current = waiting.pop()
        if isinstance(current, dict):
            named = current.get("capability_id")
            yield from [named] if isinstance(named, str) else []
            waiting += current.values()
        elif isinstance(current, list):
            waiting += current


def _concerns(label: Label, wire: Json, mentioned: frozenset[str]) -> bool:
    """Return whether a label may have a part in a case that calls tools of these names."""
    if label.tool is None or label.place[2] == _OF_ANY_PLAN:
        return True
    tool = wire["tool"][label.tool]
    return not mentioned.isdisjoint((tool["capability_id"], tool.get("name")))
