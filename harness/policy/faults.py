"""Explain the faults of a policy better than the wire does: near keys, clashes with both lines.

The wire validates each envelope alone and stops at what it cannot read. This reads the parsed text
directly, so that every mistake is found at once, wherever the others are.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, time
from difflib import get_close_matches
from itertools import count
from typing import Any, Final

from critic import (
    Binding,
    DecisionSpec,
    Demand,
    EvidenceItem,
    RunBudget,
    Source,
    ToolName,
    ToolResult,
)
from critic.session import RESERVED_IDS
from critic.session.session_rules import is_default_class
from evals.envelope import Envelope
from evals.escaping import escape_line, escape_name, pointer
from evals.pointers import is_pointer, values_at
from harness.policy.envelopes import (
    AcceptedFinding,
    GuardSettings,
    Policy,
    PolicyClass,
    PolicyTool,
)
from harness.policy.positions import Parts
from harness.policy.schema_faults import faults_of_schema
from harness.policy.tool_summary import summary_fault

PathFault = tuple[Parts, str]
"""The place of a fault and what is wrong there; one line, safe to print."""

LineOf = Callable[[str], int]

Tables = tuple[tuple[Parts, type[Envelope]], ...]
"""What each table of a text is, by the pattern of its place. `*` stands for every element, `{*}`
for every member."""

TABLES: Final[Tables] = (
    ((), Policy),
    (("guard",), GuardSettings),
    (("guard", "budget"), RunBudget),
    (("spec",), DecisionSpec),
    (("class", "*"), PolicyClass),
    (("tool", "*"), PolicyTool),
    (("tool", "*", "requires_evidence", "*"), Demand),
    (("tool", "*", "bound_args", "{*}"), Binding),
    (("tool", "*", "result"), ToolResult),
    (("tool", "*", "follows", "*"), ToolName),
    (("evidence", "*"), EvidenceItem),
    (("evidence", "*", "source"), Source),
    (("accept", "*"), AcceptedFinding),
)
"""What each table of a policy is."""

_SCHEMAS: Final[tuple[Parts, ...]] = (
    ("tool", "*", "args_schema"),
    ("tool", "*", "requires_evidence", "*", "content_schema"),
    ("class", "*", "schema"),
    ("spec", "output_schemas", "{*}"),
)

_CHOICES: Final[tuple[Parts, ...]] = (
    ("tool", "*", "requires_evidence", "*"),
    ("tool", "*", "bound_args", "{*}"),
)
"""Where the wire takes one of two forms."""

_FORMS: Final[tuple[tuple[Parts, str], ...]] = (
    (_CHOICES[0], 'a class, or a Demand: { class = "..." }'),
    (_CHOICES[1], 'an array of classes, or a Binding: { from = ["..."] }'),
    (("class",), "an array: write [[class]], not [class]"),
    (("tool",), "an array: write [[tool]], not [tool]"),
    (("evidence",), "an array: write [[evidence]], not [evidence]"),
    (("accept",), "an array: write [[accept]], not [accept]"),
    (("shell", "command"), "an array: write [[shell.command]], not [shell.command]"),
    (("guard", "scope"), '"all", or an array of names of tools'),
)
"""What is expected at a place, in more words than the wire has."""

_NO_TIME: Final = (
    "nothing expires where there is neither an as_of nor a clock: remove it, or give one"
)
_READ_MAKES: Final = (
    "a read_only call makes nothing, and what it returns would count as made by the session: "
    "remove it [makes_on_a_read]"
)
_QUOTED: Final = re.compile(r"'(\w+)'")


def faults_in(value: Any, line_of: LineOf, *, has_time: bool) -> Iterator[PathFault]:
    """Yield the faults of a parsed policy that the wire misses or explains poorly."""
    yield from unknown_keys(value, TABLES)
    yield from _clashes(value, line_of)
    for path, tool in places(value, ("tool", "*")):
        yield from _faults_of_tool(path, tool, has_time=has_time)
    for path, reference in places(value, ("evidence", "*", "id")):
        if isinstance(reference, str) and reference.startswith(RESERVED_IDS):
            yield path, f"ids that begin with {', '.join(RESERVED_IDS)} are made by sessions"
    for path, name in places(value, ("class", "*", "name")):
        if isinstance(name, str) and is_default_class(name):
            yield path, f"results that are of no class have {escape_name(name)}: rename it"
    yield from _lost_guesses(value)
    yield from _unknown_in_scope(value)
    asked = count()
    for pattern in _SCHEMAS:
        for path, schema in places(value, pattern):
            yield from ((path + inner, what) for inner, what in faults_of_schema(schema, asked))
    for path, _ in places(value, ("class", "*", "fresh_s")):
        if not has_time:
            yield path, _NO_TIME
    yield from _dates(value)


def _lost_guesses(value: Any) -> Iterator[PathFault]:
    """Yield each guess at a place that the policy lacks."""
    for path, place in places(value, ("guessed", "*")):
        if not isinstance(place, str) or not is_pointer(place):
            continue  # the wire says so
        if not any(True for _ in values_at(value, place, wildcard=False)):
            yield path, f"no value is at {escape_name(place)}: remove it"


def _unknown_in_scope(value: Any) -> Iterator[PathFault]:
    """Yield each name in the scope without a tool."""
    tools = (tool for _, tool in places(value, ("tool", "*")) if isinstance(tool, dict))
    known = [tool.get("name", tool.get("capability_id")) for tool in tools]
    names = [name for name in known if isinstance(name, str)]
    for path, name in places(value, ("guard", "scope", "*")):
        if isinstance(name, str) and name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"did you mean {escape_name(near[0])}? " if near else ""
            yield path, f"no tool is called {escape_name(name)}: {hint}add it, or remove the name"


def _dates(value: Any) -> Iterator[PathFault]:
    """Yield each date and time of TOML outside an expiry: JSON has none."""
    waiting: list[tuple[Parts, Any]] = [((), value)]
    while waiting:
        path, current = waiting.pop()
        inner = [*_parts_at(current, "*"), *_parts_at(current, "{*}")]
        waiting += [(path + key, value) for key, value in inner]
        is_expiry = path[:1] == ("evidence",) and path[2:] == ("expires_at",)
        if isinstance(current, datetime | date | time) and not is_expiry:
            yield path, "JSON has no dates and times: write it in quotes"


def word_fault(message: str, value: Any, path: str) -> str:
    """Return the message of the wire, with the nearest choice if one of a few words is expected."""
    for pattern, forms in _FORMS:
        if _fits(path, pattern) and message.startswith("must be"):
            return f"must be {forms}"
    if isinstance(value, str) and message.startswith("must be an array"):
        return f"must be an array: write [{escape_line(json.dumps(value))[:200]}]"
    if isinstance(value, str) and message.startswith("not a JSON pointer"):
        return f"{escape_name(value)} is {message}"
    if isinstance(value, str) and message.startswith("input should be"):
        near = get_close_matches(value, _QUOTED.findall(message), 1, 0.5)
        hint = f"did you mean {near[0]}? " if near else ""
        return f"{escape_name(value)} is unknown: {hint}{message}"
    return message


def is_of_the_other_form(message: str, path: str, value_at: Callable[[str], Any]) -> bool:
    """Return whether a message is about the wrong one of two accepted forms.

    Such a message is at the place, or below it at the name of a type.
    """
    outer, _, last = path.rpartition("/")
    at_choice = any(_fits(path, pattern) for pattern in _CHOICES)
    below = any(_fits(outer, pattern) for pattern in _CHOICES)
    table = value_at(path if at_choice else outer)
    named = below and isinstance(table, dict) and last not in table
    return message.startswith("must be") and isinstance(table, dict) and (at_choice or named)


def places(value: Any, pattern: Parts) -> Iterator[tuple[Parts, Any]]:
    """Yield each place in a parsed text that matches a pattern, with its value."""
    found: list[tuple[Parts, Any]] = [((), value)]
    for part in pattern:
        found = [
            (path + key, inner) for path, outer in found for key, inner in _parts_at(outer, part)
        ]
    yield from found


def _parts_at(value: Any, part: str | int) -> Iterator[tuple[Parts, Any]]:
    if part == "*" and isinstance(value, list):
        yield from (((index,), item) for index, item in enumerate(value))
    elif isinstance(value, dict) and part == "{*}":
        yield from (((key,), item) for key, item in value.items())
    elif isinstance(value, dict) and part in value:
        yield (part,), value[part]


def _fits(path: str, pattern: Parts) -> bool:
    parts = path.split("/")[1:]
    return len(parts) == len(pattern) and all(
        wanted in ("*", "{*}", part) for part, wanted in zip(parts, pattern, strict=True)
    )


def unknown_keys(value: Any, tables: Tables) -> Iterator[PathFault]:
    """Yield each unknown key of a parsed text, with the nearest known one."""
    for pattern, model in tables:
        known = [field.alias or name for name, field in model.model_fields.items()]
        found = (place for place in places(value, pattern) if isinstance(place[1], dict))
        for path, table in found:
            unknown = (key for key in table if key not in known)
            yield from (((*path, key), _word_unknown_key(key, known)) for key in unknown)


def _word_unknown_key(key: str, known: list[str]) -> str:
    near = get_close_matches(key, known, 1, 0.6)
    fix = f"did you mean {near[0]}?" if near else "remove it:"
    return f"unknown key {escape_name(key)}: {fix} known are {', '.join(known)}"


def _clashes(value: Any, line_of: LineOf) -> Iterator[PathFault]:
    tools = [(path, tool) for path, tool in places(value, ("tool", "*")) if isinstance(tool, dict)]
    pairs: list[tuple[Parts, Any]] = [
        (path, f"{tool['adapter_id']} {tool['capability_id']}")
        for path, tool in tools
        if "adapter_id" in tool and "capability_id" in tool
    ]
    same = list(_twice(pairs, "tools have the ids", "keep one", line_of))
    yield from same
    called = [(path, tool.get("name", tool.get("capability_id"))) for path, tool in tools]
    told = {path for path, _ in same}
    for path, what in _twice(called, "tools are called", "give one another name", line_of):
        if path not in told:
            yield path, what
    classes = [(path[:-1], name) for path, name in places(value, ("class", "*", "name"))]
    yield from _twice(classes, "classes have the name", "keep one", line_of)
    items = [(path[:-1], name) for path, name in places(value, ("evidence", "*", "id"))]
    yield from _twice(items, "pieces of evidence have the id", "keep one", line_of)


def _twice(
    named: Iterable[tuple[Parts, Any]], what: str, fix: str, line_of: LineOf
) -> Iterator[PathFault]:
    first: dict[str, Parts] = {}
    for path, name in named:
        if not isinstance(name, str):
            continue
        if name in first:
            line = line_of(pointer(*first[name]))
            yield path, f"two {what} {escape_name(name)}, the other in line {line}: {fix}"
        first.setdefault(name, path)


def _faults_of_tool(path: Parts, tool: Any, *, has_time: bool) -> Iterator[PathFault]:
    if not isinstance(tool, dict):
        return
    if "expires_after_s" in tool and not has_time:
        yield (
            (*path, "expires_after_s"),
            _NO_TIME,
        )
    if fault := summary_fault(tool):
        yield (*path, "summary"), fault
    result = tool.get("result")
    makes = result.get("makes", {}) if isinstance(result, dict) else {}
    if tool.get("approval_mode") == "read_only" and not isinstance(makes, dict):
        yield (*path, "result", "makes"), _READ_MAKES
    bound, roles = tool.get("bound_args", {}), tool.get("arg_roles", {})
    for place, name in places(tool, ("bound_together", "*", "*")):
        if isinstance(bound, dict) and isinstance(name, str) and name not in bound:
            yield (
                (*path, *place),
                f"{escape_name(name)} is not bound: add it to bound_args, or remove it here",
            )
    for name in roles if isinstance(roles, dict) else ():
        if name.startswith("/") and not is_pointer(name):
            yield (
                (*path, "arg_roles", name),
                f"{escape_name(name)} is not a JSON pointer: write ~1 for a slash, ~0 for ~",
            )
