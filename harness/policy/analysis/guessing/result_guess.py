"""Guess who writes what a tool returns, and who fills which field of its records.

The guessed author is always the public if a result may hold a sentence. Fields that no table knows
belong to nobody, so they count as text of the public.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from harness.policy.analysis.guessing.guess_tables import (
    OUTSIDE,
    PARTY_FIELD,
    SYSTEM_FIELD,
    TIER_OF,
    WEB,
)
from harness.policy.analysis.guessing.tier_guess import snake_case, words_of

FieldOwner = Literal["system", "party"]

_MOST_LEVELS: Final = 6
_MOST_PARTS: Final = 5_000
_CLOSED_FORMATS: Final = ("date", "date-time", "time", "uuid")
_CLOSED_TYPES: Final = ("integer", "number", "boolean")


class ResultGuess(NamedTuple):
    """The guesses about a result.

    Attributes:
        author: `system` only where nobody can write a sentence into it.
        web: whether it comes from the web.
        is_record: whether it is an object or a list, so it may have fields.
        fields: who fills which field, by its name in a record, or by its place.
        free: all other fields: they count as text of the record's author.
    """

    author: Literal["system", "public"] = "public"
    web: bool = False
    is_record: bool = False
    fields: Mapping[str, FieldOwner] = {}
    free: tuple[str, ...] = ()


def is_web(name: str, description: str, arguments: Mapping[str, Any]) -> bool:
    """Return whether a tool deals with the web, by its name, description or arguments."""
    said = f"{' '.join(words_of(name))} {name.replace('_', ' ')} {description}"
    return WEB.search(said) is not None or any(
        OUTSIDE.fullmatch(snake_case(one)) for one in arguments
    )


def guess_result(name: str, returns: Any, *, deals_with_web: bool) -> ResultGuess:
    """Return the guesses about a result by its JSON Schema; None if it has none."""
    verb = next(iter(words_of(name)), "")
    web = deals_with_web and TIER_OF.get(verb) not in ("network", "destructive")
    if not isinstance(returns, dict):
        return ResultGuess(web=web)
    leaves, are_all = _leaves(returns)
    is_record = any(leaf.path for leaf in leaves)
    if web:
        return ResultGuess(web=True, is_record=is_record)
    if not is_record:
        closed = bool(leaves) and are_all and all(_is_closed(leaf.schema) for leaf in leaves)
        return ResultGuess("system" if closed else "public")
    fields = {field_place(leaf.path): owner for leaf in leaves if (owner := _owner_of(leaf))}
    others = [leaf.path[:-1] if leaf.path[-1:] == ("",) else leaf.path for leaf in leaves]
    free = dict.fromkeys(
        field_place(path) for path in others if path and field_place(path) not in fields
    )
    return ResultGuess(is_record=True, fields=fields, free=tuple(free))


class _Leaf(NamedTuple):
    """A leaf of a result: its path, with `*` for elements and free names, and its schema."""

    path: tuple[str, ...]
    schema: Mapping[str, Any]


def _leaves(root: Any) -> tuple[list[_Leaf], bool]:
    """Return the leaves of a result, and whether they are all: a schema may be recursive."""
    defs = root.get("$defs", {})
    waiting: list[tuple[tuple[str, ...], Any, int]] = [((), root, 0)]
    leaves: list[_Leaf] = []
    are_all = True
    for _ in range(_MOST_PARTS):
        if not waiting:
            return leaves, are_all
        path, schema, level = waiting.pop()
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            schema = defs.get(schema["$ref"].rpartition("/")[2])
        if not isinstance(schema, dict) or level > _MOST_LEVELS:
            are_all = False
            continue
        inner = [(way, part, level + 1) for way, part in _parts(path, schema)]
        waiting += reversed(inner)
        if not inner and schema.get("type") != "null":
            leaves.append(_Leaf((*path, "") if schema.get("type") == "object" else path, schema))
    return leaves, False


def _parts(
    path: tuple[str, ...], schema: Mapping[str, Any]
) -> Iterator[tuple[tuple[str, ...], Any]]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        yield from ((path, one) for one in schema.get(keyword, ()))
    if schema.get("type") == "array":
        yield (*path, "*"), schema.get("items", {})
    properties = schema.get("properties")
    if isinstance(properties, dict):
        yield from (((*path, name), one) for name, one in properties.items())
    elif isinstance(schema.get("additionalProperties"), dict):
        yield (*path, "*"), schema["additionalProperties"]


def _is_closed(schema: Mapping[str, Any]) -> bool:
    """Return whether nobody can write a sentence into a value."""
    named = schema.get("type")
    kinds = [one for one in named if one != "null"] if isinstance(named, list) else [named]
    return (
        (kinds != [] and all(kind in _CLOSED_TYPES for kind in kinds))
        or "enum" in schema
        or "const" in schema
        or schema.get("format") in _CLOSED_FORMATS
    )


def _owner_of(leaf: _Leaf) -> FieldOwner | None:
    """Return who fills a field. A field of any objects or lists belongs to nobody."""
    if _is_closed(leaf.schema):
        return "system"
    names = [snake_case(one) for one in leaf.path if one != "*"]
    if not names or leaf.schema.get("type", "string") != "string":
        return None
    return "party" if leaf.schema.get("format") == "email" else owner_by_name(names[-1])


def owner_by_name(name: str) -> FieldOwner | None:
    """Return who fills a field by its name in snake case: `phone_number` is a party's."""
    if PARTY_FIELD.fullmatch(name):
        return "party"
    return "system" if SYSTEM_FIELD.fullmatch(name) else None


def field_place(path: tuple[str, ...]) -> str:
    """Return the name of a field in a record, or a JSON pointer if it is deeper.

    A name counts for a record and for each record of a list.
    """
    way = path[1:] if path[:1] == ("*",) else path
    if len(way) == 1 and way[0] != "*" and not way[0].startswith("/"):
        return way[0]
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)
