"""Draw values that satisfy a JSON Schema, for the args of generated steps.

A candidate is built from the keywords that describe a value (`type`, `properties`, `enum`,
`pattern`, bounds, local `$ref`, `allOf`, `anyOf`, `oneOf` ...). The others (`not`, `if` ...) are
not used to build it: the validator of the engine accepts or rejects each candidate.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from evals.json_schemas import compile_schema
from evals.json_value import SAFE_INTEGER
from harness.errors import HarnessError
from harness.testing._draw.primitives import HypothesisPick, Json, chance

_TRIES: Final = 3
_DEEPEST: Final = 12  # levels, for schemas that refer to themselves
_ANYTHING: Final[tuple[Any, ...]] = ("a", 0, True, [], {}, None, 1.5)
_SPAN: Final = 1000  # how far above its lower bound a number is drawn

# The type that a keyword implies where a schema does not state one.
_IMPLIED_TYPES: Final = {
    "properties": "object",
    "required": "object",
    "additionalProperties": "object",
    "items": "array",
    "prefixItems": "array",
    "minItems": "array",
    "pattern": "string",
    "minLength": "string",
    "maxLength": "string",
    "minimum": "number",
    "maximum": "number",
    "multipleOf": "number",
}


class NoValue(HarnessError):
    """No value was found for the schema, or it has none."""


def value_for(pick: HypothesisPick, schema: Any) -> Any:
    """Return a value that satisfies the schema; it shrinks towards the simplest one.

    Raises:
        NoValue: no value was found in a few tries.
    """
    validator = compile_schema(schema)
    for _ in range(_TRIES):
        value = _Maker(pick, schema).make(schema, 0)
        if validator.is_valid(value):
            return value
    raise NoValue


def object_for(pick: HypothesisPick, schema: Any) -> Json:
    """Return an object that satisfies the schema.

    Args are objects even if their schema does not demand it.

    Raises:
        NoValue: no value was found in a few tries.
    """
    whole = {} if schema is True else schema
    if not isinstance(whole, dict) or "object" not in _kinds(whole.get("type", "object")):
        raise NoValue
    value = value_for(pick, {**whole, "type": "object"})
    if not isinstance(value, dict):
        raise NoValue
    return value


def _kinds(kinds: Any) -> list[Any]:
    """Return the kinds of a `type` keyword, which holds one or a list."""
    return kinds if isinstance(kinds, list) else [kinds]


@lru_cache(maxsize=256)
def _matching_strings(pattern: str) -> st.SearchStrategy[str]:
    """Return a strategy for the ASCII strings that the whole pattern matches."""
    compiled = re.compile(pattern, re.ASCII)
    return st.from_regex(compiled, fullmatch=True, alphabet=st.characters(codec="ascii"))


class _Maker:
    """Proposes values for the parts of one schema document."""

    def __init__(self, pick: HypothesisPick, root: Any) -> None:
        self._pick = pick
        self._root = root

    def make(self, schema: Any, depth: int) -> Any:
        """Return a candidate value for a part of the document.

        Args:
            schema: the part, an object or a boolean.
            depth: the levels above it.

        Raises:
            NoValue: no candidate can be built.
        """
        if schema is False or depth > _DEEPEST:
            raise NoValue
        if schema is True:
            return self._pick(_ANYTHING)
        schema = self._flatten_schema(schema, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self._pick(schema["enum"] or (None,))
        makers: dict[str, Callable[[Json, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda *_: chance(self._pick),
            "null": lambda *_: None,
        }
        kind = self._kind(schema)
        return makers[kind](schema, depth) if kind else self._pick(_ANYTHING)

    def _kind(self, schema: Json) -> str | None:
        kinds = schema.get("type")
        if isinstance(kinds, list):
            return str(self._pick(kinds)) if kinds else None
        if kinds is None:
            return next((kind for word, kind in _IMPLIED_TYPES.items() if word in schema), None)
        return str(kinds)

    def _flatten_schema(self, schema: Json, depth: int) -> Json:
        """Resolve references, and merge one branch of each choice into the schema."""
        if depth > _DEEPEST:
            raise NoValue
        flat = {name: part for name, part in schema.items() if name not in _MERGED}
        parts = list(schema.get("allOf", ()))
        parts += [self._referred_schema(schema["$ref"])] if "$ref" in schema else []
        parts += [self._pick(schema[name]) for name in ("anyOf", "oneOf") if schema.get(name)]
        for part in parts:
            if part is False:
                raise NoValue
            flat = _merge_schemas(
                flat, self._flatten_schema(part, depth + 1) if part is not True else {}
            )
        return flat

    def _referred_schema(self, ref: str) -> Any:
        if not ref.startswith("#"):
            raise NoValue
        schema = self._root
        for part in ref.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(schema, dict) or name not in schema:
                raise NoValue
            schema = schema[name]
        return schema

    def _object(self, schema: Json, depth: int) -> Json:
        properties, required = schema.get("properties", {}), list(schema.get("required", ()))
        others = schema.get("additionalProperties", True)
        optional = [name for name in properties if name not in required]
        names = required + [name for name in optional if chance(self._pick)]
        spare = [name for name in properties if name not in names]
        while len(names) < schema.get("minProperties", 0):
            names.append(spare.pop(0) if spare else f"x{len(names)}")
        return {name: self.make(properties.get(name, others), depth + 1) for name in names}

    def _array(self, schema: Json, depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        most = max(least, min(schema.get("maxItems", least + 2), least + 2))
        first, rest = schema.get("prefixItems", []), schema.get("items", True)
        if rest is False:
            most = max(least, min(most, len(first)))
        count = self._pick(range(least, most + 1))
        parts = [first[index] if index < len(first) else rest for index in range(count)]
        return [self.make(part, depth + 1) for part in parts]

    def _string(self, schema: Json, _depth: int) -> str:
        if "pattern" in schema:
            try:
                return self._pick.draw(_matching_strings(schema["pattern"]))
            except (InvalidArgument, re.error):
                raise NoValue from None
        least = schema.get("minLength", 1 if schema.get("maxLength", 1) else 0)
        most = max(least, min(schema.get("maxLength", least + 4), least + 4))
        letters = st.characters(codec="ascii", categories=["Ll", "Nd"])
        return self._pick.draw(st.text(letters, min_size=least, max_size=most))

    def _integer(self, schema: Json, _depth: int) -> int:
        low, high = _bounds(schema)
        step = schema.get("multipleOf", 1)
        if step <= 0 or step != int(step):
            step = 1
        first, last = -(-low // step), high // step
        if first > last:
            raise NoValue
        nearest = max(first, min(last, 0))
        drawn = self._pick(range(nearest, int(min(last, nearest + _SPAN)) + 1))
        return int(drawn * step)

    def _number(self, schema: Json, depth: int) -> int | float:
        try:
            return self._integer(schema, depth)
        except NoValue:
            lows = [schema[name] for name in ("exclusiveMinimum", "minimum") if name in schema]
            highs = [schema[name] for name in ("exclusiveMaximum", "maximum") if name in schema]
            return float(max(lows, default=0) + max(highs, default=1)) / 2


_MERGED: Final = ("allOf", "anyOf", "oneOf", "$ref")


def _bounds(schema: Json) -> tuple[int, int]:
    """Return the least and the greatest integer that the schema allows."""
    lows: list[int] = [ceil(schema[name]) for name in ("minimum",) if name in schema]
    lows += [floor(schema[name]) + 1 for name in ("exclusiveMinimum",) if name in schema]
    highs: list[int] = [floor(schema[name]) for name in ("maximum",) if name in schema]
    highs += [ceil(schema[name]) - 1 for name in ("exclusiveMaximum",) if name in schema]
    high = min(highs, default=SAFE_INTEGER)
    return max(lows, default=min(0, high)), high


def _merge_schemas(first: Json, second: Json) -> Json:
    """Return one flat schema that combines the keywords of both."""
    merged = {**first, **second}
    if "properties" in first and "properties" in second:
        merged["properties"] = {**first["properties"], **second["properties"]}
    if "required" in first and "required" in second:
        merged["required"] = list(dict.fromkeys([*first["required"], *second["required"]]))
    for name in ("minimum", "minLength", "minItems", "exclusiveMinimum"):
        if name in first and name in second:
            merged[name] = max(first[name], second[name])
    for name in ("maximum", "maxLength", "maxItems", "exclusiveMaximum"):
        if name in first and name in second:
            merged[name] = min(first[name], second[name])
    return merged
