"""The arguments that a schema allows, one by one: types, limits, optional ones.

Each answer is the widest reading of the schema: a `not` or a condition excludes nothing.
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Final

from evals.schema_budget import json_values
from evals.schema_keywords import REFERENCES
from harness.policy.schema_lint import admits
from harness.policy.schema_parts import AnySchema, SchemaParts

_ALL: Final = frozenset({"string", "number", "boolean", "object", "array", "null"})
_OF_NO_SCHEMA: Final = "an argument that no schema names"
_MOST_LEVELS: Final = 20
_CHOICES: Final = frozenset({*REFERENCES, "allOf", "anyOf", "oneOf"})


class ArgumentShapes:
    """The arguments in a schema. A tool without a schema has none."""

    def __init__(self, schema: AnySchema) -> None:
        self.schema: Final[AnySchema] = schema
        self._parts: Final = SchemaParts(schema)
        root = schema if isinstance(schema, dict) else {}
        self.required: Final = frozenset(root.get("required") or ())
        self._types: Final[dict[int, frozenset[str]]] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return the names of the arguments, in order."""
        root = self.schema if isinstance(self.schema, dict) else {}
        found = self._parts.property_names([self.schema])
        first = [name for name in root.get("properties") or () if name in found]
        return (*first, *sorted(found - {*first}))

    @cached_property
    def cost(self) -> int:
        """Estimate the cost of looking at each argument once."""
        if not isinstance(self.schema, dict) or _is_flat(self.schema):
            return len(self.names)
        return len(self.names) * json_values(self.schema)

    @cached_property
    def is_open(self) -> bool:
        """Whether a call may have an argument that no schema names."""
        root = self.schema
        if isinstance(root, dict) and root.keys().isdisjoint(_CHOICES):
            further = root.get("additionalProperties", root.get("unevaluatedProperties", True))
            if further is False and "patternProperties" not in root:
                return False
        return admits(root, {"type": "object", "required": [_OF_NO_SCHEMA]})

    def schemas_of(self, name: str) -> list[dict[str, Any]]:
        """Return all schemas of an argument, through references and alternatives."""
        return self._parts.same_schemas(self._parts.schemas_below([self.schema], name))

    def types_of(self, name: str) -> frozenset[str]:
        """Return the types of JSON that an argument may have; `integer` is a number."""
        found = _ALL
        for schema in self._parts.schemas_below([self.schema], name):
            found &= self._types_in(schema, _MOST_LEVELS)
        return found

    def _types_in(self, schema: Any, levels: int) -> frozenset[str]:
        if not isinstance(schema, dict) or not levels:
            return frozenset() if schema is False else _ALL
        if id(schema) in self._types:
            return self._types[id(schema)]
        found = self._types[id(schema)] = _own_types(schema)
        for part in (*self._parts.targets_of(schema), *(schema.get("allOf") or ())):
            found &= self._types_in(part, levels - 1)
        for keyword in ("anyOf", "oneOf"):
            if parts := schema.get(keyword):
                found &= frozenset[str]().union(*(self._types_in(one, levels - 1) for one in parts))
        self._types[id(schema)] = found
        return found


def _is_flat(schema: dict[str, Any]) -> bool:
    """Return whether no argument has a reference or an alternative."""
    parts = (schema, *(schema.get("properties") or {}).values())
    return all(part.keys().isdisjoint(_CHOICES) for part in parts if isinstance(part, dict))


def _own_types(schema: dict[str, Any]) -> frozenset[str]:
    if "const" in schema:
        return frozenset({_type_of(schema["const"])})
    if isinstance(schema.get("enum"), list):
        return frozenset(map(_type_of, schema["enum"]))
    kinds = schema.get("type", [*_ALL])
    named = kinds if isinstance(kinds, list) else [kinds]
    return frozenset("number" if kind == "integer" else str(kind) for kind in named)


def _type_of(value: Any) -> str:
    match value:
        case bool():
            return "boolean"
        case int() | float():
            return "number"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case _:
            return "null"


def is_anchored(pattern: str) -> bool:
    """Return whether a pattern covers a whole text, in each of its alternatives.

    A pattern from `^` to a final slash covers everything below, so it passes.
    """
    return all(map(_is_branch_anchored, _branches(pattern)))


def _is_branch_anchored(branch: str) -> bool:
    if branch[:1] == "(" and branch[-1:] == ")" and _closes_at(branch) == len(branch) - 1:
        inner = branch[3:-1] if branch.startswith("(?:") else branch[1:-1]
        return is_anchored(inner)
    starts = branch.startswith(("^", "\\A"))
    ends = branch.endswith(("$", "\\Z", "\\z")) and not _is_escaped(branch, len(branch) - 1)
    return starts and (ends or branch.endswith(("$)", "/")))


def _is_escaped(text: str, at: int) -> bool:
    before = len(text[:at]) - len(text[:at].rstrip("\\"))
    return text[at] == "$" and before % 2 == 1


def _walk(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Yield the position of each sign outside classes and escapes, with its depth in groups."""
    depth, in_class, at = 0, False, 0
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            at += 2
            continue
        if in_class:
            in_class = sign != "]"
        elif sign == "[":
            in_class = True
            at += pattern[at + 1 : at + 2] == "]"
        else:
            depth += (sign == "(") - (sign == ")")
            yield at, sign, depth
        at += 1


def _branches(pattern: str) -> list[str]:
    cuts = [at for at, sign, depth in _walk(pattern) if sign == "|" and depth == 0]
    starts, ends = [0, *(cut + 1 for cut in cuts)], [*cuts, len(pattern)]
    return [pattern[start:end] for start, end in zip(starts, ends, strict=True)]


def _closes_at(pattern: str) -> int:
    """Return where the first group of a pattern closes."""
    return next((at for at, sign, depth in _walk(pattern) if sign == ")" and depth == 0), -1)
