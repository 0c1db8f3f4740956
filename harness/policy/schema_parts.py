"""Find the properties and parts of a JSON Schema, through its references and its alternatives."""

from collections.abc import Iterator
from typing import Any, Final

from evals.json_schemas import compile_schema
from evals.schema_budget import Targets
from evals.schema_keywords import keywords_judging, parts_of

AnySchema = Any
"""A JSON Schema as JSON: an object or a boolean."""

# What is below a `not` names no property that a value may have.
_SAME: Final = tuple(keyword for keyword in keywords_judging("same") if keyword != "not")

_MOST_WALKED: Final = 10_000
"""How many schemas are looked at, of a schema that refers to itself in many ways."""


class SchemaParts:
    """Finds the properties of a schema, through its references and its alternatives."""

    def __init__(self, root: AnySchema) -> None:
        self._targets = Targets(root if isinstance(root, dict) else {})

    def property_names(self, level: list[AnySchema]) -> frozenset[str]:
        """Return the names of properties of these schemas."""
        return frozenset(
            name for part in self.same_schemas(level) for name in _members_of(part, "properties")
        )

    def matches(self, level: list[AnySchema], name: str) -> bool:
        """Return whether a pattern of one of these schemas covers this property."""
        patterns = {
            pattern
            for part in self.same_schemas(level)
            for pattern in _members_of(part, "patternProperties")
        }
        return any(compile_schema({"pattern": pattern}).is_valid(name) for pattern in patterns)

    def schemas_below(self, level: list[AnySchema], part: str) -> list[AnySchema]:
        """Return the schemas of a property, or of elements; `*` is any."""
        found: list[AnySchema] = []
        for schema in self.same_schemas(level):
            members = _members_of(schema, "properties")
            found += members.values() if part == "*" else [members[part]] if part in members else []
            if part.isdecimal() or part in ("*", "-"):
                found += [schema["items"]] if "items" in schema else []
                found += schema.get("prefixItems", [])
        return found

    def targets_of(self, schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the schemas that a schema refers to."""
        yield from self._targets.targets_of(schema)

    def same_schemas(self, level: list[AnySchema]) -> list[dict[str, Any]]:
        """Return the schemas for the same value as one of these."""
        seen: dict[int, dict[str, Any]] = {}
        waiting = list(level)
        while waiting and len(seen) < _MOST_WALKED:
            schema = waiting.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen[id(schema)] = schema
            waiting += [part for _, part in parts_of(schema, _SAME)]
            waiting += self._targets.targets_of(schema)
        return list(seen.values())


def _members_of(schema: dict[str, Any], keyword: str) -> dict[str, Any]:
    members = schema.get(keyword)
    return members if isinstance(members, dict) else {}
