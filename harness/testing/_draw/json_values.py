"""Values that satisfy a JSON Schema, for the args of generated steps.

A proposal of a value by the keywords that say what a value looks like (`type`, `properties`,
`enum`, `pattern`, bounds, local `$ref`, `allOf`, `anyOf`, `oneOf` ...). The rest (`not`, `if` ...)
can only turn a proposal down: the validator of the engine has the last word.
"""

import re
from collections.abc import Callable
from functools import lru_cache
from math import ceil, floor
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.errors import InvalidArgument

from evals.json_value import SAFE_INTEGER
from evals.schemas import compile_schema
from harness.errors import HarnessError
from harness.testing._draw.primitives import Json, chance, pick

_TRIES: Final = 3
_DEEPEST: Final = 12  # levels, for schemas that refer to themselves
_ANYTHING: Final[tuple[Any, ...]] = ("a", 0, True, [], {}, None, 1.5)
_SPAN: Final = 1000  # how far above its lower bound a number is drawn

_TELLING: Final = {
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
    """The schema has no value that this module can find."""


def value_for(draw: st.DrawFn, schema: Any) -> Any:
    """A value that satisfies the schema, the simplest one first.

    Raises:
        NoValue: none was found in a few tries.
    """
    validator = compile_schema(schema)
    for _ in range(_TRIES):
        value = _Maker(draw, schema).make(schema, 0)
        if validator.is_valid(value):
            return value
    raise NoValue


def object_for(draw: st.DrawFn, schema: Any) -> Json:
    """An object that satisfies the schema. Args are objects, whether or not their schema says so.

    Raises:
        NoValue: none was found in a few tries.
    """
    whole = {} if schema is True else schema
    if not isinstance(whole, dict) or "object" not in _kinds(whole.get("type", "object")):
        raise NoValue
    value = value_for(draw, {**whole, "type": "object"})
    if not isinstance(value, dict):
        raise NoValue
    return value


def _kinds(told: Any) -> list[Any]:
    return told if isinstance(told, list) else [told]


@lru_cache(maxsize=256)
def _matching(pattern: str) -> st.SearchStrategy[str]:
    """Strings that match, of ASCII; the ends are left bare where the pattern leaves them open."""
    compiled = re.compile(pattern, re.ASCII)
    return st.from_regex(compiled, fullmatch=True, alphabet=st.characters(codec="ascii"))


class _Maker:
    """Proposes values for the parts of one schema document."""

    def __init__(self, draw: st.DrawFn, root: Any) -> None:
        self._draw = draw
        self._root = root

    def make(self, schema: Any, depth: int) -> Any:
        if schema is False or depth > _DEEPEST:
            raise NoValue
        if schema is True:
            return pick(self._draw, _ANYTHING)
        schema = self._flat(schema, depth)
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return pick(self._draw, schema["enum"] or (None,))
        makers: dict[str, Callable[[Json, int], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda *_: chance(self._draw),
            "null": lambda *_: None,
        }
        kind = self._kind(schema)
        return makers[kind](schema, depth) if kind else pick(self._draw, _ANYTHING)

    def _kind(self, schema: Json) -> str | None:
        told = schema.get("type")
        if isinstance(told, list):
            return str(pick(self._draw, told)) if told else None
        if told is None:
            told = next((kind for word, kind in _TELLING.items() if word in schema), None)
        return told

    def _flat(self, schema: Json, depth: int) -> Json:
        """The schema with references followed and one branch of each choice merged into it."""
        if depth > _DEEPEST:
            raise NoValue
        flat = {name: part for name, part in schema.items() if name not in _MERGED}
        parts = list(schema.get("allOf", ()))
        parts += [self._referred(schema["$ref"])] if "$ref" in schema else []
        parts += [pick(self._draw, schema[name]) for name in ("anyOf", "oneOf") if schema.get(name)]
        for part in parts:
            if part is False:
                raise NoValue
            flat = _merged(flat, self._flat(part, depth + 1) if part is not True else {})
        return flat

    def _referred(self, ref: str) -> Any:
        if not ref.startswith("#"):
            raise NoValue
        found = self._root
        for part in ref.removeprefix("#").split("/")[1:]:
            name = part.replace("~1", "/").replace("~0", "~")
            if not isinstance(found, dict) or name not in found:
                raise NoValue
            found = found[name]
        return found

    def _object(self, schema: Json, depth: int) -> Json:
        known, required = schema.get("properties", {}), list(schema.get("required", ()))
        others = schema.get("additionalProperties", True)
        names = required + [name for name in known if name not in required and chance(self._draw)]
        spare = [name for name in known if name not in names]
        while len(names) < schema.get("minProperties", 0):
            names.append(spare.pop(0) if spare else f"x{len(names)}")
        return {name: self.make(known.get(name, others), depth + 1) for name in names}

    def _array(self, schema: Json, depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        most = max(least, min(schema.get("maxItems", least + 2), least + 2))
        first, rest = schema.get("prefixItems", []), schema.get("items", True)
        if rest is False:
            most = max(least, min(most, len(first)))
        count = self._draw(st.integers(least, most))
        parts = [first[at] if at < len(first) else rest for at in range(count)]
        return [self.make(part, depth + 1) for part in parts]

    def _string(self, schema: Json, _depth: int) -> str:
        if "pattern" in schema:
            try:
                return self._draw(_matching(schema["pattern"]))
            except (InvalidArgument, re.error):
                raise NoValue from None
        least = schema.get("minLength", 1 if schema.get("maxLength", 1) else 0)
        most = max(least, min(schema.get("maxLength", least + 4), least + 4))
        letters = st.characters(codec="ascii", categories=["Ll", "Nd"])
        return self._draw(st.text(letters, min_size=least, max_size=most))

    def _integer(self, schema: Json, _depth: int) -> int:
        low, high = _bounds(schema)
        step = schema.get("multipleOf", 1)
        if step <= 0 or step != int(step):
            step = 1
        first, last = -(-low // step), high // step
        if first > last:
            raise NoValue
        nearest = max(first, min(last, 0))
        drawn = self._draw(st.integers(nearest, int(min(last, nearest + _SPAN))))
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
    """The least and the greatest integer, as far as the schema says."""
    lows: list[int] = [ceil(schema[name]) for name in ("minimum",) if name in schema]
    lows += [floor(schema[name]) + 1 for name in ("exclusiveMinimum",) if name in schema]
    highs: list[int] = [floor(schema[name]) for name in ("maximum",) if name in schema]
    highs += [ceil(schema[name]) - 1 for name in ("exclusiveMaximum",) if name in schema]
    high = min(highs, default=SAFE_INTEGER)
    return max(lows, default=min(0, high)), high


def _merged(one: Json, other: Json) -> Json:
    """Both schemas at once, as far as a flat schema can say so."""
    both = {**one, **other}
    if "properties" in one and "properties" in other:
        both["properties"] = {**one["properties"], **other["properties"]}
    if "required" in one and "required" in other:
        both["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    for name in ("minimum", "minLength", "minItems", "exclusiveMinimum"):
        if name in one and name in other:
            both[name] = max(one[name], other[name])
    for name in ("maximum", "maxLength", "maxItems", "exclusiveMaximum"):
        if name in one and name in other:
            both[name] = min(one[name], other[name])
    return both
