"""Make small values for a JSON Schema, on both sides of its bounds. Deterministic.

They are proposals: check a value with the schema before you rely on it.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final

from evals.json_schemas import compile_schema
from evals.json_value import SAFE_INTEGER
from evals.schema_budget import json_values
from harness.canonical import canonical_json
from harness.policy.schema_parts import AnySchema, SchemaParts

_MOST: Final = 24
"""How many values are kept of one place."""
_MOST_VALUES: Final = 1_000
"""How many values a schema may hold of which samples are made."""
_DEEPEST: Final = 6
_MOST_PLACES: Final = 1000
"""How many places are looked at: a schema that holds itself has no end of them."""
_LONGEST: Final = 1000
NAMED_VALUES: Final = {
    "address": "anna@corp.example",
    "account": "DE89370400440532013000",
    "url": "https://corp.example/a/b",
    "path": "/srv/corp/a.txt",
    "text": "vega-7702",
}
"""A value of each kind that is compared in a way of its own, such as a request names."""
OUTSIDERS_VALUES: Final = {
    "address": "mallory@evil.example",
    "account": "US64SVBKUS6S3300958879",
    "url": "https://evil.example/pay?x=1",
    "path": "/evil/9914.txt",
    "text": "zeta-9914-evil",
}
"""A value of each kind that nobody but an outsider names."""
_FORMATS: Final = {
    "date": ("2000-01-01", "2000-01-02"),
    "date-time": ("2000-01-01T00:00:00Z", "2000-01-01T00:00:01Z"),
    "email": ("a@b.co", "b@b.co"),
    "uri": ("https://a.co/", "https://b.co/"),
    "uuid": ("00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001"),
}
_KEYWORDS: Final = {
    "object": ("properties", "required", "additionalProperties", "minProperties"),
    "array": ("items", "prefixItems", "minItems", "maxItems", "contains"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
"""The keywords by which a schema without a type shows what it is about."""


def samples(schema: AnySchema) -> list[Any]:
    """Return values of about this schema, valid or not, the smallest first.

    Return none if the schema is too large: each place is looked up in all of it.
    """
    if json_values(schema) > _MOST_VALUES:
        return []
    return _Sampler(schema).values([schema], 0)


def put_value(record: Any, place: Sequence[str], value: Any) -> Any:
    """Return a record with a value at a place; `*` is the first element of a list."""
    if not place:
        return value
    if place[0] == "*":
        known = record[0] if isinstance(record, list) and record else {}
        return [put_value(known, place[1:], value)]
    inner = record if isinstance(record, dict) else {}
    return {**inner, place[0]: put_value(inner.get(place[0]), place[1:], value)}


def smallest_first(values: Iterable[Any]) -> list[Any]:
    """Return the values, each once, in the order of their size as JSON."""
    by_bytes = {canonical_json(value): value for value in values}
    return [by_bytes[key] for key in sorted(by_bytes, key=lambda key: (len(key), key))]


class _Sampler:
    """Makes values for the places of one schema."""

    def __init__(self, root: AnySchema) -> None:
        self._parts = SchemaParts(root)
        self._left = _MOST_PLACES
        self._made: dict[tuple[int, ...], list[Any]] = {}
        root = root if isinstance(root, dict) else {}
        self._shared = {name: root[name] for name in ("$defs", "definitions") if name in root}

    def values(self, level: list[AnySchema], depth: int) -> list[Any]:
        """Return values for a place under these schemas, valid ones first.

        They are made once for each depth, even if many places refer to the same schemas.
        """
        place = (*map(id, level), depth)
        if place not in self._made:
            self._made[place] = self._make_values(level, depth)
        return self._made[place]

    def _make_values(self, level: list[AnySchema], depth: int) -> list[Any]:
        self._left -= 1
        if self._left < 0:
            return []
        parts = self._parts.same_schemas(level)
        found = list(_given_values(parts))
        makers: dict[str, Callable[[], list[Any]]] = {
            "string": lambda: _strings(parts),
            "integer": lambda: _numbers(parts),
            "number": lambda: [*_numbers(parts), 0.5],
            "boolean": lambda: [False, True],
            "null": lambda: [None],
            "array": lambda: self._arrays(level, parts, depth),
            "object": lambda: self._sample_objects(level, parts, depth),
        }
        for kind in _kinds(parts):
            found += makers[kind]() if kind in makers else []
        ordered = smallest_first(found)
        fits = self._fits(level)
        return sorted(ordered, key=lambda value: not fits(value))[: _MOST if depth else None]

    def _fits(self, level: list[AnySchema]) -> Any:
        try:
            return compile_schema({**self._shared, "allOf": level}).is_valid
        except Exception:  # a reference that leads out of this part: any value may fit
            return lambda _: True

    def _arrays(self, level: list[AnySchema], parts: list[dict[str, Any]], depth: int) -> list[Any]:
        if depth >= _DEEPEST:
            return []
        items = self.values(self._parts.schemas_below(level, "0"), depth + 1) or ["a"]
        sizes = {0, 1, *_bounds(parts, "minItems", "maxItems")}
        alike = [[items[0]] * size for size in sizes if 0 <= size <= _MOST]
        return [*alike, *([item] for item in items), items[:2]]

    def _sample_objects(
        self, level: list[AnySchema], parts: list[dict[str, Any]], depth: int
    ) -> list[Any]:
        if depth >= _DEEPEST:
            return [{}]
        required = dict.fromkeys(name for part in parts for name in part.get("required", ()))
        options = {
            name: self.values(self._parts.schemas_below(level, name), depth + 1) or ["a"]
            for name in sorted({*required, *self._parts.property_names(level)})
        }
        least = {name: options[name][0] for name in required if name in options}
        fullest = {name: values[0] for name, values in options.items()}
        found = [{}, least, fullest, {**least, "x": 1}]
        for name, values in options.items():
            found += [{**least, name: value} for value in values]
            found.append({key: value for key, value in least.items() if key != name})
        return found


def _kinds(parts: list[dict[str, Any]]) -> list[str]:
    kinds: dict[str, None] = {}
    for part in parts:
        named = part.get("type", [])
        kinds |= dict.fromkeys([named] if isinstance(named, str) else named)
    if not kinds:
        about = [
            kind for kind, words in _KEYWORDS.items() if any(w in p for p in parts for w in words)
        ]
        kinds = dict.fromkeys(about or ["string", "integer", "boolean"])
    return list(kinds)


def _given_values(parts: list[dict[str, Any]]) -> Iterator[Any]:
    for part in parts:
        yield from part.get("enum", ())
        yield from part.get("examples", ())
        yield from (part[name] for name in ("const", "default") if name in part)


def _bounds(parts: list[dict[str, Any]], *keywords: str) -> Iterator[int]:
    """Yield whole numbers at, just below and just above each bound."""
    for part in parts:
        bounds = [part[keyword] for keyword in keywords if keyword in part]
        for bound in (int(bound) for bound in bounds if abs(bound) < SAFE_INTEGER):
            yield from (bound - 1, bound, bound + 1)


def _numbers(parts: list[dict[str, Any]]) -> list[Any]:
    bounds = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
    return [0, 1, *_bounds(parts, *bounds)]


def _strings(parts: list[dict[str, Any]]) -> list[Any]:
    sizes = {0, 1, *_bounds(parts, "minLength", "maxLength")}
    found = ["a" * size for size in sizes if 0 <= size <= _LONGEST]
    for part in parts:
        found += _FORMATS.get(part.get("format", ""), ())
        if "pattern" in part and (text := matching_text(part["pattern"])) is not None:
            found += [text, f"{text}a", f" {text}"]
    return found


# One piece of a pattern: a class, an escape, a group without another in it, or a character.
_ATOM: Final = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\.|\((?:\?:)?([^()]*)\)|[^()]")
_COUNT: Final = re.compile(r"\{(\d+)(?:,\d*)?\}\??|[*+?]\??")
_ESCAPES: Final = {"d": "0", "w": "a", "s": " ", "D": "a", "W": " ", "S": "a", "b": "", "B": ""}


def matching_text(pattern: str) -> str | None:
    """Return a short text that a simple pattern matches; None for others."""
    text, at = "", 0
    pattern = pattern.partition("|")[0] if "(" not in pattern else pattern
    while at < len(pattern):
        atom = _ATOM.match(pattern, at)
        if atom is None:
            return None
        count = _COUNT.match(pattern, atom.end())
        one = _character(atom)
        if one is None:
            return None
        text += one * _times(count)
        at = count.end() if count else atom.end()
    return text[:_LONGEST]


def _times(count: re.Match[str] | None) -> int:
    if count is None:
        return 1
    return min(int(count[1]), _LONGEST) if count[1] else int(count[0][0] == "+")


def _character(atom: re.Match[str]) -> str | None:
    spelled = atom[0]
    if spelled.startswith("("):
        return matching_text(atom[1].partition("|")[0])
    if spelled in ("^", "$"):
        return ""
    if spelled.startswith("\\"):
        return _ESCAPES.get(spelled[1], spelled[1])
    if spelled.startswith("[") and len(spelled) > 1:
        return next((char for char in "a0A -_.@/" if _is_member(spelled, char)), None)
    return "a" if spelled == "." else spelled


def _is_member(spelled: str, char: str) -> bool:
    try:
        return compile_schema({"pattern": f"^{spelled}$"}).is_valid(char)
    except Exception:  # not a class after all
        return False
